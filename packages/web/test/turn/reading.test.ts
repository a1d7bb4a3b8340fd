/** What one client reads of a turn, which others read too. */
import { Approval, Prompt } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import type { Conversation } from "../../src/internal/turn/conversation.ts"
import * as Live from "../../src/internal/turn/live.ts"
import * as Reading from "../../src/internal/turn/reading.ts"
import type { Post } from "../../src/internal/wire/body.ts"
import type { Chunk } from "../../src/internal/wire/model.ts"
import { answers, asking, call, finish, request, result, said, user } from "../wire/parts.ts"

const conversationOf = (
  history: ReadonlyArray<Prompt.Message>,
  pending: ReadonlyArray<Approval.ApprovalRequest> = []
): Conversation => ({
  history: Effect.succeed(Prompt.fromMessages(history)),
  pending: () => Effect.succeed(pending),
  stream: () => Stream.die("nothing is said here"),
  decide: () => Effect.die("nothing is decided here"),
  cancel: () => Effect.die("nothing is stopped here")
})

const post = (fields: Partial<Post>): Post => ({
  id: "chat",
  said: undefined,
  clicked: [],
  details: new Map(),
  target: undefined,
  messageIds: new Set(),
  isRegenerating: false,
  ...fields
})

const target = (messageId: string, clicked: ReadonlyArray<readonly [approvalId: string, toolCallId: string]>) => ({
  messageId,
  toolCallIds: new Set(clicked.map(([, toolCallId]) => toolCallId)),
  clicked: clicked.map(([approvalId, toolCallId]) => ({ approvalId, toolCallId, approved: true, reason: undefined }))
})

const heartbeat = Duration.seconds(15)

const collect = (live: Live.Live, posted: Post | undefined, conversation = conversationOf([])) =>
  Stream.runCollect(Reading.stream(live, { conversation, heartbeat, post: posted }))

/** A turn that has ended with these chunks. */
const ended = (messageId: string, chunks: ReadonlyArray<Chunk>, ending: Live.Ending = {}) => {
  const live = Live.make(undefined, 1_000_000)
  live.begin({ messageId, before: undefined })
  live.add(chunks)
  live.end(ending)
  return live
}

const text: ReadonlyArray<Chunk> = [
  { type: "text-start", id: "t" },
  { type: "text-delta", id: "t", delta: "Hello" },
  { type: "text-end", id: "t" }
]

const outputOf = (toolCallId: string): Chunk => ({ type: "tool-output-available", toolCallId, output: "done" })

const inputOf = (toolCallId: string): Chunk => ({
  type: "tool-input-available",
  toolCallId,
  toolName: "DeleteFile",
  input: {}
})

