/**
 * What is decided through a conversation, and by whom. Every answer stands alone: one that has no effect is refused, with why,
 * and the others count (laws L4, L16).
 */
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalJournal from "../../ApprovalJournal.ts"
import * as ApprovalSeal from "../../ApprovalSeal.ts"
import * as Approver from "../../Approver.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import * as DeferredTool from "../../DeferredTool.ts"
import type * as Interaction from "../../Interaction.ts"
import * as Prompts from "../../Prompt.ts"
import * as SuspensionStore from "../../SuspensionStore.ts"
import type * as Model from "../environment/model.ts"
import type * as Trust from "../environment/trust.ts"
import { definedFields } from "../fields.ts"
import * as Request from "../gather/request.ts"
import * as ConversationTurn from "../held/turn.ts"
import * as Ending from "../history/ending.ts"
import * as Transcript from "../history/transcript.ts"
import * as Open from "../kept/open.ts"
import type * as Posted from "../posted.ts"
import * as Text from "../text.ts"
import * as Deferral from "../tool/deferral.ts"
import * as Interactions from "../waiting/interaction.ts"
import * as Clearing from "./clearing.ts"
import type * as Conversation from "./model.ts"
import * as Naming from "./naming.ts"

const via = "conversation"

export const personOf = ({ id, name }: Approver.DecidedBy): Approver.Person | undefined =>
  id === undefined ? undefined : { id, ...definedFields({ name }) }

export const decidedByOf = (by: Approver.Person | undefined): Approver.DecidedBy => Approver.decidedBy(by, via)

type AnyToolkit = Toolkit.WithHandler<Model.AnyTools>

export const unknown = (approvalId: string) =>
  Effect.fail(ApprovalError.make(new ApprovalError.UnknownApproval({ approvalId: approvalId.slice(0, 64) })))

// Only people's answers stand in a history; those of webhooks, timers and programs are given to the store.
const isPersonal = ({ interaction }: Approval.ApprovalRequest): boolean =>
  interaction !== "webhook" && interaction !== "timer" && interaction !== "external"

/** What is open, and was not answered since. What waits in agents is asked there. */
export const pendingOf = (
  { answered, open }: Pick<ConversationStore.Kept, "answered" | "open">
): ReadonlyArray<Approval.ApprovalRequest> =>
  open.filter(({ approvalId, interaction }) => interaction !== "nested" && !answered.includes(approvalId))

/** Of those, what can still be answered: the time of the others is over, and the next turn says what becomes of them. */
export const answerable = (
  kept: Pick<ConversationStore.Kept, "answered" | "open">
): Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>> =>
  Effect.map(Clock.currentTimeMillis, (now) => pendingOf(kept).filter((request) => !isOver(request, now)))

const isOver = ({ expiresAt = Infinity }: Approval.ApprovalRequest, now: number): boolean => expiresAt <= now

/** Answers that stand in the history from here on. */
export const answering = (
  turn: ConversationTurn.Turn,
  answers: ReadonlyArray<Approval.ApprovalAnswer>,
  decidedBy?: Approver.DecidedBy,
  isAmongOthers = false,
  written?: Naming.Written
): void => {
  if (decidedBy !== undefined) {
    return answeringAs(turn, answers.map((answer) => ({ answer, decidedBy })), isAmongOthers)
  }
  ConversationTurn.say(turn, Naming.answering(Prompts.approvalResponses(answers), written))
  turn.answered = [...turn.answered, ...answers.map(({ approvalId }) => approvalId)]
}

/** The same, where each has somebody who gave it. */
const answeringAs = (turn: ConversationTurn.Turn, decided: ReadonlyArray<Decided>, isAmongOthers: boolean): void => {
  const before = turn.history
  const ids = decided.map(({ answer: { approvalId } }) => approvalId)
  ConversationTurn.say(turn, Prompts.approvalResponses(decided.map(({ answer }) => answer)))
  turn.answered = [...turn.answered, ...ids]
  if (ids.length === 0) return
  turn.deciders = {
    ...turn.deciders,
    ...Object.fromEntries(decided.map(({ answer: { approvalId }, decidedBy }) => [approvalId, decidedBy]))
  }
  turn.decided = { before, ids, refusals: [], isAmongOthers }
}

