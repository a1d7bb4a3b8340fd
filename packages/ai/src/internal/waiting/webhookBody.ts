/** What is sent to a webhook: read within bounds, as JSON or as the fields of a form. */
import * as ByteSize from "effect/ByteSize"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Canonical from "../seal/canonical.ts"

export interface Bounds {
  readonly maxBodySize?: ByteSize.Input | undefined
  readonly bodyTimeout?: Duration.Input | undefined
}

export interface Body {
  /** As it was sent: what a signature is over. */
  readonly text: string
  readonly json: Schema.Json
}

export type Problem = "too large" | "too slow" | "unreadable"

const refuse = (problem: Problem) => Effect.fail(problem)

const defaultMaxSize = ByteSize.fromInputUnsafe("256 KiB")

export const read = Effect.fnUntraced(function*(
  request: HttpServerRequest.HttpServerRequest,
  { bodyTimeout = "30 seconds", maxBodySize }: Bounds
): Effect.fn.Return<Body, Problem> {
  const limit = maxBodySize === undefined ? defaultMaxSize : ByteSize.fromInputUnsafe(maxBodySize)
  // Said beforehand, it is not even read.
  if (Number(request.headers["content-length"]) > Number(limit)) return yield* refuse("too large")
  const bytes = yield* request.arrayBuffer.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, limit),
    Effect.mapError((error): Problem => isTooLarge(error) ? "too large" : "unreadable"),
    // Reading that is interrupted ends the connection, before anything was answered; it ends with the connection in any case.
    Effect.forkDetach,
    Effect.flatMap(Fiber.join),
    Effect.timeoutOrElse({ duration: bodyTimeout, orElse: () => refuse("too slow") })
  )
  if (bytes.byteLength > Number(limit)) return yield* refuse("too large")
  const decoded = Result.try(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes))
  if (Result.isFailure(decoded)) return yield* refuse("unreadable")
  const text = decoded.success
  const value = isForm(request) ? Result.succeed(fieldsOf(text)) : Result.try((): unknown => JSON.parse(text))
  if (Result.isFailure(value) || Result.isFailure(Canonical.canonicalize(value.success))) {
    return yield* refuse("unreadable")
  }
  // What can be made canonical is JSON.
  return { text, json: value.success as Schema.Json }
})

const isTooLarge = ({ reason }: HttpServerError.HttpServerError): boolean =>
  reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"

const isForm = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /^application\/x-www-form-urlencoded\s*(?:;|$)/i.test(headers["content-type"] ?? "")

/** Each field by its name: a text, or a list of texts where it was sent several times. */
const fieldsOf = (text: string): { readonly [name: string]: string | ReadonlyArray<string> } => {
  const fields = new Map<string, Array<string>>()
  for (const [name, value] of new URLSearchParams(text)) fields.set(name, [...fields.get(name) ?? [], value])
  return Object.fromEntries([...fields].map(([name, values]) => [name, values.length === 1 ? values[0]! : values]))
}
