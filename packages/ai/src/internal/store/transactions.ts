/** Who may use a store in memory, and what undoes it: one who is `atomically` at it at a time, and everybody else between. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Semaphore from "effect/Semaphore"
import { StoreError } from "./model.ts"

/** What undoes each thing that was done. */
interface Transaction {
  readonly undo: Array<() => void>
}

export interface Transactions {
  readonly atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Does one thing, at once where nobody else is inside; `run` gets the time, and changes nothing where it gives an error. */
  readonly use: <A>(run: (now: number) => A | StoreError) => Effect.Effect<A, StoreError>
  /** What was just done, and would have to be done to undo it. */
  readonly didWith: (undo: () => void) => void
}

// Of every store that the fiber is inside of.
const Inside = Context.Reference<ReadonlyArray<Transaction>>("@assent/ai/Store/inside", { defaultValue: () => [] })

export const make = (): Transactions => {
  const turns = Semaphore.makeUnsafe(1)
  let current: Transaction | undefined

  // A fiber that was forked inside and outlived it is outside.
  const isInside = (fiber: Fiber.Fiber<unknown, unknown>): boolean =>
    current !== undefined && fiber.getRef(Inside).includes(current)

  const rollBack = ({ undo }: Transaction, to: number) => {
    while (undo.length > to) undo.pop()!()
  }

  const joined = <A, E, R>(effect: Effect.Effect<A, E, R>, transaction: Transaction) =>
    Effect.uninterruptibleMask((restore) => {
      const before = transaction.undo.length
      return Effect.onExit(restore(effect), (exit) =>
        Effect.sync(() => {
          if (Exit.isFailure(exit)) rollBack(transaction, before)
        }))
    })

  return {
    atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.withFiber<A, E, R>((fiber) => {
        if (current !== undefined && isInside(fiber)) return joined(effect, current)
        return turns.withPermit(Effect.uninterruptibleMask((restore) => {
          const transaction: Transaction = { undo: [] }
          current = transaction
          const inside = Effect.provideService(effect, Inside, [...fiber.getRef(Inside), transaction])
          return Effect.onExit(restore(inside), (exit) =>
            Effect.sync(() => {
              if (Exit.isFailure(exit)) rollBack(transaction, 0)
              transaction.undo.length = 0
              current = undefined
            }))
        }))
      }),
    use: (run) => {
      const perform = Effect.clockWith((clock) => {
        const done = run(clock.currentTimeMillisUnsafe())
        return done instanceof StoreError ? Effect.fail(done) : Effect.succeed(done)
      })
      return Effect.withFiber((fiber) => current === undefined || isInside(fiber) ? perform : turns.withPermit(perform))
    },
    didWith: (undo) => {
      current?.undo.push(undo)
    }
  }
}
