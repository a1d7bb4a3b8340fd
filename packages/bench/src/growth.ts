/**
 * How the cost of a turn grows with what is in it: `npm run bench:growth`; words pick rows by title. Each row is measured in the
 * processor's time of this process at several sizes, and its exponent is the slope between the first and the last: 1 is
 * linear, 2 the square. One that is above its bound is measured once more, of each size the least counts, and the
 * command fails where it is above it then too.
 */
import {
  Approval,
  ApprovalJournal,
  Conversation,
  ConversationStore,
  DeferredTool,
  Interaction,
  LanguageModel,
  Prompt,
  Response,
  SuspensionStore,
  Toolkit
} from "@assent/ai"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { randomUUID } from "node:crypto"
import { collect } from "./harness.ts"
import * as Provider from "./provider.ts"
import { gated, live, using } from "./tools.ts"
import type { Live } from "./tools.ts"

const bound = 1.05
const sizes = process.argv.includes("--short") ? [1_000, 4_000, 16_000] : [1_000, 10_000, 100_000]
const words = process.argv.slice(2).filter((word) => !word.startsWith("-"))

const Wait = DeferredTool.make("Wait", {
  parameters: { question: Schema.String },
  success: Schema.String,
  state: Schema.String,
  interactions: { answer: Interaction.askUser }
})
const waiting = Toolkit.make(Wait)
const Waiting = waiting.toLayer({
  Wait: DeferredTool.handler(Wait, {
    start: ({ question }) => Wait.suspend.answer({ prompt: question }, question),
    resume: { answer: (answer, question) => Effect.succeed(`${question} ${answer}`) }
  })
})

/** What is kept, of one round alone, and as much as it takes. */
const kept = Layer.mergeAll(
  ApprovalJournal.layerMemory({ capacity: Infinity }),
  ConversationStore.layerMemory({ capacity: Infinity, maxBytes: Infinity }),
  SuspensionStore.layerMemory
)

type Services = Live | Layer.Success<typeof Waiting>
type Prepared = Effect.Effect<Effect.Effect<unknown, unknown, Services>, unknown, Services>

const callOf = (index: number, id = `call-${index}`) => ({
  id,
  name: "DeleteFile",
  params: { path: `/tmp/${index}`, force: true }
})
const waitOf = (index: number) => ({ id: `call-${index}`, name: "Wait", params: { question: `What is ${index}?` } })

const done = Provider.text(["Done."])

const modelOf = (size: number, callAt: (index: number) => Provider.Call = (index) => callOf(index)) => {
  const requested = Provider.calls(Array.from({ length: size }, (_, index) => callAt(index)))
  return Effect.map(
    Provider.makeModel((messages) => messages.length === 1 ? requested : done),
    LanguageModel.withApproval
  )
}

const prompt = "Delete all"

const ask = LanguageModel.generateText({ prompt, toolkit: gated })

const answered = (
  turn: Effect.Success<typeof ask> | Effect.Success<typeof askWaiting>,
  answer: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer
) =>
  Prompt.fromMessages([
    Prompt.userMessage({ content: [Prompt.textPart({ text: prompt })] }),
    ...Prompt.fromResponseParts(turn.content).content,
    ...Prompt.approvalResponses(Response.approvalRequests(turn).map(answer)).content
  ])

const askWaiting = LanguageModel.generateText({ prompt, toolkit: waiting })

const asked = (size: number): Prepared => Effect.map(modelOf(size), (model) => using(model)(ask))

const begunToWait = (size: number): Prepared => Effect.map(modelOf(size, waitOf), (model) => using(model)(askWaiting))

const resumedWaiting = (size: number): Prepared =>
  Effect.gen(function*() {
    const model = yield* modelOf(size, waitOf)
    const turn = yield* using(model)(askWaiting)
    const messages = answered(turn, (request) => Approval.answer(request, "so"))
    return using(model)(LanguageModel.generateText({ prompt: messages, toolkit: waiting }))
  })

const resumed =
  (answer: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer, id?: string) => (size: number): Prepared =>
    Effect.gen(function*() {
      const model = yield* modelOf(size, (index) => callOf(index, id))
      const turn = yield* using(model)(ask)
      const messages = answered(turn, answer)
      return using(model)(LanguageModel.generateText({ prompt: messages, toolkit: gated }))
    })

const decided = (size: number): Prepared =>
  Effect.flatMap(modelOf(size), (model) =>
    using(model)(Effect.gen(function*() {
      const conversation = yield* Conversation.make({ id: randomUUID(), toolkit: gated })
      const outcome = yield* conversation.send(prompt)
      const answers = outcome._tag === "Waiting" ? outcome.requests.map((request) => Approval.approve(request)) : []
      return conversation.decide(answers)
    })))

