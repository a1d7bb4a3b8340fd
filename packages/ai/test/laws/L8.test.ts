/**
 * L8, isolation: one call's failure never loses, interrupts or repeats another's work. Failure mode "error" still fails
 * the turn, after all siblings have settled and are journaled.
 */
import { assert, describe } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber, Schema, Stream } from "effect"
import { Approval, Prompt, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

const Good = Tool.make("Good", {
  parameters: { name: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const FailsTurn = Tool.make("Bad", {
  parameters: { name: Schema.String },
  success: Schema.String,
  failure: Schema.Struct({ code: Schema.Number }),
  failureMode: "error",
  needsApproval: true
})
const FailsCall = Tool.make("Bad", {
  parameters: { name: Schema.String },
  success: Schema.String,
  failure: Schema.Struct({ code: Schema.Number }),
  failureMode: "return",
  needsApproval: true
})

const call = (id: string, name: "Good" | "Bad") => ScriptedModel.toolCall({ id, name, params: { name: id } })
const batch = [call("g1", "Good"), call("b1", "Bad"), call("g2", "Good")]

const good = (runs: Array<string>) => ({ name }: { readonly name: string }) =>
  Effect.sync(() => (runs.push(name), `did ${name}`))

const begin = Effect.fnUntraced(function*(way: C.Way, toolkit: C.AnyToolkit, calls = batch) {
  const chat = yield* C.start({ way, toolkit, turns: [calls, "done", "bye"], script: { afterLastTurn: "bye" } })
  const asked = yield* chat.send("go")
  const asking = yield* chat.history
  const answers = C.approveAll(asked)
  /** Sends the answers; sends them again after a failure, from the same history, as a program that retries does. */
  const answer = chat.send(answers)
  const retry = Effect.andThen(chat.setHistory(asking), answer)
  return { answer, asked, chat, retry }
})

/** The same with a `Bad` that counts its runs and then does what is said. */
const beginWith = Effect.fnUntraced(function*(
  way: C.Way,
  tool: typeof FailsTurn | typeof FailsCall,
  then: Effect.Effect<never, { readonly code: number }>
) {
  const runs: Array<string> = []
  const toolkit = yield* C.withHandlers(Toolkit.make(Good, tool), {
    Good: good(runs),
    Bad: ({ name }) => Effect.suspend(() => (runs.push(name), then))
  })
  return { ...(yield* begin(way, toolkit)), runs }
})

const texts = (turn: C.Turn) =>
  Object.fromEntries(turn.results.map((part) => [part.id, part.isFailure ? "failed" : part.result]))

describe("L8 isolation", () => {
  C.everyWay(
    "L8 B11 mode \"error\": the turn fails, siblings' results are journaled and given on retry",
    function*(way) {
      const { answer, chat, retry, runs } = yield* beginWith(way, FailsTurn, Effect.fail({ code: 7 }))
      assert.deepStrictEqual(yield* Effect.flip(answer), { code: 7 })
      assert.deepStrictEqual(runs.toSorted(), ["b1", "g1", "g2"])
      assert.strictEqual(yield* chat.calls, 1, "the model is not called by a turn that fails")

      const turn = yield* retry
      assert.deepStrictEqual(texts(turn), { g1: "did g1", b1: "failed", g2: "did g2" })
      assert.deepStrictEqual(runs.toSorted(), ["b1", "g1", "g2"], "nothing is repeated")
      assert.strictEqual(turn.text, "done")
      C.assertWellFormed(yield* chat.lastPrompt)
    }
  )

  C.everyWay("L8 B11 mode \"error\": a chat is not stuck, and later turns repeat nothing", function*(way) {
    const { answer, chat, runs } = yield* beginWith(way, FailsTurn, Effect.fail({ code: 7 }))
    yield* Effect.flip(answer)
    // Whatever the writer kept of the failed turn, the next message goes on.
    const turn = yield* chat.send("and now?")
    assert.isNotEmpty(turn.text)
    C.assertWellFormed(yield* chat.lastPrompt)
    assert.deepStrictEqual(runs.toSorted(), ["b1", "g1", "g2"])
  })

  C.everyWay("L8 B11 mode \"return\": the failure is that call's result, the siblings have theirs", function*(way) {
    const { answer, chat, retry, runs } = yield* beginWith(way, FailsCall, Effect.fail({ code: 7 }))
    for (const turn of [yield* answer, yield* retry]) {
      assert.deepStrictEqual(texts(turn), { g1: "did g1", b1: "failed", g2: "did g2" })
      assert.deepStrictEqual(turn.results.find((part) => part.id === "b1")!.result, { code: 7 })
    }
    assert.deepStrictEqual(runs.toSorted(), ["b1", "g1", "g2"])
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  const bugs = [
    ["L8 a handler that dies: the siblings' results are journaled and given on retry", Effect.die(new Error("a bug"))],
    ["L8 a handler that interrupts itself: the siblings are given on retry, nothing is repeated", Effect.interrupt]
  ] as const
  for (const [title, bug] of bugs) {
    C.everyWay(title, function*(way) {
      const { answer, chat, retry, runs } = yield* beginWith(way, FailsTurn, bug)
      const first = yield* Effect.exit(answer)
      assert.deepStrictEqual(runs.toSorted(), ["b1", "g1", "g2"])
      // Whether the bug fails the turn or becomes a failed result, it is not an interruption.
      if (bug !== Effect.interrupt && Exit.isFailure(first)) assert.isFalse(Cause.hasInterrupts(first.cause))

      const turn = yield* retry
      assert.deepStrictEqual(texts(turn), { g1: "did g1", b1: "failed", g2: "did g2" })
      C.reasonOf(turn.results.find((part) => part.id === "b1")!)
      assert.deepStrictEqual(runs.toSorted(), ["b1", "g1", "g2"])
      C.assertWellFormed(yield* chat.lastPrompt)
    })
  }

  C.everyWay("L8 B11 a sibling that is still running is waited for, not interrupted", function*(way) {
    const runs: Array<string> = []
    const failed = yield* Deferred.make<void>()
    const gate = yield* Deferred.make<void>()
    const toolkit = yield* C.withHandlers(Toolkit.make(Good, FailsTurn), {
      Good: ({ name }) =>
        Deferred.await(gate).pipe(
          Effect.onInterrupt(() => Effect.sync(() => runs.push(`interrupted ${name}`))),
          Effect.andThen(good(runs)({ name }))
        ),
      Bad: () => Effect.andThen(Deferred.succeed(failed, undefined), Effect.fail({ code: 7 }))
    })
    const { answer, retry } = yield* begin(way, toolkit)
    const turn = yield* Effect.forkChild(Effect.exit(answer), { startImmediately: true })
    yield* Deferred.await(failed)
    for (let i = 0; i < 50; i++) yield* Effect.yieldNow
    assert.isUndefined(turn.pollUnsafe(), "the turn fails after the siblings have settled")
    assert.deepStrictEqual(runs, [])
    yield* Deferred.succeed(gate, undefined)
    const exit = yield* Fiber.join(turn)
    assert.isTrue(Exit.isFailure(exit))
    assert.deepStrictEqual(runs.toSorted(), ["g1", "g2"])
    assert.deepStrictEqual(texts(yield* retry), { g1: "did g1", b1: "failed", g2: "did g2" })
    assert.deepStrictEqual(runs.toSorted(), ["g1", "g2"])
  })

  C.everyWay("L8 a failing call does not stop a denial or an open request of the same batch", function*(way) {
    const runs: Array<string> = []
    const toolkit = yield* C.withHandlers(Toolkit.make(Good, FailsCall), {
      Good: good(runs),
      Bad: () => Effect.fail({ code: 7 })
    })
    const { asked, chat } = yield* begin(way, toolkit)
    const turn = yield* chat.send(Prompt.approvalResponses([
      Approval.approve(asked.requests[1]!),
      Approval.deny(asked.requests[0]!, "not g1")
    ]))
    assert.deepStrictEqual(texts(turn), { g1: "failed", b1: "failed" })
    assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["g2"])
    assert.strictEqual(turn.finishReason, "pause")
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("L8 two failing calls: both are recorded, the turn fails once, the retry goes on", function*(way) {
    const runs: Array<string> = []
    const toolkit = yield* C.withHandlers(Toolkit.make(Good, FailsTurn), {
      Good: good(runs),
      Bad: ({ name }) => Effect.suspend(() => (runs.push(name), Effect.fail({ code: Number(name.slice(1)) })))
    })
    const { answer, retry } = yield* begin(way, toolkit, [call("b1", "Bad"), call("b2", "Bad"), call("g1", "Good")])
    yield* Effect.flip(answer)
    const turn = yield* retry
    assert.deepStrictEqual(texts(turn), { b1: "failed", b2: "failed", g1: "did g1" })
    assert.deepStrictEqual(runs.toSorted(), ["b1", "b2", "g1"])
  })

  C.everyWay("L8 a handler that throws: as one that dies", function*(way) {
    const runs: Array<string> = []
    const toolkit = yield* C.withHandlers(Toolkit.make(Good, FailsTurn), {
      Good: good(runs),
      Bad: ({ name }) => {
        runs.push(name)
        throw new Error("a bug")
      }
    })
    const { answer, retry } = yield* begin(way, toolkit)
    yield* Effect.exit(answer)
    assert.deepStrictEqual(texts(yield* retry), { g1: "did g1", b1: "failed", g2: "did g2" })
    assert.deepStrictEqual(runs.toSorted(), ["b1", "g1", "g2"])
  })

  C.everyWay(
    "L8 a call of the next response that fails the turn does not lose what was approved and ran",
    function*(way) {
      const runs: Array<string> = []
      const toolkit = yield* C.withHandlers(Toolkit.make(Good, Tool.setNeedsApproval(FailsTurn, false)), {
        Good: good(runs),
        Bad: ({ name }) => Effect.suspend(() => (runs.push(name), Effect.fail({ code: 7 })))
      })
      const chat = yield* C.start({ way, toolkit, turns: [[call("g1", "Good")], [call("b1", "Bad")], "done"] })
      const asked = yield* chat.send("go")
      const asking = yield* chat.history
      const answers = C.approveAll(asked)
      assert.deepStrictEqual(yield* Effect.flip(chat.send(answers)), { code: 7 })
      yield* chat.setHistory(asking)
      assert.deepStrictEqual(texts(yield* chat.send(answers)), { g1: "did g1" })
      assert.deepStrictEqual(runs, ["g1", "b1"])
    }
  )
})

describe("a response that ends twice", () => {
  for (const [first, second] of [["length", "stop"], ["stop", "length"]] as const) {
    Support.forEachMode(`L8 ${first}, then ${second}: it was cut, so nothing gated runs or is asked`, function*(mode) {
      const tools = yield* Support.makeTools()
      const turn = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: [
          Support.call("c1", "DeleteFile", { path: "a" }),
          ScriptedModel.finish(first),
          ScriptedModel.finish(second)
        ]
      })
      assert.deepStrictEqual([turn.requests, tools.runs, turn.results.map((part) => part.isFailure)], [[], [], [
        true
      ]])
    }, ["generateText", "streamText"])
  }
})

const plain = ["generateText", "streamText"] as const

describe("L8 failures", () => {
  Support.forEachMode("L8 a turn fails with the failure of any of its calls, not of the first alone", function*(mode) {
    const Fails = Tool.make("Fails", { success: Schema.String, failure: Schema.String })
    const tools = yield* Support.makeTools([Support.DeleteFile, Support.ReadFile, Fails as never], {
      Fails: () => Effect.fail("broken")
    })
    const failure = yield* Effect.flip(Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "ReadFile", { path: "a" }), Support.call("c2", "Fails", {})]
    }))
    assert.strictEqual(failure as unknown, "broken")
  })

  Support.forEachMode("L8 L15 a call of a tool that is not there fails, with a bounded name", function*(mode) {
    const { asked } = yield* Support.asking(mode, [Support.call("c1", "x".repeat(10_000), {})])
    assert.include(Support.failureReason(asked.results[0]), `"${"x".repeat(128)}"`)
  }, plain)

  Support.forEachMode("L8 L14 a handler that gives no result at all is a defect that says so", function*(mode) {
    const tools = yield* Support.makeTools()
    const toolkit = { ...tools.toolkit, handle: () => Effect.succeed(Stream.empty) } as Support.AnyToolkit
    const exit = yield* Effect.exit(
      Support.ask(mode, { toolkit, calls: [Support.call("c1", "ReadFile", { path: "a" })] })
    )
    assert.isTrue(Exit.hasDies(exit))
    assert.match(String(exit), /"ReadFile" did not produce a final result/)
  }, plain)
})
