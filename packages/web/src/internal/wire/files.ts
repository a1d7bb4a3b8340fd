/** Files of messages: from a page into a history, and back. */
import { Prompt } from "@assent/ai"
import * as Base64 from "effect/encoding/Base64"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { FilePart } from "./model.ts"

const decode = Schema.decodeUnknownOption(Schema.Struct({
  type: Schema.Literal("file"),
  mediaType: Schema.String,
  filename: Schema.optional(Schema.NullOr(Schema.String)),
  url: Schema.String,
  // The id of a file that is kept at a provider: whose it is, nobody here knows.
  providerReference: Schema.optional(Schema.Null)
}))

/** A file as the history has it: its bytes, or where they are. Fails with a sentence. */
export const read = (part: unknown): Result.Result<Prompt.FilePart, string> => {
  const found = Option.getOrUndefined(decode(part))
  if (found === undefined) return Result.fail(unreadable)
  const { filename, mediaType: given, url } = found
  const source = /^data:/i.test(url) ? ofData(url) : ofAddress(url)
  if (source === undefined) return Result.fail(unreadable)
  const mediaType = [given, source.mediaType, "application/octet-stream"].find((type) => type !== "")!
  if (!isMediaType.test(mediaType) || (filename ?? "").length > maxNameLength) return Result.fail(unreadable)
  if (source.data instanceof Uint8Array && source.data.length === 0) return Result.fail(empty)
  return Result.succeed(Prompt.makePart("file", {
    mediaType,
    data: source.data,
    ...(filename === undefined || filename === null || filename === "" ? undefined : { fileName: filename })
  }))
}

/** As a page has it. */
export const toPart = ({ data, fileName, mediaType }: Prompt.FilePart): FilePart => ({
  type: "file",
  mediaType,
  url: typeof data !== "string"
    ? data instanceof URL ? data.href : dataUrl(mediaType, Base64.encode(data))
    : /^(https?|data):/.test(data)
    ? data
    : dataUrl(mediaType, data),
  ...(fileName === undefined ? undefined : { filename: fileName })
})

const dataUrl = (mediaType: string, base64: string): string => `data:${mediaType};base64,${base64}`

interface Source {
  readonly mediaType: string
  // Never a text: to a provider that may be the id of a file that it keeps.
  readonly data: Uint8Array | URL
}

const ofAddress = (url: string): Source | undefined =>
  /^https?:\/\//i.test(url) && URL.canParse(url) ? { mediaType: "", data: new URL(url) } : undefined

const ofData = (url: string): Source | undefined => {
  const comma = url.indexOf(",")
  if (comma < 0) return undefined
  const [mediaType = "", ...others] = url.slice("data:".length, comma).split(";")
  const data = url.slice(comma + 1)
  const bytes = others.at(-1)?.trim().toLowerCase() === "base64" ? Base64.decode(data) : ofText(data)
  return Result.isFailure(bytes) ? undefined : { mediaType: mediaType.trim(), data: bytes.success }
}

const ofText = (encoded: string): Result.Result<Uint8Array, unknown> =>
  Result.try(() => new TextEncoder().encode(decodeURIComponent(encoded)))

// Or the first half of one: what it is more exactly, a provider finds out.
const isMediaType = /^[\w!#$&^.+-]{1,127}(\/[\w!#$&^.+*-]{1,127})?$/

const maxNameLength = 1_000

const unreadable = "A file is given with its media type, and as a data: URL, or as one of http: or https:."

const empty = "The file is empty."
