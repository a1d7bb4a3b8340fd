/**
 * What goes out when a conversation goes on after a recorded answer: over the bridge, and where the answer's content is
 * given back to the provider's package in the interface's own words, as the AI SDK does; but that blank texts are left out,
 * and for what `requirements.ts` has of a model, which the AI SDK does not know.
 */
import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4Prompt
} from "@ai-sdk/provider"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Requirements from "../../src/internal/requirements.ts"
import type { Exchange } from "./exchange.ts"
import { streamed } from "./exchange.ts"
import * as Json from "./json.ts"
import * as Package from "./package-answer.ts"
import * as Program from "./program.ts"
import * as Providers from "./providers.ts"

/** The requests of both; `undefined` where there was no answer to go on from. */
export interface WentOn {
  readonly bridge: unknown
  readonly package: unknown
}

type AssistantPart = Extract<LanguageModelV4Prompt[number], { role: "assistant" }>["content"][number]

const options = (part: { readonly providerMetadata?: unknown }) =>
  part.providerMetadata === undefined ? {} : { providerOptions: part.providerMetadata as never }

const back = (part: LanguageModelV4Content, ids: Requirements.CallIds): ReadonlyArray<AssistantPart> => {
  switch (part.type) {
    case "text":
      return part.text.trim() === "" && part.providerMetadata === undefined
        ? []
        : [{ type: "text", text: part.text, ...options(part) }]
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...options(part) }]
    case "custom":
      return [{ type: "custom", kind: part.kind, ...options(part) }]
    case "file":
      return [{ type: "file", mediaType: part.mediaType, data: part.data, ...options(part) }]
    case "tool-call": {
      const { input, providerExecuted, toolCallId, toolName } = part
      return [{
        type: "tool-call",
        toolCallId: providerExecuted === true ? toolCallId : ids.ofCall(toolCallId),
        toolName,
        input: Json.params(input),
        ...(providerExecuted === true ? { providerExecuted } : {}),
        ...options(part)
      }]
    }
    case "tool-result": {
      const { isError, preliminary, result, toolCallId, toolName } = part
      // The AI SDK keeps the last of a call's results.
      if (preliminary === true) return []
      const type = typeof result === "string"
        ? isError === true ? "error-text" : "text"
        : isError === true
        ? "error-json"
        : "json"
      return [{ type: "tool-result", toolCallId, toolName, output: { type, value: result as never }, ...options(part) }]
    }
    default:
      return []
  }
}

const prompt = (
  content: ReadonlyArray<LanguageModelV4Content>,
  requirements: Requirements.Requirements
): LanguageModelV4Prompt => {
  const calls = content.filter((part) => part.type === "tool-call").filter((call) => call.providerExecuted !== true)
  const ids = Requirements.callIds(requirements)
  const answer = content.flatMap((part) => back(part, ids))
  return [
    { role: "user", content: [{ type: "text", text: "Hello." }] },
    ...answer.length === 0 ? [] : [{ role: "assistant" as const, content: answer }],
    ...calls.length === 0 ? [] : [{
      role: "tool" as const,
      content: calls.map(({ toolCallId, toolName }) => ({
        type: "tool-result" as const,
        toolCallId: ids.ofResult(toolCallId),
        toolName,
        output: { type: "text" as const, value: Program.next.result }
      }))
    }],
    ...requirements.assistantAfterResults && calls.length > 0
      ? [{ role: "assistant" as const, content: [{ type: "text" as const, text: Requirements.acknowledgement }] }]
      : [],
    { role: "user", content: [{ type: "text", text: Program.next.message }] }
  ]
}

/**
 * Goes on after a recorded answer. What the provider ran itself goes back to it, whether the program knows its tools and
 * sees their calls (`"declared"`) or not. A provider that asks about a tool that the program does not know cannot be
 * answered: such a turn has to fail.
 */
export const goOn = async (
  exchange: Exchange,
  hosted: "declared" | "unknown" = "declared"
): Promise<WentOn | undefined> => {
  const response = () =>
    new Response(exchange.body, { status: exchange.status, headers: { "content-type": exchange.mediaType } })
  const bodies: Array<unknown> = []
  const model = Providers.model(exchange.format, async (url, init) => {
    bodies.push(await new Request(url, init).json())
    return response()
  })
  const first = await Package.ask(
    model,
    { prompt: [{ role: "user", content: [{ type: "text", text: "Hello." }] }] },
    streamed(exchange)
  ).catch(() => undefined)
  if (first === undefined) return undefined
  const tools = {
    local: first.answer.calls.map((call) => call.name),
    hosted: hosted === "declared" ? first.hosted : []
  }
  const seen: Array<LanguageModelV4CallOptions> = []
  let asked: Package.Asked | undefined
  const watching: LanguageModelV4 = {
    specificationVersion: "v4",
    provider: model.provider,
    modelId: model.modelId,
    supportedUrls: model.supportedUrls,
    doGenerate: async (options) => {
      seen.push(options)
      const { asked: answered, model: inner } = Package.watched(model)
      const result = await inner.doGenerate(options)
      if (seen.length === 1) asked = answered()
      return result
    },
    doStream: async (options) => {
      seen.push(options)
      const { asked: answered, model: inner } = Package.watched(model)
      const result = await inner.doStream(options)
      const stream = result.stream.pipeThrough(
        new TransformStream({
          flush: () => {
            asked ??= answered()
          }
        })
      )
      return { ...result, stream }
    }
  }
  bodies.length = 0
  const exit = await Effect.runPromiseExit(Program.askTwice(watching, tools, streamed(exchange)))
  const [, second] = seen
  if (hosted === "unknown" && first.answer.asked.length > 0) {
    const fails = "the turn fails"
    return { bridge: Exit.isFailure(exit) && second === undefined ? fails : bodies, package: fails }
  }
  if (asked === undefined || second === undefined) {
    return { bridge: Exit.isFailure(exit) ? Cause.pretty(exit.cause) : "nothing went out", package: "a request" }
  }
  const bridge = bodies[1]
  const again = { ...second, prompt: prompt(asked.content, Requirements.of(model)) }
  await (streamed(exchange) ? model.doStream(again) : model.doGenerate(again)).then(() => undefined, () => undefined)
  return { bridge, package: bodies[2] }
}
