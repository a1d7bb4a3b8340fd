import type { Approval, ApprovalController, ApprovalMatcher, Approver } from "@assent/ai"
import { TerminalController } from "@assent/terminal"
import { type NodeServices } from "@effect/platform-node"
import { Effect, type Layer, type Terminal } from "effect"
import type { Prompt } from "effect/cli"
import { describe, expectTypeOf, it } from "vitest"

describe("TerminalController", () => {
  it("is a controller that needs what prompts need, and says that there may be no terminal", () => {
    expectTypeOf(TerminalController.make()).toEqualTypeOf<
      Effect.Effect<ApprovalController.Service, TerminalController.NoTerminal, Prompt.Environment>
    >()
    expectTypeOf(TerminalController.layer()).toEqualTypeOf<
      Layer.Layer<never, TerminalController.NoTerminal, Prompt.Environment>
    >()
    expectTypeOf<Prompt.Environment>().toExtend<NodeServices.NodeServices>()
  })

  it("who is there is a person", () => {
    expectTypeOf<TerminalController.Options["by"]>().toEqualTypeOf<Approver.Person | undefined>()
    TerminalController.layer({ by: { id: "ada", name: "Ada" } })
    // @ts-expect-error an id alone is no person
    TerminalController.layer({ by: "ada" })
  })

  it("untilStopped keeps what a program is, and adds that the person may leave", () => {
    const program = Effect.succeed(1)
    expectTypeOf(TerminalController.untilStopped(program)).toEqualTypeOf<Effect.Effect<number, Terminal.QuitError>>()
    expectTypeOf(program.pipe(TerminalController.untilStopped)).toEqualTypeOf<
      Effect.Effect<number, Terminal.QuitError>
    >()
  })

  it("what is not ticked is denied or asked, and patterns are matchers", () => {
    expectTypeOf<NonNullable<TerminalController.Options["batch"]>["unticked"]>().toEqualTypeOf<"deny" | "ask">()
    expectTypeOf<NonNullable<TerminalController.Options["patterns"]>>().toEqualTypeOf<
      (request: Approval.ApprovalRequest) => ReadonlyArray<ApprovalMatcher.ApprovalMatcher>
    >()
  })
})
