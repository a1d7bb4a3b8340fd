/** What a program gets of an answer, and what goes out when it goes on. */
import { LanguageModel, Prompt, type Response, Tool, Toolkit } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { type Facts, isObject, type Json, say, string } from "./facts.ts"
import type { Answer } from "./reader.ts"
import * as Reader from "./reader.ts"

type Parts = ReadonlyArray<Response.AnyPart>

/** An answer as a server sends it. */
export interface Wire {
  readonly status: number
  readonly mediaType: string
  readonly body: string | Uint8Array<ArrayBuffer>
}

export const isStream = ({ mediaType }: Wire): boolean => mediaType.startsWith("text/event-stream")

/** The tools that an answer speaks of, as the program declares them. */
const toolkitOf = ({ items }: Answer): Toolkit.WithHandler<any> => {
  const tools = new Map<string, Tool.Any>()
  const add = (tool: Tool.Any) => void tools.set(tool.name, tool)
  const inside = Reader.ranInside(items)
  for (const item of items) {
    switch (item["type"]) {
      case "function_call":
        add(Tool.dynamic(String(item["name"]), { parameters: { type: "object" }, success: Schema.Unknown }))
        break
      case "custom_tool_call":
        add(OpenAiTool.Custom({ name: String(item["name"]) }))
        break
      case "web_search_call":
        add(OpenAiTool.WebSearch({}))
        break
      case "file_search_call":
        add(OpenAiTool.FileSearch({ vector_store_ids: ["vs_1"] }))
        break
      case "code_interpreter_call":
        add(OpenAiTool.CodeInterpreter({ container: { type: "auto" } }))
        break
      case "image_generation_call":
        add(OpenAiTool.ImageGeneration({}))
        break
      case "local_shell_call":
        add(OpenAiTool.LocalShell({ needsApproval: false }))
        break
      case "shell_call":
        if (!inside.has(item["call_id"])) add(OpenAiTool.Shell({ needsApproval: false }))
        break
      case "apply_patch_call":
        add(OpenAiTool.ApplyPatch({ needsApproval: false }))
        break
      case "mcp_call":
      case "mcp_approval_request":
      case "mcp_list_tools": {
        const server_label = String(item["server_label"])
        add(OpenAiTool.Mcp({ name: `Mcp_${server_label}`, server_label, server_url: "https://mcp.example.com/mcp" }))
      }
    }
  }
  return Toolkit.make(...tools.values()) as never // Its calls are not run.
}

/** What the program's tools return, and what the user says then. */
export const next = { result: "It is done.", message: "Go on." }

export interface Seen {
  readonly facts: Facts
  /** The input of the next request: where OpenAI keeps what it made, and where it does not. */
  readonly kept: ReadonlyArray<Json>
  readonly whole: ReadonlyArray<Json>
}

export const see = (wire: Wire, answer: Answer): Effect.Effect<Seen, unknown> =>
  Effect.gen(function*() {
    const first = yield* ask(wire, answer, true, "Hello.", [])
    const kept: Array<Json> = []
    const whole: Array<Json> = []
    const again = yield* ask(wire, answer, false, "Hello.", [])
    for (const [parts, store, input] of [[first, true, kept], [again, false, whole]] as const) {
      const history = Prompt.concat(Prompt.make("Hello."), Prompt.fromResponseParts(parts))
      const results = parts.flatMap((part) =>
        part.type !== "tool-call" || part.providerExecuted ? [] : [
          Prompt.toolResultPart({
            id: part.id,
            name: part.name,
            result: next.result,
            isFailure: false,
            providerExecuted: false
          })
        ]
      )
      const answered = results.length === 0
        ? history
        : Prompt.concat(history, Prompt.fromMessages([Prompt.toolMessage({ content: results })]))
      yield* ask(wire, answer, store, Prompt.concat(answered, next.message), input)
    }
    return { facts: facts(first), kept, whole }
  })

const ask = (
  wire: Wire,
  answer: Answer,
  store: boolean,
  prompt: Prompt.RawInput,
  input: Array<Json>
): Effect.Effect<Parts, unknown> => {
  const fetch = (_url: unknown, init?: RequestInit) => {
    const body: unknown = JSON.parse(String(init?.body))
    if (isObject(body) && Array.isArray(body["input"])) input.splice(0, input.length, ...body["input"])
    return Promise.resolve(
      new globalThis.Response(wire.body, { status: wire.status, headers: { "content-type": wire.mediaType } })
    )
  }
  const Model = OpenAiLanguageModel.layer({ model: "gpt-5.2", config: { store } }).pipe(
    Layer.provide(OpenAiClient.layer({ apiKey: Redacted.make("none"), fetch, maxRetries: 0 }))
  )
  const options = { prompt, toolkit: toolkitOf(answer), disableToolCallResolution: true } as const
  const parts: Effect.Effect<Parts, unknown, LanguageModel.LanguageModel> = isStream(wire)
    ? Stream.runCollect(LanguageModel.streamText(options)) as never
    : Effect.map(LanguageModel.generateText(options), ({ content }) => content) as never
  return Effect.provide(parts, Model)
}

