/** What a program sees that talks to a server by the typed client. */
import { Approval } from "@assent/ai"
import { ConversationProxy, Decider } from "@assent/web"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { call, clientOf, newId, type Options, serve } from "./server.ts"

const told = <A>(
  options: Options,
  tell: (
    server: ReturnType<typeof serve>,
    params: { readonly id: string }
  ) => Effect.Effect<A, unknown>
) =>
  Effect.acquireUseRelease(
    Effect.sync(() => serve(options)),
    (server) => tell(server, { id: newId() }),
    ({ dispose }) => Effect.promise(dispose)
  )

describe("typed client", () => {
  it.effect("says something, reads what is said as it comes, and decides", () =>
    told({ turns: [[call("c1", "a")], "a is gone."] }, (server, params) =>
      Effect.gen(function*() {
        const chat = yield* clientOf(server)
        const parts = yield* Stream.runCollect(yield* chat.send({ params, payload: { text: "Clean up." } }))
        assert.deepStrictEqual(parts.map(({ type }) => type), [
          "turn-start",
          "tool-params-start",
          "tool-params-delta",
          "tool-params-end",
          "tool-call",
          "tool-approval-request",
          "finish",
          "turn-end"
        ])
        const end = parts.at(-1)!
        assert.isTrue(end.type === "turn-end" && end.outcome === "Waiting")
        const [request] = yield* chat.pending({ params })
        assert.instanceOf(request, Approval.ApprovalRequest)
        const decided = yield* chat.decide({ params, payload: Approval.approve(request!) })
        assert.deepStrictEqual(decided.answers.map(({ result, state }) => [state, result]), [["done", {
          deleted: "a"
        }]])
        assert.deepInclude(decided.answers[0]!.decidedBy, { id: "ada", name: "ADA" })
        assert.deepStrictEqual(server.deleted, ["a"])
        const history = yield* chat.history({ params })
        assert.deepStrictEqual(history.messages.map(({ role }) => role), [
          "user",
          "assistant",
          "tool",
          "tool",
          "assistant"
        ])
        const state = yield* chat.state({ params, query: { approvalId: request!.approvalId } })
        assert.strictEqual(state.state, "done")
        assert.isUndefined(yield* chat.follow({ params }))
        yield* chat.cancel({ params, payload: {} })
      })))

  it.effect("what goes wrong are errors that it can tell apart", () =>
    told({ turns: [[call("c1", "a")]], afterLastTurn: "fail" }, (server, params) =>
      Effect.gen(function*() {
        const chat = yield* clientOf(server)
        const nobody = yield* clientOf(server, { "x-person": "nobody" })
        const refused = yield* Effect.flip(nobody.history({ params }))
        assert.isTrue(refused instanceof Decider.Refused && refused.status === 401)
        assert.strictEqual(refused.message, "Please log in.")
        const unknown = yield* Effect.flip(
          chat.decide({ params, payload: Approval.approve({ approvalId: "made-up" }) })
        )
        assert.instanceOf(unknown, ConversationProxy.UnknownRequest)

        const parts: Array<string> = []
        const read = (turn: Stream.Stream<{ readonly type: string }, unknown>) =>
          Stream.runForEach(turn, ({ type }) => Effect.sync(() => void parts.push(type)))
        yield* read(yield* chat.send({ params, payload: { text: "Clean up." } }))
        const [request] = yield* chat.pending({ params })
        parts.length = 0
        const turn = yield* chat.send({ params, payload: { answers: [Approval.approve(request!)] } })
        const failed = yield* Effect.flip(read(turn))
        assert.isTrue(failed instanceof ConversationProxy.TurnFailed && failed.reason === "Model")
        assert.include(parts, "tool-result")

        const late = yield* Effect.flip(chat.decide({ params, payload: Approval.deny(request!) }))
        assert.isTrue(late instanceof ConversationProxy.AlreadyDecided)
        assert.isTrue(late._tag === "AlreadyDecided" && late.state === "done" && late.decidedBy?.id === "ada")
      })))
})
