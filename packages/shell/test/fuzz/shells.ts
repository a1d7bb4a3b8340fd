/**
 * Lines carried out by real shells: `git` is a stub that writes down how it was called, the only program there is, in an
 * empty folder. One bash drives all the others, since a process per line from here would take ten times as long.
 */
import * as Effect from "effect/Effect"
import * as Process from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as CommandLine from "../../src/internal/line/commandLine.ts"
import type { Piece } from "../../src/internal/line/piece.ts"

/** How a shell is started, before `-c`: the program, and words that make it be a shell. */
export type Shell = readonly [program: string, ...words: ReadonlyArray<string>]

/** The shells that are looked for. `sh` is whatever the system has: dash, busybox, zsh or bash itself. */
export const known: ReadonlyArray<Shell> = [
  ["bash"],
  ["bash", "--posix"],
  ["sh"],
  ["dash"],
  ["zsh", "-f"],
  ["mksh"],
  ["ksh"],
  ["yash"],
  ["busybox", "sh"]
]

/** Those of {@link known} that are installed, each program once. */
export const find = (): ReadonlyArray<Shell> => {
  const seen = new Set<string>()
  return known.filter(([program, ...words]) => {
    const found = (process.env["PATH"] ?? "").split(Path.delimiter).map((folder) => Path.join(folder, program))
      .find((path) => Fs.existsSync(path))
    const key = found === undefined ? "" : [Fs.realpathSync(found), ...words].join(" ")
    if (key === "" || seen.has(key)) return false
    seen.add(key)
    return true
  })
}

/** What a shell did that the line does not say. */
export interface Surprise {
  readonly line: string
  readonly what: string
}

/** How often each command is called, if every call succeeds: nothing after `||` up to the next `;` or `&&`. */
const expectedCalls = (pieces: ReadonlyArray<Piece>): ReadonlyArray<string> => {
  let runs = true
  return pieces.flatMap(({ operator, words }) => {
    if (operator === ";" || operator === "&&") runs = true
    else if (operator === "||") runs = false
    return runs ? [JSON.stringify(words)] : []
  }).toSorted()
}

// One `printf` is one write, so that the two ends of a pipe do not mix.
const stub =
  "#!/bin/sh\nIFS=\nout=\nfor a in git \"$@\"; do out=\"$out$a\x01\"; done\nprintf '%s\\002' \"$out\" >> \"$CALLS\"\n"

/**
 * For each line: its calls, what it printed, and what lies in its folder, each ended by `\x03`. Descriptor 9 is the pipe
 * that the substitution reads: it ends only when the last process of a pipeline has, and some shells do not wait for that.
 */
const driver = `
shopt -s nullglob dotglob
shell=($SHELL_WORDS)
shell[0]=$(type -P "\${shell[0]}")
mkdir "$ROOT/home"
cd "$ROOT/home"
while IFS= read -rd '' line; do
  : > ../calls
  output=$(CALLS="$ROOT/calls" HOME=$PWD PATH="$ROOT/bin" "\${shell[@]}" -c "$line" 9>&1 2>&1 < /dev/null)
  files=(*)
  printf '%s\\003%s\\003%s\\003' "$(< ../calls)" "$output" "\${files[*]}"
  if ((\${#files[@]})); then rm -rf "$ROOT/home"; mkdir "$ROOT/home"; cd "$ROOT/home"; fi
done < ../lines
true
`

const surprisesOf = (lines: ReadonlyArray<string>, ran: string): ReadonlyArray<Surprise> => {
  const fields = ran.split("\x03")
  if (fields.length !== lines.length * 3 + 1) {
    return [{ line: "", what: `${(fields.length - 1) / 3} of ${lines.length} lines were run` }]
  }
  return lines.flatMap((line, index) => {
    const [calls, output, files] = fields.slice(index * 3)
    const called = calls!.split("\x02").slice(0, -1).map((call) => JSON.stringify(call.split("\x01").slice(0, -1)))
      .toSorted().join("\n")
    const expected = expectedCalls(CommandLine.read(line)!).join("\n")
    const what = output !== ""
      ? `it printed ${JSON.stringify(output)}`
      : files !== ""
      ? `it made ${files}`
      : called === expected
      ? undefined
      : `it called ${called}, not ${expected}`
    return what === undefined ? [] : [{ line, what }]
  })
}

/** Runs every line in a shell of its own. Each is one that is covered. */
export const run = (shell: Shell, lines: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<Surprise>> =>
  Effect.acquireUseRelease(
    Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-shell-"))),
    (root) =>
      Effect.callback<ReadonlyArray<Surprise>>((resume) => {
        Fs.mkdirSync(Path.join(root, "bin"))
        Fs.writeFileSync(Path.join(root, "bin/git"), stub, { mode: 0o755 })
        Fs.writeFileSync(Path.join(root, "lines"), lines.map((line) => `${line}\0`).join(""))
        const child = Process.execFile(
          "bash",
          ["--norc", "-c", driver],
          {
            env: { PATH: process.env["PATH"], ROOT: root, SHELL_WORDS: shell.join(" ") },
            maxBuffer: Infinity
          },
          (error, stdout, stderr) =>
            resume(
              error === null && stderr === ""
                ? Effect.succeed(surprisesOf(lines, stdout))
                : Effect.die(error ?? new Error(stderr))
            )
        )
        return Effect.sync(() => child.kill())
      }),
    (root) => Effect.sync(() => Fs.rmSync(root, { recursive: true }))
  )
