/**
 * OpenAI's official SDK as a service: responses as effects and streams, its errors as `AiError`.
 *
 * @since 0.1.0
 */
import type * as AiError from "effect/ai/AiError"
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type OpenAI from "openai"
import type * as Responses from "openai/resources/responses/responses"

/**
 * What the provider needs of OpenAI.
 *
 * @category services
 * @since 0.1.0
 */
export interface Service {
  /** The SDK's own client, for whatever this service does not do. */
  readonly client: OpenAI
  /** One response. Interruption aborts the request. */
  readonly createResponse: (
    params: Responses.ResponseCreateParamsNonStreaming
  ) => Effect.Effect<Responses.Response, AiError.AiError>
  /** The events of one response as they come. A reader who leaves closes the connection. */
  readonly createResponseStream: (
    params: Responses.ResponseCreateParamsStreaming
  ) => Stream.Stream<Responses.ResponseStreamEvent, AiError.AiError>
}

/**
 * OpenAI, as a service.
 *
 * @category services
 * @since 0.1.0
 */
export class OpenAiClient extends Context.Service<OpenAiClient, Service>()("@assent/openai/OpenAiClient") {}
