/**
 * What approvals cost, beside upstream's own service on the same turns: `npm run bench:smoke`.
 *
 * Every figure is printed with its ratio and, where there is one, its bound; the command fails when a bound is exceeded.
 */
import { Approval, LanguageModel, Prompt, Response } from "@assent/ai"
import * as Upstream from "effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { aiSdk } from "./aiSdk.ts"
import { conversations } from "./conversations.ts"
import { database } from "./database.ts"
import { decisions } from "./decisions.ts"
import * as Harness from "./harness.ts"
import { memory } from "./memory.ts"
import { openai } from "./openai.ts"
import * as Provider from "./provider.ts"
import { remembered } from "./remembered.ts"
import { sqlite } from "./sqlite.ts"
import { suspensions } from "./suspensions.ts"
import { gated, live, open, upstreamGated, using, withJournal } from "./tools.ts"
import type { Live } from "./tools.ts"

// =============================================================================
// a. A program without approvals
// =============================================================================

const weatherCall = { id: "call-1", name: "Weather", params: { city: "Vienna" } }
const short = Provider.text(["It ", "is ", "21 ", "degrees ", "and ", "clear."])
const calling = Provider.calls([weatherCall])

/** Ten turns of one conversation, each with all that came before it. The third is answered with a call. */
const conversation: ReadonlyArray<Prompt.Prompt> = Array.from({ length: 10 }, (_, turn) =>
  Prompt.fromMessages(
    Array.from({ length: turn + 1 }, (_, index) => [
      user(`What is the weather in city ${index}?`),
      ...(index === turn ? [] : index === 2 ? [...settledCall(weatherCall, { degrees: 21, sky: "clear" })] : [
        Prompt.assistantMessage({ content: [Prompt.textPart({ text: "It is 21 degrees and clear." })] })
      ])
    ]).flat()
  ))

const answerOf = (messages: ReadonlyArray<Prompt.Message>) =>
  messages.length === conversation[2]!.content.length ? calling : short

const turns = 20_000
const rounds = 50

const plain = Effect.gen(function*() {
  for (const method of ["generate", "stream"] as const) {
    const contestant = (name: string, model: LanguageModel.LanguageModel): Harness.Contestant<Live> => ({
      name,
      measure: Harness.timed(
        using(model)(Effect.gen(function*() {
          for (let i = 0; i < turns / rounds; i++) {
            const prompt = conversation[i % 10]!
            if (method === "generate") yield* Upstream.generateText({ prompt, toolkit: open })
            else yield* Stream.runDrain(Upstream.streamText({ prompt, toolkit: open }))
          }
        }))
      )
    })
    yield* Harness.compare(
      {
        title: `a. ${method}: ${turns} turns without approvals, one in ten with a call`,
        rounds,
        operations: turns / rounds,
        bound: 1.15
      },
      contestant("ours", LanguageModel.withApproval(yield* Provider.makeModel(answerOf))),
      contestant("upstream", yield* Provider.makeModel(answerOf))
    )
  }
})

/** What it costs to have a gated tool that is not called, where it could cost most: in a long stream. */
const deltas = Effect.gen(function*() {
  const long = Provider.text(Array.from({ length: 1_000 }, (_, i) => `word ${i} `))
  const model = yield* Provider.makeModel(() => long)
  const other = yield* Provider.makeModel(() => long)
  yield* Harness.compare(
    {
      title: "   stream: 1,000 deltas beside a gated tool that is not called, per delta",
      rounds: 100,
      operations: 2_000,
      bound: 1.15
    },
    {
      name: "ours",
      measure: Harness.timed(
        using(LanguageModel.withApproval(model))(
          Effect.replicateEffect(Stream.runDrain(Upstream.streamText({ prompt: "Go on.", toolkit: gated })), 2)
        )
      )
    },
    {
      name: "upstream",
      measure: Harness.timed(
        using(other)(
          Effect.replicateEffect(Stream.runDrain(Upstream.streamText({ prompt: "Go on.", toolkit: upstreamGated })), 2)
        )
      )
    }
  )
})

/** What it costs to run a call that needs nobody, beside one that does. */
const ungated = Effect.gen(function*() {
  const model = LanguageModel.withApproval(yield* Provider.makeModel(() => calling))
  const other = yield* Provider.makeModel(() => calling)
  const operations = 50
  const contestant = (
    name: string,
    model: LanguageModel.LanguageModel,
    toolkit: typeof gated | typeof upstreamGated
  ) => ({
    name,
    measure: Harness.timed(
      using(model)(Effect.replicateEffect(Upstream.generateText({ prompt: "Hello", toolkit }), operations))
    )
  })
  yield* Harness.compare(
    { title: "   generate: one ungated call run", rounds: 100, operations, bound: 1.15 },
    contestant("ours", model, gated),
    contestant("upstream", other, upstreamGated)
  )
})

