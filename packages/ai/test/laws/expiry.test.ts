/** When a request is over (laws L11, L14). */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval } from "../../src/index.ts"
import * as Asked from "./asked.ts"
import * as Support from "./support.ts"

const calls = [Support.call("c1", "DeleteFile", { path: "a" })]

describe("time", () => {
  Support.forEachMode("L14 a request is over at the very millisecond it says", function*(mode) {
    const { options, request, tools } = yield* Asked.deletion(mode, { approval: { expiresIn: "1 hour" } })
    yield* TestClock.setTime(request.expiresAt!)
    const turn = yield* Support.takeTurn(mode, { ...options, prompt: Support.answers(Approval.approve(request)) })
    assert.match(Support.failureReason(turn.results[0]), /expired/i)
    assert.deepStrictEqual(tools.runs, [])
  })

  Support.forEachMode("L11 an answer inline that took longer than the request lives runs nothing", function*(mode) {
    const tools = yield* Support.makeTools()
    const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls, approval: { expiresIn: "1 hour" } })
      .pipe(
        Asked.withController(() => Effect.as(Effect.sleep("2 hours"), true)),
        Effect.forkChild
      )
    assert.isTrue(yield* Support.advance(turn, "30 minutes"))
    const ended = yield* Fiber.join(turn)
    assert.match(Support.failureReason(ended.results[0]), /expired/i)
    assert.deepStrictEqual([tools.runs, ended.requests], [[], []])
  })
})
