import { Context, Effect, Schema } from "effect"
import { describe, expectTypeOf, it } from "vitest"
import {
  AgentTool,
  type AiError,
  type ApprovalError,
  type Conversation,
  type ConversationStore,
  Tool,
  type Toolkit
} from "../src/index.ts"

class Ledger extends Context.Service<Ledger, { readonly pay: (amount: number) => Effect.Effect<string> }>()("Ledger") {}

class Broke extends Schema.TaggedError<Broke>()("Broke", {}) {}

const Pay = Tool.make("Pay", {
  parameters: { amount: Schema.Number },
  success: Schema.String,
  failure: Broke,
  dependencies: [Ledger]
})
declare const kit: Toolkit.WithHandler<{ readonly Pay: typeof Pay }>

describe("AgentTool", () => {
  it("has its parameters and its result, which is a text where it does not say", () => {
    const Treasurer = AgentTool.make("Treasurer", { parameters: { task: Schema.String } })
    expectTypeOf<Tool.Parameters<typeof Treasurer>>().toEqualTypeOf<{ readonly task: string }>()
    expectTypeOf<Tool.Success<typeof Treasurer>>().toEqualTypeOf<string>()
    const Counter = AgentTool.make("Counter", { parameters: { task: Schema.String }, success: Schema.Number })
    expectTypeOf<Tool.Success<typeof Counter>>().toEqualTypeOf<number>()
  })

  it("gives its handler the errors and services of its tools", () => {
    const Treasurer = AgentTool.make("Treasurer", { parameters: { task: Schema.String }, failure: Broke })
    const handler = AgentTool.handler(Treasurer, { toolkit: kit, prompt: ({ task }) => task })
    type Ended = ReturnType<typeof handler>
    expectTypeOf<Effect.Success<Ended>>().toEqualTypeOf<string>()
    expectTypeOf<Effect.Services<Ended>>().toEqualTypeOf<Ledger>()
    expectTypeOf<Broke>().toExtend<Effect.Error<Ended>>()
    expectTypeOf<AiError.AiError>().toExtend<Effect.Error<Ended>>()
  })

  it("wants to know how a result is made that is no text", () => {
    const Counter = AgentTool.make("Counter", { parameters: { task: Schema.String }, success: Schema.Number })
    // @ts-expect-error its success is a number
    AgentTool.handler(Counter, { toolkit: kit, prompt: ({ task }) => task })
    AgentTool.handler(Counter, {
      toolkit: kit,
      prompt: ({ task }) => task,
      result: ({ steps }) => Effect.succeed(steps)
    })
    // @ts-expect-error it has no such parameter
    AgentTool.handler(Counter, { toolkit: kit, prompt: ({ text }) => text, result: () => Effect.succeed(1) })
  })

  it("ends with how its conversation ended, with what it can fail with and what it needs", () => {
    const ended = AgentTool.converse("bills", { toolkit: kit })("Pay.")
    type Tools = { readonly Pay: typeof Pay }
    expectTypeOf<Effect.Success<typeof ended>>().toEqualTypeOf<
      Conversation.Completed<Tools> | Conversation.Limited<Tools>
    >()
    expectTypeOf<Effect.Services<typeof ended>>().toEqualTypeOf<Ledger>()
    expectTypeOf<ApprovalError.ApprovalError | ConversationStore.ConversationError>()
      .toExtend<Effect.Error<typeof ended>>()
  })
})
