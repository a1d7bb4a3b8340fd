/** The events of a response as the parts of a stream: chunk by chunk, as OpenAI sends them. */
import type * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"
import type * as Responses from "openai/resources/responses/responses"
import * as Errors from "../client/errors.ts"
import * as Hosted from "../items/hosted.ts"
import * as Metadata from "../metadata.ts"
import * as Citations from "./citations.ts"
import * as Finish from "./finish.ts"
import * as Output from "./output.ts"

type Part = Response.StreamPartEncoded
type Chunk = Arr.NonEmptyReadonlyArray<Part>

const context: Errors.ErrorContext = { module: "OpenAiLanguageModel", method: "streamText" }

export interface Options extends Output.Reading {
  /** Called once anything has come. */
  readonly onStart: () => void
  /** Reads the params of a call as its tool has them. */
  readonly readCall: (part: Part) => Effect.Effect<Part>
  /** What an error of OpenAI's must not repeat. */
  readonly secrets: () => ReadonlyArray<string>
  readonly onEnd: (response: Responses.Response) => void
}

/** The parts of a stream of events. It fails when OpenAI says so, and when it ends before the response does. */
export const parts = (
  events: Stream.Stream<Responses.ResponseStreamEvent, AiError.AiError>,
  options: Options
): Stream.Stream<Part, AiError.AiError> =>
  Stream.transformPull(events, (pull) =>
    Effect.sync(() => {
      const reader = make(options)
      let failure: AiError.AiError | undefined
      const next: Pull.Pull<Chunk, AiError.AiError> = Effect.suspend(() =>
        failure !== undefined ? Effect.fail(failure) : Effect.flatMap(pull, (chunk) => {
          const parts: Array<Part> = []
          for (let index = 0; index < chunk.length && failure === undefined; index++) {
            failure = reader.read(chunk[index]!, parts)
          }
          // What came before a failure is not lost.
          if (!Arr.isArrayNonEmpty(parts)) return next
          return reader.sawCall() ? Effect.forEach(parts, options.readCall) : Effect.succeed(parts)
        })
      )
      return Pull.catchDone(
        next,
        (): Pull.Pull<never, AiError.AiError> => reader.hasEnded() ? Cause.done() : Effect.fail(Errors.cut(context))
      )
    }))

interface Reader {
  /** Writes the parts of an event; what it returns is how the stream fails. */
  readonly read: (event: Responses.ResponseStreamEvent, parts: Array<Part>) => AiError.AiError | undefined
  readonly hasEnded: () => boolean
  /** Whether any call has come that is to be read, or sealed. */
  readonly sawCall: () => boolean
}

/** A message, a reasoning or a call that has begun and is not done. */
interface Open {
  /** Ids of the texts that have begun, by their index. */
  readonly texts: Array<string | undefined>
  /** How many sources of each text are out already. */
  readonly sources: Array<number>
  /** The summary that is open, of a reasoning. */
  summary: string | undefined
}

