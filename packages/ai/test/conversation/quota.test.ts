/** What a conversation may hold, how long it is kept, and what becomes of one that finds no room (law L17). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, Conversation, ConversationStore, LanguageModel, Store, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as C from "./support.ts"

const long = "x".repeat(2_000)

const reasonOf = <A>(effect: Effect.Effect<A, unknown>) =>
  Effect.map(
    Effect.flip(effect),
    (error) => error instanceof ConversationStore.ConversationError ? error.reason : String(error)
  )

describe("a conversation that has as much as it may have", () => {
  const maxBytes = 8_000

  /** One that waits for two answers, and then is full. */
  const full = Effect.gen(function*() {
    const shared = yield* C.makeShared
    const turns = [[C.remove("a"), C.remove("b"), C.ask("Size?")]]
    const first = yield* C.start({ turns, shared, strict: false })
    const requests = C.requestsOf(yield* first.conversation.send(`${long}${long}${long}`))
    // The same conversation where less is allowed.
    const other = yield* C.start({ turns: [], afterLastTurn: "Never.", shared, maxBytes: maxBytes / 2 })
    return { ...other, shared, requests }
  })

  for (const way of ["send", "stream"] as const) {
    it.effect(`takes no turn, and changes nothing (${way})`, () =>
      Effect.gen(function*() {
        const { conversation, requests, script, shared } = yield* full
        const before = yield* conversation.history
        const turn = (prompt: string) =>
          way === "send" ? conversation.send(prompt) : Stream.runDrain(conversation.stream(prompt))
        assert.strictEqual(yield* reasonOf(turn("And?")), "Full")
        assert.strictEqual(yield* reasonOf(conversation.send([])), "Full")
        assert.strictEqual(yield* reasonOf(conversation.decide(Approval.approve(requests[0]!))), "Full")
        assert.strictEqual(yield* script.calls, 0)
        assert.deepStrictEqual(yield* conversation.history, before)
        assert.deepStrictEqual(yield* conversation.pending(), requests)
        assert.deepStrictEqual(
          (yield* C.inbox(shared)).toSorted(),
          requests.map(({ approvalId }) => approvalId).toSorted()
        )
      }))
  }

  it.effect("takes a denial, which is in the journal, and does not call the model", () =>
    Effect.gen(function*() {
      const { conversation, requests: [first, second, ask], script, shared, steps } = yield* full
      // While something waits, the model is not called in any case.
      const waiting = yield* conversation.decide(Approval.deny(first!, "no"))
      assert.deepStrictEqual(C.requestsOf(waiting).map(({ approvalId }) => approvalId), [
        second!.approvalId,
        ask!.approvalId
      ])
      yield* conversation.clear({ kind: "askUser" })
      assert.strictEqual(yield* reasonOf(conversation.decide(Approval.deny(second!, "no"))), "Full")
      assert.deepStrictEqual(yield* conversation.pending(), [])
      assert.deepStrictEqual(yield* C.inbox(shared), [])
      assert.strictEqual(yield* script.calls, 0)
      assert.deepStrictEqual(steps.map(([name]) => name), [])
      // Where there is room again, the model reads of it, and nothing can be approved any more.
      const roomy = yield* C.start({ turns: ["I see."], shared })
      assert.strictEqual(C.finished(yield* roomy.conversation.send([])), "I see.")
      assert.include(JSON.stringify((yield* C.prompts(roomy.script)).at(-1)), "denied")
      assert.deepStrictEqual(roomy.steps, [])
    }))

  it.effect("is cancelled and cleared as any other", () =>
    Effect.gen(function*() {
      const { conversation, requests, shared } = yield* full
      assert.deepStrictEqual(yield* conversation.clear({ tool: "DeleteFile" }), requests.slice(0, 2))
      yield* conversation.cancel()
      assert.deepStrictEqual(yield* conversation.pending(), [])
      assert.deepStrictEqual(yield* C.inbox(shared), [])
    }))

  it.effect("comes to its end in a step, and the model is not called again", () =>
    Effect.gen(function*() {
      const { conversation, script } = yield* C.start({
        turns: [[ScriptedModel.text(long), C.read("a")], "Never."],
        maxBytes: 1_000
      })
      assert.strictEqual(yield* reasonOf(conversation.send("Go.")), "Full")
      assert.strictEqual(yield* script.calls, 1)
      const history = JSON.stringify(yield* conversation.history)
      assert.include(history, long)
      assert.include(history, "text of a")
    }))

  for (const [less, ends] of [[0, "Completed"], [1, "Full"]] as const) {
    it.effect(`goes on where it has just as much: with ${less} less it is ${ends}`, () =>
      Effect.gen(function*() {
        /** How the turn ends, and how many bytes its messages had when the model was to be called again. */
        const play = (maxBytes?: number) =>
          Effect.gen(function*() {
            const shared = yield* C.makeShared
            let bytes = 0
            const noting = intercept(shared, (operation, id, run) =>
              operation !== "conversations.write" || bytes > 0
                ? run
                : Effect.tap(run, () =>
                  Effect.gen(function*() {
                    const row = yield* shared.conversations.get(id)
                    if (row?.messages === 3) bytes = row.bytes - row.state.length
                  })))
            const { conversation } = yield* C.start({
              turns: [[ScriptedModel.text(long), C.read("a")], "Read."],
              shared: noting,
              maxBytes
            })
            const ended = yield* conversation.send("Go.").pipe(
              Effect.map(({ _tag }) => _tag),
              Effect.catchTag("ConversationError", ({ reason }) => Effect.succeed(reason))
            )
            return { bytes, ended }
          })
        const { bytes, ended } = yield* play()
        assert.strictEqual(ended, "Completed")
        assert.deepStrictEqual(yield* play(bytes - less), { bytes, ended: ends })
      }))
  }

  it.effect("is not another one, and counts what others added", () =>
    Effect.gen(function*() {
      const { shared } = yield* full
      const other = yield* C.start({ turns: ["Yes."], shared, id: "c2", maxBytes })
      C.finished(yield* other.conversation.send("Hi."))
      const again = yield* C.start({ turns: ["Yes."], afterLastTurn: "Yes.", shared, id: "c2", strict: false })
      yield* again.conversation.send(`${long}${long}${long}${long}`)
      assert.strictEqual(yield* reasonOf(other.conversation.send("Hi.")), "Full")
    }))
})

