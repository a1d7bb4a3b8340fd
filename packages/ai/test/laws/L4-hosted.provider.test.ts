/**
 * L4: what a provider seals itself, it seals as the engine around it does: with the key of the program, and with a word about
 * a key of this process only where somebody may miss one.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Stream } from "effect"
import { type AiError, LanguageModel as Upstream, type Response } from "effect/ai"
import { ApprovalSeal, Conversation, ConversationStore, LanguageModel, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Sealing from "../sealing.ts"
import { key } from "./support.ts"

const call = { type: "tool-call", id: "mcp_1", name: "Mcp", params: {}, providerExecuted: true, metadata: {} } as const

/** A provider that seals its calls in its hooks, made by this function. */
const provider = (make: typeof Upstream.make) => {
  const asks = Effect.map(
    LanguageModel.sealRequest(call, "mcpr_1"),
    (sealed): Array<Response.PartEncoded> => [
      sealed,
      { type: "tool-approval-request", approvalId: "mcpr_1", toolCallId: "mcp_1" },
      ScriptedModel.finish("tool-calls")
    ]
  )
  return Layer.effect(
    LanguageModel.LanguageModel,
    make({
      generateText: () => asks,
      streamText: () =>
        Stream.unwrap(Effect.map(asks, (parts) => Stream.fromArray(parts as Array<Response.StreamPartEncoded>)))
    })
  )
}

const makers = { "our make": LanguageModel.make, "upstream's make": Upstream.make }
type Parts = Effect.Effect<ReadonlyArray<Response.AnyPart>, AiError.AiError, LanguageModel.LanguageModel>

const ways: Record<string, Parts> = {
  generateText: Effect.map(
    LanguageModel.generateText({ prompt: "go", toolkit: Toolkit.empty }),
    ({ content }) => content
  ),
  streamText: Stream.runCollect(LanguageModel.streamText({ prompt: "go", toolkit: Toolkit.empty }))
}

describe("L4 a provider that seals its own requests", () => {
  for (const [name, make] of Object.entries(makers)) {
    for (const [method, turn] of Object.entries(ways)) {
      it.effect(`L4 uses the key that the layer around the model has, ${name} [${method}]`, () =>
        Effect.gen(function*() {
          yield* Sealing.restart
          const { layer, lines } = yield* Sealing.recordLogs
          const Model = provider(make as typeof Upstream.make).pipe(
            LanguageModel.approval(),
            Layer.provide(ApprovalSeal.layer({ key }))
          )
          const content = yield* turn.pipe(
            Effect.provide(Model),
            Effect.provide(layer),
            Sealing.keyIn(undefined)
          )
          assert.deepStrictEqual(lines, [])
          const said = content.find((part) => part.type === "tool-call")
          const read = { ...call, options: said?.metadata } as never
          yield* LanguageModel.verifyRequest(read, "mcpr_1").pipe(Effect.provide(ApprovalSeal.layer({ key })))
        }))
    }

    for (const way of ["send", "stream"] as const) {
      it.effect(`L4 in a conversation that ends with the process nobody is told of a missing key, ${name} [${way}]`, () =>
        Effect.gen(function*() {
          yield* Sealing.restart
          const { layer, lines } = yield* Sealing.recordLogs
          yield* Effect.gen(function*() {
            const conversation = yield* Conversation.make({ id: "hosted", toolkit: Toolkit.empty })
            if (way === "send") yield* conversation.send("go")
            else yield* Stream.runDrain(conversation.stream("go"))
            assert.lengthOf(yield* conversation.pending(), 1)
          }).pipe(
            Effect.provide(provider(make as typeof Upstream.make)),
            Effect.provide(ConversationStore.layerMemory()),
            Effect.provide(layer),
            Sealing.keyIn(undefined)
          )
          assert.deepStrictEqual(lines, [])
        }))
    }
  }
})
