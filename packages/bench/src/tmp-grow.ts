import {
  Approval,
  ApprovalJournal,
  Conversation,
  ConversationStore,
  DeferredTool,
  LanguageModel,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "@assent/ai"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Provider from "./provider.ts"
import { gated, live, using, withJournal } from "./tools.ts"
const what = process.argv[2]!, sizes = process.argv.slice(3).map(Number)
const user = (text: string) => Prompt.userMessage({ content: [Prompt.textPart({ text })] })
const done = Provider.text(["Done."])
const call = (index: number, id = `call-${index}`) => ({
  id,
  name: "DeleteFile",
  params: { path: `/tmp/${index}`, force: true }
})
const Ask = DeferredTool.make ? undefined : undefined
const time = <A, E, R>(e: Effect.Effect<A, E, R>) =>
  Effect.suspend(() => {
    const s = performance.now()
    return Effect.map(e, (a) => [a, performance.now() - s] as const)
  })
const answered = (turn: any) =>
  Prompt.fromMessages([
    user("Delete all"),
    ...Prompt.fromResponseParts(turn.content).content,
    ...Prompt.approvalResponses(Response.approvalRequests(turn).map((r) => Approval.approve(r))).content
  ])
const one = (n: number): Effect.Effect<number, any, any> =>
  Effect.gen(function*() {
    const requested = Provider.calls(
      Array.from({ length: n }, (_, i) => call(i, what === "oneid" ? "same" : `call-${i}`))
    )
    const model = LanguageModel.withApproval(
      yield* Provider.makeModel((messages) => messages.length === 1 ? requested : done)
    )
    if (what === "conv" || what === "convOne") {
      const conversation = yield* Conversation.make({ id: `c${n}-${Math.random()}`, toolkit: gated })
      let outcome: any = yield* using(model)(conversation.send("Delete all"))
      const answers = outcome.requests.map((r: any) => Approval.approve(r))
      if (what === "convOne") {
        const [, t] = yield* time(using(model)(conversation.decide(answers.slice(0, 5))))
        return t * n / 1 / n * 1
      }
      const [, t] = yield* time(using(model)(conversation.decide(answers)))
      return t
    }
    if (what === "convSend") {
      const conversation = yield* Conversation.make({ id: `c${n}-${Math.random()}`, toolkit: gated })
      const [, t] = yield* time(using(model)(conversation.send("Delete all")))
      return t
    }
    const [turn, asked] = yield* time(
      using(model)(LanguageModel.generateText({ prompt: "Delete all", toolkit: gated }))
    )
    if (what === "ask") return asked
    const [, t] = yield* time(using(model)(LanguageModel.generateText({ prompt: answered(turn), toolkit: gated })))
    return t
  })
const main = Effect.gen(function*() {
  yield* one(200)
  let last: any
  for (const n of sizes) {
    const t = yield* one(n)
    console.log(
      what,
      n,
      t.toFixed(0),
      "ms",
      (t / n * 1000).toFixed(0),
      "µs each",
      last ? "exponent " + (Math.log(t / last.t) / Math.log(n / last.n)).toFixed(2) : ""
    )
    last = { n, t }
  }
})
await Effect.runPromise(
  Effect.provide(main, Layer.mergeAll(live, ConversationStore.layerMemory?.() ?? Layer.empty)) as any
)
