/**
 * Subcommands of git that only read.
 */
import type { Command, Program } from "../program.ts"
import {
  diffFlags,
  diffOptional,
  diffValues,
  heeds,
  lineRange,
  logFlags,
  logOptional,
  logValues,
  refFormat,
  sortField,
  when
} from "./shared.ts"

const besides: Command["besides"] = [{ says: "refreshes .git/index", writes: /^\.git\/index(?:\.lock)?$/ }]

const status: Command = {
  does: "reads",
  says: "git status and its options",
  heeds,
  besides,
  clusters: true,
  flags: `
    -s --short -b --branch --show-stash --long -v --verbose -z --ahead-behind --no-ahead-behind --renames --no-renames
  `,
  optional: {
    "--porcelain": { oneOf: "v1 v2 1 2" },
    "-u --untracked-files": { oneOf: "no normal all" },
    "--ignored": { oneOf: "traditional no matching" }
  },
  operands: [["path", "any"]]
}

const log: Command = {
  does: "reads",
  says: "git log and its options",
  heeds,
  digits: true,
  flags: logFlags,
  values: logValues,
  optional: logOptional,
  operands: [["revision", "any"]]
}

const diff: Command = {
  does: "reads",
  says: "git diff and its options",
  heeds,
  besides,
  flags: `${diffFlags} --cached --staged --no-index`,
  values: diffValues,
  optional: diffOptional,
  operands: [["revision", "any"]]
}

const branch: Command = {
  does: "reads",
  says: "git branch, which lists",
  heeds,
  flags: "-a -r -v -vv --all --remotes --verbose --list --show-current --no-color",
  values: { "--contains --merged --no-merged --points-at": "revision", "--sort": sortField, "--format": refFormat },
  optional: { "--color": when }
}

const revParse: Command = {
  does: "reads",
  says: "git rev-parse",
  heeds,
  flags: `
    --show-toplevel --show-prefix --show-cdup --git-dir --is-inside-work-tree --abbrev-ref --verify --short
    -q --quiet --symbolic-full-name
  `,
  optional: { "--short": "number" },
  operands: [["revision", "any"]]
}

const lsFiles: Command = {
  does: "reads",
  says: "git ls-files and its options",
  heeds,
  clusters: true,
  flags: `
    -c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -z
    --exclude-standard --full-name --error-unmatch
  `,
  operands: [["path", "any"]]
}

const blame: Command = {
  does: "reads",
  says: "git blame and its options",
  heeds,
  flags: "-w -s -e -l -t -f -n --date-order --show-email --line-porcelain --porcelain -p",
  values: { "-L": lineRange },
  operands: [["revision", "any"]]
}

/** Without `-O`, which runs a pager. */
const grep: Command = {
  does: "reads",
  says: "git grep and its options",
  heeds,
  clusters: true,
  flags: `
    -n -i -w -v -l -L -c -E -F -P -G -h -H -I -q --line-number --ignore-case --word-regexp --files-with-matches
    --count --cached --untracked --name-only --heading --break --no-color
  `,
  values: { "-e": "text", "-A -B -C -m": "number" },
  operands: [["text", "one"], ["revision", "any"]],
  insteadOfFirst: "-e"
}

/** What changes nothing of what it lists. */
const lists = { does: "reads", heeds } as const

