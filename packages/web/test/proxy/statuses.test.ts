/** With which status what is told: a conversation is played, so that each thing happens. */
import { Approval, ApprovalError, Approver, ConversationStore } from "@assent/ai"
import type { ConversationProxyServer } from "@assent/web"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { events, get, play, post, told } from "./server.ts"

type Played = Partial<ConversationProxyServer.Conversation>

const one = { approvalId: "id-1", approved: true }

const failing = (error: unknown, more: Played = {}): Played => ({ start: () => Effect.fail(error), ...more })

const approvalError = ApprovalError.make

const already = approvalError(new ApprovalError.AlreadyDecided({ approvalId: "id-1", state: "done" }))

const store = (reason: ConversationStore.ConversationError["reason"]) =>
  new ConversationStore.ConversationError({ reason, description: `The store says ${reason}.` })

const bob = new Approver.DecidedBy({ id: "bob", name: "Bob", via: "conversation" })

const request = (more: Partial<Approval.ApprovalRequest> = {}) =>
  new Approval.ApprovalRequest({
    approvalId: "id-1",
    toolCallId: "c1",
    toolName: "DeleteFile",
    params: { path: "a" },
    description: "DeleteFile(path='a')",
    interaction: "approval",
    providerExecuted: false,
    ...more
  })

const ended = (more: Partial<{ refused: any }> = {}): Played => ({
  start: () =>
    Effect.succeed({
      messageId: "m-1",
      parts: Stream.empty,
      outcome: Effect.succeed({ _tag: "Completed", text: "", refused: [], ...more })
    })
})

const decided = async (played: Played, body: unknown = one) => {
  const server = play(played)
  try {
    return await told(post(server, "a/decisions", body))
  } finally {
    await server.dispose()
  }
}

describe("statuses of a decision", () => {
  it("404 of what was never asked", async () => {
    const unknown = approvalError(new ApprovalError.UnknownApproval({ approvalId: "id-1" }))
    const { body, status } = await decided(failing(unknown))
    assert.deepStrictEqual([status, body._tag, body.approvalId], [404, "UnknownRequest", "id-1"])
    assert.match(body.message, /Nobody was asked/)
  })

  it("409 of what was decided already, with what was decided and by whom", async () => {
    const { body, status } = await decided(failing(already, {
      stateOf: () => Effect.succeed({ state: "done", decidedBy: bob, result: { deleted: "a" }, isFailure: false })
    }))
    assert.strictEqual(status, 409)
    assert.deepStrictEqual(body, {
      _tag: "AlreadyDecided",
      approvalId: "id-1",
      message: "This was decided already, and what was decided stands.",
      state: "done",
      decidedBy: { id: "bob", name: "Bob", via: "conversation" },
      result: { deleted: "a" },
      isFailure: false
    })
  })

  it("410 of what has expired, was superseded, or was cancelled", async () => {
    const late = approvalError(new ApprovalError.Expired({ approvalId: "id-1", expiredAt: 0 }))
    const { body, status } = await decided(failing(late))
    assert.deepStrictEqual([status, body._tag, body.state], [410, "NoLongerOpen", "expired"])
    for (const state of ["expired", "superseded", "cancelled"] as const) {
      const { body, status } = await decided(failing(already, { stateOf: () => Effect.succeed({ state }) }))
      assert.deepStrictEqual([status, body._tag, body.state], [410, "NoLongerOpen", state])
      assert.match(body.message, /Nothing ran\.$/)
    }
  })

  it("403 of who may not decide", async () => {
    const error = approvalError(
      new ApprovalError.NotAnApprover({
        approvalId: "id-1",
        approvers: [["bob"]],
        decidedBy: new Approver.DecidedBy({ id: "ada", via: "conversation" }),
        problem: "not named"
      })
    )
    const { body, status } = await decided(failing(error))
    assert.deepStrictEqual([status, body._tag], [403, "NotAnApprover"])
    assert.match(body.message, /bob/)
    // A turn may find out later.
    const later = await decided({
      start: () => Effect.succeed({ messageId: "m-1", parts: Stream.fail(error), outcome: Effect.fail(error) })
    })
    assert.deepStrictEqual([later.status, later.body._tag], [403, "NotAnApprover"])
  })

  it("422 of what is no answer to the question, also where the turn finds out", async () => {
    const invalid = approvalError(new ApprovalError.InvalidEdit({ approvalId: "id-1", description: "no path." }))
    for (const played of [failing(invalid), ended({ refused: [{ approvalId: "id-1", error: invalid }] })]) {
      const { body, status } = await decided(played)
      assert.deepStrictEqual([status, body._tag, body.approvalId], [422, "Unprocessable", "id-1"])
      assert.match(body.message, /no path/)
    }
  })

  it("422 of a yes to what is not for people, which is not even tried", async () => {
    for (const interaction of ["webhook", "timer", "external"]) {
      const played: Played = { pending: () => Effect.succeed([request({ interaction })]) }
      const { body, status } = await decided(played)
      assert.deepStrictEqual([status, body.message], [422, "This is not for a person to answer."])
    }
  })

  it("409 where the conversation is busy, was cancelled or is full, and 503 where the store is away", async () => {
    for (const reason of ["Busy", "Cancelled", "Conflict", "Full"] as const) {
      const { body, status } = await decided(failing(store(reason)))
      assert.deepStrictEqual([status, body], [409, { _tag: "Conflict", reason, message: `The store says ${reason}.` }])
    }
    const away = await decided(failing(store("Unavailable")))
    assert.deepStrictEqual([away.status, away.body._tag], [503, "Unavailable"])
    assert.notInclude(away.text, "The store says")
    for (const Gone of [ApprovalError.JournalUnavailable, ApprovalError.SuspensionsUnavailable]) {
      const gone = await decided(failing(approvalError(new Gone({ description: "disk /dev/sda" }))))
      assert.deepStrictEqual([gone.status, gone.body._tag], [503, "Unavailable"])
      assert.notInclude(gone.text, "/dev/sda")
    }
  })

  it("200 of several, each with a fate of its own", async () => {
    const played: Played = {
      ...ended({ refused: [{ approvalId: "id-2", error: already }] }),
      stateOf: (id) =>
        Effect.succeed(id === "id-2" ? { state: "denied", decidedBy: bob } : { state: "done", result: 1 })
    }
    const { body, status } = await decided(played, [one, { approvalId: "id-2", approved: true }])
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(body.isRunning, false)
    const [first, second] = body.answers
    assert.deepStrictEqual(first, { approvalId: "id-1", state: "done", result: 1 })
    assert.deepStrictEqual([second.state, second.refused._tag, second.refused.state], [
      "denied",
      "AlreadyDecided",
      "denied"
    ])
    assert.deepStrictEqual(second.refused.decidedBy, { id: "bob", name: "Bob", via: "conversation" })
    // Also of one, in a list, and where none counts.
    const alone = await decided(failing(already), [one])
    assert.deepStrictEqual([alone.status, alone.body.answers[0].refused._tag], [200, "AlreadyDecided"])
    const none = await decided(failing(already), [one, { approvalId: "id-2", approved: true }])
    assert.deepStrictEqual(none.body.answers.map(({ refused }: any) => refused._tag), [
      "AlreadyDecided",
      "AlreadyDecided"
    ])
  })

  it("202 where what was approved still runs when patience is over", async () => {
    const server = play({
      start: () => Effect.succeed({ messageId: "m-1", parts: Stream.never, outcome: Effect.never }),
      stateOf: () => Effect.succeed({ state: "running" })
    }, { settings: { patience: 0 } })
    const { body, status } = await told(post(server, "a/decisions", one))
    assert.deepStrictEqual([status, body], [202, {
      answers: [{ approvalId: "id-1", state: "running" }],
      isRunning: true
    }])
    await server.dispose()
  })

  it("200 where the answer counts and the turn fails after it, with a sentence", async () => {
    const broken = new Error("secret")
    const { body, status } = await decided({
      start: () => Effect.succeed({ messageId: "m-1", parts: Stream.fail(broken), outcome: Effect.fail(broken) }),
      stateOf: () => Effect.succeed({ state: "answered" })
    })
    assert.strictEqual(status, 200)
    assert.deepStrictEqual(body, {
      answers: [{ approvalId: "id-1", state: "answered" }],
      isRunning: false,
      turnFailed: "The model did not answer. What was done is kept; try again."
    })
  })

  it("L3 of two answers to one request in a post, the one that says no is given", async () => {
    const given: Array<unknown> = []
    await decided({
      ...ended(),
      start: (_, options) => {
        given.push(options?.answers)
        return ended().start!([])
      }
    }, [one, { approvalId: "id-1", approved: false }, { approvalId: "id-1", decision: { _tag: "Approved" } }])
    assert.deepStrictEqual(given, [[{ approvalId: "id-1", approved: false }]])
  })
})

