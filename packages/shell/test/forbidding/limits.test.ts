/** Lines that are built to take long: each is answered, and nothing that grows with a line grows by its square. */
import { assert, describe, it } from "@effect/vitest"
import * as Forbidding from "../../src/internal/forbidding/forbidding.ts"
import * as Git from "../../src/internal/forbidding/git.ts"
import { lineOf, parts } from "./nasty.ts"

const patterns = ["rm *", "git push --force *"]

describe("a line as long as lines may be", () => {
  // One of these took twelve seconds; each has the five of any test, which are a hundred times what it needs.
  it.each(parts)("is answered: %j %j %j", (...part) => {
    const why = Forbidding.make(patterns)
    const line = lineOf(part, 16_384)
    assert.isAtMost(line.length, 16_384)
    assert.isAtLeast(line.length, 16_300)
    assert.include(["undefined", "object"], typeof why(line))
  })

  it("may be anything if it is longer, and is not read", () => {
    assert.deepStrictEqual(Forbidding.make(patterns)("a".repeat(16_385)), { _tag: "Unreadable", word: "" })
    assert.isUndefined(Forbidding.make(patterns)("a".repeat(16_384)))
  })

  it("may be anything if it is nested deeper, names more programs or has more documents than anybody writes", () => {
    for (
      const line of [
        `echo $((${"1+".repeat(500)}1))`,
        `mytool ${"git status ".repeat(100)}`,
        "cat <<A\nA\n".repeat(100),
        `ls a${"\u0323".repeat(100)}`
      ]
    ) assert.isDefined(Forbidding.make(patterns)(line), line.slice(0, 20))
  })

  it("is gone through once for the options before git's subcommand", () => {
    const words = ["git", ...Array.from({ length: 2_000 }, () => ["-C", "git"]).flat(), "push"]
    let reads = 0
    const counted = new Proxy(words, {
      get: (target, key) => {
        if (typeof key === "string" && /^\d+$/.test(key)) reads++
        return Reflect.get(target, key)
      }
    })
    const known = new Map<number, Git.Call>()
    for (let at = 1; at < words.length; at++) Git.read(counted, at, known)
    assert.isAtMost(reads, 6 * words.length)
  })
})
