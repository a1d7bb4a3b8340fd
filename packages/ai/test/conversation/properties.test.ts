/**
 * Random interleavings of all that may happen to a conversation, in two processes that share its stores: no state is
 * lost, nothing is gone on from twice, each call has exactly one final result, and the strict provider refuses no prompt.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema, Scope, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalError,
  ApprovalJournal,
  ApprovalSeal,
  Conversation,
  ConversationStore,
  LanguageModel,
  Store,
  SuspensionStore
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { Chain, countOf, type Kind, kinds, makeToolkit, right, unanswered } from "../waiting/chain.ts"
import * as W from "../waiting/support.ts"

type AnyConversation = Conversation.Conversation<Record<string, any>>

// =============================================================================
// What may happen
// =============================================================================

const which = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))
const by = Schema.Literals([0, 1])

const Event = Schema.Union([
  Schema.TaggedStruct("Decide", { which, by }),
  Schema.TaggedStruct("Decide", { which, by }),
  Schema.TaggedStruct("DecideAll", { by }),
  Schema.TaggedStruct("Resume", { which, by }),
  Schema.TaggedStruct("Resume", { which, by }),
  Schema.TaggedStruct("Wrong", { which, by }),
  Schema.TaggedStruct("Deny", { which, by }),
  Schema.TaggedStruct("Info", { which, by }),
  Schema.TaggedStruct("Again", { which, by }),
  Schema.TaggedStruct("Say", { text: Schema.Literals(["a", "Something else", "yes"]), by }),
  Schema.TaggedStruct("Calls", {
    kinds: Schema.Array(Schema.Array(Schema.Literals(kinds))),
    gated: Schema.Boolean,
    by
  }),
  Schema.TaggedStruct("Cancel", { by }),
  Schema.TaggedStruct("Clear", { by, kind: Schema.Literals(["all", "approval", "askUser", "getApproval", "timer"]) }),
  Schema.TaggedStruct("Wake", { by }),
  Schema.TaggedStruct("Wait", { hours: Schema.Literals([1, 800]) }),
  Schema.TaggedStruct("Leave", { which, by }),
  Schema.TaggedStruct("AtOnce", {
    which,
    how: Schema.Literals(["decide", "resume", "wake", "say", "cancel", "clear"])
  }),
  Schema.TaggedStruct("Restart", { by })
])

const Story = Schema.Struct({
  first: Schema.Array(Schema.Array(Schema.Literals(kinds)).check(Schema.isMaxLength(3))).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(3)
  ),
  gated: Schema.Boolean,
  expires: Schema.Boolean,
  reuses: Schema.Boolean,
  streams: Schema.Boolean,
  events: Schema.Array(Event).check(Schema.isMinLength(3), Schema.isMaxLength(12))
})

// =============================================================================
// Two processes in which it happens
// =============================================================================

/** What a turn may fail with, because of what happens to it. Everything else is a fault; so is Busy, of one alone. */
const isExpected = (error: unknown, isOneOfTwo: boolean): boolean =>
  error instanceof ApprovalError.ApprovalError
    ? ["UnknownApproval", "AlreadyDecided", "InvalidAnswer", "Expired"].includes(error.reason._tag)
    : error instanceof ConversationError && (error.reason === "Cancelled" || (isOneOfTwo && error.reason === "Busy"))

const { ConversationError } = ConversationStore

