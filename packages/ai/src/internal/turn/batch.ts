/**
 * Several calls at once: decided side by side, asked about and run in their order. Every call is carried through before
 * the first failure is raised: one call's trouble is not another's (law L8).
 */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as ApprovalError from "../../ApprovalError.ts"
import type { Decision } from "../decide/decision.ts"
import type { Case } from "../gather/file.ts"
import * as Order from "../gather/order.ts"
import { advance, conclude, type Stop, type Stops } from "../run/loop.ts"
import * as Ours from "../run/ours.ts"
import * as Outcome from "../run/outcome.ts"

type Failure = ApprovalError.ApprovalError
type Said = Decision | Stop

/** A call, and how far it was brought. */
export interface Advanced {
  readonly one: Case
  readonly said: Exit.Exit<Said, Failure>
}

/** Until it is decided or comes to one of these facts; a failure is its own. */
export const advanceOne = (one: Case, stops: Stops): Effect.Effect<Advanced> =>
  Effect.map(Effect.exit(advance(Ours.hand, one, stops)), (said) => ({ one, said }))

/** How several are carried through; one alone needs no fiber of its own. */
export const sideBySide = ({ length }: ReadonlyArray<unknown>) =>
  ({ concurrency: length === 1 ? 1 : "unbounded" }) as const

/** Gives each the place it is promised among those that somebody is asked about, and those that were shown. */
export const takePlaces = (runner: Outcome.Runner, advanced: ReadonlyArray<Advanced>): void => {
  const asking = Order.make()
  for (const { one, said } of advanced) {
    if (Exit.isSuccess(said) && said.value._tag !== "Need") Outcome.takePlaceOfBegun(runner, one, said.value)
  }
  for (const { one, said } of advanced) {
    if (Exit.isFailure(said)) continue
    if (said.value._tag === "Need") one.file.asking = asking.join()
    else Outcome.takePlace(runner, one, said.value)
  }
}

/** Asks about it, if somebody is to be asked, and carries it out. */
export const carryOut = (
  runner: Outcome.Runner,
  { one, said }: Advanced,
  sink: Outcome.Sink
): Effect.Effect<Outcome.Outcome, Failure> =>
  Effect.ensuring(
    Effect.flatMapEager(said, (said) =>
      said._tag === "Need"
        ? Effect.flatMap(conclude(Ours.hand, one), (decision) => Outcome.carryOut(runner, one, decision, sink))
        : Outcome.carryOut(runner, one, said, sink)),
    // Whatever became of it, those behind it go on.
    Effect.suspend(() => one.file.running?.leave ?? Effect.void)
  )

/** Settles calls of a history, each as it is read. */
export const settle = (
  runner: Outcome.Runner,
  reading: ReadonlyArray<Effect.Effect<Case>>,
  sink: Outcome.Sink
): Effect.Effect<ReadonlyArray<Outcome.Outcome>, Failure> =>
  Effect.flatMap(
    Effect.forEach(reading, (read) => Effect.flatMap(read, (one) => advanceOne(one, ["reply"])), sideBySide(reading)),
    (advanced) => {
      takePlaces(runner, advanced)
      return collect(advanced, (one) => carryOut(runner, one, sink))
    }
  )

/** What became of each, in their order, or the first failure of them. */
export const collect = <A, E>(
  items: ReadonlyArray<A>,
  each: (item: A) => Effect.Effect<Outcome.Outcome, E>
): Effect.Effect<ReadonlyArray<Outcome.Outcome>, E> =>
  Effect.flatMap(
    Effect.forEach(items, (item) => Effect.exit(each(item)), sideBySide(items)),
    (exits): Effect.Effect<ReadonlyArray<Outcome.Outcome>, E> => {
      const outcomes: Array<Outcome.Outcome> = []
      for (const exit of exits) {
        if (Exit.isFailure(exit)) return Effect.failCause(exit.cause)
        outcomes.push(exit.value)
      }
      return Effect.succeed(outcomes)
    }
  )