/** Whether anything has come that is waited for: to take a turn for nothing could call the model for nothing. */
export const hasNews = Effect.fnUntraced(function*(
  { answered, isAgent, open }: Pick<ConversationTurn.Turn, "answered" | "open"> & { readonly isAgent?: boolean }
): Effect.fn.Return<boolean, ApprovalError.ApprovalError> {
  if (answered.length > 0) return true
  const suspensions = yield* SuspensionStore.SuspensionStore
  const now = yield* Clock.currentTimeMillis
  for (const request of open) {
    const { approvalId, awaited, expiresAt = Number.POSITIVE_INFINITY } = request
    if (expiresAt <= now || (awaited?.dueAt ?? Number.POSITIVE_INFINITY) <= now) return true
    if (awaited === undefined) {
      // Taken back from outside.
      if (isAgent === true && (yield* entryOf(request)).state !== "pending") return true
      continue
    }
    const found = yield* suspensions.find(approvalId)
    if (found?.status !== "open" || found.delivered !== undefined) return true
    const { began } = found.suspension
    if (awaited.kind === "nested" && began !== undefined && (yield* suspensions.agents(began)).hasNews) return true
  }
  return false
})

/** An answer, and whose it is. */
export interface Decided {
  readonly answer: Approval.ApprovalAnswer
  readonly decidedBy: Approver.DecidedBy
}

/** What somebody says of a request that is open. */
interface Said extends Decided {
  readonly request: Approval.ApprovalRequest
}

/**
 * Fails where nothing of it has an effect, and nothing else is said in the turn (`isBeside`); false where everything that was
 * said leaves its request open.
 */
export const decide = (
  turn: ConversationTurn.Turn,
  toolkit: AnyToolkit,
  { answers, refused }: Posted.Answers,
  by: Approver.Person | undefined,
  isBeside: boolean
): Effect.Effect<boolean, ApprovalError.ApprovalError | ConversationStore.ConversationError> => {
  const decidedBy = decidedByOf(by)
  return decideEach(turn, toolkit, answers.map((answer) => ({ answer, decidedBy })), refused, isBeside)
}

export const decideEach = Effect.fnUntraced(function*(
  turn: ConversationTurn.Turn,
  toolkit: AnyToolkit,
  decided: ReadonlyArray<Decided>,
  refused: Posted.Answers["refused"],
  isBeside: boolean
): Effect.fn.Return<boolean, ApprovalError.ApprovalError | ConversationStore.ConversationError> {
  const now = yield* Clock.currentTimeMillis
  turn.refused = refused
  const all: Array<Said> = []
  let hasExpired = false
  for (const { answer, decidedBy } of decided) {
    const looked = yield* Effect.result(look(turn, toolkit, answer, decidedBy))
    if (Result.isFailure(looked)) refuse(turn, answer, looked.failure)
    else if (isLate(looked.success, now)) {
      // Its turn ends it.
      refuse(turn, answer, expired(looked.success.request))
      hasExpired = true
    } else all.push(looked.success)
  }
  turn.isEnding = !isBeside && all.every(({ answer: { decision } }) => decision._tag !== "Approved")
  const said: Array<Decided> = []
  let isNoted = false
  let isDelivered = false
  for (const { answer, decidedBy, request } of all) {
    const { approvalId, decision } = answer
    if (decision._tag === "Info") {
      turn.open = turn.open.map((one) => one.approvalId === approvalId ? noted(one, decision.note) : one)
      isNoted = true
    } else if (decision._tag === "Approved" && !isPersonal(request)) {
      yield* turn.enter
      const given = yield* Effect.result(
        SuspensionStore.deliver(approvalId, decision.answer ?? null, { by: personOf(decidedBy), via: decidedBy.via })
      )
      if (Result.isFailure(given)) {
        refuse(turn, answer, given.failure)
      } else {
        turn.answered = [...turn.answered, approvalId]
        isDelivered = true
      }
    } else {
      said.push({ answer, decidedBy })
    }
  }
  const isAmongOthers = isBeside || isNoted || isDelivered || hasExpired
  const [first] = turn.refused
  if (first !== undefined && said.length === 0 && !isAmongOthers) return yield* first.error
  answeringAs(turn, said, isAmongOthers)
  return said.length > 0 || isDelivered || hasExpired
})

export const refuse = (
  turn: ConversationTurn.Turn,
  { approvalId }: { readonly approvalId: string },
  error: ApprovalError.ApprovalError
): void => {
  turn.refused = [...turn.refused, { approvalId, error }]
}

// Whether it can have an effect, as far as that is known before its turn is taken.
const look = Effect.fnUntraced(function*(
  turn: ConversationTurn.Turn,
  toolkit: AnyToolkit,
  answer: Approval.ApprovalAnswer,
  decidedBy: Approver.DecidedBy
): Effect.fn.Return<Said, ApprovalError.ApprovalError> {
  const { approvalId, decision } = answer
  const request = Open.find(turn.open, approvalId)
  if (request === undefined) return yield* notOpen(turn, approvalId)
  if (request.interaction === "nested") return yield* unknown(approvalId)
  if (decision._tag !== "Info") yield* checkApprover(request, decidedBy)
  if (decision._tag === "Approved") yield* checkAnswer(toolkit, request, decision.answer)
  return { answer, decidedBy, request }
})

