/** What a handler, a model and a person know of the turn they are asked in, and what they write down. */
import { Context, Effect, Exit } from "effect"
import type * as Plan from "./plan.ts"
import type * as Process from "./process.ts"
import * as Record from "./record.ts"

export interface Stage {
  readonly record: Record.Record
  readonly process: Process.Process
  readonly op: Record.Op
  /** How often something has come to pass in this turn. */
  readonly signs: Map<Plan.Sign, number>
  /** What of the conversation is in the store at this moment, as text. */
  readonly kept: Effect.Effect<string>
  /** How often the model was called. */
  modelCalls: number
}

export const Stage = Context.Reference<Stage>("assent/test/search/leaving/Stage", {
  defaultValue: () => {
    throw new Error("something happened outside of a turn")
  }
})

/** Something comes to pass, and whoever waits for that can act before anything else does. */
export const sign = (sign: Plan.Sign): Effect.Effect<void> =>
  Effect.flatMap(Stage, ({ process, signs }) => {
    signs.set(sign, (signs.get(sign) ?? 0) + 1)
    return Effect.andThen(Effect.yieldNow, process.gate)
  })

/** Carries out a handler, and writes down that it ran. */
export const run = <A, E, R>(
  callId: string,
  told: { readonly isRefused: boolean } | undefined,
  act: (mark: string, started: Record.Run) => Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.gen(function*() {
    const { kept, op, process, record } = yield* Stage
    yield* process.gate
    const isOnRecord = (yield* kept).includes(JSON.stringify(callId))
    const call = record.calls.find(({ id }) => id === callId)
    if (call === undefined) throw new Error(`a call that no model made ran: ${callId}`)
    const started: Record.Run = {
      number: record.runs.length,
      call,
      isResumption: told !== undefined,
      isRefused: told?.isRefused === true,
      op: op.index,
      process: process.known.index,
      began: record.now(),
      isOnRecord,
      ended: undefined,
      outcome: "running"
    }
    record.runs.push(started)
    return yield* sign("began").pipe(
      Effect.andThen(act(Record.markOf(started.number), started)),
      // Whoever leaves at this sign leaves before the end.
      Effect.ensuring(sign("ended")),
      // A handler ends when its process knows of it.
      Effect.onExit((exit) =>
        Effect.andThen(
          process.gate,
          Effect.sync(() => {
            started.ended = record.now()
            if (started.outcome === "running" || !Exit.hasDies(exit)) started.outcome = outcomeOf(exit, started)
          })
        )
      )
    )
  })

const outcomeOf = (exit: Exit.Exit<unknown, unknown>, { outcome }: Record.Run): Record.Run["outcome"] => {
  if (Exit.isSuccess(exit)) return outcome === "suspended" ? outcome : "succeeded"
  return Exit.hasInterrupts(exit) ? "interrupted" : Exit.hasFails(exit) ? "failed" : "died"
}
