import { Context, Effect, Schema } from "effect"
import { LanguageModel, type Tool as Upstream } from "effect/ai"
import { describe, expectTypeOf, it } from "vitest"
import { type Approver, DeferredTool, Interaction, Tool, Toolkit } from "../src/index.ts"

class Ledger extends Context.Service<Ledger, { readonly book: Effect.Effect<string> }>()("test/Ledger") {}

const Expense = Schema.Struct({ item: Schema.String, amount: Schema.FiniteFromString })

const Submit = DeferredTool.make("Submit", {
  parameters: Expense,
  success: Schema.String,
  failure: Schema.Struct({ message: Schema.String }),
  state: Schema.Struct({ at: Schema.DateFromString }),
  dependencies: [Ledger],
  needsApproval: ({ amount }) => amount > 10,
  interactions: {
    manager: Interaction.getApproval,
    fix: Interaction.form(Schema.Struct({ amount: Schema.FiniteFromString })),
    which: Interaction.selectOptions,
    several: Interaction.selectMany,
    paid: Interaction.webhook(Schema.Struct({ id: Schema.String })),
    later: Interaction.timer,
    done: Interaction.external(Schema.Date)
  }
})

const Remind = DeferredTool.make("Remind", { interactions: { later: Interaction.timer } })

const Query = DeferredTool.from(
  Tool.dynamic("Query", { parameters: { type: "object" }, success: Schema.String }),
  { interactions: { database: Interaction.askUser } }
)

