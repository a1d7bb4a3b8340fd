/** What is decided in one post, and what becomes of each answer: none of them ever voids another. */
import { Approval, Interaction } from "@assent/ai"
import type { ApprovalError, Approver } from "@assent/ai"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Fates from "../wire/fates.ts"
import * as Sentences from "../wire/sentences.ts"
import type { Answers } from "./body.ts"
import type { Conversation, Outcome, Turn } from "./conversation.ts"
import * as Errors from "./errors.ts"
import * as Failures from "./failures.ts"
import type { Fate } from "./model.ts"

// =============================================================================
// Answers
// =============================================================================

/** What is given to the conversation, and what is refused before. */
export interface Sorted {
  /** The ids that were posted, each once, in their order. */
  readonly ids: ReadonlyArray<string>
  readonly answers: Answers
  readonly refused: Map<string, ApprovalError.ApprovalError | Errors.OfAnswer>
}

/** Of two answers to one request the one that says no counts (law L3), and nobody answers for a webhook, or a timer. */
export const sort = (posted: Answers, pending: ReadonlyArray<Approval.ApprovalRequest>): Sorted => {
  const byId = new Map<string, Answers[number]>()
  for (const answer of posted) {
    const before = byId.get(answer.approvalId)
    if (before === undefined || (isYes(before) && !isYes(answer))) byId.set(answer.approvalId, answer)
  }
  const refused: Sorted["refused"] = new Map()
  const answers: Array<Answers[number]> = []
  for (const [approvalId, answer] of byId) {
    const request = pending.find((request) => request.approvalId === approvalId)
    if (request === undefined || isForPeople(request) || !isYes(answer)) answers.push(answer)
    else refused.set(approvalId, new Errors.Unprocessable({ approvalId, message: Sentences.notForPeople }))
  }
  return { ids: Array.from(byId.keys()), answers, refused }
}

// As it is read: what is no "no" may be a "yes".
const isYes = (answer: Answers[number]): boolean =>
  "approved" in answer
    ? answer.approved !== false
    : !Predicate.hasProperty(answer.decision, "_tag") || answer.decision._tag === "Approved"

const isKind = Schema.is(Approval.InteractionKind)

const isForPeople = ({ interaction }: Approval.ApprovalRequest): boolean =>
  !isKind(interaction) || Interaction.isForPeople(interaction)

// =============================================================================
// Fates
// =============================================================================

/** What became of each answer, as far as it has come. */
export const fates = (
  conversation: Conversation,
  { ids, refused }: Pick<Sorted, "ids" | "refused">
): Effect.Effect<ReadonlyArray<Fate>, unknown> =>
  Effect.forEach(ids, (approvalId) =>
    Effect.map(conversation.stateOf(approvalId), (found): Fate => {
      const error = refused.get(approvalId)
      // What settles a request may be the end of its time.
      const refusal = error === undefined ? Failures.ofState(approvalId, found) : refusalOf(approvalId, error, found)
      return {
        approvalId,
        ...(found === undefined ? undefined : { state: found.state, ...Failures.known(found) }),
        ...(refusal === undefined ? undefined : { refused: refusal })
      }
    }))

const refusalOf = (
  approvalId: string,
  error: ApprovalError.ApprovalError | Errors.OfAnswer,
  found: Parameters<typeof Failures.ofAnswer>[2]
): Errors.OfAnswer =>
  error._tag === "ApprovalError"
    ? Failures.ofAnswer(approvalId, error, found) ??
      new Errors.Unprocessable({ approvalId, message: Sentences.ofApproval(error) })
    : error

export const refuseAll = (refused: Sorted["refused"], outcome: Outcome): void => {
  for (const { approvalId, error } of outcome.refused) refused.set(approvalId, error)
}

// =============================================================================
// Deciding
// =============================================================================

export interface Decided {
  readonly fates: ReadonlyArray<Fate>
  readonly isRunning: boolean
  readonly turnFailed: string | undefined
}

export interface Options {
  readonly by: Approver.Person | undefined
  /** How long what was approved is waited for. */
  readonly patience: Duration.Duration
}

/** Decides, and waits until what was answered is settled: not for the model, and not for ever. */
export const decide = Effect.fnUntraced(function*(
  conversation: Conversation,
  posted: Answers,
  options: Options
): Effect.fn.Return<Decided, unknown> {
  const sorted = sort(posted, yield* conversation.pending())
  const ended = yield* takeTurn(conversation, sorted, options)
  const became = yield* fates(conversation, sorted)
  return {
    fates: became,
    isRunning: ended === "going on" &&
      became.some(({ refused, state }) => refused === undefined && (state === "answered" || state === "running")),
    turnFailed: Cause.isCause(ended) ? Sentences.ofCause(ended) : undefined
  }
})

/** How its turn ended, if it did not end well. */
type Ended = Cause.Cause<unknown> | "going on" | undefined

const takeTurn = (
  conversation: Conversation,
  { answers, refused }: Sorted,
  options: Options
): Effect.Effect<Ended, unknown> =>
  Effect.gen(function*() {
    if (answers.length === 0) return undefined
    const begun = yield* Effect.result(conversation.start([], { answers, by: options.by }))
    if (Result.isSuccess(begun)) return yield* follow(begun.success, answers, refused, options)
    const error = Failures.approvalOf(begun.failure)
    if (error === undefined || !isOfAnswer(error)) return yield* Effect.fail(begun.failure)
    const [only, ...others] = answers
    if (others.length === 0) {
      refused.set(only!.approvalId, error)
      return undefined
    }
    // None of them counts, and which error is whose, each of them says.
    let last: Ended
    for (const answer of answers) {
      last = (yield* takeTurn(conversation, { ids: [], answers: [answer], refused }, options)) ?? last
    }
    return last
  })

const isOfAnswer = (error: ApprovalError.ApprovalError): boolean =>
  Failures.ofAnswer("", error, undefined) !== undefined

const follow = Effect.fnUntraced(function*(
  { outcome, parts }: Turn,
  answers: Answers,
  refused: Sorted["refused"],
  { patience }: Options
): Effect.fn.Return<Ended> {
  const waiting = new Set(answers.map(({ approvalId }) => approvalId))
  const settled = Stream.runForEachWhile(parts, (part) =>
    Effect.sync(() => {
      if (part.type === "tool-result" && !part.preliminary) {
        const approvalId = Fates.approvalIdOf({ assent: part.metadata.assent })
        if (approvalId !== undefined) waiting.delete(approvalId)
      }
      return waiting.size > 0
    }))
  const watched = yield* Effect.timeoutOption(Effect.exit(settled), patience)
  if (Option.isNone(watched)) return "going on"
  if (Exit.isSuccess(watched.value) && waiting.size === 0) return undefined
  const ended = yield* Effect.exit(outcome)
  if (Exit.isSuccess(ended)) {
    refuseAll(refused, ended.value)
    return undefined
  }
  const error = Failures.approvalOf(Option.getOrUndefined(Cause.findErrorOption(ended.cause)))
  // A turn fails of what was answered where nobody who may decide did.
  if (error === undefined || !isOfAnswer(error)) return ended.cause
  for (const { approvalId } of answers) refused.set(approvalId, error)
  return undefined
})
