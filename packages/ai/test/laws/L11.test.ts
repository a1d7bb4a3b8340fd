/**
 * L11, policy again at dispatch: an approval does not outlive a policy that now blocks; edited params pass schema and
 * policy again. A policy that fails at dispatch neither runs nor consumes: the turn holds.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, ApprovalPolicy, Prompt, Response, Tool, Toolkit } from "../../src/index.ts"
import * as Asked from "./asked.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

const two = [C.deleteCall("c1", "a"), C.deleteCall("c2", "b")]

const begin = Effect.fnUntraced(function*(way: C.Way) {
  const { runs, toolkit } = yield* C.fileTools
  const chat = yield* C.start({ way, toolkit, turns: [two, "done", "bye"] })
  const asked = yield* chat.send("tidy up")
  const answers = C.approveAll(asked)
  return { answers, asked, chat, runs }
})

const withPolicy = (policy: Parameters<typeof ApprovalPolicy.make>[0]) =>
  Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(policy))

const pathOf = (call: ApprovalPolicy.PolicyCall) => (call.params as { readonly path: string }).path

describe("L11 at dispatch", () => {
  C.everyWay(
    "L11 an approval does not outlive a policy that now blocks: a final failed result, nothing runs",
    function*(way) {
      const { answers, chat, runs } = yield* begin(way)
      const turn = yield* chat.send(answers).pipe(
        withPolicy((call) => pathOf(call) === "a" ? Approval.blocked("deleting a is off today") : undefined)
      )
      assert.strictEqual(turn.text, "done")
      assert.deepStrictEqual(runs, ["delete b"])
      const blocked = turn.results.find((part) => part.id === "c1")!
      assert.include(C.reasonOf(blocked), "deleting a is off today")
      assert.notMatch(C.reasonOf(blocked), /again/i, "reads as final")
      C.assertWellFormed(yield* chat.lastPrompt)
    }
  )

  C.everyWay("L11 the tool's own gate is asked again too, and may block now", function*(way) {
    let closed = false
    const runs: Array<string> = []
    const Guarded = Tool.make("DeleteFile", {
      parameters: { path: Schema.String },
      success: Schema.Struct({ deleted: Schema.String }),
      needsApproval: () => closed ? Approval.blocked("the office is closed") : true
    })
    const toolkit = yield* C.withHandlers(Toolkit.make(Guarded), {
      DeleteFile: ({ path }) => Effect.sync(() => (runs.push(path), { deleted: path }))
    })
    const chat = yield* C.start({ way, toolkit, turns: [two, "done"] })
    const asked = yield* chat.send("tidy up")
    closed = true
    const turn = yield* chat.send(
      C.approveAll(asked)
    )
    for (const part of turn.results) assert.include(C.reasonOf(part), "the office is closed")
    assert.strictEqual(turn.results.length, 2)
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("L11 a policy that still asks, or now lets it run, is satisfied by the approval", function*(way) {
    const { answers, chat, runs } = yield* begin(way)
    yield* chat.send(answers).pipe(
      withPolicy((call) => pathOf(call) === "a" ? Approval.needsApproval() : Approval.preApproved())
    )
    assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b"])
  })

  C.everyWay("L11 a policy that now lets everything run does not run what was denied", function*(way) {
    const { asked, chat, runs } = yield* begin(way)
    yield* chat.send(Prompt.approvalResponses(asked.requests.map((request) => Approval.deny(request)))).pipe(
      withPolicy(() => false)
    )
    assert.deepStrictEqual(runs, [])
  })

  const failures: Record<string, () => Effect.Effect<never, unknown>> = {
    "fails": () => Effect.fail("offline"),
    "dies": () => Effect.die(new Error("a bug")),
    "returns something else": () => Effect.succeed("yes") as Effect.Effect<never>
  }
  for (const [title, policy] of Object.entries(failures)) {
    C.everyWay(`L11 a policy that ${title} at dispatch: the turn holds, the answer stays good`, function*(way) {
      const { answers, asked, chat, runs } = yield* begin(way)
      const held = yield* chat.send(answers).pipe(withPolicy(policy))
      assert.deepStrictEqual(runs, [])
      assert.strictEqual(held.finishReason, "pause")
      assert.isTrue(Response.isWaiting(held.parts))
      assert.deepStrictEqual(
        held.requests.map((request) => request.approvalId),
        asked.requests.map((request) => request.approvalId)
      )
      assert.strictEqual(yield* chat.calls, 1)

      const turn = yield* chat.send([])
      assert.strictEqual(turn.shape, "result result text finish", "no second answer is needed")
      assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b"])
      C.assertWellFormed(yield* chat.lastPrompt)
    })
  }

  C.everyWay("L11 a policy that hangs at dispatch: the turn holds after its time limit", function*(way) {
    const { answers, chat, runs } = yield* begin(way)
    const fiber = yield* Effect.forkChild(chat.send(answers).pipe(withPolicy(() => Effect.never)), {
      startImmediately: true
    })
    for (let i = 0; i < 2000 && fiber.pollUnsafe() === undefined; i++) {
      yield* Effect.yieldNow
      yield* TestClock.adjust("31 seconds")
    }
    const held = yield* Fiber.join(fiber)
    assert.strictEqual(held.finishReason, "pause")
    assert.deepStrictEqual(runs, [])
    yield* chat.send(answers)
    assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b"])
  })

  C.everyWay("L11 a policy that fails for one call of a batch holds that one; the other runs once", function*(way) {
    const { answers, asked, chat, runs } = yield* begin(way)
    const held = yield* chat.send(answers).pipe(
      withPolicy((call) => pathOf(call) === "a" ? Effect.fail("offline") : undefined)
    )
    assert.deepStrictEqual(runs, ["delete b"])
    assert.strictEqual(held.shape, "result request finish")
    assert.deepStrictEqual(held.requests.map((request) => request.approvalId), [asked.requests[0]!.approvalId])
    yield* chat.send(answers)
    assert.deepStrictEqual(runs, ["delete b", "delete a"])
    C.assertWellFormed(yield* chat.lastPrompt)
  })
})

describe("L11 edited params", () => {
  const edit = (params: Schema.Json) =>
    Effect.provideService(
      ApprovalController.ApprovalController,
      ApprovalController.interactive((request) =>
        request.toolCallId === "c1" ? Approval.approve(request, { params }) : Approval.deny(request)
      )
    )
  const asking = Effect.fnUntraced(function*(way: C.Way) {
    const { runs, toolkit } = yield* C.fileTools
    return { runs, chat: yield* C.start({ way, toolkit, turns: [two, "done"] }) }
  })

  C.everyWay("L11 edited params run in place of the proposed ones", function*(way) {
    const { chat, runs } = yield* asking(way)
    yield* chat.send("tidy up").pipe(edit({ path: "other" }))
    assert.deepStrictEqual(runs, ["delete other"])
  })

  C.everyWay("L11 edited params that do not pass the schema run nothing, and the request stays open", function*(way) {
    const { chat, runs } = yield* asking(way)
    const turn = yield* chat.send("tidy up").pipe(edit({ path: 7 }))
    assert.deepStrictEqual(runs, [])
    assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c1"])
    const later = yield* chat.send(Prompt.approvalResponses([Approval.approve(turn.requests[0]!)]))
    assert.deepStrictEqual(runs, ["delete a"])
    assert.strictEqual(later.text, "done")
  })

  C.everyWay("L11 edited params pass the policy again: what it blocks does not run", function*(way) {
    const { chat, runs } = yield* asking(way)
    yield* chat.send("tidy up").pipe(
      edit({ path: "/etc/passwd" }),
      withPolicy((call) => pathOf(call).startsWith("/etc/") ? Approval.blocked("not there") : undefined)
    )
    assert.deepStrictEqual(runs, [])
  })
})

describe("L11 a request that nobody answered", () => {
  Support.forEachMode("L11 is denied, for good, once the policy blocks its call", function*(mode) {
    const { options, request, tools } = yield* Asked.deletion(mode)
    const turn = yield* Support.takeTurn(mode, options).pipe(Asked.withPolicy(() => Approval.blocked("not any more")))
    assert.deepStrictEqual([turn.requests, turn.results.map((part) => part.encodedResult)], [[], [
      { type: "execution-denied", reason: "not any more" }
    ]])
    yield* Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.approve(request)) })
    assert.deepStrictEqual(tools.runs, [])
  })
})
