/** A server that answers with what it is given, one after the other, and keeps what it was asked. */
import { OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { response } from "./edges/edge.ts"
import type { Json } from "./recorded/facts.ts"

export interface Reply {
  readonly status?: number
  readonly headers?: Record<string, string>
  readonly body: unknown
}

/** A response of these items. */
export const reply = (output: ReadonlyArray<unknown>, fields: Json = {}): Reply => ({ body: response(output, fields) })

export const refusal = (status: number, error: Json): Reply => ({ status, body: { error } })

export const make = (
  replies: ReadonlyArray<Reply>,
  options?: {
    readonly model?: string
    readonly config?: Omit<OpenAiLanguageModel.ConfigFields, "model">
    readonly client?: Partial<OpenAiClient.Options>
  }
) => {
  const asked: Array<Json> = []
  const urls: Array<string> = []
  const headers: Array<Headers> = []
  const fetch = (url: string | URL | Request, init?: RequestInit) => {
    const answer = replies[asked.length] ?? { status: 500, body: { error: { message: "Nothing more to say." } } }
    asked.push(JSON.parse(String(init?.body)))
    urls.push(String(url))
    headers.push(new Headers(init?.headers))
    return Promise.resolve(
      new Response(typeof answer.body === "string" ? answer.body : JSON.stringify(answer.body), {
        status: answer.status ?? 200,
        headers: { "content-type": "application/json", ...answer.headers }
      })
    )
  }
  const client = OpenAiClient.layer({ apiKey: Redacted.make("key"), fetch, maxRetries: 0, ...options?.client })
  const model = OpenAiLanguageModel.model(options?.model ?? "gpt-5.2", options?.config).pipe(Layer.provide(client))
  return { asked, urls, headers, client, model }
}
