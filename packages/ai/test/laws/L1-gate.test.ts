/**
 * L1 Fail closed: a tool's own `needsApproval` that does anything but say `false` never lets the tool run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Schema } from "effect"
import type { Prompt } from "effect/ai"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, LanguageModel, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const secret = "s3cr3t-of-the-cause"

class Ledger extends Context.Service<Ledger, {
  readonly isLarge: (path: string) => Effect.Effect<boolean, string>
}>()("test/L1/Ledger") {}

const usesLedger = () => Ledger.use((ledger) => ledger.isLarge("x"))

/** Every way in which a gate can fail to say `false`, and which is not plainly `true` either. */
const brokenGates = {
  "fails": () => Effect.fail(new Error(secret)),
  "fails with a string": () => Effect.fail(secret),
  "dies": () => Effect.die(new Error(secret)),
  "dies of a throw inside": () =>
    Effect.sync(() => {
      throw new Error(secret)
    }),
  "is interrupted": () => Effect.interrupt,
  "throws synchronously": () => {
    throw new Error(secret)
  },
  "throws what is no error": () => {
    throw secret
  },
  "returns nothing": () => undefined,
  "returns null": () => null,
  "returns an empty string": () => "",
  "returns a string": () => "false",
  "returns zero": () => 0,
  "returns an object": () => ({ approved: true, secret }),
  "returns what looks like a result": () => ({ _tag: "Approved", reason: secret }),
  "returns a broken PreApproved": () => ({ _tag: "PreApproved", reason: 7 }),
  "returns a promise of nothing": () => Promise.resolve(),
  "returns a promise of an effect": () => Promise.resolve(Effect.succeed(false)),
  "returns a promise that rejects": () => Promise.reject(new Error(secret)),
  "is an effect of nothing": () => Effect.void,
  "is an effect of a string": () => Effect.succeed("no"),
  "is an effect of an effect": () => Effect.succeed(Effect.succeed(false)),
  "is an effect of a promise": () => Effect.succeed(Promise.resolve(false)),
  "lacks a service": usesLedger
}

const makeGated = (needsApproval: unknown) =>
  Tool.make("Gated", {
    parameters: { path: Schema.String },
    success: Schema.String,
    needsApproval: needsApproval as boolean
  })

const calls = [Support.call("c1", "Gated", { path: "a" })]

const strictly = Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)

/** Everything anybody can see: the parts, the history, and what the provider is sent next. */
const seen = (value: unknown) =>
  JSON.stringify(value, (_, inner) => inner instanceof Error ? `${inner.message} ${inner.stack}` : inner)

