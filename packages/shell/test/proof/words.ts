/**
 * Words with which the proofs fill the tables: real ones, which the program takes, because what it refuses for its value
 * says nothing about the option.
 */
import { programs } from "../../src/internal/programs/all.ts"
import type { Command, Kind, Program, Values } from "../../src/internal/programs/program.ts"
import { entriesOf } from "../../src/internal/programs/program.ts"

/** One command of the tables with the words that call it. */
export interface Called {
  readonly program: Program
  readonly command: Command
  /** `git log`. */
  readonly name: string
  /** `["git", "log"]`. */
  readonly head: ReadonlyArray<string>
  /** Whether one option is known, and no other word beside it: `node --version`. */
  readonly isAlone: boolean
}

/** All commands of the tables. */
export const commands: ReadonlyArray<Called> = programs.flatMap((program) => [
  ...(program.command === undefined ? [] : [called(program, [program.program], program.command)]),
  // `node --version`, where no other word is known.
  ...program.alone === undefined
    ? []
    : [called(program, [program.program], {
      does: "reads",
      says: "",
      needs: program.alone,
      flags: program.alone
    }, true)],
  ...Object.entries(program.commands ?? {}).map(([subcommand, command]) =>
    called(program, [program.program, ...subcommand.split(" ")], command)
  )
])

function called(program: Program, head: ReadonlyArray<string>, command: Command, isAlone = false): Called {
  return { program, command, head, name: head.join(" "), isAlone }
}

/** Every option with its kind, one spelling each. */
export const spelled = (values: Values | undefined): ReadonlyArray<readonly [option: string, kind: Kind]> =>
  Object.entries(values ?? {}).flatMap(([options, kind]) => entriesOf(options).map((option) => [option, kind] as const))

/** For options and operands whose kind takes more than the program does. */
const real: Readonly<Record<string, ReadonlyArray<string>>> = {
  "git branch --contains": ["HEAD", "v1"],
  "find -newermt": ["2026-01-01", "yesterday"],
  "find -user": ["root"],
  "find -group": ["root"],
  "find -perm": ["644", "-u+r", "/u=w,g+r"],
  "git config operand": ["user.name"],
  "git describe --match": ["v*"],
  "git remote get-url operand": ["origin"],
  "git switch -c": ["fresh"],
  "git switch --create": ["fresh"],
  "date -d": ["yesterday", "2026-01-01"],
  "date --date": ["yesterday", "2026-01-01"],
  "grep --include": ["*.txt"],
  "grep -f": ["patterns"],
  "grep --file": ["patterns"],
  "rg -f": ["patterns"],
  "rg --file": ["patterns"],
  "od -t": ["x1", "c"],
  "od --format": ["x1", "c"],
  "fd --changed-within": ["1d"],
  "mkdir operand": ["made"],
  "touch operand": ["made"],
  "tar -f": ["archive.tgz"],
  "tar --file": ["archive.tgz"],
  "fd -S": ["+1k", "-5MB"],
  "fd --size": ["+1k"],
  "rg -t": ["ts"],
  "rg -T": ["ts"],
  "rg --type": ["ts"],
  "rg --type-not": ["ts"],
  "cut -d": [" "],
  "cut --delimiter": [" "],
  "sort -t": [" "],
  "sort --field-separator": [" "]
}

