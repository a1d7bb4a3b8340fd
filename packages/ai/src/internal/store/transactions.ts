/** Who may use a store in memory, and what undoes it: one who is `atomically` at it at a time, and everybody else between. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import * as Permits from "../permits.ts"
import { StoreError } from "./model.ts"

/** What undoes each thing that was done. */
type Undo = Array<() => void>

interface Level {
  /** Of the outermost one. */
  readonly undo: Undo
  /** Those within it come one after the other: one that fails undoes all that was done since it began. */
  readonly turns: Permits.Permits
}

export interface Transactions {
  readonly atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Does one thing, at once where nobody else is inside; `run` gets the time, and changes nothing where it gives an error. */
  readonly use: <A>(run: (now: number) => A | StoreError) => Effect.Effect<A, StoreError>
  /** What was just done, and would have to be done to undo it. */
  readonly didWith: (undo: () => void) => void
}

// Of every store that the fiber is inside of.
const Inside = Context.Reference<ReadonlyArray<Level>>("@assent/ai/Store/inside", { defaultValue: () => [] })

export const make = (): Transactions => {
  const turns = Permits.make(1)
  let current: Undo | undefined

  // A fiber that was forked inside and outlived it is outside.
  const levelOf = (fiber: Fiber.Fiber<unknown, unknown>): Level | undefined =>
    current === undefined ? undefined : fiber.getRef(Inside).findLast(({ undo }) => undo === current)

  const rollBack = (undo: Undo, to: number) => {
    while (undo.length > to) undo.pop()!()
  }

  /** Nothing comes between what begins it and what ends it. */
  const within = <A, E, R>(effect: Effect.Effect<A, E, R>, begin: () => Undo, end: () => void) =>
    Effect.uninterruptibleMask((restore) => {
      const undo = begin()
      const before = undo.length
      const level: Level = { undo, turns: Permits.make(1) }
      const inside = Effect.updateService(effect, Inside, (levels) => [...levels, level])
      return Effect.onExit(restore(inside), (exit) =>
        Effect.sync(() => {
          if (Exit.isFailure(exit)) rollBack(undo, before)
          end()
        }))
    })

  const begin = (): Undo => current = []
  const end = () => {
    current = undefined
  }

  return {
    atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.withFiber<A, E, R>((fiber) => {
        const level = levelOf(fiber)
        return level === undefined
          ? turns.withPermit(within(effect, begin, end))
          : level.turns.withPermit(within(effect, () => level.undo, () => {}))
      }),
    use: (run) => {
      const perform = (fiber: Fiber.Fiber<unknown, unknown>) => {
        const done = run(fiber.getRef(Clock.Clock).currentTimeMillisUnsafe())
        return done instanceof StoreError ? Effect.fail(done) : Effect.succeed(done)
      }
      return Effect.withFiber((fiber) =>
        current === undefined || levelOf(fiber) !== undefined
          ? perform(fiber)
          : turns.withPermit(Effect.suspend(() => perform(fiber)))
      )
    },
    didWith: (undo) => {
      current?.push(undo)
    }
  }
}
