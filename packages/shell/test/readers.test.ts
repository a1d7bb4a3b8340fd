/** The two readers of a line, each alone: neither leans on the other. */
import { assert, describe, it } from "@effect/vitest"
import * as CommandLine from "../src/internal/line/commandLine.ts"
import * as Parsed from "../src/internal/line/parsed.ts"
import type { Piece } from "../src/internal/line/piece.ts"
import * as Plain from "../src/internal/line/plain.ts"
import * as Lines from "./lines.ts"

const isGit = (pieces: ReadonlyArray<Piece> | undefined): boolean =>
  pieces !== undefined && pieces.every(({ words }) => words[0] === "git")

const lines = (...tables: ReadonlyArray<typeof Lines.hostile>) => tables.flat().map(([line]) => line)

describe("the strict reader alone", () => {
  it("lets only arguments of git through", () => {
    const rest = new Set(lines(Lines.delegations))
    assert.deepStrictEqual(lines(Lines.hostile).filter((line) => !rest.has(line) && isGit(Plain.read(line))), [])
  })

  it("knows no keywords, which is what the parser is for", () => {
    assert.deepStrictEqual(Plain.read("if git status; then"), [
      { operator: "", words: ["if", "git", "status"], redirects: [] },
      { operator: ";", words: ["then"], redirects: [] }
    ])
    assert.isUndefined(CommandLine.read("if git status; then"))
    assert.isUndefined(CommandLine.read("A=b git status"))
    assert.isUndefined(CommandLine.read("time git status"))
  })

  it("reads stars only in patterns", () => {
    assert.deepStrictEqual(CommandLine.readPattern("a* '*' \\* b"), [`a${Plain.star}`, "*", "*", "b"])
    assert.isUndefined(CommandLine.read("a*"))
    assert.isUndefined(CommandLine.readPattern("a* && b"))
    assert.isUndefined(CommandLine.readPattern("a* 2>&1"))
  })

  it("takes 16,384 units and no more", () => {
    const line = `git ${"a".repeat(16_380)}`
    assert.lengthOf(line, 16_384)
    assert.isTrue(isGit(CommandLine.read(line)))
    assert.isUndefined(CommandLine.read(`${line}a`))
  })
})

describe("the parser alone", () => {
  it("lets no other command, prefix or compound through", () => {
    // To the parser, and to bash, a lone carriage return is a letter.
    const alien = lines(Lines.otherCommands, Lines.prefixes, Lines.compounds, Lines.otherPrograms)
      .filter((line) => line.trim() !== "" && !/\r[^\n]/.test(line))
    assert.deepStrictEqual(alien.filter((line) => isGit(Parsed.read(line))), [])
  })

  it("lets no word through that has to be expanded", () => {
    const expanded = lines(Lines.insideWords, Lines.redirects).filter((line) => /[$`({?[]|<</.test(line))
    assert.isAtLeast(expanded.length, 25)
    assert.deepStrictEqual(expanded.filter((line) => isGit(Parsed.read(line))), [])
  })

  it("tells every other redirect apart from the harmless ones", () => {
    const said = lines(Lines.redirects).flatMap((line) => Parsed.read(line) ?? []).flatMap(({ redirects }) => redirects)
    assert.isAtLeast(said.length, 10)
    assert.deepStrictEqual(said.filter((redirect) => Plain.read(`git ${redirect}`) !== undefined), [])
  })
})

describe("both", () => {
  it.each(Lines.harmless)("%j is the same to both", (line) => {
    assert.deepStrictEqual(Parsed.read(line), Plain.read(line))
  })

  it("see operators, words and redirects", () => {
    assert.deepStrictEqual(CommandLine.read("git log 'a b' 2>/dev/null | head \\\n -n 5"), undefined)
    assert.deepStrictEqual(CommandLine.read("a 'b c' 2> /dev/null >&2 | d\\ e || f && g\n\n h ; i\n"), [
      { operator: "", words: ["a", "b c"], redirects: ["2>/dev/null", ">&2"] },
      { operator: "|", words: ["d e"], redirects: [] },
      { operator: "||", words: ["f"], redirects: [] },
      { operator: "&&", words: ["g"], redirects: [] },
      { operator: ";", words: ["h"], redirects: [] },
      { operator: ";", words: ["i"], redirects: [] }
    ])
  })
})
