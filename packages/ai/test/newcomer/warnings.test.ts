/** Who is told that approvals end with the process: who can lose one by it, and nobody else (law L4). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema, Stream } from "effect"
import {
  Approval,
  ApprovalSeal,
  Conversation,
  ConversationStore,
  LanguageModel,
  Store,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Sealing from "../sealing.ts"
import * as Untyped from "./untyped.ts"

const toolkit = Toolkit.make(Untyped.DeleteFile)
const handlers = toolkit.toLayer({ DeleteFile: () => Effect.succeed("deleted") })

const recorded = <A, E>(program: Effect.Effect<A, E, LanguageModel.LanguageModel>) =>
  Effect.gen(function*() {
    yield* Sealing.restart
    const { layer, lines } = yield* Sealing.recordLogs
    const result = yield* program.pipe(
      Effect.provideService(ApprovalSeal.ApprovalSeal, ApprovalSeal.ApprovalSeal.defaultValue()),
      Sealing.keyIn(undefined),
      Effect.provide(Layer.merge(layer, Untyped.model("DeleteFile")))
    )
    return { result, lines }
  })

// A tool that the provider runs, and asks about.
const Search = Tool.providerDefined({
  id: "test.search",
  customName: "Search",
  providerName: "search",
  success: Schema.String
})
const hosting = ScriptedModel.layer({
  turns: [[
    ScriptedModel.toolCall({ id: "call-1", name: "Search", params: {}, providerExecuted: true }),
    { type: "tool-approval-request", approvalId: "mcpr_1", toolCallId: "call-1" }
  ]],
  strict: { allowProviderApprovals: ["mcpr_1"] }
})

const asked = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "first", toolkit })
  yield* conversation.send("go")
  const answers = (yield* conversation.pending()).map((request) => Approval.approve(request))
  return (yield* conversation.decide(answers)).text
}).pipe(Effect.provide(handlers))

describe("without a key", () => {
  for (
    const [where, store] of [["no store", Layer.empty], ["one in memory", ConversationStore.layerMemory()]] as const
  ) {
    it.effect(`the first program, whose conversation ends with the process, is told nothing: ${where}`, () =>
      Effect.gen(function*() {
        const { lines, result } = yield* recorded(asked)
        assert.strictEqual(result, "done")
        assert.deepStrictEqual(lines, [])
      }).pipe(Effect.provide(store)))
  }

  for (const way of ["send", "stream"] as const) {
    it.effect(`nor is one in which the provider asks [${way}]`, () =>
      Effect.gen(function*() {
        const { lines, result } = yield* recorded(
          Effect.gen(function*() {
            const conversation = yield* Conversation.make({ id: "hosted", toolkit: Toolkit.make(Search()) })
            if (way === "send") yield* conversation.send("go")
            else yield* Stream.runDrain(conversation.stream("go"))
            return (yield* conversation.pending()).length
          }).pipe(Effect.provide(hosting))
        )
        assert.strictEqual(result, 1)
        assert.deepStrictEqual(lines, [])
      }).pipe(Effect.provide(ConversationStore.layerMemory())))
  }

  it.effect("a conversation that is kept is told once, in one line, what its approvals need to be kept too", () =>
    Effect.gen(function*() {
      const { lines } = yield* recorded(asked)
      assert.lengthOf(lines, 1)
      assert.match(
        lines[0]!,
        /random key.*SqlApproval\.layer of @assent\/sql; or set ASSENT_APPROVAL_KEY.*\(ApprovalJournal\.layerStore\)/
      )
    }).pipe(Effect.provide(Layer.provide(ConversationStore.layerStore(), Store.layerMemory))))

  it.effect("a request that leaves with a response is told of, because nobody knows where it goes", () =>
    Effect.gen(function*() {
      const turn = LanguageModel.generateText({ prompt: "go", toolkit })
      const { lines } = yield* recorded(Effect.provide(turn, handlers))
      assert.lengthOf(lines, 1)
    }))

  it.effect("what a handler asks in a turn of such a conversation may leave, and is told of", () =>
    Effect.gen(function*() {
      const Inner = Toolkit.make(Untyped.ReadFile)
      const inner = LanguageModel.generateText({ prompt: "go", toolkit }).pipe(
        Effect.provide(Layer.merge(handlers, Untyped.model("DeleteFile"))),
        Effect.as("asked"),
        Effect.orDie
      )
      const outer = Effect.gen(function*() {
        const conversation = yield* Conversation.make({ id: "outer", toolkit: Inner })
        return (yield* conversation.send("go")).text
      }).pipe(Effect.provide(Inner.toLayer({ ReadFile: () => inner })), Effect.provide(Untyped.model("ReadFile")))
      const { lines } = yield* recorded(outer)
      assert.lengthOf(lines, 1)
    }).pipe(Effect.provide(ConversationStore.layerMemory())))
})
