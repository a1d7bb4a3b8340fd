/**
 * Random interleavings of what programs do with turns that are started, named, answered with a text, followed and left, in
 * two processes: nothing runs unasked or twice, no named message is said twice, none that was taken is lost, and all who read
 * a turn read the same.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Schema, Scope, Stream } from "effect"
import { AiError, Approval, ApprovalError, type Conversation, ConversationStore } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { unanswered } from "../waiting/chain.ts"
import * as W from "../waiting/support.ts"
import * as F from "./following.ts"
import * as C from "./support.ts"

const by = Schema.Literals([0, 1])
const Kind = Schema.Literals(["read", "remove", "remove", "ask", "fail"])
const Way = {
  by,
  other: by,
  way: Schema.Literals(["send", "stream", "start"]),
  name: Schema.Literals([0, 1, 2, 3]),
  answers: Schema.Literals(["none", "approve", "approve", "deny", "stop", "old", "foreign"]),
  isSilent: Schema.Boolean,
  calls: Schema.Array(Kind).check(Schema.isMaxLength(3)),
  yields: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 60 }))
}
const Taken = Schema.TaggedStruct("Taken", Way)

const Event = Schema.Union([
  Taken,
  Schema.TaggedStruct("Left", Way),
  Schema.TaggedStruct("Both", Way),
  Schema.TaggedStruct("Cancelled", Way),
  Schema.TaggedStruct("Followed", Way),
  Schema.TaggedStruct("Restarted", Way)
])

const Story = Schema.Array(Event).check(Schema.isMinLength(2), Schema.isMaxLength(8))

const away = AiError.make({
  module: "test",
  method: "test",
  reason: new AiError.UnknownError({ description: "The model is away." })
})

/** What a turn may fail with, because of what happens to it. Everything else is a fault. */
const isExpected = (error: unknown, isClosing: boolean): boolean =>
  error === away || (isClosing && String(error).includes("It is being closed. Nothing ran")) ||
  (error instanceof ApprovalError.ApprovalError
    ? ["UnknownApproval", "AlreadyDecided"].includes(error.reason._tag)
    : error instanceof ConversationStore.ConversationError && error.reason === "Cancelled")

type Turn = Conversation.Turn<C.Tools>

const all = ({ parts }: Turn) => F.collect(Stream.catchCause(parts, () => Stream.empty))