describe("L1 fail closed: a gate", () => {
  for (const [how, needsApproval] of Object.entries(brokenGates)) {
    const name = how === "fails" ? "B1 " : ""
    Support.forEachMode(`L1 ${name}a gate that ${how} is asked, and shows nothing of the cause`, function*(mode) {
      const tools = yield* Support.makeTools([makeGated(needsApproval)])
      const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls })
      assert.deepStrictEqual(tools.runs, [])
      assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c1"])
      assert.deepStrictEqual(turn.results, [])
      assert.isTrue(turn.waiting)
      assert.isFalse(seen([turn.parts, turn.history]).includes(secret))
    })

    Support.forEachMode(`L1 ${name}a gate that ${how} is denied under strict, and the model goes on`, function*(mode) {
      const tools = yield* Support.makeTools([makeGated(needsApproval)])
      const turn = yield* strictly(Support.ask(mode, { toolkit: tools.toolkit, calls }))
      assert.deepStrictEqual(tools.runs, [])
      assert.deepStrictEqual(turn.requests, [])
      assert.strictEqual(turn.results.length, 1)
      Support.failureReason(turn.results[0])
      const script = yield* Support.answering
      const next = yield* strictly(
        Support.takeTurn(mode, { model: script.model, toolkit: tools.toolkit, history: turn.history })
      )
      assert.strictEqual(next.text, "done")
      assert.isFalse(seen([turn.parts, turn.history, yield* script.requests]).includes(secret))
      assert.deepStrictEqual(tools.runs, [])
    })
  }

  Support.forEachMode("L1 the reason shown is one fixed sentence, however the gate went wrong", function*(mode) {
    const reasons = yield* Effect.forEach(Object.values(brokenGates), (needsApproval) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools([makeGated(needsApproval)])
        const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls })
        return turn.requests[0]?.reason
      }))
    assert.strictEqual(new Set(reasons).size, 1, JSON.stringify(reasons))
    assert.match(String(reasons[0]), /\w+ \w+/)
  })

  Support.forEachMode("L1 a gate that hangs is asked at the time limit of 30 seconds, and not before", function*(mode) {
    const hold = yield* Support.makeHold
    const tools = yield* Support.makeTools([makeGated(() => Effect.as(hold.wait, false))])
    const fiber = yield* Effect.forkChild(Support.ask(mode, { toolkit: tools.toolkit, calls }))
    yield* hold.entered
    yield* Support.idle
    yield* TestClock.adjust("29999 millis")
    yield* Support.idle
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    const turn = yield* Fiber.join(fiber)
    assert.strictEqual(turn.requests.length, 1)
    assert.deepStrictEqual(tools.runs, [])
  })

  Support.forEachMode("L1 policyTimeLimit bounds a gate that hangs, strict or not", function*(mode) {
    for (const strict of [false, true]) {
      const hold = yield* Support.makeHold
      const tools = yield* Support.makeTools([makeGated(() => Effect.as(hold.wait, false))])
      const turn = Support.ask(mode, { toolkit: tools.toolkit, calls, approval: { policyTimeLimit: "2 seconds" } })
      const fiber = yield* Effect.forkChild(strict ? strictly(turn) : turn)
      yield* hold.entered
      yield* Support.idle
      yield* TestClock.adjust("2 seconds")
      const { requests, results } = yield* Fiber.join(fiber)
      assert.deepStrictEqual([requests.length, results.length], strict ? [0, 1] : [1, 0])
      if (strict) Support.failureReason(results[0])
      assert.deepStrictEqual(tools.runs, [])
    }
  })

  Support.forEachMode("L1 a gate that cannot be interrupted and hangs is asked all the same", function*(mode) {
    const hold = yield* Support.makeHold
    const tools = yield* Support.makeTools([makeGated(() => Effect.uninterruptible(Effect.as(hold.wait, false)))])
    const fiber = yield* Effect.forkChild(Support.ask(mode, { toolkit: tools.toolkit, calls }))
    yield* hold.entered
    yield* Support.idle
    yield* TestClock.adjust("30 seconds")
    const early = yield* Support.settles(fiber)
    yield* hold.release
    const turn = yield* Fiber.join(fiber)
    assert.strictEqual(turn.requests.length, 1)
    assert.deepStrictEqual(tools.runs, [])
    assert.isTrue(early, "the turn waits for a gate that does not let itself be interrupted")
  })

  Support.forEachMode("L1 one broken gate never lets its siblings' answer stand for its own", function*(mode) {
    const tools = yield* Support.makeTools([makeGated(() => Effect.die(secret)), Support.ReadFile])
    const turn = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "ReadFile", { path: "a" }), ...calls.map((one) => ({ ...one, id: "c2" }))]
    })
    assert.deepStrictEqual(tools.runs.map((run) => run.name), ["ReadFile"])
    assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c2"])
  })
})

describe("L1 fail closed: a gate that says something", () => {
  const said: ReadonlyArray<readonly [string, unknown, "runs" | "asked" | "blocked"]> = [
    ["false", () => false, "runs"],
    ["true", () => true, "asked"],
    ["plain false", false, "runs"],
    ["plain true", true, "asked"],
    ["an effect of false", () => Effect.succeed(false), "runs"],
    ["an effect of true", () => Effect.succeed(true), "asked"],
    ["PreApproved", () => Approval.preApproved("fine"), "runs"],
    ["NeedsApproval", () => Effect.succeed(Approval.needsApproval({ reason: "large" })), "asked"],
    ["Blocked", () => Approval.blocked("not on Sundays"), "blocked"]
  ]
  for (const [what, needsApproval, expected] of said) {
    Support.forEachMode(`L1 a gate that says ${what}: ${expected}`, function*(mode) {
      const tools = yield* Support.makeTools([makeGated(needsApproval)])
      const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls })
      assert.strictEqual(tools.count("Gated"), expected === "runs" ? 1 : 0)
      assert.strictEqual(turn.requests.length, expected === "asked" ? 1 : 0)
      if (what === "NeedsApproval") assert.strictEqual(turn.requests[0]!.reason, "large")
      if (expected === "blocked") assert.include(Support.failureReason(turn.results[0]), "not on Sundays")
    })
  }

  Support.forEachMode("L1 B21 a gate may need a declared service: its word counts, its absence asks", function*(mode) {
    const tool = Tool.make("Gated", {
      parameters: { path: Schema.String },
      success: Schema.String,
      needsApproval: ({ path }) => Ledger.use((ledger) => ledger.isLarge(path)),
      dependencies: [Ledger]
    })
    const tools = yield* Support.makeTools([tool])
    const turn = Support.ask(mode, { toolkit: tools.toolkit, calls })
    const withLedger = (isLarge: (path: string) => Effect.Effect<boolean, string>) =>
      Effect.provideService(turn, Ledger, { isLarge })
    assert.strictEqual((yield* turn).requests.length, 1)
    assert.strictEqual((yield* withLedger(() => Effect.succeed(true))).requests.length, 1)
    assert.strictEqual((yield* withLedger(() => Effect.fail("offline"))).requests.length, 1)
    assert.deepStrictEqual(tools.runs, [])
    assert.strictEqual((yield* withLedger((path) => Effect.succeed(path !== "a"))).requests.length, 0)
    assert.deepStrictEqual(tools.runs, [{ name: "Gated", params: { path: "a" } }])
  })
})

