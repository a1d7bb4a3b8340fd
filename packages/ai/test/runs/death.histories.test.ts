/**
 * L2: what another process ran under an approval of a message history is observed in the same way: under generate and
 * stream, under Chat, and by whoever asks the journal itself.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalJournal, type Prompt, type Store } from "../../src/index.ts"
import * as Laws from "../laws/support.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as Processes from "./processes.ts"
import * as R from "./support.ts"

const clocks = ["0 minutes", "10 minutes", "-10 minutes"] as const

/** A process whose reader sends an approval, and another one that is sent the same. */
const two = Effect.fnUntraced(function*(mode: Laws.Mode, ahead: (typeof clocks)[number]) {
  const hold = yield* Laws.makeHold
  const tools = yield* Laws.makeTools(R.tools, { Pay: R.heldOnce(hold, () => "paid 5") })
  const asked = yield* Laws.ask(mode, { toolkit: tools.toolkit, calls: [R.pay] })
  const script = yield* Laws.answering
  const options = { model: script.model, toolkit: tools.toolkit, history: asked.history }
  const yes = Laws.answers(Approval.approve(asked.requests[0]!))
  const turn = Laws.takeTurn(mode, { ...options, prompt: yes })
  const shared = yield* Processes.makeShared
  yield* TestClock.adjust("1 day")
  const process = Effect.fnUntraced(function*(process: Processes.Process) {
    const journal = yield* process.within(ApprovalJournal.make({ store: process.store, grace: 0 }))
    return <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      process.within(Effect.provideService(effect, ApprovalJournal.ApprovalJournal, journal))
  })
  const first = Processes.make(shared, ahead)
  const reader = yield* Effect.forkDetach((yield* process(first))(turn))
  yield* hold.entered
  const inOther = yield* process(Processes.make(shared))
  const chat = yield* Laws.converse(mode, options)
  /** One that goes on in the other process, turn by turn. */
  const says = (prompt: Prompt.RawInput) => inOther(chat.take(prompt))
  return { first, hold, other: inOther(turn), reader, says, script, tools, yes }
})

const reasonOf = (turn: Laws.Turn) => Laws.failureReason(turn.results[0])

for (const ahead of clocks) {
  const modes: ReadonlyArray<Laws.Mode> = ahead === "0 minutes" ? Laws.modes : ["generateText", "streamText"]

  describe(`an approval of a message history, in two processes, one of them ${ahead} ahead`, () => {
    Laws.forEachMode("one that died is taken over in under ten seconds", function*(mode) {
      const { first, other, tools } = yield* two(mode, ahead)
      first.die()
      const taken = yield* Effect.forkChild(other)
      assert.isTrue(yield* R.endsWithin(taken, 9))
      assert.match(reasonOf(yield* Fiber.join(taken)), /unknown/)
      assert.strictEqual(tools.count("Pay"), 1)
    }, modes)

    Laws.forEachMode(
      "one that was blocked for a minute is taken over, and its late result replaces \"unknown\"",
      function*(mode) {
        const { first, hold, other, reader, tools } = yield* two(mode, ahead)
        first.block()
        const taken = yield* Effect.forkChild(other)
        assert.isTrue(yield* R.endsWithin(taken, 9))
        assert.match(reasonOf(yield* Fiber.join(taken)), /unknown/)
        yield* TestClock.adjust("51 seconds")
        yield* hold.release
        yield* first.goOn
        assert.isTrue(yield* R.endsWithin(reader, 30))
        const again = yield* other
        assert.deepStrictEqual(again.results.map(({ result }) => result), ["paid 5"])
        assert.strictEqual(tools.count("Pay"), 1)
      },
      modes
    )
  })
}

describe("a late result", () => {
  Laws.forEachMode("is told in the next turn of a chat that was told \"unknown\"", function*(mode) {
    const { first, hold, reader, says, script, tools, yes } = yield* two(mode, "0 minutes")
    first.block()
    const taken = yield* Effect.forkChild(says(yes))
    assert.isTrue(yield* R.endsWithin(taken, 9))
    assert.match(reasonOf(yield* Fiber.join(taken)), /unknown/)
    yield* TestClock.adjust("51 seconds")
    yield* hold.release
    yield* first.goOn
    assert.isTrue(yield* R.endsWithin(reader, 30))
    yield* says("Well?")
    const prompts = yield* script.requests
    assert.include(JSON.stringify(prompts.at(-1)?.prompt), "paid 5")
    assert.strictEqual(tools.count("Pay"), 1)
  })
})

