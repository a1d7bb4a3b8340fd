/** What a turn writes and reads: what is new, however long the conversation is. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ConversationStore, OpenRequests, Prompt, Store } from "../../src/index.ts"
import { intercept } from "../store/intercept.ts"
import * as C from "./support.ts"

/** A store that notes its operations, and how much each write of a conversation hands over. */
const noting = Effect.gen(function*() {
  const memory = yield* C.makeShared
  const operations: Array<string> = []
  const writes: Array<{ readonly keep: number; readonly append: number; readonly bytes: number }> = []
  const store = intercept(memory, (operation, _, run) => Effect.suspend(() => (operations.push(operation), run)))
  const { conversations } = store
  return {
    operations,
    writes,
    store: Store.make({
      ...store,
      conversations: {
        ...conversations,
        write: (id, version, write) => {
          const { append, keep, state } = write
          writes.push({ keep, append: append.length, bytes: append.join("").length + state.length })
          return conversations.write(id, version, write)
        }
      }
    })
  }
})

const text = (n: number) => `Number ${String(n).padStart(6, "0")}.`

describe("a turn", () => {
  it.effect("costs the same operations and bytes, the first as the two hundredth", () =>
    Effect.gen(function*() {
      // When a turn began is written with it, and no two begin at once: a time of as many digits as those of today.
      yield* TestClock.setTime(1_700_000_000_000)
      const { operations, store, writes } = yield* noting
      const { conversation } = yield* C.start({ turns: [], afterLastTurn: "Yes.", strict: false, shared: store })
      yield* conversation.send(text(0))
      const costs: Array<unknown> = []
      for (let n = 1; n <= 200; n++) {
        operations.length = 0
        writes.length = 0
        yield* conversation.send(text(n))
        costs.push({
          operations: [...operations],
          append: writes.map(({ append }) => append),
          bytes: writes.reduce((total, { bytes }) => total + bytes, 0)
        })
        assert.deepStrictEqual(writes.map(({ keep }) => keep), [2 * n, 2 * n + 1])
      }
      const [first] = costs
      assert.deepStrictEqual(first, {
        // How often it was stopped, what it is, and that it is taken.
        operations: ["conversations.get", "conversations.get", "conversations.write", "conversations.write"],
        append: [1, 1],
        bytes: (first as { readonly bytes: number }).bytes
      })
      for (const cost of costs) assert.deepStrictEqual(cost, first)
    }))

  it.effect("that goes on writes what is said before it runs, what ran before it goes on, and each once", () =>
    Effect.gen(function*() {
      const { operations, store, writes } = yield* noting
      const { conversation } = yield* C.start({ turns: [[C.read("a")], [C.read("b")], "Done."], shared: store })
      yield* conversation.send("Go.")
      assert.deepStrictEqual(
        operations.filter((operation) => operation.startsWith("conversations.")),
        ["get", "read", ...writes.map(() => "write")].map((operation) => `conversations.${operation}`)
      )
      assert.deepStrictEqual(writes.map(({ append }) => append), [1, 1, 1, 1, 1, 1])
    }))

  it.effect("that asks opens what it asks with the words that ask, and keeps them once", () =>
    Effect.gen(function*() {
      const { operations, store } = yield* noting
      const { conversation } = yield* C.start({ turns: [[C.remove("a"), C.remove("b")], "Done."], shared: store })
      const key = yield* ConversationStore.keyOf("c1", {})
      const [request, other] = C.requestsOf(yield* conversation.send("Go."))
      assert.deepStrictEqual(operations.slice(-2), ["conversations.write", "requests.open"])
      const isKeptOnce = Effect.gen(function*() {
        const state = (yield* store.conversations.get(key.id))?.state ?? ""
        assert.include(state, other!.approvalId)
        assert.notInclude(state, "DeleteFile", "the history has it")
      })
      yield* isKeptOnce
      yield* conversation.decide(Approval.approve(request!))
      yield* isKeptOnce
      operations.length = 0
      yield* conversation.decide(Approval.approve(other!))
      assert.deepStrictEqual(operations.filter((operation) => /^requests\.(open|close)$/.test(operation)), [
        "requests.close"
      ])
    }))

  it.effect("that is refused, or has nothing to do, writes nothing", () =>
    Effect.gen(function*() {
      const { operations, store } = yield* noting
      const { conversation } = yield* C.start({ turns: [[C.menu("timer")]], shared: store })
      yield* conversation.send("Go.")
      operations.length = 0
      yield* Effect.flip(conversation.decide(Approval.approve({ approvalId: "unknown" })))
      yield* Effect.flip(conversation.send(""))
      yield* conversation.wake
      yield* conversation.clear({ tool: "Other" })
      assert.deepStrictEqual(operations.filter((operation) => !C.isReading(operation as never)), [])
    }))
})

