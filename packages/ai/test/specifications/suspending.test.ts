/** What the specification of functions that suspend says, and no other test shows. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as C from "../conversation/support.ts"
import * as W from "../waiting/support.ts"

const submit = { ...C.ask("x"), name: "Submit", params: { item: "desk", amount: "250" } }

describe("an expense", () => {
  it.effect("an expense is rejected by the manager, or by the director after the manager's yes", () =>
    Effect.gen(function*() {
      const rejected = yield* C.start({ turns: [[submit], "Rejected."] })
      yield* rejected.conversation.send("Submit my expense.")
      const outcome = yield* rejected.conversation.resume(W.Submit, "manager", { approved: false })
      assert.strictEqual(C.finished(outcome), "Rejected.")
      assert.include(JSON.stringify(yield* rejected.conversation.history), "rejected by manager")
      const later = yield* C.start({ turns: [[submit], "Rejected."] })
      yield* later.conversation.send("Submit my expense.")
      C.requestsOf(yield* later.conversation.resume(W.Submit, "manager", { approved: true }))
      C.finished(yield* later.conversation.resume(W.Submit, "director", { approved: false }))
      assert.include(JSON.stringify(yield* later.conversation.history), "rejected by director")
    }))
})

describe("what is pending", () => {
  it.effect("what is pending is listed by kind, and is nothing once it is answered", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [[C.ask("Size?"), submit, C.remove("a")], "Well."] })
      assert.deepStrictEqual(yield* conversation.pending(), [])
      yield* conversation.send("Go.")
      const names = (kind?: Parameters<typeof conversation.pending>[0]) =>
        Effect.map(conversation.pending(kind), (requests) => requests.map(({ toolName }) => toolName))
      assert.deepStrictEqual(yield* names(), ["Ask", "Submit", "DeleteFile"])
      assert.deepStrictEqual(yield* names("askUser"), ["Ask"])
      assert.deepStrictEqual(yield* names("getApproval"), ["Submit"])
      assert.deepStrictEqual(yield* names("approval"), ["DeleteFile"])
      yield* conversation.send("42")
      assert.deepStrictEqual(yield* names("askUser"), [])
    }))
})
