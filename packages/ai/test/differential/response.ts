/** What the model of a case says: a whole response, or chunks that come one after the other. */
import { AiError, type Response } from "effect/ai"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type * as Scenario from "./scenario.ts"
import * as Tools from "./tools.ts"

/** Milliseconds from one chunk of a stream to the next; handlers end in between. */
export const beat = 10

/** The call of what is not in the toolkit. */
export const unknownId = "u"

export const Answer = Schema.Struct({ answer: Schema.FiniteFromString }).annotate({ identifier: "Answer" })

/** How a case is limited where the two may differ; see `compare.ts` for the reasons. */
export interface Limits {
  readonly method: "generateText" | "streamText" | "generateObject"
  /** Whether the engine judges the calls: then none of what is not in the toolkit is the provider's own. */
  readonly engineJudges: boolean
  /** No call is made: none has a tool, and upstream refuses every response that makes one. */
  readonly withoutCalls: boolean
  /** Parameters of local calls that do not decode. */
  readonly invalidParams: (toolName: string) => boolean
  /** Of all the local calls only this one. */
  readonly onlyCall?: string | undefined
  /** Every local call succeeds at once. */
  readonly quiet?: boolean | undefined
}

export interface Scripted {
  readonly content: ReadonlyArray<Response.AllPartsEncoded>
  readonly chunks: ReadonlyArray<ReadonlyArray<Response.AllPartsEncoded>>
  readonly spaced: boolean
  /** The chunk before which the model fails. */
  readonly failure: { readonly at: number; readonly effect: Effect.Effect<never, AiError.AiError> } | undefined
  readonly behaviours: ReadonlyMap<string, Tools.Behaviour>
  /** The local calls, in order. */
  readonly calls: ReadonlyArray<ScriptedCall>
  readonly cut: boolean
  readonly callsUnknown: boolean
}

export interface ScriptedCall {
  readonly id: string
  readonly name: string
  readonly params: Tools.ParamsKind
  readonly ending: Tools.Behaviour["ending"]
}

export const scriptOf = (scenario: Scenario.Scenario, limits: Limits): Scripted => {
  const { response } = scenario
  const behaviours = new Map<string, Tools.Behaviour>()
  const calls: Array<ScriptedCall> = []
  const parts: Array<Response.AllPartsEncoded> = []
  response.parts.forEach((part, index) => {
    if (limits.withoutCalls && (part.kind === "call" || part.kind === "provider")) return
    if (part.kind === "call") {
      const quiet = limits.quiet === true
      const call = readCall(part, `c${index}`, scenario.calm || quiet, limits)
      if (limits.onlyCall !== undefined && limits.onlyCall !== call.id) return
      calls.push(call)
      // Times of their own, so that no two things of one case end at one moment but those that take no time.
      const duration = part.pace === 0 || quiet ? 0 : part.pace * beat + index + 1
      behaviours.set(call.id, { duration, preliminary: part.preliminary, ending: call.ending })
      parts.push(toolCall(call.id, part.name, Tools.paramsOf(part.name, call.params), part.metadata))
    } else if (part.kind === "provider") {
      parts.push(...providerParts(part, `p${index}`, scenario.calm))
    } else {
      parts.push(speech(part, `s${index}`, limits.method))
    }
  })
  const callsUnknown = response.unknown.some && !scenario.calm && !limits.withoutCalls
  if (callsUnknown) {
    const { call } = response.unknown
    const providerExecuted = call.providerExecuted && !limits.engineJudges
    const part = toolCall(unknownId, call.name, { any: "thing" }, false, providerExecuted)
    parts.splice(Math.min(response.unknown.at, parts.length), 0, part)
  }
  if (limits.method === "generateObject") parts.push(...objectParts(response.object))
  const { before, reason } = response.finish
  if (reason !== "none") parts.splice(Math.max(0, parts.length - before), 0, finish(reason))
  const cut = reason !== "none" && !["stop", "tool-calls", "pause"].includes(reason)
  const failure = scenario.calm ? undefined : failureOf(response.failure.kind)
  const streamed = parts.flatMap(streamParts)
  return {
    content: parts.filter(isGenerated),
    chunks: chunked(streamed, response.chunks),
    // What comes at once leaves it to the scheduler whether a call ran before the stream broke off or was refused.
    spaced: response.spaced || cut || failure !== undefined || callsUnknown && !limits.engineJudges ||
      !scenario.calm && isRefusable(response),
    failure: failure === undefined ? undefined : { at: response.failure.at, effect: failure },
    behaviours,
    calls,
    cut,
    callsUnknown
  }
}

const isRefusable = ({ parts }: Scenario.Scenario["response"]): boolean =>
  parts.some((part) => part.kind === "provider" && (part.params === "invalid" || part.result === "undecodable"))

const readCall = (
  part: typeof Scenario.Call.Type,
  id: string,
  calm: boolean,
  limits: Limits
): ScriptedCall => ({
  id,
  name: part.name,
  params: part.params === "invalid" && (calm || !limits.invalidParams(part.name)) ? "plain" : part.params,
  ending: calm ? "succeed" : part.ending
})

const metadataOf = (some: boolean) => some ? { metadata: { provider: { id: "m1", list: [1, null] } } } : {}

