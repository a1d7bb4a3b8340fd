/** An `HttpClient` as what the SDK sends its requests with. */
import * as Effect from "effect/Effect"
import * as HttpBody from "effect/http/HttpBody"
import type * as HttpClient from "effect/http/HttpClient"
import * as HttpClientRequest from "effect/http/HttpClientRequest"
import * as HttpClientResponse from "effect/http/HttpClientResponse"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"

type Run = <A, E>(effect: Effect.Effect<A, E>, options?: { readonly signal?: AbortSignal | undefined }) => Promise<A>

export const ofHttpClient =
  (run: Run) =>
  (client: HttpClient.HttpClient) =>
  async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const { body, signal, ...rest } = init ?? {}
    const request = HttpClientRequest.fromWeb(new Request(input, rest as RequestInit))
    const type = new Headers(init?.headers).get("content-type") ?? "application/json"
    const response = await run(
      Effect.catch(
        client.execute(
          typeof body === "string" ? HttpClientRequest.setBody(request, HttpBody.text(body, type)) : request
        ),
        // A client may fail by the status; what OpenAI says of it is in the response.
        (error) => error.response === undefined ? Effect.fail(error) : Effect.succeed(error.response)
      ),
      { signal: signal ?? undefined }
    )
    const web = HttpClientResponse.toWeb(response)
    return Option.isSome(web) ? web.value : new Response(Stream.toReadableStream(response.stream), {
      status: response.status,
      headers: { ...response.headers }
    })
  }
