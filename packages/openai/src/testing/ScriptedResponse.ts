/**
 * The turns of a scripted Responses API, as data.
 *
 * @since 0.1.0
 */
import type * as Responses from "openai/resources/responses/responses"
import type { ApiError } from "./ApiError.ts"
import type { StageDirection } from "./StageDirection.ts"

/**
 * What the server answers to one request.
 *
 * A string is one message, an array is an output item by item, an `ApiError` refuses the request, and a function
 * looks at the request first. Without a finish the response is completed.
 *
 * @category models
 * @since 0.1.0
 */
export type Turn =
  | string
  | ReadonlyArray<TurnPart>
  | ApiError
  | ((request: TurnRequest) => Turn)

/**
 * What a function among the turns sees: the request's own parameters, the whole context as the model would see it
 * (kept items first, references resolved), and the number of the turn, counted from 1.
 *
 * @category models
 * @since 0.1.0
 */
export interface TurnRequest {
  readonly params: Responses.ResponseCreateParams
  readonly context: ReadonlyArray<{ readonly [key: string]: unknown }>
  readonly turn: number
}

/**
 * One part of a turn: an output item in short form, or a stage direction.
 *
 * @category models
 * @since 0.1.0
 */
export type TurnPart = ScriptedItem | StageDirection

/**
 * An output item in short form. Ids are the server's own.
 *
 * @category models
 * @since 0.1.0
 */
export type ScriptedItem =
  | { readonly _tag: "Text"; readonly parts: ReadonlyArray<MessagePart>; readonly phase: Phase | undefined }
  | {
    readonly _tag: "Reasoning"
    readonly summary: ReadonlyArray<string>
    readonly encryptedContent: string | undefined
  }
  | {
    readonly _tag: "FunctionCall"
    readonly name: string
    readonly arguments: string
    readonly callId: string | undefined
  }
  | {
    readonly _tag: "McpCall"
    readonly server: string
    readonly name: string
    readonly arguments: string
  }
  | { readonly _tag: "Item"; readonly item: ItemWithoutId }

/** @internal */
export type MessagePart =
  | {
    readonly type: "output_text"
    readonly text: string
    readonly annotations: Responses.ResponseOutputText["annotations"]
  }
  | Responses.ResponseOutputRefusal

/** @internal */
export type Phase = "commentary" | "final_answer"

/**
 * An output item as it stands on the wire, without its id.
 *
 * @category models
 * @since 0.1.0
 */
export interface ItemWithoutId {
  readonly type: string
  readonly [field: string]: unknown
}

/**
 * What a message of text has besides the text.
 *
 * @category options
 * @since 0.1.0
 */
export interface TextOptions {
  readonly annotations?: Responses.ResponseOutputText["annotations"] | undefined
  readonly phase?: Phase | undefined
}

/**
 * A search in files, and what it found.
 *
 * @category options
 * @since 0.1.0
 */
export interface FileSearchOptions {
  readonly queries: ReadonlyArray<string>
  readonly results?: ReadonlyArray<Responses.ResponseFileSearchToolCall.Result> | undefined
}

// =============================================================================
// Items
// =============================================================================

/**
 * A message of text.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     turns: [[
 *       ResponsesServer.text("Let me see. ", { phase: "commentary" }),
 *       ResponsesServer.text("It is 5.", { phase: "final_answer" })
 *     ]]
 *   })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const { output } = yield* Effect.promise(() => client.responses.create({ model: "gpt-5.5", input: "2 + 3?" }))
 *   return output.map((item) => item.type === "message" && item.phase)
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["commentary", "final_answer"]
 *
 * @category items
 * @since 0.1.0
 */
export const text = (text: string, options?: TextOptions): ScriptedItem => ({
  _tag: "Text",
  parts: [{ type: "output_text", text, annotations: options?.annotations ?? [] }],
  phase: options?.phase
})

/**
 * A message of several parts, texts and refusals.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     turns: [[ResponsesServer.message([
 *       { type: "output_text", text: "The first half is easy. ", annotations: [] },
 *       { type: "refusal", refusal: "The second I cannot do." }
 *     ])]]
 *   })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const { output } = yield* Effect.promise(() => client.responses.create({ model: "gpt-5.5", input: "Do both." }))
 *   return output.flatMap((item) => item.type === "message" ? item.content.map(({ type }) => type) : [])
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["output_text", "refusal"]
 *
 * @category items
 * @since 0.1.0
 */
export const message = (parts: ReadonlyArray<MessagePart>): ScriptedItem => ({ _tag: "Text", parts, phase: undefined })

/**
 * A message in which the model refuses.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [[ResponsesServer.refusal("I cannot help with that.")]] })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url })
 *   const response = yield* LanguageModel.generateText({ prompt: "Pick this lock." }).pipe(
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client))
 *   )
 *   return response.finishReason
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => "content-filter"
 *
 * @category items
 * @since 0.1.0
 */
