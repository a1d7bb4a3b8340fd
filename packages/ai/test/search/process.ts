/**
 * A process of the program: its journal over the store that all processes share. A process that has crashed does nothing
 * any more: whatever it still had to do waits for ever.
 */
import { Clock, Deferred, Effect, Exit, Scope } from "effect"
import { ApprovalJournal, ApprovalMemory, Store, SuspensionStore } from "../../src/index.ts"
import { intercept } from "../store/intercept.ts"
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
    // What a process was in the middle of doing atomically when it crashed did not happen, and keeps nobody waiting.
    const crashed = yield* Deferred.make<never, "crashed">()
    const guarded = <A, E, R>(
      method: Storage.Method,
      key: string,
      operation: Effect.Effect<A, E, R>
    ): Effect.Effect<A, E | Store.StoreError, R> =>
      // A store is somewhere else: others get their turn before it was asked, and before it has answered.
      Effect.yieldNow.pipe(
        Effect.andThen(alive),
        Effect.andThen(act(method, key, operation)),
        Effect.tap(() => Effect.andThen(Effect.yieldNow, alive))
      )
    const atomically = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | Store.StoreError, R> =>
      guarded("atomically", "", shared.atomically(Effect.raceFirst(effect, Deferred.await(crashed)))).pipe(
        Effect.catchIf((error): error is "crashed" => error === "crashed", () => Effect.never)
      )
    const time = yield* Clock.Clock
    const clock: Clock.Clock = {
      ...time,
      sleep: (duration) => Effect.suspend(() => dead ? Effect.never : Effect.andThen(time.sleep(duration), alive))
    }
    const scope = yield* Scope.make()
    const store = Store.make({ ...intercept(shared, guarded), isShared: true, atomically })
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
        Deferred.doneUnsafe(crashed, Exit.fail("crashed"))
      },
      isDead: () => dead
    }
  }
)

/** Ends a process as a shutdown does: what runs is waited for, and then interrupted. */
export const close = (process: Process): Effect.Effect<void> =>
  process.isDead() ? Effect.void : Scope.close(process.scope, Exit.void)
