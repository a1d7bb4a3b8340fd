/** What the tools of a plan have in common: their parameters, and what their handlers do with their time. */
import { Effect, Exit, Schema } from "effect"
import type * as Plan from "./plan.ts"
import * as Record from "./record.ts"

export type Drift = Extract<Plan.Step, { readonly _tag: "Drift" }>["how"]

/** Whether a tool waits for something once it has begun. */
export const mayWait = (name: string): boolean => name === "Wait" || name === "Order"

export const fieldsOf = (name: Plan.ToolName, drift: Drift): Schema.Struct.Fields => ({
  amount: name === "Charge" ? Schema.FiniteFromString : Schema.Int,
  how: Schema.String,
  note: Schema.String,
  ...(mayWait(name) ? { waits: Schema.Array(Schema.String) } : undefined),
  ...(name === "Agent" ? { inner: Schema.String } : undefined),
  ...(drift === "widened" ? { extra: Schema.optionalKey(Schema.String) } : undefined),
  ...(drift === "narrowed" ? { extra: Schema.String } : undefined)
})

export interface Params {
  readonly amount: number
  readonly how: Plan.Call["how"]
  readonly note: string
}

export const encode = (name: string, params: Params): string =>
  Record.canonical(name === "Charge" ? { ...params, amount: String(params.amount) } : params)

/** The parameters of a call as a model writes them. */
export const paramsOf = (call: Plan.Call): unknown => {
  const note = call.note === "nasty" ? Record.nasty : call.note === "long" ? "long ".repeat(400) : "plain"
  if (call.flaw === "parameters") return { amount: "not a number", note }
  return {
    amount: call.tool === "Charge" ? String(call.amount) : call.amount,
    how: call.how,
    note,
    ...(mayWait(call.tool) ? { waits: call.waits } : undefined),
    ...(call.tool === "Agent" ? { inner: call.inner } : undefined)
  }
}

/** What a run says of itself in its result, so that each result can be told from every other. */
export const markOf = (number: number): string => `<run ${number}>`

/** What a handler does before it ends. */
export const behave = (how: Plan.Call["how"], mark: string, say: (word: string) => Effect.Effect<void>) => {
  switch (how) {
    case "fail":
      return Effect.fail({ why: `${mark} failed` })
    case "die":
      return Effect.die(new Error(Record.secrets.handler))
    case "slow":
      return Effect.sleep("20 seconds")
    case "preliminary":
      return Effect.andThen(say("begins"), Effect.andThen(Effect.sleep("1 second"), say("goes on")))
    default:
      return Effect.void
  }
}

/** Writes down how a handler ended. */
export const concluding =
  (started: { outcome: Record.Run["outcome"]; endedAt: number }) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.onExit(effect, (exit) =>
      Effect.clockWith((clock) =>
        Effect.sync(() => {
          // One that is to wait dies of it.
          const waits = started.outcome === "suspended" && Exit.hasDies(exit) && !Exit.hasInterrupts(exit)
          if (started.outcome === "running" || (Exit.isFailure(exit) && !waits)) started.outcome = outcomeOf(exit)
          started.endedAt = clock.currentTimeMillisUnsafe()
        })
      ))

const outcomeOf = (exit: Exit.Exit<unknown, unknown>): Record.Run["outcome"] => {
  if (Exit.isSuccess(exit)) return "succeeded"
  return Exit.hasInterrupts(exit) ? "interrupted" : Exit.hasFails(exit) ? "failed" : "died"
}
