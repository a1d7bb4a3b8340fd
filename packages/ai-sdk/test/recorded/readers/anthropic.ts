/**
 * Reads recorded answers of Anthropic's Messages API.
 *
 * https://platform.claude.com/docs/en/api/messages, and https://platform.claude.com/docs/en/build-with-claude/streaming
 */
import type { Answer } from "../answer.ts"
import { empty } from "../answer.ts"
import { at, keys, list, number, params, present, string, sum } from "../json.ts"

const finish: Readonly<Record<string, string>> = {
  end_turn: "stop",
  stop_sequence: "stop",
  pause_turn: "stop",
  tool_use: "tool-calls",
  max_tokens: "length",
  model_context_window_exceeded: "length",
  refusal: "content-filter"
}

/** Reads a message. */
export const message = (body: unknown): Answer => {
  const content = list(body, "content")
  const of = (...types: ReadonlyArray<string>) => content.filter((block) => types.includes(string(block, "type") ?? ""))
  const reason = string(body, "stop_reason")
  // Each pass of a message that was compacted is counted by itself; an advisor's are another model's.
  const passes = list(body, "usage", "iterations").filter((pass) => string(pass, "type") !== "advisor_message")
  const counted = passes.length === 0 ? [at(body, "usage")] : passes
  const count = (name: string) => sum(...counted.map((pass) => number(pass, name)))
  return {
    ...empty,
    text: of("text", "compaction").map((block) => string(block, "text") ?? string(block, "content") ?? "").join(""),
    reasoning: of("thinking").map((block) => string(block, "thinking")).join(""),
    signatures: present(of("thinking").map((block) => string(block, "signature"))),
    calls: of("tool_use").map((block) => ({
      id: string(block, "id"),
      name: string(block, "name") ?? "",
      params: at(block, "input")
    })),
    hosted: of("server_tool_use", "mcp_tool_use").map((block) => ({ key: string(block, "id") ?? "" })),
    results: keys(
      content.filter((block) => string(block, "type")?.endsWith("_tool_result")).map((block) =>
        string(block, "tool_use_id")
      )
    ),
    sources: keys(
      of("web_search_tool_result").flatMap((block) => list(block, "content").map((found) => string(found, "url")))
    ),
    finish: reason === undefined ? undefined : finish[reason] ?? "other",
    usage: {
      input: sum(count("input_tokens"), count("cache_read_input_tokens"), count("cache_creation_input_tokens")),
      output: count("output_tokens"),
      cacheRead: count("cache_read_input_tokens")
    },
    id: string(body, "id"),
    model: string(body, "model")
  }
}

/** Reads the events of a stream: they are put together to the message that they tell of. */
export const stream = (events: ReadonlyArray<unknown>): Answer => {
  let head: object = {}
  let usage: object = {}
  let reason: unknown
  const blocks: Array<{ block: Record<string, unknown>; json: string }> = []
  const open = new Map<number, { block: Record<string, unknown>; json: string }>()
  for (const event of events) {
    const index = number(event, "index") ?? -1
    const block = open.get(index)
    switch (string(event, "type")) {
      case "message_start":
        head = at(event, "message") as object
        usage = at(head, "usage") as object
        reason = at(head, "stop_reason")
        blocks.push(...list(head, "content").map((each) => ({ block: { ...each as object }, json: "" })))
        break
      case "content_block_start": {
        const started = { block: { ...at(event, "content_block") as object }, json: "" }
        blocks.push(started)
        open.set(index, started)
        break
      }
      case "content_block_delta":
        if (block === undefined) break
        block.json += string(event, "delta", "partial_json") ?? ""
        for (const key of ["text", "thinking", "signature", "content"]) {
          const more = string(event, "delta", key)
          if (more !== undefined) block.block[key] = `${string(block.block, key) ?? ""}${more}`
        }
        break
      case "message_delta":
        reason = at(event, "delta", "stop_reason") ?? reason
        usage = {
          ...usage,
          ...Object.fromEntries(
            Object.entries(at(event, "usage") as object ?? {}).filter(([, value]) => value !== null)
          )
        }
        break
    }
  }
  const content = blocks.map(({ block, json }) => json === "" ? block : { ...block, input: params(json) })
  return message({ ...head, content, usage, stop_reason: reason })
}
