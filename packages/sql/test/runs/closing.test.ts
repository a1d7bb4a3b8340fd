/** A turn that belongs to its store ends with it, before what it needs to write its end: the journal, and the database. */
import { Approval, Conversation, ConversationStore, LanguageModel, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Layer, Schema, Scope } from "effect"
import { SqlApproval } from "../../src/index.ts"
import { makeFilename } from "../database.ts"

const gated = Tool.make("Pay", { success: Schema.String, needsApproval: true })
const free = Tool.make("Look", { success: Schema.String })
const toolkit = Toolkit.make(gated, free)

describe("a store that closes", () => {
  for (const name of ["Look", "Pay"] as const) {
    it.live(`ends the turns that were started, with their ends written, while ${name} runs`, () =>
      Effect.gen(function*() {
        const filename = yield* makeFilename
        const entered = yield* Deferred.make<void>()
        const run = Effect.andThen(Deferred.succeed(entered, undefined), Effect.never)
        const script = yield* ScriptedModel.make({
          turns: [[ScriptedModel.toolCall({ id: "c1", name, params: {} })]],
          afterLastTurn: "Never."
        })
        const layers = Layer.mergeAll(
          SqlApproval.layer({ filename, grace: 0 }),
          toolkit.toLayer({ Look: () => run, Pay: () => run }),
          Layer.succeed(LanguageModel.LanguageModel, script.model)
        )
        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(layers, scope)
        const make = Conversation.make({ id: "c1", toolkit })
        const conversation = yield* Effect.provideContext(make, context)
        const turn = name === "Look" ? yield* conversation.start("Go.") : yield* Effect.gen(function*() {
          yield* conversation.send("Go.")
          const answers = (yield* conversation.pending()).map((request) => Approval.approve(request))
          return yield* conversation.start("And hurry.", { answers })
        })
        yield* Deferred.await(entered)
        yield* Scope.close(scope, Exit.void)
        const failure = yield* Effect.flip(turn.outcome)
        assert.instanceOf(failure, ConversationStore.ConversationError)
        assert.strictEqual(yield* script.calls, 1)
        const kept = yield* Effect.gen(function*() {
          const store = yield* ConversationStore.ConversationStore
          return (yield* store.read(yield* ConversationStore.keyOf("c1", {})))?.kept
        }).pipe(Effect.provide(layers))
        assert.isUndefined(kept?.turn)
        const history = JSON.stringify(kept?.history)
        assert.include(history, name === "Look" ? "Go." : "And hurry.")
        assert.include(history, `"name":"${name}"`)
      }).pipe(Effect.scoped))
  }
})
