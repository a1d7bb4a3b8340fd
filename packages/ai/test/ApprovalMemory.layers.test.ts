/** Layers of `ApprovalMemory`: a session's memory, which ends with its scope, and one over a store, which outlives a restart. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalMemory, Store } from "../src/index.ts"
import { denied, said } from "./remembering.ts"
import * as Remembering from "./remembering.ts"
import { intercept } from "./store/intercept.ts"

const scope: ApprovalMemory.MemoryScope = { conversation: "talk" }

const call = (path: string, more?: Partial<ApprovalMemory.MemoryCall>) => Remembering.call(path, scope, more)
const answered = (path: string, remember: ApprovalMemory.Remember, more?: Partial<ApprovalMemory.Answered>) =>
  Remembering.answered(call(path), remember, more)

describe("ApprovalMemory: layers", () => {
  const provided = Effect.map(ApprovalMemory.ApprovalMemory, (memory) => memory)

  it.effect("a session's memory ends with its scope, also for whoever kept it", () =>
    Effect.gen(function*() {
      const session = yield* Scope.make()
      const context = yield* Layer.buildWithScope(ApprovalMemory.layerSession(), session)
      const memory = Context.get(context, ApprovalMemory.ApprovalMemory)
      yield* memory.remember(answered("a", "session", { id: "one" }))
      assert.strictEqual(yield* said(memory, call("a")), "approved")
      yield* Scope.close(session, Exit.void)
      assert.isUndefined(yield* said(memory, call("a")))
      assert.isUndefined(yield* memory.remember(answered("a", "session")))
      assert.deepStrictEqual([yield* memory.list(scope), yield* memory.revoke(scope, "one")], [[], false])
      // The next session begins with nothing.
      yield* Effect.gen(function*() {
        assert.isUndefined(yield* said(yield* ApprovalMemory.ApprovalMemory, call("a")))
      }).pipe(Effect.provide(ApprovalMemory.layerSession()))
    }))

  it.effect("a session's time to live counts where an answer does not say", () =>
    Effect.gen(function*() {
      const memory = yield* provided
      yield* memory.remember(answered("a", "session"))
      yield* memory.remember(answered("b", { expiresIn: 120_000 }))
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([yield* said(memory, call("a")), yield* said(memory, call("b"))], [undefined, "approved"])
    }).pipe(Effect.provide(ApprovalMemory.layerSession({ timeToLive: "1 minute" }))))

  it.effect("a full session says so, and forgets nothing for what does not fit", () =>
    Effect.gen(function*() {
      const memory = yield* provided
      yield* memory.remember(answered("a", "session"))
      const error = yield* Effect.flip(memory.remember(answered("b", "session")))
      assert.strictEqual(error.reason._tag, "MemoryUnavailable")
      assert.deepStrictEqual([yield* said(memory, call("a")), yield* said(memory, call("b"))], ["approved", undefined])
    }).pipe(Effect.provide(ApprovalMemory.layerSession({ capacity: 1 }))))

  it.effect("over one store, a memory is there again after a restart: what stands, what is used, what was taken back", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      const process = Layer.provide(ApprovalMemory.layerStore(), Layer.succeed(Store.Store, store))
      yield* Effect.gen(function*() {
        const memory = yield* provided
        yield* memory.remember(answered("a", { uses: 2 }, { id: "a" }))
        yield* memory.remember(answered("b", "session", { ...denied, id: "b", note: "no" }))
        yield* memory.remember(answered("c", "session", { id: "c" }))
        yield* memory.find(call("a"))
        yield* memory.revoke(scope, "c")
      }).pipe(Effect.provide(process))
      yield* Effect.gen(function*() {
        const memory = yield* provided
        assert.strictEqual((yield* memory.find(call("a")))?.uses, 0)
        assert.isUndefined(yield* memory.find(call("a")))
        assert.strictEqual((yield* memory.find(call("b")))?.note, "no")
        assert.isUndefined(yield* memory.find(call("c")))
        assert.isUndefined(yield* memory.remember(answered("c", "session", { id: "c" })))
        yield* TestClock.adjust("30 days")
        assert.isUndefined(yield* memory.find(call("b")))
      }).pipe(Effect.provide(process))
    }))

  it.effect("two processes over one store share the last use: exactly one gets it, though all of them saw it", () =>
    Effect.gen(function*() {
      const store = intercept(yield* Store.makeMemory(), (_, __, run) => Effect.andThen(Effect.yieldNow, run))
      const first = yield* ApprovalMemory.make({ store })
      const second = yield* ApprovalMemory.make({ store })
      yield* first.remember(answered("a", { uses: 1 }))
      const racing = yield* Effect.forEach(
        [first, second, first, second],
        (memory) => Effect.forkChild(memory.find(call("a")))
      )
      const found = yield* Effect.forEach(racing, Fiber.join)
      assert.lengthOf(
        found.filter((one) => one !== undefined),
        1
      )
    }))
})
