/**
 * L2: that a run waits, and what it waits for, are kept in one step. A process that dies, or a store that fails, leaves both
 * or neither, and never a run of which nobody knows that it waits.
 */
import { SqliteClient, SqlStore } from "@assent/sql"
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Layer, Stream } from "effect"
import { Approval, ApprovalEvents, ApprovalJournal, Store, SuspensionStore } from "../../src/index.ts"
import * as ApprovalId from "../../src/internal/seal/approvalId.ts"
import { failure, intercept, type Interceptor, type Operation } from "../store/intercept.ts"
import * as Support from "./support.ts"

type Wrap = (store: Store.Store) => Store.Store

const sqlite = Effect.map(
  Layer.build(Layer.provide(
    SqlStore.layer({ isShared: false }),
    SqliteClient.layer({ filename: ":memory:", yieldAfterWrite: false })
  )),
  (context) => Context.get(context, Store.Store)
)

/** Where the journal stands, and what tools wait for. */
const places = {
  "in one store": Effect.map(Store.makeMemory(), (store) => [store, store] as const),
  "in one database": Effect.map(Effect.orDie(sqlite), (store) => [store, store] as const),
  "in a store each": Effect.all([Store.makeMemory(), Store.makeMemory()])
}

type Place = keyof typeof places

/** A call that needs consent before it waits, asked about; `approve` lets it begin. */
const begin = Effect.fnUntraced(function*(mode: Support.Mode, wrap: Wrap, place: Place = "in one store") {
  const [memory, other] = yield* places[place]
  const journal = yield* ApprovalJournal.make({ store: wrap(memory), grace: 0 })
  const suspensions = SuspensionStore.make({ store: wrap(other) })
  const within = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(ApprovalJournal.ApprovalJournal, journal),
      Effect.provideService(SuspensionStore.SuspensionStore, suspensions)
    )
  const calls = [Support.call("c1", "Gated", { question: "Size?" })]
  const { first, names, script, toolkit } = yield* within(Support.begin(mode, calls))
  const { approvalId } = Support.only(first)
  const approve = within(Support.takeTurn(mode, {
    model: script.model,
    toolkit,
    history: first.history,
    prompt: Support.answers(Approval.approve(Support.only(first)))
  }))
  const nonce = ApprovalId.parse(approvalId)!.nonce
  return {
    approve,
    names,
    /** What the journal says of the request, and how the one stands as which its run waits. */
    states: Effect.all([
      Effect.map(memory.requests.get(nonce), (row) => row?.state),
      Effect.map(
        other.requests.page({ waiting: true }, { limit: 10 }),
        ({ requests }) =>
          requests.find(({ suspension = "{}" }) => JSON.parse(suspension).previous === approvalId)?.waits
      )
    ]),
    list: Effect.map(suspensions.list(), (page) => page.suspensions)
  }
})

const by = (interceptor: Interceptor): Wrap => (store) => intercept(store, interceptor)

