/**
 * What stays in memory when time goes on: requests come and expire, and the heap is as large as before. A clock of our
 * own lets months pass in seconds.
 */
import { Approval, ApprovalJournal, LanguageModel, Prompt, Response } from "@assent/ai"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Harness from "./harness.ts"
import * as Provider from "./provider.ts"
import { gated, using, withJournal } from "./tools.ts"

const minute = 60_000
const hour = 60 * minute
const month = 30 * 24 * hour

/** A clock that goes on when it is told to; sleeping is real. */
const makeClock = Effect.map(Clock.Clock, (real) => {
  let now = real.currentTimeMillisUnsafe()
  const nanos = () => BigInt(now) * 1_000_000n
  const clock: Clock.Clock = {
    currentTimeMillisUnsafe: () => now,
    currentTimeMillis: Effect.sync(() => now),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: (duration) => real.sleep(duration)
  }
  return {
    clock,
    advance: (millis: number) => {
      now += millis
      return now
    }
  }
})

const ran: ApprovalJournal.Ran = {
  recorded: new ApprovalJournal.Recorded({ isFailure: false, encodedResult: { deleted: true } }),
  result: { deleted: true },
  encodedResult: { deleted: true }
}

/** A request a minute: some run, some are denied, some expire. Most are sealed for an hour, one in a hundred for a month. */
const journal = Effect.gen(function*() {
  const { advance, clock } = yield* makeClock
  const journal = yield* ApprovalJournal.ApprovalJournal
  let index = 0
  const send = Effect.suspend((): Effect.Effect<unknown, unknown> => {
    const now = advance(minute)
    const which = index++
    const claim: ApprovalJournal.Claim = {
      approvalId: `apr1.key.${which}`,
      nonce: `nonce-${which}`,
      expiresAt: now + (which % 100 === 0 ? month : hour),
      toolName: "DeleteFile",
      toolCallId: `call-${which}`
    }
    switch (which % 4) {
      case 0:
      case 1:
        return journal.run(claim, { effect: Effect.succeed(ran), idempotent: false })
      case 2:
        return journal.end(claim, "denied", "The user denied this call.")
      default:
        return journal.end(claim, "expired", "Nobody answered in time.")
    }
  })
  yield* Harness.flat(
    { title: "e. Requests through one journal, a minute apart", marks: [20_000, 60_000, 100_000], bound: 1.1 },
    (count) => Effect.provideService(Effect.replicateEffect(send, count, { discard: true }), Clock.Clock, clock)
  )
}).pipe(withJournal)

/** The same through the whole engine: asked about, approved and run, in responses of 20 calls an hour apart. */
const engine = Effect.gen(function*() {
  const { advance, clock } = yield* makeClock
  const size = 20
  const requested = Provider.calls(Array.from({ length: size }, (_, index) => ({
    id: `call-${index}`,
    name: "DeleteFile",
    params: { path: `/tmp/${index}`, force: false }
  })))
  const done = Provider.text(["Done."])
  const model = LanguageModel.withApproval(
    yield* Provider.makeModel((messages) => messages.length === 1 ? requested : done),
    { expiresIn: "1 hour" }
  )
  const converse = Effect.gen(function*() {
    advance(hour)
    const question = Prompt.make("Delete all")
    const turn = yield* LanguageModel.generateText({ prompt: question, toolkit: gated })
    const answers = Response.approvalRequests(turn).map((request) => Approval.approve(request))
    const prompt = Prompt.concat(
      Prompt.concat(question, Prompt.fromResponseParts(turn.content)),
      Prompt.approvalResponses(answers)
    )
    yield* LanguageModel.generateText({ prompt, toolkit: gated })
  })
  yield* Harness.flat(
    { title: "e. Calls through the engine, an hour apart", marks: [4_000, 12_000, 20_000], bound: 1.1 },
    (count) =>
      using(model)(Effect.replicateEffect(converse, count / size, { discard: true })).pipe(
        Effect.provideService(Clock.Clock, clock)
      )
  )
}).pipe(withJournal)

/** What a program holds of a request that nobody has answered yet: its call, itself and its seal, in what the turn gave. */
const pending = Effect.gen(function*() {
  const size = 20
  const turns = 200
  const ask = (first: number) =>
    Effect.gen(function*() {
      const requested = Provider.calls(Array.from({ length: size }, (_, index) => ({
        id: `call-${first + index}`,
        name: "DeleteFile",
        params: { path: `/tmp/${first + index}`, force: true }
      })))
      const model = LanguageModel.withApproval(yield* Provider.makeModel(() => requested))
      return yield* using(model)(LanguageModel.generateText({ prompt: "Delete all", toolkit: gated }))
    })
  yield* ask(0)
  const before = yield* Harness.heapUsed
  const held = yield* Effect.forEach(Array.from({ length: turns }), (_, index) => ask(index * size))
  const bytes = ((yield* Harness.heapUsed) - before) / (turns * size)
  if (held.some(({ content }) => content.length < size * 2)) throw new Error("Nobody was asked.")
  Harness.atMost({ title: "e. Heap for each request that waits, its call with it", unit: "bytes", bound: 1_500 }, bytes)
}).pipe(withJournal)

export const memory = Effect.all([journal, engine, pending], { discard: true })