// A "no" to what did not begin ends it as well as any; to what a tool waits for, it is an answer.
export const isLate = ({ answer: { decision }, request }: Said, now: number): boolean =>
  isOver(request, now) &&
  (decision._tag === "Approved" || (decision._tag === "Denied" && request.awaited !== undefined))

export const expired = ({ approvalId, expiresAt }: Approval.ApprovalRequest): ApprovalError.ApprovalError =>
  ApprovalError.make(new ApprovalError.Expired({ approvalId, expiredAt: expiresAt! }))

/** What the engine says of answers of this turn that have no effect: of those that were given in it, once each. */
export const refusing = (turn: ConversationTurn.Turn): Trust.Refused => (approvalId, reason) => {
  const { decided } = turn
  if (decided === undefined || !decided.ids.includes(approvalId)) return
  // Older answers of the history are of nobody known, and refused as well.
  if (reason._tag === "NotAnApprover" && reason.decidedBy.id !== turn.deciders[approvalId]?.id) return
  if (decided.refusals.some((one) => one.approvalId === approvalId)) return
  const error = ApprovalError.make(reason)
  decided.refusals.push({ approvalId, error })
  refuse(turn, { approvalId }, error)
}

/**
 * What was decided and has settled nothing is taken out of the history again: it was refused, or is kept in the journal until
 * others have decided too. Where nobody who may decide did, that is what the turn fails with.
 */
export const settle = Effect.fnUntraced(function*(
  turn: ConversationTurn.Turn,
  said: ReadonlyArray<Response.AnyPart>
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const { decided } = turn
  turn.decided = undefined
  if (decided === undefined) return
  const { before, ids, isAmongOthers, refusals } = decided
  const isDecided = new Set(ids)
  const isRefused = new Set(refusals.map(({ approvalId }) => approvalId))
  const idle = yield* Effect.filter(
    turn.open.filter(({ approvalId }) => isDecided.has(approvalId)),
    (request) =>
      isRefused.has(request.approvalId)
        ? Effect.succeed(true)
        : isKept(request, turn.deciders[request.approvalId])
  )
  const taken = new Set(idle.map(({ approvalId }) => approvalId))
  if (taken.size > 0) {
    const isAll = turn.beside === undefined && taken.size === ids.length &&
      said.every(({ type }) => nothingNew.has(type))
    turn.history = before !== undefined && isAll ? before : withoutAnswers(turn.history, taken)
    turn.answered = turn.answered.filter((id) => !taken.has(id))
    turn.deciders = Object.fromEntries(Object.entries(turn.deciders).filter(([id]) => !taken.has(id)))
  }
  const [refusal] = refusals
  const ofNobody = refusals.filter(({ error }) => error.reason._tag === "NotAnApprover")
  const isNobodys = new Set(ofNobody.map(({ approvalId }) => approvalId)).size === isDecided.size
  if (before !== undefined && refusal !== undefined && isNobodys && !isAmongOthers) return yield* refusal.error
})

/** The parts of a step that did nothing. */
const nothingNew: ReadonlySet<string> = new Set(["tool-approval-request", "finish", "response-metadata"])

// One that cannot be looked up stands in the history, where it does no harm.
const entryOf = Effect.fnUntraced(function*(
  request: Approval.ApprovalRequest
): Effect.fn.Return<Pick<ApprovalJournal.Entry, "state" | "approvals">> {
  const sealed = (yield* ApprovalSeal.ApprovalSeal).parse(request.approvalId)
  if (Result.isFailure(sealed)) return { state: "pending" }
  const journal = yield* ApprovalJournal.ApprovalJournal
  const entry = yield* Effect.orElseSucceed(
    journal.find(Request.claimOf(sealed.success, request)),
    () => undefined
  )
  return entry ?? { state: "pending" }
})

const isKept = Effect.fnUntraced(function*(
  request: Approval.ApprovalRequest,
  by: Approver.DecidedBy | undefined
): Effect.fn.Return<boolean> {
  if (by?.id === undefined) return false
  const entry = yield* entryOf(request)
  return entry.state === "pending" && (entry.approvals ?? []).some(({ decidedBy }) => decidedBy.id === by.id)
})

