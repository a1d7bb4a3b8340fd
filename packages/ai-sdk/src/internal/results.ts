/** Results of tools, as a model reads them. */
import type * as Provider from "@ai-sdk/provider"
import type * as Prompt from "effect/ai/Prompt"
import * as Base64 from "effect/encoding/Base64"
import * as Files from "./files.ts"
import * as Metadata from "./metadata.ts"
import type { Version } from "./models.ts"

type Output = Provider.LanguageModelV4ToolResultOutput

export const part = (result: Prompt.ToolResultPart, version: Version): Provider.LanguageModelV4ToolResultPart => {
  const providerOptions = Metadata.toProvider(result.options)
  return {
    type: "tool-result",
    toolCallId: result.id,
    toolName: result.name,
    output: output(result, version),
    ...(providerOptions === undefined ? undefined : { providerOptions })
  }
}

const output = (part: Prompt.ToolResultPart, version: Version): Output => {
  const { isFailure, modelOutput, result } = part
  if (!isFailure && modelOutput !== undefined && modelOutput.length > 0) return content(modelOutput, version)
  const sentence = isFailure ? reasonOf(result) : undefined
  if (sentence !== undefined) return { type: "error-text", value: sentence }
  if (typeof result === "string") {
    return isFailure
      ? { type: "error-text", value: isBlank(result) ? failed : result }
      : { type: "text", value: result }
  }
  // Results of a history are JSON; a tool whose success is `void` has none.
  return { type: isFailure ? "error-json" : "json", value: (result ?? null) as Provider.JSONValue }
}

/** As JSON where it is a text of nothing but space: then it has quotes around it. */
export const notBlank = (output: Output): Output =>
  output.type === "text" && isBlank(output.value) ? { type: "json", value: output.value } : output

const isBlank = (text: string): boolean => text.trim().length === 0

// A failure that says nothing is refused by some providers.
const failed = "The call failed."

/**
 * What kept a call from running is said to the model as a sentence (law L14). The interface has a form of its own for a
 * denial, but of that some providers show the model a bare note, without the reason.
 */
const reasonOf = (result: unknown): string | undefined => {
  if (!Metadata.isRecord(result)) return undefined
  const { reason, type } = result
  if (typeof reason !== "string" || reason.length === 0) return undefined
  return type === "execution-denied"
    ? `The call was denied and did not run. ${reason}`
    : type === "execution-interrupted"
    ? reason
    : undefined
}

type ModelOutput = NonNullable<Prompt.ToolResultPart["modelOutput"]>

// A text without a word is refused by some.
const content = (parts: ModelOutput, version: Version): Output => {
  const said = parts.filter((part) => part.type !== "text" || !isBlank(part.text))
  return said.length === 0 ? { type: "text", value: "" } : {
    type: "content",
    value: said.map((part) => contentPart(part, version))
  }
}

const contentPart = (part: ModelOutput[number], version: Version): Content => {
  const providerOptions = Metadata.toProvider(part.options)
  const rest = providerOptions === undefined ? undefined : { providerOptions }
  if (part.type === "text") return { type: "text", text: part.text, ...rest }
  const file = Files.source(part)
  const named = part.fileName === undefined ? undefined : { filename: part.fileName }
  return version === "v3"
    ? { ...earlierFile(file, named), ...rest } as unknown as Content
    : { type: "file", ...file, ...named, ...rest }
}

type Content = Extract<Output, { type: "content" }>["value"][number]

type EarlierContent = Extract<Provider.LanguageModelV3ToolResultOutput, { type: "content" }>["value"][number]

const earlierFile = (
  { data, mediaType }: Files.Source,
  named: { readonly filename: string } | undefined
): EarlierContent => {
  const isImage = mediaType.startsWith("image/")
  switch (data.type) {
    case "url":
      return { type: isImage ? "image-url" : "file-url", url: data.url.href }
    case "reference":
      return { type: isImage ? "image-file-id" : "file-id", fileId: { ...data.reference } as Record<string, string> }
    case "text":
      return { type: "text", text: data.text }
    case "data": {
      const base64 = typeof data.data === "string" ? data.data : Base64.encode(data.data)
      return isImage
        ? { type: "image-data", data: base64, mediaType }
        : { type: "file-data", data: base64, mediaType, ...named }
    }
  }
}
