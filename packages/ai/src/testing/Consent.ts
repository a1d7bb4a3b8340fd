/**
 * Handlers of gated tools in tests of their own, where nobody is asked.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Consent from "../internal/tool/consent.ts"

/**
 * Lets gated tools run in an effect although nobody was asked: for tests of their handlers, and for nothing else.
 *
 * @example
 * import { Tool, Toolkit } from "@assent/ai"
 * import { withConsent } from "@assent/ai/testing"
 * import { Effect, Schema, Stream } from "effect"
 *
 * const DeleteFile = Tool.make("DeleteFile", {
 *   parameters: { path: Schema.String },
 *   success: Schema.String,
 *   needsApproval: true
 * })
 * const tools = Toolkit.make(DeleteFile)
 *
 * const test = Effect.gen(function*() {
 *   const toolkit = yield* tools
 *   const [result] = yield* Stream.runCollect(yield* toolkit.handle("DeleteFile", { path: "a.txt" }))
 *   return result?.result
 * }).pipe(
 *   withConsent,
 *   Effect.provide(tools.toLayer({ DeleteFile: ({ path }) => Effect.succeed(`deleted ${path}`) }))
 * )
 *
 * await Effect.runPromise(test) // => "deleted a.txt"
 *
 * @category testing
 * @since 0.1.0
 */
export const withConsent = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(effect, Consent.Consent, "any")
