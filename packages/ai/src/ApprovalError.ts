/**
 * What can go wrong with an approval: one error, with its reason as data.
 *
 * Assent's own functions fail with {@link ApprovalError}. Through `LanguageModel` and `Chat`, whose error type is
 * fixed, it travels inside an `AiError` with reason `InvalidRequestError`, in `metadata.assent`;
 * {@link fromAiError} and {@link catchReason} read it back.
 *
 * @since 0.1.0
 */
import * as AiError from "effect/ai/AiError"
import * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { ApprovalRequest, ApprovalState } from "./Approval.ts"
import { DecidedBy } from "./Approver.ts"
import * as Approving from "./internal/approving.ts"
import type {} from "./internal/augment.ts"
import * as Brief from "./internal/brief.ts"
import * as Requirements from "./internal/requirements.ts"
import * as Text from "./internal/text.ts"

// =============================================================================
// Reasons
// =============================================================================

/**
 * The approval id carries a key we know but its seal does not fit the call: it was made up, or the call, its
 * parameters, or the scope are not the ones that were shown (law L4).
 *
 * @category reasons
 * @since 0.1.0
 */
export class Forged extends Schema.TaggedError<Forged>()("Forged", { approvalId: Schema.String }) {
  override get message(): string {
    return `${Approving.notOfThisCall} Nothing ran. Ask again.`
  }
}

/**
 * The approval id is not one of ours at all: not of the right form, or longer than 512 bytes.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Malformed extends Schema.TaggedError<Malformed>()("Malformed", { approvalId: Schema.String }) {
  override get message(): string {
    return `${Approving.notIssued} Nothing ran. Ask again.`
  }
}

/**
 * The approval was sealed with a key this process does not have, as after a restart without a configured key.
 *
 * @category reasons
 * @since 0.1.0
 */
export class UnknownKey extends Schema.TaggedError<UnknownKey>()("UnknownKey", {
  approvalId: Schema.String,
  keyId: Schema.String
}) {
  override get message(): string {
    return Requirements.knownKey(this.keyId)
  }
}

/**
 * The approval came too late. `expiredAt` is in milliseconds since 1970.
 *
 * @category reasons
 * @since 0.1.0
 */
export class Expired extends Schema.TaggedError<Expired>()("Expired", {
  approvalId: Schema.String,
  expiredAt: Schema.Number
}) {
  override get message(): string {
    return `The approval expired at ${new Date(this.expiredAt).toISOString()}. Nothing ran. Ask again.`
  }
}

/**
 * The request has been decided before; the first decision stands (laws L2, L3).
 *
 * @category reasons
 * @since 0.1.0
 */
export class AlreadyDecided extends Schema.TaggedError<AlreadyDecided>()("AlreadyDecided", {
  approvalId: Schema.String,
  state: ApprovalState
}) {
  override get message(): string {
    return `The request is not open any more: its state is "${this.state}". This answer changes nothing. If it may come` +
      " twice, as from a double click or a second person, catch AlreadyDecided; what is open is what `pending` gives."
  }
}

/**
 * Whoever decided may not, so it settles nothing and the request stays open (law L16). Of each list of `approvers` one
 * person is needed. `problem`: nobody knows who decided, or they are on no list, asked for it, or approved it already.
 *
 * @category reasons
 * @since 0.1.0
 */
export class NotAnApprover extends Schema.TaggedError<NotAnApprover>()("NotAnApprover", {
  approvalId: Schema.String,
  approvers: Schema.Array(Schema.Array(Schema.String)),
  decidedBy: DecidedBy,
  problem: Schema.Literals(["unknown", "not named", "requester", "approved already"])
}) {
  override get message(): string {
    return Approving.refusal(this.problem, this.decidedBy.name ?? this.decidedBy.id, this.approvers)
  }
}

/**
 * No request with this id is known. `description` says so in its own words, where the request was not named by its id.
 *
 * @category reasons
 * @since 0.1.0
 */
export class UnknownApproval extends Schema.TaggedError<UnknownApproval>()("UnknownApproval", {
  approvalId: Schema.String,
  description: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    return this.description ?? Approving.unknown(this.approvalId)
  }
}

