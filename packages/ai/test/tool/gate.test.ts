/** What a tool's gate says of a call, whatever the gate is: `internal/tool/gate.ts`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber } from "effect"
import { Tool as Upstream } from "effect/ai"
import { TestClock } from "effect/testing"
import * as Approval from "../../src/Approval.ts"
import * as Gate from "../../src/internal/tool/gate.ts"
import * as Tool from "../../src/Tool.ts"
import { context, makeCharge, troubled, wrong } from "./gates.ts"

describe("evaluate", () => {
  const evaluate = (gate: unknown) => Gate.evaluate(makeCharge(gate as never), { amount: 12 }, context)
  const foreign = (needsApproval: unknown) =>
    Gate.evaluate(Upstream.make("Charge", { needsApproval: needsApproval as never }), {}, context)

  it.effect("says nothing for a tool without a gate", () =>
    Effect.gen(function*() {
      assert.isUndefined(yield* Gate.evaluate(Tool.make("A"), {}, context))
      assert.isUndefined(yield* Gate.evaluate(Upstream.make("A"), {}, context))
    }))

  for (const [kind, run] of [["our", evaluate], ["upstream's", foreign]] as const) {
    it.effect(`reads booleans, results and effects of ${kind} tools`, () =>
      Effect.gen(function*() {
        const result = Approval.needsApproval({ reason: "money" })
        for (const gate of [true, () => true, () => Effect.succeed(true)]) {
          assert.deepStrictEqual(yield* run(gate), Approval.needsApproval())
        }
        for (const gate of [false, () => false, () => Effect.succeed(false)]) {
          assert.deepStrictEqual(yield* run(gate), Approval.preApproved())
        }
        for (const gate of [() => result, () => Effect.succeed(result)]) assert.strictEqual(yield* run(gate), result)
      }))

    it.effect(`reads what a question of ${kind} tools says as a question`, () =>
      Effect.gen(function*() {
        const presentation = { type: "text", content: "x" } as const
        const questions = [{ description: "Write to a" }, { reason: "r", presentation: undefined }, { presentation }]
        for (const question of questions) {
          for (const gate of [() => question, () => Effect.succeed(question)]) {
            const result = yield* run(gate)
            assert.isTrue(Approval.isApprovalResult(result))
            assert.deepStrictEqual(JSON.parse(JSON.stringify(result)), {
              _tag: "NeedsApproval",
              ...JSON.parse(JSON.stringify(question))
            })
          }
        }
      }))

    it.effect(`takes nothing for a question of ${kind} tools that says nothing, more, or of another type`, () =>
      Effect.gen(function*() {
        const hostile = {
          get description(): string {
            throw new Error("secret")
          }
        }
        const answers: ReadonlyArray<unknown> = [
          {},
          { description: undefined },
          { description: 1 },
          { description: "x", approved: true },
          { description: "x", _tag: "PreApproved" },
          { presentation: { type: "html", content: "x" } },
          [{ description: "x" }],
          new Error("x"),
          hostile
        ]
        for (const answer of answers) assert.isTrue(Exit.isFailure(yield* Effect.exit(run(() => answer))))
      }))

    it.effect(`shows the engine how a gate of ${kind} tools failed`, () =>
      Effect.gen(function*() {
        const exits = yield* Effect.forEach(Object.values(troubled), (gate) => Effect.exit(run(gate)))
        assert.deepStrictEqual(exits.map((exit) => Exit.isFailure(exit) ? exit.cause.reasons[0]?._tag : "Success"), [
          "Fail",
          "Fail",
          "Die",
          "Die",
          "Fail",
          "Interrupt",
          "Die",
          "Die"
        ])
        assert.deepStrictEqual(exits[0], Exit.fail("offline"))
      }))

    it.effect(`fails with one fixed error for every other answer of ${kind} tools`, () =>
      Effect.gen(function*() {
        for (const gate of [...Object.values(wrong), null, "yes", Effect.succeed(false)]) {
          const error = yield* Effect.flip(run(gate))
          assert.isTrue(error instanceof Gate.InvalidGateResult)
        }
      }))
  }

  it.effect("sets no time limit of its own", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(evaluate(() => Effect.never))
      yield* TestClock.adjust("1 day")
      assert.isUndefined(fiber.pollUnsafe())
      yield* Fiber.interrupt(fiber)
    }))
})
