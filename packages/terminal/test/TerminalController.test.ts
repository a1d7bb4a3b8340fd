/** Beside the stories that are told at a real terminal: what needs none. */
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as TerminalController from "@assent/terminal/TerminalController"
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as TerminalCapabilities from "effect/cli/TerminalCapabilities"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

describe("untilStopped", () => {
  it.effect("is nothing to a program that another controller answers", () =>
    Effect.gen(function*() {
      const program = TerminalController.untilStopped(Effect.succeed(1)).pipe(
        Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)
      )
      assert.strictEqual(yield* program, 1)
    }))
})

describe("layer", () => {
  it.effect("without the services of the system says which package has them", () =>
    Effect.gen(function*() {
      const untyped = TerminalController.make() as Effect.Effect<unknown, TerminalController.NoTerminal>
      const exit = yield* Effect.exit(untyped)
      assert.match(
        Exit.isFailure(exit) ? String(Cause.squash(exit.cause)) : "",
        /^Error: Service not found: effect\/Terminal\..*@effect\/platform-node, and provide NodeServices\.layer/
      )
    }).pipe(Effect.provideService(TerminalCapabilities.TerminalCapabilities, {
      canColor: false,
      canAnimate: false,
      canPrompt: true
    })))
})