// =============================================================================
// c. A batch
// =============================================================================

/** Asks about so many calls of one response, answers them all at once, and goes on from the answers. */
const makeBatch = Effect.fnUntraced(function*(
  size: number,
  toolkit: typeof gated | typeof upstreamGated,
  wrap: (model: LanguageModel.LanguageModel) => LanguageModel.LanguageModel
) {
  const requested = Provider.calls(Array.from({ length: size }, (_, index) => ({
    id: `call-${index}`,
    name: "DeleteFile",
    params: { path: `/tmp/${index}`, force: true }
  })))
  const done = Provider.text(["Done."])
  const model = wrap(yield* Provider.makeModel((messages) => messages.length === 1 ? requested : done))
  const ask = using(model)(Upstream.generateText({ prompt: "Delete all", toolkit }))
  const answered = (approved: boolean) =>
    Effect.map(ask, (turn) => {
      const answers = Response.approvalRequests(turn).map((request) =>
        approved ? Approval.approve(request) : Approval.deny(request)
      )
      return Prompt.fromMessages([
        user("Delete all"),
        ...Prompt.fromResponseParts(turn.content).content,
        ...Prompt.approvalResponses(answers).content
      ])
    })
  const goOn = (approved: boolean, prompt: Prompt.Prompt) =>
    Effect.map(using(model)(Upstream.generateText({ prompt, toolkit })), expectResults(approved ? size : 0))
  const each = (approved: boolean, times: number) =>
    Effect.flatMap(
      Effect.replicateEffect(answered(approved), times),
      (prompts) => Harness.timedAfresh(Effect.forEach(prompts, (prompt) => goOn(approved, prompt), { discard: true }))
    )
  return {
    "asked about": (times: number) => Harness.timed(Effect.replicateEffect(ask, times, { discard: true })),
    approved: (times: number) => each(true, times),
    denied: (times: number) => each(false, times)
  }
})

const batch = Effect.gen(function*() {
  const ours = yield* makeBatch(1_000, gated, LanguageModel.withApproval)
  const theirs = yield* makeBatch(1_000, upstreamGated, (model) => model)
  const tenth = yield* makeBatch(100, gated, LanguageModel.withApproval)
  for (const { bound, what } of [{ what: "asked about", bound: 3 }, { what: "approved", bound: 6 }] as const) {
    yield* Harness.compare(
      { title: `c. 1,000 calls of one response, ${what}, per call`, rounds: 9, operations: 1_000, bound },
      { name: "ours", measure: ours[what](1) },
      { name: "upstream", measure: theirs[what](1) }
    )
    // What would grow with the square of the batch costs ten times as much here.
    yield* Harness.compare(
      { title: `   the same beside ten times 100, per call`, rounds: 9, operations: 1_000, bound: 1.5 },
      { name: "1,000", measure: ours[what](1) },
      { name: "100", measure: Effect.map(Effect.replicateEffect(tenth[what](1), 10), sum) }
    )
  }
})

// =============================================================================
// d. One request
// =============================================================================

const lastCall = { id: "call-last", name: "DeleteFile", params: { path: "/tmp/last", force: false } }

const request = Effect.gen(function*() {
  const ours = yield* makeBatch(1, gated, LanguageModel.withApproval)
  const theirs = yield* makeBatch(1, upstreamGated, (model) => model)
  const operations = 50
  for (
    const { bound, what } of [
      { what: "asked about", bound: 3 },
      { what: "approved", bound: 5 },
      { what: "denied", bound: 7 }
    ] as const
  ) {
    yield* Harness.compare(
      { title: `d. One gated call, ${what}`, rounds: 60, operations, bound },
      { name: "ours", measure: ours[what](operations) },
      { name: "upstream", measure: theirs[what](operations) }
    )
  }
})

// =============================================================================
// b. A long history
// =============================================================================

const settledApprovals = 2_500

/** One exchange: what was asked for, the call and its request, the answer and the result, and what came of it. */
const exchange = (index: number, approvals: boolean): ReadonlyArray<Prompt.Message> => {
  const call = { id: `call-${index}`, name: "DeleteFile", params: { path: `/tmp/${index}`, force: false } }
  // As long as a real one, and of one piece in memory, as what was read is.
  const approvalId: string = JSON.parse(JSON.stringify(`${index}.`.padEnd(180, "x")))
  const settled = settledCall(call, { deleted: true }, approvals ? approvalId : undefined)
  return [
    user(`Delete /tmp/${index}`),
    ...settled,
    Prompt.assistantMessage({ content: [Prompt.textPart({ text: `/tmp/${index} is gone.` })] })
  ]
}

const history = (approvals: boolean) =>
  Array.from({ length: settledApprovals }, (_, index) => exchange(index, approvals)).flat()