describe("a store whose quota is used up", () => {
  const endings: ReadonlyArray<
    readonly [
      string,
      (started: C.Started, requests: ReadonlyArray<Approval.ApprovalRequest>) => Effect.Effect<unknown, unknown>
    ]
  > = [
    [
      "a denial with a long note",
      ({ conversation }, [request]) => conversation.decide(Approval.deny(request!, long.repeat(9)))
    ],
    ["a cancellation with a long reason", ({ conversation }) => conversation.cancel(long.repeat(9))]
  ]
  for (const [name, end] of endings) {
    it.effect(`lets ${name} through, and nothing else`, () =>
      Effect.gen(function*() {
        const memory = yield* C.makeShared
        let isFull = false
        const write: Store.Conversations["write"] = (id, version, written) =>
          isFull && written.begins === true
            ? Effect.fail(new Store.StoreError({ operation: "conversations.write", description: "", reason: "Full" }))
            : memory.conversations.write(id, version, written)
        const shared = Store.make({ ...memory, conversations: { ...memory.conversations, write } })
        const started = yield* C.start({ turns: [[C.remove("a"), C.remove("b")]], afterLastTurn: "Yes.", shared })
        const requests = C.requestsOf(yield* started.conversation.send("Go."))
        isFull = true
        assert.strictEqual(yield* reasonOf(started.conversation.decide(Approval.approve(requests[1]!))), "Full")
        // The model's own words may find no room.
        yield* Effect.exit(end(started, requests))
        const left = (yield* started.conversation.pending()).map(({ approvalId }) => approvalId)
        assert.notInclude(left, requests[0]!.approvalId)
        isFull = false
        yield* Effect.exit(started.conversation.decide(Approval.approve(requests[0]!)))
        yield* started.conversation.send([])
        assert.deepStrictEqual(started.steps, [])
      }))
  }
})

describe("a store that is full", () => {
  // Entered; said and ran; said and ran.
  const writesOf = [
    { at: 1, called: 0, ran: 0 },
    { at: 2, called: 1, ran: 0 },
    { at: 3, called: 1, ran: 1 },
    { at: 4, called: 2, ran: 1 },
    { at: 5, called: 2, ran: 2 }
  ]
  for (const { at, called, ran } of writesOf) {
    it.effect(`says so at write ${at}, nothing more runs, and what was there is still there`, () =>
      Effect.gen(function*() {
        const memory = yield* C.makeShared
        let writes = 0
        let isFull = true
        const shared = intercept(
          memory,
          (operation, _, run) =>
            Effect.suspend(() =>
              isFull && operation === "conversations.write" && ++writes >= at
                ? Effect.fail(failure(operation, "Full"))
                : run
            )
        )
        const turns = [[C.read("a")], [C.read("b")], "Done."]
        const { conversation, script, steps } = yield* C.start({ turns, shared, afterLastTurn: "Done." })
        assert.strictEqual(yield* reasonOf(conversation.send("Go.")), "Full")
        assert.strictEqual(yield* script.calls, called)
        assert.lengthOf(steps, ran)
        isFull = false
        assert.strictEqual(C.finished(yield* conversation.send("Again.")), "Done.")
        const history = JSON.stringify(yield* conversation.history)
        assert.strictEqual(history.includes("Go."), at > 1)
        // Also what could not be written when it was done. What could not be kept before was not done.
        assert.strictEqual(history.includes("text of a"), at !== 2)
      }))
  }
})