const tell = (story: typeof Story.Type) =>
  Effect.gen(function*() {
    const said = JSON.stringify(story)
    const store = yield* Store.makeMemory()
    const first = yield* store.events.latest
    const steps: Array<string> = []
    const toolkit = yield* makeToolkit(steps)
    let batch: ReadonlyArray<ScriptedModel.TurnPart> | undefined
    let calls = 0
    const callAll = (all: ReadonlyArray<ReadonlyArray<Kind>>, gated: boolean) =>
      batch = all.slice(0, 3).map((kinds) => {
        const id = `${gated ? "gated" : "free"}${++calls}`
        return W.call(story.reuses ? `call${calls % 2}` : id, "Chain", { id, kinds: kinds.slice(0, 3) })
      })
    const script = yield* ScriptedModel.make({
      turns: [],
      afterLastTurn: () => {
        const turn = batch ?? "done"
        batch = undefined
        return turn
      }
    })

    const model = LanguageModel.withApproval(script.model, story.expires ? { expiresIn: "30 days" } : {})
    const start = Effect.gen(function*() {
      const scope = yield* Scope.make()
      const own = yield* Effect.gen(function*() {
        const journal = yield* ApprovalJournal.make({ store, heartbeat: "10 minutes", grace: 0 })
        const conversations = yield* ConversationStore.make({ store, heartbeat: "10 minutes" })
        return yield* Conversation.make({ id: "c1", toolkit }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, model),
          Effect.provideService(ApprovalJournal.ApprovalJournal, journal),
          Effect.provideService(ConversationStore.ConversationStore, conversations),
          Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store })),
          Effect.provide(ApprovalSeal.layer({ key: W.key }))
        )
      }).pipe(Scope.provide(scope))
      return { scope, conversation: own as unknown as AnyConversation }
    })
    const processes = [yield* start, yield* start]
    const at = (by: number) => processes[by]!.conversation

    /** Takes turns at once, lets time pass until they are over, and sees that nothing failed that should not. */
    const run = (...turns: ReadonlyArray<Effect.Effect<unknown, unknown>>) =>
      Effect.gen(function*() {
        const fibers = yield* Effect.forEach(
          turns,
          (turn) => Effect.forkChild(Effect.result(turn), { startImmediately: true })
        )
        for (const fiber of fibers) {
          assert.isTrue(yield* W.advance(fiber, "1 second"), `a turn does not end: ${said}`)
          const result = yield* Fiber.join(fiber)
          if (result._tag === "Failure" && !isExpected(result.failure, fibers.length > 1)) {
            assert.fail(`a turn failed: ${String(result.failure)} in ${said}`)
          }
        }
      })

    const send = (by: number, text: string) =>
      story.streams ? at(by).stream(text).pipe(Stream.runDrain) : at(by).send(text)
    const seen = new Map<string, Approval.ApprovalRequest>()
    const pending = Effect.tap(Effect.orDie(at(0).pending()), (open) => {
      for (const request of open) seen.set(request.approvalId, request)
      return Effect.void
    })
    const pick = (requests: ReadonlyArray<Approval.ApprovalRequest>, which: number) =>
      requests.length === 0 ? undefined : requests[which % requests.length]
    const one = (which: number) => Effect.map(pending, (open) => pick(open, which))
    const resume = (by: number, request: Approval.ApprovalRequest): Effect.Effect<unknown, unknown> => {
      switch (request.awaited?.name as Kind | undefined) {
        case "text":
          return at(by).resume(Chain, "text", "yes", { request })
        case "verdict":
          return at(by).resume(Chain, "verdict", { approved: true }, { request })
        case "options":
          return at(by).resume(Chain, "options", "b", { request })
        case "event":
          return at(by).resume(Chain, "event", 7, { request })
        case "timer":
          return at(by).wake
        case undefined:
          return at(by).decide(Approval.approve(request))
      }
    }

    callAll(story.first, story.gated)
    yield* run(send(0, "Go"))
    for (const event of story.events) {
      switch (event._tag) {
        case "Decide": {
          const request = yield* one(event.which)
          if (request !== undefined && request.interaction !== "timer") yield* run(at(event.by).decide(right(request)))
          break
        }
        case "DecideAll": {
          const open = (yield* pending).filter(({ interaction }) => interaction !== "timer")
          if (open.length > 0) yield* run(at(event.by).decide(open.map(right)))
          break
        }
        case "Resume": {
          const request = yield* one(event.which)
          if (request !== undefined) yield* run(resume(event.by, request))
          break
        }
        case "Wrong": {
          const request = yield* one(event.which)
          if (request?.awaited === undefined) break
          const before = yield* Effect.orDie(at(0).history)
          const refused = yield* Effect.flip(at(event.by).decide(Approval.answer(request, { wrong: true })))
          assert.strictEqual(
            refused instanceof ApprovalError.ApprovalError && refused.reason._tag,
            "InvalidAnswer",
            said
          )
          assert.deepStrictEqual(yield* Effect.orDie(at(0).history), before, said)
          assert.isTrue((yield* pending).some(({ approvalId }) => approvalId === request.approvalId), said)
          break
        }
        case "Deny": {
          const request = yield* one(event.which)
          if (request !== undefined) yield* run(at(event.by).decide(Approval.deny(request, "no")))
          break
        }
        case "Info": {
          const request = yield* one(event.which)
          if (request === undefined) break
          const decision = new Approval.Info({ note: "who asks?" })
          yield* run(at(event.by).decide(new Approval.ApprovalAnswer({ approvalId: request.approvalId, decision })))
          assert.include((yield* pending).map(({ reason }) => reason), "who asks?", said)
          break
        }
        case "Again": {
          // Whatever was asked at any time, answered as if it were open.
          yield* pending
          const request = pick([...seen.values()], event.which)
          if (request !== undefined) yield* run(resume(event.by, request))
          break
        }
        case "Say":
          yield* run(send(event.by, event.text))
          break
        case "Calls":
          callAll(event.kinds, event.gated)
          yield* run(send(event.by, "More"))
          batch = undefined
          break
        case "Cancel":
          yield* run(at(event.by).cancel("stop"))
          assert.deepStrictEqual(yield* pending, [], said)
          break
        case "Clear": {
          const { kind } = event
          const isNamed = ({ interaction }: Approval.ApprovalRequest) => kind === "all" || interaction === kind
          // What a reader left behind may go on meanwhile; what was still open may not.
          const open = (yield* pending).filter(isNamed).map(({ params }) => (params as { readonly id: string }).id)
          const stepsOf = () => steps.filter((step) => open.some((id) => step.startsWith(`${id} `)))
          const before = stepsOf()
          yield* run(at(event.by).clear(kind === "all" ? {} : { kind }))
          assert.deepStrictEqual((yield* pending).filter(isNamed), [], said)
          assert.deepStrictEqual(stepsOf(), before, `a tool went on with what was taken back: ${said}`)
          break
        }
        case "Wake":
          yield* run(at(event.by).wake)
          break
        case "Wait":
          yield* TestClock.adjust(`${event.hours} hours`)
          yield* run(at(0).wake)
          break
        case "Leave": {
          const request = yield* one(event.which)
          const turn = request === undefined ? send(event.by, "Hello") : resume(event.by, request)
          const fiber = yield* Effect.forkChild(Effect.exit(turn), { startImmediately: true })
          for (let i = 0; i < event.which; i++) yield* Effect.yieldNow
          yield* Fiber.interrupt(fiber)
          break
        }
        case "AtOnce": {
          const request = yield* one(event.which)
          const turn = (by: number): Effect.Effect<unknown, unknown> => {
            if (event.how === "say") return send(by, "Something else")
            if (event.how === "cancel" && by === 1) return at(by).cancel("stop")
            if (event.how === "clear" && by === 1) return at(by).clear()
            if (event.how === "wake" || request === undefined) return at(by).wake
            return event.how === "decide" && request.interaction !== "timer"
              ? at(by).decide(right(request))
              : resume(by, request)
          }
          yield* run(turn(0), turn(1))
          break
        }
        case "Restart":
          yield* Scope.close(processes[event.by]!.scope, Exit.void)
          processes[event.by] = yield* start
          break
      }
    }
    // Whatever is left is answered, delivered or waited for; then everything has come to its end.
    for (let i = 0; i < 16; i++) {
      yield* TestClock.adjust("2 hours")
      yield* run(at(i % 2).wake)
      const open = (yield* pending).filter(({ interaction }) => interaction !== "timer")
      if (open.length > 0) yield* run(at(i % 2).decide(open.map(right)))
      if ((yield* pending).length > 0) continue
      // What came of the answers may wait again.
      yield* run(send(0, "The end"))
      if ((yield* pending).length === 0) break
    }
    const history = yield* Effect.orDie(at(1).history)
    const { suspensions } = yield* Effect.orDie(SuspensionStore.make({ store }).list())
    const open = yield* pending
    yield* Effect.forEach(processes, ({ scope }) => Scope.close(scope, Exit.void))
    const { events, isMissed, isMore } = yield* store.events.page({}, { after: first, limit: 1_000 })
    assert.isFalse(isMore)
    return { history, open, steps, suspensions, told: misplaced(events, isMissed) }
  })

