/** Whether a body was signed by whoever shares a secret: HMAC-SHA-256, compared in constant time. */
import * as Effect from "effect/Effect"
import * as Base64Url from "effect/encoding/Base64Url"
import * as Redacted from "effect/Redacted"
import * as Cryptography from "../seal/cryptography.ts"

export interface Options {
  readonly secret: Redacted.Redacted
  readonly header: string
  readonly prefix?: string | undefined
  readonly encoding?: "hex" | "base64" | undefined
  readonly message?: ((body: string, headers: Headers) => string) | undefined
}

export type Headers = { readonly [name: string]: string | undefined }

export const make = ({ encoding = "hex", header, message, prefix = "", secret }: Options) => {
  const name = header.toLowerCase()
  return Effect.fnUntraced(function*(body: string, headers: Headers): Effect.fn.Return<boolean> {
    const written = headers[name]
    if (written === undefined || !written.startsWith(prefix)) return false
    const tag = tagOf(written.slice(prefix.length), encoding)
    if (tag === undefined) return false
    const key = yield* Cryptography.makeMacKey(Redacted.value(secret))
    return yield* Cryptography.verifyHmacSha256(key, tag, message === undefined ? body : message(body, headers))
  })
}

/** As `verifyHmacSha256` reads it. */
const tagOf = (text: string, encoding: "hex" | "base64"): string | undefined => {
  if (encoding === "base64") {
    return /^[A-Za-z0-9+/]{43}=$/.test(text) ? text.slice(0, -1).replaceAll("+", "-").replaceAll("/", "_") : undefined
  }
  return /^[0-9a-f]{64}$/i.test(text)
    ? Base64Url.encode(Uint8Array.from(text.match(/../g)!, (byte) => Number.parseInt(byte, 16)))
    : undefined
}
