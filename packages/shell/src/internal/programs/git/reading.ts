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
  when
} from "./shared.ts"

const besides = "refreshes .git/index"

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
  flags: `${diffFlags} --cached --staged`,
  values: diffValues,
  optional: diffOptional,
  operands: [["revision", "any"]]
}

const branch: Command = {
  does: "reads",
  says: "git branch, which lists",
  heeds,
  flags: "-a -r -v -vv --all --remotes --verbose --list --show-current --no-color",
  values: { "--contains --merged --no-merged --points-at": "revision", "--sort": "text" },
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
  remote: { does: "reads", says: "git remote, which lists", heeds, flags: "-v --verbose" },
  "stash list": { does: "reads", says: "git stash list", heeds, flags: "--oneline --stat" },
  tag: {
    does: "reads",
    says: "git tag, which lists",
    heeds,
    needs: "-l --list",
    flags: "-l --list",
    values: { "--contains --points-at": "revision", "--sort": "text" },
    operands: [["text", "any"]]
  }
}
