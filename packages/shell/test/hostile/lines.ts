/**
 * What lines run in folders whose settings name programs wherever git and ripgrep take any, with and without the variables
 * of `Shell.environment`: as the README shows it, and as the test sees it. Lines of git that run the same stand together.
 */
import type { Name } from "./repository.ts"

export interface Row {
  readonly lines: ReadonlyArray<string>
  readonly runs: ReadonlyArray<Name>
  /** The same in `Shell.environment`. */
  readonly environment: ReadonlyArray<Name>
}

/** The version of git that the rows are measured with. */
export const measured = "2.39.5"

export const rows: ReadonlyArray<Row> = [
  {
    lines: ["git status", "git diff --stat", "git describe --dirty", "git commit -m x"],
    runs: ["fsmonitor", "hook", "clean filter", "fetch"],
    environment: ["clean filter"]
  },
  {
    lines: ["git add ."],
    runs: ["fsmonitor", "hook", "clean filter"],
    environment: ["clean filter"]
  },
  {
    lines: ["git restore --staged ."],
    runs: ["fsmonitor", "hook", "fetch"],
    environment: []
  },
  {
    lines: ["git switch dev"],
    runs: ["fsmonitor", "hook", "clean filter", "smudge filter", "fetch"],
    environment: ["clean filter", "smudge filter"]
  },
  {
    lines: ["git switch -c x"],
    runs: ["hook"],
    environment: []
  },
  {
    lines: ["git diff", "git status -vv"],
    runs: ["fsmonitor", "hook", "clean filter", "smudge filter", "external diff", "textconv", "fetch"],
    environment: ["clean filter", "smudge filter", "external diff", "textconv"]
  },
  {
    lines: ["git diff --no-ext-diff --no-textconv"],
    runs: ["fsmonitor", "hook", "clean filter", "smudge filter", "external diff", "fetch"],
    environment: ["clean filter", "smudge filter", "external diff"]
  },
  {
    lines: ["git diff --cached", "git diff-tree -p HEAD"],
    runs: ["fsmonitor", "fetch"],
    environment: []
  },
  {
    lines: ["git log", "git show --stat"],
    runs: ["gpg", "fetch"],
    environment: []
  },
  {
    lines: ["git log -S x"],
    runs: ["smudge filter", "textconv", "fetch"],
    environment: ["smudge filter", "textconv"]
  },
  {
    lines: ["git log -p", "git show"],
    runs: ["smudge filter", "external diff", "textconv", "gpg", "fetch"],
    environment: ["smudge filter", "external diff", "textconv"]
  },
  {
    lines: ["git blame a.txt"],
    runs: ["fsmonitor", "clean filter", "smudge filter", "textconv", "fetch"],
    environment: ["clean filter", "smudge filter", "textconv"]
  },
  {
    lines: ["git ls-files -m"],
    runs: ["fsmonitor", "clean filter"],
    environment: ["clean filter"]
  },
  {
    lines: ["git ls-files", "git grep x", "git check-ignore a.txt"],
    runs: ["fsmonitor"],
    environment: []
  },
  {
    lines: [
      "git grep x HEAD",
      "git branch -v",
      "git rev-parse HEAD~2",
      "git stash list",
      "git stash show -p",
      "git rev-list HEAD",
      "git merge-base HEAD dev",
      "git shortlog HEAD",
      "git ls-tree HEAD",
      "git cat-file -p HEAD~1",
      "git reflog",
      "git show-ref",
      "git for-each-ref",
      "git name-rev HEAD",
      "git cherry main dev"
    ],
    runs: ["fetch"],
    environment: []
  },
  {
    lines: [
      "git branch",
      "git remote -v",
      "git remote get-url origin",
      "git tag --list",
      "git symbolic-ref HEAD",
      "git worktree list",
      "git config --get user.name",
      "git count-objects"
    ],
    runs: [],
    environment: []
  }
]

/** Inside of a bare repository that was committed as plain files. */
export const bare: Row = { lines: ["git status"], runs: ["fsmonitor"], environment: [] }

/** Where `core.worktree` names another folder. */
export const elsewhere: Row = {
  lines: ["git switch dev"],
  runs: ["writes elsewhere"],
  environment: ["writes elsewhere"]
}

/** At a terminal. */
export const terminal: Row = { lines: ["git log"], runs: ["gpg", "pager"], environment: [] }

/** With a `RIPGREP_CONFIG_PATH` that names a file of the folder. */
export const ripgrep: Row = { lines: ["rg x"], runs: ["rg --pre"], environment: [] }

/** As the README has it. */
export const table = (): string => {
  const named = (names: ReadonlyArray<string>) => names.length === 0 ? "nothing" : names.join(", ")
  const row = ({ environment, lines, runs }: Row, where = "") =>
    `| ${lines.map((line) => `\`${line}\``).join(", ")}${where} | ${named(runs)} | ${named(environment)} |`
  return [
    "| Line | Programs it can run | With `Shell.environment` |",
    "| --- | --- | --- |",
    ...rows.map((each) => row(each)),
    row(elsewhere, ", with `core.worktree`"),
    row(terminal, ", at a terminal"),
    row(bare, ", in a bare repository of plain files"),
    row(ripgrep, ", with `RIPGREP_CONFIG_PATH`")
  ].join("\n")
}
