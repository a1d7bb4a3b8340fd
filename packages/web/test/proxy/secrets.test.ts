/** What goes wrong is told to the log: nobody at the other end, and no span, has anything of it. */
import { Approval, ConversationStore, Response as AiResponse } from "@assent/ai"
import { Decider } from "@assent/web"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { recording } from "../recording.ts"
import { call, events, get, newId, play, post, serve, told } from "./server.ts"

const secret = "/var/lib/secret.sqlite"

const causes: ReadonlyArray<readonly [string, Effect.Effect<never, any>]> = [
  ["an error", Effect.fail(new Error(secret))],
  ["a defect", Effect.die(new Error(secret))],
  ["a defect that is a text", Effect.die(secret)],
  ["a store that is away", Effect.fail(away())],
  ["a store that is broken", Effect.fail(away("Unreadable"))]
]

function away(reason: "Unavailable" | "Unreadable" = "Unavailable") {
  return new ConversationStore.ConversationError({ reason, description: `cannot open ${secret}` })
}

const endpoints = [
  ["post", "a/messages", { text: "Hi." }],
  ["post", "a/decisions", { approvalId: "id-1", approved: true }],
  ["post", "a/decisions", [{ approvalId: "id-1", approved: true }]],
  ["post", "a/answers", { approvalId: "id-1", answer: 1 }],
  ["post", "a/cancel", {}],
  ["get", "a/messages", undefined],
  ["get", "a/requests", undefined],
  ["get", "a/requests/state?approvalId=id-1", undefined],
  ["get", "a/turn", undefined]
] as const

const brokenBy = (cause: Effect.Effect<never, any>) => ({
  start: () => cause,
  turn: cause,
  stateOf: () => cause,
  read: cause,
  pending: () => cause,
  cancel: () => cause
})

