/**
 * Reads recorded answers of Bedrock's Converse and ConverseStream.
 *
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
import type { Answer } from "../answer.ts"
import { empty } from "../answer.ts"
import { at, list, number, params, present, string } from "../json.ts"

const finish: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  content_filtered: "content-filter",
  guardrail_intervened: "content-filter"
}

/** Reads a response of Converse. */
export const response = (body: unknown): Answer => {
  const content = list(body, "output", "message", "content")
  const thoughts = content.map((block) => at(block, "reasoningContent", "reasoningText"))
  const reason = string(body, "stopReason")
  return {
    ...empty,
    text: content.map((block) => string(block, "text") ?? "").join(""),
    reasoning: thoughts.map((thought) => string(thought, "text") ?? "").join(""),
    signatures: present(thoughts.map((thought) => string(thought, "signature"))),
    calls: content.filter((block) => at(block, "toolUse") !== undefined).map((block) => ({
      id: string(block, "toolUse", "toolUseId"),
      name: string(block, "toolUse", "name") ?? "",
      params: at(block, "toolUse", "input") ?? {}
    })),
    finish: reason === undefined ? undefined : finish[reason] ?? "other",
    usage: {
      output: number(body, "usage", "outputTokens"),
      cacheRead: number(body, "usage", "cacheReadInputTokens")
    }
  }
}

/** Reads the events of ConverseStream. */
export const stream = (events: ReadonlyArray<unknown>): Answer => {
  const blocks = new Map<number, { text: string; thought: string; signature: string; start: unknown; json: string }>()
  for (const event of events) {
    const inner = at(event, "contentBlockStart") ?? at(event, "contentBlockDelta")
    if (inner === undefined) continue
    const index = number(inner, "contentBlockIndex") ?? 0
    const block = blocks.get(index) ?? { text: "", thought: "", signature: "", start: undefined, json: "" }
    blocks.set(index, {
      text: block.text + (string(inner, "delta", "text") ?? ""),
      thought: block.thought + (string(inner, "delta", "reasoningContent", "text") ?? ""),
      signature: block.signature + (string(inner, "delta", "reasoningContent", "signature") ?? ""),
      start: block.start ?? at(inner, "start", "toolUse"),
      json: block.json + (string(inner, "delta", "toolUse", "input") ?? "")
    })
  }
  const content = [...blocks.values()].map(({ json, signature, start, text, thought }) =>
    start !== undefined
      ? { toolUse: { ...start as object, input: params(json) } }
      : thought !== "" || signature !== ""
      ? { reasoningContent: { reasoningText: { text: thought, signature } } }
      : { text }
  )
  const one = (name: string, key: string) => events.map((event) => at(event, name, key)).findLast((value) => value)
  return response({
    output: { message: { content } },
    stopReason: one("messageStop", "stopReason"),
    usage: one("metadata", "usage")
  })
}
