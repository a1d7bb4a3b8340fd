/**
 * A provider in place of the network: it answers from a script, and refuses what the provider's documentation refuses.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { Format } from "../recorded/exchange.ts"
import { params, string } from "../recorded/json.ts"

/** A call that a scripted model makes. */
export interface ScriptedCall {
  readonly id: string
  readonly name: string
  readonly params: Readonly<Record<string, unknown>>
}

/** One answer of a scripted model: calls, or a text. */
export type Reply = { readonly calls: ReadonlyArray<ScriptedCall> } | { readonly text: string }

/** What a request tells the model of a call. */
export interface Outcome {
  readonly id: string
  readonly text: string
}

/** A body as it goes over the wire. */
export interface Wire {
  readonly mediaType: string
  readonly body: string | Uint8Array<ArrayBuffer>
}

/** A provider: how it writes, what it refuses, and where that is documented. */
export interface Provider {
  readonly name: string
  readonly format: Format
  readonly documentation: ReadonlyArray<string>
  readonly model: (fetch: typeof globalThis.fetch) => LanguageModelV4
  /** The ids that two calls have, in the form that the provider gives them. */
  readonly ids: readonly [string, string]
  readonly generate: (reply: Reply) => Wire
  readonly stream: (reply: Reply) => Wire
  /** What the provider has against a request; nothing if it takes it. */
  readonly refuses: (body: unknown) => ReadonlyArray<string>
  readonly outcomes: (body: unknown) => ReadonlyArray<Outcome>
  /** Requests that it has to refuse, each made of one that it takes. */
  readonly broken: Readonly<Record<string, (body: never) => void>>
}

/** Events as a stream of server-sent events. */
export const events = (values: ReadonlyArray<unknown>, end = ""): Wire => ({
  mediaType: "text/event-stream",
  body: values.map((value) => {
    const type = string(value, "type")
    return `${type === undefined ? "" : `event: ${type}\n`}data: ${JSON.stringify(value)}\n\n`
  }).join("") + end
})

/** One value as JSON. */
export const json = (value: unknown): Wire => ({ mediaType: "application/json", body: JSON.stringify(value) })

/** What a model is told: a text, or the `error` that the provider's package puts one into. */
export const sentence = (text: string | undefined): string => {
  const wrapped = params(text)
  return string(wrapped, "error") ?? text ?? ""
}

/** No part of an approval reaches a provider that did not ask for one. */
export const noApprovals = (body: unknown): ReadonlyArray<string> =>
  /approval/iu.test(JSON.stringify(body)) ? ["a word of approvals is in the request"] : []

/** A script being played. */
export interface Server {
  readonly fetch: typeof globalThis.fetch
  readonly bodies: ReadonlyArray<unknown>
  readonly refusals: ReadonlyArray<string>
}

/** Plays a script. */
export const serve = (provider: Provider, replies: ReadonlyArray<Reply>, streaming: boolean): Server => {
  const bodies: Array<unknown> = []
  const refusals: Array<string> = []
  return {
    bodies,
    refusals,
    fetch: async (url, init) => {
      const request = new Request(url, init)
      const body: unknown = await request.json()
      const reply = replies[bodies.length]
      bodies.push(body)
      const problems = [...provider.refuses(body), ...noApprovals(body)]
      if (reply === undefined) problems.push("nobody expected another request")
      refusals.push(...problems)
      if (reply === undefined || problems.length > 0) {
        return Response.json({ error: { message: problems.join("; ") } }, { status: 400 })
      }
      const wire = streaming ? provider.stream(reply) : provider.generate(reply)
      return new Response(wire.body, { headers: { "content-type": wire.mediaType } })
    }
  }
}