describe("L1 fail closed: isApprovalNeeded", () => {
  const needed = (needsApproval: unknown, params: unknown = { path: "a" }) =>
    LanguageModel.isApprovalNeeded(makeGated(needsApproval), { id: "c1", name: "Gated", params }, [])

  for (const [how, needsApproval] of Object.entries(brokenGates)) {
    it.effect(`L1 isApprovalNeeded is true for a gate that ${how}`, () =>
      Effect.gen(function*() {
        assert.isTrue(yield* needed(needsApproval))
      }))
  }

  it.effect("L1 isApprovalNeeded is true for a gate that hangs, after 30 seconds", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(needed(() => Effect.never))
      yield* Support.idle
      assert.isUndefined(fiber.pollUnsafe())
      yield* Support.advance(fiber, "30 seconds", 2)
      assert.isTrue(yield* Fiber.join(fiber))
    }))

  it.effect("L1 isApprovalNeeded is true for parameters that do not decode", () =>
    Effect.gen(function*() {
      for (const params of [{ path: 1 }, {}, null, "a", 1n]) {
        assert.isTrue(yield* needed(true, params))
        assert.isTrue(yield* needed(() => false, params))
        assert.isTrue(yield* needed(() => Approval.preApproved(), params))
      }
    }))

  it.effect("L1 isApprovalNeeded is false for a tool without a gate, whatever the parameters", () =>
    Effect.gen(function*() {
      for (const params of [{ path: 1 }, {}, null, "a", 1n]) {
        assert.isFalse(yield* needed(undefined, params))
        assert.isFalse(yield* needed(false, params))
      }
    }))

  it.effect("L1 isApprovalNeeded is true for a blocked call and false for one that needs nobody", () =>
    Effect.gen(function*() {
      assert.isTrue(yield* needed(() => Approval.blocked("no")))
      assert.isTrue(yield* needed(true))
      assert.isFalse(yield* needed(undefined))
      assert.isFalse(yield* needed(false))
      assert.isFalse(yield* needed(() => Approval.preApproved()))
    }))
})

describe("L1 fail closed: where the finish is missing", () => {
  for (const mode of ["streamText", "Chat.streamText"] as const) {
    it.effect(`L1 a truncated response runs nothing and asks nothing [${mode}]`, () =>
      Support.fresh(Effect.gen(function*() {
        const tools = yield* Support.makeTools([makeGated(true)])
        for (const end of [ScriptedModel.withoutFinish, ScriptedModel.finish("length")]) {
          const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [...calls, end] })
          assert.deepStrictEqual([turn.requests.length, tools.runs.length], [0, 0])
        }
      })))
  }
})

describe("L1 a gate", () => {
  Support.forEachMode("L1 sees the decoded parameters, the call's id, and the conversation", function*(mode) {
    const seen: Array<unknown> = []
    const tool = Tool.make("Count", {
      parameters: { n: Schema.FiniteFromString },
      success: Schema.String,
      needsApproval: (params, { messages, toolCallId }) => {
        const last: Prompt.Message | undefined = messages.at(-1)
        seen.push([params.n, toolCallId, last?.role])
        return true
      }
    })
    const tools = yield* Support.makeTools([tool as Tool.Any])
    yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c7", "Count", { n: "7" })] })
    assert.deepStrictEqual(seen, [[7, "c7", "user"]])
  })
})
