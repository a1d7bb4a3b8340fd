/**
 * How the cost of a turn grows with what is in it: `npm run bench:growth`. Each row is measured in the processor's time of
 * this process at several sizes, the smallest of some rounds, and its exponent is the slope between the first and the last:
 * 1 is linear, 2 the square. The command fails when one is above its bound.
 */
import { Approval, Conversation, LanguageModel, Prompt, Response } from "@assent/ai"
import * as Effect from "effect/Effect"
import { randomUUID } from "node:crypto"
import { collect } from "./harness.ts"
import * as Provider from "./provider.ts"
import { gated, live, using, withJournal } from "./tools.ts"
import type { Live } from "./tools.ts"

const bound = 1.05
const sizes = process.argv.includes("--short") ? [1_000, 4_000, 16_000] : [1_000, 10_000, 100_000]

type Prepared = Effect.Effect<Effect.Effect<unknown, unknown, Live>, unknown, Live>

const callOf = (index: number, id = `call-${index}`) => ({
  id,
  name: "DeleteFile",
  params: { path: `/tmp/${index}`, force: true }
})

const done = Provider.text(["Done."])

const modelOf = (size: number, id?: string) => {
  const requested = Provider.calls(Array.from({ length: size }, (_, index) => callOf(index, id)))
  return Effect.map(
    Provider.makeModel((messages) => messages.length === 1 ? requested : done),
    LanguageModel.withApproval
  )
}

const prompt = "Delete all"

const ask = LanguageModel.generateText({ prompt, toolkit: gated })

const answered = (
  turn: Effect.Success<typeof ask>,
  answer: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer
) =>
  Prompt.fromMessages([
    Prompt.userMessage({ content: [Prompt.textPart({ text: prompt })] }),
    ...Prompt.fromResponseParts(turn.content).content,
    ...Prompt.approvalResponses(Response.approvalRequests(turn).map(answer)).content
  ])

const asked = (size: number): Prepared => Effect.map(modelOf(size), (model) => using(model)(ask))

const resumed =
  (answer: (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer, id?: string) => (size: number): Prepared =>
    Effect.gen(function*() {
      const model = yield* modelOf(size, id)
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

/** A resume at the end of so many messages, a quarter of them settled approvals. */
const behind = (size: number): Prepared =>
  Effect.gen(function*() {
    const model = yield* modelOf(1)
    const turn = yield* using(model)(ask)
    const messages = Array.from({ length: size / 2 }, (_, index) => [
      Prompt.userMessage({ content: [Prompt.textPart({ text: `What is ${index}?` })] }),
      Prompt.assistantMessage({ content: [Prompt.textPart({ text: `It is ${index}.` })] })
    ]).flat()
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
  ["approved calls of a conversation", decided],
  ["messages before one approved call", behind]
]

const processorTime = <E, R>(effect: Effect.Effect<unknown, E, R>) =>
  Effect.suspend(() => {
    const before = process.cpuUsage()
    return Effect.map(effect, () => {
      const { system, user } = process.cpuUsage(before)
      return (system + user) / 1_000
    })
  })

const measure = Effect.fnUntraced(function*(prepare: (size: number) => Prepared, size: number) {
  let least = Infinity
  for (let round = 0; round < (size <= 1_000 ? 12 : size <= 16_000 ? 3 : 1); round++) {
    const effect = yield* prepare(size)
    collect({ type: "major" })
    least = Math.min(least, yield* processorTime(effect))
    process.stdout.write(".")
  }
  return least
})

const program = Effect.gen(function*() {
  let failed = false
  for (const [title, prepare] of rows) {
    process.stdout.write(`${title} `)
    const times: Array<number> = []
    for (const size of sizes) times.push(yield* withJournal(measure(prepare, size)))
    const exponent = Math.log(times.at(-1)! / times[0]!) / Math.log(sizes.at(-1)! / sizes[0]!)
    const isOver = exponent > bound
    failed ||= isOver
    const figures = times.map((time, index) =>
      `${((time / sizes[index]!) * 1_000).toFixed(0)} µs each of ${sizes[index]!.toLocaleString("en")}`
    )
    console.log(`\n  ${figures.join(", ")}: exponent ${exponent.toFixed(2)} (bound ${bound}) ${isOver ? "OVER" : "ok"}`)
  }
  if (failed) process.exitCode = 1
})

await Effect.runPromise(Effect.provide(program, live))
