/**
 * Reads recorded answers of Google's `generateContent`.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { Answer, Call } from "../answer.ts"
import { empty } from "../answer.ts"
import { at, keys, list, number, present, string, sum } from "../json.ts"

const filtered = ["IMAGE_SAFETY", "RECITATION", "SAFETY", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"]

const finish = (reason: string | undefined, calls: boolean): string | undefined => {
  switch (reason) {
    case undefined:
      return undefined
    case "STOP":
      return calls ? "tool-calls" : "stop"
    case "MAX_TOKENS":
      return "length"
    case "MALFORMED_FUNCTION_CALL":
      return "error"
    default:
      return filtered.includes(reason) ? "content-filter" : "other"
  }
}

type Place = Record<string | number, unknown>

/** Puts a piece of an argument where its path says: `$.list[0].name`. */
const place = (args: Place, piece: unknown): void => {
  const keys = [...(string(piece, "jsonPath") ?? "").matchAll(/\.(\w+)|\[(\d+)\]/gu)].map(([, key, index]) =>
    key ?? Number(index)
  )
  let here = args
  keys.slice(0, -1).forEach((key, depth) => {
    here[key] ??= typeof keys[depth + 1] === "number" ? [] : {}
    here = here[key] as Place
  })
  const last = keys.at(-1)
  if (last === undefined) return
  const text = string(piece, "stringValue")
  here[last] = text === undefined
    ? at(piece, "numberValue") ?? at(piece, "boolValue") ?? null
    : `${typeof here[last] === "string" ? here[last] : ""}${text}`
}

/** Calls, whole or in pieces: a name that will continue, pieces of arguments, and an end without a name. */
const called = (parts: ReadonlyArray<unknown>): ReadonlyArray<Call> => {
  const calls: Array<{ id: string | undefined; name: string; params: unknown }> = []
  for (const part of parts) {
    const call = at(part, "functionCall")
    const name = string(call, "name")
    if (name !== undefined) calls.push({ id: string(call, "id"), name, params: at(call, "args") ?? {} })
    for (const piece of list(call, "partialArgs")) place(calls.at(-1)?.params as Place, piece)
  }
  return calls
}

/** Reads a response, or the chunks of one. */
export const responses = (chunks: ReadonlyArray<unknown>): Answer => {
  const parts = chunks.flatMap((chunk) => list(chunk, "candidates", 0, "content", "parts"))
  const calls = called(parts)
  const last = (read: (chunk: unknown) => string | undefined) => present(chunks.map(read)).at(-1)
  const usage = chunks.findLast((chunk) => at(chunk, "usageMetadata") !== undefined)
  const count = (name: string) => number(usage, "usageMetadata", name)
  const thought = (part: unknown) => at(part, "thought") === true
  return {
    ...empty,
    text: parts.filter((part) => !thought(part)).map((part) => string(part, "text") ?? "").join(""),
    reasoning: parts.filter(thought).map((part) => string(part, "text") ?? "").join(""),
    signatures: present(parts.map((part) => string(part, "thoughtSignature"))),
    calls,
    sources: keys(
      chunks.flatMap((chunk) =>
        list(chunk, "candidates", 0, "groundingMetadata", "groundingChunks").map((found) => string(found, "web", "uri"))
      )
    ),
    files: present(parts.map((part) => string(part, "inlineData", "data"))),
    finish: finish(last((chunk) => string(chunk, "candidates", 0, "finishReason")), calls.length > 0),
    usage: {
      input: sum(count("promptTokenCount"), count("toolUsePromptTokenCount")),
      output: sum(count("candidatesTokenCount"), count("thoughtsTokenCount")),
      cacheRead: count("cachedContentTokenCount"),
      reasoning: count("thoughtsTokenCount")
    },
    id: string(chunks[0], "responseId"),
    model: string(chunks[0], "modelVersion")
  }
}
