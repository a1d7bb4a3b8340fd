/**
 * The recordings: which are listed, and each as what a provider sent: a status, a media type and the bytes of a body.
 */
import * as Yaml from "js-yaml"
import { execFileSync } from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as EventStream from "./event-stream.ts"
import { at, list, number, string } from "./json.ts"

/** The public repositories that hold recordings, each at the commit that was read. */
export const repositories: Readonly<Record<string, string>> = {
  "vercel/ai": "ed857f50f112e23930b0c2dd8d532cc8bebbc911",
  "pydantic/pydantic-ai": "4fda38988f2939fa6ea9cdefcf120693e10ef491"
}

/** What the bodies of a recording are written in. */
export type Format =
  | "anthropic"
  | "bedrock"
  | "google"
  | "google-interactions"
  | "groq"
  | "mistral"
  | "openai-chat"
  | "openai-compatible"
  | "openai-responses"
  | "xai-chat"
  | "xai-responses"

/** A file of the list. */
export interface Listed {
  readonly format: Format
  readonly repository: string
  readonly path: string
  /** `generate`, `stream`, or which exchanges of a cassette. */
  readonly which: string
}

/** One answer of a provider. */
export interface Exchange {
  readonly format: Format
  readonly name: string
  readonly status: number
  readonly mediaType: string
  readonly body: string | Uint8Array<ArrayBuffer>
  /** What was asked, where it was recorded. */
  readonly request: unknown
}

/** Reads the list. */
export const listed = (): ReadonlyArray<Listed> => {
  const files: Array<Listed> = []
  let heading: Pick<Listed, "format" | "repository"> & { readonly folder: string } | undefined
  for (const line of Fs.readFileSync(Path.join(import.meta.dirname, "recordings.txt"), "utf8").split("\n")) {
    const words = line.trim().split(" ")
    if (line.startsWith("  ") && heading !== undefined) {
      const path = `${heading.folder}/${words.slice(1).join(" ")}`
      files.push({ format: heading.format, repository: heading.repository, path, which: words[0] ?? "" })
    } else if (words.length >= 3) {
      heading = { format: words[0] as Format, repository: words[1] ?? "", folder: words.slice(2).join(" ") }
    }
  }
  return files
}

/** Reads the text of listed files from clones of their repositories, whatever these have checked out. */
export const texts = (
  files: ReadonlyArray<Listed>,
  clones: Readonly<Record<string, string>>
): ReadonlyMap<Listed, string> => {
  const found = new Map<Listed, string>()
  for (const [repository, commit] of Object.entries(repositories)) {
    const wanted = files.filter((file) => file.repository === repository)
    const clone = clones[repository]
    if (clone === undefined || wanted.length === 0) continue
    const output = execFileSync("git", ["-C", clone, "cat-file", "--batch"], {
      input: wanted.map((file) => `${commit}:${file.path}\n`).join(""),
      maxBuffer: 1024 ** 3
    })
    let offset = 0
    for (const file of wanted) {
      const end = output.indexOf(10, offset)
      const size = Number(output.subarray(offset, end).toString().split(" ").at(-1))
      offset = end + 1
      if (!Number.isInteger(size)) continue
      found.set(file, output.subarray(offset, offset + size).toString())
      offset += size + 1
    }
  }
  return found
}

const json = "application/json"
const events = "text/event-stream"

/** The exchanges of a file that are listed. */
export const exchanges = (file: Listed, text: string): ReadonlyArray<Exchange> => {
  if (file.repository === "pydantic/pydantic-ai") return cassette(file, text)
  const name = `${file.repository} ${file.path}`
  const rest = { format: file.format, name, status: 200, request: undefined }
  if (file.which === "generate") return [{ ...rest, mediaType: json, body: text }]
  if (file.path.endsWith(".sse")) return [{ ...rest, mediaType: events, body: text }]
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  if (file.format === "bedrock") {
    return [{ ...rest, mediaType: EventStream.mediaType, body: EventStream.encode(lines) }]
  }
  return [{ ...rest, mediaType: events, body: lines.map((line) => `data: ${line}\n\n`).join("") }]
}

const cassette = (file: Listed, text: string): ReadonlyArray<Exchange> => {
  const interactions = list(Yaml.load(text, { schema: Yaml.CORE_SCHEMA.withTags(Yaml.binaryTag) }), "interactions")
  return file.which.split(",").map((index): Exchange => {
    const interaction = interactions[Number(index)]
    const headers = Object.entries(at(interaction, "response", "headers") as object ?? {})
    const type = headers.find(([name]) => name.toLowerCase() === "content-type")?.[1] as unknown
    const parsed = at(interaction, "response", "parsed_body")
    const body = at(interaction, "response", "body", "string")
    return {
      format: file.format,
      name: `${file.repository} ${file.path} ${index}`,
      status: number(interaction, "response", "status", "code") ?? 0,
      mediaType: string(type, 0) ?? json,
      body: parsed !== undefined
        ? JSON.stringify(parsed)
        : body instanceof Uint8Array
        ? new Uint8Array(body)
        : String(body),
      request: at(interaction, "request", "parsed_body")
    }
  })
}

/** Whether an answer was streamed. */
export const streamed = (exchange: Exchange): boolean => !exchange.mediaType.startsWith(json)

/** The events of a streamed answer, or the one body of another. */
export const values = (exchange: Exchange): ReadonlyArray<unknown> => {
  if (typeof exchange.body !== "string") return EventStream.decode(exchange.body)
  if (!streamed(exchange)) return [JSON.parse(exchange.body) as unknown]
  return exchange.body.split(/\r?\n\r?\n/u).flatMap((block) => {
    const data = block.split(/\r?\n/u).filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trim())
    return data.length === 0 || data[0] === "[DONE]" ? [] : [JSON.parse(data.join("\n")) as unknown]
  })
}
