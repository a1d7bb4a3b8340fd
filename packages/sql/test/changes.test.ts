/** Who waits for what is written into a file, by this process or by another one, and does not look again and again. */
import type { Store } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Option } from "effect"
import { waits, written } from "../../ai/test/store/laws/support.ts"
import * as Hub from "../src/internal/changes/hub.ts"
import { makeFilename, makeStore } from "./database.ts"

const told = ({ changes }: Store.Store, topic: Store.Topic) =>
  Effect.forkChild(Effect.timeoutOption(changes!.after(changes!.mark(), topic), "20 seconds"), {
    startImmediately: true
  })

describe("a file", () => {
  it.live("tells who waits that another process has written, and this one what it has written", () =>
    Effect.scoped(Effect.gen(function*() {
      const filename = yield* makeFilename
      const { store } = yield* makeStore({ filename, synchronous: "NORMAL" })
      const { store: other } = yield* makeStore({ filename, synchronous: "NORMAL" })
      for (const one of [store, other]) {
        const waiting = yield* told(one, { conversation: "c" })
        assert.isTrue(yield* Effect.as(store.conversations.write("c", undefined, written()), true))
        assert.isTrue(Option.isSome(yield* Fiber.join(waiting)))
        yield* store.conversations.remove("c")
      }
      const stopped = yield* told(store, { stopped: "c" })
      yield* store.conversations.write("c", undefined, written())
      // Whoever takes a turn of it waits for that alone, and is not woken by what the turn writes.
      assert.isUndefined(stopped.pollUnsafe())
      yield* store.conversations.stop("c")
      assert.isTrue(Option.isSome(yield* Fiber.join(stopped)))
      yield* store.requests.suspend(waits("w"))
      const waiting = yield* told(other, "due")
      yield* store.requests.deliver("w", "1")
      assert.isTrue(Option.isSome(yield* Fiber.join(waiting)))
    })))
})

describe("topics", () => {
  it.effect("are waited for from the mark on: what was told between that and waiting is not missed", () =>
    Effect.gen(function*() {
      const hub = Hub.make(() => {})
      const isTold = (mark: number, topic: Store.Topic) =>
        Effect.raceFirst(Effect.as(hub.after(mark, topic), true), Effect.succeed(false))
      const mark = hub.mark()
      assert.isFalse(yield* isTold(mark, "due"))
      hub.tell(Hub.wordOf({ conversation: "c" }))
      assert.isTrue(yield* isTold(mark, { conversation: "c" }))
      assert.isFalse(yield* isTold(mark, { conversation: "d" }))
      assert.isFalse(yield* isTold(hub.mark(), { conversation: "c" }))
      assert.isFalse(hub.isAwaited())
      // More than are remembered: any of them may have been among those.
      for (let n = 0; n < 2_000; n++) hub.tell(Hub.wordOf({ conversation: String(n) }))
      assert.isTrue(yield* isTold(mark, { conversation: "d" }))
      assert.isFalse(yield* isTold(hub.mark(), { conversation: "d" }))
      hub.tell(Hub.all)
      assert.isTrue(yield* isTold(hub.mark() - 1, "events"))
    }))
})
