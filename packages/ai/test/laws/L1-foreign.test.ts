/**
 * L1 Fail closed, for what Assent did not make: tools of upstream's `make`, dynamic tools, gates set later, and policies
 * and controllers that are plain values.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Tool as Upstream } from "effect/ai"
import { Approval, ApprovalController, ApprovalPolicy, Tool } from "../../src/index.ts"
import * as Support from "./support.ts"

const secret = "s3cr3t-of-the-stranger"

const brokenGates: Record<string, unknown> = {
  "fails": () => Effect.fail(new Error(secret)),
  "dies": () => Effect.die(new Error(secret)),
  "throws": () => {
    throw new Error(secret)
  },
  "returns nothing": () => undefined,
  "returns a string": () => "false",
  "rejects": () => Promise.reject(new Error(secret)),
  "returns a promise of a string": () => Promise.resolve("false"),
  "is an effect of nothing": () => Effect.void,
  "is a string": "false",
  "is a number": 0
}

const parameters = Schema.Struct({ path: Schema.String })

const makers: Record<string, (needsApproval: any) => Upstream.Any> = {
  "upstream's make": (needsApproval) => Upstream.make("Gated", { parameters, success: Schema.String, needsApproval }),
  "upstream's dynamic": (needsApproval) => Upstream.dynamic("Gated", { parameters, needsApproval }),
  "our dynamic": (needsApproval) => Tool.dynamic("Gated", { parameters, needsApproval }),
  "our dynamic with a JSON Schema": (needsApproval) =>
    Tool.dynamic("Gated", { parameters: { type: "object" }, needsApproval }),
  "setNeedsApproval": (needsApproval) =>
    Tool.setNeedsApproval(Upstream.make("Gated", { parameters, success: Schema.String }), needsApproval),
  "upstream's method setNeedsApproval": (needsApproval) =>
    Upstream.make("Gated", { parameters, success: Schema.String }).setNeedsApproval(needsApproval)
}

const calls = [Support.call("c1", "Gated", { path: "a" })]

describe("L1 fail closed: tools of any make", () => {
  for (const [maker, make] of Object.entries(makers)) {
    for (const [how, needsApproval] of Object.entries(brokenGates)) {
      Support.forEachMode(`L1 a gate of ${maker} that ${how} is asked`, function*(mode) {
        const tools = yield* Support.makeTools([make(needsApproval)])
        const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls })
        assert.deepStrictEqual([tools.runs, turn.results], [[], []])
        assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c1"])
        assert.isFalse(JSON.stringify([turn.parts, turn.history]).includes(secret))
      }, ["generateText", "streamText"])
    }

    Support.forEachMode(`L1 a gate of ${maker} that says yes or no is heard`, function*(mode) {
      for (const says of [true, false]) {
        for (const gate of [says, () => says, () => Effect.succeed(says), async () => says]) {
          const tools = yield* Support.makeTools([make(gate)])
          const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls })
          assert.deepStrictEqual([turn.requests.length, tools.runs.length], says ? [1, 0] : [0, 1])
        }
      }
    })
  }
})

describe("L1 fail closed: policies and controllers that are plain values", () => {
  const policies: Record<string, unknown> = {
    "throws": () => {
      throw new Error(secret)
    },
    "returns no effect": () => false,
    "returns nothing at all": () => undefined,
    "returns a promise": () => Promise.resolve(false)
  }
  for (const [how, decide] of Object.entries(policies)) {
    Support.forEachMode(`L1 a policy whose decide ${how} asks about every call`, function*(mode) {
      const tools = yield* Support.makeTools()
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: [Support.call("c1", "ReadFile", { path: "a" }), Support.call("c2", "DeleteFile", { path: "a" })]
      }).pipe(Effect.provideService(ApprovalPolicy.ApprovalPolicy, { decide } as ApprovalPolicy.Service))
      assert.deepStrictEqual([tools.runs, turn.results], [[], []])
      assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c1", "c2"])
      assert.isFalse(JSON.stringify([turn.parts, turn.history]).includes(secret))
    })
  }

  const controllers: Record<string, unknown> = {
    "throws": () => {
      throw new Error(secret)
    },
    "returns no effect": () => new Approval.Approved({}),
    "returns true": () => true,
    "gives a string": () => Effect.succeed("yes"),
    "gives what looks like a yes": () => Effect.succeed({ approved: true }),
    "gives a broken Approved": () => Effect.succeed({ _tag: "Approved", note: 7 }),
    "gives nothing": () => Effect.undefined,
    "fails": () => Effect.fail(new Error(secret)),
    "is no function": "ask"
  }
  for (const [how, ask] of Object.entries(controllers)) {
    Support.forEachMode(`L1 a controller whose ask ${how} leaves the call open`, function*(mode) {
      const tools = yield* Support.makeTools()
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: [Support.call("c1", "DeleteFile", { path: "a" })]
      }).pipe(
        Effect.provideService(ApprovalController.ApprovalController, { ask } as ApprovalController.Service)
      )
      assert.deepStrictEqual([tools.runs, turn.results], [[], []])
      assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c1"])
      assert.isFalse(JSON.stringify([turn.parts, turn.history]).includes(secret))
    })
  }
})