/**
 * A step that the states of a request do not allow.
 *
 * @category reasons
 * @since 0.1.0
 */
export class IllegalStep extends Schema.TaggedError<IllegalStep>()("IllegalStep", {
  approvalId: Schema.String,
  from: ApprovalState,
  to: ApprovalState
}) {
  override get message(): string {
    return `A request that is "${this.from}" cannot become "${this.to}".`
  }
}

/**
 * The policy failed, died, or did not answer within its time limit (law L1). The cause is not in here.
 *
 * @category reasons
 * @since 0.1.0
 */
export class PolicyFailed extends Schema.TaggedError<PolicyFailed>()("PolicyFailed", { toolName: Schema.String }) {
  override get message(): string {
    return `The approval policy for "${this.toolName}" failed. Nothing ran. Fix the policy and try again.`
  }
}

/**
 * The tool, or its parameters, are not what they were when the person was asked (law L10).
 *
 * @category reasons
 * @since 0.1.0
 */
export class Drifted extends Schema.TaggedError<Drifted>()("Drifted", {
  toolName: Schema.String,
  description: Schema.String
}) {
  override get message(): string {
    return `${Text.sentence(this.description)} Nothing ran. It may be asked again.`
  }
}

/**
 * The parameters of a call cannot be shown, sealed and run as one and the same JSON value: they do not decode, are
 * not JSON, or are too large (laws L1, L4).
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidParameters extends Schema.TaggedError<InvalidParameters>()("InvalidParameters", {
  toolName: Schema.String,
  description: Schema.String
}) {
  override get message(): string {
    return `The parameters of "${this.toolName}" cannot be used: ${
      Text.sentence(this.description)
    } Nothing ran. Call the tool again` +
      " with valid parameters."
  }
}

/**
 * Edited parameters that do not pass the tool's schema or its policy.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidEdit extends Schema.TaggedError<InvalidEdit>()("InvalidEdit", {
  approvalId: Schema.String,
  description: Schema.String
}) {
  override get message(): string {
    return `The edited parameters cannot be used: ${Text.sentence(this.description)} The request stays open.`
  }
}

/**
 * An answer that does not fit what the request asked for.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidAnswer extends Schema.TaggedError<InvalidAnswer>()("InvalidAnswer", {
  approvalId: Schema.String,
  description: Schema.String
}) {
  override get message(): string {
    return `The answer cannot be used: ${Text.sentence(this.description)} The request stays open.`
  }
}

/**
 * The prompt given to a call cannot be read as messages.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidPrompt extends Schema.TaggedError<InvalidPrompt>()("InvalidPrompt", {
  description: Schema.String
}) {
  override get message(): string {
    return `The prompt cannot be read: ${this.description} No model was called.`
  }
}

/**
 * What was given as a toolkit is none, or tools of it (`toolNames`) have no handler, or no schema where one is needed.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidToolkit extends Schema.TaggedError<InvalidToolkit>()("InvalidToolkit", {
  toolNames: Schema.Array(Schema.String),
  description: Schema.String
}) {
  override get message(): string {
    return `The toolkit cannot be used. ${this.description} Nobody was asked, and nothing ran.`
  }
}

/**
 * A call that must return a finished value would have to wait for these requests (law L12). `content` is what the model
 * said and what was settled, requests included: with it and the answers the program can go on, as in
 * `Prompt.concat(prompt, Prompt.fromResponseParts(reason.content))`.
 *
 * @category reasons
 * @since 0.1.0
 */
export class ApprovalRequired extends Schema.TaggedError<ApprovalRequired>()("ApprovalRequired", {
  requests: Schema.Array(ApprovalRequest),
  content: Schema.Array(Response.AllParts())
}) {
  override get message(): string {
    const names = this.requests.map((request) => request.description).join(", ")
    return `Waiting for approval of ${names}. Put this error's content into the history,` +
      " Prompt.fromResponseParts(reason.content), answer with Prompt.approvalResponses([...]), and call again."
  }
}

/**
 * A key is configured, so approvals outlive this process; then what became of them must outlive it too.
 *
 * @category reasons
 * @since 0.1.0
 */
