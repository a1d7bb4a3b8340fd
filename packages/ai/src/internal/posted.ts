/**
 * Answers and decisions as people post them: values of our own, or plain JSON. What cannot be read is no answer, and never
 * a yes (law L1).
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../Approval.ts"
import * as ApprovalError from "../ApprovalError.ts"
import * as Answering from "./answering.ts"
import * as Bounds from "./bounds.ts"
import * as Denial from "./denial.ts"
import { definedFields } from "./fields.ts"
import * as Text from "./text.ts"

type Read<A> = Result.Result<A, string>

const decodeDecision = Schema.decodeUnknownResult(Approval.ApprovalDecision)

const isDecision = Schema.is(Approval.ApprovalDecision)

/** A decision; the failure is a sentence that says what is wrong with it. */
export const decision = (posted: unknown): Read<Approval.ApprovalDecision> => {
  const excess = outOfBounds(posted)
  if (excess !== undefined) return Result.fail(excess)
  if (isDecision(posted)) return Result.succeed(posted)
  if (!Predicate.isObject(posted)) {
    const found = Answering.shown(posted)
    return Result.fail(`it has no decision: in its place is ${found}, not an object such as { _tag: "Approved" }.`)
  }
  const { _tag: tag } = posted as { readonly _tag?: unknown }
  if (tag !== "Approved" && tag !== "Denied" && tag !== "Info") {
    return Result.fail("the `_tag` of its decision is not \"Approved\", \"Denied\" or \"Info\".")
  }
  // What JavaScript leaves out is `undefined`, which JSON leaves out.
  const said = tag === "Denied" ? posted : withNote(posted)
  return Result.mapError(decodeDecision(definedFields(said)), ({ message }) => `its decision does not fit: ${message}.`)
}

// Before anything reads it (law L17): each of the values that it may carry.
const outOfBounds = (posted: unknown): string | undefined => {
  if (typeof posted !== "object" || posted === null) return undefined
  for (const field of ["params", "answer", "remember", "note", "reason"] as const) {
    const said = Result.try(() => (posted as { readonly [field]?: unknown })[field])
    if (Result.isFailure(said)) return `its ${field} cannot be read.`
    const excess = Bounds.check(said.success, Bounds.answer)
    if (excess !== undefined) {
      return `its ${field} ${field === "params" ? "are" : "is"} ${Bounds.describe(excess, Bounds.answer)}.`
    }
  }
  return undefined
}

// Upstream's answers have a reason beside a yes, too.
const withNote = (posted: { readonly note?: unknown; readonly reason?: unknown }): object => {
  const { note, reason } = posted
  return typeof reason === "string" && (typeof note === "string" || note === undefined)
    ? { ...posted, note: Denial.oneReason(note, reason) }
    : posted
}

/** Whether it says which request it answers. */
export const isAnswer = (posted: unknown): posted is { readonly approvalId: unknown } =>
  Predicate.hasProperty(posted, "approvalId")

/** An answer, by its decision or by upstream's `approved`; both have to say the same. */
export const answer = (posted: unknown): Result.Result<Approval.ApprovalAnswer, ApprovalError.ApprovalError> => {
  if (posted instanceof Approval.ApprovalAnswer) {
    const excess = outOfBounds(posted.decision)
    return excess === undefined ? Result.succeed(posted) : invalid(posted.approvalId, excess)
  }
  if (!isAnswer(posted) || typeof posted.approvalId !== "string") {
    return invalid(
      "",
      `it does not say which request it answers, in \`approvalId\`: it is ${Answering.shown(posted)}. Post` +
        " { approvalId: request.approvalId, approved: true }."
    )
  }
  const { approvalId } = posted
  const read = decisionIn(posted)
  return Result.isSuccess(read)
    ? Result.succeed(new Approval.ApprovalAnswer({ approvalId, decision: read.success }))
    : invalid(approvalId, read.failure)
}

/**
 * An answer that has no effect at all, and why: it answers what is not open any more or was never asked, it came too late, or
 * from somebody who may not decide, or it does not fit.
 *
 * @category models
 * @since 0.1.0
 */
export interface RefusedAnswer {
  readonly approvalId: string
  readonly error: ApprovalError.ApprovalError
}

/** Answers as they could be read, and those that could not. */
export interface Answers {
  readonly answers: ReadonlyArray<Approval.ApprovalAnswer>
  readonly refused: ReadonlyArray<RefusedAnswer>
}

/** Answers, or one alone; fails for one that does not even say what it answers. */
export const each = (posted: unknown): Result.Result<Answers, ApprovalError.ApprovalError> => {
  const read: Array<Approval.ApprovalAnswer> = []
  const refused: Array<RefusedAnswer> = []
  for (const one of Array.isArray(posted) ? posted : [posted]) {
    const found = answer(one)
    if (Result.isSuccess(found)) read.push(found.success)
    else if (isAnswer(one) && typeof one.approvalId === "string") {
      refused.push({ approvalId: one.approvalId, error: found.failure })
    } else return Result.fail(found.failure)
  }
  return Result.succeed({ answers: read, refused })
}

/** The same, where one that does not say what it answers stands in nobody's way: it is refused, under no id. */
export const readable = (posted: unknown): Answers => {
  const read: Array<Approval.ApprovalAnswer> = []
  const refused: Array<RefusedAnswer> = []
  for (const one of Array.isArray(posted) ? posted : [posted]) {
    const found = answer(one)
    if (Result.isSuccess(found)) read.push(found.success)
    else refused.push({ approvalId: idOf(one), error: found.failure })
  }
  return { answers: read, refused }
}

const idOf = (posted: unknown): string =>
  isAnswer(posted) && typeof posted.approvalId === "string" ? posted.approvalId : ""

/** Answers, or one alone; all of them can be read, or none is taken. */
export const answers = (
  posted: unknown
): Result.Result<ReadonlyArray<Approval.ApprovalAnswer>, ApprovalError.ApprovalError> => {
  const read: Array<Approval.ApprovalAnswer> = []
  for (const one of Array.isArray(posted) ? posted : [posted]) {
    const found = answer(one)
    if (Result.isFailure(found)) return Result.fail(found.failure)
    read.push(found.success)
  }
  return Result.succeed(read)
}

// A part of upstream's carries what is ours in its options.
const decisionIn = (posted: object): Read<Approval.ApprovalDecision> => {
  const { approved, decision: decided, options, ...said } = posted as Record<string, unknown>
  if (approved !== undefined && typeof approved !== "boolean") {
    return Result.fail("its `approved` is not true or false.")
  }
  if (decided === undefined && approved === undefined) {
    return Result.fail(`it has no decision: it is ${Answering.shown(posted)}. Post { approvalId, approved: true }.`)
  }
  const read = decided !== undefined ? decision(decided) : decision({
    ...said,
    ...assentOf(options),
    _tag: approved === true ? "Approved" : "Denied"
  })
  return Result.isSuccess(read) && approved !== undefined && approved !== (read.success._tag === "Approved")
    ? Result.fail("its `approved` and its decision contradict each other.")
    : read
}

const assentOf = (options: unknown): object | undefined =>
  Predicate.hasProperty(options, "assent") && Predicate.isObject(options.assent) ? options.assent : undefined

const invalid = (approvalId: string, description: string) =>
  Result.fail(ApprovalError.make(
    new ApprovalError.InvalidAnswer({
      approvalId: approvalId.slice(0, 64),
      description: Text.escape(description, { maxLength: 1_000, multiline: true })
    })
  ))
