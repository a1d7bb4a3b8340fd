/**
 * Reads an answer by OpenAI's documentation, and not as the provider does: the items are put together first, whatever the
 * events that they came in.
 */
import { type Facts, isObject, type Json, objects, parse, say, string } from "./facts.ts"

export interface Answer {
  readonly response: Json
  readonly items: ReadonlyArray<Json>
}

/** The answer that the events of a stream make. */
export const ofEvents = (events: ReadonlyArray<Json>): Answer => {
  const items: Array<Json | undefined> = []
  let response: Json = {}
  const done = new Set<number>()
  for (const event of once(events)) {
    const index = typeof event["output_index"] === "number" ? event["output_index"] : -1
    const type = string(event["type"]) ?? ""
    const item = index < 0 ? undefined : items[index]
    if (type === "response.output_item.added" && isObject(event["item"])) items[index] = event["item"]
    else if (type === "response.output_item.done" && isObject(event["item"])) {
      items[index] = withContent(event["item"], item)
      done.add(index)
    } else if (type === "response.output_text.delta" || type === "response.refusal.delta") {
      items[index] = withText(item ?? { type: "message", id: event["item_id"] }, event)
    } else if (type === "response.function_call_arguments.delta" && item !== undefined) {
      items[index] = { ...item, arguments: `${string(item["arguments"]) ?? ""}${string(event["delta"])}` }
    } else if (type === "response.function_call_arguments.done" && item !== undefined) {
      items[index] = { ...item, arguments: event["arguments"] }
    } else if (type === "response.custom_tool_call_input.done" && item !== undefined) {
      items[index] = { ...item, input: event["input"] }
    } else if (isObject(event["response"])) {
      response = { ...response, ...event["response"], id: response["id"] ?? event["response"]["id"] }
      if (isLast(type)) {
        // What is not done by an event of its own is as the response has it at its end.
        objects(event["response"]["output"]).forEach((item, index) => {
          const isKnown = items.some((known, place) => done.has(place) && known?.["id"] === item["id"])
          if (!done.has(index) && !isKnown) items[index] = item
        })
        break
      }
    }
  }
  return { response, items: items.filter(isObject) }
}

/** Without what was sent twice: the number of an event is its own, where they are counted. */
const once = (events: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const numbers = new Set(events.map((event) => event["sequence_number"]))
  const known = new Set<string>()
  return numbers.size < 2 ? events : events.filter((event) => {
    const text = JSON.stringify(event)
    return event["sequence_number"] === undefined || !known.has(text) && known.add(text)
  })
}

export const ofBody = (body: Json): Answer => ({ response: body, items: objects(body["output"]) })

const isLast = (type: string): boolean => /^response\.(completed|incomplete|failed)$/.test(type)

// An item may be done without what its deltas had said.
const withContent = (done: Json, added: Json | undefined): Json =>
  added === undefined
    ? done
    : done["type"] === "message" && objects(done["content"]).length === 0
    ? { ...done, content: added["content"] }
    : done["type"] === "function_call" && !done["arguments"]
    ? { ...done, arguments: added["arguments"] }
    : done

const withText = (item: Json, event: Json): Json => {
  const content = [...objects(item["content"])]
  const index = Number(event["content_index"] ?? 0)
  const key = event["type"] === "response.refusal.delta" ? "refusal" : "text"
  const type = key === "text" ? "output_text" : "refusal"
  content[index] = { ...content[index], type, [key]: `${string(content[index]?.[key]) ?? ""}${string(event["delta"])}` }
  return { ...item, content }
}

/** Items of tools that OpenAI runs, each with what its call is asked to do. */
const hosted: Readonly<Record<string, (item: Json) => unknown>> = {
  code_interpreter_call: ({ code }) => ({ code }),
  file_search_call: ({ queries }) => ({ queries: queries ?? [] }),
  image_generation_call: () => ({}),
  mcp_call: (item) => ({ server_label: item["server_label"], name: item["name"], arguments: parse(item["arguments"]) }),
  web_search_call: ({ action }) => ({ type: isObject(action) ? action["type"] : undefined })
}

/** Calls that the program runs, each with its parameters. */
const called: Readonly<Record<string, (item: Json) => unknown>> = {
  function_call: (item) => parse(item["arguments"]),
  custom_tool_call: (item) => ({ input: item["input"] }),
  apply_patch_call: (item) => ({ call_id: item["call_id"], operation: item["operation"] }),
  local_shell_call: ({ action }) => ({ action }),
  shell_call: ({ action }) => ({ action })
}

