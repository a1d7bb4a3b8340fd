/**
 * L1 Fail closed: somebody who is asked inline and gives no usable answer leaves the call open, and nothing runs.
 */
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Result } from "effect"
import { Approval, ApprovalController, ApprovalJournal, ApprovalSeal } from "../../src/index.ts"
import { ScriptedApprover } from "../../src/testing/index.ts"
import * as Asked from "./asked.ts"
import { logged } from "./logs.ts"
import * as Support from "./support.ts"

const secret = "s3cr3t-of-the-callback"

class Desk extends Context.Service<Desk, { readonly answer: Effect.Effect<boolean, string> }>()("test/L1/Desk") {}

const brokenCallbacks = {
  "fails": () => Effect.fail(new Error(secret)),
  "dies": () => Effect.die(new Error(secret)),
  "is interrupted": () => Effect.interrupt,
  "throws": () => {
    throw new Error(secret)
  },
  "rejects": () => Promise.reject(new Error(secret)),
  "lacks a service": () => Desk.use((desk) => desk.answer),
  "returns nothing": () => undefined,
  "returns null": () => null,
  "returns a string": () => "approve",
  "returns a number": () => 1,
  "returns an empty object": () => ({}),
  "returns what looks like a yes": () => ({ approved: true, decision: "approved" }),
  "returns what looks like a decision": () => ({ _tag: "Approve" }),
  "returns a broken Approved": () => ({ _tag: "Approved", note: 7 }),
  "returns a remark": () => new Approval.Info({ note: "let me think" }),
  "returns a promise of nothing": () => Promise.resolve(undefined),
  "returns a promise of a string": () => Promise.resolve("yes"),
  "is an effect of nothing": () => Effect.void,
  "is an effect of a string": () => Effect.succeed("yes"),
  "is an effect of an effect": () => Effect.succeed(Effect.succeed(true)),
  "answers another request": (request: Approval.ApprovalRequest) =>
    Approval.approve({ approvalId: `${request.approvalId}x` })
}

const asking = (callback: unknown) =>
  Effect.provideService(
    ApprovalController.ApprovalController,
    ApprovalController.interactive(callback as (request: Approval.ApprovalRequest) => boolean)
  )

const calls = [Support.call("c1", "DeleteFile", { path: "a" })]

describe("L1 fail closed: a controller", () => {
  for (const [how, callback] of Object.entries(brokenCallbacks)) {
    Support.forEachMode(`L1 a callback that ${how} leaves the call open, to be answered later`, function*(mode) {
      const tools = yield* Support.makeTools()
      const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(asking(callback))
      assert.deepStrictEqual([tools.runs, asked.results], [[], []])
      assert.deepStrictEqual(asked.requests.map((request) => request.toolCallId), ["c1"])
      assert.isTrue(asked.waiting)
      assert.isFalse(JSON.stringify([asked.parts, asked.history]).includes(secret))
      // Nothing is used up: an answer that comes with a message counts, once.
      const { model } = yield* Support.answering
      const turn = yield* Support.approve(mode, { asked, model, tools })
      assert.strictEqual(tools.runs.length, 1)
      assert.strictEqual(turn.text, "done")
    })
  }

  const good: ReadonlyArray<readonly [string, (request: Approval.ApprovalRequest) => unknown, boolean]> = [
    ["true", () => true, true],
    ["false", () => false, false],
    ["a promise of true", () => Promise.resolve(true), true],
    ["a promise of false", () => Promise.resolve(false), false],
    ["an effect of true", () => Effect.succeed(true), true],
    ["a decision", () => new Approval.Approved({}), true],
    ["an answer", (request) => Approval.deny(request, "keep it"), false]
  ]
  for (const [what, callback, yes] of good) {
    Support.forEachMode(`L1 a callback that gives ${what} is understood`, function*(mode) {
      const tools = yield* Support.makeTools()
      const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(asking(callback))
      assert.strictEqual(tools.runs.length, yes ? 1 : 0)
      assert.deepStrictEqual(turn.requests, [])
      assert.deepStrictEqual(turn.results.map((result) => result.isFailure), [!yes])
      if (what === "an answer") assert.include(Support.failureReason(turn.results[0]), "keep it")
    })
  }

  Support.forEachMode("L1 one callback that fails leaves its own call open and the others answered", function*(mode) {
    const tools = yield* Support.makeTools()
    const approver = ScriptedApprover.make((request) =>
      request.toolCallId === "c2" ? Effect.die(secret) : request.toolCallId === "c3" ? { deny: "no" } : "approve"
    )
    const turn = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: ["c1", "c2", "c3", "c4"].map((id) => Support.call(id, "DeleteFile", { path: id }))
    }).pipe(asking(approver.callback))
    assert.deepStrictEqual(tools.runs.map((run) => JSON.stringify(run.params)).toSorted(), [
      `{"path":"c1"}`,
      `{"path":"c4"}`
    ])
    assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c2"])
    assert.deepStrictEqual(turn.results.map((result) => result.id).toSorted(), ["c1", "c3", "c4"])
    assert.strictEqual((yield* approver.seen).length, 4)
  })

  Support.forEachMode(
    "L1 several calls are asked about in their order, so that answers by a script fit",
    function*(mode) {
      const ids = ["c1", "c2", "c3", "c4"]
      // Many times, because an order that hangs on how fast each call is sealed is right now and then.
      for (let i = 0; i < 12; i++) {
        const tools = yield* Support.makeTools()
        const approver = ScriptedApprover.make(["approve", "deny", "approve", "deny"])
        const turn = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: ids.map((id) => Support.call(id, "DeleteFile", { path: id }))
        }).pipe(asking(approver.callback))
        assert.deepStrictEqual((yield* approver.seen).map((request) => request.toolCallId), ids)
        const denied = turn.results.filter((result) => result.isFailure).map((result) => result.id)
        assert.deepStrictEqual(denied.toSorted(), ["c2", "c4"])
      }
    }
  )

  Support.forEachMode(
    "L1 a callback layer takes its services along; its failure leaves the call open",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const turn = (answer: Effect.Effect<boolean, string>) =>
        Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(Effect.provide(Layer.provide(
          ApprovalController.layerInteractive(() => Desk.use((desk) => desk.answer)),
          Layer.succeed(Desk, { answer })
        )))
      assert.strictEqual((yield* turn(Effect.fail("closed"))).requests.length, 1)
      assert.strictEqual(tools.runs.length, 0)
      assert.strictEqual((yield* turn(Effect.succeed(true))).results.length, 1)
      assert.strictEqual(tools.runs.length, 1)
    }
  )
})

