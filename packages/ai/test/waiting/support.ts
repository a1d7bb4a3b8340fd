/**
 * What tests of waiting tools share: the expense of the specification, whose every step is counted, beside a plain tool.
 */
import { Effect, Schema } from "effect"
import {
  type Approval,
  DeferredTool,
  Interaction,
  type LanguageModel,
  SuspensionStore,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { type Story, tell } from "../laws/story.ts"
import * as Laws from "../laws/support.ts"

export * from "../laws/support.ts"

export class Expense
  extends Schema.Class<Expense>("Expense")({ item: Schema.String, amount: Schema.FiniteFromString })
{}

const Fix = Schema.Struct({ amount: Schema.FiniteFromString })

/** Two approvals, a form when something is to be changed, and a text. */
export const Submit = DeferredTool.make("Submit", {
  parameters: Expense,
  success: Schema.Struct({ said: Schema.String, at: Schema.DateFromString }),
  failure: Schema.Struct({ message: Schema.String }),
  failureMode: "return",
  state: Schema.Struct({ expense: Expense, by: Schema.Array(Schema.String) }),
  interactions: {
    manager: Interaction.getApproval,
    director: Interaction.getApproval,
    fix: Interaction.form(Fix),
    why: Interaction.askUser
  }
})

/** Asks once, and its success is what was answered. */
export const Ask = DeferredTool.make("Ask", {
  parameters: { question: Schema.String },
  success: Schema.String,
  interactions: { text: Interaction.askUser }
})

/** Asks the same, but needs approval before it begins. */
export const Gated = DeferredTool.make("Gated", {
  parameters: { question: Schema.String },
  success: Schema.String,
  state: Schema.String,
  needsApproval: true,
  interactions: { text: Interaction.askUser }
})

/** Waits for one of each of the other kinds. */
export const Menu = DeferredTool.make("Menu", {
  parameters: { kind: Schema.Literals(["one", "many", "timer", "external"]) },
  success: Schema.Unknown,
  interactions: {
    one: Interaction.selectOptions,
    many: Interaction.selectMany,
    timer: Interaction.timer,
    external: Interaction.external(Schema.Struct({ paid: Schema.FiniteFromString }))
  }
})

export const at = new Date("2026-01-02T03:04:05.000Z")

export interface Waiting {
  readonly toolkit: Laws.AnyToolkit
  /** Every handler that was begun or resumed, in order, with what it was given. */
  readonly steps: ReadonlyArray<readonly [step: string, ...given: ReadonlyArray<unknown>]>
}

/** The toolkit of them all, and the steps of its handlers. `before` is done at the beginning of each step. */
export const makeWaiting = (
  before: (step: string) => Effect.Effect<void> = () => Effect.void
): Effect.Effect<Waiting> =>
  Effect.gen(function*() {
    const steps: Array<readonly [string, ...ReadonlyArray<unknown>]> = []
    const step = (name: string, ...given: ReadonlyArray<unknown>) =>
      Effect.suspend(() => {
        steps.push([name, ...given])
        return before(name)
      })
    const kit = Toolkit.make(Submit, Ask, Gated, Menu, Laws.ReadFile, Laws.DeleteFile)
    const layer = kit.toLayer({
      Submit: DeferredTool.handler(Submit, {
        start: (expense) =>
          Effect.andThen(
            step("start", expense),
            Submit.suspend.manager({ prompt: `$${expense.amount} for ${expense.item}?` }, { expense, by: [] })
          ),
        resume: {
          manager: (verdict, { by, expense }) =>
            Effect.gen(function*() {
              yield* step("manager", verdict, expense, by)
              if (verdict.approved) {
                return yield* Submit.suspend.director({ prompt: "And you?" }, { expense, by: [...by, "manager"] })
              }
              return verdict.note === "fix"
                ? yield* Submit.suspend.fix({ prompt: "How much?" }, { expense, by })
                : { said: "rejected by manager", at }
            }),
          director: (verdict, { by, expense }) =>
            Effect.gen(function*() {
              yield* step("director", verdict, expense, by)
              if (!verdict.approved) return yield* Effect.fail({ message: "rejected by director" })
              return { said: `${expense.item} approved by ${[...by, "director"].join(", ")}`, at }
            }),
          fix: ({ amount }, { by, expense }) =>
            Effect.andThen(
              step("fix", amount, expense, by),
              Submit.suspend.manager({ prompt: `$${amount}?` }, { expense: new Expense({ ...expense, amount }), by })
            ),
          why: (text) => Effect.succeed({ said: text, at })
        }
      }),
      Ask: DeferredTool.handler(Ask, {
        start: ({ question }) => Effect.andThen(step("start", question), Ask.suspend.text({ prompt: question })),
        resume: { text: (text) => Effect.as(step("text", text), text) }
      }),
      Gated: DeferredTool.handler(Gated, {
        start: ({ question }) =>
          Effect.andThen(step("start", question), Gated.suspend.text({ prompt: question }, question)),
        resume: { text: (text, question) => Effect.as(step("text", text, question), `${question} ${text}`) }
      }),
      Menu: DeferredTool.handler(Menu, {
        start: ({ kind }) => {
          const options = ["soup", { value: "fish", label: "Fish of the day", description: "with potatoes" }]
          const suspended = kind === "one"
            ? Menu.suspend.one({ prompt: "Which?", options })
            : kind === "many"
            ? Menu.suspend.many({ prompt: "Which?", options })
            : kind === "timer"
            ? Menu.suspend.timer({ after: "2 hours" })
            : Menu.suspend.external({ prompt: "the payment" })
          return Effect.andThen(step("start", kind), suspended)
        },
        resume: {
          one: (value) => Effect.as(step("one", value), value),
          many: (values) => Effect.as(step("many", values), values),
          timer: (fired) => Effect.as(step("timer", fired), fired),
          external: (payment) => Effect.as(step("external", payment), payment)
        }
      }),
      ReadFile: ({ path }) => Effect.as(step("ReadFile", path), `text of ${path}`),
      DeleteFile: ({ path }) => Effect.as(step("DeleteFile", path), { deleted: true })
    })
    const toolkit = yield* Effect.provide(kit, layer)
    return { toolkit: toolkit as unknown as Laws.AnyToolkit, steps }
  })

/** One test per mode, each with a journal, a seal and a suspension store of its own. */
export const inEachMode = (name: string, test: Story<[mode: Laws.Mode]>, only?: ReadonlyArray<Laws.Mode>): void =>
  Laws.forEachMode(name, (mode) => Effect.provide(tell(test, mode), SuspensionStore.layerMemory), only)

/** The same in one of them. */
export const inOneMode = (mode: Laws.Mode, name: string, test: Story<[mode: Laws.Mode]>): void =>
  inEachMode(name, test, [mode])

/** One test of what has no turn, or whose turns are alike in every mode. */
export const once = (name: string, test: Story): void =>
  Laws.single(name, () => Effect.provide(tell(test), SuspensionStore.layerMemory))

/** A conversation in which the model makes these calls at first and then says "done". */
export const begin = (
  mode: Laws.Mode,
  calls: ReadonlyArray<ScriptedModel.TurnPart>,
  options?: {
    readonly approval?: LanguageModel.ApprovalOptions
    readonly before?: (step: string) => Effect.Effect<void>
    readonly prompt?: string
  }
) =>
  Effect.gen(function*() {
    const { steps, toolkit } = yield* makeWaiting(options?.before)
    const script = yield* ScriptedModel.make({ turns: [calls], afterLastTurn: "done" })
    const { approval } = options ?? {}
    const chat = yield* Laws.converse(mode, { model: script.model, toolkit, approval })
    const first = yield* chat.take(options?.prompt ?? "Go on.")
    /** The names of the steps so far. */
    const names = () => steps.map(([name]) => name)
    /** Answers what the first turn asked, on the history as it was then, however often it is taken. */
    const reply = (...answers: ReadonlyArray<Approval.ApprovalAnswer>) =>
      Laws.reply(mode, { asked: first, model: script.model, tools: { toolkit } }, Laws.answers(...answers))
    return { chat, first, names, reply, script, steps, toolkit }
  })

/** A first turn in which the model makes these calls. */
export const firstTurn = (mode: Laws.Mode, toolkit: Laws.AnyToolkit, calls: ReadonlyArray<ScriptedModel.TurnPart>) =>
  Laws.ask(mode, { toolkit, calls })

export const ask = (id: string, question: string) => Laws.call(id, "Ask", { question })

export const submit = (id: string) => Laws.call(id, "Submit", { item: "chairs", amount: "250" })

/** The one request of a turn. */
export const only = (turn: Laws.Turn): Approval.ApprovalRequest => {
  if (turn.requests.length !== 1) throw new Error(`there are ${turn.requests.length} requests`)
  return turn.requests[0]!
}

/** The decoded results of a turn, by the ids of their calls. */
export const resultsOf = (turn: Laws.Turn): ReadonlyArray<readonly [id: string, result: unknown]> =>
  turn.results.map(({ id, result }) => [id, result])

/** What is said of a call that somebody ended with this reason when its tool had begun (law L14). */
export const begun = (reason: string): string =>
  `${reason} The tool had begun and was waiting. It did not go on, and what it did before it waited is not undone.`
