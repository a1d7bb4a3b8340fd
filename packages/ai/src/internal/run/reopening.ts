/**
 * Whether a run that waits for its agents again does so as the same request: what is asked after a new message is not passed
 * over by it, so it needs a request that stands behind that message (law L6).
 */
import * as Effect from "effect/Effect"
import type * as Environment from "../environment/environment.ts"

export interface Reopening {
  /** To be done before the run goes on. */
  readonly begin: Effect.Effect<void>
  readonly reopens: Effect.Effect<boolean>
}

/** Of one that did not wait for agents. */
export const never: Reopening = { begin: Effect.void, reopens: Effect.succeed(false) }

export const make = (
  { suspensions }: Environment.Environment,
  began: string | undefined,
  isPassedOver: boolean
): Reopening => {
  if (began === undefined || !isPassedOver) return { begin: Effect.void, reopens: Effect.succeed(true) }
  const superseded = Effect.map(suspensions.agents(began), ({ superseded }) => superseded)
  let before: ReadonlyArray<string> | undefined
  return {
    begin: Effect.ignore(Effect.tap(superseded, (ids) => Effect.sync(() => (before = ids)))),
    // What cannot be looked up is as it was.
    reopens: Effect.orElseSucceed(
      Effect.map(superseded, (ids) => before === undefined || ids.some((id) => before!.includes(id))),
      () => true
    )
  }
}
