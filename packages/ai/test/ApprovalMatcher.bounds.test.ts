/** How much one matcher may have (law L17): a stored one is read again for each call that it may be about. */
import { assert, describe, it } from "@effect/vitest"
import * as ApprovalMatcher from "../src/ApprovalMatcher.ts"

describe("L17 a matcher of very many globs", () => {
  const globs = (count: number) => Array.from({ length: count }, (_, index) => `src/${index}/**/*.{ts,js}`)

  it("of as many as there may be, covers what they match", () => {
    const matcher = ApprovalMatcher.path(globs(1_000), { param: "path" })
    assert.deepStrictEqual(matcher.problems, [])
    assert.isTrue(matcher.covers({ path: "src/999/a/b.ts" }))
  })

  it("of more, covers nothing, may cover anything, and says so; made, and read from what was stored", () => {
    const made = ApprovalMatcher.path(globs(20_000), { param: "path" })
    for (const matcher of [made, ApprovalMatcher.fromDescription(made.description, {})]) {
      assert.deepStrictEqual(matcher.problems, ["It has more than 1,000 globs, so it covers nothing."])
      assert.isFalse(matcher.covers({ path: "src/1/a.ts" }))
      assert.isTrue(matcher.mayCover({ path: "src/1/a.ts" }))
    }
  })
})