const tell = (story: typeof Story.Type) =>
  Effect.gen(function*() {
    const said = JSON.stringify(story)
    const shared = yield* C.makeShared
    let script: ReadonlyArray<ScriptedModel.TurnPart> | AiError.AiError | undefined
    let count = 0
    const callAll = (kinds: ReadonlyArray<typeof Kind.Type>) => {
      const parts = kinds.slice(0, 3).map((kind) => {
        const path = `f${++count}`
        return kind === "read" ? C.read(path) : kind === "ask" ? C.ask(path) : C.remove(path)
      })
      script = kinds.includes("fail") ? away : parts.length === 0 ? undefined : [ScriptedModel.text("So."), ...parts]
    }
    const afterLastTurn = () => {
      const turn = script ?? "Done."
      script = undefined
      return turn
    }
    const started: Array<C.Started> = []
    const begin = Effect.gen(function*() {
      const scope = yield* Scope.make()
      const own = yield* Scope.provide(
        C.start({ turns: [], afterLastTurn, shared, before: () => Effect.yieldNow }),
        scope
      )
      started.push(own)
      return { ...own, scope }
    })
    const processes = [yield* begin, yield* begin]
    const at = (by: number) => processes[by]!.conversation
    const elsewhere = yield* C.start({ turns: [[C.remove("foreign")]], id: "c2", shared })
    const [foreign] = C.requestsOf(yield* Effect.orDie(elsewhere.conversation.send("Go.")))

    const seen = new Map<string, Approval.ApprovalRequest>()
    const approved = new Set<unknown>()
    const accepted = new Set<string>()
    const turns: Array<{ readonly turn: Turn; early: ReadonlyArray<F.Part> | undefined }> = []
    const pending = Effect.tap(Effect.orDie(at(0).pending()), (open) => {
      for (const request of open) seen.set(request.approvalId, request)
      return Effect.void
    })
    const answersOf = Effect.fnUntraced(function*(how: typeof Way.answers.Type) {
      const open = yield* pending
      const requests = how === "old" ? Array.from(seen.values()) : how === "foreign" ? [foreign!] : open
      return how === "none" ? undefined : requests.map((request) => {
        if (how === "deny") return Approval.deny(request, "no")
        if (how === "stop") return Approval.deny(request, "no", { stop: true })
        if (request.interaction === "approval") approved.add((request.params as { readonly path: string }).path)
        return request.interaction === "askUser"
          ? Approval.answer(request, `It is ${request.toolCallId}.`)
          : Approval.approve(request)
      })
    })

    const take = (
      { by, isSilent, name, way }: Pick<typeof Taken.Type, "by" | "isSilent" | "name" | "way">,
      answers: ReadonlyArray<Approval.ApprovalAnswer> | undefined
    ): Effect.Effect<unknown, unknown> =>
      Effect.suspend(() => {
        const messageId = isSilent ? undefined : `named ${name}`
        const prompt = isSilent ? [] : `Text of ${name}.`
        const options = { messageId, answers }
        const taken = way === "send"
          ? at(by).send(prompt, options)
          : way === "stream"
          ? Stream.runDrain(at(by).stream(prompt, options))
          : Effect.flatMap(at(by).start(prompt, options), (turn) => {
            const taken: (typeof turns)[number] = { turn, early: undefined }
            turns.push(taken)
            const early = Effect.tap(all(turn), (parts) => Effect.sync(() => (taken.early = parts)))
            return Effect.andThen(early, turn.outcome)
          })
        return Effect.tap(taken, () => Effect.sync(() => messageId !== undefined && accepted.add(messageId)))
      })

    const fork = (effect: Effect.Effect<unknown, unknown>) =>
      Effect.forkChild(Effect.exit(effect), { startImmediately: true })
    const settle = (fiber: Fiber.Fiber<Exit.Exit<unknown, unknown>>, isClosing = false) =>
      Effect.gen(function*() {
        assert.isTrue(yield* W.advance(fiber, "1 second"), `it does not end: ${said}`)
        // One that was left is interrupted itself.
        const done = yield* Fiber.await(fiber)
        const exit = Exit.isSuccess(done) ? done.value : done
        if (
          Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause) &&
          !isExpected(Cause.squash(exit.cause), isClosing)
        ) {
          assert.fail(`it failed: ${Cause.pretty(exit.cause)} in ${said}`)
        }
      })
    const soon = (yields: number) => Effect.repeat(Effect.yieldNow, { times: yields })

    let before: ReadonlyArray<string> = []
    const look = Effect.gen(function*() {
      const { isTurnTaken, messages } = yield* Effect.orDie(at(0).read)
      const ids = messages.map(({ id }) => id)
      assert.isFalse(isTurnTaken, `a turn is still taken: ${said}`)
      assert.deepStrictEqual(ids.slice(0, before.length), before, `a message has another id: ${said}`)
      assert.strictEqual(new Set(ids).size, ids.length, `two messages have one id: ${said}`)
      before = ids
    })

    for (const event of story) {
      callAll(event.calls)
      const answers = yield* answersOf(event.answers)
      const first = yield* fork(take(event, answers))
      switch (event._tag) {
        case "Taken":
          break
        case "Left":
          yield* soon(event.yields)
          yield* Fiber.interrupt(first)
          break
        case "Both":
          yield* soon(event.yields)
          yield* settle(yield* fork(take({ ...event, by: event.other }, answers)))
          break
        case "Cancelled":
          yield* soon(event.yields)
          yield* settle(yield* fork(at(event.other).cancel("stop")))
          break
        case "Followed": {
          yield* soon(event.yields)
          const turn = yield* Effect.orDie(at(event.other).turn)
          if (turn === undefined) break
          yield* settle(yield* fork(Stream.runDrain(Stream.take(turn.parts, event.yields % 4))))
          yield* settle(yield* fork(Effect.andThen(turn.outcome, Stream.runDrain(turn.parts))))
          break
        }
        case "Restarted":
          yield* soon(event.yields)
          yield* Scope.close(processes[event.by]!.scope, Exit.void)
          processes[event.by] = yield* begin
          break
      }
      yield* settle(first, event._tag === "Restarted")
      // What nobody waits for any more ends by itself.
      for (const by of [0, 1]) {
        const turn = yield* Effect.orDie(at(by).turn)
        if (turn !== undefined) yield* settle(yield* fork(turn.outcome))
      }
      yield* pending
      yield* look
      script = undefined
    }
    for (const { early, turn } of turns) {
      yield* settle(yield* fork(turn.outcome), true)
      const late = yield* all(turn)
      if (early !== undefined) assert.deepStrictEqual(F.gist(early), F.gist(late), said)
    }
    // A text would answer what waits for one.
    yield* settle(yield* fork(at(0).cancel()))
    yield* settle(yield* fork(at(0).send("The end.")))
    const { messages } = yield* Effect.orDie(at(1).read)
    const ids = messages.map(({ id }) => id)
    for (const id of accepted) assert.include(ids, id, `what was said is lost: ${said}`)
    const history = yield* Effect.orDie(at(1).history)
    assert.deepStrictEqual(unanswered(history), [], `a call has no result: ${said}`)
    const run = started.flatMap(({ steps }) => steps.map(([name, given]) => `${name} ${String(given)}`))
    assert.deepStrictEqual([...new Set(run)], run, `something ran twice: ${said}`)
    for (const { steps } of started) {
      for (const [name, path] of steps) {
        if (name === "DeleteFile") assert.isTrue(approved.has(path), `${String(path)} ran unasked: ${said}`)
      }
    }
    assert.lengthOf(yield* elsewhere.conversation.pending(), 1, said)
    for (const { script } of started) {
      for (const prompt of yield* C.prompts(script)) {
        const texts = prompt.content.flatMap(({ content, role }) =>
          role === "user" ? content.flatMap((part) => part.type === "text" ? [part.text] : []) : []
        ).filter((text) => text.startsWith("Text of"))
        assert.deepStrictEqual([...new Set(texts)], texts, `said twice: ${said}`)
      }
    }
  })

describe("over random interleavings of turns that are started, named, followed and left", () => {
  it.effect.prop(
    "nothing runs unasked or twice, nothing is said twice or lost, and all readers read the same",
    { story: Story },
    ({ story }) => Effect.scoped(tell(story)),
    { timeout: 60_000, arbitrary: { runs: 40, seed: "attack one" } }
  )
})