/** Subcommands that tell of commits and names. */
const names: NonNullable<Program["commands"]> = {
  "rev-list": {
    ...lists,
    says: "git rev-list and its options",
    digits: true,
    flags: `
      --count --all --merges --no-merges --first-parent --reverse --left-right --parents --topo-order --date-order
      --branches --tags --remotes
    `,
    values: { "-n --max-count --skip": "number", "--since --until --after --before --author --grep": "text" },
    operands: [["revision", "any"]]
  },
  "merge-base": {
    ...lists,
    says: "git merge-base and its options",
    flags: "-a --all --is-ancestor --fork-point --octopus --independent",
    operands: [["revision", "any"]]
  },
  describe: {
    ...lists,
    says: "git describe and its options",
    besides,
    flags: "--tags --always --all --long --dirty --contains --first-parent --exact-match",
    values: { "--match --exclude": "text", "--candidates": "number" },
    optional: { "--abbrev": "number" },
    operands: [["revision", "any"]]
  },
  shortlog: {
    ...lists,
    says: "git shortlog and its options",
    clusters: true,
    flags: "-s -n -e -c --summary --numbered --email --committer --no-merges --all",
    values: { "--since --until --after --before --author": "text" },
    operands: [["revision", "any"]]
  },
  "ls-tree": {
    ...lists,
    says: "git ls-tree and its options",
    flags: "-r -d -t -l -z --name-only --name-status --long --full-tree --full-name",
    operands: [["revision", "one"], ["path", "any"]]
  },
  "cat-file": {
    ...lists,
    says: "git cat-file of one object",
    needs: "-p -t -s -e",
    flags: "-p -t -s -e",
    operands: [["revision", "one"]]
  },
  "check-ignore": {
    ...lists,
    says: "git check-ignore and its options",
    flags: "-v --verbose -q --quiet -n --non-matching --no-index",
    operands: [["path", "any"]]
  },
  "show-ref": {
    ...lists,
    says: "git show-ref and its options",
    flags: "--head --heads --tags --verify -q --quiet -s -d --dereference",
    operands: [["revision", "any"]]
  },
  "for-each-ref": {
    ...lists,
    says: "git for-each-ref and its options",
    values: {
      "--count": "number",
      "--sort": sortField,
      "--format": refFormat,
      "--contains --merged --no-merged --points-at": "revision"
    },
    operands: [["revision", "any"]]
  },
  "name-rev": {
    ...lists,
    says: "git name-rev and its options",
    flags: "--tags --name-only --always",
    operands: [["revision", "any"]]
  },
  "count-objects": {
    ...lists,
    says: "git count-objects",
    clusters: true,
    flags: "-v -H --verbose --human-readable"
  },
  "diff-tree": {
    ...lists,
    says: "git diff-tree and its options",
    flags: "-r -t -p -s --no-commit-id --name-only --name-status --stat --root",
    operands: [["revision", "any"]]
  },
  cherry: { ...lists, says: "git cherry and its options", flags: "-v --verbose", operands: [["revision", "any"]] },
  // A second operand is what it would be set to.
  "symbolic-ref": {
    ...lists,
    says: "git symbolic-ref, which reads one",
    flags: "--short -q --quiet",
    operands: [["revision", "one"]]
  }
}

export const reading: NonNullable<Program["commands"]> = {
  status,
  log,
  show: { ...log, says: "git show and its options" },
  diff,
  branch,
  "rev-parse": revParse,
  "ls-files": lsFiles,
  blame,
  grep,
  ...names,
  reflog: { ...lists, says: "git reflog, which lists", digits: true, flags: "--oneline", values: { "-n": "number" } },
  remote: { ...lists, says: "git remote, which lists", flags: "-v --verbose" },
  "remote get-url": {
    ...lists,
    says: "git remote get-url",
    flags: "--all --push",
    operands: [["text", "one"]]
  },
  "stash list": {
    ...lists,
    says: "git stash list",
    besides: [{ says: "runs git log", runs: /^\S*git log --format=%gd: %gs -g / }],
    flags: "--oneline --stat"
  },
  "stash show": {
    ...lists,
    says: "git stash show and its options",
    flags: "-p --patch --stat --name-only --name-status -u --include-untracked",
    operands: [["revision", "at most one"]]
  },
  "worktree list": { ...lists, says: "git worktree list", flags: "-v --verbose --porcelain" },
  config: {
    ...lists,
    says: "git config --get, which reads",
    needs: "--get --get-all",
    flags: "--get --get-all --local --global --system --show-origin --show-scope",
    operands: [["text", "one"]]
  },
  tag: {
    ...lists,
    says: "git tag, which lists",
    operandsNeed: "-l --list",
    flags: "-l --list",
    values: { "--contains --merged --no-merged --points-at": "revision", "--sort": sortField },
    optional: { "-n": "number" },
    operands: [["text", "any"]]
  }
}