export const refusal = (refusal: string): ScriptedItem => ({
  _tag: "Text",
  parts: [{ type: "refusal", refusal }],
  phase: undefined
})

/**
 * Reasoning with its summaries. Its encrypted content is sent when the request includes
 * `"reasoning.encrypted_content"`, as by OpenAI.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     turns: [[ResponsesServer.reasoning("Two and three are five."), ResponsesServer.text("5")]]
 *   })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url })
 *   const response = yield* LanguageModel.generateText({ prompt: "What is 2 + 3?" }).pipe(
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client))
 *   )
 *   return [response.reasoningText, response.text]
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["Two and three are five.", "5"]
 *
 * @category items
 * @since 0.1.0
 */
export const reasoning = (summary: string | ReadonlyArray<string> = [], options?: {
  readonly encryptedContent?: string | undefined
}): ScriptedItem => ({
  _tag: "Reasoning",
  summary: typeof summary === "string" ? [summary] : summary,
  encryptedContent: options?.encryptedContent
})

/**
 * A call of one of the program's own functions. `arguments`, if given, is sent as it stands, so that a test can send
 * what is no JSON; else `params` as JSON.
 *
 * @example
 * import { LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted, Schema } from "effect"
 *
 * const DeleteFile = Tool.make("DeleteFile", { parameters: { path: Schema.String }, needsApproval: true })
 * const toolkit = Toolkit.make(DeleteFile)
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     turns: [[ResponsesServer.functionCall({ name: "DeleteFile", params: { path: "a.txt" } })]]
 *   })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url })
 *   const response = yield* LanguageModel.generateText({ prompt: "Clean up.", toolkit }).pipe(
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client)),
 *     Effect.provide(toolkit.toLayer({ DeleteFile: () => Effect.void }))
 *   )
 *   return Response.approvalRequests(response).map((request) => request.description)
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["DeleteFile(path='a.txt')"]
 *
 * @category items
 * @since 0.1.0
 */
export const functionCall = (options: {
  readonly name: string
  readonly params?: unknown
  readonly arguments?: string | undefined
  readonly callId?: string | undefined
}): ScriptedItem => ({
  _tag: "FunctionCall",
  name: options.name,
  arguments: options.arguments ?? JSON.stringify(options.params ?? {}),
  callId: options.callId
})

/**
 * A call of a tool on a hosted MCP server. Whether it runs at once or becomes an `mcp_approval_request` is decided by
 * `require_approval` of the request's tool, which asks by default.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const tools: Array<OpenAI.Responses.Tool> = [
 *   { type: "mcp", server_label: "files", server_url: "https://files.example/mcp" }
 * ]
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({
 *     mcpServers: { files: [{ name: "delete", run: () => Effect.succeed("deleted") }] },
 *     turns: [[ResponsesServer.mcpCall({ server: "files", name: "delete", params: { path: "a" } })], "It is gone."]
 *   })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const asked = yield* Effect.promise(() => client.responses.create({ model: "gpt-5.5", input: "Delete a", tools }))
 *   const request = asked.output.find((item) => item.type === "mcp_approval_request")
 *   if (request === undefined) return []
 *   const done = yield* Effect.promise(() =>
 *     client.responses.create({
 *       model: "gpt-5.5",
 *       previous_response_id: asked.id,
 *       input: [{ type: "mcp_approval_response", approval_request_id: request.id, approve: true }],
 *       tools
 *     })
 *   )
 *   return [request.arguments, done.output_text, yield* server.executionsOf(request.id)]
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["{\"path\":\"a\"}", "It is gone.", 1]
 *
 * @category items
 * @since 0.1.0
 */
export const mcpCall = (options: {
  readonly server: string
  readonly name: string
  readonly params?: unknown
  readonly arguments?: string | undefined
}): ScriptedItem => ({
  _tag: "McpCall",
  server: options.server,
  name: options.name,
  arguments: options.arguments ?? JSON.stringify(options.params ?? {})
})

/**
 * A search of the web. Its sources are sent when the request includes `"web_search_call.action.sources"`.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const search = ResponsesServer.webSearch({ query: "effect 4", sources: ["https://effect.website"] })
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [[search, ResponsesServer.text("It is out.")]] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const { output } = yield* Effect.promise(() =>
 *     client.responses.create({
 *       model: "gpt-5.5",
 *       input: "Is effect 4 out?",
 *       tools: [{ type: "web_search" }],
 *       include: ["web_search_call.action.sources"]
 *     })
 *   )
 *   return output.flatMap((item) =>
 *     item.type === "web_search_call" && item.action.type === "search" ? item.action.sources ?? [] : []
 *   )
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => [{ type: "url", url: "https://effect.website" }]
 *
 * @category items
 * @since 0.1.0
 */