describe("L15 what goes wrong", () => {
  it.each(causes)("before a stream is a sentence, and is logged: %s", async (_, cause) => {
    const logged: Array<string> = []
    for (const server of [play(brokenBy(cause), { logged }), play({}, { logged, conversation: () => cause })]) {
      for (const [method, path, body] of endpoints) {
        const response = await told(method === "post" ? post(server, path, body) : get(server, path))
        assert.include([500, 503], response.status, path)
        assert.notInclude(response.text, "secret")
        assert.match(response.body.message, /\.$/)
      }
      await server.dispose()
    }
    assert.lengthOf(logged, 2 * endpoints.length)
  })

  it.each(causes)("in a stream is its last event, and is logged: %s", async (_, cause) => {
    const logged: Array<string> = []
    const turn = (parts: Stream.Stream<any, any>, outcome: Effect.Effect<any, any>) => ({
      messageId: "m-1",
      parts,
      outcome
    })
    const done = Effect.succeed({ _tag: "Completed", text: "", refused: [] })
    const turns = [
      turn(Stream.fromEffect(cause), cause),
      turn(Stream.concat(Stream.make(AiResponse.makePart("text-start", { id: "1" })), Stream.fromEffect(cause)), cause),
      turn(Stream.empty, cause)
    ]
    for (const one of turns) {
      const server = play({ start: () => Effect.succeed(one), turn: Effect.succeed(one) }, { logged })
      for (const response of [post(server, "a/messages", { text: "Hi." }), get(server, "a/turn")]) {
        const { failure, parts } = await events(response)
        assert.strictEqual(parts[0].type, "turn-start")
        assert.deepStrictEqual([failure[0]._tag, failure[0].error._tag], ["Fail", "TurnFailed"])
        assert.notInclude(JSON.stringify([failure, parts]), "secret")
      }
      await server.dispose()
    }
    // What is open when it ends is read as well.
    const last = play({ start: () => Effect.succeed(turn(Stream.empty, done)), pending: () => cause }, { logged })
    assert.notInclude(JSON.stringify(await events(post(last, "a/messages", { text: "Hi." }))), "secret")
    await last.dispose()
    assert.lengthOf(logged, 2 * turns.length + 1)
  })

  it("what a turn says that is no JSON, and what a provider says beside it, is not sent", async () => {
    const circular: { self?: unknown } = {}
    circular.self = circular
    const parts = [
      AiResponse.makePart("error", { error: new Error(secret) }),
      AiResponse.makePart("text-delta", { id: "1", delta: "Hi.", metadata: { provider: { key: secret } } }),
      AiResponse.makePart("response-metadata", { id: secret, modelId: secret, timestamp: undefined }),
      AiResponse.makePart("tool-call", { id: "c1", name: "Tool", params: { n: 1n }, providerExecuted: false }),
      ...[circular, { n: 1n }, undefined, () => 1].map((encodedResult) =>
        AiResponse.toolResultPart({
          id: "c1",
          name: "Tool",
          isFailure: false,
          result: undefined,
          encodedResult,
          providerExecuted: false,
          preliminary: false,
          metadata: { provider: secret }
        })
      )
    ]
    const server = play({
      start: () =>
        Effect.succeed({
          messageId: "m-1",
          parts: Stream.fromIterable(parts),
          outcome: Effect.succeed({ _tag: "Completed", text: "", refused: [] })
        })
    })
    const { failure, parts: sent } = await events(post(server, "a/messages", { text: "Hi." }))
    assert.isUndefined(failure)
    assert.deepStrictEqual(sent.map(({ type }) => type), [
      "turn-start",
      "error",
      "text-delta",
      "tool-call",
      ...Array.from({ length: 4 }, () => "tool-result"),
      "turn-end"
    ])
    assert.notInclude(JSON.stringify(sent), "secret")
    await server.dispose()
  })

  it("a tool that dies is a call that failed, and nobody but the log is told of what", async () => {
    const server = serve({ turns: [[call("c1", "a")], "It failed."], before: () => Effect.die(new Error(secret)) })
    const id = newId()
    await events(post(server, `${id}/messages`, { text: "Clean up." }))
    const [{ approvalId }] = (await told(get(server, `${id}/requests`))).body
    const answered = await events(post(server, `${id}/messages`, { answers: [{ approvalId, approved: true }] }))
    const after = [
      await told(get(server, `${id}/messages`)),
      await told(get(server, `${id}/requests/state?approvalId=${encodeURIComponent(approvalId)}`)),
      await told(post(server, `${id}/decisions`, { approvalId, approved: true })),
      await events(post(server, `${id}/messages`, { text: "And now?" }))
    ]
    assert.notInclude(JSON.stringify([answered, after]), "secret")
    assert.isAbove(answered.parts.length, 1)
    await server.dispose()
  })

  it("what a conversation gives that is no request, or cannot be looked at, is not sent", async () => {
    const request = new Approval.ApprovalRequest({
      approvalId: "id-1",
      toolCallId: "c1",
      toolName: "DeleteFile",
      params: {},
      description: "DeleteFile()",
      interaction: "approval",
      providerExecuted: false
    })
    const throwing = Object.defineProperty(Object.create(request), "toolName", {
      get: () => {
        throw new Error(secret)
      }
    })
    for (const one of [{ secret } as never, throwing]) {
      const logged: Array<string> = []
      const server = play({ pending: () => Effect.succeed([one]) }, { logged })
      const { body, status, text } = await told(get(server, "a/requests"))
      assert.deepStrictEqual([status, body._tag], [500, "ServerFailed"])
      assert.notInclude(text, "secret")
      assert.lengthOf(logged, 1)
      await server.dispose()
    }
  })

  it("no cause and no credential reaches a span", async () => {
    const { spans, tracer } = recording()
    const broken = Effect.die(new Error(secret))
    const server = play(brokenBy(broken), { tracer })
    for (const [method, path, body] of endpoints) {
      await told(method === "post" ? post(server, path, body) : get(server, path))
    }
    await server.dispose()
    assert.isAbove(spans.length, 0)
    const seen = spans.map(({ attributes, events, status }) => [[...attributes], events, status])
    assert.notInclude(JSON.stringify(seen, (_, value) => typeof value === "bigint" ? `${value}` : value), "secret")
  })

  it("who cannot be found out is refused, and is told nothing of why", async () => {
    for (const [, cause] of causes) {
      const logged: Array<string> = []
      const server = play({}, { decider: Decider.layer(() => cause), logged })
      for (const [method, path, body] of endpoints) {
        const response = await told(method === "post" ? post(server, path, body) : get(server, path))
        assert.deepStrictEqual([response.status, response.body], [401, {
          _tag: "Refused",
          status: 401,
          message: "It could not be found out who you are."
        }])
      }
      await server.dispose()
    }
  })
})
