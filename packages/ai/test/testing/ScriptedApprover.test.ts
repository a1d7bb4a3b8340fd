import { ScriptedApprover } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import * as Approval from "../../src/Approval.ts"

const request = (approvalId: string, toolName = "DeleteFile") =>
  new Approval.ApprovalRequest({
    approvalId,
    toolCallId: `call-${approvalId}`,
    toolName,
    params: { path: "/tmp/a" },
    description: Approval.describe(toolName, { path: "/tmp/a" }),
    interaction: "approval",
    providerExecuted: false
  })

describe("ScriptedApprover", () => {
  describe("make", () => {
    it.effect("answers in order and remembers what it was asked", () =>
      Effect.gen(function*() {
        const approver = ScriptedApprover.make([
          "approve",
          "deny",
          { deny: "keep it" },
          new Approval.Info({ note: "thinking" }),
          Effect.succeed(new Approval.Approved({ params: { path: "/tmp/b" } }))
        ])
        const requests = ["1", "2", "3", "4", "5"].map((id) => request(id))
        const decisions = yield* Effect.forEach(requests, approver.callback)

        assert.deepStrictEqual(decisions, [
          new Approval.Approved({}),
          new Approval.Denied({}),
          new Approval.Denied({ note: "keep it" }),
          new Approval.Info({ note: "thinking" }),
          new Approval.Approved({ params: { path: "/tmp/b" } })
        ])
        assert.deepStrictEqual(yield* approver.seen, requests)
      }))

    it.effect("asks a function", () =>
      Effect.gen(function*() {
        const approver = ScriptedApprover.make((request) => request.toolName === "ReadFile" ? "approve" : "deny")
        assert.strictEqual((yield* approver.callback(request("1", "ReadFile")))._tag, "Approved")
        assert.strictEqual((yield* approver.callback(request("2")))._tag, "Denied")
      }))

    it.effect("never answers what it ignores, but has seen it", () =>
      Effect.gen(function*() {
        const approver = ScriptedApprover.make(["ignore"])
        const fiber = yield* Effect.forkChild(approver.callback(request("1")), { startImmediately: true })
        yield* TestClock.adjust("1 day")
        assert.isUndefined(fiber.pollUnsafe())
        assert.strictEqual((yield* approver.seen).length, 1)
        yield* Fiber.interrupt(fiber)
      }))

    it.effect("may answer late", () =>
      Effect.gen(function*() {
        const approver = ScriptedApprover.make([Effect.delay(Effect.succeed(new Approval.Approved({})), "1 hour")])
        const fiber = yield* Effect.forkChild(approver.callback(request("1")), { startImmediately: true })
        yield* TestClock.adjust("59 minutes")
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust("1 minute")
        assert.strictEqual((yield* Fiber.join(fiber))._tag, "Approved")
      }))

    it.effect("dies when the script is over, naming the request", () =>
      Effect.gen(function*() {
        const approver = ScriptedApprover.make(["approve"])
        yield* approver.callback(request("1"))
        const exit = yield* Effect.exit(approver.callback(request("2")))
        assert.isTrue(Exit.hasDies(exit))
        if (Exit.isFailure(exit)) assert.include(Cause.pretty(exit.cause), "DeleteFile(path='/tmp/a')")
        assert.strictEqual((yield* approver.seen).length, 2)
      }))
  })

  describe("answers", () => {
    it("gives each request its answer, by its id", () => {
      const answers = ScriptedApprover.answers([request("1"), request("2"), request("3"), request("4")], [
        "approve",
        "ignore",
        { deny: "keep it" }
      ])
      assert.deepStrictEqual(answers, [
        Approval.approve({ approvalId: "1" }),
        Approval.deny({ approvalId: "3" }, "keep it")
      ])
    })

    it("asks a function, and takes a whole decision", () => {
      const decision = new Approval.Approved({ note: "once" })
      const answers = ScriptedApprover.answers(
        [request("1", "ReadFile"), request("2")],
        (request) => request.toolName === "ReadFile" ? decision : "deny"
      )
      assert.deepStrictEqual(answers, [
        new Approval.ApprovalAnswer({ approvalId: "1", decision }),
        Approval.deny({ approvalId: "2" })
      ])
    })
  })

  describe("parse", () => {
    const read: ReadonlyArray<readonly [text: string, steps: ReadonlyArray<ScriptedApprover.ParsedStep>]> = [
      ["", []],
      ["  ", []],
      ["approve", ["approve"]],
      ["approve,deny,ignore", ["approve", "deny", "ignore"]],
      [" approve , deny ", ["approve", "deny"]],
      ["approve,deny:\"keep it\",approve", ["approve", { deny: "keep it" }, "approve"]],
      ["deny:keep it,approve", [{ deny: "keep it" }, "approve"]],
      ["deny: \"keep it, please\" ,approve", [{ deny: "keep it, please" }, "approve"]],
      ["deny:\"say \\\"no\\\" and \\\\ stop\"", [{ deny: "say \"no\" and \\ stop" }]],
      ["deny:the \"old, new\" one,deny", [{ deny: "the \"old, new\" one" }, "deny"]],
      ["deny:\"a\" or \"b\"", [{ deny: "\"a\" or \"b\"" }]],
      ["deny:don't", [{ deny: "don't" }]],
      ["deny:approve", [{ deny: "approve" }]],
      ["deny:no: never", [{ deny: "no: never" }]],
      ["deny:\"two\nlines\"", [{ deny: "two\nlines" }]]
    ]
    for (const [text, steps] of read) {
      it(`reads ${JSON.stringify(text)}`, () => {
        assert.deepStrictEqual(ScriptedApprover.parse(text), Result.succeed(steps))
      })
    }

    const refused: ReadonlyArray<readonly [text: string, why: string]> = [
      ["yes", "Unknown answer \"yes\""],
      ["approve,Deny", "Unknown answer \"Deny\""],
      ["approve,", "Unknown answer \"\""],
      ["approve,,deny", "Unknown answer \"\""],
      ["approve:now", "Unknown answer \"approve:now\""],
      ["\"approve\"", "Unknown answer \"\\\"approve\\\"\""],
      ["deny:", "reason after \"deny:\" is empty"],
      ["deny:\"\",approve", "reason after \"deny:\" is empty"],
      ["deny:\"keep it,approve", "is not closed"],
      ["deny:\"keep it\\\",approve", "is not closed"],
      ["deny:\"keep it\\", "is not closed"],
      ["deny:a \"b", "is not closed"]
    ]
    for (const [text, why] of refused) {
      it(`refuses ${JSON.stringify(text)} and lists what is allowed`, () => {
        const result = ScriptedApprover.parse(text)
        assert.isTrue(Result.isFailure(result))
        if (Result.isFailure(result)) {
          assert.include(result.failure, why)
          assert.include(result.failure, "Allowed are: approve, deny, deny:reason, ignore")
        }
      })
    }
  })
})