/** The facts that are in the parts of a program. */
const facts = (parts: Parts): Facts => {
  const facts: Facts = new Map()
  const asked = new Set(parts.flatMap((part) => part.type === "tool-approval-request" ? [part.toolCallId] : []))
  const thoughts: Array<string> = []
  const texts: Array<string> = []
  let calls = 0
  let refusals = 0
  for (const part of parts) {
    const openai = openaiOf(part)
    switch (part.type) {
      case "text":
        texts.push(part.text)
        say(facts, `refusal ${refusals}`, openai["refusal"])
        if (openai["refusal"] !== undefined) refusals++
        break
      case "text-delta":
        texts.push(part.delta)
        break
      case "text-end":
        say(facts, `refusal ${refusals}`, openai["refusal"])
        if (openai["refusal"] !== undefined) refusals++
        break
      case "reasoning-delta":
        thoughts.push(part.delta)
        break
      case "reasoning":
      case "reasoning-end": {
        if (part.type === "reasoning") thoughts.push(part.text)
        const item = isObject(openai["item"]) ? openai["item"] : {}
        if (openai["itemType"] !== undefined) {
          say(facts, `item ${String(openai["itemType"])} ${string(openai["itemId"]) ?? string(item["call_id"])}`, true)
        }
        say(facts, `encrypted ${string(openai["itemId"])}`, openai["encryptedContent"])
        break
      }
      case "tool-call":
        // A list of tools that failed is told as a call that nobody made.
        if (openai["itemType"] === "mcp_list_tools") break
        if (part.providerExecuted) {
          say(facts, `${asked.has(part.id) ? "asked" : "hosted call"} ${part.id}`, paramsOf(part, openai))
        } else {
          say(facts, `call ${calls} id`, part.id)
          say(
            facts,
            `call ${calls} name`,
            openai["itemType"] === "custom_tool_call" ? part.name : machine(openai) ?? part.name
          )
          say(facts, `call ${calls++} parameters`, part.params)
        }
        break
      case "tool-result": {
        if (part.preliminary) break
        say(facts, `hosted result ${part.id}`, part.isFailure ? "failed" : "succeeded")
        if (openai["itemType"] === "mcp_call") say(facts, `output of ${part.id}`, (part.result as Json)["output"])
        break
      }
      case "source":
        say(facts, `source ${part.sourceType === "url" ? part.url.href : part.title}`, true)
        break
      case "finish": {
        const { inputTokens, outputTokens } = part.usage
        say(facts, "finish", part.reason)
        say(facts, "input tokens", inputTokens.total)
        say(facts, "output tokens", outputTokens.total)
        say(facts, "cached tokens", inputTokens.cacheRead)
        say(facts, "tokens written to the cache", inputTokens.cacheWrite)
        say(facts, "reasoning tokens", outputTokens.reasoning)
        say(facts, "service tier", openai["serviceTier"])
        say(facts, "moderation", openai["moderation"])
        say(facts, "content filters", openai["contentFilters"])
        break
      }
      case "response-metadata":
        say(facts, "response id", part.id)
        say(facts, "model", part.modelId)
    }
  }
  say(facts, "text", texts.join(""))
  say(facts, "reasoning", thoughts.join(""))
  return facts
}

const openaiOf = ({ metadata }: Response.AnyPart): Json => {
  const openai: unknown = Reflect.get(metadata, "openai")
  return isObject(openai) ? openai : {}
}

const machine = (openai: Json): string | undefined => string(openai["itemType"])

const paramsOf = (part: Response.ToolCallPart<string, unknown>, openai: Json): unknown => {
  const params = isObject(part.params) ? part.params : {}
  switch (openai["itemType"]) {
    case "web_search_call":
      return { type: isObject(params["action"]) ? params["action"]["type"] : undefined }
    case "code_interpreter_call":
      return { code: params["code"] }
    case "image_generation_call":
      return {}
    case "file_search_call":
      return { queries: params["queries"] }
  }
  return params
}
