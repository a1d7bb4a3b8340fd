/** One reading of a conversation: messages with ids that never change, what is open, and whether a turn is taken. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalPolicy, type Conversation, type Prompt } from "../../src/index.ts"
import * as MessageId from "../../src/internal/conversation/naming.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { intercept } from "../store/intercept.ts"
import * as C from "./support.ts"

const idsOf = ({ messages }: Conversation.Reading) => messages.map(({ id, message }) => `${id} ${message.role}`)

describe("read", () => {
  it.effect("of what nobody has begun has nothing, and writes nothing", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation } = yield* C.start({ turns: [], shared, instructions: "Be kind." })
      assert.deepStrictEqual(yield* conversation.read, { messages: [], pending: [], isTurnTaken: false })
      const other = yield* C.start({ turns: [], shared })
      assert.deepStrictEqual((yield* other.conversation.history).content, [])
    }))

  it.effect("has the history with ids, and what is open in it", () =>
    Effect.gen(function*() {
      const { conversation } = yield* C.start({ turns: [[C.read("a"), C.remove("a")]], instructions: "Be kind." })
      yield* conversation.send("Clean up.", { messageId: "first" })
      const reading = yield* conversation.read
      assert.deepStrictEqual(idsOf(reading), ["m0 system", "first user", "m2 assistant", "m3 tool"])
      assert.deepStrictEqual(reading.messages.map(({ message }) => message), (yield* conversation.history).content)
      assert.deepStrictEqual(reading.pending, yield* conversation.pending())
      assert.isFalse(reading.isTurnTaken)
    }))

  it.effect("says that a turn is taken, wherever it is looked at, with the ids that its messages keep", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const begun = yield* Deferred.make<void>()
      const held = yield* Deferred.make<void>()
      const { again, conversation } = yield* C.start({
        shared,
        turns: [[ScriptedModel.text("Let me see."), C.read("a")], [C.remove("a")], "Done."],
        before: (step) =>
          step === "ReadFile" ? Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(held)) : Effect.void
      })
      const other = yield* C.start({ shared, turns: [] })
      const turn = yield* Effect.forkChild(Stream.runDrain(conversation.stream("Go.")), { startImmediately: true })
      yield* Deferred.await(begun)
      const readings = [yield* conversation.read, yield* (yield* again).read, yield* other.conversation.read]
      for (const reading of readings) {
        assert.deepStrictEqual(idsOf(reading), ["m0 user", "m1 assistant"])
        assert.isTrue(reading.isTurnTaken)
        assert.include(JSON.stringify(reading.messages[1]), "Let me see.")
      }
      yield* Deferred.succeed(held, undefined)
      yield* Fiber.join(turn)
      const after = yield* other.conversation.read
      assert.deepStrictEqual(idsOf(after), ["m0 user", "m1 assistant", "m2 tool", "m3 assistant"])
      assert.isFalse(after.isTurnTaken)
      assert.lengthOf(after.pending, 1)
    }))

  it.effect("says of a turn whose process died that it is taken until that is known", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const begun = yield* Deferred.make<void>()
      const first = yield* C.start({
        shared,
        turns: [[C.read("a")]],
        before: () => Effect.andThen(Deferred.succeed(begun, undefined), Effect.never)
      })
      const turn = yield* Effect.forkChild(first.conversation.send("Go."), { startImmediately: true })
      yield* Deferred.await(begun)
      // It beats no more, for whoever looks from outside.
      const owners = { ...shared.owners, beat: () => Effect.void }
      const other = yield* C.start({
        shared: { ...shared, owners: { ...owners, get: () => Effect.undefined } },
        turns: []
      })
      for (let beats = 0; beats < 6; beats++) {
        assert.isTrue((yield* other.conversation.read).isTurnTaken, `after ${beats} beats`)
        yield* TestClock.adjust("1 second")
      }
      assert.isFalse((yield* other.conversation.read).isTurnTaken)
      yield* Fiber.interrupt(turn)
    }))
})

describe("the ids of messages", () => {
  const ada = { id: "ada" }
  const both = ApprovalPolicy.make(() => Effect.succeed(Approval.needsApproval({ approvers: [["ada"], ["bob"]] })))

  it.effect("stay where an answer that others have to join is taken out of the history, beside one that counts", () =>
    Effect.gen(function*() {
      const shared = watching(yield* C.makeShared)
      const { conversation } = yield* C.start({ shared, turns: [[C.remove("a"), C.ask("Size?")], "Done.", "Bye."] })
      const [remove, ask] = C.requestsOf(yield* conversation.send("Go."))
      yield* conversation.decide([Approval.approve(remove!)], { by: ada })
      yield* conversation.decide([Approval.approve(remove!), Approval.answer(ask!, "42")], { by: ada })
      yield* conversation.decide(Approval.approve(remove!), { by: { id: "bob" } })
      yield* conversation.send("Thanks.")
      assert.deepStrictEqual(yield* conversation.pending(), [])
    }).pipe(Effect.provideService(ApprovalPolicy.ApprovalPolicy, both)))

  const Event = Schema.Union([
    Schema.TaggedStruct("Say", { named: Schema.Boolean }),
    Schema.TaggedStruct("Again", {}),
    Schema.TaggedStruct("Answer", { yes: Schema.Boolean, all: Schema.Boolean, by: Schema.Literals(["ada", "bob"]) }),
    Schema.TaggedStruct("Leave", { parts: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 6 })) }),
    Schema.TaggedStruct("Clear", {}),
    Schema.TaggedStruct("Restart", {})
  ])
  const Story = Schema.Struct({
    two: Schema.Boolean,
    events: Schema.Array(Event).check(Schema.isMinLength(2), Schema.isMaxLength(8))
  })

  it.effect.prop(
    "are the same in every turn, during and after it, in every process",
    { story: Story },
    ({ story: { events, two } }) =>
      Effect.gen(function*() {
        const shared = watching(yield* C.makeShared)
        let calls = 0
        const turn: ScriptedModel.Turn = () => {
          const id = `c${calls++}`
          return calls % 3 === 0
            ? `Well ${id}.`
            : [ScriptedModel.text(`So ${id}.`), C.read("r", `${id}-r`), C.remove("a", `${id}-a`), C.ask("?", `${id}-q`)]
        }
        const start = C.start({ shared, turns: [], afterLastTurn: turn })
        let started = yield* start
        let count = 0
        for (const event of events) {
          const { conversation } = started
          const pending = yield* conversation.pending()
          switch (event._tag) {
            case "Say":
              yield* conversation.send(`Text ${++count}.`, event.named ? { messageId: `id ${count}` } : {})
              break
            case "Again":
              yield* conversation.send(`Text ${count}.`, { messageId: `id ${count}` }).pipe(Effect.exit)
              break
            case "Answer": {
              const answered = (event.all ? pending : pending.slice(0, 1)).map((request) =>
                !event.yes
                  ? Approval.deny(request)
                  : request.interaction === "askUser"
                  ? Approval.answer(request, "42")
                  : Approval.approve(request)
              )
              yield* Effect.exit(conversation.decide(answered, { by: { id: event.by } }))
              break
            }
            case "Leave":
              yield* Stream.runDrain(Stream.take(conversation.stream(`Text ${++count}.`), event.parts))
              break
            case "Clear":
              yield* conversation.clear()
              break
            case "Restart":
              started = yield* start
          }
        }
      }).pipe(two ? Effect.provideService(ApprovalPolicy.ApprovalPolicy, both) : (effect) => effect),
    { timeout: 60_000, arbitrary: { runs: 30, seed: "ids of messages" } }
  )
})

/** A store that shows every version of a conversation that is ever written, and whether each message kept its id in them. */
const watching = (memory: C.Shared) => {
  const seen = new Map<string, string>()
  const look = (id: string) =>
    Effect.gen(function*() {
      const read = yield* memory.conversations.read(id)
      const messages = (read?.messages ?? []).map((body): Prompt.Message => JSON.parse(body))
      const ids = messages.map((message, position) => MessageId.messageIdOf(message, position))
      assert.lengthOf(new Set(ids), ids.length)
      const said = new Map(
        messages.flatMap((message, at) => message.role === "tool" ? [] : [[ids[at]!, saidIn(message)]])
      )
      for (const [id, before] of seen) if (before !== "") assert.include(said.get(id) ?? "nothing", before, id)
      for (const [id, now] of said) seen.set(id, now)
    })
  return intercept(
    memory,
    (operation, id, run) => operation === "conversations.write" ? Effect.tap(run, () => look(id)) : run
  )
}

/** What no two messages here have in common; of one that comes to be, what it has so far. */
const saidIn = (message: Prompt.Message): string => {
  const parts: ReadonlyArray<Prompt.Part> = typeof message.content === "string" ? [] : message.content
  return message.role + parts.map((part) => part.type === "text" ? part.text : "").join("")
}
