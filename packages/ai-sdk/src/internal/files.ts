/** Files, in the form of each version. */
import type * as Provider from "@ai-sdk/provider"
import type * as Prompt from "effect/ai/Prompt"
import * as Metadata from "./metadata.ts"
import type { Version } from "./models.ts"

/** The file itself and what kind it is: the address of data says both. */
export interface Source {
  readonly mediaType: string
  readonly data: Provider.SharedV4FileData
}

export const source = (part: Prompt.FilePart): Source => {
  const { data, mediaType } = part
  const { reference } = Metadata.readOwn(part)
  if (Metadata.isRecord(reference)) {
    return { mediaType, data: { type: "reference", reference: reference as Provider.SharedV4ProviderReference } }
  }
  if (data instanceof URL) return addressed(data.href, mediaType)
  if (typeof data !== "string") return { mediaType, data: { type: "data", data } }
  return /^(https?|data):/i.test(data) && URL.canParse(data)
    ? addressed(data, mediaType)
    : { mediaType, data: { type: "data", data } }
}

const addressed = (address: string, mediaType: string): Source => {
  const found = /^data:([^;,]*)(?:;[^,]*)?;base64,(.*)$/is.exec(address)
  return found === null
    ? { mediaType, data: { type: "url", url: new URL(address) } }
    : { mediaType: found[1] === "" ? mediaType : found[1]!, data: { type: "data", data: found[2]! } }
}

/** A file of a message. */
export const filePart = (part: Prompt.FilePart, version: Version): Provider.LanguageModelV4FilePart => {
  const { data, mediaType } = source(part)
  const providerOptions = Metadata.toProvider(part.options)
  return {
    type: "file",
    mediaType,
    // The earlier version has the data as it is, without a tag.
    data: version === "v3" ? untagged(data) as unknown as Provider.SharedV4FileData : data,
    ...(part.fileName === undefined ? undefined : { filename: part.fileName }),
    ...(providerOptions === undefined ? undefined : { providerOptions })
  }
}

const untagged = (data: Provider.SharedV4FileData): Provider.LanguageModelV3DataContent => {
  switch (data.type) {
    case "data":
      return data.data
    case "url":
      return data.url
    case "text":
      return new TextEncoder().encode(data.text)
    case "reference":
      // The earlier version knows a file of the provider's in results alone.
      return Object.values(data.reference).find((id) => typeof id === "string") ?? ""
  }
}
