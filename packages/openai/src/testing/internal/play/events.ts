/**
 * The events in which OpenAI streams an output item, in the order it was recorded to send them.
 *
 * @see the `*.chunks.txt` fixtures of vercel/ai's `packages/openai`
 */
import type * as Responses from "openai/resources/responses/responses"
import type { OutputItem } from "../stage/items.ts"

type Unnumbered<E> = E extends unknown ? Omit<E, "sequence_number"> : never

/** An event before it has its number. */
export type Event = Unnumbered<Responses.ResponseStreamEvent>

export interface Options {
  /** Characters of a delta. */
  readonly deltaSize: number
  /** Whether deltas are padded, so that their length does not tell what is in them. */
  readonly obfuscate: boolean
}

/** Events of one item, made as they are taken, so that a long stream needs no memory. */
export const ofItem = (item: OutputItem, output_index: number, options: Options): Iterable<Event> => {
  const known = item as Responses.ResponseOutputItem
  switch (known.type) {
    case "message":
      return ofMessage(known, output_index, options)
    case "reasoning":
      return ofReasoning(known, output_index, options)
    case "function_call":
      return ofFunctionCall(known, output_index, options)
    case "mcp_list_tools":
      return [
        added({ ...known, tools: [] }, output_index),
        { type: "response.mcp_list_tools.in_progress", item_id: known.id, output_index },
        { type: "response.mcp_list_tools.completed", item_id: known.id, output_index },
        done(known, output_index)
      ]
    case "mcp_call":
      return ofMcpCall(known, output_index, options)
    case "web_search_call":
      return [
        added({ ...known, status: "in_progress" }, output_index),
        { type: "response.web_search_call.in_progress", item_id: known.id, output_index },
        { type: "response.web_search_call.searching", item_id: known.id, output_index },
        { type: "response.web_search_call.completed", item_id: known.id, output_index },
        done(known, output_index)
      ]
    case "file_search_call":
      return [
        added({ ...known, status: "in_progress", results: null }, output_index),
        { type: "response.file_search_call.in_progress", item_id: known.id, output_index },
        { type: "response.file_search_call.searching", item_id: known.id, output_index },
        { type: "response.file_search_call.completed", item_id: known.id, output_index },
        done(known, output_index)
      ]
    case "code_interpreter_call":
      return ofCode(known, output_index, options)
    case "image_generation_call":
      return [
        added({ id: known.id, type: known.type, status: "in_progress", result: null }, output_index),
        { type: "response.image_generation_call.in_progress", item_id: known.id, output_index },
        { type: "response.image_generation_call.generating", item_id: known.id, output_index },
        {
          type: "response.image_generation_call.partial_image",
          item_id: known.id,
          output_index,
          partial_image_index: 0,
          partial_image_b64: known.result ?? "",
          output_format: known.output_format ?? "png"
        },
        { type: "response.image_generation_call.completed", item_id: known.id, output_index },
        done(known, output_index)
      ]
    default:
      // An approval request among them: it has no events of its own.
      return [added(known, output_index), done(known, output_index)]
  }
}

const added = (item: Responses.ResponseOutputItem, output_index: number): Event => ({
  type: "response.output_item.added",
  output_index,
  item
})

const done = (item: Responses.ResponseOutputItem, output_index: number): Event => ({
  type: "response.output_item.done",
  output_index,
  item
})

function* ofMessage(item: Responses.ResponseOutputMessage, output_index: number, options: Options): Generator<Event> {
  yield added({ ...item, status: "in_progress", content: [] }, output_index)
  for (const [content_index, part] of item.content.entries()) {
    const at = { item_id: item.id, output_index, content_index }
    if (part.type === "refusal") {
      yield { type: "response.content_part.added", ...at, part: { type: "refusal", refusal: "" } }
      for (const delta of deltas(part.refusal, options)) yield { type: "response.refusal.delta", ...at, ...delta }
      yield { type: "response.refusal.done", ...at, refusal: part.refusal }
    } else {
      const empty = { type: "output_text" as const, annotations: [], logprobs: [], text: "" }
      yield { type: "response.content_part.added", ...at, part: empty }
      for (const delta of deltas(part.text, options)) {
        yield { type: "response.output_text.delta", ...at, ...delta, logprobs: [] }
      }
      for (const [annotation_index, annotation] of part.annotations.entries()) {
        yield { type: "response.output_text.annotation.added", ...at, annotation_index, annotation }
      }
      yield { type: "response.output_text.done", ...at, text: part.text, logprobs: [] }
    }
    yield { type: "response.content_part.done", ...at, part }
  }
  yield done(item, output_index)
}

