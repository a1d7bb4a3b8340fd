/**
 * A conversation as rows: each message by itself, written once and never again, and beside them what is open in it. What is
 * there already is known by identity: a message, or a request, that is the same object has not changed.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as Approver from "../../Approver.ts"
import type * as Store from "../../Store.ts"
import type * as Within from "../agent/within.ts"
import { definedFields } from "../fields.ts"
import * as Canonical from "../seal/canonical.ts"

/**
 * A conversation by its names: the `id` of its row, what the program calls it, and to whom it belongs.
 *
 * @category models
 * @since 0.1.0
 */
export interface Key {
  readonly id: string
  readonly name: string
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  /** Where it runs, of an agent's that is a tool. */
  readonly within?: Within.Within | undefined
}

/**
 * A conversation as it is kept. `open` are the requests it waits for, `answered` the ids of those that were answered in
 * a turn that ended before it could say what became of them, and `deciders` who answered them. `turn` is there while
 * somebody takes one: `owner` names their process, `at` is when it began, in milliseconds since 1970-01-01T00:00Z, and `said`
 * how many of the messages, the last ones, are what it has said; `undefined` while it begins.
 *
 * @category models
 * @since 0.1.0
 */
export interface Kept {
  readonly history: Prompt.Prompt
  readonly open: ReadonlyArray<Approval.ApprovalRequest>
  readonly answered: ReadonlyArray<string>
  readonly deciders: Readonly<Record<string, Approver.DecidedBy>>
  readonly turn?: { readonly owner: string; readonly at: number; readonly said?: number | undefined } | undefined
}

/**
 * A conversation, the version of its row, and how many bytes (of UTF-8) its messages have.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found {
  readonly version: number
  readonly kept: Kept
  readonly bytes: number
  /** It is an agent's, and goes on within a call alone. */
  readonly isAgent?: boolean
}

/** What is written of a conversation over what it was. */
export interface Written {
  readonly keep: number
  readonly append: ReadonlyArray<string>
  readonly state: string
  /** Of the messages. */
  readonly bytes: number
}

// =============================================================================
// Writing
// =============================================================================

export const encode = (base: Found | undefined, kept: Kept): Result.Result<Written, Schema.SchemaError> =>
  Result.gen(function*() {
    const messages = kept.history.content
    const before = base?.kept.history.content ?? []
    const keep = keptOf(before, messages)
    const added = messages.slice(keep)
    const append: Array<string> = []
    let bytes = base?.bytes ?? 0
    for (const message of before.slice(keep)) bytes -= sizes.get(message) ?? bytesOf(yield* encodeMessage(message))
    for (const message of added) {
      const body = yield* encodeMessage(message)
      const size = bytesOf(body)
      append.push(body)
      sizes.set(message, size)
      bytes += size
    }
    const open: Array<Schema.Json> = []
    const encodeOpen = openEncoder(messages, added)
    for (const request of kept.open) open.push(yield* encodeOpen(request))
    const state = yield* encodeState({
      format: 1,
      ...(open.length === 0 ? undefined : { open }),
      ...(kept.answered.length === 0 ? undefined : { answered: kept.answered }),
      ...(Object.keys(kept.deciders).length === 0 ? undefined : { deciders: kept.deciders }),
      ...definedFields({ turn: kept.turn })
    })
    return { keep, append, state, bytes }
  })

// Of messages that were written here: those of a turn's record may be written over by its end, and are gone then.
const sizes = new WeakMap<Prompt.Message, number>()

// What a history was before something was added to it, of the last addition alone: or all of them would be kept.
const grownFrom = new WeakMap<ReadonlyArray<Prompt.Message>, ReadonlyArray<Prompt.Message>>()

/** A history with more behind it. Not by `Prompt.concat`, which copies a long one several times over. */
export const grow = ({ content }: Prompt.Prompt, more: ReadonlyArray<Prompt.Message>): Prompt.Prompt => {
  const grown = content.concat(more)
  grownFrom.delete(content)
  grownFrom.set(grown, content)
  return Prompt.fromMessages(grown)
}

const keptOf = (before: ReadonlyArray<Prompt.Message>, after: ReadonlyArray<Prompt.Message>): number => {
  if (before === after || grownFrom.get(after) === before) return before.length
  let keep = 0
  while (keep < before.length && before[keep] === after[keep]) keep++
  return keep
}

const encodings = new WeakMap<Approval.ApprovalRequest, Schema.Json>()

/** A request as it is shown. */
export const encodeRequest = (request: Approval.ApprovalRequest): Result.Result<Schema.Json, Schema.SchemaError> => {
  const known = encodings.get(request)
  return known !== undefined ? Result.succeed(known) : Result.map(encodeApprovalRequest(request), (encoded) => {
    encodings.set(request, encoded)
    return encoded
  })
}

/** One that was written as JSON text. */
export const readRequest = (text: string): Approval.ApprovalRequest | undefined =>
  Result.getOrUndefined(decodeWrittenRequest(text))