/** A conversation with so many messages, which a process that does not know it reads, and goes on with. */
const goneOn = (size: number): Prepared =>
  Effect.gen(function*() {
    const store = yield* ConversationStore.ConversationStore
    const id = randomUUID()
    const key = yield* ConversationStore.keyOf(id, {})
    yield* store.write(key, undefined, {
      history: Prompt.fromMessages(smallTalk(size)),
      open: [],
      answered: [],
      deciders: {}
    })
    const model = LanguageModel.withApproval(yield* Provider.makeModel(() => done))
    return using(model)(Effect.gen(function*() {
      const conversation = yield* Conversation.make({ id, toolkit: gated })
      yield* conversation.send("And now?")
    }))
  })

const smallTalk = (size: number) =>
  Array.from({ length: size / 2 }, (_, index) => [
    Prompt.userMessage({ content: [Prompt.textPart({ text: `What is ${index}?` })] }),
    Prompt.assistantMessage({ content: [Prompt.textPart({ text: `It is ${index}.` })] })
  ]).flat()

/** A resume at the end of so many messages. */
const behind = (size: number): Prepared =>
  Effect.gen(function*() {
    const model = yield* modelOf(1)
    const turn = yield* using(model)(ask)
    const messages = smallTalk(size)
    const last = answered(turn, (request) => Approval.approve(request))
    return Effect.suspend(() =>
      using(model)(LanguageModel.generateText({
        prompt: Prompt.fromMessages([...messages, ...last.content]),
        toolkit: gated
      }))
    )
  })

const rows: ReadonlyArray<readonly [title: string, prepare: (size: number) => Prepared]> = [
  ["calls of one response, asked about", asked],
  ["approved calls of one turn", resumed((request) => Approval.approve(request))],
  ["denied calls of one turn", resumed((request) => Approval.deny(request, "no"))],
  ["approved calls that have one id", resumed((request) => Approval.approve(request), "same")],
  ["calls of one response that begin to wait", begunToWait],
  ["waiting calls that are answered in one turn", resumedWaiting],
  ["approved calls of a conversation", decided],
  ["messages before one approved call", behind],
  ["messages of a kept conversation that is read and gone on with", goneOn]
]

const processorTime = <E, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.suspend(() => {
    const before = process.cpuUsage()
    return Effect.map(effect, () => {
      const { system, user } = process.cpuUsage(before)
      return (system + user) / 1_000
    })
  })

const round = (prepare: (size: number) => Prepared, size: number) =>
  Effect.gen(function*() {
    const effect = yield* prepare(size)
    collect({ type: "major" })
    const time = yield* processorTime(effect)
    process.stdout.write(".")
    return time
  }).pipe(Effect.provide(kept, { local: true }))

const measure = Effect.fnUntraced(function*(prepare: (size: number) => Prepared, size: number) {
  let least = Infinity
  for (let rounds = size <= 1_000 ? 12 : size <= 16_000 ? 3 : 1; rounds > 0; rounds--) {
    least = Math.min(least, yield* round(prepare, size))
  }
  return least
})

const measureAll = (prepare: (size: number) => Prepared) => Effect.forEach(sizes, (size) => measure(prepare, size))

const exponentOf = (times: ReadonlyArray<number>) =>
  Math.log(times.at(-1)! / times[0]!) / Math.log(sizes.at(-1)! / sizes[0]!)

const program = Effect.gen(function*() {
  let failed = false
  for (const [title, prepare] of rows.filter(([title]) => words.every((word) => title.includes(word)))) {
    process.stdout.write(`${title} `)
    let times = yield* measureAll(prepare)
    if (exponentOf(times) > bound) {
      process.stdout.write(` ${exponentOf(times).toFixed(2)}, again `)
      const before = times
      times = (yield* measureAll(prepare)).map((time, index) => Math.min(time, before[index]!))
    }
    const exponent = exponentOf(times)
    const isOver = exponent > bound
    failed ||= isOver
    const figures = times.map((time, index) =>
      `${((time / sizes[index]!) * 1_000).toFixed(0)} µs each of ${sizes[index]!.toLocaleString("en")}`
    )
    console.log(`\n  ${figures.join(", ")}: exponent ${exponent.toFixed(2)} (bound ${bound}) ${isOver ? "OVER" : "ok"}`)
  }
  if (failed) process.exitCode = 1
})

await Effect.runPromise(Effect.provide(program, Layer.mergeAll(live, Waiting)))
