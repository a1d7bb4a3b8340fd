import { Approval, ApprovalJournal, Conversation, LanguageModel, Tool, Toolkit } from "@assent/ai"
import type { Prompt, Response } from "@assent/ai"
import { StrictProvider } from "@assent/ai/testing"
import { Console, Effect, Layer, Schema, Stream } from "effect"

// What the service speaks. It reads the weather itself, and asks before it does. Then it calls a tool of ours, if it is told of
// one. It is played here.
type Item =
  | { readonly type: "message"; readonly role: string; readonly text: string }
  | { readonly type: "ask"; readonly id: string; readonly params: unknown }
  | { readonly type: "answer"; readonly ask: string; readonly approve: boolean; readonly reason: string | undefined }
  | { readonly type: "result"; readonly ask: string; readonly output: string }
  | { readonly type: "call"; readonly id: string; readonly name: string; readonly params: unknown }
  | { readonly type: "output"; readonly call: string; readonly output: string }

interface Request {
  readonly items: ReadonlyArray<Item>
  readonly functions: ReadonlyArray<{ readonly name: string; readonly schema: unknown }>
}

const say = (text: string): Item => ({ type: "message", role: "assistant", text })

const service = ({ functions, items }: Request): ReadonlyArray<Item> => {
  const last = items.at(-1)
  if (last?.type === "output") return [say(`It is 18 °C. ${last.output}`)]
  if (last?.type !== "answer") return [{ type: "ask", id: "ask-1", params: { city: "Oslo" } }]
  if (!items.some((item) => item.type === "ask" && item.id === last.ask)) throw new Error("An answer to nothing.")
  if (!last.approve) return [say(`I did not look: ${last.reason}.`)]
  const result: Item = { type: "result", ask: last.ask, output: "18 °C" }
  return functions.some(({ name }) => name === "Note")
    ? [result, { type: "call", id: "call-1", name: "Note", params: { text: "18 °C" } }]
    : [result, say("It is 18 °C.")]
}

// A tool that the service runs, and one of ours. The model knows the first as `customName`, the service as `providerName`.
const Weather = Tool.providerDefined({
  id: "example.weather",
  customName: "Weather",
  providerName: "weather",
  parameters: Schema.Struct({ city: Schema.String }),
  success: Schema.String
})
const Note = Tool.make("Note", { parameters: { text: Schema.String }, success: Schema.String })
const toolkit = Toolkit.make(Weather(), Note)
const Handlers = toolkit.toLayer({ Note: ({ text }) => Effect.as(Console.log(`noting ${text}`), "I made a note.") })

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
        case "tool-call": // of the service's own calls, their requests are sent
          return part.providerExecuted ? [] : [{ type: "call", id: part.id, name: part.name, params: part.params }]
        case "tool-result": {
          const output = String(part.result)
          return [
            part.providerExecuted ? { type: "result", ask: part.id, output } : { type: "output", call: part.id, output }
          ]
        }
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
      case "call": // the engine asks if it has to, runs it, and calls the hook again
        return [{ type: "tool-call", id: item.id, name: item.name, params: item.params }]
      case "result": { // with the id of the call that waited
        const { ask: id, output: result } = item
        return [{ type: "tool-result", id, name: "Weather", result, isFailure: false, providerExecuted: true }]
      }
      default:
        return []
    }
  }),
  {
    type: "finish",
    reason: items.some(({ type }) => type === "call") ? "tool-calls" : "stop",
    usage,
    response: undefined
  }
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

const toRequest = ({ prompt, tools }: LanguageModel.ProviderOptions): Request => ({
  items: toItems(prompt),
  functions: tools.filter(Tool.isUserDefined).map((tool) => ({ name: tool.name, schema: Tool.getJsonSchema(tool) }))
})

const hooks: Parameters<typeof LanguageModel.make>[0] = {
  generateText: (options) => Effect.sync(() => toParts(service(toRequest(options)))),
  streamText: (options) => Stream.fromIterable(toParts(service(toRequest(options))).flatMap(toStreamParts))
}

// The engine around it, and, in a test, a check that refuses what real services refuse.
const strict = StrictProvider.wrap(hooks, { allowProviderApprovals: ["ask-1"] })
const Model = Layer.effect(LanguageModel.LanguageModel, LanguageModel.make(strict))

// A person approves one call and denies another.

const ask = Effect.fnUntraced(
  function*(id: string, answer: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer) {
    const conversation = yield* Conversation.make({ id, toolkit })
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

await Effect.runPromise(Effect.provide(program, [Handlers, Model, ApprovalJournal.layerMemory()]))
