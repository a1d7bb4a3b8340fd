/** What a request is answered with where it is not answered as it was meant: a status, and a sentence for people. */
import { Approver } from "@assent/ai"
import * as Schema from "effect/Schema"
import * as Decider from "../../Decider.ts"

const message = Schema.String.annotate({ description: "What happened and what to do, as a sentence for people." })

const approvalId = Schema.String.annotate({ description: "The id of the request." })

/**
 * No such request was ever asked in this conversation. Nothing ran.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownRequest extends Schema.TaggedError<UnknownRequest>()("UnknownRequest", { approvalId, message }, {
  httpApiStatus: 404,
  description: "No such request was ever asked in this conversation. Nothing ran."
}) {}

/**
 * The request was decided before, and the first decision stands: what was decided, by whom, and what became of it.
 *
 * @category errors
 * @since 0.1.0
 */
export class AlreadyDecided extends Schema.TaggedError<AlreadyDecided>()("AlreadyDecided", {
  approvalId,
  message,
  state: Schema.Literals(["answered", "running", "done", "failed", "denied", "unknown"]).annotate({
    description: "What was decided, and how far it has come."
  }),
  decidedBy: Schema.optionalKey(Approver.DecidedBy),
  reason: Schema.optionalKey(Schema.String),
  result: Schema.optionalKey(Schema.Json),
  isFailure: Schema.optionalKey(Schema.Boolean)
}, {
  httpApiStatus: 409,
  description: "The request was decided before, and the first decision stands: what was decided, and by whom."
}) {}

/**
 * The request cannot be answered any more: its time is over, something else was asked in its place, or it was cancelled.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoLongerOpen extends Schema.TaggedError<NoLongerOpen>()("NoLongerOpen", {
  approvalId,
  message,
  state: Schema.Literals(["expired", "superseded", "cancelled"])
}, {
  httpApiStatus: 410,
  description: "The request has expired, was superseded, or was cancelled. Nothing ran."
}) {}

/**
 * Whoever decided may not. The request stays open, for those who may.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotAnApprover extends Schema.TaggedError<NotAnApprover>()("NotAnApprover", { approvalId, message }, {
  httpApiStatus: 403,
  description: "Whoever decided may not. The request stays open, for those who may."
}) {}

/**
 * What was posted is no answer to what was asked, or cannot be read. Nothing ran.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unprocessable extends Schema.TaggedError<Unprocessable>()("Unprocessable", {
  message,
  approvalId: Schema.optionalKey(Schema.String),
  issues: Schema.optionalKey(
    Schema.Array(Schema.Struct({ path: Schema.Array(Schema.String), message: Schema.String })).annotate({
      description: "What is wrong, and where."
    })
  )
}, {
  httpApiStatus: 422,
  description: "What was posted is no answer to what was asked, or cannot be read. Nothing ran."
}) {}

/**
 * The conversation cannot go on now: a turn is being taken and did not end in time (`Busy`), it was cancelled, another
 * process went on with it, or it is full.
 *
 * @category errors
 * @since 0.1.0
 */
export class Conflict extends Schema.TaggedError<Conflict>()("Conflict", {
  reason: Schema.Literals(["Busy", "Cancelled", "Conflict", "Full"]),
  message
}, {
  httpApiStatus: 409,
  description: "The conversation cannot go on now: it is busy, was cancelled, or is full."
}) {}

/**
 * The body is larger than the routes take.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooLarge extends Schema.TaggedError<TooLarge>()("TooLarge", { message, maxBytes: Schema.Int }, {
  httpApiStatus: 413,
  description: "The body is too large."
}) {}

/**
 * The body does not say that it is JSON.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotJson extends Schema.TaggedError<NotJson>()("NotJson", { message }, {
  httpApiStatus: 415,
  description: "The body does not say that it is JSON (`content-type: application/json`)."
}) {}

/**
 * Whoever posts has posted too often. `retryAfter` is in seconds, as the header of this name.
 *
 * @category errors
 * @since 0.1.0
 */
export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("TooManyRequests", {
  message,
  retryAfter: Schema.Int.annotate({ description: "In seconds." })
}, {
  httpApiStatus: 429,
  description: "Whoever posts has posted too often."
}) {}

/**
 * Something went wrong on the server, which the server's log tells.
 *
 * @category errors
 * @since 0.1.0
 */
export class ServerFailed extends Schema.TaggedError<ServerFailed>()("ServerFailed", { message }, {
  httpApiStatus: 500,
  description: "Something went wrong on the server, whose log tells what."
}) {}

/**
 * What conversations are kept in cannot be reached. What was done is kept, and answers are still good: try again.
 *
 * @category errors
 * @since 0.1.0
 */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", { message }, {
  httpApiStatus: 503,
  description: "What conversations are kept in cannot be reached. Answers are still good: try again."
}) {}

/**
 * The turn did not come to its end, as the last event of its stream. Whatever it did before is in the history; a post that
 * says nothing goes on with it.
 *
 * @category errors
 * @since 0.1.0
 */
export class TurnFailed extends Schema.TaggedError<TurnFailed>()("TurnFailed", {
  reason: Schema.Literals(["Busy", "Cancelled", "Conflict", "Full", "Unavailable", "Model", "Server"]).annotate({
    description: "`Model`: the model did not answer. `Server`: the server stopped, or something went wrong on it."
  }),
  message
}, { description: "The turn did not come to its end. Whatever it did before is in the history." }) {}

// =============================================================================
// Sets
// =============================================================================

/** Why one answer has no effect. */
export const ofAnswer = [UnknownRequest, AlreadyDecided, NoLongerOpen, NotAnApprover, Unprocessable] as const

export type OfAnswer = UnknownRequest | AlreadyDecided | NoLongerOpen | NotAnApprover | Unprocessable

/** Of every endpoint that looks at a conversation. */
export const reading = [...Decider.refusals, Unprocessable, Unavailable, ServerFailed] as const

/** Of every endpoint that something is posted to. */
export const posting = [...reading, Conflict, TooLarge, NotJson] as const

/** Of every endpoint that decides. */
export const deciding = [
  ...posting,
  TooManyRequests,
  UnknownRequest,
  AlreadyDecided,
  NoLongerOpen,
  NotAnApprover
] as const

export type Any =
  | Decider.Refused
  | OfAnswer
  | Conflict
  | TooLarge
  | NotJson
  | TooManyRequests
  | ServerFailed
  | Unavailable

/** The states of a request whose time is over without anybody's decision. */
export const isOver = Schema.is(NoLongerOpen.fields.state)

/** The states that somebody has decided. */
export const isDecided = Schema.is(AlreadyDecided.fields.state)
