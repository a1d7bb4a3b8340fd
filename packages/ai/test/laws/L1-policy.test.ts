/**
 * L1 Fail closed: a policy that goes wrong never lets a tool run; one that says nothing leaves the tool's gate in force.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, ApprovalPolicy, LanguageModel, Tool } from "../../src/index.ts"
import { ScriptedApprover } from "../../src/testing/index.ts"
import * as Asked from "./asked.ts"
import { logged } from "./logs.ts"
import * as Support from "./support.ts"

const secret = "s3cr3t-of-the-policy"

class Rules extends Context.Service<Rules, {
  readonly allow: (name: string) => Effect.Effect<ApprovalPolicy.PolicyResult, string>
}>()("test/L1/Rules") {}

const usesRules = (call: ApprovalPolicy.PolicyCall) => Rules.use((rules) => rules.allow(call.toolName))

const brokenPolicies = {
  "fails": () => Effect.fail(new Error(secret)),
  "dies": () => Effect.die(new Error(secret)),
  "is interrupted": () => Effect.interrupt,
  "throws synchronously": () => {
    throw new Error(secret)
  },
  "returns null": () => null,
  "returns a string": () => "false",
  "returns zero": () => 0,
  "returns an object": () => ({ approved: true, secret }),
  "returns what looks like a result": () => ({ _tag: "Approved", reason: secret }),
  "returns a broken PreApproved": () => ({ _tag: "PreApproved", reason: 7 }),
  "returns a promise of false": () => Promise.resolve(false),
  "is an effect of null": () => Effect.succeed(null),
  "is an effect of a string": () => Effect.succeed("no"),
  "is an effect of an effect": () => Effect.succeed(Effect.succeed(false)),
  "lacks a service": usesRules
}

type AnyPolicy = (call: ApprovalPolicy.PolicyCall) => Effect.Effect<ApprovalPolicy.PolicyResult>

const withPolicy = (policy: unknown) =>
  Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(policy as AnyPolicy))

const withLayer = (policy: unknown) => Effect.provide(ApprovalPolicy.layer(policy as AnyPolicy))

const strictly = Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)

// One tool is not gated, one is gated, and one lets itself run: a broken policy asks about all of them.
const Free = Tool.make("Free", { parameters: { path: Schema.String }, success: Schema.String })
const Allowed = Tool.make("Allowed", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: () => Approval.preApproved()
})
const toolset = [Free, Allowed, Support.DeleteFile]
const calls = toolset.map((tool, index) => Support.call(`c${index + 1}`, tool.name, { path: "a" }))

describe("L1 fail closed: a policy", () => {
  for (const [how, policy] of Object.entries(brokenPolicies)) {
    for (const [by, provide] of [["make", withPolicy], ["layer", withLayer]] as const) {
      Support.forEachMode(`L1 a policy (${by}) that ${how} asks about every call, gated or not`, function*(mode) {
        const tools = yield* Support.makeTools(toolset)
        const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(provide(policy))
        assert.deepStrictEqual(tools.runs, [])
        assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c1", "c2", "c3"])
        assert.deepStrictEqual(turn.results, [])
        assert.isFalse(JSON.stringify([turn.parts, turn.history]).includes(secret))
      }, by === "make" ? Support.modes : ["generateText"])
    }

    Support.forEachMode(`L1 a policy that ${how} denies every call under strict`, function*(mode) {
      const tools = yield* Support.makeTools(toolset)
      const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(withPolicy(policy), strictly)
      assert.deepStrictEqual(tools.runs, [])
      assert.deepStrictEqual(turn.requests, [])
      assert.strictEqual(turn.results.length, 3)
      for (const result of turn.results) Support.failureReason(result)
      assert.isFalse(JSON.stringify([turn.parts, turn.history]).includes(secret))
    })

    it.effect(`L1 isApprovalNeeded is true when the policy ${how}`, () =>
      Effect.gen(function*() {
        const call = { id: "c1", name: "Free", params: { path: "a" } }
        assert.isTrue(yield* LanguageModel.isApprovalNeeded(Free, call, []).pipe(withPolicy(policy)))
      }))
  }

  Support.forEachMode("L1 the reason shown is one fixed sentence, however the policy went wrong", function*(mode) {
    const tools = yield* Support.makeTools(toolset)
    const turns = yield* Effect.forEach(
      Object.values(brokenPolicies),
      (policy) => Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(withPolicy(policy))
    )
    const reasons = new Set(turns.flatMap((turn) => turn.requests.map((request) => request.reason)))
    assert.strictEqual(reasons.size, 1, JSON.stringify(Array.from(reasons)))
    assert.match(String(Array.from(reasons)[0]), /\w+ \w+/)
  })

  Support.forEachMode("L1 a policy that hangs past its limit is asked, strict or not", function*(mode) {
    for (
      const [limit, approval] of [["30 seconds", undefined], ["5 seconds", { policyTimeLimit: 5000 }]] as const
    ) {
      for (const strict of [false, true]) {
        const hold = yield* Support.makeHold
        const tools = yield* Support.makeTools(toolset)
        const turn = Support.ask(mode, { toolkit: tools.toolkit, calls: calls.slice(0, 1), approval }).pipe(
          withPolicy(() => Effect.as(hold.wait, false))
        )
        const fiber = yield* Effect.forkChild(strict ? strictly(turn) : turn)
        yield* hold.entered
        yield* Support.idle
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust(limit)
        const { requests, results } = yield* Fiber.join(fiber)
        assert.deepStrictEqual([requests.length, results.length, tools.runs.length], strict ? [0, 1, 0] : [1, 0, 0])
      }
    }
  })

  it.effect("L1 isApprovalNeeded is true when the policy hangs for 30 seconds", () =>
    Effect.gen(function*() {
      const call = { id: "c1", name: "Free", params: { path: "a" } }
      const needed = LanguageModel.isApprovalNeeded(Free, call, []).pipe(withPolicy(() => Effect.never))
      const fiber = yield* Effect.forkChild(needed)
      yield* Support.idle
      assert.isUndefined(fiber.pollUnsafe())
      yield* Support.advance(fiber, "30 seconds", 2)
      assert.isTrue(yield* Fiber.join(fiber))
    }))

  Support.forEachMode("L1 a policy layer takes its services along, to a place that has none", function*(mode) {
    const tools = yield* Support.makeTools(toolset)
    const rules = Layer.succeed(Rules, {
      allow: (name) => name === "Free" ? Effect.succeed(true) : Effect.fail("unknown")
    })
    const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
      Effect.provide(Layer.provide(ApprovalPolicy.layer(usesRules), rules))
    )
    assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c1", "c2", "c3"])
    assert.notStrictEqual(turn.requests[0]!.reason, turn.requests[1]!.reason)
    assert.deepStrictEqual(tools.runs, [])
  })
})

describe("L1 fail closed: a policy that says something, or nothing", () => {
  const nothing = { "undefined": () => undefined, "an effect of undefined": () => Effect.void }
  for (const [what, policy] of Object.entries(nothing)) {
    Support.forEachMode(`L1 a policy that returns ${what} leaves each tool's own gate in force`, function*(mode) {
      const Blocking = Tool.make("Blocking", { needsApproval: () => Approval.blocked("never here") })
      const Broken = Tool.make("Broken", { needsApproval: () => Effect.die(secret) })
      const tools = yield* Support.makeTools([...toolset, Blocking, Broken])
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: [...calls, Support.call("c4", "Blocking", {}), Support.call("c5", "Broken", {})]
      }).pipe(withPolicy(policy))
      assert.deepStrictEqual(tools.runs.map((run) => run.name).toSorted(), ["Allowed", "Free"])
      assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c3", "c5"])
      const blocked = turn.results.find((result) => result.id === "c4")
      assert.include(Support.failureReason(blocked), "never here")
    })
  }

  Support.forEachMode("L1 a policy that asks is heard for tools that are not gated", function*(mode) {
    for (const says of [true, Approval.needsApproval({ reason: "audit week" })]) {
      const tools = yield* Support.makeTools(toolset)
      const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(withPolicy(() => says))
      assert.deepStrictEqual(tools.runs, [])
      assert.strictEqual(turn.requests.length, 3)
      if (says !== true) assert.strictEqual(turn.requests[0]!.reason, "audit week")
    }
  })

  Support.forEachMode(
    "L1 Blocked is a final denial: nobody is asked, inline or later, and nothing runs",
    function*(mode) {
      const approver = ScriptedApprover.make(() => "approve")
      const tools = yield* Support.makeTools(toolset)
      const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
        withPolicy(() => Approval.blocked("frozen until Monday")),
        Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive(approver.callback)
        )
      )
      assert.deepStrictEqual(yield* approver.seen, [])
      assert.deepStrictEqual([turn.requests, tools.runs], [[], []])
      assert.strictEqual(turn.results.length, 3)
      for (const result of turn.results) {
        assert.include(Support.failureReason(result), "frozen until Monday")
        assert.strictEqual((result.encodedResult as { type: string }).type, "execution-denied")
      }
      // The model is told, and the history needs nobody any more.
      const script = yield* Support.answering
      const next = yield* Support.takeTurn(mode, {
        model: script.model,
        toolkit: tools.toolkit,
        history: turn.history
      })
      assert.strictEqual(next.text, "done")
      const sent = yield* Support.sentResults(script)
      assert.deepStrictEqual(sent.map((result) => result.isFailure), [true, true, true])
      assert.deepStrictEqual(tools.runs, [])
    }
  )

  Support.forEachMode("L1 approveAll does not approve what a policy or a gate blocks", function*(mode) {
    const Blocking = Tool.make("Blocking", { needsApproval: () => Approval.blocked("never here") })
    const tools = yield* Support.makeTools([Support.DeleteFile, Blocking])
    const turn = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "Blocking", {}), Support.call("c2", "DeleteFile", { path: "a" })]
    }).pipe(Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll))
    assert.deepStrictEqual(tools.runs.map((run) => run.name), ["DeleteFile"])
    assert.include(Support.failureReason(turn.results.find((result) => result.id === "c1")), "never here")
    assert.deepStrictEqual(turn.requests, [])
  })
})

describe("a policy", () => {
  const calls = [Support.call("c1", "DeleteFile", { path: "a" })]

  /** The first call of a policy, and every later one. */
  const inTurn = (...results: ReadonlyArray<() => ReturnType<Parameters<typeof ApprovalPolicy.make>[0]>>) => {
    let index = 0
    return () => results[Math.min(index++, results.length - 1)]!()
  }

  Support.forEachMode("L1 that fails leaves an open request open, with a fixed sentence for a reason", function*(mode) {
    const { options, request, script, tools } = yield* Asked.deletion(mode)
    const poll = yield* Support.takeTurn(mode, options).pipe(Asked.withPolicy(() => Effect.fail(secret)))
    assert.deepStrictEqual(poll.requests.map(({ approvalId }) => approvalId), [request.approvalId])
    assert.match(
      poll.requests[0]!.reason ?? "",
      /policy for this tool failed, so a person is asked.*approval does not/
    )
    assert.deepStrictEqual([tools.runs, yield* script.calls], [[], 0])
  })

  Support.forEachMode("L1 L15 that fails is told of once for each tool, without its cause", function*(mode) {
    const gated = (name: string) =>
      Tool.make(name, {
        parameters: { path: Schema.String },
        success: Schema.String,
        needsApproval: () => Effect.fail(secret)
      })
    const tools = yield* Support.makeTools([gated("One"), gated("Two")] as never)
    const [, lines] = yield* logged(Effect.gen(function*() {
      for (const names of [["One", "One"], ["Two"], ["One", "Two"]]) {
        const asked = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: names.map((name, index) => Support.call(`c${index}`, name, { path: "a" }))
        })
        assert.strictEqual(asked.requests.length, names.length)
      }
    }))
    assert.deepStrictEqual(lines.map(({ level }) => level), ["Warn", "Warn"])
    lines.forEach(({ text }, index) => {
      assert.include(text, `"${["One", "Two"][index]}" failed or did not answer, so a person is asked`)
      assert.include(text, "Approvals have no effect until it works")
      assert.notInclude(text, secret)
    })
  }, ["generateText", "streamText"])

  Support.forEachMode(
    "L11 that fails when somebody has approved inline neither runs nor uses up the approval",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
        Asked.withController(() => true),
        Asked.withPolicy(inTurn(() => true, () => Effect.fail(secret)))
      )
      assert.deepStrictEqual([asked.requests.length, asked.results, tools.runs], [1, [], []])
      const { model } = yield* Support.answering
      yield* Support.approve(mode, { asked, model, tools })
      assert.strictEqual(tools.runs.length, 1)
    }
  )

  Support.forEachMode("L5 that would let the call run by now gives no reason for asking", function*(mode) {
    const { options, request } = yield* Asked.deletion(mode)
    const poll = yield* Support.takeTurn(mode, options).pipe(
      Asked.withPolicy(() => new Approval.PreApproved({ reason: "a trusted folder" }))
    )
    assert.deepStrictEqual(poll.requests.map((open) => [open.approvalId, open.reason]), [
      [request.approvalId, undefined]
    ])
  })
})