// What was said since stays where it is, which is what it is known by; and what somebody has named stays known.
const withoutAnswers = (history: Prompt.Prompt, ids: ReadonlySet<string>): Prompt.Prompt => {
  const messages = history.content.map((message): Prompt.Message => {
    if (message.role !== "tool") return message
    const content = message.content.filter((part) =>
      part.type !== "tool-approval-response" || !ids.has(part.approvalId)
    )
    return content.length === message.content.length ? message : Prompt.makeMessage("tool", { ...message, content })
  })
  const end = messages.findLastIndex((message) =>
    message.role !== "tool" || message.content.length > 0 || Naming.isNamed(message)
  )
  return Prompt.fromMessages(messages.slice(0, end + 1))
}

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
): Effect.fn.Return<boolean, ApprovalError.ApprovalError | ConversationStore.ConversationError> {
  const waiting = turn.open.filter((one) =>
    one.toolName === tool.name && one.awaited?.name === interaction &&
    (request === undefined || request.approvalId === one.approvalId)
  )
  const [only] = waiting
  if (only === undefined || waiting.length > 1) {
    if (request !== undefined) return yield* unknown(request.approvalId)
    const description = notWaiting(tool, interaction, turn.open, waiting.length)
    return yield* ApprovalError.make(
      new ApprovalError.UnknownApproval({ approvalId: `${tool.name}.${interaction}`, description })
    )
  }
  const decidedBy = decidedByOf(by)
  const { approvalId, expiresAt = Infinity } = only
  if (isOver(only, yield* Clock.currentTimeMillis)) {
    return yield* ApprovalError.make(new ApprovalError.Expired({ approvalId, expiredAt: expiresAt }))
  }
  yield* checkApprover(only, decidedBy)
  // What several people have to answer is kept for each of them, and in the store there is place for one answer.
  if (Approver.lists(only.awaited?.approvers).length > 1 && isPersonal(only)) {
    answering(turn, [yield* asAnswer(tool.interactions[interaction]!, only, answer)], decidedBy)
    return true
  }
  yield* turn.enter
  yield* DeferredTool.deliver(tool, interaction, only, answer, { by, via })
  turn.answered = [...turn.answered, only.approvalId]
  return true
})

const notWaiting = (
  tool: DeferredTool.Any,
  interaction: string,
  open: ReadonlyArray<Approval.ApprovalRequest>,
  count: number
): string => {
  const what = `${Text.quote(interaction)} of ${Text.quote(tool.name)}`
  if (count > 1) return `${count} calls wait for ${what}. Say which one: pass its request as \`request\`.`
  const names = open.flatMap(({ awaited, toolName }) =>
    awaited === undefined ? [] : [`${Text.quote(awaited.name)} of ${Text.quote(toolName)}`]
  )
  return `Nothing waits for ${what} in this conversation. ${
    names.length === 0
      ? "No tool waits here."
      : `What waits here: ${Text.truncate([...new Set(names)].join(", "), 300)}.`
  }`
}

const asAnswer = Effect.fnUntraced(function*<I extends Interaction.Any>(
  interaction: I,
  request: Approval.ApprovalRequest,
  answer: Interaction.Answer<I>
): Effect.fn.Return<Approval.ApprovalAnswer, ApprovalError.ApprovalError> {
  const { approvalId } = request
  const json = yield* Effect.flatMap(
    Interactions.encodeAnswer(interaction, answer),
    (json) => Effect.as(Interactions.decodeAnswer(interaction, request.awaited!, json), json)
  ).pipe(
    Effect.mapError((description) => ApprovalError.make(new ApprovalError.InvalidAnswer({ approvalId, description })))
  )
  return Approval.answer(request, json)
})

// Before anything counts. The engine has the last word, and knows better why somebody may not who has approved it already.
export const checkApprover = Effect.fnUntraced(function*(
  request: Approval.ApprovalRequest,
  decidedBy: Approver.DecidedBy
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const { approvalId } = request
  const approvers = Approver.lists(request.approvers)
  const { id } = decidedBy
  if (approvers.length === 0 || approvers.some((ids) => id !== undefined && ids.includes(id))) return
  if (isPersonal(request) && (yield* isKept(request, decidedBy))) return
  const problem = id === undefined ? "unknown" : "not named"
  return yield* ApprovalError.make(new ApprovalError.NotAnApprover({ approvalId, approvers, decidedBy, problem }))
})

// Refused here, where who answers can be told: what was given to a store, or stands in a history, cannot be taken back.
export const checkAnswer = (
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

const notOpen = Effect.fnUntraced(function*({ history }: ConversationTurn.Turn, approvalId: string) {
  const known = Transcript.requestOf(Transcript.readWhole(history.content), approvalId)
  if (known === undefined) return yield* unknown(approvalId)
  const { toolCall } = known
  const ended = toolCall === undefined
    ? undefined
    : yield* Clearing.endedAs({ approvalId, toolCallId: toolCall.id, toolName: toolCall.name })
  const state = ended ?? Ending.stateOf(known)
  return yield* ApprovalError.make(new ApprovalError.AlreadyDecided({ approvalId, state }))
})

const noted = (request: Approval.ApprovalRequest, note: string): Approval.ApprovalRequest =>
  new Approval.ApprovalRequest({ ...request, reason: Text.escape(note, { maxLength: 1_000 }) })