describe("a journal", () => {
  const claim = (nonce: string): ApprovalJournal.Claim => ({
    approvalId: `id-${nonce}`,
    nonce,
    expiresAt: Infinity,
    toolName: "Pay",
    toolCallId: "pay-1"
  })
  const ran: ApprovalJournal.Ran = {
    recorded: new ApprovalJournal.Recorded({ isFailure: false, encodedResult: "paid 5" }),
    result: "paid 5",
    encodedResult: "paid 5"
  }
  /** A journal whose scope is never closed: its process does not end, or is gone. */
  const journalOf = ({ store, within }: Pick<Processes.Process, "store" | "within">) =>
    within(Scope.provide(ApprovalJournal.make({ store, grace: 0 }), Scope.makeUnsafe()))
  const mustNotRun = { effect: Effect.die(new Error("It ran twice.")), idempotent: false }

  const running = Effect.fnUntraced(function*(shared: Store.Store, idempotent = false) {
    const process = Processes.make(shared)
    const hold = yield* Laws.makeHold
    const journal = yield* journalOf(process)
    const run = yield* Effect.forkDetach(
      journal.run(claim("n"), { effect: Effect.as(hold.wait, ran), idempotent })
    )
    yield* hold.entered
    return { hold, journal, process, run }
  })

  it.effect("hears what the owner recorded late, and so does whoever asks again", () =>
    Effect.gen(function*() {
      const shared = yield* Processes.makeShared
      const { hold, process, run } = yield* running(shared)
      const other = yield* journalOf(Processes.make(shared))
      process.block()
      const taken = yield* Effect.forkChild(other.run(claim("n"), mustNotRun))
      assert.isTrue(yield* R.endsWithin(taken, 9))
      assert.strictEqual((yield* Fiber.join(taken)).entry.state, "unknown")
      assert.strictEqual((yield* other.find(claim("n")))?.state, "unknown")
      yield* hold.release
      yield* process.goOn
      assert.isTrue(yield* R.endsWithin(run, 30))
      const found = yield* other.find(claim("n"))
      assert.deepStrictEqual([found?.state, found?.recorded?.encodedResult], ["done", "paid 5"])
      assert.strictEqual((yield* other.run(claim("n"), mustNotRun)).entry.recorded?.encodedResult, "paid 5")
    }))

  it.effect("takes no late result of an owner over what was run again meanwhile", () =>
    Effect.gen(function*() {
      const shared = yield* Processes.makeShared
      const { hold, process, run } = yield* running(shared, true)
      const other = yield* journalOf(Processes.make(shared))
      process.block()
      const second = {
        ...ran,
        recorded: new ApprovalJournal.Recorded({ isFailure: false, encodedResult: "paid again" })
      }
      const taken = yield* Effect.forkChild(
        other.run(claim("n"), { effect: Effect.succeed(second), idempotent: true })
      )
      assert.isTrue(yield* R.endsWithin(taken, 9))
      assert.strictEqual((yield* Fiber.join(taken)).entry.recorded?.encodedResult, "paid again")
      yield* hold.release
      yield* process.goOn
      assert.isTrue(yield* R.endsWithin(run, 30))
      assert.strictEqual((yield* other.find(claim("n")))?.recorded?.encodedResult, "paid again")
    }))

  it.effect("takes an owner whose beat cannot be read for dead", () =>
    Effect.gen(function*() {
      const shared = yield* Processes.makeShared
      const { process } = yield* running(shared)
      process.die()
      const unreadable = intercept(
        shared,
        (operation, _, run) =>
          operation.startsWith("owners.") && operation !== "owners.beat"
            ? Effect.fail(failure(operation, "Corrupt"))
            : run
      )
      const other = yield* journalOf(Processes.make(unreadable))
      const taken = yield* Effect.forkChild(Effect.exit(other.run(claim("n"), mustNotRun)))
      assert.isTrue(yield* R.endsWithin(taken, 9))
      const exit = yield* Fiber.join(taken)
      assert.isTrue(Exit.isSuccess(exit), "it does not fail")
      assert.strictEqual(Exit.isSuccess(exit) ? exit.value.entry.state : undefined, "unknown")
    }))

  it.effect("of a shared store beats, whatever the program says: a beat cannot be switched off", () =>
    Effect.gen(function*() {
      const shared = yield* Processes.makeShared
      const process = Processes.make(shared)
      const hold = yield* Laws.makeHold
      const silent = Effect.fnUntraced(function*(store: Store.Store) {
        return yield* Scope.provide(
          ApprovalJournal.make({ store, grace: 0, heartbeat: "Infinity" }),
          Scope.makeUnsafe()
        )
      })
      const journal = yield* silent(process.store)
      yield* Effect.forkDetach(journal.run(claim("n"), { effect: Effect.as(hold.wait, ran), idempotent: false }))
      yield* hold.entered
      const waiting = yield* Effect.forkChild((yield* silent(shared)).run(claim("n"), mustNotRun))
      assert.isFalse(yield* R.endsWithin(waiting, 60), "it lives, and says so")
      process.die()
      assert.isTrue(yield* R.endsWithin(waiting, 9), "and is dead when it does not")
      assert.strictEqual((yield* Fiber.join(waiting)).entry.state, "unknown")
    }))

  it.effect("runs nothing where it cannot say that it lives", () =>
    Effect.gen(function*() {
      const shared = yield* Processes.makeShared
      const mute = intercept(
        shared,
        (operation, _, run) => operation === "owners.beat" ? Effect.fail(failure(operation)) : run
      )
      const journal = yield* journalOf(Processes.make(mute))
      const exit = yield* Effect.exit(journal.run(claim("n"), mustNotRun))
      assert.isTrue(Exit.isFailure(exit))
      assert.isUndefined(yield* journal.find(claim("n")))
    }))

  it.effect("waits for an owner that beats, though the clocks are an hour apart", () =>
    Effect.gen(function*() {
      const shared = yield* Processes.makeShared
      const { hold, run } = yield* running(shared)
      const other = yield* journalOf(Processes.make(shared, "-1 hours"))
      const waiting = yield* Effect.forkChild(other.run(claim("n"), mustNotRun))
      assert.isFalse(yield* R.endsWithin(waiting, 30))
      yield* hold.release
      assert.isTrue(yield* R.endsWithin(run, 1))
      assert.isTrue(yield* R.endsWithin(waiting, 10))
      assert.strictEqual((yield* Fiber.join(waiting)).entry.state, "done")
    }))
})
