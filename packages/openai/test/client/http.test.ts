/** What sends the requests, and with which key. */
import { LanguageModel } from "@assent/ai"
import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
import { ResponsesServer } from "@assent/openai/testing"
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FetchHttpClient from "effect/http/FetchHttpClient"
import * as HttpClient from "effect/http/HttpClient"
import * as HttpClientError from "effect/http/HttpClientError"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { message } from "../edges/edge.ts"
import * as Stub from "../stub.ts"

const ask = LanguageModel.generateText({ prompt: "hi" })

it.live("an HttpClient that is provided sends the requests, of a response and of a stream", () =>
  Effect.scoped(Effect.gen(function*() {
    const server = yield* ResponsesServer.make({ turns: ["Hello.", "Bye."] })
    const sent: Array<string> = []
    const Http = Layer.effect(
      HttpClient.HttpClient,
      Effect.map(
        HttpClient.HttpClient,
        HttpClient.tapRequest(({ method, url }) => Effect.sync(() => sent.push(`${method} ${url}`)))
      )
    ).pipe(Layer.provide(FetchHttpClient.layer))
    const client = OpenAiClient.layer({ apiKey: Redacted.make(String(server.apiKey)), apiUrl: server.url })
    const Model = OpenAiLanguageModel.model("gpt-5.2").pipe(Layer.provide(client), Layer.provide(Http))
    const text = yield* Effect.provide(Effect.map(ask, (response) => response.text), Model)
    let streamed = ""
    yield* LanguageModel.streamText({ prompt: "bye" }).pipe(
      Stream.runForEach((part) => Effect.sync(() => part.type === "text-delta" && (streamed += part.delta))),
      Effect.provide(Model)
    )
    assert.deepStrictEqual([text, streamed], ["Hello.", "Bye."])
    assert.deepStrictEqual(sent, [`POST ${server.url}/responses`, `POST ${server.url}/responses`])
  })))

it.effect("an HttpClient that fails by the status, or cannot connect, is an error as ever", () =>
  Effect.gen(function*() {
    const answer = (status: number, error: object) =>
      HttpClient.make((request) =>
        Effect.succeed(HttpClientResponse.fromWeb(
          request,
          new Response(JSON.stringify({ error }), { status, headers: { "content-type": "application/json" } })
        ))
      )
    const reason = (http: HttpClient.HttpClient) =>
      Effect.flip(ask).pipe(
        Effect.provide(OpenAiLanguageModel.model("gpt-5.2")),
        Effect.provide(OpenAiClient.layer({ apiKey: Redacted.make("sk-secret-key"), maxRetries: 0 })),
        Effect.provideService(HttpClient.HttpClient, http),
        Effect.map(({ message, reason }) => [reason._tag, message] as const)
      )
    const refused = yield* reason(HttpClient.filterStatusOk(answer(400, { message: "No such field.", param: "tools" })))
    assert.strictEqual(refused[0], "InvalidRequestError")
    assert.include(refused[1], "No such field.")
    const down = yield* reason(HttpClient.make((request) =>
      Effect.fail(
        new HttpClientError.HttpClientError({
          reason: new HttpClientError.TransportError({ request, description: "sk-secret-key" })
        })
      )
    ))
    assert.strictEqual(down[0], "NetworkError")
    assert.notInclude(down[1], "sk-secret-key")
  }))

it.effect("a key that is an effect is asked for before each request, and no key is in an error", () =>
  Effect.gen(function*() {
    let keys = 0
    const apiKey = Effect.sync(() => Redacted.make(`token-number-${++keys}`))
    const server = Stub.make([
      Stub.reply([message("Hello.")]),
      Stub.refusal(401, { message: "Incorrect API key provided: token-number-2.", code: "invalid_api_key" })
    ], { client: { apiKey } })
    const error = yield* Effect.provide(Effect.andThen(ask, Effect.flip(ask)), server.model)
    assert.deepStrictEqual(server.headers.map((headers) => headers.get("authorization")), [
      "Bearer token-number-1",
      "Bearer token-number-2"
    ])
    assert.notInclude(String(error), "token-number-2")
  }))
