import { Approval, ApprovalJournal, ApprovalSeal, Conversation, LanguageModel, Tool, Toolkit } from "@assent/ai"
import type { Prompt, Response } from "@assent/ai"
import { StrictProvider } from "@assent/ai/testing"
import { Console, Effect, Layer, Redacted, Schema, Stream } from "effect"

// What the service speaks. It reads the weather itself, and asks before it does. It is played here.
type Item =
  | { readonly type: "message"; readonly role: string; readonly text: string }
  | { readonly type: "ask"; readonly id: string; readonly params: unknown }
  | { readonly type: "answer"; readonly ask: string; readonly approve: boolean; readonly reason: string | undefined }
  | { readonly type: "result"; readonly ask: string; readonly output: string }

const service = (items: ReadonlyArray<Item>): ReadonlyArray<Item> => {
  const last = items.at(-1)
  if (last?.type !== "answer") return [{ type: "ask", id: "ask-1", params: { city: "Oslo" } }]
  if (!items.some((item) => item.type === "ask" && item.id === last.ask)) throw new Error("An answer to nothing.")
  return last.approve
    ? [{ type: "result", ask: last.ask, output: "18 °C" }, { type: "message", role: "assistant", text: "It is 18 °C." }]
    : [{ type: "message", role: "assistant", text: `I did not look: ${last.reason}.` }]
}

const Weather = Tool.providerDefined({
  id: "example.weather",
  customName: "Weather",
  providerName: "weather",
  parameters: Schema.Struct({ city: Schema.String }),
  success: Schema.String
})

// The provider: a prompt to items, and items to parts.

const toItems = (prompt: Prompt.Prompt): ReadonlyArray<Item> =>
  prompt.content.flatMap((message): ReadonlyArray<Item> => {
    const { content, role } = message
    if (role === "system") return [{ type: "message", role, text: content }]
    return content.flatMap((part: typeof content[number]): ReadonlyArray<Item> => {
      switch (part.type) {
        case "text":
          return [{ type: "message", role, text: part.text }]
        case "tool-approval-request": { // the call says what was asked
          const id = part.toolCallId
          const call = content.find((part) => part.type === "tool-call" && part.id === id)
          return call?.type !== "tool-call" ? [] : [{ type: "ask", id: part.approvalId, params: call.params }]
        }
        case "tool-approval-response":
          return [{ type: "answer", ask: part.approvalId, approve: part.approved, reason: part.reason }]
        case "tool-result": // ours would be sent here, too, in the service's form for them
          return part.providerExecuted ? [{ type: "result", ask: part.id, output: String(part.result) }] : []
        default:
          return []
      }
    })
  })

const toParts = (items: ReadonlyArray<Item>): Array<Response.PartEncoded> => [
  ...items.flatMap((item): ReadonlyArray<Response.PartEncoded> => {
    switch (item.type) {
      case "message":
        return [{ type: "text", text: item.text }]
      case "ask": // the call, and right behind it the request, with the service's own id
        return [
          {
            type: "tool-call",
            id: item.id,
            name: "Weather",
            params: item.params,
            providerExecuted: true
          },
          { type: "tool-approval-request", approvalId: item.id, toolCallId: item.id }
        ]
      case "result": { // with the id of the call that waited
        const { ask: id, output: result } = item
        return [{ type: "tool-result", id, name: "Weather", result, isFailure: false, providerExecuted: true }]
      }
      default:
        return []
    }
  }),
  { type: "finish", reason: "stop", usage, response: undefined }
]

const usage = {
  inputTokens: { uncached: undefined, total: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined }
}

const toStreamParts = (part: Response.PartEncoded): ReadonlyArray<Response.StreamPartEncoded> =>
  part.type === "text"
    ? [{ type: "text-start", id: "t" }, { type: "text-delta", id: "t", delta: part.text }, {
      type: "text-end",
      id: "t"
    }]
    : part.type === "reasoning"
    ? []
    : [part]

const hooks: Parameters<typeof LanguageModel.make>[0] = {
  generateText: ({ prompt }) => Effect.sync(() => toParts(service(toItems(prompt)))),
  streamText: ({ prompt }) => Stream.fromIterable(toParts(service(toItems(prompt))).flatMap(toStreamParts))
}

// The engine around it, and, in a test, a check that refuses what real services refuse.
const strict = StrictProvider.wrap(hooks, { allowProviderApprovals: ["ask-1"] })
const Model = Layer.effect(LanguageModel.LanguageModel, LanguageModel.make(strict))

// A person approves one call and denies another.

const ask = Effect.fnUntraced(
  function*(id: string, answer: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer) {
    const conversation = yield* Conversation.make({ id, toolkit: Toolkit.make(Weather()) })
    yield* Stream.runDrain(conversation.stream("How warm is it in Oslo?"))
    const requests = yield* conversation.pending()
    for (const { description } of requests) yield* Console.log(description)
    const outcome = yield* conversation.decide(requests.map(answer))
    yield* Console.log(outcome.text)
  }
)

const program = Effect.gen(function*() {
  yield* ask("first", (request) => Approval.approve(request))
  yield* ask("second", (request) => Approval.deny(request, "not today"))
})

const Seal = ApprovalSeal.layer({ key: Redacted.make("a key of at least 32 bytes, kept as a secret") })
await Effect.runPromise(Effect.provide(program, [Model, Seal, ApprovalJournal.layerMemory()]))