const toolCall = (
  id: string,
  name: string,
  params: unknown,
  metadata: boolean,
  providerExecuted?: boolean
): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id,
  name,
  params,
  ...(providerExecuted === undefined ? {} : { providerExecuted }),
  ...metadataOf(metadata)
})

const providerParams = {
  plain: { query: "cats" },
  transformed: { query: "cats", top: "03" },
  invalid: { query: 1 }
} as const

const providerParts = (
  part: Extract<Scenario.ResponsePart, { readonly kind: "provider" }>,
  id: string,
  calm: boolean
): ReadonlyArray<Response.AllPartsEncoded> => {
  const params = calm && part.params === "invalid" ? "plain" : part.params
  const result = calm && part.result === "undecodable" ? "success" : part.result
  const results = {
    success: { hits: ["2026-01-02T03:04:05.000Z"] },
    failure: { reason: "no network" },
    undecodable: { hits: "many" }
  } as const
  return [
    toolCall(id, "WebSearch", providerParams[params], false, true),
    ...(result === "none" ? [] : [{
      type: "tool-result" as const,
      id,
      name: "WebSearch",
      result: results[result],
      isFailure: result === "failure",
      providerExecuted: true
    }])
  ]
}

const speech = (
  part: Extract<Scenario.ResponsePart, { readonly text: string }>,
  id: string,
  method: Limits["method"]
): Response.AllPartsEncoded => {
  const metadata = metadataOf(part.metadata)
  switch (part.kind) {
    case "text":
      // The text of an object is the object alone.
      return { type: method === "generateObject" ? "reasoning" : "text", text: part.text, ...metadata }
    case "reasoning":
      return { type: "reasoning", text: part.text, ...metadata }
    case "file":
      return { type: "file", mediaType: "image/png", data: "AAH+/w==", ...metadata }
    case "url":
      return {
        type: "source",
        sourceType: "url",
        id,
        url: "https://example.com/a?b=%20",
        title: part.text,
        ...metadata
      }
    case "document":
      return {
        type: "source",
        sourceType: "document",
        id,
        mediaType: "text/plain",
        title: part.text,
        fileName: "a.txt",
        ...metadata
      }
    case "metadata":
      return {
        type: "response-metadata",
        id: `response ${id}`,
        modelId: "model",
        timestamp: "2026-01-02T03:04:05.000Z",
        ...metadata
      }
    case "error":
      return { type: "error", error: { said: part.text }, ...metadata }
  }
}

const objectParts = (object: Scenario.Scenario["response"]["object"]): ReadonlyArray<Response.AllPartsEncoded> => {
  switch (object) {
    case "valid":
      return [{ type: "text", text: "{\"ans" }, { type: "text", text: "wer\":\"42\"}" }]
    case "other":
      return [{ type: "text", text: "{\"answer\":\"forty-two\"}" }]
    case "invalid":
      return [{ type: "text", text: "{\"answer\":" }]
    case "missing":
      return []
  }
}

const finish = (reason: Response.FinishReason): Response.FinishPartEncoded => ({
  type: "finish",
  reason,
  usage: {
    inputTokens: { uncached: 10, total: 12, cacheRead: 2, cacheWrite: 0 },
    outputTokens: { total: 5, text: 3, reasoning: 2 }
  }
})

const failureOf = (
  kind: Scenario.Scenario["response"]["failure"]["kind"]
): Effect.Effect<never, AiError.AiError> | undefined => {
  const fail = (reason: AiError.AiErrorReason) =>
    Effect.fail(AiError.make({ module: "Provider", method: "call", reason }))
  switch (kind) {
    case "none":
      return undefined
    case "rateLimit":
      return fail(new AiError.RateLimitError({ retryAfter: Duration.seconds(3) }))
    case "invalidRequest":
      return fail(new AiError.InvalidRequestError({ parameter: "model", description: "no such model" }))
    case "unknown":
      return fail(new AiError.UnknownError({ description: "who knows" }))
    case "defect":
      return Effect.die(new Error("a defect of the provider"))
  }
}

const isGenerated = (part: Response.AllPartsEncoded): boolean => part.type !== "error"

const streamParts = (part: Response.AllPartsEncoded, index: number): ReadonlyArray<Response.AllPartsEncoded> => {
  const id = `t${index}`
  switch (part.type) {
    case "text":
      return [
        { type: "text-start", id, ...(part.metadata === undefined ? {} : { metadata: part.metadata }) },
        { type: "text-delta", id, delta: part.text },
        { type: "text-end", id }
      ]
    case "reasoning":
      return [
        { type: "reasoning-start", id },
        { type: "reasoning-delta", id, delta: part.text },
        { type: "reasoning-end", id }
      ]
    case "tool-call":
      return [
        { type: "tool-params-start", id: part.id, name: part.name, providerExecuted: part.providerExecuted === true },
        { type: "tool-params-delta", id: part.id, delta: JSON.stringify(part.params) },
        { type: "tool-params-end", id: part.id },
        part
      ]
    default:
      return [part]
  }
}

const chunked = <A>(parts: ReadonlyArray<A>, sizes: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<A>> => {
  const chunks: Array<ReadonlyArray<A>> = []
  for (let from = 0; from < parts.length;) {
    const size = sizes[chunks.length % sizes.length]!
    chunks.push(parts.slice(from, from + size))
    from += size
  }
  return chunks
}