describe("reading", () => {
  it.effect("a new message begins with its id, and ends with why the model stopped", () =>
    Effect.gen(function*() {
      const chunks = yield* collect(ended("assistant-1", text, { finishReason: "stop" }), post({}))
      assert.deepStrictEqual(chunks, [
        { type: "start", messageId: "assistant-1" },
        ...text,
        { type: "finish", finishReason: "stop" }
      ])
    }))

  it.effect("a new message never takes the place of one that the client has", () =>
    Effect.gen(function*() {
      const messageIds = new Set(["assistant-1", "assistant-1~2"])
      const [start] = yield* collect(ended("assistant-1", text), post({ messageIds }))
      assert.deepStrictEqual(start, { type: "start", messageId: "assistant-1~3" })
    }))

  it.effect("rule 1: an answer goes on with its message, which keeps its id", () =>
    Effect.gen(function*() {
      const live = ended("assistant-1", [outputOf("c1")])
      const chunks = yield* collect(live, post({ target: target("assistant-1", [["id-1", "c1"]]) }))
      assert.deepStrictEqual(chunks, [{ type: "start" }, outputOf("c1"), { type: "finish" }])
    }))

  it.effect("rule 3: no output goes to a message that does not have the call", () =>
    Effect.gen(function*() {
      const fate: Chunk = {
        type: "data-approval",
        id: "c1",
        data: { toolCallId: "c1", toolName: "DeleteFile", state: "done" }
      }
      const told: ReadonlyArray<Chunk> = [
        outputOf("c1"),
        { type: "tool-output-denied", toolCallId: "c1" },
        { type: "tool-approval-request", approvalId: "id-1", toolCallId: "c1" },
        { type: "tool-approval-response", approvalId: "id-1", approved: true },
        { type: "tool-input-delta", toolCallId: "c1", inputTextDelta: "{" },
        fate
      ]
      const chunks = yield* collect(ended("assistant-2", told), post({ target: target("assistant-1", []) }))
      assert.deepStrictEqual(chunks, [{ type: "start" }, { ...fate, transient: true }, { type: "finish" }])
    }))

  it.effect("a call whose id the message of a page has for another one gets its own there", () =>
    Effect.gen(function*() {
      const history = [
        ...user("one"),
        ...said(call("c1", "a"), asking("old", "c1"), finish()),
        ...answers(Approval.approve({ approvalId: "old" })),
        ...said(result("c1", "old output", { assent: { approvalId: "old" } }))
      ]
      const live = ended("assistant-2", [
        { type: "tool-input-start", toolCallId: "c1", toolName: "DeleteFile" },
        inputOf("c1"),
        { type: "tool-approval-request", approvalId: "new", toolCallId: "c1" }
      ])
      const stale = post({ target: target("assistant-1", [["old", "c1"]]) })
      const chunks = yield* collect(live, stale, conversationOf(history))
      assert.deepStrictEqual(
        chunks.flatMap((chunk) => "toolCallId" in chunk ? [[chunk.type, chunk.toolCallId]] : []),
        [
          ["tool-input-start", "c1~2"],
          ["tool-input-available", "c1~2"],
          ["tool-approval-request", "c1~2"],
          ["tool-output-available", "c1"]
        ]
      )
    }))

  it.effect("rule 2: every card that was answered is settled or asked again, also where the turn failed", () =>
    Effect.gen(function*() {
      const history = [
        ...user("one"),
        ...said(call("c1", "a"), call("c2", "b"), asking("ran", "c1"), asking("open", "c2"), finish()),
        ...said(result("c1", "done", { assent: { approvalId: "ran" } }))
      ]
      const conversation = conversationOf(history, [request("open", "c2")])
      const answered = post({
        target: target("assistant-1", [["ran", "c1"], ["open", "c2"], ["nobody asked this", "c3"]])
      })
      for (const error of [undefined, "It failed."]) {
        const chunks = yield* collect(ended("assistant-1", [], { error }), answered, conversation)
        assert.deepStrictEqual(chunks.map(({ type }) => type), [
          "start",
          "tool-output-available",
          "data-approval",
          "tool-approval-request",
          "tool-output-error",
          error === undefined ? "finish" : "error"
        ])
        assert.deepInclude(chunks, {
          type: "tool-output-error",
          toolCallId: "c3",
          errorText: "Nobody was asked this here. Nothing ran."
        })
      }
    }))

  it.effect("a preliminary result settles no card", () =>
    Effect.gen(function*() {
      const live = ended("assistant-1", [{ ...outputOf("c1"), preliminary: true } as Chunk])
      const chunks = yield* collect(live, post({ target: target("assistant-1", [["id-1", "c1"]]) }))
      assert.deepStrictEqual(chunks.map(({ type }) => type), [
        "start",
        "tool-output-available",
        "tool-output-error",
        "finish"
      ])
    }))

  it.effect("where the conversation cannot be read at the end, the client stops", () =>
    Effect.gen(function*() {
      const conversation = { ...conversationOf([]), history: Effect.fail(new Error("/var/secret")) }
      const clicked = post({ target: target("assistant-1", [["id-1", "c1"]]) })
      const chunks = yield* collect(ended("assistant-1", []), clicked, conversation)
      assert.strictEqual(chunks[1]?.type, "error")
      assert.notInclude(JSON.stringify(chunks), "secret")
    }))

  it.effect("who comes back reads the whole message, and then what follows", () =>
    Effect.gen(function*() {
      const live = Live.make(undefined, 1_000_000)
      live.begin({
        messageId: "assistant-1",
        before: {
          id: "assistant-1",
          role: "assistant",
          parts: [{ type: "step-start" }, {
            type: "tool-DeleteFile",
            toolCallId: "c1",
            state: "approval-requested",
            input: {},
            approval: { id: "id-1" }
          }]
        }
      })
      live.add([{ type: "tool-approval-response", approvalId: "id-1", approved: true }])
      const fiber = yield* Effect.forkChild(collect(live, undefined))
      yield* Effect.yieldNow
      live.add([outputOf("c1")])
      yield* Effect.yieldNow
      live.end({})
      assert.deepStrictEqual((yield* Fiber.join(fiber)).map(({ type }) => type), [
        "start",
        "start-step",
        "tool-input-available",
        "tool-approval-request",
        "finish-step",
        "tool-approval-response",
        "tool-output-available",
        "finish"
      ])
    }))

  it.effect("who wants an answer anew, or has not heard it, is sent the message as it is", () =>
    Effect.gen(function*() {
      const live = Live.make(undefined, 1_000_000)
      const before = { id: "assistant-1", role: "assistant" as const, parts: [{ type: "step-start" as const }] }
      live.begin({ messageId: "assistant-1", before })
      live.end({})
      const messageIds = new Set(["assistant-1"])
      assert.deepStrictEqual(yield* collect(live, post({ isRegenerating: true, messageIds })), [
        { type: "start", messageId: "assistant-1" },
        { type: "start-step" },
        { type: "finish-step" },
        { type: "finish" }
      ])
    }))

  it.effect("a silent turn says every 15 seconds that it goes on, before it has begun as well", () =>
    Effect.gen(function*() {
      const live = Live.make(undefined, 1_000_000)
      const fiber = yield* Effect.forkChild(collect(live, post({})))
      yield* TestClock.adjust("14 seconds")
      yield* TestClock.adjust("1 second")
      live.begin({ messageId: "assistant-1", before: undefined })
      yield* TestClock.adjust("15 seconds")
      yield* TestClock.adjust("10 seconds")
      live.add(text)
      yield* TestClock.adjust("10 seconds")
      live.end({})
      assert.deepStrictEqual(yield* Fiber.join(fiber), [
        { type: "data-heartbeat", data: { at: 15_000 }, transient: true },
        { type: "start", messageId: "assistant-1" },
        { type: "data-heartbeat", data: { at: 30_000 }, transient: true },
        ...text,
        { type: "finish" }
      ])
    }))

  it.effect("a turn that never began ends with why", () =>
    Effect.gen(function*() {
      const live = Live.make(undefined, 1_000_000)
      live.end({ error: "It failed." })
      assert.deepStrictEqual(yield* collect(live, post({})), [
        { type: "start" },
        { type: "error", errorText: "It failed." }
      ])
    }))

  it.effect("L17 a reader that falls too far behind is cut off, and slows nobody", () =>
    Effect.gen(function*() {
      const live = Live.make(undefined, 1_000)
      live.begin({ messageId: "assistant-1", before: undefined })
      live.add(text)
      const pulled = yield* collect(live, post({})).pipe(Effect.forkChild)
      yield* Effect.yieldNow
      for (let count = 0; count < 20; count++) live.add(text)
      assert.isUndefined(live.from(0))
      live.end({})
      assert.deepStrictEqual((yield* Fiber.join(pulled)).at(-1), {
        type: "error",
        errorText: "This page fell too far behind. Load it again."
      })
    }))
})
