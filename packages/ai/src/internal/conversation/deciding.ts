/** What is decided through a conversation, and by whom: all of it is looked at before any of it counts (laws L4, L16). */
import type * as Toolkit from "effect/ai/Toolkit"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as Approver from "../../Approver.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import * as DeferredTool from "../../DeferredTool.ts"
import * as Prompt from "../../Prompt.ts"
import * as SuspensionStore from "../../SuspensionStore.ts"
import type * as Model from "../environment/model.ts"
import * as Ending from "../history/ending.ts"
import * as Transcript from "../history/transcript.ts"
import * as Text from "../text.ts"
import * as Deferral from "../tool/deferral.ts"
import * as Interactions from "../waiting/interaction.ts"
import type * as Conversation from "./model.ts"
import * as ConversationTurn from "./turn.ts"

const via = "conversation"

const decidedByOf = (by: Approver.Person | undefined): Approver.DecidedBy => Approver.decidedBy(by, via)

type AnyToolkit = Toolkit.WithHandler<Model.AnyTools>

export const unknown = (approvalId: string) =>
  Effect.fail(ApprovalError.make(new ApprovalError.UnknownApproval({ approvalId: approvalId.slice(0, 64) })))

// Only people's answers stand in a history; those of webhooks, timers and programs are given to the store.
const isPersonal = ({ interaction }: Approval.ApprovalRequest): boolean =>
  interaction !== "webhook" && interaction !== "timer" && interaction !== "external"

/** What is open, and was not answered since. */
export const pendingOf = (
  { answered = [], open }: Pick<ConversationStore.Kept, "answered" | "open">
): ReadonlyArray<Approval.ApprovalRequest> => open.filter(({ approvalId }) => !answered.includes(approvalId))

/** Answers that stand in the history from here on. */
export const answering = (
  turn: ConversationTurn.Turn,
  answers: ReadonlyArray<Approval.ApprovalAnswer>,
  decidedBy?: Approver.DecidedBy
): void => {
  ConversationTurn.say(turn, Prompt.approvalResponses(answers))
  turn.answered = [...turn.answered, ...answers.map(({ approvalId }) => approvalId)]
  if (decidedBy === undefined) return
  turn.deciders = { ...turn.deciders, ...Object.fromEntries(answers.map(({ approvalId }) => [approvalId, decidedBy])) }
}

/** Whether anything has come that is waited for: to take a turn for nothing could call the model for nothing. */
export const hasNews = Effect.fnUntraced(function*(
  { answered, open }: ConversationTurn.Turn
): Effect.fn.Return<boolean, ApprovalError.ApprovalError> {
  if (answered.length > 0) return true
  const suspensions = yield* SuspensionStore.SuspensionStore
  const now = yield* Clock.currentTimeMillis
  for (const { approvalId, awaited, expiresAt = Number.POSITIVE_INFINITY } of open) {
    if (expiresAt <= now || (awaited?.dueAt ?? Number.POSITIVE_INFINITY) <= now) return true
    if (awaited === undefined) continue
    const found = yield* suspensions.find(approvalId)
    if (found?.status !== "open" || found.delivered !== undefined) return true
  }
  return false
})

/** False where everything that was said leaves its request open. */
export const decide = Effect.fnUntraced(function*(
  turn: ConversationTurn.Turn,
  toolkit: AnyToolkit,
  answers: ReadonlyArray<Approval.ApprovalAnswer>,
  by: Approver.Person | undefined
): Effect.fn.Return<boolean, ApprovalError.ApprovalError> {
  const decidedBy = decidedByOf(by)
  const requests: Array<Approval.ApprovalRequest> = []
  for (const { approvalId } of answers) {
    const request = turn.open.find((one) => one.approvalId === approvalId)
    if (request === undefined) return yield* notOpen(turn, approvalId)
    requests.push(request)
  }
  for (const [index, { decision }] of answers.entries()) {
    if (decision._tag !== "Info") yield* checkApprover(requests[index]!, decidedBy)
    if (decision._tag === "Approved") yield* checkAnswer(toolkit, requests[index]!, decision.answer)
  }
  const said: Array<Approval.ApprovalAnswer> = []
  for (const [index, answer] of answers.entries()) {
    const request = requests[index]!
    const { approvalId, decision } = answer
    if (decision._tag === "Info") {
      turn.open = turn.open.map((one) => one.approvalId === approvalId ? noted(one, decision.note) : one)
    } else if (decision._tag === "Approved" && !isPersonal(request)) {
      yield* SuspensionStore.deliver(approvalId, decision.answer ?? null, { by, via })
      turn.answered = [...turn.answered, approvalId]
    } else {
      said.push(answer)
    }
  }
  answering(turn, said, decidedBy)
  return answers.some(({ decision }) => decision._tag !== "Info")
})

