/** The events of a response as the parts of a stream: chunk by chunk, as OpenAI sends them. */
import type * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Pull from "effect/Pull"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import type * as Responses from "openai/resources/responses/responses"
import * as Errors from "../client/errors.ts"
import * as Hosted from "../items/hosted.ts"
import * as Local from "../items/local.ts"
import * as Metadata from "../metadata.ts"
import * as Citations from "./citations.ts"
import * as Finish from "./finish.ts"
import * as Items from "./items.ts"
import * as Output from "./output.ts"
import * as Repeated from "./repeated.ts"

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
  /** Called with the response that has come to its end, and how it did. */
  readonly onEnd: (response: Responses.Response, finish: Response.FinishPartEncoded) => void
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
          const read = Result.try({
            try: () => {
              let failed: AiError.AiError | undefined
              for (let index = 0; index < chunk.length && failed === undefined; index++) {
                failed = reader.read(chunk[index]!, parts)
              }
              return failed
            },
            catch: () => Errors.misfit(context)
          })
          failure = Result.merge(read)
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

const make = (options: Options): Reader => {
  const items = Output.makeItemReader(options)
  const streamed = Items.make()
  const isRepeated = Repeated.make()
  let started = false
  let begun = false
  let isEmpty = true
  let ended = false

  const origin = (itemId: string) => ({ openai: Metadata.json({ ...items.origin, itemId }) })

  const textStart = (item: Items.Streamed, index: number, parts: Array<Part>): Items.Said => {
    const known = item.texts[index]
    if (known !== undefined) return known
    const said = item.texts[index] = { id: indexed(item.itemId, index), isRaw: false, length: 0, last: "" }
    parts.push({ type: "text-start", id: said.id, metadata: origin(item.itemId) })
    return said
  }

  const text = (said: Items.Said, delta: string, type: "text-delta" | "reasoning-delta", parts: Array<Part>): void => {
    if (typeof delta !== "string" || delta.length === 0) return
    said.length += delta.length
    said.last = delta
    parts.push({ type, id: said.id, delta })
  }

  const source = (
    item: Items.Streamed,
    contentIndex: number,
    index: number,
    annotation: Responses.ResponseOutputText["annotations"][number],
    parts: Array<Part>
  ): void => {
    item.sources[contentIndex] = index + 1
    const part = Citations.source(annotation, Citations.sourceId(item.itemId, contentIndex, index))
    if (part !== undefined) parts.push(part)
  }

  const messageDone = (item: Responses.ResponseOutputMessage, of: Items.Streamed, parts: Array<Part>): void => {
    const contents = Output.contentOf(item)
    for (let index = 0; index < Math.max(contents.length, of.texts.length, of.refusals.length); index++) {
      const refusal = of.refusals[index]
      const content = contents[index] ??
        (refusal === undefined
          ? { type: "output_text" as const, text: "", annotations: [] }
          : { type: "refusal" as const, refusal })
      const said = textStart(of, index, parts)
      let corrected: string | undefined
      if (content.type === "output_text") {
        const whole = content.text ?? ""
        text(said, Items.missing(whole, said), "text-delta", parts)
        // What is out cannot be taken back, but the model is told what it said.
        if (whole.length > 0 && !Items.isWhole(whole, said)) corrected = whole
        Output.annotationsOf(content).forEach((annotation, place) => {
          if (place >= (of.sources[index] ?? 0)) source(of, index, place, annotation, parts)
        })
      }
      parts.push({
        type: "text-end",
        id: said.id,
        metadata: { openai: Metadata.json({ ...items.text(item, content), corrected }) }
      })
    }
  }

  const thought = (item: Items.Streamed, index: number, raw: boolean, parts: Array<Part>): Items.Said => {
    const id = raw ? `${item.itemId}:raw:${index}` : indexed(item.itemId, index)
    const known = item.thoughts.get(id)
    if (known !== undefined) return known
    if (item.thought !== undefined) parts.push({ type: "reasoning-end", id: item.thought })
    item.thought = id
    const said = { id, isRaw: raw, length: 0, last: "" }
    item.thoughts.set(id, said)
    parts.push({
      type: "reasoning-start",
      id,
      metadata: { openai: Metadata.json({ ...items.origin, itemId: item.itemId, raw: raw || undefined }) }
    })
    return said
  }

  const thoughtDone = (item: Items.Streamed, index: number, raw: boolean, whole: string, parts: Array<Part>): void => {
    const said = thought(item, index, raw, parts)
    // What is closed cannot go on.
    if (said.id === item.thought) text(said, Items.missing(whole, said), "reasoning-delta", parts)
  }

  const reasoningDone = (item: Responses.ResponseReasoningItem, of: Items.Streamed, parts: Array<Part>): void => {
    // Of each kind in its order: its places may begin with another number than the first.
    const begun = [...of.thoughts.values()]
    for (const { index, raw, text: whole } of Output.thoughtsOf(item)) {
      const isRaw = raw === true
      const next = () => thought(of, begun.length === 0 ? index : of.thoughts.size + index, isRaw, parts)
      const said = begun.filter((said) => said.isRaw === isRaw)[index] ?? next()
      const missing = Items.missing(whole, said)
      // What is closed cannot go on.
      if (missing.length > 0) text(said.id === of.thought ? said : next(), missing, "reasoning-delta", parts)
    }
    if (of.thought === undefined) thought(of, 0, false, parts)
    parts.push({
      type: "reasoning-end",
      id: of.thought!,
      metadata: {
        openai: Metadata.json({
          ...items.origin,
          itemId: Items.idOf(item) ?? of.itemId,
          encryptedContent: item.encrypted_content ?? undefined
        })
      }
    })
  }

  const added = (item: Responses.ResponseOutputItem, of: Items.Streamed, parts: Array<Part>): void => {
    if (of.added !== undefined) return
    of.added = item
    if (item.type === "function_call" || item.type === "custom_tool_call") {
      const { ofCustom, ofFunction } = options.directory
      of.call = Local.callId(item)
      const { name } = item.type === "function_call" ? ofFunction(item.name) : ofCustom(item.name)
      parts.push({ type: "tool-params-start", id: of.call, name })
      return
    }
    if (!Hosted.isHosted(item) || isAnswer(item)) return
    const owner = options.directory.ofItem(item)
    of.call = owner?.tool === undefined ? undefined : Items.idOf(item)
    if (owner === undefined || of.call === undefined) return
    parts.push({ type: "tool-params-start", id: of.call, name: owner.name, providerExecuted: true })
  }

  const done = (item: Responses.ResponseOutputItem, of: Items.Streamed, parts: Array<Part>): void => {
    if (of.done !== undefined) return
    of.done = item
    isEmpty = false
    const first = parts.length
    if (item.type === "message") messageDone(item, of, parts)
    else if (item.type === "reasoning") reasoningDone(item, of, parts)
    else otherDone(item, of, parts)
    // What comes late goes back in its place.
    const before = streamed.behind(of)
    if (before === undefined) return
    for (let index = first; index < parts.length; index++) parts[index] = standing(parts[index]!, before)
  }

  const otherDone = (item: Responses.ResponseOutputItem, of: Items.Streamed, parts: Array<Part>): void => {
    if (of.call !== undefined) parts.push({ type: "tool-params-end", id: of.call })
    const whole: Array<Response.PartEncoded> = []
    // What stands for an item in a stream is what stands for it in a whole response, but for the texts.
    items.item(withWritten(item, of), whole)
    for (const part of whole) {
      if (part.type !== "reasoning") {
        parts.push(part as Part)
        continue
      }
      const id = `${item.type}:${parts.length}:${"id" in item ? item.id : ""}`
      parts.push({ type: "reasoning-start", id }, { type: "reasoning-end", id, ...metadataOf(part) })
    }
  }

  const begin = (response: Responses.Response, parts: Array<Part>): void => {
    if (begun) return
    begun = true
    items.begin(response)
    parts.push(Finish.metadata(response))
  }

  const end = (response: Responses.Response, parts: Array<Part>): void => {
    ended = true
    begin(response, parts)
    const output = Array.isArray(response.output) ? response.output.flatMap(Output.itemOf) : []
    // Items that no event had, or that no event ended.
    for (const [item, of] of streamed.inResponse(output)) {
      if (of.done !== undefined) continue
      added(item, of, parts)
      done(item, of, parts)
    }
    for (const of of streamed.all()) {
      const item = of.done === undefined ? Items.unfinished(of) : undefined
      if (item !== undefined) done(item, of, parts)
    }
    const finish = Finish.part(response, items.asked)
    options.onEnd(response, finish)
    mark(response, parts)
    parts.push(finish)
  }

  const mark = (response: Responses.Response, parts: Array<Part>): void => {
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
      // One request has one response.
      if (ended || isRepeated(event)) return
      switch (event.type) {
        case "response.output_text.delta":
          text(textStart(streamed.at(event, undefined), event.content_index, parts), event.delta, "text-delta", parts)
          return
        case "response.output_text.done": {
          const said = textStart(streamed.at(event, undefined), event.content_index, parts)
          text(said, Items.missing(event.text ?? "", said), "text-delta", parts)
          return
        }
        case "response.refusal.done":
          streamed.at(event, undefined).refusals[event.content_index] = event.refusal
          return
        case "response.function_call_arguments.delta":
        case "response.custom_tool_call_input.delta": {
          const item = streamed.at(event, undefined)
          if (typeof event.delta !== "string") return
          item.written += event.delta
          if (item.call !== undefined) parts.push({ type: "tool-params-delta", id: item.call, delta: event.delta })
          return
        }
        case "response.function_call_arguments.done":
          streamed.at(event, undefined).written = event.arguments
          return
        case "response.custom_tool_call_input.done":
          streamed.at(event, undefined).written = event.input
          return
        case "response.reasoning_summary_text.delta": {
          const said = thought(streamed.at(event, undefined), event.summary_index, false, parts)
          text(said, event.delta, "reasoning-delta", parts)
          return
        }
        case "response.reasoning_text.delta": {
          const said = thought(streamed.at(event, undefined), event.content_index, true, parts)
          text(said, event.delta, "reasoning-delta", parts)
          return
        }
        case "response.reasoning_summary_text.done":
          thoughtDone(streamed.at(event, undefined), event.summary_index, false, event.text, parts)
          return
        case "response.reasoning_text.done":
          thoughtDone(streamed.at(event, undefined), event.content_index, true, event.text, parts)
          return
        case "response.created":
        case "response.queued":
        case "response.in_progress":
          begin(event.response, parts)
          return
        case "response.output_item.added":
          for (const item of Output.itemOf(event.item)) added(item, streamed.at(event, Items.idOf(item)), parts)
          return
        case "response.output_item.done":
          for (const item of Output.itemOf(event.item)) done(item, streamed.at(event, Items.idOf(item)), parts)
          return
        case "response.content_part.added":
          if (event.part?.type === "output_text") textStart(streamed.at(event, undefined), event.content_index, parts)
          return
        case "response.reasoning_summary_part.added":
          thought(streamed.at(event, undefined), event.summary_index, false, parts)
          return
        case "response.output_text.annotation.added": {
          if (event.annotation === null) return
          const item = streamed.at(event, undefined)
          source(item, event.content_index, event.annotation_index, event.annotation, parts)
          return
        }
        case "response.image_generation_call.partial_image": {
          const owner = options.directory.ofItem({ type: "image_generation_call" })
          if (owner?.tool !== undefined) parts.push(partialImage(event, owner.name))
          return
        }
        case "response.completed":
        case "response.incomplete":
          end(event.response, parts)
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

/** An item with what its events had written, where it is done without that. */
const withWritten = (item: Responses.ResponseOutputItem, { written }: Items.Streamed): Responses.ResponseOutputItem =>
  item.type === "function_call" && !item.arguments
    ? { ...item, arguments: written }
    : item.type === "custom_tool_call" && !item.input
    ? { ...item, input: written }
    : item

const isAnswer = (item: Hosted.Item): boolean =>
  item.type === "mcp_call" && typeof item.approval_request_id === "string"

const metadataOf = ({ metadata }: Response.ReasoningPartEncoded) => metadata === undefined ? undefined : { metadata }

/** A part of an item that has its place before another, which came first. */
const standing = (part: Part, before: string): Part => {
  switch (part.type) {
    case "text-end":
      return { ...part, metadata: { ...part.metadata, openai: { ...part.metadata?.openai, before } } }
    case "reasoning-end":
      return { ...part, metadata: { ...part.metadata, openai: { ...part.metadata?.openai, before } } }
    case "tool-call":
      return { ...part, metadata: { ...part.metadata, openai: { ...part.metadata?.openai, before } } }
    case "tool-result":
      return { ...part, metadata: { ...part.metadata, openai: { ...part.metadata?.openai, before } } }
  }
  return part
}

const indexed = (itemId: string, index: number): string => index === 0 ? itemId : `${itemId}:${index}`

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
