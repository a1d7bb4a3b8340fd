/** What tests of who decided share: a conversation, and everything in which its program reads who it was (law L16). */
import { Effect, Result, Schema, type Scope, Stream } from "effect"
import {
  type Approval,
  ApprovalEvents,
  ApprovalJournal,
  ApprovalPolicy,
  ApprovalSeal,
  type Approver,
  Conversation,
  ConversationStore,
  DeferredTool,
  Interaction,
  LanguageModel,
  Store,
  SuspensionStore,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { idle } from "../laws/support.ts"

export const Pay = Tool.make("Pay", {
  parameters: { amount: Schema.Number },
  success: Schema.String,
  needsApproval: true
})

export const Ask = DeferredTool.make("Ask", {
  parameters: { kind: Schema.Literals(["verdict", "text", "told"]) },
  success: Schema.String,
  interactions: {
    verdict: Interaction.getApproval,
    text: Interaction.askUser,
    told: Interaction.external(Schema.String)
  }
})

export const toolkit = Toolkit.make(Pay, Ask)

export const pay = (amount: number, id = `pay-${amount}`) =>
  ScriptedModel.toolCall({ id, name: "Pay", params: { amount } })

export const ask = (kind: "verdict" | "text" | "told", id = `ask-${kind}`) =>
  ScriptedModel.toolCall({ id, name: "Ask", params: { kind } })

export interface World {
  readonly conversation: Conversation.Conversation<Toolkit.Tools<typeof toolkit>>
  readonly script: ScriptedModel.ScriptedModel
  readonly store: Store.Store
  /** What ran, in order. */
  readonly ran: ReadonlyArray<string>
  /** Who answered, as the handlers that went on were told. */
  readonly told: ReadonlyArray<Approver.DecidedBy>
  /** Who decided, as the events have it that say so, with the state and the call. */
  readonly events: Effect.Effect<ReadonlyArray<readonly [what: string, toolCallId: string, by: unknown]>>
  readonly entry: (
    request: Approval.ApprovalRequest
  ) => Effect.Effect<ApprovalJournal.Entry | undefined>
}

/** A conversation, or the same one in another process where a store is given. */
export const makeWorld = (options: {
  readonly turns: ReadonlyArray<ScriptedModel.Turn>
  readonly policy?: ApprovalPolicy.Service | undefined
  /** Whom the tool that waits names. */
  readonly named?: Approver.Approvers | undefined
  readonly store?: Store.Store | undefined
  readonly journal?: ((journal: ApprovalJournal.Service) => ApprovalJournal.Service) | undefined
}): Effect.Effect<World, never, Scope.Scope> =>
  Effect.gen(function*() {
    const store = options.store ?? (yield* Store.makeMemory())
    const script = yield* ScriptedModel.make({ turns: options.turns, afterLastTurn: "done" })
    const ran: Array<string> = []
    const told: Array<Approver.DecidedBy> = []
    const goOn = (answer: string, decidedBy: Approver.DecidedBy) =>
      Effect.sync(() => {
        told.push(decidedBy)
        ran.push(answer)
        return answer
      })
    const handlers = toolkit.toLayer({
      Pay: ({ amount }) => Effect.sync(() => `paid ${ran.push(`paid ${amount}`) && amount}`),
      Ask: DeferredTool.handler(Ask, {
        start: ({ kind }) => {
          const asked = { prompt: "?", approvers: options.named }
          return kind === "verdict"
            ? Ask.suspend.verdict(asked)
            : kind === "text"
            ? Ask.suspend.text(asked)
            : Ask.suspend.told(asked)
        },
        resume: {
          verdict: ({ approved, note }, _, { decidedBy }) => goOn(`${approved} ${note ?? ""}`, decidedBy),
          text: (text, _, { decidedBy }) => goOn(text, decidedBy),
          told: (text, _, { decidedBy }) => goOn(text, decidedBy)
        }
      })
    })
    const events = yield* ApprovalEvents.make()
    const seen: Array<ApprovalEvents.Observed> = []
    yield* Effect.forkScoped(
      Stream.runForEach(yield* events.subscribe, (event) => Effect.sync(() => void seen.push(event)))
    )
    const seal = yield* Effect.provide(
      Effect.service(ApprovalSeal.ApprovalSeal),
      ApprovalSeal.layer({ key: "the key of tests of who decided, 32" })
    ).pipe(Effect.orDie)
    const journal = yield* ApprovalJournal.make({ store, heartbeat: "1 second", grace: 0 })
    const conversation = yield* Conversation.make({ id: "c1", toolkit }).pipe(
      Effect.provide(handlers),
      Effect.provideService(LanguageModel.LanguageModel, script.model),
      Effect.provideService(
        ApprovalPolicy.ApprovalPolicy,
        options.policy ?? ApprovalPolicy.make(() => Effect.undefined)
      ),
      Effect.provideService(ApprovalEvents.ApprovalEvents, events),
      Effect.provideService(ApprovalSeal.ApprovalSeal, seal),
      Effect.provideService(ApprovalJournal.ApprovalJournal, options.journal?.(journal) ?? journal),
      Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store })),
      Effect.provideService(
        ConversationStore.ConversationStore,
        yield* ConversationStore.make({ store, heartbeat: "1 second" })
      )
    )
    return {
      conversation,
      script,
      store,
      ran,
      told,
      events: Effect.map(idle, () =>
        seen.flatMap((event): ReadonlyArray<readonly [string, string, unknown]> =>
          event._tag === "Changed"
            ? [[event.state, event.toolCallId, event.decidedBy]]
            : event._tag === "Refused" && event.reason._tag === "NotAnApprover"
            ? [[event.reason.problem, event.toolCallId, event.reason.decidedBy]]
            : []
        )),
      entry: ({ approvalId, toolCallId, toolName }) => {
        const sealed = Result.getOrThrow(seal.parse(approvalId))
        return Effect.orDie(journal.find({ ...sealed, toolCallId, toolName }))
      }
    }
  })

/** The one request of an outcome that waits. */
export const only = (
  outcome: Conversation.Outcome<Toolkit.Tools<typeof toolkit>> | undefined
): Approval.ApprovalRequest => {
  if (outcome?._tag !== "Waiting" || outcome.requests.length !== 1) {
    throw new Error(`It should wait for one answer, and is ${JSON.stringify(outcome)}`)
  }
  return outcome.requests[0]!
}

/** Who decided, as the results of an outcome have it, by their calls. */
export const ofResults = (
  outcome: Conversation.Outcome<Toolkit.Tools<typeof toolkit>> | undefined
): ReadonlyArray<readonly [toolCallId: string, by: unknown]> =>
  (outcome?.content ?? []).flatMap((part) =>
    part.type === "tool-result"
      ? [[part.id, (part.metadata.assent as { readonly decidedBy?: unknown } | undefined)?.decidedBy] as const]
      : []
  )