describe("a controller", () => {
  const silent = /approval controller failed, or gave no decision, for "DeleteFile"; the request stays open/
  const stories: Record<string, readonly [callback: (() => any) | undefined, warnings: number]> = {
    "that nobody named is not missed": [undefined, 0],
    "that approves is not complained of": [() => true, 0],
    "that denies is not complained of": [() => false, 0],
    "that fails is complained of, without its cause": [() => Effect.fail(new Error(secret)), 1],
    "that says nothing is complained of": [() => undefined, 1]
  }
  for (const [title, [callback, warnings]] of Object.entries(stories)) {
    Support.forEachMode(`L1 L15 a controller ${title}`, function*(mode) {
      const tools = yield* Support.makeTools()
      const asking = Support.ask(mode, { toolkit: tools.toolkit, calls })
      const [, lines] = yield* logged(callback === undefined ? asking : Asked.withController(callback)(asking))
      assert.strictEqual(lines.length, warnings)
      for (const { text } of lines) {
        assert.match(text, silent)
        assert.notInclude(text, secret)
      }
    }, ["generateText", "streamText"])
  }

  Support.forEachMode(
    "L4 parameters edited inline that do not fit: the request is open, and says why",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
        Asked.withController((request) => Approval.approve(request, { params: { path: 7 } })),
        Asked.withPolicy(() => Approval.needsApproval({ description: "about a" }))
      )
      assert.deepStrictEqual(asked.requests.map(({ description, reason }) => [description, reason]), [[
        "about a",
        "The edited parameters cannot be used: they do not fit the tool's schema. The request stays open."
      ]])
      assert.deepStrictEqual(tools.runs, [])
    }
  )

  for (const [when, isHeld] of [["ran", false], ["began to run", true]] as const) {
    Support.forEachMode(
      `L2 L3 a denial inline that comes after the call ${when} elsewhere gives what it did`,
      function*(mode) {
        const tools = yield* Support.makeTools()
        const hold = yield* Support.makeHold
        const encodedResult = { deleted: true }
        const effect = Effect.as(isHeld ? hold.wait : Effect.void, {
          recorded: new ApprovalJournal.Recorded({ isFailure: false, encodedResult }),
          result: encodedResult,
          encodedResult
        })
        const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls }).pipe(
          Asked.withController((request) =>
            Effect.gen(function*() {
              const journal = yield* ApprovalJournal.ApprovalJournal
              const sealed = Result.getOrThrow((yield* ApprovalSeal.ApprovalSeal).parse(request.approvalId))
              const claim = { ...sealed, toolName: request.toolName, toolCallId: request.toolCallId }
              const elsewhere = yield* Effect.forkDetach(journal.run(claim, { effect, idempotent: false }))
              yield* isHeld ? hold.entered : Fiber.join(elsewhere)
              return false
            })
          ),
          Effect.forkChild
        )
        if (isHeld) {
          yield* hold.entered
          yield* Support.idle
          assert.isUndefined(turn.pollUnsafe())
          yield* hold.release
        }
        const ended = yield* Fiber.join(turn)
        assert.deepStrictEqual(ended.results.map((part) => [part.isFailure, part.encodedResult]), [
          [false, encodedResult]
        ])
        assert.deepStrictEqual([tools.runs, ended.requests], [[], []])
      }
    )
  }
})
