/**
 * Google's `generateContent`, with a model of the third Gemini.
 */
import { createGoogle } from "@ai-sdk/google"
import { at, list, string } from "../recorded/json.ts"
import type { Provider, Reply, Rule } from "./strict.ts"
import { events, inputIsObject, json, nameIsPlain, notObject, notPlain } from "./strict.ts"

const signatureOf = (words: string) => Buffer.from(`signed: ${words}`).toString("base64")

const parts = (reply: Reply): ReadonlyArray<unknown> =>
  "text" in reply
    ? [{ text: reply.text, thoughtSignature: signatureOf(reply.text) }]
    // Of parallel calls the first one is signed.
    : reply.calls.map(({ id, name, params }, index) => ({
      functionCall: { id, name, args: params },
      ...(index === 0 ? { thoughtSignature: signatureOf(id) } : {})
    }))

// In a stream the signature of a text may come in a part of its own.
const chunks = (reply: Reply): ReadonlyArray<unknown> =>
  "text" in reply ? [{ text: reply.text }, { text: "", thoughtSignature: signatureOf(reply.text) }] : parts(reply)

const response = (parts: ReadonlyArray<unknown>, last: boolean) => ({
  candidates: [{ content: { role: "model", parts }, index: 0, ...(last ? { finishReason: "STOP" } : {}) }],
  ...(last ? { usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 5, totalTokenCount: 15 } } : {}),
  modelVersion: "gemini-3-pro-preview",
  responseId: "response-1"
})

const stream = (reply: Reply): ReadonlyArray<unknown> => {
  const all = chunks(reply)
  return all.map((part, index) => response([part], index === all.length - 1))
}

const of = (content: unknown, kind: "functionCall" | "functionResponse") =>
  list(content, "parts").filter((part) => at(part, kind) !== undefined)

const eachContent = (
  look: (content: unknown, before: unknown, behind: unknown, index: number) => ReadonlyArray<string>
): Rule["problems"] =>
(body) =>
  list(body, "contents").flatMap((content, index, contents) =>
    look(content, contents[index - 1], contents[index + 1], index)
  )

interface Body {
  contents: Array<{ role: string; parts: Array<Record<string, unknown>> }>
}

const types = "github.com/googleapis/js-genai, src/types.ts"

