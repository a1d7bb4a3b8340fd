/** What is written here is what the client reads. */
import type { UiMessageStream } from "@assent/web"
import type { UIMessage, UIMessageChunk } from "ai"
import { describe, expectTypeOf, it } from "vitest"

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
})
