/** What people and tools say to the model: text, images and files. */
import type * as Prompt from "effect/ai/Prompt"
import * as Base64 from "effect/encoding/Base64"
import type * as Responses from "openai/resources/responses/responses"
import * as Metadata from "../metadata.ts"

export interface Options {
  /** How ids of files at OpenAI begin. */
  readonly fileIdPrefixes: ReadonlyArray<string>
}

type Content = Responses.ResponseInputText | Responses.ResponseInputImage | Responses.ResponseInputFile

export const part = (part: Prompt.TextPart | Prompt.FilePart, index: number, options: Options): Content =>
  part.type === "text"
    ? { type: "input_text", text: part.text }
    : part.mediaType.startsWith("image/")
    ? image(part, options)
    : file(part, index, options)

const image = (part: Prompt.FilePart, options: Options): Responses.ResponseInputImage => {
  const { imageDetail } = Metadata.read(part)
  const detail = typeof imageDetail === "string" ? imageDetail as Responses.ResponseInputImage["detail"] : "auto"
  const source = sourceOf(part, part.mediaType === "image/*" ? "image/jpeg" : part.mediaType, options)
  return source.type === "id"
    ? { type: "input_image", detail, file_id: source.value }
    : { type: "input_image", detail, image_url: source.value }
}

const file = (part: Prompt.FilePart, index: number, options: Options): Responses.ResponseInputFile => {
  const source = sourceOf(part, part.mediaType, options)
  switch (source.type) {
    case "id":
      return { type: "input_file", file_id: source.value }
    case "url":
      return { type: "input_file", file_url: source.value }
    case "data":
      return {
        type: "input_file",
        filename: part.fileName ?? defaultName(part.mediaType, index),
        file_data: source.value
      }
  }
}

interface Source {
  readonly type: "id" | "url" | "data"
  readonly value: string
}

const sourceOf = ({ data }: Prompt.FilePart, mediaType: string, { fileIdPrefixes }: Options): Source => {
  if (data instanceof URL) return addressed(data.href)
  if (typeof data !== "string") return { type: "data", value: dataUrl(mediaType, Base64.encode(data)) }
  if (fileIdPrefixes.some((prefix) => data.startsWith(prefix))) return { type: "id", value: data }
  return /^(https?|data):/i.test(data) ? addressed(data) : { type: "data", value: dataUrl(mediaType, data) }
}

const addressed = (value: string): Source => ({ type: /^data:/i.test(value) ? "data" : "url", value })

const dataUrl = (mediaType: string, base64: string): string => `data:${mediaType};base64,${base64}`

// OpenAI tells what a file is by its name.
const defaultName = (mediaType: string, index: number): string => {
  const subtype = /\/([\w-]+)$/.exec(mediaType)?.[1]
  const extension = subtype === "plain" ? "txt" : subtype === "markdown" ? "md" : subtype
  return extension === undefined ? `part-${index}` : `part-${index}.${extension}`
}

// =============================================================================
// Results of tools
// =============================================================================

type Output = string | Array<Content>

/** The output of a function call: never empty, which OpenAI refuses. */
export const output = (result: Prompt.ToolResultPart, options: Options): Output => {
  const { modelOutput } = result
  if (modelOutput !== undefined && modelOutput.length > 0) {
    const parts = modelOutput.filter((part) => part.type !== "text" || part.text.length > 0)
    if (parts.length > 0) return parts.map((one, index) => part(one, index, options))
  }
  return text(result)
}

/** A result in words. */
export const text = (result: Prompt.ToolResultPart): string => {
  const said = typeof result.result === "string" ? result.result : reasonOf(result) ?? JSON.stringify(result.result)
  return said === undefined || said.length === 0 ? "(no output)" : said
}

// What kept a call from running is said to the model as a sentence (law L14).
const reasonOf = ({ isFailure, result }: Prompt.ToolResultPart): string | undefined => {
  if (!isFailure || !Metadata.isRecord(result)) return undefined
  const { reason, type } = result
  if (typeof reason !== "string" || reason.length === 0) return undefined
  return type === "execution-denied"
    ? `The call was denied and did not run. ${reason}`
    : type === "execution-interrupted"
    ? reason
    : undefined
}
