/**
 * Calls of a stream that the provider may be about to ask about (laws L4, L9): held for a moment, so that they go out
 * with their request, and whatever comes keeps its order.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Response } from "../../src/index.ts"
import type * as Model from "../../src/internal/environment/model.ts"
import * as HostedStream from "../../src/internal/hosted/stream.ts"
import { type Story, tell } from "../laws/story.ts"

type Part = Model.StreamPart

const text = (delta: string): Part => Response.makePart("text-delta", { id: "t", delta })

const hosted = (id: string, assent?: { readonly seal: string }): Part =>
  Response.makePart("tool-call", {
    id,
    name: "Mcp",
    params: {},
    providerExecuted: true,
    metadata: assent === undefined ? {} : { assent: assent as never }
  })

const local = (id: string): Part =>
  Response.makePart("tool-call", { id, name: "ReadFile", params: {}, providerExecuted: false })

const request = (toolCallId: string): Part =>
  Response.makePart("tool-approval-request", { approvalId: `mcpr_${toolCallId}`, toolCallId })

const nameOf = (part: Part): string =>
  part.type === "text-delta"
    ? part.delta
    : part.type === "tool-call"
    ? part.id
    : part.type === "tool-approval-request"
    ? `${part.toolCallId}?`
    : part.type

/** What goes on, a list for each time. */
const begin = (during: (parts: ReadonlyArray<string>) => Effect.Effect<void, unknown> = () => Effect.void) => {
  const received: Array<ReadonlyArray<string>> = []
  const stream = HostedStream.make((parts) =>
    Effect.suspend(() => {
      const names = parts.map(nameOf)
      return Effect.andThen(during(names), Effect.sync(() => void received.push(names)))
    })
  )
  return { received, stream }
}

const story = (title: string, test: Story) => it.effect(title, () => Effect.scoped(tell(test)))

describe("L9 hosted calls of a stream", () => {
  story("what nobody can be about to ask about goes on at once", function*() {
    const { received, stream } = begin()
    for (
      const parts of [
        [text("a")],
        [text("b"), local("c1")],
        [hosted("c2", { seal: "apr1" })],
        [hosted("c3"), request("c3")],
        [hosted("c4"), hosted("c5"), request("c4"), request("c5")],
        [hosted("c6"), text("d")]
      ]
    ) {
      yield* stream.take(parts)
      assert.deepStrictEqual(received.at(-1), parts.map(nameOf))
      assert.isFalse(stream.isHolding())
    }
    yield* stream.end
    assert.lengthOf(received, 6)
  })

  story("a call is held until its request comes right behind, and what stands before it is not", function*() {
    const { received, stream } = begin()
    yield* stream.take([text("a"), hosted("c1")])
    assert.deepStrictEqual(received, [["a"]])
    assert.isTrue(stream.isHolding())
    yield* TestClock.adjust("99 millis")
    assert.deepStrictEqual(received, [["a"]])
    yield* stream.take([request("c1")])
    assert.deepStrictEqual(received, [["a"], ["c1", "c1?"]])
    assert.isFalse(stream.isHolding())
    yield* TestClock.adjust("1 second")
    yield* stream.end
    assert.deepStrictEqual(received, [["a"], ["c1", "c1?"]], "nothing goes on twice")
  })

  story("with one that may still be asked about, those before it are held too, with their requests", function*() {
    const { received, stream } = begin()
    yield* stream.take([text("a"), hosted("c1"), request("c1"), hosted("c2", { seal: "apr1" }), hosted("c3")])
    assert.deepStrictEqual(received, [["a"]])
    yield* stream.take([text("b")])
    assert.deepStrictEqual(received, [["a"], ["c1", "c1?", "c2", "c3", "b"]])
    // A request for another call says nothing of this one.
    yield* stream.take([hosted("c4"), request("c9")])
    assert.isTrue(stream.isHolding())
    assert.lengthOf(received, 2)
    yield* stream.end
    assert.deepStrictEqual(received.slice(2), [["c4", "c9?"]])
  })

  story("after a tenth of a second a call goes on alone, once", function*() {
    const { received, stream } = begin()
    yield* stream.take([hosted("c1")])
    yield* TestClock.adjust("100 millis")
    assert.deepStrictEqual(received, [["c1"]])
    yield* stream.take([request("c1")])
    yield* stream.take([text("a")])
    yield* stream.end
    assert.deepStrictEqual(received, [["c1"], ["c1?"], ["a"]])
  })

  story("each call that comes has the whole of its moment", function*() {
    const { received, stream } = begin()
    yield* stream.take([hosted("c1")])
    yield* TestClock.adjust("60 millis")
    yield* stream.take([hosted("c2")])
    yield* TestClock.adjust("60 millis")
    assert.deepStrictEqual(received, [])
    yield* TestClock.adjust("40 millis")
    assert.deepStrictEqual(received, [["c1", "c2"]])
  })

  story("the end of the stream waits for no request", function*() {
    const { received, stream } = begin()
    yield* stream.take([text("a"), hosted("c1")])
    yield* stream.end
    assert.deepStrictEqual(received, [["a"], ["c1"]])
    assert.isFalse(stream.isHolding())
    yield* TestClock.adjust("1 second")
    assert.lengthOf(received, 2)
  })

  story("what comes while a call is still going on waits for it", function*() {
    const gone = yield* Deferred.make<void>()
    const { received, stream } = begin((names) => names[0] === "c1" ? Deferred.await(gone) : Effect.void)
    yield* stream.take([hosted("c1")])
    yield* TestClock.adjust("100 millis")
    const next = yield* Effect.forkChild(stream.take([text("a")]), { startImmediately: true })
    yield* TestClock.adjust("1 second")
    assert.deepStrictEqual(received, [], "the call is still on its way")
    yield* Deferred.succeed(gone, undefined)
    yield* Fiber.join(next)
    assert.deepStrictEqual(received, [["c1"], ["a"]])
  })

  story("the end waits for a call that is still going on, too", function*() {
    const gone = yield* Deferred.make<void>()
    const { received, stream } = begin(() => Deferred.await(gone))
    yield* stream.take([hosted("c1")])
    yield* TestClock.adjust("100 millis")
    const end = yield* Effect.forkChild(stream.end, { startImmediately: true })
    yield* TestClock.adjust("1 second")
    assert.isUndefined(end.pollUnsafe())
    yield* Deferred.succeed(gone, undefined)
    yield* Fiber.join(end)
    assert.deepStrictEqual(received, [["c1"]])
  })

  story("that a held call could not go on is not lost: whoever comes next fails with it", function*() {
    for (const next of [(stream: HostedStream.HostedStream) => stream.take([text("a")]), "end"] as const) {
      const { received, stream } = begin((names) => names[0] === "c1" ? Effect.fail("closed") : Effect.void)
      yield* stream.take([hosted("c1")])
      yield* TestClock.adjust("100 millis")
      const exit = yield* Effect.exit(next === "end" ? stream.end : next(stream))
      assert.deepStrictEqual(exit, Exit.fail("closed"))
      assert.deepStrictEqual(received, [])
    }
  })
})
