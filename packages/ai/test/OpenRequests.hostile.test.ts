/** Events and what is open, read by whoever means harm, is slow, or comes from elsewhere. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ConversationStore, OpenRequests, type Store } from "../src/index.ts"
import * as C from "./conversation/support.ts"

const over = (shared: Store.Store) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.flatMap(ConversationStore.make({ store: shared }), (store) =>
      Effect.provideService(effect, ConversationStore.ConversationStore, store))
  )

const ask = (shared: Store.Store, id: string, options: Partial<C.StartOptions> = {}) =>
  Effect.tap(
    C.start({ turns: [[C.remove(`/secret/${id}`)]], afterLastTurn: "Well.", shared, id, ...options }),
    ({ conversation }) => conversation.send("Go.")
  )

/** All that is kept, as a program is given it. */
const told = (shared: Store.Store, filter: OpenRequests.EventFilter = {}) =>
  over(shared)(Effect.gen(function*() {
    const { events } = yield* ConversationStore.ConversationStore
    return (yield* events.page(filter, { limit: 1_000 })).events
  }))

describe("a reader of events", () => {
  it.effect("that is slow keeps nobody: turns go on beside it, and it misses nothing", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      yield* over(shared)(Effect.gen(function*() {
        const seen: Array<string> = []
        const slow = yield* Effect.forkChild(
          Stream.runForEach(OpenRequests.events(), (event) =>
            Effect.andThen(Effect.sleep("3 seconds"), Effect.sync(() => seen.push(event.kind)))),
          { startImmediately: true }
        )
        for (let count = 0; count < 6; count++) {
          const { conversation } = yield* ask(shared, `c${count}`)
          const [request] = yield* conversation.pending()
          yield* conversation.decide(Approval.approve(request!))
        }
        assert.deepStrictEqual(seen, [])
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(seen, Array.from({ length: 6 }, () => ["opened", "decided"]).flat())
        yield* Fiber.interrupt(slow)
      }))
    }))

  it.effect("with a cursor that is none is refused in words; with one of tomorrow it is told that it missed", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      yield* ask(shared, "one")
      yield* over(shared)(Effect.gen(function*() {
        const forged = ["", " ", "-1", "1.5", "0x1", "1e3", "NaN", "9".repeat(40), "1; DROP TABLE event", "\u0000", "٣"]
        for (const after of forged) {
          const exit = yield* Effect.exit(Stream.runCollect(Stream.take(OpenRequests.events({ after }), 1)))
          assert.isTrue(Exit.isFailure(exit), after)
          assert.notMatch(JSON.stringify(exit), /secret|SELECT|at .*\.ts/)
        }
        const events = yield* Stream.runCollect(Stream.take(OpenRequests.events({ after: "999999" }), 2))
        assert.deepStrictEqual(Array.from(events, ({ kind }) => kind), ["missed", "opened"])
      }))
    }))

  it.effect("of another tenant is told nothing by any cursor, nor by the names of somebody else's conversation", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation } = yield* ask(shared, "one", { scope: { tenant: "acme", principal: "ada" } })
      yield* conversation.cancel()
      const all = yield* told(shared)
      const filters: ReadonlyArray<OpenRequests.EventFilter> = [
        { tenant: "eve" },
        { tenant: "eve", principal: "ada" },
        { tenant: "eve", principal: "ada", conversation: "one" },
        { tenant: "" },
        { tenant: "ACME" },
        { tenant: "acme\u0000" },
        { tenant: "%" },
        // As it is called where nobody has a scope.
        { conversation: "one" }
      ]
      yield* over(shared)(Effect.gen(function*() {
        const { events } = yield* ConversationStore.ConversationStore
        for (const filter of filters) {
          for (const after of [undefined, ...all.map(({ cursor }) => cursor), "0"]) {
            const page = yield* events.page(filter, { after, limit: 1_000 })
            assert.deepStrictEqual(page.events, [], JSON.stringify([filter, after]))
          }
          assert.deepStrictEqual(yield* Stream.runCollect(OpenRequests.stream(filter)), [])
        }
      }))
    }))

  it.effect("is told of a conversation that is removed by its names alone: nothing of it outlives that", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation } = yield* ask(shared, "one", {
        turns: [[C.remove("/secret/1", "a"), C.remove("/secret/2", "b")]]
      })
      const [first, second] = yield* conversation.pending()
      yield* conversation.decide(Approval.deny(first!, "a secret reason"), { by: { id: "ada" } })
      yield* ask(shared, "two", { turns: [[C.remove("/kept")]] })
      const before = yield* told(shared)
      assert.include(JSON.stringify(before), "/secret/1")
      yield* over(shared)(ConversationStore.remove("one"))
      const after = yield* told(shared)
      assert.notInclude(JSON.stringify(after), "secret")
      assert.include(JSON.stringify(after), "/kept")
      const gist = after.map((event) =>
        event.kind === "missed" ? event.kind : [
          event.request.approvalId,
          event.kind === "decided" ? event.decision : event.kind,
          event.scope.conversation
        ]
      )
      assert.includeDeepMembers(gist, [
        [first!.approvalId, "opened", "one"],
        [first!.approvalId, "denied", "one"],
        [second!.approvalId, "opened", "one"],
        [second!.approvalId, "withdrawn", "one"]
      ])
    }))
})

describe("whoever follows under a name", () => {
  it.effect("handles the events of its tenant, and none of another's", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      yield* ask(shared, "one", { scope: { tenant: "acme" } })
      yield* ask(shared, "two", { scope: { tenant: "eve" } })
      yield* over(shared)(Effect.gen(function*() {
        const handled: Array<string> = []
        const follow = (tenant: string) =>
          Effect.forkChild(
            OpenRequests.follow(`mails of ${tenant}`, (event) =>
              Effect.sync(() =>
                handled.push(event.kind === "missed" ? event.kind : `${tenant}: ${event.scope.tenant}`)
              ), { filter: { tenant } }),
            { startImmediately: true }
          )
        const fibers = [yield* follow("acme"), yield* follow("eve")]
        yield* TestClock.adjust("1 minute")
        assert.sameMembers(handled, ["acme: acme", "eve: eve"])
        yield* Effect.forEach(fibers, (fiber) => Fiber.interrupt(fiber))
      }))
    }))

  it.effect("goes on behind an event of a conversation that is removed while it is handled", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      yield* ask(shared, "one")
      yield* ask(shared, "two")
      yield* over(shared)(Effect.gen(function*() {
        const handled: Array<string> = []
        const fiber = yield* Effect.forkChild(
          OpenRequests.follow("mails", (event) =>
            Effect.gen(function*() {
              if (event.kind === "missed") return
              handled.push(`${event.scope.conversation} ${event.kind}`)
              if (handled.length === 1) yield* ConversationStore.remove("one")
            })),
          { startImmediately: true }
        )
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(handled, ["one opened", "two opened", "one decided"])
        yield* Fiber.interrupt(fiber)
      }))
    }))
})