export class JournalRequired extends Schema.TaggedError<JournalRequired>()("JournalRequired", {}) {
  override get message(): string {
    return Requirements.journal
  }
}

/**
 * The journal could not be read or written, or is full; the call was not claimed and did not run (law L2).
 *
 * @category reasons
 * @since 0.1.0
 */
export class JournalUnavailable extends Schema.TaggedError<JournalUnavailable>()("JournalUnavailable", {
  description: Schema.String
}) {
  override get message(): string {
    return `The approval journal cannot be used: ${this.description} Nothing ran; the answers are still good.`
  }
}

/**
 * What waiting tools must remember could not be read or written; nothing was resumed, and the answers are still good.
 *
 * @category reasons
 * @since 0.1.0
 */
export class SuspensionsUnavailable extends Schema.TaggedError<SuspensionsUnavailable>()("SuspensionsUnavailable", {
  description: Schema.String
}) {
  override get message(): string {
    return `The suspension store cannot be used: ${this.description} Nothing was resumed; the answers are still good.`
  }
}

/**
 * A key is configured, so requests outlive this process; then what waiting tools must remember has to outlive it too.
 *
 * @category reasons
 * @since 0.1.0
 */
export class SuspensionStoreRequired
  extends Schema.TaggedError<SuspensionStoreRequired>()("SuspensionStoreRequired", {})
{
  override get message(): string {
    return Requirements.suspensions
  }
}

/**
 * What was answered before could not be looked up or written; the call is asked.
 *
 * @category reasons
 * @since 0.1.0
 */
export class MemoryUnavailable extends Schema.TaggedError<MemoryUnavailable>()("MemoryUnavailable", {
  description: Schema.String
}) {
  override get message(): string {
    return `The approval memory cannot be used: ${this.description} Calls are asked about as if nothing was remembered.`
  }
}

/**
 * The configured key cannot be used.
 *
 * @category reasons
 * @since 0.1.0
 */
export class InvalidKey extends Schema.TaggedError<InvalidKey>()("InvalidKey", { description: Schema.String }) {
  override get message(): string {
    return `The approval key cannot be used: ${this.description}`
  }
}

/**
 * Why an approval failed.
 *
 * @category reasons
 * @since 0.1.0
 */
export const ApprovalErrorReason = Schema.Union([
  Forged,
  Malformed,
  UnknownKey,
  Expired,
  AlreadyDecided,
  NotAnApprover,
  UnknownApproval,
  IllegalStep,
  PolicyFailed,
  Drifted,
  InvalidParameters,
  InvalidEdit,
  InvalidAnswer,
  InvalidPrompt,
  InvalidToolkit,
  ApprovalRequired,
  JournalRequired,
  JournalUnavailable,
  SuspensionsUnavailable,
  SuspensionStoreRequired,
  MemoryUnavailable,
  InvalidKey
])

/**
 * Why an approval failed.
 *
 * @category reasons
 * @since 0.1.0
 */
export type ApprovalErrorReason = typeof ApprovalErrorReason.Type

// =============================================================================
// Error
// =============================================================================

/**
 * An approval that failed.
 *
 * @example
 * import { ApprovalError } from "@assent/ai"
 *
 * const error = ApprovalError.make(new ApprovalError.UnknownApproval({ approvalId: "x" }))
 *
 * error.reason._tag // => "UnknownApproval"
 *
 * @category errors
 * @since 0.1.0
 */
export class ApprovalError extends Schema.TaggedError<ApprovalError>()("ApprovalError", {
  reason: ApprovalErrorReason
}) {
  override get message(): string {
    return this.reason.message
  }
}

