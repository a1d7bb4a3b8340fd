/**
 * A process of the program: its journal over the store that all processes share. A process that has crashed does nothing
 * any more: whatever it still had to do waits for ever.
 */
import { Clock, Effect, Exit, Scope } from "effect"
import { ApprovalJournal, ApprovalMemory, AtomicStore, SuspensionStore } from "../../src/index.ts"
import type * as Storage from "./storage.ts"

export interface Process {
  readonly index: number
  readonly journal: ApprovalJournal.Service
  readonly suspensions: SuspensionStore.Service
  readonly memory: ApprovalMemory.Service
  readonly scope: Scope.Closeable
  readonly alive: Effect.Effect<void>
  /** What the process knows of time: nothing any more once it has crashed, so that nothing of it beats on. */
  readonly clock: Clock.Clock
  readonly crash: () => void
  readonly isDead: () => boolean
}

export const make = Effect.fnUntraced(
  function*(index: number, { act, store: shared }: Storage.Storage): Effect.fn.Return<Process> {
    let dead = false
    const alive = Effect.suspend(() => dead ? Effect.never : Effect.void)
    const guarded = <A>(
      method: Storage.Method,
      key: string,
      operation: () => Effect.Effect<A, AtomicStore.AtomicStoreError>
    ): Effect.Effect<A, AtomicStore.AtomicStoreError> =>
      // A store is somewhere else: others get their turn before it was asked, and before it has answered.
      Effect.yieldNow.pipe(
        Effect.andThen(alive),
        Effect.andThen(act(method, key, operation)),
        Effect.tap(() => Effect.andThen(Effect.yieldNow, alive))
      )
    const time = yield* Clock.Clock
    const clock: Clock.Clock = {
      ...time,
      sleep: (duration) => Effect.suspend(() => dead ? Effect.never : Effect.andThen(time.sleep(duration), alive))
    }
    const scope = yield* Scope.make()
    const store = AtomicStore.make({
      get: (key) => guarded("get", key, () => shared.get(key)),
      putIfAbsent: (key, value, options) => guarded("putIfAbsent", key, () => shared.putIfAbsent(key, value, options)),
      compareAndSet: (key, expected, value) =>
        guarded("compareAndSet", key, () => shared.compareAndSet(key, expected, value)),
      put: (key, value, options) => guarded("put", key, () => shared.put(key, value, options)),
      listByPrefix: (prefix, options) => guarded("listByPrefix", prefix, () => shared.listByPrefix(prefix, options))
    })
    const journal = yield* Scope.provide(ApprovalJournal.make({ store, heartbeat: "5 seconds" }), scope)
    return {
      index,
      journal,
      suspensions: SuspensionStore.make({ store }),
      memory: yield* ApprovalMemory.make({ store }),
      scope,
      alive,
      clock,
      crash: () => {
        dead = true
      },
      isDead: () => dead
    }
  }
)

/** Ends a process as a shutdown does: what runs is waited for, and then interrupted. */
export const close = (process: Process): Effect.Effect<void> =>
  process.isDead() ? Effect.void : Scope.close(process.scope, Exit.void)