describe("a run that begins to wait", () => {
  Support.inEachMode(
    "L2 is on record as waiting, with what it waits for, and then it is told",
    (mode) =>
      Effect.gen(function*() {
        const order: Array<string> = []
        const noting = by((operation, _, run) => Effect.tap(run, () => Effect.sync(() => order.push(operation))))
        const { approve, states } = yield* begin(mode, noting)
        const observed = yield* (yield* ApprovalEvents.ApprovalEvents).subscribe
        order.length = 0
        const turn = yield* approve
        assert.deepStrictEqual(yield* states, ["suspended", "open"])
        assert.strictEqual(Support.only(turn).awaited?.name, "text")
        const writes = order.filter((operation) => /decide|suspend/.test(operation))
        assert.deepStrictEqual(writes, ["requests.decide", "requests.decide", "requests.suspend"])
        const seen = yield* Stream.runCollect(Stream.take(observed, 3))
        assert.deepStrictEqual(
          seen.map((event) => event._tag === "Changed" ? event.state : event._tag),
          ["running", "Requested", "suspended"]
        )
      }).pipe(Effect.provide(ApprovalEvents.layer()))
  )

  // The claim is the first step of the request, that it waits the second; what then became of it is recorded.
  const troubles: Record<string, { readonly of: Operation; readonly first: number; readonly isDone: boolean }> = {
    "fails to say that it waits": { of: "requests.decide", first: 2, isDone: false },
    "says that it waits, and that it failed": { of: "requests.decide", first: 2, isDone: true },
    "fails to keep what it waits for": { of: "requests.suspend", first: 1, isDone: false },
    "keeps what it waits for, and says that it failed": { of: "requests.suspend", first: 1, isDone: true }
  }
  for (const [trouble, { first, isDone, of }] of Object.entries(troubles)) {
    for (const place of Object.keys(places) as ReadonlyArray<Place>) {
      // Nobody can undo in one store what was done in another.
      if (isDone && of === "requests.suspend" && place === "in a store each") continue
      Support.inOneMode(
        "generateText",
        `L2 ${place} that ${trouble}: nothing waits, and the model is told`,
        function*(mode) {
          let times = 0
          const failing = by((operation, _, run) => {
            if (operation !== of || ++times < first || times > first + 3) return run
            return Effect.andThen(isDone ? run : Effect.void, Effect.fail(failure(operation)))
          })
          const { approve, list, names, states } = yield* begin(mode, failing, place)
          const turn = yield* approve
          assert.deepStrictEqual([turn.requests, names()], [[], ["start"]])
          assert.match(
            Support.failureReason(turn.results[0]),
            /what it waits for could not be kept.*not undone.*Check/
          )
          assert.notMatch(JSON.stringify(turn), /The store failed/)
          assert.deepStrictEqual([yield* states, yield* list], [["failed", undefined], []])
          // It is told again, and nothing runs again.
          assert.deepStrictEqual(Support.resultsOf(yield* approve), Support.resultsOf(turn))
          assert.deepStrictEqual(names(), ["start"])
        }
      )
    }
  }

  for (const isTaken of [false, true]) {
    const then = isTaken
      ? "and taken up by another process waits for nothing: what became of it is unknown here"
      : "waits all the same: nobody else knows what became of it"
    Support.inEachMode(`L2 whose claim was given up meanwhile ${then}`, function*(mode) {
      let begun = () => false
      let done = false
      const givingUp: Wrap = (store) => ({
        ...store,
        requests: {
          ...store.requests,
          decide: Effect.fnUntraced(function*(name, version, decided) {
            const row = begun() && !done ? yield* store.requests.get(name.nonce) : undefined
            if (row?.state === "running") {
              done = true
              const { entry = "", version } = row
              const unknown = entry.replace("running", "unknown")
              yield* store.requests.decide(row, version, { state: "unknown", entry: unknown })
              if (isTaken) yield* store.requests.decide(row, version + 1, { state: "running", entry })
            }
            return yield* store.requests.decide(name, version, decided)
          })
        }
      })
      const { approve, names, states } = yield* begin(mode, givingUp)
      begun = () => names().length === 1
      const turn = yield* approve
      if (isTaken) {
        assert.deepStrictEqual(turn.requests, [])
        assert.match(Support.failureReason(turn.results[0]), /unknown/)
      } else assert.strictEqual(Support.only(turn).awaited?.name, "text")
      assert.deepStrictEqual(yield* states, isTaken ? ["running", undefined] : ["suspended", "open"])
    })
  }

  Support.inEachMode("L2 a store that does both and says that it failed: it waits, and is told", function*(mode) {
    let told = 0
    const losing: Wrap = (store) => ({
      ...store,
      atomically: (effect) =>
        Effect.flatMap(
          store.atomically(effect),
          (done) => told++ === 0 ? Effect.fail(failure("requests.decide")) : Effect.succeed(done)
        )
    })
    const { approve, names, states } = yield* begin(mode, losing)
    const turn = yield* approve
    assert.strictEqual(Support.only(turn).awaited?.name, "text")
    assert.deepStrictEqual([names(), yield* states, told], [["start"], ["suspended", "open"], 2])
  })
})