describe("statuses of the rest", () => {
  it("a value is no consent: 422, and nothing is tried", async () => {
    const server = play({ pending: () => Effect.succeed([request()]) })
    const { body, status } = await told(post(server, "a/answers", { approvalId: "id-1", answer: true }))
    assert.deepStrictEqual([status, body._tag], [422, "Unprocessable"])
    await server.dispose()
  })

  it("what is said beside an answer that has no effect is said, and the answer's fate is at the end", async () => {
    const server = play(ended({ refused: [{ approvalId: "id-1", error: already }] }))
    const { failure, parts } = await events(post(server, "a/messages", { text: "Hi.", answers: [one] }))
    assert.isUndefined(failure)
    assert.deepStrictEqual(parts.map(({ type }) => type), ["turn-start", "turn-end"])
    assert.strictEqual(parts[1].answers[0].refused._tag, "AlreadyDecided")
    await server.dispose()
    const alone = play(failing(already))
    assert.strictEqual((await post(alone, "a/messages", { answers: [one] })).status, 409)
    await alone.dispose()
  })

  it("404 of the state of what was never asked, and 204 of a turn where none is taken", async () => {
    const server = play({})
    const { body, status } = await told(get(server, "a/requests/state?approvalId=id-1"))
    assert.deepStrictEqual([status, body._tag], [404, "UnknownRequest"])
    assert.strictEqual((await get(server, "a/turn")).status, 204)
    assert.strictEqual((await post(server, "a/cancel", {})).status, 204)
    await server.dispose()
  })

  it("nothing that is sent is kept by a browser, and no proxy holds a stream back", async () => {
    const server = play(ended())
    for (const response of [await get(server, "a/messages"), await get(server, "a/requests/state?approvalId=x")]) {
      assert.strictEqual(response.headers.get("cache-control"), "no-store")
    }
    const { headers } = await post(server, "a/messages", { text: "Hi." })
    assert.match(headers.get("content-type")!, /^text\/event-stream/)
    assert.deepStrictEqual([headers.get("cache-control"), headers.get("x-accel-buffering")], [
      "no-store, no-transform",
      "no"
    ])
    await server.dispose()
  })
})
