/** One damaged timer never stops the others: not when it is looked for, not when it is woken. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalSeal, Store, SuspensionStore } from "../../src/index.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as Timers from "../waiting/timers.ts"

/** Three that are due, a second apart; the damage is done to the one in the middle. */
const three = Effect.fnUntraced(function*(damage: (store: Store.Store, nonce: string) => Store.Store) {
  const memory = yield* Store.makeMemory()
  yield* Timers.fill(SuspensionStore.make({ store: memory }), "Remind", 3)
  yield* TestClock.adjust("1 hour")
  const rows = yield* memory.requests.due(Number.MAX_SAFE_INTEGER, 10)
  const { nonce } = rows.find(({ toolCallId }) => toolCallId === "c1")!
  return SuspensionStore.make({ store: damage(memory, nonce) })
})

const damages = {
  "its row is no JSON": (store, nonce) => changed(store, nonce, (row) => ({ ...row, suspension: "{" })),
  "its row is of another shape": (store, nonce) =>
    changed(store, nonce, (row) => ({ ...row, suspension: JSON.stringify({ of: "another version" }) })),
  "its row has lost what the tool remembers": (store, nonce) =>
    changed(store, nonce, (row) => ({ ...row, suspension: undefined })),
  "its row cannot be read, nor written": (store, nonce) =>
    intercept(
      store,
      (operation, key, run) => key === nonce ? Effect.fail(failure(operation, "Corrupt")) : run
    )
} satisfies Record<string, (store: Store.Store, nonce: string) => Store.Store>

/** A store in which one row is another. */
const changed = (
  store: Store.Store,
  nonce: string,
  change: (row: Store.RequestRow) => Store.RequestRow
): Store.Store => {
  const damaged = (row: Store.RequestRow) => row.nonce === nonce ? change(row) : row
  return Store.make({
    ...store,
    requests: {
      ...store.requests,
      get: (nonce) => Effect.map(store.requests.get(nonce), (row) => row === undefined ? undefined : damaged(row)),
      due: (now, limit) => Effect.map(store.requests.due(now, limit), (rows) => rows.map(damaged))
    }
  })
}

describe("a timer that is damaged", () => {
  for (const [what, damage] of Object.entries(damages)) {
    it.effect(`does not stop the others: ${what}`, () =>
      Effect.gen(function*() {
        const suspensions = yield* three(damage)
        const woken: Array<string> = []
        yield* Effect.exit(
          SuspensionStore.wakeDue(({ toolCallId }) => Effect.sync(() => woken.push(toolCallId))).pipe(
            Effect.provideService(SuspensionStore.SuspensionStore, suspensions)
          )
        )
        assert.includeMembers(woken, ["c0", "c2"])
      }).pipe(Effect.provide(ApprovalSeal.layer({ key: "the key of the tests of timers, 32 bytes" }))))

    it.effect(`does not stop those who watch: ${what}`, () =>
      Effect.gen(function*() {
        const suspensions = yield* three(damage)
        const woken: Array<string> = []
        yield* Effect.forkChild(
          SuspensionStore.watchTimers(({ toolCallId }) => Effect.sync(() => woken.push(toolCallId))).pipe(
            Effect.provideService(SuspensionStore.SuspensionStore, suspensions)
          )
        )
        yield* TestClock.adjust("5 seconds")
        assert.deepStrictEqual(
          woken.filter((id) => id !== "c1"),
          ["c0", "c2"],
          "each of the others once"
        )
      }).pipe(Effect.provide(ApprovalSeal.layer({ key: "the key of the tests of timers, 32 bytes" }))))
  }
})
