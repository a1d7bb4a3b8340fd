/** A few random stories; `npm run pages` plays a thousand. */
import { assert, describe, it } from "@effect/vitest"
import { play } from "./story.ts"

describe("random stories", () => {
  it.each([1, 2, 3, 4, 5, 6])(
    "of seed %i: no client fails, no tool runs twice, nothing is posted for ever",
    async (seed) => {
      const { posts, problems, steps } = await play(seed)
      assert.deepStrictEqual(problems, [], steps.join("\n"))
      assert.isAbove(posts, 0)
    }
  )

  it("over two servers with one store", async () => {
    const { kills, posts, problems, steps } = await play(17, 2)
    assert.deepStrictEqual(problems, [], steps.join("\n"))
    assert.isAbove(Math.min(posts, kills), 0)
  })
})