/** A call that a person was asked about just now, as it stands in the history, with its approval. */
const freshlyApproved = Effect.gen(function*() {
  const model = LanguageModel.withApproval(yield* Provider.makeModel(() => Provider.calls([lastCall])))
  const turn = yield* using(model)(LanguageModel.generateText({ prompt: "Delete /tmp/last", toolkit: gated }))
  return [
    ...Prompt.fromResponseParts(turn.content).content,
    ...Prompt.approvalResponses(Response.approvalRequests(turn).map((request) => Approval.approve(request))).content
  ]
})

const resume = Effect.gen(function*() {
  const done = Provider.text(["Done."])
  const ours = LanguageModel.withApproval(yield* Provider.makeModel(() => done))
  const theirs = yield* Provider.makeModel(() => done)
  for (const memory of ["the same messages again", "messages just read from a database"] as const) {
    const again = memory === "the same messages again"
    const kept = { ours: history(true), bare: history(true), clean: history(false) }
    yield* Harness.compare(
      {
        title: `b. Resume over ${settledApprovals * 4} messages with ${settledApprovals} settled approvals, ${memory}`,
        rounds: 41,
        operations: 1,
        bound: 2
      },
      {
        name: "ours",
        measure: Effect.gen(function*() {
          const before = again ? kept.ours : history(true)
          const prompt = Prompt.fromMessages([...before, user("Delete /tmp/last"), ...(yield* freshlyApproved)])
          return yield* Harness.timedAfresh(
            Effect.map(using(ours)(LanguageModel.generateText({ prompt, toolkit: gated })), expectResults(1))
          )
        })
      },
      {
        name: "a bare loop and upstream without approval parts",
        measure: Effect.gen(function*() {
          const bare = again ? kept.bare : history(true)
          const prompt = Prompt.fromMessages([
            ...(again ? kept.clean : history(false)),
            user("Delete /tmp/last"),
            ...settledCall(lastCall, { deleted: true })
          ])
          return yield* Harness.timedAfresh(
            using(theirs)(Effect.andThen(
              Effect.sync(() => countParts(bare)),
              Upstream.generateText({ prompt, toolkit: gated })
            ))
          )
        })
      }
    )
  }
})

/** What no reading of a history can do without. */
const countParts = (messages: ReadonlyArray<Prompt.Message>): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const message of messages) {
    if (typeof message.content === "string") continue
    for (const part of message.content) counts.set(part.type, (counts.get(part.type) ?? 0) + 1)
  }
  return counts
}

// =============================================================================
// Internals
// =============================================================================

/** What is not done right is not measured. */
function expectResults(count: number) {
  return ({ toolResults }: { readonly toolResults: ReadonlyArray<{ readonly isFailure: boolean }> }) => {
    const done = toolResults.filter((result) => !result.isFailure).length
    if (done !== count) throw new Error(`${count} calls were approved, and ${done} ran.`)
  }
}

function sum(values: ReadonlyArray<number>): number {
  return values.reduce((total, value) => total + value, 0)
}

function user(text: string): Prompt.Message {
  return Prompt.userMessage({ content: [Prompt.textPart({ text })] })
}

function settledCall(call: Provider.Call, result: unknown, approvalId?: string): ReadonlyArray<Prompt.Message> {
  const { id, name } = call
  const done = Prompt.toolResultPart({
    id,
    name,
    isFailure: false,
    result,
    providerExecuted: false,
    ...(approvalId === undefined ? undefined : { options: { assent: { approvalId } } })
  })
  const made = Prompt.toolCallPart({ ...call, providerExecuted: false })
  if (approvalId === undefined) {
    return [Prompt.assistantMessage({ content: [made] }), Prompt.toolMessage({ content: [done] })]
  }
  return [
    Prompt.assistantMessage({ content: [made, Prompt.toolApprovalRequestPart({ approvalId, toolCallId: id })] }),
    Prompt.toolMessage({ content: [Prompt.toolApprovalResponsePart({ approvalId, approved: true }), done] })
  ]
}

// =============================================================================

const started = performance.now()
console.log(`Node ${process.version}`)
// The long history comes after the batch, when what approves and runs is compiled, as upstream's part is for both since
// the first row; each has a journal of its own, so that one does not fill the heap of the next.
const all = {
  plain,
  deltas,
  ungated,
  batch: withJournal(batch),
  request: withJournal(request),
  resume: withJournal(resume),
  memory,
  openai,
  aiSdk,
  suspensions,
  remembered,
  conversations,
  sqlite,
  database,
  decisions
}
const wanted = process.argv.slice(2)
const chosen = Object.entries(all).filter(([name]) => wanted.length === 0 || wanted.includes(name))
await Effect.runPromise(Effect.provide(Effect.forEach(chosen, ([, rows]) => rows, { discard: true }), live))
console.log(`${((performance.now() - started) / 1_000).toFixed(0)} s, ${Provider.sent} items sent`)
if (Harness.isOver()) {
  console.error("A bound is exceeded.")
  process.exitCode = 1
}
