/**
 * What V7 gets wrong, by PEERS.md §2, told of our engine: what its signature does not bind, tried field by field, and
 * what its way of reading a history loses.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalPolicy, ApprovalSeal, Prompt } from "../../src/index.ts"
import * as C from "../laws/conversation.ts"
import * as Support from "../laws/support.ts"
import { begin, no, one, outcomes, two, yes } from "./conversation.ts"

type Chat = Effect.Success<ReturnType<typeof begin>>

/** Answers after the history was changed: nothing may run, and the honest history must be as good as it was. */
const refused = Effect.fnUntraced(function*(
  chat: Chat,
  what: string,
  history: Prompt.Prompt,
  ...answers: ReadonlyArray<{ readonly approvalId: string }>
) {
  const before = chat.runs.length
  yield* chat.setHistory(history)
  const turn = yield* chat.send(yes(...answers))
  assert.strictEqual(chat.runs.length, before, what)
  assert.deepStrictEqual([turn.requests, turn.text], [[], "done"], what)
  for (const part of turn.results) C.reasonOf(part)
  C.assertWellFormed(yield* chat.lastPrompt)
  yield* chat.setHistory(chat.asking)
})

const honest = Effect.fnUntraced(function*(chat: Chat) {
  yield* chat.send(yes(...chat.requests))
  assert.strictEqual(chat.runs.length, chat.requests.length, "the honest history still runs")
})

const onCall = (history: Prompt.Prompt, change: Partial<Prompt.ToolCallPart>) =>
  Support.rewrite(history, (part) => part.type === "tool-call" ? { ...part, ...change } : part)

const onRequest = (history: Prompt.Prompt, change: Partial<Prompt.ToolApprovalRequestPart>) =>
  Support.rewrite(history, (part) => part.type === "tool-approval-request" ? { ...part, ...change } : part)

describe("V7's faults: tampering, field by field", () => {
  C.everyWay(
    "V7 tampered id: each field of the approval id, changed, emptied, doubled or another request's",
    function*(way) {
      const chat = yield* begin(way)
      const other = yield* begin(way)
      const fields = chat.requests[0]!.approvalId.split(".")
      const others = other.requests[0]!.approvalId.split(".")
      assert.isAtLeast(fields.length, 5, "key, nonce, two times and tag at least")
      let tried = 0
      for (const [index, field] of fields.entries()) {
        const flipped = (field.startsWith("A") ? "B" : "A") + field.slice(1)
        // The times are written in base 36.
        const later = (Number.parseInt(field, 36) + 1).toString(36)
        for (const other of [flipped, later, "", field + field, field.slice(1), `${field}=`, others[index]!]) {
          if (other === field) continue
          const approvalId = fields.with(index, other).join(".")
          yield* refused(chat, approvalId, onRequest(chat.asking, { approvalId }), { approvalId })
          tried += 1
        }
        const without = fields.toSpliced(index, 1).join(".")
        yield* refused(chat, without, onRequest(chat.asking, { approvalId: without }), { approvalId: without })
      }
      assert.isAtLeast(tried, 5 * fields.length)
      yield* honest(chat)
    }
  )

  C.everyWay("V7 tampered id: the answer names another id than the request", function*(way) {
    const chat = yield* begin(way)
    const turn = yield* chat.send(yes({ approvalId: `${chat.requests[0]!.approvalId}x` }))
    assert.deepStrictEqual([chat.runs, turn.requests], [[], chat.requests])
    yield* honest(chat)
  })

  C.everyWay("V7 tampered call: its id, name, and who executes it", function*(way) {
    const chat = yield* begin(way)
    for (const toolCallId of ["c2", "C1", "c1 ", "c1\u0000", "__proto__"]) {
      const moved = onRequest(onCall(chat.asking, { id: toolCallId }), { toolCallId })
      yield* refused(chat, toolCallId, moved, ...chat.requests)
    }
    for (const name of ["ReadFile", "deletefile", "DeleteFile ", "toString"]) {
      yield* refused(chat, name, onCall(chat.asking, { name }), ...chat.requests)
    }
    yield* chat.setHistory(onCall(chat.asking, { providerExecuted: true }))
    yield* Effect.exit(chat.send(yes(...chat.requests)))
    assert.deepStrictEqual(chat.runs, [])
    yield* chat.setHistory(chat.asking)
    yield* honest(chat)
  })

  C.everyWay("V7 tampered input: each way to change the parameters", function*(way) {
    const chat = yield* begin(way)
    for (const path of ["b", "", "A", "a ", "a\u0000", "a\u200b", "ａ", 1, null, ["a"], { a: "a" }]) {
      yield* refused(chat, JSON.stringify(path), onCall(chat.asking, { params: { path } }), ...chat.requests)
    }
    for (const params of [{}, null, "a", ["a"], { Path: "a" }, `{"path":"a"}`]) {
      yield* refused(chat, JSON.stringify(params), onCall(chat.asking, { params }), ...chat.requests)
    }
    yield* honest(chat)
  })

  C.everyWay("V7 tampered secret: another key, also under the same name, does not pass", function*(way) {
    const sealedBy = (key: string, keyId?: string) =>
      Effect.provide(ApprovalSeal.layer({ key, ...(keyId === undefined ? undefined : { keyId }) }))
    const mine = sealedBy("the key of this program, 32 bytes", "main")
    const chat = yield* mine(begin(way))
    for (const keyId of [undefined, "main"]) {
      const forger = sealedBy("the key of somebody else, 32 bytes", keyId)
      const forged = yield* forger(begin(way))
      const { approvalId } = forged.requests[0]!
      yield* mine(refused(chat, `sealed by ${keyId}`, onRequest(chat.asking, { approvalId }), { approvalId }))
      yield* forger(refused(chat, `verified by ${keyId}`, chat.asking, ...chat.requests))
    }
    yield* mine(honest(chat))
  })

  C.everyWay("V7 tampered scope: signature binds tenant, principal and conversation, each", function*(way) {
    const scope = { tenant: "acme", principal: "ada", conversation: "chat-7" }
    const within = (scope: Approval.ApprovalScope) => Effect.provideService(Approval.Scope, scope)
    const chat = yield* within(scope)(begin(way))
    for (const field of ["tenant", "principal", "conversation"] as const) {
      const { [field]: _, ...rest } = scope
      for (const other of [{ ...scope, [field]: "other" }, { ...scope, [field]: "" }, rest]) {
        yield* within(other)(refused(chat, `${field}: ${JSON.stringify(other)}`, chat.asking, ...chat.requests))
      }
    }
    yield* within(scope)(honest(chat))
  })
})

