/**
 * Answers to one request that differ, and denials with something to remember, in the corners that mutants of
 * `internal/settle.ts` showed nobody looked into.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, ApprovalMemory, ApprovalPolicy } from "../../src/index.ts"
import * as M from "../laws/remembered.ts"
import * as Support from "../laws/support.ts"

const begin = (mode: Support.Mode) =>
  Effect.gen(function*() {
    const tools = yield* Support.makeTools()
    const asked = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "DeleteFile", { path: "a" })]
    })
    const script = yield* Support.answering
    const options = { model: script.model, toolkit: tools.toolkit, history: asked.history }
    return { options, request: asked.requests[0]!, script, tools }
  })

const withPolicy = (policy: Parameters<typeof ApprovalPolicy.make>[0]) =>
  Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(policy))

describe("L4 two answers to one request", () => {
  const toB = (request: Approval.ApprovalRequest) => Approval.approve(request, { params: { path: "b" } })

  Support.forEachMode(
    "L4 an edit that the policy does not let the history make is none, also where it would allow the edited call",
    (mode) =>
      Effect.gen(function*() {
        for (const ofB of [Approval.needsApproval({ editable: true }), Approval.preApproved()]) {
          const { options, request, tools } = yield* begin(mode)
          const prompt = Support.answers(toB(request), Approval.approve(request))
          yield* Support.takeTurn(mode, { ...options, prompt }).pipe(
            withPolicy(({ encodedParams }) => M.pathOf({ params: encodedParams }) === "b" ? ofB : undefined)
          )
          assert.deepStrictEqual(tools.runs, [{ name: "DeleteFile", params: { path: "a" } }])
        }
      })
  )

  Support.forEachMode(
    "L3 L4 where the history may edit, the first of the two counts",
    (mode) =>
      Effect.gen(function*() {
        const { options, request, tools } = yield* begin(mode)
        const prompt = Support.answers(toB(request), Approval.approve(request))
        yield* Support.takeTurn(mode, { ...options, prompt }).pipe(
          withPolicy(() => Approval.needsApproval({ editable: true }))
        )
        assert.deepStrictEqual(tools.runs, [{ name: "DeleteFile", params: { path: "b" } }])
      })
  )

  Support.forEachMode("L11 an edit is held as well while the policy fails", (mode) =>
    Effect.gen(function*() {
      const { options, request, script, tools } = yield* begin(mode)
      const turn = yield* Support.takeTurn(mode, { ...options, prompt: Support.answers(toB(request)) }).pipe(
        withPolicy(() => Effect.fail("offline"))
      )
      assert.deepStrictEqual(turn.requests.map(({ approvalId }) => approvalId), [request.approvalId])
      assert.deepStrictEqual([tools.runs, yield* script.calls], [[], 0])
    }))
})

describe("L11 a request that nobody answered", () => {
  Support.forEachMode("L11 is denied, for good, once the policy blocks its call", (mode) =>
    Effect.gen(function*() {
      const { options, request, tools } = yield* begin(mode)
      const turn = yield* Support.takeTurn(mode, options).pipe(withPolicy(() => Approval.blocked("not any more")))
      assert.deepStrictEqual([turn.requests, turn.results.map((part) => part.encodedResult)], [[], [
        { type: "execution-denied", reason: "not any more" }
      ]])
      yield* Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.approve(request)) })
      assert.deepStrictEqual(tools.runs, [])
    }))
})

describe("a denial that is to be remembered, where nothing can be", () => {
  const where = {
    "without a toolkit": { over: { toolkit: undefined }, policy: undefined },
    "while the policy fails": { over: {}, policy: () => Effect.fail("offline") },
    "where the policy blocks the call": { over: {}, policy: () => Approval.blocked("no") }
  }
  for (const [how, { over, policy }] of Object.entries(where)) {
    Support.forEachMode(
      `L14 is a denial like any other ${how}, and nothing is remembered`,
      (mode) =>
        Effect.gen(function*() {
          const { options, request, tools } = yield* begin(mode)
          const prompt = M.posted({
            approvalId: request.approvalId,
            approved: false,
            assent: { remember: "session" }
          })
          const turn = yield* Support.takeTurn(mode, { ...options, ...over, prompt }).pipe(
            policy === undefined ? (effect) => effect : withPolicy(policy)
          )
          assert.deepStrictEqual([turn.results.map((part) => part.isFailure), turn.text], [[true], "done"])
          assert.deepStrictEqual([tools.runs, yield* M.listed()], [[], []])
        }).pipe(Effect.provide(ApprovalMemory.layerSession()), M.inConversation("talk"))
    )
  }
})
