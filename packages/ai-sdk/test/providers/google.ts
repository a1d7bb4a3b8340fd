/**
 * Google's `generateContent`, as strict as its documentation.
 */
import { createGoogle } from "@ai-sdk/google"
import { at, list, string } from "../recorded/json.ts"
import type { Provider, Reply } from "./strict.ts"
import { events, json } from "./strict.ts"

const signature = "c2lnbmVkIGJ5IGdvb2dsZQ=="

const parts = (reply: Reply): ReadonlyArray<unknown> =>
  "text" in reply
    ? [{ text: reply.text }]
    // Of parallel calls the first one is signed.
    : reply.calls.map(({ id, name, params }, index) => ({
      functionCall: { id, name, args: params },
      ...(index === 0 ? { thoughtSignature: signature } : {})
    }))

const response = (parts: ReadonlyArray<unknown>, last: boolean) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...(last ? { finishReason: "STOP" } : {}) }],
  ...(last ? { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 } } : {}),
  modelVersion: "gemini-3-pro-preview",
  responseId: "response-1"
})

const stream = (reply: Reply): ReadonlyArray<unknown> => {
  const all = parts(reply)
  return all.map((part, index) => response([part], index === all.length - 1))
}

const of = (content: unknown, kind: "functionCall" | "functionResponse") =>
  list(content, "parts").filter((part) => at(part, kind) !== undefined)

const refuses = (body: unknown): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const contents = list(body, "contents")
  contents.forEach((content, index) => {
    const role = string(content, "role")
    if (role !== "user" && role !== "model") problems.push(`role ${role} is neither user nor model`)
    const calls = of(content, "functionCall")
    const responses = of(content, "functionResponse")
    const before = of(contents[index - 1], "functionCall")
    const names = (parts: ReadonlyArray<unknown>, kind: string) => parts.map((part) => string(part, kind, "name"))
    if (calls.length > 0) {
      if (index === 0 || string(contents[index - 1], "role") !== "user") {
        problems.push("a function call turn comes immediately after a user turn or a function response turn")
      }
      if (of(contents[index + 1], "functionResponse").length !== calls.length) {
        problems.push("the number of function response parts is to be that of the function call parts")
      }
      if (string(calls[0], "thoughtSignature") !== signature) {
        problems.push("Function call is missing a thought_signature in functionCall parts")
      }
    }
    if (responses.length > 0 && names(responses, "functionResponse").join() !== names(before, "functionCall").join()) {
      problems.push("a function response turn comes immediately after a function call turn, for the same functions")
    }
    for (const [position, part] of responses.entries()) {
      const id = string(part, "functionResponse", "id")
      if (id !== undefined && id !== string(before[position], "functionCall", "id")) problems.push(`${id} is no call`)
      const value = at(part, "functionResponse", "response")
      if (typeof value !== "object" || Array.isArray(value)) problems.push("a function response is an object")
    }
  })
  if (string(contents.at(-1), "role") !== "user") problems.push("the last content is the user's")
  return problems
}

interface Body {
  contents: Array<{ role: string; parts: Array<Record<string, unknown>> }>
}

/** Gemini, at Google. */
export const google: Provider = {
  name: "Google",
  format: "google",
  documentation: [
    "https://ai.google.dev/gemini-api/docs/function-calling",
    "https://ai.google.dev/gemini-api/docs/thought-signatures"
  ],
  model: (fetch) => createGoogle({ apiKey: "none", fetch })("gemini-3-pro-preview"),
  ids: ["call-a", "call-b"],
  generate: (reply) => json(response(parts(reply), true)),
  stream: (reply) => events(stream(reply)),
  refuses,
  outcomes: (body) =>
    list(body, "contents").flatMap((content, index, contents) =>
      of(content, "functionResponse").map((part, position) => ({
        id: string(part, "functionResponse", "id") ??
          string(of(contents[index - 1], "functionCall")[position], "functionCall", "id") ?? "",
        text: string(part, "functionResponse", "response", "content") ??
          string(part, "functionResponse", "response", "error") ?? ""
      }))
    ),
  broken: {
    "a call without a response": ({ contents }: Body) => void contents[2]?.parts.pop(),
    "a response of another function": ({ contents }: Body) =>
      void contents[2]?.parts.push(...contents[2].parts.splice(0, 1)),
    "a content between a call and its response": ({ contents }: Body) =>
      void contents.splice(2, 0, { role: "user", parts: [{ text: "Well." }] }),
    "a model at the end": ({ contents }: Body) => void contents.push({ role: "model", parts: [{ text: "Well." }] }),
    "a call without its signature": ({ contents }: Body) => {
      delete contents[1]?.parts[0]?.["thoughtSignature"]
    }
  }
}
