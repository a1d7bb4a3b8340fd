/**
 * A case of the differential test as data: a history, a response, and how the call is made. Everything is a schema, so
 * that cases are generated and shrunk by `effect/Arbitrary`; ids, times and contents follow from the positions.
 */
import * as Schema from "effect/Schema"
import * as Tools from "./tools.ts"

/** What stands more than once in here comes up more often. */
const often = <const Values extends ReadonlyArray<string | number | boolean>>(...values: Values) =>
  Schema.Literals(values)

const many = <const A>(count: number, value: A): Array<A> => Array.from({ length: count }, () => value)

const list = <S extends Schema.Top>(item: S, maxLength: number) =>
  Schema.Array(item).check(Schema.isMaxLength(maxLength))

export const texts = ["", "Hello.", "{\"answer\":\"42\"}", "e\u0301 \u{1F600} \u202E \u0000"] as const

// =============================================================================
// The history
// =============================================================================

const HistoryText = Schema.Struct({
  kind: Schema.Literals(["text", "reasoning", "file"]),
  text: Schema.Literals(texts),
  options: Schema.Boolean
})

/** A call of a finished turn. Ids are of a small pool, so that they come up again in later messages. */
const HistoryCall = Schema.Struct({
  kind: Schema.Literals(["call", "call", "provider"]),
  name: Schema.Literals([...Tools.localNames, ...Tools.unknownNames, "Wipe"]),
  id: Schema.Literals(["call-1", "call-2", "call-3"]),
  params: Schema.Literals(Tools.paramsKinds),
  result: often("success", "success", "failure", "null", "modelOutput"),
  options: Schema.Boolean
})

const HistoryMessage = Schema.Union([
  Schema.Struct({ role: Schema.Literal("system"), text: Schema.Literals(texts), options: Schema.Boolean }),
  Schema.Struct({ role: Schema.Literal("user"), parts: list(HistoryText, 2), options: Schema.Boolean }),
  Schema.Struct({
    role: Schema.Literals(["assistant", "assistant"]),
    parts: Schema.NonEmptyArray(Schema.Union([HistoryText, HistoryCall])).check(Schema.isMaxLength(4)),
    /** The results of a message need not be in the order of their calls. */
    reversed: Schema.Boolean,
    options: Schema.Boolean
  })
])

export type HistoryMessage = typeof HistoryMessage.Type

// =============================================================================
// The response
// =============================================================================

const Speech = Schema.Struct({
  kind: Schema.Literals(["text", "text", "reasoning", "file", "url", "document", "metadata", "error"]),
  text: Schema.Literals(texts),
  metadata: Schema.Boolean
})

export const Call = Schema.Struct({
  kind: Schema.Literal("call"),
  name: Schema.Literals(Tools.localNames),
  params: often("plain", "plain", "other", "other", "excess", "excess", "invalid"),
  /** In steps of the clock; a stream's chunks come in between. */
  pace: often(0, 0, 1, 2, 3),
  preliminary: often(0, 0, 1, 2),
  ending: often(...many(6, "succeed"), "fail", "reason", "unencodable", "invalid", "die"),
  metadata: Schema.Boolean
})

/** A call that the provider ran. */
const ProviderCall = Schema.Struct({
  kind: Schema.Literal("provider"),
  params: often("plain", "plain", "transformed", "invalid"),
  result: often("success", "success", "failure", "none", "undecodable")
})

/** A call of what is not in the toolkit. */
const UnknownCall = Schema.Struct({
  kind: Schema.Literal("unknown"),
  name: Schema.Literals(Tools.unknownNames),
  providerExecuted: often(false, false, true)
})

export const finishReasons = [
  "stop",
  "tool-calls",
  "pause",
  "length",
  "content-filter",
  "error",
  "other",
  "unknown"
] as const

const Response = Schema.Struct({
  parts: list(Schema.Union([Speech, Call, Call, Call, ProviderCall]), 7),
  unknown: Schema.Struct({
    some: often(...many(9, false), true),
    at: Schema.Literals([0, 1, 2, 3]),
    call: UnknownCall
  }),
  finish: Schema.Struct({
    reason: often("none", ...many(4, "stop"), ...many(6, "tool-calls"), ...finishReasons),
    /** From the end: a finish need not be the last part. */
    before: often(0, 0, 0, 1, 2)
  }),
  /** Where the model fails, in a stream by chunks; a whole response fails at once. */
  failure: Schema.Struct({
    kind: often(...many(16, "none"), "rateLimit", "invalidRequest", "unknown", "defect"),
    at: Schema.Literals([0, 1, 2, 3, 5, 8])
  }),
  /** How many parts the chunks of a stream hold, over and over. */
  chunks: Schema.NonEmptyArray(Schema.Literals([1, 1, 2, 3, 8])).check(Schema.isMaxLength(4)),
  /** Whether the chunks come one after the other in time, or all at once. */
  spaced: often(true, true, false),
  /** The object of `generateObject`, or something that is not one. */
  object: often("valid", "valid", "valid", "other", "invalid", "missing")
})

export type ResponsePart = (typeof Response.Type)["parts"][number]

// =============================================================================
// The call
// =============================================================================

const Options = Schema.Struct({
  toolkit: often(...many(4, "resolved"), ...many(3, "effect"), ...many(3, "toolkit"), "none", "empty", "failing"),
  toolChoice: often("unset", "unset", "none", "auto", "required", "tool", "oneOf", "oneOfRequired"),
  concurrency: often("unset", "unset", "unbounded", 1, 2, 3),
  disableToolCallResolution: often(...many(6, "unset"), false, true),
  toolCallValidation: often("unset", "unset", "strict", "deferred"),
  /** How ours comes in: our functions over a bare service, upstream's over ours, or a service of our own `make`. */
  entrance: Schema.Literals(["accessor", "withApproval", "make"]),
  /** How the prompt is given. */
  prompt: often("prompt", "prompt", "messages", "string")
})

export type Options = typeof Options.Type

export const Scenario = Schema.Struct({
  history: list(HistoryMessage, 5),
  response: Response,
  /** Nothing goes wrong in a calm case, so that what comes after trouble is seen often enough. */
  calm: Schema.Boolean,
  options: Options
})

export type Scenario = typeof Scenario.Type
