/**
 * What a request and its response are told as in spans: by the conventions of OpenTelemetry for generative AI, in upstream's
 * span around the call and in one of its own, which is named as the conventions have it. No text of a prompt, of an answer or
 * of a tool is in either.
 *
 * https://opentelemetry.io/docs/specs/semconv/gen-ai/openai/
 */
import type * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import type * as Responses from "openai/resources/responses/responses"

type Attributes = Readonly<Record<string, unknown>>

export interface Request {
  readonly name: string
  readonly attributes: Attributes
}

export interface Spans {
  readonly ended: (response: Responses.Response, finish: Response.FinishPartEncoded) => void
}

const defined = (attributes: Attributes): Attributes =>
  Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined && value !== null))

const azure = /\.(openai\.azure\.com|services\.ai\.azure\.com|cognitiveservices\.azure\.com)$/

export const request = (
  params: Responses.ResponseCreateParamsNonStreaming,
  { responseFormat }: Pick<LanguageModel.ProviderOptions, "responseFormat">,
  baseUrl: string
): Request => {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined
  const { conversation } = params
  return {
    name: `chat ${params.model ?? ""}`.trimEnd(),
    attributes: defined({
      "gen_ai.operation.name": "chat",
      "gen_ai.provider.name": azure.test(url?.hostname ?? "") ? "azure.ai.openai" : "openai",
      "gen_ai.request.model": params.model,
      "gen_ai.request.temperature": params.temperature,
      "gen_ai.request.top_p": params.top_p,
      "gen_ai.request.max_tokens": params.max_output_tokens,
      "gen_ai.output.type": responseFormat.type,
      "gen_ai.conversation.id": typeof conversation === "string" ? conversation : conversation?.id,
      "openai.api.type": "responses",
      "openai.request.service_tier": params.service_tier,
      "server.address": url?.hostname,
      "server.port": url === undefined ? undefined : Number(url.port || (url.protocol === "http:" ? 80 : 443))
    })
  }
}

// In the words of OpenAI's other API, which the conventions are of.
const reasons: Readonly<Record<string, string>> = { "tool-calls": "tool_calls", "content-filter": "content_filter" }

const ended = (response: Responses.Response, { reason, usage }: Response.FinishPartEncoded): Attributes => ({
  "gen_ai.response.id": response.id,
  "gen_ai.response.model": response.model,
  "gen_ai.response.finish_reasons": [reasons[reason] ?? reason],
  "gen_ai.usage.input_tokens": usage.inputTokens.total,
  "gen_ai.usage.output_tokens": usage.outputTokens.total,
  "gen_ai.usage.cache_read.input_tokens": usage.inputTokens.cacheRead,
  "gen_ai.usage.cache_creation.input_tokens": usage.inputTokens.cacheWrite,
  "gen_ai.usage.reasoning.output_tokens": usage.outputTokens.reasoning,
  "openai.response.service_tier": response.service_tier
})

const annotate = (span: Tracer.Span, attributes: Attributes): void => {
  for (const [name, value] of Object.entries(attributes)) span.attribute(name, value)
}

const make = (own: Tracer.Span, outer: Tracer.Span, { attributes }: Request): Spans => {
  annotate(outer, attributes)
  return {
    ended: (response, finish) => {
      const said = defined(ended(response, finish))
      annotate(own, said)
      annotate(outer, said)
    }
  }
}

const failed = (span: Tracer.Span) => ({ reason }: AiError.AiError) =>
  Effect.sync(() => span.attribute("error.type", reason._tag))

const optionsOf = ({ attributes }: Request) => ({ kind: "client", attributes } as const)

/** A call within a span of its own. */
export const around = <A, R>(
  request: Request,
  outer: Tracer.Span,
  call: (spans: Spans) => Effect.Effect<A, AiError.AiError, R>
): Effect.Effect<A, AiError.AiError, R> =>
  Effect.useSpan(
    request.name,
    optionsOf(request),
    (span) =>
      call(make(span, outer, request)).pipe(
        Effect.tapError(failed(span)),
        Effect.withParentSpan(span, { captureStackTrace: false })
      )
  )

/** The same of a stream: the span ends with it. */
export const aroundStream = <A, R>(
  request: Request,
  outer: Tracer.Span,
  call: (spans: Spans) => Stream.Stream<A, AiError.AiError, R>
): Stream.Stream<A, AiError.AiError, R> =>
  Stream.unwrap(
    Effect.map(Effect.makeSpanScoped(request.name, optionsOf(request)), (span) =>
      call(make(span, outer, request)).pipe(
        Stream.tapError(failed(span)),
        Stream.provideService(Tracer.ParentSpan, span)
      ))
  )
