/**
 * L4 and L2 among siblings whose reader leaves: a run that has begun goes on without its reader, and what was approved
 * behind it, by what was shown before it, does not begin meanwhile.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Approval, ApprovalController, Tool } from "../../src/index.ts"
import * as Support from "./support.ts"

const paths = ["a", "b", "c"] as const

const calls = paths.map((path) => Support.call(path, "DeleteFile", { path }))

const begin = Effect.gen(function*() {
  const hold = yield* Support.makeHold
  const presented = Tool.present(
    Support.DeleteFile,
    ({ path }) => new Approval.ApprovalPresentation({ type: "text", content: `delete ${path}` })
  )
  const tools = yield* Support.makeTools([presented], {
    DeleteFile: ({ path }) => Effect.as(path === "a" ? hold.wait : Effect.void, { deleted: true })
  })
  return { hold, toolkit: tools.toolkit, ran: () => tools.runs.map(({ params }) => (params as { path: string }).path) }
})

describe("L4 calls that were shown, whose reader leaves while the first runs", () => {
  Support.forEachMode(
    "L4 approved from a history, no other begins, and a later turn runs them in order",
    function*(mode) {
      const { hold, ran, toolkit } = yield* begin
      const asked = yield* Support.ask(mode, { toolkit, calls })
      const { model } = yield* Support.answering
      const take = Support.takeTurn(mode, {
        model,
        toolkit,
        history: asked.history,
        prompt: Support.answers(...asked.requests.map((request) => Approval.approve(request)))
      })
      const turn = yield* Effect.forkChild(take)
      yield* hold.entered
      yield* Fiber.interrupt(turn)
      yield* Support.idle
      assert.deepStrictEqual(ran(), ["a"])
      yield* hold.release
      const later = yield* take
      assert.deepStrictEqual([ran(), later.results.length], [[...paths], 3])
    }
  )

  Support.forEachMode("L4 approved at once, no other begins", function*(mode) {
    const { hold, ran, toolkit } = yield* begin
    const turn = yield* Support.ask(mode, { toolkit, calls }).pipe(
      Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll),
      Effect.forkChild
    )
    yield* hold.entered
    yield* Fiber.interrupt(turn)
    yield* Support.idle
    yield* hold.release
    yield* Support.idle
    assert.deepStrictEqual(ran(), ["a"])
  })
})

describe("L1 calls that somebody is asked about one after the other, whose reader leaves", () => {
  Support.forEachMode("L1 nobody is asked about the next", function*(mode) {
    const { ran, toolkit } = yield* begin
    const seen: Array<string> = []
    const controller = ApprovalController.interactive((request) => {
      seen.push(request.toolCallId)
      return Effect.never
    })
    const turn = yield* Support.ask(mode, { toolkit, calls }).pipe(
      Effect.provideService(ApprovalController.ApprovalController, controller),
      Effect.forkChild
    )
    yield* Support.idle
    assert.deepStrictEqual(seen, ["a"])
    yield* Fiber.interrupt(turn)
    yield* Support.idle
    assert.deepStrictEqual([seen, ran()], [["a"], []])
  })
})
