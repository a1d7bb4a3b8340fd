/**
 * A conversation of a program with the strict server, through the real SDK, held in each of the four ways a program can
 * hold it.
 */
import {
  Approval,
  ApprovalJournal,
  ApprovalSeal,
  Chat,
  LanguageModel,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, it } from "@effect/vitest"
import { ResponseIdTracker } from "effect/ai"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type Story, tell, type Way, ways } from "../../ai/test/laws/story.ts"

export { type Way, ways }

export const fresh = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>): Effect.Effect<A, unknown, Scope.Scope> =>
  Effect.provide(
    effect,
    Layer.mergeAll(ApprovalJournal.layerMemory(), ApprovalSeal.layer({ key: "the key of the openai tests, 32 bytes" }))
  )

export const everyWay = (title: string, story: Story<[way: Way]>): void => {
  for (const way of ways) it.live(`${title} [${way}]`, () => fresh(tell(story, way)))
}

// =============================================================================
// Tools
// =============================================================================

export const Add = Tool.make("Add", {
  description: "Adds two numbers.",
  parameters: { a: Schema.Finite, b: Schema.Finite },
  success: Schema.Finite
})

export const Delete = Tool.make("Delete", {
  parameters: { path: Schema.String, force: Schema.optionalKey(Schema.Boolean) },
  success: Schema.String,
  needsApproval: true
})

export const Dice = OpenAiTool.Mcp({ server_label: "dice", server_url: "https://dice.example.com/mcp" })

export const kit = Toolkit.make(Add, Delete, Dice)

export const localKit = Toolkit.make(Add, Delete)

export const trustingKit = Toolkit.make(
  Add,
  Delete,
  OpenAiTool.Mcp({ server_label: "dice", server_url: "https://dice.example.com/mcp", require_approval: "never" })
)

export const mcpServers: NonNullable<ResponsesServer.Options["mcpServers"]> = {
  dice: [{ name: "roll", run: (params) => Effect.succeed(`rolled ${JSON.stringify(params)}`) }]
}

export const roll = (sides: number) =>
  ResponsesServer.mcpCall({ server: "dice", name: "roll", arguments: `{"sides": ${sides}}` })

// =============================================================================
// Conversations
// =============================================================================

export interface StartOptions extends ResponsesServer.Options {
  readonly way: Way
  readonly config?: Omit<OpenAiLanguageModel.ConfigFields, "model"> | undefined
  readonly approval?: LanguageModel.ApprovalOptions | undefined
  readonly history?: Prompt.RawInput | undefined
  readonly model?: string | undefined
  /** Whether only what is new is sent. */
  readonly tracked?: boolean | undefined
  /** {@link kit} by default; only the program's own functions; with servers that ask nobody; or none. */
  readonly tools?: "all" | "local" | "trusting" | "none" | undefined
  /** Another toolkit. */
  readonly toolkit?: Toolkit.WithHandler<any> | undefined
}

export interface Turn {
  readonly parts: ReadonlyArray<Response.AnyPart>
  readonly shape: string
  readonly requests: ReadonlyArray<Approval.ApprovalRequest>
  readonly results: ReadonlyArray<Response.ToolResultPart<string, unknown, unknown>>
  readonly text: string
  readonly finish: Response.FinishPart | undefined
}

export interface SendOptions {
  readonly config?: OpenAiLanguageModel.ConfigFields | undefined
  readonly toolChoice?: LanguageModel.ToolChoice<string> | undefined
}