/** The words after an option, where one for each operand is not what the command needs: by option, or for all of them. */
const behind: Readonly<Record<string, ReadonlyArray<string>>> = {
  "git blame": ["a.txt"],
  "git check-ignore": ["ignored.txt"],
  "git check-ignore -n": ["-v", "ignored.txt"],
  "git check-ignore --non-matching": ["-v", "ignored.txt"],
  "git commit -a": [],
  "git commit --all": [],
  "git describe --contains": ["v1"],
  "git describe --exact-match": ["v1"],
  "git diff --no-index": ["a.txt", "a.txt"],
  "git diff-tree": ["HEAD"],
  "git log --exit-code": ["v1..v1"],
  "git log --follow": ["--", "a.txt"],
  "git ls-files -i": ["-c", "--exclude-standard"],
  "git ls-files --ignored": ["-c", "--exclude-standard"],
  "git merge-base": ["HEAD", "dev"],
  "git merge-base --fork-point": ["main"],
  "git merge-base --is-ancestor": ["v1", "HEAD"],
  "git rev-list": ["HEAD"],
  "git rev-parse": ["HEAD"],
  "git show-ref --verify": ["refs/heads/main"],
  "git show --exit-code": ["v1..v1"],
  "git show --follow": ["--", "a.txt"],
  "git switch": ["dev"],
  "git switch -c": [],
  "git switch --create": [],
  "ag -L": ["zz", "a.txt"],
  "ag --files-without-matches": ["zz", "a.txt"],
  base64: ["encoded"],
  basename: ["foo"],
  cut: ["-f1", "a.txt"],
  "cut -f": ["a.txt"],
  "cut --fields": ["a.txt"],
  "cut -c": ["a.txt"],
  "cut -b": ["a.txt"],
  dirname: ["foo"],
  grep: ["foo", "src/deep/e.txt"],
  "grep -v": ["bar", "src/deep/e.txt"],
  "grep --invert-match": ["bar", "src/deep/e.txt"],
  "id -n": ["-u"],
  "id --name": ["-u"],
  "id -r": ["-u"],
  jq: [".", "data.json"],
  readlink: ["link"],
  rg: ["foo", "src/deep/e.txt"],
  "rg -v": ["bar", "src/deep/e.txt"],
  "rg --invert-match": ["bar", "src/deep/e.txt"],
  "rg --files-without-match": ["bar", "src/deep/e.txt"],
  sort: ["src/deep/e.txt"],
  tr: ["foo", "bar"],
  "tr -d": ["foo"],
  "tr --delete": ["foo"],
  tar: ["-f", "archive.tgz"],
  "tar -f": [],
  "tar --file": [],
  "tar -j": ["-f", "archive.tbz"],
  "tar --bzip2": ["-f", "archive.tbz"],
  "tar -J": ["-f", "archive.txz"],
  "tar --xz": ["-f", "archive.txz"],
  "tree -L": ["1", "src"],
  which: ["git"]
}

/** What stands behind an option, so that the command has what it asks for. */
export const behindOf = (called: Called, option: string): ReadonlyArray<string> => {
  const { insteadOfFirst, operands = [] } = called.command
  const first = entriesOf(insteadOfFirst).includes(option) ? 1 : 0
  const named = behind[`${called.name} ${option}`] ?? behind[called.name]?.slice(first)
  if (named !== undefined) return named
  return operands.slice(first).flatMap(([kind, count]) =>
    count === "one" || kind === "path" ? [samples(called.name, "operand", kind)[0]!] : []
  )
}

/** What is typed, as it is started: builtins by a shell. */
export const started = ({ program }: Called, line: ReadonlyArray<string>): ReadonlyArray<string> =>
  program.proved.includes("POSIX") ? ["bash", "-c", "\"$@\"", "bash", ...line] : line

/** What a `like` is filled with: the first few that fit. */
const pool = [
  "1",
  "50%",
  "1,3",
  "/foo/,+1",
  "a",
  "1,5:a.txt",
  "+5",
  "-3",
  "10k",
  "AM",
  "f",
  "d,l",
  "1.1n,1.2",
  "refname",
  "-committerdate",
  "oneline",
  "%h %s",
  "format:%an",
  "iso",
  "short",
  "full-iso",
  "+%F",
  "aux"
]

const plain = {
  path: "a.txt",
  revision: "HEAD",
  text: "foo",
  glob: "foo",
  number: "1",
  sedScript: "1p",
  jqFilter: ".",
  awkProgram: "{print $1}"
} as const

/** Words that an option, or an operand as the `place` says, takes. Never none: that would be a proof of nothing. */
export const samples = (name: string, place: string, kind: Kind): ReadonlyArray<string> => {
  const named = real[`${name} ${place}`]
  if (named !== undefined) return named
  if (typeof kind === "string") return [plain[kind]]
  if ("oneOf" in kind) return entriesOf(kind.oneOf)
  const fitting = pool.filter((word) => kind.like.test(word)).slice(0, 3)
  if (fitting.length === 0) throw new Error(`No word for ${place} of ${name} is in the pool`)
  return fitting
}
