/**
 * Elicitation: our server asks the user of its client, and the client is the one of `@modelcontextprotocol/sdk`. Only a
 * clear yes lets the tool run; whatever else comes back is a denial that says what it was (law L1).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as S from "./support.ts"

describe("L1 the user of the client answers", () => {
  it.live("accept: what was shown runs, once", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files())
      const { asked, call } = yield* S.connect(server, () => S.approve)
      const result = yield* call("delete_file", { path: "/tmp/a" })
      assert.deepStrictEqual(result.structured, { deleted: "/tmp/a" })
      assert.isFalse(result.isError)
      assert.strictEqual(asked.length, 1)
      console.log(JSON.stringify(asked[0], null, 1))
      assert.deepStrictEqual(server.runs, ["delete /tmp/a"])
    }))

  it.live("decline: a denial that says so; nothing runs", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files())
      const { call } = yield* S.connect(server, () => ({ action: "decline" }))
      assert.strictEqual(S.reasonOf(yield* call("delete_file", { path: "/tmp/a" })), "The user declined this call.")
      assert.deepStrictEqual(server.runs, [])
    }))
})
