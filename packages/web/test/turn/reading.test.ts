/** What one client reads of a turn, which others read too. */
import { Approval, ApprovalError, Response } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Turn } from "../../src/internal/turn/conversation.ts"
import * as Reading from "../../src/internal/turn/reading.ts"
import * as Taking from "../../src/internal/turn/taking.ts"
import type * as Turns from "../../src/internal/turn/turns.ts"
import type { Post } from "../../src/internal/wire/body.ts"
import { answers, asking, call, finish, request, result, said, user } from "../wire/parts.ts"
import { conversationOf, type Script, turnOf } from "./scripted.ts"

const post = (fields: Partial<Post>): Post => ({
  id: "chat",
  said: undefined,
  unsaid: undefined,
  clicked: [],
  details: new Map(),
  target: undefined,
  messageIds: new Set(),
  isRegenerating: false,
  ...fields
})

const target = (messageId: string, clicked: ReadonlyArray<readonly [approvalId: string, toolCallId: string]>) => ({
  messageId,
  steps: 0,
  toolCallIds: new Set(clicked.map(([, toolCallId]) => toolCallId)),
  clicked: clicked.map(([approvalId, toolCallId]) => ({ approvalId, toolCallId, approved: true, reason: undefined }))
})

/** What a client reads of a turn of a conversation, or of why there is none. */
const collect = (turn: Turn | string | undefined, posted: Post | undefined, script: Script = {}) => {
  const { conversation } = conversationOf(script)
  const taking: Turns.Taking = typeof turn === "string"
    ? Effect.fail(turn)
    : Effect.orDie(Taking.follow(conversation, turn))
  return Stream.runCollect(
    Reading.stream(taking, { conversation, heartbeat: Duration.seconds(15), post: posted })
  )
}

const text = Response.makePart("text", { text: "Hello" })

const asked = [...user("one"), ...said(call("c1", "a"), asking("id-1", "c1"), finish())]

const settled = result("c1", "done", { assent: { approvalId: "id-1" } })

const typesOf = (chunks: ReadonlyArray<{ readonly type: string }>) => chunks.map(({ type }) => type)

const clicked = post({ target: target("m1", [["id-1", "c1"]]) })

