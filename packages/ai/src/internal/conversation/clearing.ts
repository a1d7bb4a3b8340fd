/**
 * What waits is taken back. Each request ends in the journal, by one compare and set, as cancelled: nobody said no, so
 * nothing is remembered and no tool goes on with it. What the model is told of it, the next turn reads there (law L2).
 */
import * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalJournal from "../../ApprovalJournal.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import * as SuspensionStore from "../../SuspensionStore.ts"
import * as Words from "../decide/words.ts"
import * as Trust from "../environment/trust.ts"
import * as Request from "../gather/request.ts"
import * as Suspension from "../gather/suspension.ts"
import * as Wait from "../gather/wait.ts"
import * as Listed from "../held/listed.ts"
import * as ConversationTurn from "../held/turn.ts"
import * as Transcript from "../history/transcript.ts"
import * as ApprovalId from "../seal/approvalId.ts"
import * as Text from "../text.ts"
import type { ClearOptions } from "./model.ts"
import * as TakenBack from "./takenBack.ts"

/** Takes back what the options name, and gives those that were taken back. */
export const clear = Effect.fnUntraced(function*(
  place: ConversationTurn.Place,
  turn: ConversationTurn.Turn,
  waiting: ReadonlyArray<Approval.ApprovalRequest>,
  options: ClearOptions
): Effect.fn.Return<
  ReadonlyArray<Approval.ApprovalRequest>,
  ApprovalError.ApprovalError | ConversationStore.ConversationError
> {
  const cleared: Array<Approval.ApprovalRequest> = []
  const named = waiting.filter((request) => isNamed(request, options))
  turn.isEnding = true
  if (named.length > 0) yield* turn.enter
  for (const request of named) {
    // What was decided elsewhere meanwhile is not taken back: its turn will say what became of it.
    if (!(yield* takeBack(turn, request, options.reason))) continue
    turn.open = turn.open.filter((one) => one !== request)
    cleared.push(request)
  }
  const agents = turn.open.filter(({ interaction }) => interaction === "nested")
  if (agents.length === 0) return cleared
  const asked = yield* Listed.nested(place)
  for (const agent of agents) {
    const within = asked.filter(({ toolCallId }) => toolCallId.startsWith(`${agent.toolCallId}/`))
    const those = within.filter((request) => isNamed(request, options))
    if (those.length === 0) continue
    yield* turn.enter
    // With all that is asked within it, the call of the agent is taken back.
    if (those.length === within.length) {
      if (!(yield* takeBack(turn, agent, options.reason))) continue
      turn.open = turn.open.filter((one) => one !== agent)
      cleared.push(...those)
      continue
    }
    for (const request of those) if (yield* takeBack(turn, request, options.reason)) cleared.push(request)
  }
  return cleared
})

/**
 * Ends whatever is open, answered or not: what was answered and has not begun does not begin any more. What runs was
 * stopped; what became of it is what the journal says.
 */
export const cancel = Effect.fnUntraced(function*(
  turn: ConversationTurn.Turn,
  reason: string | undefined
): Effect.fn.Return<void, ApprovalError.ApprovalError | ConversationStore.ConversationError> {
  turn.isEnding = true
  if (turn.open.length > 0) yield* turn.enter
  const { answered, open } = turn
  const journal = yield* ApprovalJournal.ApprovalJournal
  turn.deciders = {}
  turn.answered = []
  for (const request of open) {
    // By a journal that does not know in which turn it runs.
    yield* journal.interrupt(request.approvalId)
    yield* takeBack(turn, request, reason, answered.includes(request.approvalId) ? "answered" : "open")
    turn.open = turn.open.filter((one) => one !== request)
  }
  yield* untilStopped(turn, reason)
})

// What outlived its turn may run in another process, which sees a moment later that it is to stop. What began to wait in a
// turn that was stopped, or whose process died, before it could say so waits for nobody.
const untilStopped = Effect.fnUntraced(function*(
  turn: ConversationTurn.Turn,
  reason: string | undefined
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const journal = yield* ApprovalJournal.ApprovalJournal
  for (const { call, part: { approvalId } } of Transcript.readWhole(turn.history.content).allRequests) {
    const sealed = ApprovalId.parse(approvalId)
    if (call === undefined || call.result !== undefined || sealed === undefined) continue
    const claim = Request.claimOf({ ...sealed, approvalId }, Request.named(call.part))
    let entry = yield* journal.find(claim)
    if (entry?.state === "running") {
      // Who only joins begins nothing.
      yield* Effect.exit(journal.run(claim, { effect: Effect.never, idempotent: false, joinOnly: true }))
      entry = yield* journal.find(claim)
    }
    if (entry?.suspendedAs !== undefined) yield* takeBackUnsaid(turn, entry.suspendedAs, reason)
  }
})