const rules: ReadonlyArray<Rule> = [
  {
    says: "a content is the user's or the model's",
    source: `Content in ${types}`,
    problems: eachContent((content) =>
      string(content, "role") === "user" || string(content, "role") === "model" ? [] : [`${string(content, "role")}`]
    ),
    breaks: ({ contents }: Body) => void Object.assign(contents[2] ?? {}, { role: "tool" })
  },
  {
    says: "function calls come immediately after a turn of the user or function responses",
    source: "github.com/google-gemini/gemini-cli/issues/26486",
    problems: eachContent((content, before) =>
      of(content, "functionCall").length > 0 && string(before, "role") !== "user" ? ["they do not"] : []
    ),
    breaks: ({ contents }: Body) => void contents.shift()
  },
  {
    says: "there are as many function responses as function calls, immediately after them",
    source: "github.com/google-gemini/gemini-cli/issues/3814",
    problems: eachContent((content, _, behind) => {
      const calls = of(content, "functionCall").length
      const responses = of(behind, "functionResponse").length
      return calls > 0 && calls !== responses ? [`${responses} of ${calls}`] : []
    }),
    breaks: ({ contents }: Body) => void contents.splice(2, 0, { role: "user", parts: [{ text: "Well." }] })
  },
  {
    says: "function responses come immediately after function calls",
    source: "github.com/langchain-ai/langchain/issues/27799",
    problems: eachContent((content, before) =>
      of(content, "functionResponse").length > 0 && of(before, "functionCall").length === 0 ? ["they do not"] : []
    ),
    breaks: ({ contents }: Body) => void contents.push(contents[2]!)
  },
  {
    says: "a function response has the name of its call, and its id if it has one",
    source: `FunctionResponse in ${types}`,
    problems: eachContent((content, before) => {
      const calls = of(before, "functionCall")
      return of(content, "functionResponse").flatMap((part, position) => {
        const id = string(part, "functionResponse", "id")
        const call = id === undefined
          ? calls[position]
          : calls.find((call) => string(call, "functionCall", "id") === id)
        const name = string(part, "functionResponse", "name")
        return name !== undefined && name === string(call, "functionCall", "name") ? [] : [`${id} ${name}`]
      })
    }),
    breaks: ({ contents }: Body) => void Object.assign(contents[2]?.parts[0]?.["functionResponse"] ?? {}, { id: "x" })
  },
  {
    says: "nothing else stands in a content with function responses",
    source: "github.com/vellum-ai/vellum-assistant/pull/39495, github.com/Prism-Shadow/agenthub/pull/189 (Vertex)",
    problems: eachContent((content) => {
      const responses = of(content, "functionResponse").length
      return responses > 0 && responses !== list(content, "parts").length ? ["something does"] : []
    }),
    breaks: ({ contents }: Body) => void contents[2]?.parts.push({ text: "Well." })
  },
  {
    says: nameIsPlain,
    source: `FunctionDeclaration in ${types}, which takes dots and colons too: of a call it is not documented`,
    problems: eachContent((content) =>
      of(content, "functionCall").flatMap((part) => notPlain(string(part, "functionCall", "name")))
    ),
    breaks: ({ contents }: Body) => void Object.assign(contents[1]?.parts[0]?.["functionCall"] ?? {}, { name: "$R" })
  },
  {
    says: inputIsObject,
    source: `FunctionCall in ${types}; google.protobuf.Struct in github.com/googleapis/googleapis,` +
      " google/ai/generativelanguage/v1beta/content.proto",
    problems: eachContent((content) =>
      of(content, "functionCall").flatMap((part) => notObject(at(part, "functionCall", "args")))
    ),
    breaks: ({ contents }: Body) => void Object.assign(contents[1]?.parts[0]?.["functionCall"] ?? {}, { args: "{" })
  },
  {
    says: "a response is an object",
    source: `FunctionResponse in ${types}`,
    problems: eachContent((content) =>
      of(content, "functionResponse").flatMap((part) => {
        const value = at(part, "functionResponse", "response")
        return typeof value === "object" && !Array.isArray(value) ? [] : ["one is not"]
      })
    ),
    breaks: ({ contents }: Body) =>
      void Object.assign(contents[2]?.parts[0]?.["functionResponse"] ?? {}, { response: "text" })
  },
  {
    says: "the first function call of each step has the signature it came with, and no other has one",
    source: "https://ai.google.dev/gemini-api/docs/thought-signatures; here of earlier turns too",
    problems: eachContent((content) =>
      of(content, "functionCall").flatMap((part, position) => {
        const id = string(part, "functionCall", "id") ?? ""
        return string(part, "thoughtSignature") === (position === 0 ? signatureOf(id) : undefined) ? [] : [id]
      })
    ),
    breaks: ({ contents }: Body) => {
      delete contents[1]?.parts[0]?.["thoughtSignature"]
    }
  },
  {
    says: "the signature of a text comes back too",
    source: "https://ai.google.dev/gemini-api/docs/thought-signatures (asked for, not refused without)",
    problems: eachContent((content) => {
      const texts = list(content, "parts").map((part) => string(part, "text") ?? "")
      const signatures = list(content, "parts").map((part) => string(part, "thoughtSignature"))
      return string(content, "role") === "model" && of(content, "functionCall").length === 0 &&
          !signatures.includes(signatureOf(texts.join("")))
        ? [texts.join("")]
        : []
    }),
    breaks: ({ contents }: Body) => void contents.push({ role: "model", parts: [{ text: "Well." }] }, contents[0]!)
  },
  {
    says: "every content has parts, and every part says something",
    source: "github.com/aaif-goose/goose/pull/1425; github.com/54xzh/FLIT/issues/69",
    problems: eachContent((content) => {
      const all = list(content, "parts")
      return all.length === 0 || all.some((part) => Object.values(part ?? {}).every((value) => value === ""))
        ? ["one does not"]
        : []
    }),
    breaks: ({ contents }: Body) => void contents.push({ role: "user", parts: [] })
  },
  {
    says: "a conversation ends with the user",
    source: "github.com/crewAIInc/crewAI/pull/6973",
    problems: (body) => string(list(body, "contents").at(-1), "role") === "user" ? [] : ["it does not"],
    breaks: ({ contents }: Body) => void contents.push({ role: "model", parts: [{ text: "Well." }] })
  }
]

/** Gemini, at Google. */
export const google: Provider = {
  name: "Google",
  format: "google",
  model: (fetch) => createGoogle({ apiKey: "none", fetch })("gemini-3-pro-preview"),
  ids: ["call-a", "call-b", "call-c"],
  generate: (reply) => json(response(parts(reply), true)),
  stream: (reply) => events(stream(reply)),
  rules,
  outcomes: (body) =>
    list(body, "contents").flatMap((content, index, contents) =>
      of(content, "functionResponse").map((part, position) => ({
        id: string(part, "functionResponse", "id") ??
          string(of(contents[index - 1], "functionCall")[position], "functionCall", "id") ?? "",
        text: string(part, "functionResponse", "response", "content") ??
          string(part, "functionResponse", "response", "error") ?? ""
      }))
    )
}