describe("a deferred tool", () => {
  it("is upstream's tool, with the types it would have", () => {
    expectTypeOf<Upstream.Parameters<typeof Submit>>().toEqualTypeOf<
      { readonly item: string; readonly amount: number }
    >()
    expectTypeOf<Upstream.Success<typeof Submit>>().toEqualTypeOf<string>()
    expectTypeOf<Upstream.Failure<typeof Submit>>().toEqualTypeOf<{ readonly message: string }>()
    expectTypeOf<Upstream.Requirements<typeof Submit>>().toEqualTypeOf<Ledger>()
    expectTypeOf<Upstream.Parameters<typeof Query>>().toEqualTypeOf<unknown>()
    expectTypeOf<DeferredTool.State<typeof Submit>>().toEqualTypeOf<{ readonly at: Date }>()
  })

  it("keeps the schema of its parameters in generic code", () => {
    const make = <P extends Schema.Constraint>(parameters: P): P =>
      DeferredTool.make("A", { parameters, interactions: { later: Interaction.timer } }).parametersSchema
    expectTypeOf(make(Expense)).toEqualTypeOf(Expense)
  })

  it("suspends with what its interactions and its state want", () => {
    const at = new Date(0)
    expectTypeOf(Submit.suspend.manager({ prompt: "?" }, { at })).toEqualTypeOf<
      Effect.Effect<DeferredTool.Suspension<"Submit">>
    >()
    Submit.suspend.which({ prompt: "?", options: ["a", { value: "b", label: "B" }] }, { at })
    Submit.suspend.later({ after: "1 hour" }, { at })
    Remind.suspend.later({ at: "2030-01-01" })
    // @ts-expect-error there is no such interaction
    Submit.suspend.director({ prompt: "?" }, { at })
    // @ts-expect-error options are wanted
    Submit.suspend.which({ prompt: "?" }, { at })
    // @ts-expect-error a time is wanted
    Submit.suspend.later({}, { at })
    // @ts-expect-error a state is wanted
    Submit.suspend.manager({ prompt: "?" })
    // @ts-expect-error the state is another
    Submit.suspend.manager({ prompt: "?" }, { at: "today" })
    // @ts-expect-error a token is wanted
    Submit.suspend.paid({ prompt: "?" }, { at })
  })

  it("gives its handlers parameters, answers and state, beside plain tools, without casts", () => {
    const Plain = Tool.make("Plain", { parameters: { path: Schema.String }, success: Schema.Number })
    const kit = Toolkit.make(Submit, Remind, Query, Plain)
    kit.toLayer({
      Plain: ({ path }) => Effect.succeed(path.length),
      Submit: DeferredTool.handler(Submit, {
        start: (params, context) => {
          expectTypeOf(params).toEqualTypeOf<{ readonly item: string; readonly amount: number }>()
          expectTypeOf(context.toolCallId).toEqualTypeOf<string | undefined>()
          return params.amount > 5
            ? Submit.suspend.manager({ prompt: "?" }, { at: new Date() })
            : Effect.succeed("done")
        },
        resume: {
          manager: (verdict, state, context) => {
            expectTypeOf(verdict).toEqualTypeOf<Interaction.Verdict>()
            expectTypeOf(context.decidedBy).toEqualTypeOf<Approver.DecidedBy>()
            expectTypeOf(context.toolCallId).toEqualTypeOf<string | undefined>()
            expectTypeOf(context.params).toEqualTypeOf<{ readonly item: string; readonly amount: number }>()
            expectTypeOf(state).toEqualTypeOf<{ readonly at: Date }>()
            return verdict.approved ? Submit.suspend.fix({ prompt: "?" }, state) : Effect.fail({ message: "no" })
          },
          fix: (form) => {
            expectTypeOf(form).toEqualTypeOf<{ readonly amount: number }>()
            return Effect.map(Ledger, () => "booked")
          },
          which: (value) => Effect.succeed(value),
          several: (values) => Effect.succeed(values.join()),
          paid: ({ id }) => Effect.succeed(id),
          later: ({ dueAt, firedAt }) => Effect.succeed(String(firedAt - dueAt)),
          done: (date) => Effect.succeed(date.toISOString())
        },
        expired: {
          manager: (state, context) => {
            expectTypeOf(state).toEqualTypeOf<{ readonly at: Date }>()
            expectTypeOf(context.params).toEqualTypeOf<{ readonly item: string; readonly amount: number }>()
            expectTypeOf(context.expiredAt).toEqualTypeOf<number>()
            expectTypeOf(context.toolCallId).toEqualTypeOf<string | undefined>()
            return context.params.amount > 5
              ? Submit.suspend.manager({ prompt: "Still?" }, state)
              : Effect.map(Ledger, () => "nobody")
          },
          fix: () => Effect.fail({ message: "nobody" })
        }
      }),
      Remind: DeferredTool.handler(Remind, {
        start: () => Remind.suspend.later({ after: "1 day" }),
        resume: {
          later: (_, state) => {
            expectTypeOf(state).toEqualTypeOf<undefined>()
            return Effect.void
          }
        }
      }),
      Query: DeferredTool.handler(Query, {
        start: () => Query.suspend.database({ prompt: "Which?" }),
        resume: { database: (name) => Effect.succeed(name) }
      })
    })
    const program = LanguageModel.generateText({ prompt: "", toolkit: kit })
    expectTypeOf<Effect.Services<typeof program>>().toEqualTypeOf<
      LanguageModel.LanguageModel | Ledger | Upstream.HandlersFor<Toolkit.Tools<typeof kit>>
    >()
  })

  it("refuses what does not belong to it", () => {
    DeferredTool.handler(Remind, {
      // @ts-expect-error another tool's suspension
      start: () => Query.suspend.database({ prompt: "Which?" }),
      resume: { later: () => Effect.void }
    })
    DeferredTool.handler(Remind, {
      start: () => Effect.void,
      // @ts-expect-error an interaction without its handler
      resume: {}
    })
    DeferredTool.handler(Remind, {
      start: () => Effect.void,
      resume: { later: () => Effect.void },
      // @ts-expect-error there is no such interaction
      expired: { earlier: () => Effect.void }
    })
    DeferredTool.handler(Query, {
      start: () => Effect.succeed("none"),
      resume: { database: (name) => Effect.succeed(name) },
      // @ts-expect-error the success is another
      expired: { database: () => Effect.succeed(1) }
    })
    DeferredTool.handler(Query, {
      start: () => Effect.succeed("none"),
      resume: { database: (name) => Effect.succeed(name) },
      // @ts-expect-error another tool's suspension
      expired: { database: () => Remind.suspend.later({ after: "1 hour" }) }
    })
    DeferredTool.handler(Query, {
      // @ts-expect-error the success is another
      start: () => Effect.succeed(1),
      resume: { database: (name) => Effect.succeed(name) }
    })
    // @ts-expect-error the answer is of another kind
    DeferredTool.deliver(Submit, "done", { approvalId: "x" }, "today")
    // @ts-expect-error there is no such interaction
    DeferredTool.deliver(Submit, "director", { approvalId: "x" }, { approved: true })
    expectTypeOf(DeferredTool.deliver(Submit, "done", { approvalId: "x" }, new Date())).toExtend<
      Effect.Effect<void, unknown>
    >()
  })
})
