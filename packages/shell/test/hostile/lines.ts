/**
 * What lines that the tables cover run in a folder whose settings name programs, with and without the variables of
 * `Shell.environment`: as the README shows it, and as the test sees it.
 */
import type { Name } from "./repository.ts"

export interface Row {
  readonly lines: ReadonlyArray<string>
  readonly runs: ReadonlyArray<Name>
  readonly environment: ReadonlyArray<Name>
}

export const rows: ReadonlyArray<Row> = [
  {
    lines: ["git status", "git diff", "git diff --no-ext-diff --no-textconv", "git diff --cached", "git describe --dirty", "git add .", "git commit -m x", "git blame a.txt", "git log", "git log --oneline", "git log -p", "git show", "git show --no-ext-diff --no-textconv", "git ls-files", "git ls-files -m", "git grep x", "git grep x HEAD", "git rev-parse HEAD~1", "git branch -v", "git remote -v", "git remote get-url origin", "git stash list", "git stash show", "git stash show -p", "git tag --list", "git rev-list HEAD", "git merge-base HEAD dev", "git describe --always", "git shortlog HEAD", "git ls-tree HEAD", "git cat-file -p HEAD^{tree}", "git check-ignore a.txt", "git symbolic-ref HEAD", "git reflog", "git worktree list", "git config --get user.name", "git restore --staged .", "git switch dev", "git switch -c x"],
    runs: [],
    environment: []
  }
]

/** Inside of a bare repository that was committed as plain files. */
export const bare: Row = { lines: ["git status"], runs: ["fsmonitor"], environment: [] }

/** With a `RIPGREP_CONFIG_PATH` that names a file of the folder. */
export const ripgrep: Row = { lines: ["rg x"], runs: ["rg --pre"], environment: [] }
