/**
 * What a program sees of an answer over the bridge: the parts of `generateText` and of `streamText`.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider"
import * as AiSdkLanguageModel from "@assent/ai-sdk/AiSdkLanguageModel"
import * as LanguageModel from "@assent/ai/LanguageModel"
import * as Prompt from "@assent/ai/Prompt"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import type * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Answer } from "./answer.ts"
import { empty } from "./answer.ts"
import * as Json from "./json.ts"
import { signature } from "./package-answer.ts"

/** The tools that an answer speaks of. */
export interface Tools {
  /** For the program to run. */
  readonly local: ReadonlyArray<string>
  /** Run by the provider. */
  readonly hosted: ReadonlyArray<string>
}

const toolkit = ({ hosted, local }: Tools) =>
  Toolkit.make(
    ...[...new Set(local)].filter((name) => !hosted.includes(name)).map((name) =>
      Tool.dynamic(name, { parameters: { type: "object" }, success: Schema.Unknown })
    ),
    ...hosted.map((name) =>
      Tool.providerDefined({
        id: `recorded.${name}`,
        customName: name,
        providerName: name,
        parameters: Schema.Unknown,
        success: Schema.Unknown,
        failure: Schema.Unknown
      })(undefined)
    )
  )

type Parts = ReadonlyArray<Response.AnyPart>

/** Asks a model over the bridge. */
export const ask = (
  model: LanguageModelV4,
  tools: Tools,
  streaming: boolean
): Effect.Effect<Answer, AiError.AiError> => Effect.map(parts(model, tools, streaming, "Hello."), answer)

const parts = (
  model: LanguageModelV4,
  tools: Tools,
  streaming: boolean,
  prompt: Prompt.RawInput
): Effect.Effect<Parts, AiError.AiError> => {
  const options = { prompt, toolkit: toolkit(tools), disableToolCallResolution: true } as const
  const effect: Effect.Effect<Parts, AiError.AiError, LanguageModel.LanguageModel> = streaming
    ? Stream.runCollect(LanguageModel.streamText(options)) as never
    : Effect.map(LanguageModel.generateText(options), ({ content }) => content) as never
  return Effect.provide(effect, AiSdkLanguageModel.layer({ model }))
}

/** What the program's tools return to every call, and what the user says then. */
export const next = { result: "It is done.", message: "Go on." }

/** Asks a model over the bridge, answers its calls, and asks it once more. */
export const askTwice = (
  model: LanguageModelV4,
  tools: Tools,
  streaming: boolean
): Effect.Effect<void, AiError.AiError> =>
  Effect.gen(function*() {
    const first = yield* parts(model, tools, streaming, "Hello.")
    const history = Prompt.concat(Prompt.make("Hello."), Prompt.fromResponseParts(first))
    const calls = first.filter((part) => part.type === "tool-call" && part.providerExecuted !== true)
    const results = calls.flatMap((part) =>
      part.type === "tool-call"
        ? [
          Prompt.toolResultPart({
            id: part.id,
            name: part.name,
            result: next.result,
            isFailure: false,
            providerExecuted: false
          })
        ]
        : []
    )
    const answered = results.length === 0
      ? history
      : Prompt.concat(history, Prompt.fromMessages([Prompt.toolMessage({ content: results })]))
    yield* parts(model, tools, streaming, Prompt.concat(answered, next.message))
  })

const answer = (parts: Parts): Answer => {
  const of = <Type extends Response.AnyPart["type"]>(type: Type) =>
    parts.filter((part): part is Extract<Response.AnyPart, { readonly type: Type }> => part.type === type)
  const calls = of("tool-call")
  const finish = of("finish").at(-1)
  const metadata = of("response-metadata")
  // What is said last of a block of a stream holds: that its signature is another one, or that it has none after all.
  const signed = new Map<unknown, string | undefined>()
  parts.forEach((part, index) => {
    const isBlock = /-(?:start|delta|end)$/u.test(part.type) && "id" in part
    if (Object.keys(part.metadata).length > 0) signed.set(isBlock ? part.id : index, signature(part.metadata))
  })
  return {
    ...empty,
    text: parts.map((part) => part.type === "text" ? part.text : part.type === "text-delta" ? part.delta : "").join(""),
    reasoning: parts.map((part) =>
      part.type === "reasoning" ? part.text : part.type === "reasoning-delta" ? part.delta : ""
    ).join(""),
    signatures: Json.present([...signed.values()]),
    calls: calls.filter((call) => call.providerExecuted !== true).map((call) => ({
      id: call.id,
      name: call.name,
      params: call.params
    })),
    hosted: calls.filter((call) => call.providerExecuted === true).map((call) => ({
      key: call.id,
      value: call.params
    })),
    results: of("tool-result").filter((result) => result.providerExecuted === true).map((result) => ({
      key: result.id,
      value: result.result
    })),
    asked: of("tool-approval-request").map((request) => request.approvalId),
    sources: of("source").map((source) => ({
      key: source.sourceType === "url" ? source.url.href : source.title,
      value: source.title
    })),
    files: of("file").map((file) => Base64.encode(file.data)),
    finish: finish?.reason,
    usage: {
      input: finish?.usage.inputTokens.total,
      output: finish?.usage.outputTokens.total,
      cacheRead: finish?.usage.inputTokens.cacheRead,
      reasoning: finish?.usage.outputTokens.reasoning
    },
    id: metadata.findLast((part) => part.id !== undefined)?.id,
    model: metadata.findLast((part) => part.modelId !== undefined)?.modelId
  }
}