describe("a conversation that is read again", () => {
  it.effect("is what it was, message by message, in two processes that take turns", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const options = { turns: [], afterLastTurn: "Yes.", shared } as const
      const processes = [yield* C.start(options), yield* C.start(options)]
      for (let n = 0; n < 20; n++) {
        yield* processes[n % 2]!.conversation.send(text(n))
        const [one, other] = yield* Effect.forEach(processes, ({ conversation }) => conversation.history)
        assert.deepStrictEqual(one, other)
      }
      const { content } = yield* (yield* C.start(options)).conversation.history
      assert.deepStrictEqual(content, (yield* processes[0]!.conversation.history).content)
      assert.deepStrictEqual(
        content.flatMap((message) =>
          message.role === "user" ? message.content.map((part) => part.type === "text" ? part.text : "") : []
        ),
        Array.from({ length: 20 }, (_, n) => text(n))
      )
    }))

  it.effect("has the same requests, wherever the history asks them", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const first = yield* C.start({ turns: [[C.remove("a"), C.ask("Size?"), C.menu("external")]], shared })
      const requests = C.requestsOf(yield* first.conversation.send("Go."))
      yield* first.conversation.decide(
        new Approval.ApprovalAnswer({
          approvalId: requests[0]!.approvalId,
          decision: new Approval.Info({ note: "who asks?" })
        })
      )
      const other = yield* C.start({ turns: [], shared })
      const again = yield* other.conversation.pending()
      assert.deepStrictEqual(again, yield* first.conversation.pending())
      assert.deepStrictEqual(again.map(({ approvalId }) => approvalId), requests.map(({ approvalId }) => approvalId))
      assert.deepStrictEqual(again.slice(1), requests.slice(1))
      assert.strictEqual(again[0]?.reason, "who asks?")
    }))

  it.effect("has lost what was taken out of its middle, and its requests still have their words", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const key = yield* ConversationStore.keyOf("c1", {})
      const { conversation } = yield* C.start({ turns: [[C.remove("a")]], shared })
      const [request] = C.requestsOf(yield* conversation.send("Go."))
      const store = yield* ConversationStore.make({ store: shared })
      const said = Prompt.make("Before.").content
      const write = (found: ConversationStore.Found | undefined, history: ReadonlyArray<Prompt.Message>) =>
        Effect.map(
          store.write(key, found, { ...found!.kept, history: Prompt.fromMessages(history) }),
          (written) => written!
        )
      const found = yield* store.read(key)
      const asked = found!.kept.history.content
      // The request stands where it did, further on, and not at all.
      for (const history of [[...asked, ...said], [...said, ...asked], [...said, ...asked.slice(0, 1)], said]) {
        const written = yield* write(yield* store.read(key), history)
        const again = yield* store.read(key)
        assert.deepStrictEqual(again?.kept, written.kept)
        assert.deepStrictEqual(again?.kept.open, [request])
        assert.strictEqual(again?.version, written.version)
      }
    }))

  it.effect("is named beside what it asks, also where a request does not say whose it is", () =>
    Effect.gen(function*() {
      const store = yield* ConversationStore.make({ store: yield* C.makeShared })
      const request = new Approval.ApprovalRequest({
        approvalId: "mcpr_1",
        toolCallId: "mcp_1",
        toolName: "Mcp",
        params: {},
        description: "Mcp()",
        interaction: "approval",
        providerExecuted: true
      })
      const kept = { history: Prompt.make("Go."), open: [request], answered: [], deciders: {} }
      yield* store.write(yield* ConversationStore.keyOf("c1", { principal: "ada" }), undefined, kept)
      const { requests } = yield* Effect.provideService(
        OpenRequests.page(),
        ConversationStore.ConversationStore,
        store
      )
      assert.deepStrictEqual(requests.map(({ request }) => request), [
        new Approval.ApprovalRequest({ ...request, conversation: "c1", principal: "ada" })
      ])
    }))

  it.effect("is not written over from what is not there any more", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const key = yield* ConversationStore.keyOf("c1", {})
      const store = yield* ConversationStore.make({ store: shared })
      const kept = { history: Prompt.make("One."), open: [], answered: [], deciders: {} }
      const one = yield* store.write(key, undefined, kept)
      assert.isUndefined(yield* store.write(key, undefined, kept))
      const two = yield* store.write(key, one, kept)
      assert.isUndefined(yield* store.write(key, one, kept))
      yield* store.remove(key)
      assert.isUndefined(yield* store.read(key, two))
      yield* store.write(key, undefined, kept)
      for (const gone of [one, two]) assert.isUndefined(yield* store.write(key, gone, kept))
    }))
})
