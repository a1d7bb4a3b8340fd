/** A server and the real SDK before it. */
import { ResponsesServer } from "@assent/openai/testing"
import * as Effect from "effect/Effect"
import OpenAI, { APIError } from "openai"
import type * as Responses from "openai/resources/responses/responses"

export const model = "gpt-5.5"

export const setup = Effect.fnUntraced(function*(options: ResponsesServer.Options) {
  const server = yield* ResponsesServer.make(options)
  const client = new OpenAI({ apiKey: server.apiKey, baseURL: server.url, maxRetries: 0, logLevel: "off" })
  return { server, client }
})

/** One response of the SDK; what it throws is in the error channel. */
export const create = (
  client: OpenAI,
  params: Omit<Responses.ResponseCreateParamsNonStreaming, "model">
): Effect.Effect<Responses.Response, unknown> =>
  Effect.tryPromise({ try: () => client.responses.create({ model, ...params }), catch: (error) => error })

/** All events of a stream of the SDK. */
export const stream = (
  client: OpenAI,
  params: Omit<Responses.ResponseCreateParamsStreaming, "model" | "stream">
): Effect.Effect<Array<Responses.ResponseStreamEvent>, unknown> =>
  Effect.tryPromise({
    try: async () => {
      const events: Array<Responses.ResponseStreamEvent> = []
      for await (const event of await client.responses.create({ model, ...params, stream: true })) events.push(event)
      return events
    },
    catch: (error) => error
  })

export interface Refused {
  readonly status: number | undefined
  readonly message: string
  readonly type: string | undefined
  readonly param: string | null | undefined
  readonly code: string | null | undefined
}

/** What the SDK threw, as data. */
export const refused = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<Refused> =>
  Effect.flip(effect).pipe(
    Effect.orDie,
    Effect.map((error) => {
      if (!(error instanceof APIError)) throw error
      return {
        status: error.status,
        message: error.message.replace(/^\d+ /, ""),
        type: error.type,
        param: error.param,
        code: error.code
      }
    })
  )

/** A refusal with nothing special about it. */
export const invalid = (message: string, rest?: Partial<Refused>): Refused => ({
  status: 400,
  message,
  type: "invalid_request_error",
  param: "input",
  code: null,
  ...rest
})

export const user = (text: string): Responses.ResponseInputItem => ({ role: "user", content: text })

export const output = (callId: string, output: string): Responses.ResponseInputItem => ({
  type: "function_call_output",
  call_id: callId,
  output
})

/** What a response said, as input for the next request. The SDK's types do not say that its items may go back in. */
export const echo = (response: Responses.Response): Array<Responses.ResponseInputItem> =>
  response.output as Array<Responses.ResponseInputItem>
