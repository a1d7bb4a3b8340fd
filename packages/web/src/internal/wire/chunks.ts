/** From the parts of a turn to the chunks of a message. */
import type { Response } from "@assent/ai"
import * as Base64 from "effect/encoding/Base64"
import type { Call, Calls } from "./calls.ts"
import * as Fates from "./fates.ts"
import type { Chunk, FinishReason } from "./model.ts"
import * as Requests from "./requests.ts"
import * as Sentences from "./sentences.ts"

export interface Translator {
  readonly next: (part: Response.AnyPart) => ReadonlyArray<Chunk>
  /** Closes what was begun, where a turn was cut too. */
  readonly end: () => ReadonlyArray<Chunk>
  /** Why the model stopped, as it said last. */
  readonly finishReason: () => FinishReason | undefined
  /** A sentence, where the model gave an error among its parts. */
  readonly error: () => string | undefined
}

type Kind = "text" | "reasoning"

/** Makes one for a message. `calls` are those that the message has already, where a turn goes on with it. */
export const make = (calls: Calls): Translator => {
  let isInStep = false
  let count = 0
  let reason: FinishReason | undefined
  let error: string | undefined
  // A provider may give the same ids in each of its responses.
  const open = new Map<string, { readonly kind: Kind; readonly id: string }>()

  const inStep = (chunks: ReadonlyArray<Chunk>): ReadonlyArray<Chunk> => {
    if (isInStep) return chunks
    isInStep = true
    return [{ type: "start-step" }, ...chunks]
  }

  const begin = (kind: Kind, given: string): ReadonlyArray<Chunk> => {
    const ended = end(kind, given)
    const id = `${kind}-${++count}`
    open.set(`${kind} ${given}`, { kind, id })
    return [...ended, ...inStep([{ type: `${kind}-start`, id }])]
  }

  const goOn = (kind: Kind, given: string, delta: string): ReadonlyArray<Chunk> => {
    const begun = open.get(`${kind} ${given}`)
    return begun === undefined
      ? [...begin(kind, given), { type: `${kind}-delta`, id: open.get(`${kind} ${given}`)!.id, delta }]
      : [{ type: `${kind}-delta`, id: begun.id, delta }]
  }

  const end = (kind: Kind, given: string): ReadonlyArray<Chunk> => {
    const begun = open.get(`${kind} ${given}`)
    open.delete(`${kind} ${given}`)
    return begun === undefined ? [] : [{ type: `${kind}-end`, id: begun.id }]
  }

  const whole = (kind: Kind, delta: string): ReadonlyArray<Chunk> => {
    const id = `${kind}-${++count}`
    return inStep([{ type: `${kind}-start`, id }, { type: `${kind}-delta`, id, delta }, { type: `${kind}-end`, id }])
  }

  const endAll = (): ReadonlyArray<Chunk> => {
    const ended = Array.from(open.values(), ({ id, kind }): Chunk => ({ type: `${kind}-end`, id }))
    open.clear()
    if (!isInStep) return ended
    isInStep = false
    return [...ended, { type: "finish-step" }]
  }

  const result = (part: Response.ToolResultPart<string, unknown, unknown>): ReadonlyArray<Chunk> => {
    const { encodedResult, id, isFailure, name } = part
    const outcome: Fates.Outcome = { id, name, isFailure, result: encodedResult, assent: part.metadata.assent }
    const call = Fates.isEarlier(outcome) ? undefined : calls.settledBy(id, Fates.approvalIdOf(outcome))
    const fate = part.preliminary ? undefined : Fates.of(outcome, call)
    // Output for a call of another message ends the whole response at the client.
    if (call === undefined) return fate === undefined ? [] : [Fates.passing(fate)]
    if (!part.preliminary) call.isSettled = true
    const chunk = output(call, outcome, part)
    return fate === undefined ? [chunk] : [chunk, Fates.part(fate)]
  }

  const request = (part: Response.ToolApprovalRequestPart): ReadonlyArray<Chunk> => {
    const { approvalId } = part
    const call = calls.asked(part.toolCallId, approvalId)
    const asked = Requests.ofResponse(part)
    if (Requests.isOfAgents(asked)) return []
    // A client finds a call by its id, and one of an agent is none of this message: it is introduced, by what is known of it.
    if (call === undefined && asked !== undefined && (asked.path?.length ?? 0) > 0) {
      const made = calls.begin(asked.toolCallId, asked.toolName)
      made.isComplete = true
      made.approvalIds.add(approvalId)
      made.shown = approvalId
      return [
        ...inStep([{ type: "tool-input-available", ...naming(made, false), input: asked.params }]),
        Requests.chunk(approvalId, made, asked)
      ]
    }
    if (call === undefined) {
      return [Fates.passing({
        approvalId,
        toolCallId: part.toolCallId,
        toolName: asked?.toolName ?? "unknown",
        state: "open"
      })]
    }
    // The card is open, and the person may be about to answer.
    if (call.shown === approvalId) return []
    call.shown = approvalId
    return [Requests.chunk(approvalId, call, asked)]
  }

  const source = (part: Response.DocumentSourcePart | Response.UrlSourcePart): ReadonlyArray<Chunk> => {
    const { id: sourceId, title } = part
    if (part.sourceType === "url") {
      const { href: url, protocol } = part.url
      // A page makes a link of it, and a link to a script is a script.
      return protocol === "https:" || protocol === "http:" ? inStep([{ type: "source-url", sourceId, url, title }]) : []
    }
    const filename = part.fileName === undefined ? undefined : { filename: part.fileName }
    return inStep([{ type: "source-document", sourceId, mediaType: part.mediaType, title, ...filename }])
  }

  const next = (part: Response.AnyPart): ReadonlyArray<Chunk> => {
    switch (part.type) {
      case "text":
      case "reasoning":
        return whole(part.type, part.text)
      case "text-start":
        return begin("text", part.id)
      case "text-delta":
        return goOn("text", part.id, part.delta)
      case "text-end":
        return end("text", part.id)
      case "reasoning-start":
        return begin("reasoning", part.id)
      case "reasoning-delta":
        return goOn("reasoning", part.id, part.delta)
      case "reasoning-end":
        return end("reasoning", part.id)
      case "tool-params-start": {
        const call = calls.begin(part.id, part.name)
        return inStep([{ type: "tool-input-start", ...naming(call, part.providerExecuted) }])
      }
      case "tool-params-delta": {
        const call = calls.begun(part.id)
        return call === undefined
          ? []
          : [{ type: "tool-input-delta", toolCallId: call.wireId, inputTextDelta: part.delta }]
      }
      case "tool-call": {
        const call = calls.begin(part.id, part.name)
        call.isComplete = true
        return inStep([{ type: "tool-input-available", ...naming(call, part.providerExecuted), input: part.params }])
      }
      case "tool-result":
        return result(part)
      case "tool-approval-request":
        return request(part)
      case "file":
        return inStep([{ type: "file", mediaType: part.mediaType, url: dataUrl(part.mediaType, part.data) }])
      case "source":
        return source(part)
      case "finish":
        reason = reasons[part.reason] ?? "other"
        return endAll()
      case "error":
        error = Sentences.ofError(part.error)
        return []
      default:
        return []
    }
  }

  return { next, end: endAll, finishReason: () => reason, error: () => error }
}

