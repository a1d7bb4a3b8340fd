/** The tokens of webhooks: what stands in an address, what is kept of it, and how it is read from a request. */
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Cryptography from "../seal/cryptography.ts"

/** A secret of its own: 32 random bytes, as base64url. */
export const make: Effect.Effect<Redacted.Redacted> = Effect.map(
  Cryptography.randomToken(32),
  (token) => Redacted.make(token, { label: "webhook token" })
)

/** A token is kept as this alone. Nothing else is hashed with these words before it. */
export const digestOf = (token: Redacted.Redacted): Effect.Effect<string> =>
  Cryptography.sha256(`@assent/ai/Webhook ${Redacted.value(token)}`)

// A program may have its own tokens; none is longer than this.
const maxLength = 512

/** The token of a request: that of its `authorization`, or else what its path ends with. */
export const read = (request: {
  readonly url: string
  readonly headers: { readonly [name: string]: string | undefined }
}): Redacted.Redacted | undefined => {
  const { authorization } = request.headers
  const text = authorization === undefined ? lastOf(request.url) : /^bearer +(\S+) *$/i.exec(authorization)?.[1]
  return text === undefined || text.length === 0 || text.length > maxLength
    ? undefined
    : Redacted.make(text, { label: "webhook token" })
}

const lastOf = (url: string): string => {
  const path = url.replace(/[?#].*$/s, "")
  return path.slice(path.lastIndexOf("/") + 1)
}

/** Whether a path, however it is spelt, is below this one, or below it where something stands before. */
export const isBelow = (path: string): (url: string) => boolean => {
  const base = `${plain(path)}/`
  return (url) => plain(url).includes(base)
}

/** As routers and proxies may read a path: without escapes, dots and doubled slashes, in small letters. */
const plain = (url: string): string => {
  let path = url.replace(/[?#].*$/s, "")
  // An escape of an escape is one that a proxy has made.
  for (let times = 0; times < 3 && path.includes("%"); times++) path = path.replaceAll(/%[0-9a-f]{2}/gi, unescaped)
  const segments = path.replaceAll("\\", "/").toLowerCase().split("/").filter((one) => one !== "" && one !== ".")
  return `/${segments.join("/")}${/[/\\]$/.test(path) ? "/" : ""}`
}

const unescaped = (escape: string): string => String.fromCharCode(Number.parseInt(escape.slice(1), 16))
