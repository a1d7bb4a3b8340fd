/** Beside the stories that are told at a real terminal: what needs none. */
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as TerminalController from "@assent/terminal/TerminalController"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"

describe("untilStopped", () => {
  it.effect("is nothing to a program that another controller answers", () =>
    Effect.gen(function*() {
      const program = TerminalController.untilStopped(Effect.succeed(1)).pipe(
        Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)
      )
      assert.strictEqual(yield* program, 1)
    }))
})