const make = (options: Options): Reader => {
  const items = Output.makeItemReader(options)
  const open = new Map<string, Open>()
  const calls = new Map<string, string>()
  let started = false
  let isEmpty = true
  let ended = false

  const opened = (itemId: string): Open => {
    let found = open.get(itemId)
    if (found === undefined) open.set(itemId, found = { texts: [], sources: [], summary: undefined })
    return found
  }

  const origin = (itemId: string) => ({ openai: Metadata.json({ ...items.origin, itemId }) })

  const textStart = (itemId: string, index: number, parts: Array<Part>): string => {
    const { texts } = opened(itemId)
    const known = texts[index]
    if (known !== undefined) return known
    const id = texts[index] = indexed(itemId, index)
    parts.push({ type: "text-start", id, metadata: origin(itemId) })
    return id
  }

  const source = (
    itemId: string,
    contentIndex: number,
    index: number,
    annotation: Responses.ResponseOutputText["annotations"][number],
    parts: Array<Part>
  ): void => {
    const part = Citations.source(annotation, Citations.sourceId(itemId, contentIndex, index))
    if (part !== undefined) parts.push(part)
  }

  const messageDone = (item: Responses.ResponseOutputMessage, parts: Array<Part>): void => {
    item.content.forEach((content, contentIndex) => {
      const begun = opened(item.id).texts[contentIndex] !== undefined
      const id = textStart(item.id, contentIndex, parts)
      if (content.type === "output_text") {
        if (!begun && content.text.length > 0) parts.push({ type: "text-delta", id, delta: content.text })
        const out = opened(item.id).sources[contentIndex] ?? 0
        content.annotations?.forEach((annotation, index) => {
          if (index >= out) source(item.id, contentIndex, index, annotation, parts)
        })
      }
      parts.push({
        type: "text-end",
        id,
        metadata: { openai: items.text(item, content) }
      })
    })
    open.delete(item.id)
  }

  const reasoningStart = (itemId: string, id: string, raw: boolean, parts: Array<Part>): void => {
    const item = opened(itemId)
    if (item.summary === id) return
    if (item.summary !== undefined) parts.push({ type: "reasoning-end", id: item.summary })
    item.summary = id
    parts.push({
      type: "reasoning-start",
      id,
      metadata: { openai: Metadata.json({ ...items.origin, itemId, raw: raw || undefined }) }
    })
  }

  const reasoningDone = (item: Responses.ResponseReasoningItem, parts: Array<Part>): void => {
    if (opened(item.id).summary === undefined) {
      const texts = [
        ...item.summary.map(({ text }, index) => ({ id: indexed(item.id, index), raw: false, text })),
        ...(item.content ?? []).map(({ text }, index) => ({ id: rawId(item.id, index), raw: true, text }))
      ]
      for (const { id, raw, text } of texts) {
        reasoningStart(item.id, id, raw, parts)
        parts.push({ type: "reasoning-delta", id, delta: text })
      }
      if (texts.length === 0) reasoningStart(item.id, item.id, false, parts)
    }
    parts.push({
      type: "reasoning-end",
      id: opened(item.id).summary!,
      metadata: {
        openai: Metadata.json({
          ...items.origin,
          itemId: item.id,
          encryptedContent: item.encrypted_content ?? undefined
        })
      }
    })
    open.delete(item.id)
  }

  const added = (item: Responses.ResponseOutputItem, parts: Array<Part>): void => {
    if (item.type === "function_call") {
      if (item.id !== undefined) calls.set(item.id, item.call_id)
      parts.push({ type: "tool-params-start", id: item.call_id, name: options.directory.ofFunction(item.name).name })
      return
    }
    if (!Hosted.isHosted(item) || isAnswer(item)) return
    const owner = options.directory.ofItem(item)
    if (owner?.tool === undefined) return
    calls.set(item.id, item.id)
    parts.push({ type: "tool-params-start", id: item.id, name: owner.name, providerExecuted: true })
  }

  const done = (item: Responses.ResponseOutputItem, parts: Array<Part>): void => {
    if (item.type === "message") return messageDone(item, parts)
    if (item.type === "reasoning") return reasoningDone(item, parts)
    const id = "id" in item && typeof item.id === "string" ? item.id : undefined
    const call = id === undefined ? undefined : calls.get(id)
    if (call !== undefined) parts.push({ type: "tool-params-end", id: call })
    const whole: Array<Response.PartEncoded> = []
    // What stands for an item in a stream is what stands for it in a whole response, but for the texts.
    items.item(item, whole)
    for (const part of whole) {
      if (part.type !== "reasoning") {
        parts.push(part as Part)
        continue
      }
      const id = `${item.type}:${parts.length}:${"id" in item ? item.id : ""}`
      parts.push({ type: "reasoning-start", id }, { type: "reasoning-end", id, ...metadataOf(part) })
    }
  }

  const end = (response: Responses.Response, parts: Array<Part>): void => {
    const origin = items.ended(response)
    if (!isEmpty && origin.conversationId === undefined) return
    const id = response.id
    parts.push({ type: "text-start", id }, { type: "text-end", id, metadata: Output.mark(origin) })
  }

  return {
    hasEnded: () => ended,
    sawCall: () => items.asked.localCalls || items.asked.approvals,
    read: (event, parts) => {
      if (!started) {
        started = true
        options.onStart()
      }
      switch (event.type) {
        case "response.output_text.delta": {
          const id = textStart(event.item_id, event.content_index, parts)
          parts.push({ type: "text-delta", id, delta: event.delta })
          return
        }
        case "response.function_call_arguments.delta": {
          const id = calls.get(event.item_id)
          if (id !== undefined) parts.push({ type: "tool-params-delta", id, delta: event.delta })
          return
        }
        case "response.reasoning_summary_text.delta": {
          const id = indexed(event.item_id, event.summary_index)
          reasoningStart(event.item_id, id, false, parts)
          parts.push({ type: "reasoning-delta", id, delta: event.delta })
          return
        }
        case "response.reasoning_text.delta": {
          const id = rawId(event.item_id, event.content_index)
          reasoningStart(event.item_id, id, true, parts)
          parts.push({ type: "reasoning-delta", id, delta: event.delta })
          return
        }
        case "response.created":
          items.begin(event.response)
          parts.push(Finish.metadata(event.response))
          return
        case "response.output_item.added":
          added(event.item, parts)
          return
        case "response.output_item.done":
          isEmpty = false
          done(event.item, parts)
          return
        case "response.content_part.added":
          if (event.part.type === "output_text") textStart(event.item_id, event.content_index, parts)
          return
        case "response.reasoning_summary_part.added":
          reasoningStart(event.item_id, indexed(event.item_id, event.summary_index), false, parts)
          return
        case "response.output_text.annotation.added": {
          if (event.annotation === null) return
          const { sources } = opened(event.item_id)
          sources[event.content_index] = event.annotation_index + 1
          source(event.item_id, event.content_index, event.annotation_index, event.annotation, parts)
          return
        }
        case "response.image_generation_call.partial_image": {
          const owner = options.directory.ofItem({ type: "image_generation_call" })
          if (owner?.tool !== undefined) parts.push(partialImage(event, owner.name))
          return
        }
        case "response.completed":
        case "response.incomplete":
          ended = true
          options.onEnd(event.response)
          end(event.response, parts)
          parts.push(Finish.part(event.response, items.asked))
          return
        case "response.failed":
          ended = true
          return Errors.fromProviderError(event.response.error ?? {}, { ...context, secrets: options.secrets })
        case "error":
          ended = true
          return Errors.fromProviderError(event, { ...context, secrets: options.secrets })
      }
      return
    }
  }
}

const isAnswer = (item: Hosted.Item): boolean =>
  item.type === "mcp_call" && typeof item.approval_request_id === "string"

const metadataOf = ({ metadata }: Response.ReasoningPartEncoded) => metadata === undefined ? undefined : { metadata }

const indexed = (itemId: string, index: number): string => index === 0 ? itemId : `${itemId}:${index}`

const rawId = (itemId: string, index: number): string => `${itemId}:raw:${index}`

const partialImage = (
  event: Responses.ResponseImageGenCallPartialImageEvent,
  name: string
): Response.ToolResultPartEncoded => ({
  type: "tool-result",
  id: event.item_id,
  name,
  isFailure: false,
  result: { result: event.partial_image_b64 },
  providerExecuted: true,
  preliminary: true
})
