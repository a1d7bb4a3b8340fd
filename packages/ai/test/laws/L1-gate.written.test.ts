/** L1 gates as people write them: async ones count, how many run at once is the caller's, and what was thrown is told. */
import { assert, describe } from "@effect/vitest"
import { Cause, Effect, Fiber, Layer, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalEvents, ApprovalMemory, ApprovalPolicy, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const calls = [Support.call("c1", "Gated", { path: "a" })]

const makeGated = (needsApproval: Tool.NeedsApproval<Schema.Struct<{ readonly path: typeof Schema.String }>>) =>
  Tool.make("Gated", { parameters: { path: Schema.String }, success: Schema.String, needsApproval })

describe("L1 a gate that gives a promise", () => {
  const answers = {
    "of false lets the call run": [async () => false, "runs"],
    "of true asks": [async ({ path }: { readonly path: string }) => path === "a", "asks"],
    "of a question asks with it": [async () => ({ description: "Delete a?" }), "Delete a?"],
    "of a result that blocks blocks": [async () => Approval.blocked("not today"), "not today"],
    "of a result that lets it run does": [async () => Approval.preApproved(), "runs"],
    "that is only like one counts": [
      () => ({ then: (resolve: (value: boolean) => void) => resolve(false) }) as Promise<boolean>,
      "runs"
    ],
    "later is waited for": [
      () => new Promise<boolean>((resolve) => setImmediate(() => resolve(false))),
      "runs"
    ]
  } as const
  for (const [how, [gate, expected]] of Object.entries(answers)) {
    Support.forEachMode(`L1 ${how}`, function*(mode) {
      const tools = yield* Support.makeTools([makeGated(gate) as Tool.Any])
      const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls })
      const [request] = turn.requests
      const became = turn.results[0]?.isFailure === true
        ? Support.failureReason(turn.results[0])
        : turn.results.length === 1
        ? "runs"
        : request?.description === "Delete a?"
        ? "Delete a?"
        : "asks"
      assert.deepStrictEqual([became, tools.runs.length], [expected, expected === "runs" ? 1 : 0])
    })
  }

  Support.forEachMode("L1 that never comes is asked at the time limit", function*(mode) {
    const tools = yield* Support.makeTools([makeGated(() => new Promise(() => {})) as Tool.Any])
    const turn = yield* Effect.forkChild(
      Support.ask(mode, { toolkit: tools.toolkit, calls, approval: { policyTimeLimit: "2 seconds" } })
    )
    yield* Support.idle
    yield* TestClock.adjust("1999 millis")
    yield* Support.idle
    assert.isUndefined(turn.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.isTrue(yield* Support.settles(turn))
    assert.deepStrictEqual([(yield* Fiber.join(turn)).requests.length, tools.runs.length], [1, 0])
  })
})

describe("L1 a gate that goes wrong", () => {
  const secret = "s3cr3t-of-the-cause"
  const troubled: Record<string, () => never | Promise<boolean> | Effect.Effect<boolean, unknown>> = {
    "throws": () => {
      throw new Error(secret)
    },
    "rejects": () => Promise.reject(new Error(secret)),
    "rejects later": async () => {
      await new Promise((resolve) => setImmediate(resolve))
      throw new Error(secret)
    },
    "fails": () => Effect.fail(new Error(secret)),
    "dies": () => Effect.die(new Error(secret))
  }
  for (const [how, gate] of Object.entries(troubled)) {
    Support.forEachMode(`L1 and ${how} asks, tells the program what was thrown, and nobody else`, function*(mode) {
      const events = yield* ApprovalEvents.make()
      const observed = yield* events.subscribe
      const tools = yield* Support.makeTools([makeGated(gate) as Tool.Any])
      const turn = yield* Effect.provideService(
        Support.ask(mode, { toolkit: tools.toolkit, calls }),
        ApprovalEvents.ApprovalEvents,
        events
      )
      assert.deepStrictEqual([turn.requests.length, tools.runs.length], [1, 0])
      assert.notInclude(JSON.stringify([turn.parts, turn.history]), secret)
      const [failed] = yield* Stream.runCollect(
        Stream.take(Stream.filter(observed, (event) => event._tag === "PolicyFailed"), 1)
      )
      const thrown = failed?.cause === undefined ? undefined : Cause.squash(failed.cause)
      assert.strictEqual(thrown instanceof Error ? thrown.message : thrown, secret)
    })
  }
})

describe("how many gates run at once", () => {
  const limits = [[undefined, 12], ["unbounded", 12], [12, 12], [2, 2], [1, 1]] as const
  const kinds = ["the tool's own", "a policy", "the tool's own, with a memory"] as const
  for (const kind of kinds) {
    for (const [concurrency, expected] of limits) {
      for (const answer of [true, false]) {
        Support.forEachMode(
          `L8 ${kind}, saying ${answer}: of 12 calls at ${concurrency}, ${expected}`,
          function*(mode) {
            let running = 0
            let most = 0
            const order: Array<string> = []
            const gate = Effect.fnUntraced(function*(path: string) {
              order.push(path)
              most = Math.max(most, ++running)
              yield* Support.idle
              running--
              return answer
            })
            const own = kind === "a policy" ? true : ({ path }: { readonly path: string }) => gate(path)
            const tools = yield* Support.makeTools([makeGated(own) as Tool.Any])
            const paths = Array.from({ length: 12 }, (_, index) => `${index}`)
            const script = yield* ScriptedModel.make({
              turns: [paths.map((path) => Support.call(`c${path}`, "Gated", { path }))],
              afterLastTurn: "done"
            })
            const options = {
              model: script.model,
              toolkit: tools.toolkit,
              ...(concurrency === undefined ? undefined : { concurrency })
            }
            const policy = kind === "a policy"
              ? ApprovalPolicy.make((call) => gate(String(Object.values(call.encodedParams as object)[0])))
              : ApprovalPolicy.toolGate
            const turn = Effect.provideService(
              Effect.gen(function*() {
                const first = yield* Support.takeTurn(mode, { ...options, prompt: "Go on." })
                assert.deepStrictEqual([most, order], [expected, paths], "of the response")
                if (!answer) return assert.lengthOf(tools.runs, 12)
                assert.deepStrictEqual(
                  first.requests.map(({ toolCallId }) => toolCallId),
                  paths.map((path) => `c${path}`)
                )
                most = 0
                const prompt = Support.answers(...first.requests.map((request) => Approval.approve(request)))
                yield* Support.takeTurn(mode, { ...options, history: first.history, prompt })
                assert.deepStrictEqual([most, tools.runs.length], [expected, 12], "of what was approved")
              }),
              ApprovalPolicy.ApprovalPolicy,
              policy
            )
            yield* Effect.provide(turn, kind.endsWith("memory") ? ApprovalMemory.layerSession() : Layer.empty)
          },
          ["generateText", "streamText"]
        )
      }
    }
  }
})