function* ofReasoning(item: Responses.ResponseReasoningItem, output_index: number, options: Options): Generator<Event> {
  yield added({ ...item, summary: [] }, output_index)
  for (const [summary_index, part] of item.summary.entries()) {
    const at = { item_id: item.id, output_index, summary_index }
    yield { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } }
    for (const delta of deltas(part.text, options)) {
      yield { type: "response.reasoning_summary_text.delta", ...at, ...delta }
    }
    yield { type: "response.reasoning_summary_text.done", ...at, text: part.text }
    yield { type: "response.reasoning_summary_part.done", ...at, part }
  }
  yield done(item, output_index)
}

function* ofFunctionCall(item: Responses.ResponseFunctionToolCall, output_index: number, options: Options): Generator<
  Event
> {
  const at = { item_id: item.id ?? "", output_index }
  yield added({ ...item, status: "in_progress", arguments: "" }, output_index)
  for (const delta of deltas(item.arguments, options)) {
    yield { type: "response.function_call_arguments.delta", ...at, ...delta }
  }
  yield { type: "response.function_call_arguments.done", ...at, arguments: item.arguments }
  yield done(item, output_index)
}

const ofMcpCall = (
  item: Responses.ResponseOutputItem.McpCall,
  output_index: number,
  options: Options
): ReadonlyArray<Event> => [
  added({ ...item, status: "in_progress", arguments: "", output: null, error: null }, output_index),
  { type: "response.mcp_call.in_progress", item_id: item.id, output_index },
  // Recorded: the arguments are known already and come in one piece.
  {
    type: "response.mcp_call_arguments.delta",
    item_id: item.id,
    output_index,
    ...padded(item.arguments, options)
  },
  { type: "response.mcp_call_arguments.done", item_id: item.id, output_index, arguments: item.arguments },
  item.status === "failed"
    ? { type: "response.mcp_call.failed", item_id: item.id, output_index }
    : { type: "response.mcp_call.completed", item_id: item.id, output_index },
  done(item, output_index)
]

function* ofCode(
  item: Responses.ResponseCodeInterpreterToolCall,
  output_index: number,
  options: Options
): Generator<Event> {
  const code = item.code ?? ""
  const at = { item_id: item.id, output_index }
  yield added({ ...item, status: "in_progress", code: "", outputs: [] }, output_index)
  yield { type: "response.code_interpreter_call.in_progress", ...at }
  for (const delta of deltas(code, options)) {
    yield { type: "response.code_interpreter_call_code.delta", ...at, ...delta }
  }
  yield { type: "response.code_interpreter_call_code.done", ...at, code }
  yield { type: "response.code_interpreter_call.interpreting", ...at }
  yield { type: "response.code_interpreter_call.completed", ...at }
  yield done(item, output_index)
}

interface Delta {
  readonly delta: string
  readonly obfuscation?: string
}

/** Pieces of whole characters; only the network may cut one in two. */
function* deltas(text: string, options: Options): Generator<Delta> {
  let piece = ""
  let length = 0
  for (const character of text) {
    piece += character
    length += 1
    if (length < options.deltaSize) continue
    yield padded(piece, options)
    piece = ""
    length = 0
  }
  if (length > 0) yield padded(piece, options)
}

const padded = (delta: string, options: Options): Delta =>
  options.obfuscate ? { delta, obfuscation: "aSsEnTaSsEnTaSsE".slice(delta.length % 16) } : { delta }