/**
 * Makes an error of its reason. Its message is the reason's: what happened, why, and what to do.
 *
 * @example
 * import { ApprovalError } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const pay = (amount: number) =>
 *   amount > 0
 *     ? Effect.succeed(`paid ${amount}`)
 *     : ApprovalError.make(
 *       new ApprovalError.InvalidParameters({ toolName: "Pay", description: "The amount has to be above 0." })
 *     )
 *
 * const error = await Effect.runPromise(Effect.flip(pay(-5)))
 *
 * error.reason._tag // => "InvalidParameters"
 * error.message.includes("The amount has to be above 0.") // => true
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (reason: ApprovalErrorReason): ApprovalError => Brief.withReason(new ApprovalError({ reason }))

// =============================================================================
// Travelling inside AiError
// =============================================================================

const encodeReason = Schema.encodeSync(Schema.toCodecJson(ApprovalErrorReason))
const toMutable = Schema.decodeUnknownSync(Schema.MutableJson)
const decodeReason = Schema.decodeUnknownOption(Schema.toCodecJson(ApprovalErrorReason))

/**
 * Wraps an `ApprovalError` so that it can pass through `LanguageModel` and `Chat`.
 *
 * @example
 * import { AiError, ApprovalError } from "@assent/ai"
 *
 * const error = ApprovalError.toAiError(ApprovalError.make(new ApprovalError.JournalRequired()), "generateText")
 *
 * AiError.isAiError(error) // => true
 * error.reason._tag // => "InvalidRequestError"
 *
 * @category conversions
 * @since 0.1.0
 */
export const toAiError = (error: ApprovalError, method: string, module = "LanguageModel"): AiError.AiError =>
  Brief.toAiError(error, { module, method }, toMutable(encodeReason(error.reason)))

/**
 * Reads the `ApprovalError` inside an error, if there is one.
 *
 * @example
 * import { ApprovalError } from "@assent/ai"
 * import { Option } from "effect"
 *
 * const error = ApprovalError.toAiError(
 *   ApprovalError.make(new ApprovalError.JournalRequired()),
 *   "generateText"
 * )
 *
 * Option.map(ApprovalError.fromAiError(error), (error) => error.reason._tag) // => Option.some("JournalRequired")
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromAiError = (error: unknown): Option.Option<ApprovalError> =>
  AiError.isAiError(error) && error.reason._tag === "InvalidRequestError"
    ? Option.map(decodeReason(error.reason.metadata["assent"]), make)
    : Option.none()

/**
 * Handles one reason, whether the error is an `ApprovalError` or one inside an `AiError`; every other error passes.
 *
 * @example
 * import { ApprovalError } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.fail(ApprovalError.make(new ApprovalError.JournalRequired())).pipe(
 *   ApprovalError.catchReason("JournalRequired", () => Effect.succeed("name a journal"))
 * )
 *
 * await Effect.runPromise(program) // => "name a journal"
 *
 * @category error handling
 * @since 0.1.0
 */
export const catchReason: {
  <Tag extends ApprovalErrorReason["_tag"], A2, E2, R2>(
    tag: Tag,
    handler: (reason: Extract<ApprovalErrorReason, { readonly _tag: Tag }>) => Effect.Effect<A2, E2, R2>
  ): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A | A2, E | E2, R | R2>
  <A, E, R, Tag extends ApprovalErrorReason["_tag"], A2, E2, R2>(
    self: Effect.Effect<A, E, R>,
    tag: Tag,
    handler: (reason: Extract<ApprovalErrorReason, { readonly _tag: Tag }>) => Effect.Effect<A2, E2, R2>
  ): Effect.Effect<A | A2, E | E2, R | R2>
} = dual(3, <A, E, R, Tag extends ApprovalErrorReason["_tag"], A2, E2, R2>(
  self: Effect.Effect<A, E, R>,
  tag: Tag,
  handler: (reason: Extract<ApprovalErrorReason, { readonly _tag: Tag }>) => Effect.Effect<A2, E2, R2>
): Effect.Effect<A | A2, E | E2, R | R2> =>
  Effect.catch(self, (error): Effect.Effect<A2, E | E2, R2> => {
    const found = error instanceof ApprovalError ? Option.some(error) : fromAiError(error)
    return Option.isSome(found) && hasTag(found.value.reason, tag) ? handler(found.value.reason) : Effect.fail(error)
  }))

const hasTag = <Tag extends ApprovalErrorReason["_tag"]>(
  reason: ApprovalErrorReason,
  tag: Tag
): reason is Extract<ApprovalErrorReason, { readonly _tag: Tag }> => reason._tag === tag
