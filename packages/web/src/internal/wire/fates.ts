/** What is known of a call beside its result: which request it was, who decided, what was changed. */
import { Approver } from "@assent/ai"
import type { Conversation } from "@assent/ai"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Call } from "./calls.ts"
import type { Fate, FateChunk, FatePart } from "./model.ts"
import * as Sentences from "./sentences.ts"

/** The result of a call, of a response or of a history. */
export interface Outcome {
  readonly id: string
  readonly name: string
  readonly isFailure: boolean
  /** As it is written for the model. */
  readonly result: unknown
  readonly assent: unknown
}

const decodeDecidedBy = Schema.decodeUnknownOption(Approver.DecidedBy)

const encodeDecidedBy = Schema.encodeSync(Approver.DecidedBy)

const decodeEdits = Schema.decodeUnknownOption(Schema.Struct({ edits: Schema.Json }))

export const approvalIdOf = ({ assent }: Pick<Outcome, "assent">): string | undefined =>
  Predicate.hasProperty(assent, "approvalId") && typeof assent.approvalId === "string" ? assent.approvalId : undefined

/** Whether it is the result of a call of an earlier message, whose id may be used again. */
export const isEarlier = ({ assent }: Pick<Outcome, "assent">): boolean => Predicate.hasProperty(assent, "earlier")

/** Whether nobody knows what a call did that had begun. */
const isUnsure = ({ assent, isFailure }: Outcome): boolean => isFailure && Predicate.hasProperty(assent, "unknown")

/** A call that a policy blocks has failed: nobody was asked, so that nobody denied it. */
export const stateOf = (outcome: Outcome): "done" | "denied" | "failed" =>
  !outcome.isFailure
    ? "done"
    : Sentences.isDenial(outcome.result) && approvalIdOf(outcome) !== undefined
    ? "denied"
    : "failed"

/** What became of a call, where more is known of it than its result. */
export const of = (outcome: Outcome, call: Pick<Call, "wireId"> | undefined): Fate | undefined => {
  const approvalId = approvalIdOf(outcome)
  const { assent } = outcome
  const decidedBy = Option.flatMap(
    Option.filter(Option.some(assent), Predicate.hasProperty("decidedBy")),
    (assent) => decodeDecidedBy(assent.decidedBy)
  )
  if (approvalId === undefined && Option.isNone(decidedBy)) return undefined
  const edits = decodeEdits(assent)
  return {
    ...(approvalId === undefined ? undefined : { approvalId }),
    toolCallId: call?.wireId ?? outcome.id,
    toolName: outcome.name,
    state: isUnsure(outcome) ? "unknown" : stateOf(outcome),
    ...(outcome.isFailure ? { reason: Sentences.ofResult(outcome.name, outcome.result) } : undefined),
    ...(Option.isNone(decidedBy) ? undefined : { decidedBy: encodeDecidedBy(decidedBy.value) }),
    ...(Option.isNone(edits) ? undefined : { edits: edits.value.edits })
  }
}

/** The same where the history has no result. */
export const ofState = (
  approvalId: string,
  { decidedBy, reason, result, state }: Conversation.RequestState,
  { name, wireId }: Pick<Call, "name" | "wireId">
): Fate => {
  const told = reason ?? (state === "done" ? undefined : Sentences.ofResult(name, result))
  return {
    approvalId,
    toolCallId: wireId,
    toolName: name,
    state: state === "done" || state === "denied" || state === "unknown" ? state : "failed",
    ...(told === undefined ? undefined : { reason: told }),
    ...(decidedBy === undefined ? undefined : { decidedBy: encodeDecidedBy(decidedBy) })
  }
}

/** One of each call stands in a message: what is known later takes its place. */
export const part = (fate: Fate): FatePart => ({ type: "data-approval", id: fate.toolCallId, data: fate })

/** For the page alone. */
export const passing = (fate: Fate): FateChunk => ({ ...part(fate), transient: true })
