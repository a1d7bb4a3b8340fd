/** A tool with a gate, and gates that say nothing usable or are in trouble. */
import { Context, Effect, Schema } from "effect"
import * as Tool from "../../src/Tool.ts"

export class Ledger extends Context.Service<Ledger, {
  readonly isLarge: (amount: number) => Effect.Effect<boolean, "offline">
}>()("test/Ledger") {}

export const parameters = { amount: Schema.FiniteFromString }

export type Needs<R = never> = Tool.NeedsApproval<Schema.Struct<typeof parameters>, R>

export const makeCharge = (needsApproval: Needs<Ledger>) =>
  Tool.make("Charge", { parameters, success: Schema.String, needsApproval, dependencies: [Ledger] })

export const context: Tool.NeedsApprovalContext = { toolCallId: "call-1", messages: [] }

export const wrong = {
  "a string": () => "yes",
  "an empty string": () => "",
  "zero": () => 0,
  "null": () => null,
  "nothing": () => undefined,
  "an effect of nothing": () => Effect.void,
  "an effect of a string": () => Effect.succeed("no"),
  "an effect of an effect": () => Effect.succeed(Effect.succeed(false)),
  "an object that looks like a result": () => ({ _tag: "Approved" }),
  "a promise of a string": () => Promise.resolve("no"),
  "a promise of an effect": () => Promise.resolve(Effect.succeed(false)),
  "an effect of a promise that rejects": () => Effect.sync(() => Promise.reject(new Error("offline")))
}

export const troubled = {
  "fails": () => Effect.fail("offline"),
  "fails after a while of work": () => Effect.andThen(Effect.yieldNow, Effect.fail("offline")),
  "dies": () => Effect.die("boom"),
  "throws": () => {
    throw new Error("boom")
  },
  "rejects": () => Promise.reject(new Error("offline")),
  "interrupts itself": () => Effect.interrupt,
  "uses a service that is missing": () => Effect.flatMap(Ledger, (ledger) => ledger.isLarge(1)),
  "cannot be called": class {}
}