/** The shell's calls that ran in a container of OpenAI's: their output is beside them. */
export const ranInside = (items: ReadonlyArray<Json>): ReadonlySet<unknown> =>
  new Set(items.filter(({ type }) => type === "shell_call_output").map((item) => item["call_id"]))

const isFailed = (item: Json): boolean =>
  item["status"] === "failed" || (item["type"] === "mcp_call" && item["error"] !== null && item["error"] !== undefined)

export const facts = ({ items, response }: Answer): Facts => {
  const facts: Facts = new Map()
  const inside = ranInside(items)
  const texts: Array<string> = []
  const thoughts: Array<string> = []
  let calls = 0
  let refusals = 0
  let asks = false
  for (const item of items) {
    const type = string(item["type"]) ?? ""
    const id = string(item["id"])
    if (type === "message") {
      for (const content of objects(item["content"])) {
        texts.push(string(content["text"]) ?? "")
        if (content["type"] === "refusal") say(facts, `refusal ${refusals++}`, content["refusal"])
        for (const note of objects(content["annotations"])) {
          const url = string(note["url"])
          if (url !== undefined && URL.canParse(url)) say(facts, `source ${new URL(url).href}`, true)
          const file = string(note["filename"]) ?? string(note["file_id"])
          if (file !== undefined) say(facts, `source ${file}`, true)
        }
      }
    } else if (type === "reasoning") {
      const parts = [...objects(item["summary"]), ...objects(item["content"])]
      thoughts.push(...parts.map(({ text }) => string(text) ?? ""))
      say(facts, `encrypted ${id}`, item["encrypted_content"])
    } else if (Object.hasOwn(called, type) && !inside.has(item["call_id"])) {
      const number = calls++
      say(facts, `call ${number} id`, item["call_id"])
      say(facts, `call ${number} name`, item["name"] ?? type)
      say(facts, `call ${number} parameters`, called[type]!(item))
    } else if (Object.hasOwn(hosted, type)) {
      say(facts, `hosted call ${id}`, hosted[type]!(item))
      say(facts, `hosted result ${id}`, isFailed(item) ? "failed" : "succeeded")
      if (type === "mcp_call") say(facts, `output of ${id}`, item["output"])
    } else if (type === "mcp_approval_request") {
      asks = true
      say(facts, `asked ${id}`, {
        server_label: item["server_label"],
        name: item["name"],
        arguments: parse(item["arguments"])
      })
    } else if (type === "mcp_list_tools" && item["error"] !== null && item["error"] !== undefined) {
      say(facts, `hosted result ${id}`, "failed")
    } else {
      say(facts, `item ${type} ${id ?? string(item["call_id"])}`, true)
    }
  }
  say(facts, "text", texts.join(""))
  say(facts, "reasoning", thoughts.join(""))
  ending(facts, response, { asks, calls: calls > 0, refuses: refusals > 0 })
  return facts
}

const ending = (
  facts: Facts,
  response: Json,
  said: { readonly asks: boolean; readonly calls: boolean; readonly refuses: boolean }
): void => {
  const reason = isObject(response["incomplete_details"]) ? string(response["incomplete_details"]["reason"]) : undefined
  say(
    facts,
    "finish",
    response["status"] === "queued" || response["status"] === "in_progress"
      ? "other"
      : reason === "max_output_tokens"
      ? "length"
      : reason === "content_filter"
      ? "content-filter"
      : reason !== undefined
      ? "other"
      : said.asks
      ? "pause"
      : said.calls
      ? "tool-calls"
      : said.refuses
      ? "content-filter"
      : "stop"
  )
  const usage = isObject(response["usage"]) ? response["usage"] : {}
  const input = isObject(usage["input_tokens_details"]) ? usage["input_tokens_details"] : {}
  const output = isObject(usage["output_tokens_details"]) ? usage["output_tokens_details"] : {}
  say(facts, "input tokens", usage["input_tokens"])
  say(facts, "output tokens", usage["output_tokens"])
  say(facts, "cached tokens", input["cached_tokens"])
  say(facts, "tokens written to the cache", input["cache_write_tokens"])
  say(facts, "reasoning tokens", output["reasoning_tokens"])
  say(facts, "response id", response["id"])
  say(facts, "model", response["model"])
  say(facts, "service tier", response["service_tier"])
  say(facts, "moderation", response["moderation"])
  say(facts, "content filters", response["content_filters"])
}
