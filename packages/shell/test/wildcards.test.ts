/**
 * What real shells put in the place of a wildcard that is covered, in a folder full of names that are made to be taken for
 * something else: never an option that the line does not write, and nothing above the folder.
 */
import { ApprovalMatcher } from "@assent/shell"
import { afterAll, assert, describe, it } from "@effect/vitest"
import * as Process from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"

const names = [
  "--files0-from=x",
  "--include=x.go",
  "--pre=evil.go",
  "-delete",
  "-exec",
  ";",
  "$(touch evil)",
  "`touch evil`",
  "a b",
  "a.ts",
  "ab",
  "*",
  "&& touch evil",
  ".env",
  "..x"
]

/** Of each covered line, the beginnings that the words in the place of its wildcard may have. */
const lines: ReadonlyArray<readonly [line: string, ...beginnings: ReadonlyArray<string>]> = [
  ["wc -l ./*", "./"],
  ["wc -l a*", "a"],
  ["wc -l src/*", "src/"],
  ["wc -l src/*.ts a*", "src/", "a"],
  ["wc -l src/**/a*", "src/"],
  ["grep -rn x --include=*.go src", "--include="],
  ["grep -rn x --include=*.none src", "--include="],
  ["head -n 3 none/*", "none/*"]
]

const matcher = ApprovalMatcher.shell(["*"], { param: "command" })

describe.each(["bash", "sh"])("in a real %s", (shell) => {
  const root = Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-wildcards-"))
  const folder = Path.join(root, "folder")
  for (const at of [folder, Path.join(folder, "src"), Path.join(folder, "src/deep")]) {
    Fs.mkdirSync(at)
    for (const name of names) Fs.writeFileSync(Path.join(at, name), "")
  }
  const bin = Path.join(root, "bin")
  Fs.mkdirSync(bin)
  for (const program of ["wc", "grep", "head"]) {
    Fs.writeFileSync(Path.join(bin, program), "#!/bin/sh\nfor a in \"$@\"; do printf '%s\\001' \"$a\"; done\n", {
      mode: 0o755
    })
  }
  const found = Process.spawnSync("sh", ["-c", `command -v ${shell}`], { encoding: "utf8" }).stdout.trim()

  afterAll(() => Fs.rmSync(root, { recursive: true }))

  it.each(lines)("%s", (line, ...beginnings) => {
    assert.isTrue(matcher.covers({ command: line }))
    const ran = Process.spawnSync(found, ["-c", line], {
      cwd: folder,
      env: { PATH: bin },
      encoding: "utf8",
      // With a socket for its input bash reads `.bashrc`.
      stdio: ["ignore", "pipe", "pipe"]
    })
    assert.strictEqual(ran.stderr, "")
    const words = ran.stdout.split("\x01").slice(0, -1)
    const written = line.split(" ").slice(1).filter((word) => !word.includes("*"))
    const others = words.filter((word) => !written.includes(word))
    assert.isAbove(others.length, 0)
    for (const word of others) {
      assert.isTrue(beginnings.some((beginning) => word.startsWith(beginning)), word)
      assert.notInclude(word.split("/"), "..")
      assert.notInclude(word, ".env")
    }
    assert.deepStrictEqual(Fs.readdirSync(folder).toSorted(), [...names, "src"].toSorted())
  })
})
