/**
 * Content that no other part could stand for: a call that the provider ran with a tool that is not in the toolkit, and
 * whatever the interface has and a chat has not. It is a reasoning part without text, so that a chat keeps it and the
 * provider gets it back.
 */
import type * as Provider from "@ai-sdk/provider"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Metadata from "./metadata.ts"
import type { Version } from "./models.ts"

/** What goes back: a part of an assistant message. */
export type Carried =
  | Provider.LanguageModelV4CustomPart
  | Provider.LanguageModelV4FilePart
  | Provider.LanguageModelV4ReasoningFilePart
  | Provider.LanguageModelV4TextPart
  | Provider.LanguageModelV4ToolCallPart
  | Provider.LanguageModelV4ToolResultPart

export const make = (carried: Carried, { provider }: { readonly provider: string }): Response.ReasoningPartEncoded => ({
  type: "reasoning",
  text: "",
  // What is carried came from a provider as JSON; what did not is left out.
  metadata: { [Metadata.own]: Metadata.json({ carried, provider }) ?? {} }
})

/** The parts of a stream for one that is not streamed: a stream has no whole reasoning. */
export const streamed = (
  id: string,
  carried: Carried,
  by: { readonly provider: string }
): ReadonlyArray<Response.StreamPartEncoded> => [
  { type: "reasoning-start", id, metadata: make(carried, by).metadata },
  { type: "reasoning-end", id }
]

// Only what can neither be answered nor allow anything: a history may hold what it likes (law L4).
const types: Readonly<Record<string, ReadonlyArray<Version>>> = {
  custom: ["v4"],
  file: ["v4"],
  "reasoning-file": ["v4"],
  text: ["v3", "v4"],
  "tool-call": ["v3", "v4"],
  "tool-result": ["v3", "v4"]
}

export const isCarrier = (part: Prompt.ReasoningPart): boolean =>
  part.text.length === 0 && Metadata.readOwn(part)["carried"] !== undefined

/** What a part carries, if it does, and if this provider can be told in this version. */
export const read = (part: Prompt.ReasoningPart, version: Version, provider: string): Carried | undefined => {
  const { carried, provider: by } = Metadata.readOwn(part)
  if (!Metadata.isRecord(carried) || typeof carried["type"] !== "string") return undefined
  const { type } = carried
  // Others know texts and files alone.
  if (by !== provider && type !== "text" && type !== "file") return undefined
  if (!Object.hasOwn(types, type) || !types[type]!.includes(version)) return undefined
  // A call of ours has its own part, and is run here or nowhere.
  if (type === "tool-call" && carried["providerExecuted"] !== true) return undefined
  return revived(carried) as unknown as Carried
}

// The address of a file is a `URL`, which JSON has not.
const revived = (carried: Metadata.Fields): Metadata.Fields => {
  const { data } = carried
  if (!Metadata.isRecord(data) || data["type"] !== "url") return carried
  const { url } = data
  return typeof url === "string" && URL.canParse(url) ? { ...carried, data: { ...data, url: new URL(url) } } : carried
}