/** What does not follow on what was told before, and what was opened and has not ended. Some of it may be given up. */
const misplaced = (events: ReadonlyArray<Store.EventRow>, isMissed: boolean): ReadonlyArray<string> => {
  const open = new Set<string>()
  const wrong = events.flatMap(({ event, nonce }) => {
    const isOpen = open.has(nonce)
    if (event === "opened") open.add(nonce)
    else open.delete(nonce)
    return isOpen === (event === "opened") && !(isMissed && event !== "opened") ? [`${nonce} ${event}`] : []
  })
  return [...wrong, ...open]
}

describe("over random interleavings of two processes", () => {
  it.effect.prop(
    "no state is lost, nothing is gone on from twice, and each call has one result",
    { story: Story },
    ({ story }) =>
      Effect.gen(function*() {
        const { history, open, steps, suspensions, told } = yield* tell(story)
        const said = JSON.stringify(story)
        assert.deepStrictEqual([...new Set(steps)], steps, `a step was taken twice: ${said}`)
        assert.deepStrictEqual(open, [], `something is still open: ${said}`)
        assert.deepStrictEqual(suspensions, [], `something is still kept: ${said}`)
        assert.deepStrictEqual(told, [], `what was told is not what happened: ${said}`)
        assert.deepStrictEqual(unanswered(history), [], `a call has no result: ${said}`)
        assert.strictEqual(countOf(history, "tool-result"), countOf(history, "tool-call"), said)
        // A chain that ended well went all its way.
        for (const part of W.partsOf(history)) {
          if (part.type !== "tool-result" || part.isFailure) continue
          const [id, count] = String(part.result).split(" after ")
          assert.strictEqual(steps.filter((step) => step.startsWith(`${id} `)).length, Number(count) + 1, said)
        }
      }).pipe(Effect.scoped),
    { timeout: 240_000, arbitrary: { runs: 60, seed: "conversation two" } }
  )
})