describe("V7's faults: what its signature does not bind", () => {
  C.everyWay("V7 signature binds the expiry: an answer that comes later runs nothing", function*(way) {
    const chat = yield* begin(way, { approval: { expiresIn: "1 hour" } })
    yield* TestClock.adjust("61 minutes")
    const turn = yield* chat.send(yes(...chat.requests))
    assert.match(C.reasonOf(turn.results[0]!), /expired/i)
    assert.deepStrictEqual([chat.runs, turn.text], [[], "done"])
  })

  C.everyWay(
    "V7 the decision is bound: a denial that was carried out is not turned by another history",
    function*(way) {
      const chat = yield* begin(way)
      yield* chat.send(no(...chat.requests))
      for (const history of [chat.asking, Prompt.concat(chat.asking, yes(...chat.requests))]) {
        yield* chat.setHistory(history)
        const turn = yield* chat.send(yes(...chat.requests))
        assert.include(C.reasonOf(turn.results[0]!), "keep it")
      }
      assert.deepStrictEqual(chat.runs, [])
    }
  )

  C.everyWay("V7 same signed history twice: runs once, and gives the same result", function*(way) {
    const chat = yield* begin(way)
    for (let i = 0; i < 2; i++) {
      yield* chat.setHistory(Support.throughJson(chat.asking))
      const turn = yield* chat.send(yes(...chat.requests))
      assert.deepStrictEqual(turn.results.map((part) => part.result), [{ deleted: "a" }])
    }
    assert.deepStrictEqual(chat.runs, ["delete a"])
  })
})

describe("V7's faults: how it reads", () => {
  C.everyWay("V7 a function that returns undefined leaves the tool's own gate on", function*(way) {
    const silent = Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => undefined))
    const chat = yield* silent(begin(way, { calls: [...one, C.readCall("r1", "x")] }))
    assert.deepStrictEqual(chat.requests.map((request) => request.toolCallId), ["c1"])
    assert.deepStrictEqual(chat.runs, ["read x"], "a tool without a gate runs as it would")
    yield* silent(chat.send(yes(...chat.requests)))
    assert.deepStrictEqual(chat.runs, ["read x", "delete a"])
  })

  C.everyWay("V7 more than the last message is read: answers in several messages all count", function*(way) {
    const chat = yield* begin(way, { calls: two })
    const [first, second] = chat.requests
    const turn = yield* chat.send(Prompt.concat(yes(first!), no(second!)))
    assert.deepStrictEqual([outcomes(turn), turn.text, chat.runs], [["-c2", "c1"], "done", ["delete a"]])
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  C.everyWay(
    "V7 more than the last message is read: an answer that stood in the history when it was saved",
    function*(way) {
      const chat = yield* begin(way)
      yield* chat.setHistory(Support.throughJson(Prompt.concat(chat.asking, yes(...chat.requests))))
      const turn = yield* chat.send([])
      assert.deepStrictEqual([outcomes(turn), turn.text, chat.runs], [["c1"], "done", ["delete a"]])
      C.assertWellFormed(yield* chat.lastPrompt)
    }
  )

  C.everyWay("V7 two pending with one answered: it runs once, its result is given, nothing throws", function*(way) {
    const chat = yield* begin(way, { calls: two })
    const turn = yield* chat.send(yes(chat.requests[1]!))
    assert.deepStrictEqual([outcomes(turn), turn.requests, turn.finishReason], [
      ["c2"],
      [chat.requests[0]!],
      "pause"
    ])
    assert.deepStrictEqual([chat.runs, yield* chat.calls], [["delete b"], 1])
  })

  C.everyWay("V7 a message after the answer: the call runs, and the model sees both", function*(way) {
    const chat = yield* begin(way)
    const turn = yield* chat.send(Prompt.concat(yes(...chat.requests), "and hurry"))
    assert.deepStrictEqual([outcomes(turn), turn.text, chat.runs], [["c1"], "done", ["delete a"]])
    yield* C.assertSent(chat, [
      "user:[go on]",
      "assistant:[call c1]",
      "tool:[result c1]",
      "user:[and hurry]"
    ])
  })
})
