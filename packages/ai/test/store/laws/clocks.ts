import { Store } from "@assent/ai"
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { type Law, minute, named, plain, shown } from "./support.ts"

const hour = 60 * minute
const threeDays = 72 * hour

const sweepAll = (store: Store.Store) =>
  Effect.gen(function*() {
    while ((yield* store.sweep(100)) > 0) { /* again */ }
  })

/** One whose clock is three days ahead does something, and then its clock is right again. */
const ahead = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    yield* TestClock.setTime(threeDays)
    yield* effect
    yield* TestClock.setTime(minute)
  })

const reasonOf = (effect: Effect.Effect<unknown, Store.StoreError>) =>
  Effect.match(effect, { onFailure: ({ reason }) => reason, onSuccess: (done) => done })

const running = { state: "running", entry: "again" } as const
const pending = { state: "pending", entry: "one of two" } as const
const denied = { state: "denied", entry: "no" } as const

export const clocks = (law: Law) => {
  const ran = named("ran", { issuedAt: 5, expiresAt: hour })

  law("what a clock that ran ahead gave up does not begin again when it is right", function*(store) {
    yield* store.requests.decide(ran, 0, { state: "done", entry: "ran" })
    yield* ahead(sweepAll(store))
    assert.isUndefined(yield* store.requests.get("ran"))
    for (const step of [running, pending]) {
      assert.strictEqual(yield* reasonOf(store.requests.decide(ran, 0, step)), "Forgotten")
    }
    // Shown once more, it is not one that can begin either.
    yield* store.requests.open([{ ...ran, request: "{}" }])
    for (const step of [running, pending]) {
      assert.strictEqual(yield* reasonOf(store.requests.decide(ran, 0, step)), "Forgotten")
    }
    assert.isTrue(yield* store.requests.decide(ran, 0, denied))
  })

  law("what was asked later, or is kept for longer, or for ever, begins all the same", function*(store) {
    yield* store.requests.decide(ran, 0, { state: "done", entry: "ran" })
    yield* ahead(sweepAll(store))
    for (
      const name of [
        named("later", { issuedAt: 6, expiresAt: hour }),
        named("longer", { issuedAt: 1, expiresAt: hour + 1 }),
        named("for ever")
      ]
    ) {
      assert.isTrue(yield* store.requests.decide(name, 0, running), name.nonce)
    }
  })

  law(
    "what a clock that ran ahead put in the place of what was decided does not begin when it is right",
    function*(store) {
      for (const nonce of ["opened", "waits"]) {
        yield* store.requests.decide({ ...ran, nonce }, 0, { state: "done", entry: "ran" })
      }
      yield* ahead(Effect.gen(function*() {
        yield* store.requests.open([shown("opened", { issuedAt: 5, expiresAt: hour })])
        const waiting = store.requests.suspend({ ...ran, nonce: "waits", suspension: "{}" })
        assert.strictEqual(yield* reasonOf(waiting), "Forgotten")
      }))
      for (const nonce of ["opened", "waits"]) {
        const error = yield* reasonOf(store.requests.decide({ ...ran, nonce }, 0, running))
        assert.strictEqual(error, "Forgotten", nonce)
      }
    }
  )

  law("a clock that ran ahead and gave up nothing has changed nothing", function*(store) {
    yield* store.requests.decide(ran, 0, { state: "done", entry: "ran" })
    yield* ahead(store.requests.get("ran"))
    assert.strictEqual((yield* store.requests.get("ran"))?.state, "done")
    assert.isFalse(yield* store.requests.decide(ran, 0, running))
    const other = named("other", { issuedAt: 5, expiresAt: hour })
    assert.isTrue(yield* store.requests.decide(other, 0, running))
    assert.deepStrictEqual(plain(yield* store.requests.get("other")), {
      ...other,
      state: "running",
      version: 1,
      entry: "again"
    })
  })

  law("nothing begins whose time, with the margin, is over", function*(store) {
    yield* TestClock.setTime(hour + Store.margin - 1)
    assert.isTrue(yield* store.requests.decide(named("just", { expiresAt: hour }), 0, running))
    yield* TestClock.adjust(1)
    for (const step of [running, pending]) {
      assert.strictEqual(yield* reasonOf(store.requests.decide(ran, 0, step)), "Forgotten")
    }
    assert.isTrue(yield* store.requests.decide(ran, 0, denied))
  })

  const kept = {
    "a request that was shown": (store: Store.Store) => store.requests.open([{ ...ran, request: "{}" }]),
    "what a tool waits for": (store: Store.Store) => store.requests.suspend({ ...ran, suspension: "{}" }),
    "one that nobody has decided to its end": (store: Store.Store) => store.requests.decide(ran, 0, pending),
    "a run": (store: Store.Store) => store.requests.decide(ran, 0, running)
  }
  for (const [what, keep] of Object.entries(kept)) {
    const isOver = TestClock.setTime(hour + Math.max(Store.margin, Store.waitingMargin))

    law(`${what}: once it has expired, before anybody swept it, no step goes over it`, function*(store) {
      yield* keep(store)
      yield* isOver
      for (const step of [running, pending, denied]) {
        assert.isFalse(yield* store.requests.decide(ran, 1, step))
      }
      for (const step of [running, pending]) {
        assert.strictEqual(yield* reasonOf(store.requests.decide(ran, 0, step)), "Forgotten")
      }
      assert.isUndefined(yield* store.requests.get("ran"))
    })

    law(
      `${what}: once it has expired, it is not in the way of one that is kept, which is all there is`,
      function*(store) {
        yield* keep(store)
        yield* isOver
        const { expiresAt: _, ...always } = ran
        const exactlyOne = yield* Effect.all(
          [running, running, denied].map((step) => store.requests.decide(always, 0, step))
        )
        assert.deepStrictEqual(exactlyOne, [true, false, false])
        assert.deepStrictEqual(plain(yield* store.requests.get("ran")), {
          ...always,
          state: "running",
          version: 1,
          entry: "again"
        })
      }
    )
  }
}