/** Gives the answer to what a tool waits for. */
export const resume = Effect.fnUntraced(function*<
  T extends DeferredTool.Any,
  Name extends keyof T["interactions"] & string
>(
  turn: ConversationTurn.Turn,
  tool: T,
  interaction: Name,
  answer: Parameters<typeof DeferredTool.deliver<T, Name>>[3],
  { by, request }: Conversation.ResumeOptions
): Effect.fn.Return<boolean, ApprovalError.ApprovalError> {
  const waiting = turn.open.filter((one) =>
    one.toolName === tool.name && one.awaited?.name === interaction &&
    (request === undefined || request.approvalId === one.approvalId)
  )
  const [only] = waiting
  if (only === undefined || waiting.length > 1) {
    return yield* unknown(request?.approvalId ?? `${tool.name}.${interaction}`)
  }
  yield* checkApprover(only, decidedByOf(by))
  yield* DeferredTool.deliver(tool, interaction, only, answer, { by, via })
  turn.answered = [...turn.answered, only.approvalId]
  return true
})

// Here, where whoever decides can be told; what counts, the engine decides once more.
const checkApprover = (
  { approvalId, approvers }: Approval.ApprovalRequest,
  decidedBy: Approver.DecidedBy
): Effect.Effect<void, ApprovalError.ApprovalError> => {
  const lists = Approver.lists(approvers)
  const { id } = decidedBy
  if (lists.length === 0 || lists.some((ids) => id !== undefined && ids.includes(id))) return Effect.void
  const problem = id === undefined ? "unknown" : "not named"
  return Effect.fail(
    ApprovalError.make(new ApprovalError.NotAnApprover({ approvalId, approvers: lists, decidedBy, problem }))
  )
}

// Refused here, where who answers can be told: what was given to a store, or stands in a history, cannot be taken back.
const checkAnswer = (
  toolkit: AnyToolkit,
  request: Approval.ApprovalRequest,
  answer: Schema.Json | undefined
): Effect.Effect<void, ApprovalError.ApprovalError> => {
  const { approvalId, awaited, interaction: kind, toolName } = request
  if (awaited === undefined || (kind === "getApproval" && answer === undefined)) return Effect.void
  const tool = Object.hasOwn(toolkit.tools, toolName) ? toolkit.tools[toolName] : undefined
  const deferral = tool === undefined ? undefined : Deferral.of(tool)
  const interaction = deferral === undefined ? undefined : Deferral.interactionOf(deferral, awaited.name)
  // What became of a tool that is gone, its turn will say.
  if (interaction === undefined) return Effect.void
  return Effect.asVoid(Effect.mapError(
    answer === undefined && isPersonal(request)
      ? Effect.fail("it says yes, where an answer is asked for.")
      : Interactions.decodeAnswer(interaction, awaited, answer ?? null),
    (description) => ApprovalError.make(new ApprovalError.InvalidAnswer({ approvalId, description }))
  ))
}

const notOpen = ({ history }: ConversationTurn.Turn, approvalId: string) => {
  const known = Transcript.readWhole(history.content).allRequests.find(({ part }) => part.approvalId === approvalId)
  if (known === undefined) return unknown(approvalId)
  return Effect.fail(ApprovalError.make(new ApprovalError.AlreadyDecided({ approvalId, state: Ending.stateOf(known) })))
}

const noted = (request: Approval.ApprovalRequest, note: string): Approval.ApprovalRequest =>
  new Approval.ApprovalRequest({ ...request, reason: Text.escape(note, { maxLength: 1_000 }) })
