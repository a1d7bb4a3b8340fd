/** Whoever asks for a conversation by its name, as a server does at each request, reads no more of it than they have to. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, ConversationStore } from "../../src/index.ts"
import { intercept, type Operation } from "../store/intercept.ts"
import * as C from "./support.ts"

describe("a conversation that this process has written", () => {
  it.effect("L17 is decided by its name without a message that is read again, and without a list of what waits", () =>
    Effect.gen(function*() {
      const operations: Array<Operation> = []
      const shared = intercept(yield* C.makeShared, (operation, _, run) => {
        operations.push(operation)
        return run
      })
      const { again, conversation, steps } = yield* C.start({ shared, turns: [[C.remove("a")], "Done."] })
      const [request] = C.requestsOf(yield* conversation.send("Go."))
      operations.length = 0
      const same = yield* again
      assert.strictEqual(C.finished(yield* same.decide(Approval.approve(request!))), "Done.")
      assert.lengthOf(steps, 1)
      assert.deepStrictEqual(operations, [
        // Whether it is as it was: for who answers, for a Stop, and for the turn; and whether the request was answered since.
        "conversations.get",
        "conversations.get",
        "conversations.get",
        "requests.get",
        // The turn begins with the answer.
        "conversations.write",
        "requests.close",
        // What became of the request, its claim, and what its run gave.
        "requests.get",
        "requests.decide",
        "requests.decide",
        // What the model said.
        "conversations.write"
      ])
    }))

  it.effect("is read again when another process has gone on with it, and when it is another of the same name", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const one = yield* C.start({ shared, turns: ["One.", "Three."] })
      const other = yield* C.start({ shared, turns: ["Two.", "Anew."] })
      yield* one.conversation.send("First?")
      yield* other.conversation.send("Second?")
      yield* (yield* one.again).send("Third?")
      const lengthIn = ({ again }: C.Started) =>
        Effect.map(Effect.flatMap(again, ({ history }) => history), ({ content }) => content.length)
      assert.strictEqual(yield* lengthIn(other), 6)
      yield* shared.conversations.remove((yield* ConversationStore.keyOf("c1", {})).id)
      assert.strictEqual(yield* lengthIn(other), 0)
      yield* (yield* other.again).send("Fourth?")
      assert.strictEqual(yield* lengthIn(one), 2)
    }))
})