describe("reading", () => {
  it.effect("a new message begins with its id, and ends with why the model stopped", () =>
    Effect.gen(function*() {
      const chunks = yield* collect(turnOf("m1", [text, finish("stop")]), post({}), { history: user("one") })
      assert.deepStrictEqual(chunks[0], { type: "start", messageId: "m1" })
      assert.deepStrictEqual(chunks.at(-1), { type: "finish", finishReason: "stop" })
      assert.include(typesOf(chunks), "text-delta")
    }))

  it.effect("a new message never takes the place of one that the client has", () =>
    Effect.gen(function*() {
      const messageIds = new Set(["m1", "m1~2"])
      const [start] = yield* collect(turnOf("m1", [text]), post({ messageIds }), { history: user("one") })
      assert.deepStrictEqual(start, { type: "start", messageId: "m1~3" })
    }))

  it.effect("rule 1: an answer goes on with its message, which keeps its id", () =>
    Effect.gen(function*() {
      const chunks = yield* collect(turnOf("m2", [settled]), clicked, { history: asked })
      assert.deepStrictEqual(chunks[0], { type: "start" })
      assert.deepInclude(chunks, { type: "tool-output-available", toolCallId: "c1", output: "done" })
    }))

  it.effect("rule 3: no output goes to a message that does not have the call", () =>
    Effect.gen(function*() {
      const stale = post({ target: target("m7", []) })
      const chunks = yield* collect(turnOf("m2", [settled, asking("id-1", "c1")]), stale, { history: asked })
      assert.deepStrictEqual(typesOf(chunks), ["start", "data-approval", "finish"])
      assert.deepInclude(chunks[1], { transient: true })
    }))

  it.effect("a call whose id the message of a page has for another one gets its own there", () =>
    Effect.gen(function*() {
      const history = [
        ...asked,
        ...answers(Approval.approve({ approvalId: "id-1" })),
        ...said(settled),
        ...user("two")
      ]
      const parts = [call("c1", "b"), asking("new", "c1"), finish()]
      const chunks = yield* collect(turnOf("m5", parts), clicked, { history })
      assert.deepStrictEqual(
        chunks.flatMap((chunk) => "toolCallId" in chunk ? [[chunk.type, chunk.toolCallId]] : []),
        [["tool-input-available", "c1~2"], ["tool-approval-request", "c1~2"], ["tool-output-available", "c1"]]
      )
    }))

  it.effect("rule 2: every card that was answered is settled or asked again, also where the turn failed", () =>
    Effect.gen(function*() {
      const history = [
        ...user("one"),
        ...said(call("c1", "a"), call("c2", "b"), asking("id-1", "c1"), asking("open", "c2"), finish()),
        ...said(settled)
      ]
      const posted = post({ target: target("m1", [["id-1", "c1"], ["open", "c2"], ["nobody asked this", "c3"]]) })
      const failing = turnOf("m3", Stream.fail(new Error("secret")), Effect.fail(new Error("secret")))
      for (const turn of [turnOf("m3", []), failing, "It failed.", undefined]) {
        const chunks = yield* collect(turn, posted, { history, pending: [request("open", "c2")] })
        assert.deepStrictEqual(typesOf(chunks), [
          "start",
          "tool-output-available",
          "data-approval",
          "tool-approval-request",
          "tool-output-error",
          turn === failing || turn === "It failed." ? "error" : "finish"
        ])
        assert.notInclude(JSON.stringify(chunks), "secret")
      }
    }))

  it.effect("rule 6: why an answer did not count stands beside its card, before it is known what became of it", () =>
    Effect.gen(function*() {
      const error = ApprovalError.make(new ApprovalError.AlreadyDecided({ approvalId: "id-1", state: "denied" }))
      const outcome = Effect.succeed({ refused: [{ approvalId: "id-1", error }] })
      const chunks = yield* collect(turnOf("m2", [], outcome), clicked, {
        history: asked,
        pending: [request("id-1", "c1")]
      })
      assert.deepStrictEqual(typesOf(chunks), ["start", "data-approval", "tool-approval-request", "finish"])
      assert.deepInclude(chunks[1], { type: "data-approval", id: "c1" })
      assert.include(JSON.stringify(chunks[1]), "decided already")
    }))

  it.effect("a preliminary result settles no card", () =>
    Effect.gen(function*() {
      const parts = [result("c1", "half", { preliminary: true, assent: { approvalId: "id-1" } })]
      const chunks = yield* collect(turnOf("m2", parts), clicked, { history: asked })
      assert.deepStrictEqual(typesOf(chunks), ["start", "tool-output-available", "tool-output-error", "finish"])
    }))

  it.effect("who comes back reads the whole message, and then what follows", () =>
    Effect.gen(function*() {
      const history = [...asked, ...answers(Approval.approve({ approvalId: "id-1" }))]
      const chunks = yield* collect(turnOf("m3", [settled, text]), undefined, { history })
      assert.deepStrictEqual(chunks[0], { type: "start", messageId: "m1" })
      assert.deepStrictEqual(typesOf(chunks).slice(1, 7), [
        "start-step",
        "tool-input-available",
        "tool-approval-request",
        "tool-approval-response",
        "finish-step",
        "tool-output-available"
      ])
    }))

  it.effect("who wants an answer anew, or asks again for one, is sent what is there", () =>
    Effect.gen(function*() {
      for (const posted of [post({ isRegenerating: true }), post({ messageIds: new Set(["m1"]) })]) {
        const chunks = yield* collect(undefined, posted, { history: asked })
        assert.deepStrictEqual(chunks[0], { type: "start", messageId: "m1" })
        assert.include(typesOf(chunks), "tool-input-available")
      }
    }))

  it.effect("of two readers of one turn that has waited, each has all of it, under the same ids", () =>
    Effect.gen(function*() {
      const { conversation } = conversationOf({ history: user("one") })
      const turn = turnOf("m1", [call("c1", "a"), asking("id-1", "c1"), finish("tool-calls")])
      const taken = yield* Taking.follow(conversation, turn)
      const reader = { conversation, heartbeat: Duration.seconds(15), post: undefined }
      const read = Stream.runCollect(Reading.stream(Effect.succeed(taken), reader))
      assert.deepStrictEqual(yield* read, yield* read)
    }))

  it.effect("an answer goes on with its message where something is said late: what that leads to comes below", () =>
    Effect.gen(function*() {
      const history = [...asked, ...answers(Approval.approve({ approvalId: "id-1" })), ...user("late")]
      const { conversation } = conversationOf({ history })
      const turn = turnOf("m4", [settled, call("c1", "b"), text])
      const saying = { prompt: [], messageId: "m3", isLate: true }
      const read = (posted: Post | undefined) =>
        Stream.runCollect(Reading.stream(
          Effect.orDie(Taking.follow(conversation, turn, [], saying)),
          { conversation, heartbeat: Duration.seconds(15), post: posted }
        ))
      const chunks = yield* read(clicked)
      assert.deepStrictEqual(chunks[0], { type: "start" })
      assert.deepStrictEqual(
        chunks.flatMap((chunk) => "toolCallId" in chunk ? [[chunk.type, chunk.toolCallId]] : []),
        [["tool-output-available", "c1"], ["tool-input-available", "c1~2"]]
      )
      // Who comes back has the message of the user above it.
      assert.deepStrictEqual((yield* read(undefined))[0], { type: "start", messageId: "m4" })
    }))

  it.effect("every 15 seconds it is said that it goes on, before it has begun as well", () =>
    Effect.gen(function*() {
      const { conversation } = conversationOf({ history: user("one") })
      const begun = yield* Deferred.make<Taking.Taken, string>()
      const reader = { conversation, heartbeat: Duration.seconds(15), post: post({}) }
      const fiber = yield* Effect.forkChild(Stream.runCollect(Reading.stream(Deferred.await(begun), reader)))
      yield* TestClock.adjust("15 seconds")
      const slow = Stream.concat(Stream.fromEffectDrain(Effect.sleep("20 seconds")), Stream.make(text))
      yield* Deferred.succeed(begun, yield* Taking.follow(conversation, turnOf("m1", slow)))
      yield* TestClock.adjust("14 seconds")
      yield* TestClock.adjust("6 seconds")
      const chunks = yield* Fiber.join(fiber)
      assert.deepStrictEqual(chunks.slice(0, 3), [
        { type: "data-heartbeat", data: { at: 15_000 }, transient: true },
        { type: "start", messageId: "m1" },
        { type: "data-heartbeat", data: { at: 30_000 }, transient: true }
      ])
      assert.deepStrictEqual(chunks.at(-1), { type: "finish" })
    }))

  it.effect("where the conversation cannot be read at the end, the client stops", () =>
    Effect.gen(function*() {
      const { conversation } = conversationOf({ history: asked })
      const broken = { ...conversation, read: Effect.fail(new Error("/var/secret")) }
      const taking = Effect.orDie(Taking.follow(conversation, turnOf("m2", [])))
      const reader = { conversation: broken, heartbeat: Duration.seconds(15), post: clicked }
      const chunks = yield* Stream.runCollect(Reading.stream(taking, reader))
      assert.strictEqual(chunks[1]?.type, "error")
      assert.notInclude(JSON.stringify(chunks), "secret")
    }))
})
