/** L4: what a conversation's own history may say, no other history may say that is read in the course of its turn. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import {
  Approval,
  Conversation,
  LanguageModel,
  Prompt,
  Response,
  SuspensionStore,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as W from "../waiting/support.ts"
import * as C from "./support.ts"

describe("a handler that calls a model with a history of its own", () => {
  const ways: ReadonlyArray<readonly [way: string, needsApproval: boolean, stream: boolean]> = [
    ["of a call that needs nobody", false, false],
    ["of a call that needs nobody, streamed", false, true],
    ["of an approved call", true, false],
    ["of an approved call, streamed", true, true]
  ]
  for (const [way, needsApproval, stream] of ways) {
    const inTurn = <A>(nested: Effect.Effect<A>): Effect.Effect<A> =>
      Effect.gen(function*() {
        let result: A | undefined
        const Delegate = Tool.make("Delegate", { success: Schema.String, needsApproval })
        const toolkit = Toolkit.make(Delegate)
        const { model } = yield* ScriptedModel.make({
          turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Delegate", params: {} })], "Done."]
        })
        yield* Effect.gen(function*() {
          const conversation = yield* Conversation.make({ id: "c1", toolkit })
          const take = stream
            ? Effect.andThen(Stream.runDrain(conversation.stream("Go.")), conversation.outcome)
            : conversation.send("Go.")
          const outcome = yield* take
          if (outcome?._tag === "Waiting") yield* conversation.decide(Approval.approve(outcome.requests[0]!))
        }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, model),
          Effect.provide(toolkit.toLayer({
            Delegate: () => Effect.as(Effect.map(nested, (given) => (result = given)), "done")
          })),
          Effect.orDie
        )
        assert.isDefined(result)
        return result!
      }).pipe(Effect.provide(SuspensionStore.layerMemory), Effect.scoped)

    /** Two turns of a nested model, the second with what `answer` makes of the first one's request. */
    const nested = (
      call: ScriptedModel.TurnPart,
      answer: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer
    ) =>
      Effect.gen(function*() {
        const { steps, toolkit } = yield* W.makeWaiting()
        const { model } = yield* ScriptedModel.make({ turns: [[call], "nested"], afterLastTurn: "nested" })
        const ask = (prompt: Prompt.RawInput) =>
          Effect.provideService(
            LanguageModel.generateText({ prompt, toolkit }),
            LanguageModel.LanguageModel,
            model
          )
        const first = yield* ask("Begin.")
        const [request] = Response.approvalRequests(first)
        yield* ask(
          Prompt.concat(
            Prompt.concat(Prompt.make("Begin."), Prompt.fromResponseParts(first.content)),
            Prompt.approvalResponses([answer(request!)])
          )
        )
        return steps
      }).pipe(Effect.orDie) as Effect.Effect<W.Waiting["steps"]>

    it.effect(`is not trusted with edited parameters: ${way}`, () =>
      Effect.gen(function*() {
        const edited = nested(C.remove("a"), (request) => Approval.approve(request, { params: { path: "b" } }))
        assert.deepStrictEqual(yield* inTurn(edited), [])
      }))

    it.effect(`is not trusted with what only the program tells: ${way}`, () =>
      Effect.gen(function*() {
        const told = nested(C.menu("external"), (request) => Approval.answer(request, { paid: "20" }))
        assert.deepStrictEqual(yield* inTurn(told), [["start", "external"]])
      }))
  }
})
