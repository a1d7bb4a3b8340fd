/**
 * L16, who: where a policy names `approvers`, a decision by anybody else, or by nobody known, settles nothing, whichever way
 * it comes; and a decision that has an effect carries who made it.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Approval, ApprovalController, ApprovalPolicy, Toolkit } from "../../src/index.ts"
import * as A from "./approvers.ts"
import * as Asked from "./asked.ts"
import * as Support from "./support.ts"

const decisions = [
  ["approval", (request) => Approval.approve(request)],
  ["denial", (request) => Approval.deny(request, "no")],
  ["edit", (request) => Approval.approve(request, { params: { path: "b" } })]
] as const satisfies ReadonlyArray<
  readonly [string, (request: Approval.ApprovalRequest) => Approval.ApprovalAnswer]
>

const assertOpen = (turn: Support.Turn, request: Approval.ApprovalRequest, words: RegExp) => {
  assert.deepStrictEqual(turn.requests.map(({ approvalId }) => approvalId), [request.approvalId])
  assert.match(turn.requests[0]!.reason ?? "", words)
  assert.deepStrictEqual(turn.results, [])
  assert.isTrue(turn.waiting)
}

describe("L16 the wrong person", () => {
  for (const [name, decide] of decisions) {
    Support.forEachMode(`L16 an ${name} in a message history is nobody's, and changes nothing`, function*(mode) {
      const { answer, request, tools } = yield* A.deletion(mode, { ...A.alone, editable: true })
      const [turn, events] = yield* A.published(answer(decide(request)))
      assertOpen(turn, request, /Nobody knows who decided this.*It needs ada/)
      assert.deepStrictEqual(A.refusals(events), ["unknown"])
      assert.strictEqual(tools.count("DeleteFile"), 0)
      const settled = yield* A.by(A.ada)(answer(Approval.approve(request)))
      assert.deepStrictEqual(settled.results.map(({ isFailure }) => isFailure), [false])
      assert.deepStrictEqual(tools.runs.map(({ params }) => params), [{ path: "a" }])
    })

    Support.forEachMode(`L16 a trusted ${name} of somebody else changes nothing`, function*(mode) {
      const { answer, request, tools } = yield* A.deletion(mode, A.alone)
      const [turn, events] = yield* A.published(A.by(A.eve)(answer(decide(request))))
      assertOpen(turn, request, /Eve may not decide this/)
      assert.deepStrictEqual(A.refusals(events), ["not named"])
      const denied = yield* A.by(A.ada)(answer(Approval.deny(request, "keep it")))
      assert.match(Support.failureReason(denied.results[0]), /keep it/)
      assert.strictEqual(tools.count("DeleteFile"), 0)
    }, ["generateText", "Chat.streamText"])

    Support.forEachMode(
      `L16 an inline ${name} of somebody else changes nothing, and they are asked once`,
      function*(mode) {
        const { answer, request, tools } = yield* A.deletion(mode, A.alone)
        let asked = 0
        const callback = (request: Approval.ApprovalRequest) => (asked++, decide(request))
        const [turn, events] = yield* A.published(A.asking(callback, A.eve)(answer()))
        assertOpen(turn, request, /Eve may not decide this/)
        assert.deepStrictEqual(A.refusals(events), ["not named"])
        assert.strictEqual(asked, 1)
        assert.strictEqual(tools.count("DeleteFile"), 0)
        const settled = yield* A.asking(() => true, A.ada)(answer())
        assert.strictEqual(settled.results.length, 1)
        assert.strictEqual(tools.count("DeleteFile"), 1)
      },
      ["generateText", "streamText"]
    )
  }

  Support.single("L16 a guarded toolkit runs nothing by the word of somebody else, or of nobody", function*() {
    const { runs, toolkit } = yield* Support.makeTools()
    const guarded = Toolkit.guard(toolkit)
    const handle = A.naming(A.alone)(
      Effect.orDie(Effect.flatMap(guarded.handle("DeleteFile", { path: "a" }), Stream.runCollect))
    )
    const failed = (output: ReadonlyArray<{ readonly isFailure: boolean; readonly result: unknown }>) =>
      output.map(({ isFailure, result }) => `${isFailure} ${JSON.stringify(result)}`).join()
    assert.match(failed(yield* A.asking(() => true, A.eve)(handle)), /true.*Eve may not decide this/)
    assert.match(failed(yield* A.asking(() => false)(handle)), /true.*Nobody knows who decided this/)
    assert.deepStrictEqual(runs, [])
    yield* A.asking(() => true, A.ada)(handle)
    assert.strictEqual(runs.length, 1)
  })

  Support.single("L16 in a guarded toolkit each who is needed is asked, and kept in the meantime", function*() {
    const { runs, toolkit } = yield* Support.makeTools()
    const guarded = Toolkit.guard(toolkit)
    const handle = A.naming(A.both)(
      Effect.orDie(Effect.flatMap(guarded.handle("DeleteFile", { path: "a" }), Stream.runCollect))
    )
    const people = [A.ada, A.ada]
    yield* A.asking((_) => ApprovalController.decided(true, people.shift()!))(handle)
    assert.deepStrictEqual(runs, [], "the same person twice is one")
    const shown: Array<string | undefined> = []
    const others = [A.ada, A.bob]
    yield* A.asking(({ reason }) => {
      shown.push(reason)
      return ApprovalController.decided(true, others.shift()!)
    })(handle)
    assert.strictEqual(runs.length, 1)
    assert.match(shown[1] ?? "", /Approved already by Ada\. Still needed: bob\./)
  })

  Support.forEachMode("L16 approveAll is nobody known, and strict denies whoever the approvers are", function*(mode) {
    const { answer, request, tools } = yield* A.deletion(mode, A.alone)
    const everybody = Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll)
    assertOpen(yield* everybody(answer()), request, /Nobody knows/)
    const strict = Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)
    const denied = yield* strict(answer())
    assert.match(Support.failureReason(denied.results[0]), /nobody can be asked here/)
    assert.strictEqual(tools.count("DeleteFile"), 0)
  }, ["generateText", "streamText"])

  Support.forEachMode(
    "L16 with selfApproval: false whoever asked for it may not decide, nor may nobody",
    function*(mode) {
      const inScope = Effect.provideService(Approval.Scope, { principal: "ada" })
      const { answer, request, tools } = yield* inScope(A.deletion(mode, { selfApproval: false }))
      const own = yield* inScope(A.by(A.ada)(answer(Approval.approve(request))))
      assertOpen(own, request, /Ada asked for this, and somebody else has to decide it/)
      assertOpen(yield* inScope(answer(Approval.deny(request))), request, /Nobody knows/)
      const other = yield* inScope(A.by(A.eve)(answer(Approval.approve(request))))
      assert.strictEqual(other.results.length, 1)
      assert.strictEqual(tools.count("DeleteFile"), 1)
    },
    ["generateText"]
  )
})

describe("L16 where no policy can say who", () => {
  Support.forEachMode("L16 a denial settles under a policy that failed, and an approval holds", function*(mode) {
    const { options, request, tools } = yield* A.deletion(mode, A.alone)
    const failing = Asked.withPolicy(() => Effect.fail("down"))
    const approved = yield* failing(
      Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.approve(request)) })
    )
    assert.strictEqual(approved.requests.length, 1)
    const denied = yield* failing(
      Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.deny(request, "no")) })
    )
    assert.match(Support.failureReason(denied.results[0]), /no/)
    assert.strictEqual(tools.count("DeleteFile"), 0)
  }, ["generateText"])

  Support.forEachMode("L16 without a toolkit, or without its tool, a denial settles", function*(mode) {
    for (const toolkit of [undefined, (yield* Support.makeTools([Support.ReadFile])).toolkit]) {
      const { options, request } = yield* A.deletion(mode, A.alone)
      const prompt = Support.answers(Approval.deny(request, "no"))
      const denied = yield* Support.takeTurn(mode, { ...options, toolkit, prompt })
      assert.match(Support.failureReason(denied.results[0]), /no/)
    }
  }, ["generateText"])

  Support.forEachMode(
    "L16 the policy of now says who may, and one that names nobody any more takes any answer",
    function*(mode) {
      const { options, request, tools } = yield* A.deletion(mode, A.alone)
      const prompt = Support.answers(Approval.approve(request))
      const other = Effect.provideService(
        ApprovalPolicy.ApprovalPolicy,
        ApprovalPolicy.make(() => Approval.needsApproval({ approvers: ["bob"] }))
      )
      const refused = yield* other(A.by(A.ada)(Support.takeTurn(mode, { ...options, prompt })))
      assertOpen(refused, request, /Ada may not decide this.*It needs bob/)
      yield* Support.takeTurn(mode, { ...options, prompt })
      assert.strictEqual(tools.count("DeleteFile"), 1)
    },
    ["generateText"]
  )

  Support.forEachMode(
    "L16 nobody is asked who has nothing to say: without approvers a denial asks no policy",
    function*(mode) {
      const { options, request } = yield* Asked.deletion(mode)
      let asked = 0
      const counting = Asked.withPolicy(() => (asked++, undefined))
      yield* counting(Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.deny(request)) }))
      assert.strictEqual(asked, 0)
    },
    ["generateText"]
  )
})