export const webSearch = (options: {
  readonly query: string
  readonly sources?: ReadonlyArray<string> | undefined
}): ScriptedItem =>
  item({
    type: "web_search_call",
    status: "completed",
    action: {
      type: "search",
      queries: [options.query],
      query: options.query,
      sources: (options.sources ?? []).map((url) => ({ type: "url", url }))
    }
  })

/**
 * A search in files. Its results are sent when the request includes `"file_search_call.results"`.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const found = { file_id: "file_1", filename: "refunds.md", score: 0.9, text: "Within 30 days." }
 * const search = ResponsesServer.fileSearch({ queries: ["refund"], results: [found] })
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [[search, ResponsesServer.text("Within 30 days.")]] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const { output } = yield* Effect.promise(() =>
 *     client.responses.create({
 *       model: "gpt-5.5",
 *       input: "May I give it back?",
 *       tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }],
 *       include: ["file_search_call.results"]
 *     })
 *   )
 *   return output.flatMap((item) => item.type === "file_search_call" ? item.results?.[0]?.filename : [])
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["refunds.md"]
 *
 * @category items
 * @since 0.1.0
 */
export const fileSearch = (options: FileSearchOptions): ScriptedItem =>
  item({ type: "file_search_call", status: "completed", queries: options.queries, results: options.results ?? [] })

/**
 * Code that OpenAI ran. Its outputs are sent when the request includes `"code_interpreter_call.outputs"`.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const ran = ResponsesServer.codeInterpreter({ code: "print(2 + 3)", logs: "5\n" })
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [[ran, ResponsesServer.text("It is 5.")]] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const { output } = yield* Effect.promise(() =>
 *     client.responses.create({
 *       model: "gpt-5.5",
 *       input: "What is 2 + 3?",
 *       tools: [{ type: "code_interpreter", container: { type: "auto" } }],
 *       include: ["code_interpreter_call.outputs"]
 *     })
 *   )
 *   return output.flatMap((item) => item.type === "code_interpreter_call" ? item.outputs : [])
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => [{ type: "logs", logs: "5\n" }]
 *
 * @category items
 * @since 0.1.0
 */
export const codeInterpreter = (options: {
  readonly code: string
  readonly logs?: string | undefined
}): ScriptedItem =>
  item({
    type: "code_interpreter_call",
    status: "completed",
    code: options.code,
    container_id: "cntr_1",
    outputs: options.logs === undefined ? [] : [{ type: "logs", logs: options.logs }]
  })

/**
 * A picture; `result` is in base64.
 *
 * @example
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect } from "effect"
 * import OpenAI from "openai"
 *
 * const picture = ResponsesServer.imageGeneration({ result: "iVBORw0KGgo=" })
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [[picture]] })
 *   const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url })
 *   const { output } = yield* Effect.promise(() =>
 *     client.responses.create({ model: "gpt-5.5", input: "Draw a cat.", tools: [{ type: "image_generation" }] })
 *   )
 *   return output.flatMap((item) => item.type === "image_generation_call" ? item.result : [])
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => ["iVBORw0KGgo="]
 *
 * @category items
 * @since 0.1.0
 */
export const imageGeneration = (options: {
  readonly result: string
  readonly revisedPrompt?: string | undefined
}): ScriptedItem =>
  item({
    type: "image_generation_call",
    status: "completed",
    result: options.result,
    output_format: "png",
    revised_prompt: options.revisedPrompt ?? null
  })

/**
 * Any other item as it stands on the wire, of a type that nobody knows yet too.
 *
 * @example
 * import { LanguageModel } from "@assent/ai"
 * import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
 * import { ResponsesServer } from "@assent/openai/testing"
 * import { Effect, Layer, Redacted } from "effect"
 *
 * // What a program does with an item of next year.
 * const unknown = ResponsesServer.item({ type: "dream_call", status: "completed", dream: "of sheep" })
 *
 * const program = Effect.gen(function*() {
 *   const server = yield* ResponsesServer.make({ turns: [[unknown, ResponsesServer.text("Good morning.")]] })
 *   const client = OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url })
 *   const response = yield* LanguageModel.generateText({ prompt: "Hi" }).pipe(
 *     Effect.provide(Layer.provide(OpenAiLanguageModel.layer({ model: "gpt-5.2" }), client))
 *   )
 *   return response.text
 * })
 *
 * await Effect.runPromise(Effect.scoped(program)) // => "Good morning."
 *
 * @category items
 * @since 0.1.0
 */
export const item = (item: ItemWithoutId): ScriptedItem => ({ _tag: "Item", item })
