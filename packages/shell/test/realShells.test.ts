/**
 * What is covered, carried out by real shells: only `git` is called, once per command and with just the words that the
 * pattern was compared with, and nothing else happens. `git` is a stub that writes down how it was called, the only
 * program there is.
 *
 * bash is part of what a contributor needs, since `.ci/run` is written for it.
 */
import { ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Process from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as CommandLine from "../src/internal/line/commandLine.ts"
import type { Piece } from "../src/internal/line/piece.ts"
import * as Lines from "./lines.ts"

/** What is known of git covers too few of random lines: trusted whole, its words may be any. */
const git = ApprovalMatcher.shell(["git *"], { param: "command", trust: ["git"] })

/** Fragments of which many lines are covered, and as many nearly so. */
const Fragment = Schema.Literals([
  "git ",
  "git log ",
  "git show ",
  "git ",
  "git add ",
  "-n ",
  "3 ",
  "a.txt ",
  "HEAD~2 ",
  "HEAD^ ",
  "x=y ",
  "'",
  "'",
  "\"",
  "\"",
  "\\",
  " ",
  " ",
  "\n",
  "\t",
  "&& git ",
  "|| git ",
  "; git ",
  "| git ",
  "\ngit ",
  "&",
  "|",
  ";",
  "&&\n git ",
  "2>&1 ",
  ">/dev/null ",
  "> /dev/null ",
  "2>/dev/null ",
  "&>/dev/null ",
  ">&2 ",
  "</dev/null ",
  ">x ",
  "<x ",
  "$x",
  "$(x)",
  "`x`",
  "*",
  "?",
  "~",
  "~root ",
  "{a,b}",
  "!",
  "#",
  " # ",
  "=",
  "^",
  "%",
  "@",
  ":",
  "(",
  ")",
  "[",
  "]",
  "if ",
  "then ",
  "fi ",
  "time ",
  "{ ",
  "{} ",
  "} ",
  "A=b ",
  "echo ",
  "cd / ",
  "touch x ",
  "\u00e9",
  "\\\n",
  "\\'",
  "\\\""
])
const Soup = Schema.Array(Fragment).check(Schema.isMinLength(2), Schema.isMaxLength(14))

/** How often each command is called, if every call succeeds: nothing after `||` up to the next `;` or `&&`. */
const expectedCalls = (pieces: ReadonlyArray<Piece>): ReadonlyArray<string> => {
  let runs = true
  return pieces.flatMap(({ operator, words }) => {
    if (operator === ";" || operator === "&&") runs = true
    else if (operator === "||") runs = false
    return runs ? [JSON.stringify(words)] : []
  }).toSorted()
}

interface Ran {
  readonly calls: ReadonlyArray<string>
  readonly output: string
  readonly files: ReadonlyArray<string>
}

/** Runs each line in a bash of its own, in an empty folder and with nothing in reach but the stub. */
const runAll = (shell: string, lines: ReadonlyArray<string>): ReadonlyArray<Ran> => {
  const root = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-shell-"))
  try {
    const bin = Path.join(root, "bin")
    Fs.mkdirSync(bin)
    // One `printf` is one write, so that the two ends of a pipe do not mix.
    Fs.writeFileSync(
      Path.join(bin, "git"),
      "#!/bin/sh\nIFS=\nout=\nfor a in git \"$@\"; do out=\"$out$a\x01\"; done\nprintf '%s\\002' \"$out\" >> \"$CALLS\"\n",
      { mode: 0o755 }
    )
    lines.forEach((line, index) => {
      Fs.mkdirSync(Path.join(root, `${index}`, "home"), { recursive: true })
      Fs.writeFileSync(Path.join(root, `${index}`, "line"), line)
    })
    // One bash starts all the others: a process per line from here would take ten times as long.
    const driver =
      "SHELL_PATH=$(type -P \"$SHELL_NAME\"); for ((i = 0; i < COUNT; i++)); do cd \"$ROOT/$i/home\"; IFS= read -rd '' line < ../line; " +
      "CALLS=\"$ROOT/$i/calls\" HOME=$PWD PATH=\"$ROOT/bin\" \"$SHELL_PATH\" -c \"$line\" > ../output 2>&1 < /dev/null; done"
    const driven = Process.spawnSync("bash", ["--norc", "-c", `${driver}; true`], {
      env: { COUNT: `${lines.length}`, PATH: process.env["PATH"], ROOT: root, SHELL_NAME: shell }
    })
    assert.strictEqual(driven.status, 0, String(driven.error ?? driven.stderr))
    return lines.map((_, index) => {
      const at = Path.join(root, `${index}`)
      const written = Fs.existsSync(Path.join(at, "calls")) ? Fs.readFileSync(Path.join(at, "calls"), "utf8") : ""
      return {
        calls: written.split("\x02").slice(0, -1).map((call) => JSON.stringify(call.split("\x01").slice(0, -1)))
          .toSorted(),
        output: Fs.readFileSync(Path.join(at, "output"), "utf8"),
        files: Fs.readdirSync(Path.join(at, "home"))
      }
    })
  } finally {
    Fs.rmSync(root, { recursive: true })
  }
}

const check = (shell: string, lines: ReadonlyArray<string>): void => {
  const ran = runAll(shell, lines)
  lines.forEach((line, index) => {
    const { calls, files, output } = ran[index]!
    assert.strictEqual(output, "", JSON.stringify(line))
    assert.deepStrictEqual(files, [], JSON.stringify(line))
    assert.deepStrictEqual(calls, expectedCalls(CommandLine.read(line)!), JSON.stringify(line))
  })
}

const covered = Effect.runSync(Effect.cached(Effect.gen(function*() {
  const soups = yield* Effect.orDie(
    Arbitrary.sampleEffect(Arbitrary.schema(Soup), { count: 6_000, seed: "bash", size: 14 })
  )
  const lines = soups.flatMap((parts) => [parts.join(""), `git ${parts.join("")}`])
  const covered = [...new Set(lines.filter((command) => git.covers({ command })))]
  assert.isAtLeast(covered.length, 200)
  assert.isAtLeast(lines.length - covered.length, 5_000)
  return covered.slice(0, 200)
})))

// `sh` is whatever the system has: dash, busybox, zsh or bash itself.
describe.each(["bash", "sh"])("in a real %s", (shell) => {
  it("every harmless line calls git and does nothing else", () => {
    check(shell, Lines.harmless)
  }, 30_000)

  it.effect("so does every random line that is covered", () =>
    Effect.map(covered, (lines) => {
      check(shell, lines)
    }), 30_000)
})
