/**
 * Lines that were covered once, or nearly, and do more than the tables say, as the proofs showed. Those of git that is
 * newer than what was proved, of yarn and of cargo are from their documentation.
 */
import { Shell } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"

const patterns = ["*", "git *"]

const wrong: ReadonlyArray<readonly [line: string, because: string]> = [
  ["tree -Iof x package.json", "the value of -I is the next word, so `-o` writes to package.json"],
  ["git log '--format=%G?'", "asks gpg"],
  ["git log '--format=%+G?'", "asks gpg, with a newline before"],
  ["git log '--pretty=%h%-GS'", "asks gpg"],
  ["git log '--format=% GK'", "asks gpg, with a blank before"],
  ["git log '--format=%w(1,1)%G?'", "asks gpg"],
  ["git log --format=mine", "is what the settings say, which may be `%G?`"],
  ["git log --format=onelin", "is `oneline`, or what the settings say"],
  ["git log '--format=%(describe)'", "runs git describe"],
  ["git log '--format=%+(describe:tags)'", "runs git describe"],
  ["git log -L 1,5:../../secret", "leads out of the folder"],
  ["git branch '--format=%(signature)'", "asks gpg, in git that is newer than what was proved"],
  ["git branch --sort=signature", "asks gpg, in git that is newer than what was proved"],
  ["uniq a.txt b.txt", "writes b.txt"],
  ["xxd -r a.hex b.bin", "writes b.bin"],
  ["xxd a.bin b.hex", "writes b.hex"],
  ["yarn --version", "runs what .yarnrc.yml names"],
  ["cargo --version", "runs what rust-toolchain.toml names"]
]

const right = [
  "tree -L 2 -I node_modules",
  "git log --format=oneline",
  "git log '--format=%h %s'",
  "git log '--format=format:%an <%ae>'",
  "git show --format= --stat",
  "git log -L 1,5:src/a.ts",
  "git branch '--format=%(refname:short) %(upstream:track)' --sort=-committerdate",
  "uniq a.txt",
  "xxd a.bin",
  "npm --version"
]

describe("what the proofs found", () => {
  it.each(wrong)("%s: %s", (line) => {
    assert.isFalse(Shell.explain(line, patterns).covered)
  })

  it.each(right)("%s is covered beside it", (line) => {
    assert.deepStrictEqual(Shell.explain(line, patterns).refusals, [])
  })
})
