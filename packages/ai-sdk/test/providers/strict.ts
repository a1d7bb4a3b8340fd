/**
 * A provider in place of the network: it answers from a script, and refuses what the provider refuses. Each rule says where
 * it was found; `notDocumented` begins the source of one that no documentation has.
 */
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { AiSdkLanguageModel } from "@assent/ai-sdk"
import type { Format } from "../recorded/exchange.ts"
import { list, params, string } from "../recorded/json.ts"

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

/** What went over the wire before a request. */
export interface Past {
  readonly bodies: ReadonlyArray<unknown>
  readonly replies: ReadonlyArray<Reply>
}

/** One thing that a provider asks of a request. */
export interface Rule {
  readonly says: string
  readonly source: string
  /** What it has against a request; nothing if it takes it. */
  readonly problems: (body: unknown, past: Past) => ReadonlyArray<string>
  /** Makes of a request that it takes one that it refuses. */
  readonly breaks: (body: never) => void
}

/** A provider: how it writes, and what it refuses. */
export interface Provider {
  readonly name: string
  readonly format: Format
  readonly model: (fetch: typeof globalThis.fetch) => LanguageModelV4
  readonly config?: AiSdkLanguageModel.ConfigFields
  /** The ids that calls have, in the form that the provider gives them. */
  readonly ids: readonly [string, string, string]
  readonly generate: (reply: Reply) => Wire
  readonly stream: (reply: Reply) => Wire
  readonly rules: ReadonlyArray<Rule>
  readonly outcomes: (body: unknown) => ReadonlyArray<Outcome>
}

export const notDocumented = "not documented; "

export const refuses = (provider: Provider, body: unknown, past: Past): ReadonlyArray<string> =>
  provider.rules.flatMap((rule) => rule.problems(body, past).map((problem) => `${rule.says}: ${problem}`))

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

/** Looks at each message, with the one before it and the one behind it. */
export const eachMessage = (
  look: (message: unknown, before: unknown, behind: unknown, index: number) => ReadonlyArray<string>
): Rule["problems"] =>
(body) =>
  list(body, "messages").flatMap((message, index, messages) =>
    look(message, messages[index - 1], messages[index + 1], index)
  )

/** The ids that stand more than once. */
export const repeated = (ids: ReadonlyArray<string | undefined>): ReadonlyArray<string> =>
  ids.flatMap((id, index) => id !== undefined && ids.indexOf(id) < index ? [id] : [])

export const missing = (
  ids: ReadonlyArray<string | undefined>,
  among: ReadonlyArray<string | undefined>
): ReadonlyArray<string> => ids.flatMap((id) => among.includes(id) ? [] : [`${id}`])

/** What every provider asks of a call, although a model may be cut in the middle of one, and make up a name. */
export const inputIsObject = "the input of a call is an object"
export const nameIsPlain = "the name of a call has 1 to 64 letters, digits, _ and -"

export const notPlain = (name: string | undefined): ReadonlyArray<string> =>
  /^[a-zA-Z0-9_-]{1,64}$/u.test(name ?? "") ? [] : [`${name}`]

export const notObject = (input: unknown): ReadonlyArray<string> =>
  typeof input === "object" && input !== null && !Array.isArray(input) ? [] : ["one is not"]

/** Fields and kinds of parts that speak of approvals: none reaches a provider that did not ask for one. */
export const approvalParts = (value: unknown): ReadonlyArray<string> =>
  typeof value !== "object" || value === null ? [] : Object.entries(value).flatMap(([key, field]) => [
    ...(/approv/iu.test(key) ? [key] : []),
    ...(key === "type" && typeof field === "string" && /approv/iu.test(field) ? [field] : []),
    ...approvalParts(field)
  ])

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
      const problems = [
        ...refuses(provider, body, { bodies: [...bodies], replies: replies.slice(0, bodies.length) }),
        ...approvalParts(body).map((part) => `${part} is of an approval`)
      ]
      bodies.push(body)
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
