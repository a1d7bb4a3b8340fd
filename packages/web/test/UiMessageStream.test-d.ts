/** What is written here is what the client reads. */
import { Conversation, type LanguageModel, Tool, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Decider, UiMessageStream } from "@assent/web"
import type { UIMessage, UIMessageChunk } from "ai"
import * as Effect from "effect/Effect"
import * as HttpRouter from "effect/http/HttpRouter"
import * as Layer from "effect/Layer"
import { describe, expectTypeOf, it } from "vitest"

const toolkit = Toolkit.make(Tool.make("Clean", { needsApproval: true }))

const Handlers = toolkit.toLayer({ Clean: () => Effect.void })

const Model = ScriptedModel.layer({ turns: [] })

/** A type without its `readonly`, which the client does not write. */
type Writable<A> = A extends (infer _)[] | ReadonlyArray<infer E> ? Array<Writable<E>>
  : A extends object ? { -readonly [K in keyof A]: Writable<A[K]> }
  : A

describe("UiMessageStream", () => {
  it("every chunk is one of the client's", () => {
    expectTypeOf<Writable<Exclude<UiMessageStream.Chunk, { type: `data-${string}` }>>>().toExtend<UIMessageChunk>()
    expectTypeOf<Extract<UiMessageStream.Chunk, { type: `data-${string}` }>["type"]>().toExtend<`data-${string}`>()
  })

  it("a message has the fields of the client's", () => {
    expectTypeOf<UiMessageStream.UiMessage["role"]>().toExtend<UIMessage["role"]>()
    expectTypeOf<Writable<UiMessageStream.TextPart>>().toExtend<UIMessage["parts"][number]>()
    expectTypeOf<Writable<UiMessageStream.FilePart>>().toExtend<UIMessage["parts"][number]>()
  })

  it("routes need somebody who says who asks, and what the conversation needs", () => {
    const conversation = (id: string) => Conversation.make({ id, toolkit })
    const routes = UiMessageStream.layer({ conversation })
    type Needs<L> = L extends Layer.Layer<infer _A, infer _E, infer R> ? R : never
    expectTypeOf<Decider.Decider>().toExtend<Needs<typeof routes>>()
    expectTypeOf<LanguageModel.LanguageModel>().toExtend<Needs<typeof routes>>()
    // @ts-expect-error nobody says who asks
    void (() => HttpRouter.toWebHandler(routes))
    const whole = routes.pipe(Layer.provide([Decider.layerInsecure, Handlers, Model]))
    void (() => HttpRouter.toWebHandler(whole))
  })
})