describe("a conversation", () => {
  it.effect("is kept for as long as somebody goes on with it", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation } = yield* C.start({ turns: [], afterLastTurn: "Yes.", shared, timeToLive: "1 hour" })
      for (let turn = 1; turn <= 4; turn++) {
        yield* conversation.send("Hi.")
        assert.lengthOf((yield* conversation.history).content, 2 * turn)
        yield* TestClock.adjust("59 minutes")
      }
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual((yield* conversation.history).content, [])
      yield* conversation.send("Hi.")
      assert.lengthOf((yield* conversation.history).content, 2)
    }))

  it.effect("does not end while a turn of it is taken, however long that takes (law L2)", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation } = yield* C.start({
        turns: [[C.read("a")]],
        afterLastTurn: "Yes.",
        shared,
        timeToLive: "1 hour",
        before: () => Effect.sleep("2 hours")
      })
      const turn = yield* Effect.forkChild(conversation.send("Hi."), { startImmediately: true })
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(C.finished(yield* Fiber.join(turn)), "Yes.")
      assert.lengthOf((yield* conversation.history).content, 4)
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual((yield* conversation.history).content, [])
    }))

  it.effect("is removed with what waits in it, in its own scope alone", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const store = yield* ConversationStore.make({ store: shared })
      const start = (tenant: string) =>
        C.start({ turns: [[C.remove("a")]], afterLastTurn: "Hello.", shared, scope: { tenant } })
      const mine = yield* start("t")
      const [request] = C.requestsOf(yield* mine.conversation.send("Go."))
      const other = yield* start("u")
      const [theirs] = C.requestsOf(yield* other.conversation.send("Go."))
      yield* ConversationStore.remove("c1").pipe(
        Effect.provideService(ConversationStore.ConversationStore, store),
        Effect.provideService(Approval.Scope, { tenant: "t" })
      )
      assert.deepStrictEqual((yield* mine.conversation.history).content, [])
      assert.deepStrictEqual(yield* C.inbox(shared), [theirs!.approvalId])
      yield* Effect.flip(mine.conversation.decide(Approval.approve(request!)))
      assert.deepStrictEqual(mine.steps, [])
      assert.strictEqual(C.finished(yield* mine.conversation.send("Hi.")), "Hello.")
    }))

  it.effect("that is removed while another process takes a turn with it is not written again by that turn", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const store = yield* ConversationStore.make({ store: shared })
      let writes = 0
      const counted = intercept(shared, (operation, _, run) => {
        if (operation === "conversations.write") writes++
        return run
      })
      const first = yield* C.start({
        turns: [[C.read("a")], "First."],
        shared: counted,
        before: () => Effect.sleep("1 minute")
      })
      const running = yield* Effect.forkChild(reasonOf(first.conversation.send("One.")), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      const written = writes
      yield* Effect.provideService(ConversationStore.remove("c1"), ConversationStore.ConversationStore, store)
      const other = yield* C.start({ turns: ["Second."], shared })
      yield* other.conversation.send("Two.")
      yield* TestClock.adjust("2 minutes")
      assert.strictEqual(yield* Fiber.join(running), "Conflict")
      // It tries once, and knows then that the conversation is not its any more.
      assert.strictEqual(writes, written + 1)
      assert.lengthOf((yield* other.conversation.history).content, 2)
    }))
})

describe("a model that is not called", () => {
  it.effect("is that of a full conversation, whatever stands around it", () =>
    Effect.gen(function*() {
      const toolkit = Toolkit.make(Tool.make("Gated", { needsApproval: true }))
      const store = yield* Store.makeMemory()
      const { calls, model } = yield* ScriptedModel.make({
        turns: [[ScriptedModel.toolCall({ id: "call-1", name: "Gated", params: {} })]],
        afterLastTurn: "Never."
      })
      const make = (maxBytes: number) =>
        Effect.flatMap(ConversationStore.make({ store, maxBytes }), (conversations) =>
          Conversation.make({ id: "c1", toolkit }).pipe(
            Effect.provide(toolkit.toLayer({
              Gated: () =>
                Effect.void
            })),
            Effect.provideService(
              LanguageModel.LanguageModel,
              LanguageModel.withApproval(model, { expiresIn: "1 hour" })
            ),
            Effect.provideService(ConversationStore.ConversationStore, conversations)
          ))
      const asked = yield* (yield* make(10_000)).send("Go.")
      const conversation = yield* make(10)
      const denial = Approval.deny(C.requestsOf(asked)[0]!, "no")
      assert.strictEqual(yield* reasonOf(conversation.decide(denial)), "Full")
      assert.strictEqual(yield* calls, 1)
    }))
})