export const start = Effect.fnUntraced(function*({ way, ...options }: StartOptions) {
  const runs: Array<string> = []
  const server = yield* ResponsesServer.make({ mcpServers, ...options })
  const client = yield* OpenAiClient.make({
    apiKey: Redacted.make(server.apiKey),
    apiUrl: server.url,
    maxRetries: 0
  })
  const model = yield* OpenAiLanguageModel.make({
    model: options.model ?? "gpt-5.2",
    config: options.config,
    approval: options.approval
  }).pipe(Effect.provideService(OpenAiClient.OpenAiClient, client))
  const handlers = kit.toLayer({
    Add: ({ a, b }) => Effect.sync(() => (runs.push(`add ${a} ${b}`), a + b)),
    Delete: ({ path }) => Effect.sync(() => (runs.push(`delete ${path}`), `deleted ${path}`))
  })
  const own: Toolkit.WithHandler<any> = options.tools === "local"
    ? yield* Effect.provide(localKit, handlers)
    : options.tools === "trusting"
    ? yield* Effect.provide(trustingKit, handlers)
    : yield* Effect.provide(kit, handlers)
  const toolkit = options.tools === "none" ? undefined : options.toolkit ?? own
  const tracker = yield* ResponseIdTracker.make
  const chat = yield* Chat.fromPrompt(options.history ?? [])
  const underChat = way.startsWith("Chat.")
  const streams = way.endsWith("streamText")

  const provide = <A, R>(effect: Effect.Effect<A, unknown, R>): Effect.Effect<A, unknown> => {
    const provided = Effect.provideService(effect, LanguageModel.LanguageModel, model)
    return (options.tracked === true
      ? Effect.provideService(provided, ResponseIdTracker.ResponseIdTracker, tracker)
      : provided) as Effect.Effect<A, unknown>
  }

  const send = Effect.fnUntraced(function*(prompt: Prompt.RawInput, sendOptions?: SendOptions) {
    const whole = underChat ? Prompt.make(prompt) : Prompt.concat(yield* Ref.get(chat.history), prompt)
    const request = {
      prompt: whole,
      ...(toolkit === undefined ? undefined : { toolkit }),
      ...(sendOptions?.toolChoice === undefined ? undefined : { toolChoice: sendOptions.toolChoice })
    } as { readonly prompt: Prompt.RawInput; readonly toolkit: Toolkit.WithHandler<any> }
    const effect: Effect.Effect<ReadonlyArray<Response.AnyPart>, unknown, any> = streams
      ? Stream.runCollect(underChat ? chat.streamText(request) : LanguageModel.streamText(request))
      : Effect.map(
        underChat ? chat.generateText(request) : LanguageModel.generateText(request),
        (response) => response.content
      )
    const parts = yield* provide(
      sendOptions?.config === undefined ? effect : OpenAiLanguageModel.withConfigOverride(effect, sendOptions.config)
    )
    if (!underChat) yield* Ref.set(chat.history, Prompt.concat(whole, Prompt.fromResponseParts(parts)))
    return toTurn(parts)
  })

  return {
    server,
    client,
    model,
    runs,
    send,
    toolkit: own,
    provide,
    history: Ref.get(chat.history),
    setHistory: (history: Prompt.RawInput) => Ref.set(chat.history, Prompt.make(history)),
    /** The bodies of all requests, as they arrived. */
    bodies: Effect.map(
      server.requests,
      (requests) => requests.filter(({ path }) => path === "/v1/responses").map(({ body }) => body as Body)
    ),
    /** What the last request said. */
    lastBody: Effect.map(server.requests, (requests) => requests.at(-1)!.body as Body)
  }
})

/** A conversation without tools. */
export const startPlain = (way: Way, turns: ResponsesServer.Options["turns"]) => start({ way, tools: "none", turns })

export interface Body {
  readonly model: string
  readonly input: ReadonlyArray<{ readonly type?: string; readonly [key: string]: any }>
  readonly [key: string]: any
}

const toTurn = (parts: ReadonlyArray<Response.AnyPart>): Turn => {
  const seen: Array<string> = []
  for (const part of parts) {
    const name = shapes[part.type]
    if (name === undefined || (part.type === "tool-result" && part.preliminary)) continue
    if ((part.type === "reasoning" || part.type === "reasoning-start") && isCarrier(part)) continue
    // What marks the end of a response of a conversation.
    if (part.type === "text-start" && part.id.startsWith("resp_")) continue
    seen.push(name)
  }
  return {
    parts,
    shape: seen.join(" "),
    requests: Response.approvalRequests(parts),
    results: parts.filter((part) => part.type === "tool-result" && !part.preliminary) as Turn["results"],
    text: parts.map((part) => part.type === "text" ? part.text : part.type === "text-delta" ? part.delta : "").join(""),
    finish: parts.find((part) => part.type === "finish")
  }
}

const isCarrier = (
  part: Response.ReasoningPart | Response.ReasoningStartPart
): boolean => (part.type === "reasoning-start"
  ? part.id.includes(":")
  : typeof part.metadata.openai?.itemType === "string")

const shapes: { readonly [type: string]: string } = {
  text: "text",
  "text-start": "text",
  reasoning: "reasoning",
  "reasoning-start": "reasoning",
  "tool-call": "call",
  "tool-result": "result",
  "tool-approval-request": "request",
  source: "source",
  file: "file",
  finish: "finish"
}

// =============================================================================
// Reading what was sent
// =============================================================================

/** The input of a request, an item a word: its type or role, and what it is about. */
export const outline = (body: Body): ReadonlyArray<string> =>
  body.input.map((item) => {
    const type = item.type ?? item["role"]
    switch (type) {
      case "item_reference":
        return `ref ${item["id"]}`
      case "function_call":
        return `call ${item["name"]}`
      case "function_call_output":
        return `output ${typeof item["output"] === "string" ? item["output"] : "parts"}`
      case "mcp_approval_request":
        return `request ${item["id"]}`
      case "mcp_approval_response":
        return `${item["approve"] === true ? "approve" : "deny"} ${item["approval_request_id"]}`
      case "mcp_call":
        return `ran ${item["id"]}`
      case "message":
        return item["role"]
      default:
        return type
    }
  })

export const approve = (requests: ReadonlyArray<Approval.ApprovalRequest>, note?: string): Prompt.Prompt =>
  Prompt.approvalResponses(
    requests.map((request) => Approval.approve(request, note === undefined ? undefined : { note }))
  )

export const deny = (requests: ReadonlyArray<Approval.ApprovalRequest>, reason?: string): Prompt.Prompt =>
  Prompt.approvalResponses(requests.map((request) => Approval.deny(request, reason)))

/** What all requests of a test should have been: accepted. */
export const assertAccepted = Effect.fnUntraced(function*(server: ResponsesServer.Service) {
  for (const { status, text } of yield* server.responses) assert.strictEqual(status, 200, text)
})