// What has waited may have gone on, and wait for something else.
const takeBackUnsaid: (
  turn: ConversationTurn.Turn,
  approvalId: string,
  reason: string | undefined
) => Effect.Effect<void, ApprovalError.ApprovalError> = Effect.fnUntraced(function*(turn, approvalId, reason) {
  const sealed = ApprovalId.parse(approvalId)
  const found = yield* (yield* SuspensionStore.SuspensionStore).find(approvalId)
  if (sealed === undefined || found === undefined) return
  const request = Suspension.requestOf(undefined, found.suspension)
  const journal = yield* ApprovalJournal.ApprovalJournal
  const entry = yield* journal.find(Request.claimOf({ ...sealed, approvalId }, request))
  if (entry?.suspendedAs !== undefined) return yield* takeBackUnsaid(turn, entry.suspendedAs, reason)
  yield* takeBack(turn, request, reason, found.delivered === undefined ? "open" : "answered")
})

const isNamed = (
  { awaited, interaction: kindOf, toolName }: Approval.ApprovalRequest,
  { interaction, kind, tool }: ClearOptions
): boolean =>
  (tool === undefined || toolName === (typeof tool === "string" ? tool : tool.name)) &&
  (interaction === undefined || awaited?.name === interaction) &&
  (kind === undefined || kindOf === kind)

// What was delivered was accepted: it does not wait any more, though no turn has gone on with it yet.
const takeBack = Effect.fnUntraced(function*(
  turn: ConversationTurn.Turn,
  request: Approval.ApprovalRequest,
  why: string | undefined,
  mayBe: "undelivered" | "open" | "answered" = "undelivered"
): Effect.fn.Return<boolean, ApprovalError.ApprovalError> {
  const { approvalId } = request
  const sealed = ApprovalId.parse(approvalId)
  const reason = reasonOf(request, why, mayBe === "answered")
  // A provider that asks is told by an answer alone, and its request has no record here.
  if (request.providerExecuted || sealed === undefined) {
    ConversationTurn.say(turn, Prompt.fromMessages([TakenBack.answer(request, reason)]))
    turn.deciders = { ...turn.deciders, [approvalId]: Trust.cancellation }
    return true
  }
  const suspensions = yield* SuspensionStore.SuspensionStore
  const found = request.awaited === undefined ? undefined : yield* suspensions.find(approvalId)
  if (mayBe === "undelivered" && found?.delivered !== undefined) return false
  const journal = yield* ApprovalJournal.ApprovalJournal
  const within = request.interaction === "nested" ? found?.suspension.began : undefined
  const claim = { ...Request.claimOf({ ...sealed, approvalId }, request), within }
  const entry = yield* journal.end(claim, "cancelled", reason)
  if (entry.state !== "cancelled") return false
  if (request.awaited !== undefined) yield* Effect.ignore(suspensions.end(approvalId))
  return true
})

const maxReasonLength = 1_000

// Whoever reads it must not take what has begun for what has not (law L14).
const reasonOf = ({ awaited }: Approval.ApprovalRequest, why: string | undefined, isAnswered: boolean): string => {
  const said = why === undefined || why.trim() === ""
    ? undefined
    : Text.truncate(why.trim(), maxReasonLength).replace(/[.!?]?$/, (end) => end === "" ? "." : end)
  return awaited === undefined
    ? `Cancelled${
      said !== undefined ? `: ${said}` : isAnswered ? " before it began." : " before anyone answered."
    } Nothing ran; it may be asked again.`
    : `Cancelled while the tool waited for ${Words.awaited(awaited)}${
      said === undefined ? "." : `: ${said}`
    } It did not go on,` +
      " and what it did before it waited stands; it may be asked again."
}

/** Whether a request that a conversation asked came to its end without anybody's answer. */
export const endedAs = (
  request: Request.Named & { readonly approvalId: string }
): Effect.Effect<"cancelled" | "expired" | "superseded" | undefined, ApprovalError.ApprovalError> => {
  const sealed = ApprovalId.parse(request.approvalId)
  if (sealed === undefined) return Effect.undefined
  const claim = Request.claimOf({ ...sealed, approvalId: request.approvalId }, request)
  return Effect.map(
    Effect.result(Effect.flatMap(ApprovalJournal.ApprovalJournal, (journal) => journal.find(claim))),
    (found) => {
      const entry = Result.getOrUndefined(found)
      // A run that waited may have gone on then.
      if (entry?.state === "expired" || entry?.decidedBy?.via === Wait.byExpiry.via) return "expired"
      return entry?.state === "cancelled" || entry?.state === "superseded" ? entry.state : undefined
    }
  )
}
