/**
 * Names of tools as a configuration writes them, and the word that was probably meant: `internal/config/names.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Names from "../../src/internal/config/names.ts"

/** All texts of a few letters. */
const texts = (letters: ReadonlyArray<string>, length: number): ReadonlyArray<string> =>
  length === 0 ?
    [""] :
    texts(letters, length - 1).flatMap((text) =>
      text.length < length - 1 ? [text] : [text, ...letters.map((letter) => text + letter)]
    )

describe("names of a configuration", () => {
  it("a glob stands for what a regular expression of it would, whatever stands between its stars", () => {
    const names = texts(["a", "b"], 5)
    for (const glob of texts(["a", "b", "*"], 5).filter(Names.isGlob)) {
      const expected = new RegExp(`^${glob.replaceAll("*", ".*")}$`)
      for (const name of names) assert.strictEqual(Names.matches(glob, name), expected.test(name), `${glob} ${name}`)
    }
  })

  it("a name stands for itself, and for nothing that only begins so", () => {
    assert.deepStrictEqual(["read", "rea", "reads", "", "READ"].map((name) => Names.matches("read", name)), [
      true,
      false,
      false,
      false,
      false
    ])
    assert.deepStrictEqual(["mcp.*", "*", "**a*"].map(Names.lengthOf), [4, 0, 1])
  })

  it("a name has up to 256 characters and no blanks around them, and only * is a wildcard", () => {
    for (const good of ["a", "a b", "mcp.*.read", "x".repeat(256)]) assert.isUndefined(Names.problemOfName(good))
    assert.match(Names.problemOfName("x".repeat(257))!, /longer than 256 characters/)
    for (const blank of ["", " ", "\t"]) assert.match(Names.problemOfName(blank)!, /has a name/)
    for (const blank of [" a", "a ", "a\n"]) assert.match(Names.problemOfName(blank)!, /begins or ends with a space/)
    for (const wild of ["a?", "[a", "a]", "{a", "a}"]) {
      assert.match(Names.problemOfName(wild)!, /is not allowed in a name/)
    }
  })
})

describe("the word that was probably meant", () => {
  const meant: Record<string, ReadonlyArray<readonly [word: string, meant: string | undefined]>> = {
    "a letter more, less, or another": [["requiredd", "required"], ["requred", "required"], ["reqiired", "required"]],
    "two letters in each other's place, at the beginning, at the end, and once or twice between": [
      ["erquired", "required"],
      ["requierd", "required"],
      ["requirde", "required"],
      ["reuqierd", "required"],
      ["dney", "deny"],
      ["edny", "deny"],
      ["deyn", "deny"]
    ],
    "another spelling": [["REQUIRED", "required"], ["once-per-session", "once_per_session"], [
      "Once Per Session",
      "once_per_session"
    ]],
    "at most a third is wrong, or one letter": [
      ["dany", "deny"],
      ["dena", "deny"],
      ["daly", undefined],
      ["reqwwred", "required"],
      ["reqwwwed", undefined],
      ["nonsense", undefined],
      ["", undefined]
    ]
  }
  const words = ["required", "deny", "none", "once_per_session"]
  for (const [title, cases] of Object.entries(meant)) {
    it(title, () => {
      for (const [word, expected] of cases) assert.strictEqual(Names.nearest(word, words), expected, word)
    })
  }

  it("the nearest of several, and of those that are as near the first", () => {
    assert.strictEqual(Names.nearest("reader", ["leaders", "reader_", "leader"]), "reader_")
    assert.strictEqual(Names.nearest("reader", ["header", "leader"]), "header")
    assert.strictEqual(Names.nearest("reader", ["leader", "header"]), "leader")
    assert.strictEqual(Names.nearest("ab", ["a"]), "a", "of the shorter word a third, or one letter")
    assert.isUndefined(Names.nearest("abcdef", ["abc"]))
  })

  it("words of more than 64 characters are nobody's slip", () => {
    const [most, more] = ["x".repeat(64), "x".repeat(65)]
    assert.strictEqual(Names.nearest(most, [most]), most)
    assert.isUndefined(Names.nearest(more, [most]))
    assert.isUndefined(Names.nearest(most, [more]))
  })
})