const naming = ({ name, wireId }: Call, providerExecuted: boolean) => ({
  toolCallId: wireId,
  toolName: name,
  ...(providerExecuted ? { providerExecuted: true as const } : undefined)
})

/** The chunk that settles a call, or shows how far it has come. */
export const output = (
  { wireId: toolCallId }: Pick<Call, "wireId">,
  outcome: Fates.Outcome,
  part: { readonly providerExecuted: boolean; readonly preliminary?: boolean }
): Chunk => {
  const { isFailure, name, result } = outcome
  const hosted = part.providerExecuted ? { providerExecuted: true as const } : undefined
  if (Fates.stateOf(outcome) === "denied") return { type: "tool-output-denied", toolCallId }
  return isFailure
    ? { type: "tool-output-error", toolCallId, errorText: Sentences.ofResult(name, result), ...hosted }
    : {
      type: "tool-output-available",
      toolCallId,
      // What a tool without a result gives is no JSON.
      output: result ?? null,
      ...(part.preliminary === true ? { preliminary: true as const } : undefined),
      ...hosted
    }
}

const reasons: Readonly<Record<string, FinishReason>> = {
  "stop": "stop",
  "length": "length",
  "content-filter": "content-filter",
  "tool-calls": "tool-calls",
  "error": "error"
}

/** A file as an address that holds it. */
export const dataUrl = (mediaType: string, data: Uint8Array): string =>
  `data:${mediaType};base64,${Base64.encode(data)}`