export const bytesOf = (json: string): number => Canonical.utf8Length(json, Infinity)

// The message that asks for a request as it is: it is not written twice.
const askedIn = new WeakMap<Approval.ApprovalRequest, Prompt.Message>()

const openEncoder = (messages: ReadonlyArray<Prompt.Message>, added: ReadonlyArray<Prompt.Message>) => {
  const places = new Map<Prompt.Message, number>()
  const placeOf = (message: Prompt.Message): number => {
    const at = places.get(message) ?? messages.lastIndexOf(message)
    places.set(message, at)
    return at
  }
  return (request: Approval.ApprovalRequest): Result.Result<Schema.Json, Schema.SchemaError> =>
    Result.gen(function*() {
      const { approvalId } = request
      const known = askedIn.get(request)
      const at = known === undefined ? -1 : placeOf(known)
      if (at >= 0) return { approvalId, at }
      const encoded = yield* encodeRequest(request)
      const text = JSON.stringify(encoded)
      const message = added.findLast((message) => JSON.stringify(askedBy(message, approvalId)) === text)
      if (message === undefined) return encoded
      askedIn.set(request, message)
      return { approvalId, at: placeOf(message) }
    })
}

const askedBy = (message: Prompt.Message, approvalId: string): unknown => {
  if (message.role !== "assistant") return undefined
  let requests = requestsIn.get(message)
  if (requests === undefined) {
    requests = new Map()
    for (const part of message.content) {
      if (part.type !== "tool-approval-request" || requests.has(part.approvalId)) continue
      requests.set(part.approvalId, part.options?.assent)
    }
    requestsIn.set(message, requests)
  }
  return requests.get(approvalId)
}

// What each message says of its requests.
const requestsIn = new WeakMap<Prompt.Message, Map<string, unknown>>()

// =============================================================================
// Reading
// =============================================================================

/** What the rows say, or `undefined` where they are not those of a conversation. */
export const decode = (row: Store.ConversationRow, bodies: ReadonlyArray<string>): Found | undefined => {
  const state = decodeState(row.state)
  const messages = Result.all(bodies.map((body) => decodeMessage(body)))
  if (Result.isFailure(state) || Result.isFailure(messages)) return undefined
  const { answered = [], deciders = {}, open = [], turn } = state.success
  const requests: Array<Approval.ApprovalRequest> = []
  for (const one of open) {
    const request = "at" in one ? requestAt(messages.success, one) : one
    if (request === undefined) return undefined
    requests.push(request)
  }
  return {
    version: row.version,
    bytes: row.bytes - bytesOf(row.state),
    ...(row.parent === undefined ? undefined : { isAgent: true }),
    kept: {
      history: Prompt.fromMessages(messages.success),
      open: requests,
      answered,
      deciders,
      ...definedFields({ turn })
    }
  }
}

const requestAt = (
  messages: ReadonlyArray<Prompt.Message>,
  { approvalId, at }: typeof Place.Type
): Approval.ApprovalRequest | undefined => {
  const message = messages[at]
  const request = message === undefined
    ? undefined
    : Result.getOrUndefined(decodeApprovalRequest(askedBy(message, approvalId)))
  if (message === undefined || request === undefined) return undefined
  askedIn.set(request, message)
  return request
}

// =============================================================================
// Form
// =============================================================================

/** Where the history asks it. */
const Place = Schema.Struct({ approvalId: Schema.String, at: Schema.Number })

const fields = {
  format: Schema.Literal(1),
  answered: Schema.optionalKey(Schema.Array(Schema.String)),
  deciders: Schema.optionalKey(Schema.Record(Schema.String, Approver.DecidedBy)),
  turn: Schema.optionalKey(Schema.Struct({
    owner: Schema.String,
    at: Schema.Number,
    said: Schema.optional(Schema.Number)
  }))
}
const ApprovalRequest = Schema.toCodecJson(Approval.ApprovalRequest)
const State = Schema.fromJsonString(Schema.toCodecJson(Schema.Struct({
  ...fields,
  open: Schema.optionalKey(Schema.Array(Schema.Union([Place, Approval.ApprovalRequest])))
})))
// Requests are encoded already, so that each is only once.
const EncodedState = Schema.fromJsonString(Schema.toCodecJson(Schema.Struct({
  ...fields,
  open: Schema.optionalKey(Schema.Array(Schema.Json))
})))
const Message = Schema.fromJsonString(Schema.toCodecJson(Prompt.Message))

const encodeState = Schema.encodeResult(EncodedState)
const decodeState = Schema.decodeUnknownResult(State)
const encodeMessage = Schema.encodeUnknownResult(Message)
const decodeMessage = Schema.decodeUnknownResult(Message)
const encodeApprovalRequest = Schema.encodeResult(ApprovalRequest)
const decodeApprovalRequest = Schema.decodeUnknownResult(ApprovalRequest)
const decodeWrittenRequest = Schema.decodeUnknownResult(Schema.fromJsonString(ApprovalRequest))
