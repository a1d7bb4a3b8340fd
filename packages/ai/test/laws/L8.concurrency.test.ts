/** L8 how many calls run, and how many policies are asked, at one time. */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, ApprovalPolicy, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

describe("how many run at once", () => {
  const gates = { "that were approved": true, "that need nobody": () => false }
  for (const [which, needsApproval] of Object.entries(gates)) {
    for (const [concurrency, expected] of [["unbounded", 12], [2, 2], [1, 1]] as const) {
      Support.forEachMode(`L8 of calls ${which}, ${concurrency}: ${expected} of 12`, function*(mode) {
        let running = 0
        let most = 0
        const Render = Tool.make("Render", { success: Schema.String, needsApproval })
        const tools = yield* Support.makeTools([Render as Tool.Any], {
          Render: () =>
            Effect.gen(function*() {
              most = Math.max(most, ++running)
              yield* Support.idle
              running--
              return "done"
            })
        })
        const calls = Array.from({ length: 12 }, (_, index) => Support.call(`r${index}`, "Render", {}))
        const script = yield* ScriptedModel.make({ turns: [calls], afterLastTurn: "done" })
        const options = { model: script.model, toolkit: tools.toolkit, concurrency }
        const first = yield* Support.takeTurn(mode, { ...options, prompt: "Go on." })
        if (needsApproval === true) {
          const prompt = Support.answers(...first.requests.map((request) => Approval.approve(request)))
          yield* Support.takeTurn(mode, { ...options, history: first.history, prompt })
        }
        assert.deepStrictEqual([tools.runs.length, most], [12, expected])
      }, ["generateText", "streamText"])
    }
  }
})

const plain = ["generateText", "streamText"] as const

const approveAll = Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll)

describe("L8 how many at a time", () => {
  const limits: Record<
    string,
    readonly [concurrency: number | "unbounded" | undefined, atOnce: readonly [number, number]]
  > = {
    "as many as is said": [2, [2, 2]],
    "one": [1, [1, 1]],
    "at least one": [0, [1, 1]],
    "no part of a call": [2.9, [2, 2]],
    "all": ["unbounded", [12, 12]],
    // As upstream for calls that need nobody.
    "eight approved ones unless it is said": [undefined, [8, 12]]
  }
  for (const [title, [concurrency, atOnce]] of Object.entries(limits)) {
    for (const [index, name] of ["DeleteFile", "ReadFile"].entries()) {
      Support.forEachMode(`L8 ${title}: ${name}`, function*(mode) {
        let running = 0
        const go = yield* Deferred.make<void>()
        const handler = () =>
          Effect.suspend(() => {
            running++
            return Effect.as(Deferred.await(go), { deleted: true })
          })
        const tools = yield* Support.makeTools(undefined, {
          DeleteFile: handler,
          ReadFile: () => Effect.as(handler(), "read")
        })
        const turn = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: Array.from({ length: 12 }, (_, i) => Support.call(`c${i}`, name, { path: `${i}` })),
          ...(concurrency === undefined ? undefined : { concurrency })
        }).pipe(approveAll, Effect.forkChild)
        // However long sealing takes on this machine, and then as many as will ever run.
        for (let round = 0; round < 1_000 && running < atOnce[index]!; round++) yield* Support.idle
        yield* Support.idle
        assert.strictEqual(running, atOnce[index])
        yield* Deferred.succeed(go, undefined)
        assert.lengthOf((yield* Fiber.join(turn)).results, 12)
      }, plain)
    }
  }

  Support.forEachMode("L1 policies that hang are waited for side by side", function*(mode) {
    const { asked, tools } = yield* Support.asking(
      mode,
      ["a", "b", "c"].map((path) => Support.call(path, "DeleteFile", { path }))
    )
    const { model } = yield* Support.answering
    const turn = yield* Support.approve(mode, { asked, model, tools }).pipe(
      Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => Effect.never)),
      Effect.forkChild
    )
    yield* Support.idle
    yield* TestClock.adjust("30 seconds")
    yield* Support.idle
    assert.isTrue(yield* Support.settles(turn))
    assert.lengthOf((yield* Fiber.join(turn)).requests, 3)
  })
})
