/**
 * How a turn with approvals comes out: each part as soon as it is known, requests just before the finish, and approved
 * calls a few at a time.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Schema, Stream } from "effect"
import { Approval, LanguageModel, Prompt, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Asked from "./asked.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

const streams = ["streamText", "Chat.streamText"] as const

const Render = Tool.make("Render", {
  parameters: { name: Schema.String },
  success: Schema.Struct({ progress: Schema.FiniteFromString }),
  needsApproval: true
})
const renderCall = (id: string) => ScriptedModel.toolCall({ id, name: "Render", params: { name: id } })

describe("emission of approved calls", () => {
  for (const way of streams) {
    it.effect(`L8 B26 an approved call's preliminary results are emitted as they come [${way}]`, () =>
      C.fresh(Effect.gen(function*() {
        const preliminarySeen = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const log: Array<string> = []
        const toolkit = yield* C.withHandlers(Toolkit.make(Render), {
          Render: ({ name }, context) =>
            Effect.gen(function*() {
              yield* context.preliminary({ progress: 50 })
              yield* Deferred.await(gate)
              log.push(`ran ${name}`)
              return { progress: 100 }
            })
        })
        const chat = yield* C.start({ way, toolkit, turns: [[renderCall("r1")], "done"] })
        const asked = yield* chat.send("render")
        const turn = yield* Effect.forkChild(
          chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]), {
            onPart: (part) => {
              if (part.type !== "tool-result") return Effect.void
              log.push(`${part.preliminary} ${JSON.stringify(part.encodedResult)}`)
              assert.strictEqual(typeof (part.result as { readonly progress: unknown }).progress, "number")
              return part.preliminary ? Effect.asVoid(Deferred.succeed(preliminarySeen, undefined)) : Effect.void
            }
          }),
          { startImmediately: true }
        )
        yield* Deferred.await(preliminarySeen)
        assert.deepStrictEqual(log, [`true {"progress":"50"}`], "before the call has ended")
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(turn)
        assert.deepStrictEqual(log, [`true {"progress":"50"}`, "ran r1", `false {"progress":"100"}`])
        assert.deepStrictEqual(C.resultsOf(yield* chat.lastPrompt).map((part) => part.result), [{ progress: "100" }])
      })))

    it.effect(`L8 B26 a finished call's result is emitted while its sibling still runs [${way}]`, () =>
      C.fresh(Effect.gen(function*() {
        const firstSeen = yield* Deferred.make<void>()
        const gate = yield* Deferred.make<void>()
        const toolkit = yield* C.withHandlers(Toolkit.make(Render), {
          Render: ({ name }) => Effect.as(name === "slow" ? Deferred.await(gate) : Effect.void, { progress: 100 })
        })
        const chat = yield* C.start({ way, toolkit, turns: [[renderCall("slow"), renderCall("quick")], "done"] })
        const asked = yield* chat.send("render")
        const turn = yield* Effect.forkChild(
          chat.send(C.approveAll(asked), {
            onPart: (part) =>
              part.type === "tool-result" && part.id === "quick"
                ? Effect.asVoid(Deferred.succeed(firstSeen, undefined))
                : Effect.void
          }),
          { startImmediately: true }
        )
        yield* Deferred.await(firstSeen)
        yield* Deferred.succeed(gate, undefined)
        assert.deepStrictEqual((yield* Fiber.join(turn)).results.map((part) => part.id), ["quick", "slow"])
        C.assertWellFormed(yield* chat.lastPrompt)
      })))
  }

  for (const way of ["generateText", "Chat.generateText"] as const) {
    it.effect(`L8 B26 a generated answer holds final results only [${way}]`, () =>
      C.fresh(Effect.gen(function*() {
        const toolkit = yield* C.withHandlers(Toolkit.make(Render), {
          Render: (_, context) => Effect.as(context.preliminary({ progress: 50 }), { progress: 100 })
        })
        const chat = yield* C.start({ way, toolkit, turns: [[renderCall("r1")], "done"] })
        const asked = yield* chat.send("render")
        const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
        assert.strictEqual(turn.parts.filter((part) => part.type === "tool-result").length, 1)
      })))
  }

  const atOnce: Record<string, {
    readonly approval?: LanguageModel.ApprovalOptions
    readonly concurrency?: number
    readonly count: number
    readonly expected: number
  }> = {
    "8 at a time by default": { count: 1000, expected: 8 },
    "as many as the call says": { count: 100, concurrency: 3, expected: 3 },
    "as many as the model's options say": { count: 100, approval: { concurrency: 20 }, expected: 20 },
    "as the call says, not the options": { count: 100, approval: { concurrency: 20 }, concurrency: 5, expected: 5 }
  }
  for (const way of ["generateText", "streamText"] as const) {
    for (const [title, { approval, concurrency, count, expected }] of Object.entries(atOnce)) {
      it.effect(`L8 B28 ${count} approved calls run ${title} [${way}]`, () =>
        C.fresh(Effect.gen(function*() {
          let ran = 0
          let running = 0
          let most = 0
          const toolkit = yield* C.withHandlers(Toolkit.make(Render), {
            Render: () =>
              Effect.gen(function*() {
                ran += 1
                running += 1
                most = Math.max(most, running)
                yield* Effect.yieldNow
                yield* Effect.yieldNow
                running -= 1
                return { progress: 100 }
              })
          })
          const calls = Array.from({ length: count }, (_, index) => renderCall(`r${index}`))
          const chat = yield* C.start({ way, toolkit, turns: [calls, "done"], approval })
          const asked = yield* chat.send("render")
          assert.strictEqual(asked.requests.length, count)
          const turn = yield* chat.send(
            C.approveAll(asked),
            { concurrency }
          )
          assert.strictEqual(turn.results.length, count)
          assert.deepStrictEqual([ran, most], [count, expected])
        })))
    }
  }
})

describe("emission of requests", () => {
  C.everyWay("L13 requests come just before the finish, results before them, the finish last", function*(way) {
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [[
        ScriptedModel.text("let me see"),
        C.deleteCall("c1", "a"),
        ScriptedModel.text("and"),
        C.readCall("r1", "x"),
        C.deleteCall("c2", "b"),
        ScriptedModel.text("that is all")
      ]]
    })
    const { shape } = yield* chat.send("tidy up")
    assert.isTrue(shape.endsWith(" request request finish"), shape)
    assert.strictEqual(shape.split(" ").filter((type) => type === "request").length, 2)
    assert.include(shape.slice(0, shape.indexOf(" request")), "result")
  })

  for (const way of streams) {
    it.effect(`L13 a stream holds no request back behind, nor shows one before, the finish [${way}]`, () =>
      C.fresh(Effect.gen(function*() {
        const gate = yield* Deferred.make<void>()
        const textSeen = yield* Deferred.make<void>()
        const { toolkit } = yield* C.fileTools
        const seen: Array<string> = []
        const chat = yield* C.start({
          way,
          toolkit,
          turns: [[
            C.deleteCall("c1", "a"),
            ScriptedModel.text("wait"),
            ScriptedModel.text("more"),
            ScriptedModel.pause(Deferred.await(gate)),
            ScriptedModel.finish("tool-calls")
          ]]
        })
        const turn = yield* Effect.forkChild(
          chat.send("tidy up", {
            onPart: (part) => {
              seen.push(part.type)
              return part.type === "text-delta" ? Effect.asVoid(Deferred.succeed(textSeen, undefined)) : Effect.void
            }
          }),
          { startImmediately: true }
        )
        yield* Deferred.await(textSeen)
        for (let i = 0; i < 50; i++) yield* Effect.yieldNow
        assert.notInclude(seen, "tool-approval-request", "the provider may still break off")
        yield* Deferred.succeed(gate, undefined)
        yield* Fiber.join(turn)
        assert.deepStrictEqual(seen.slice(-2), ["tool-approval-request", "finish"])
      })))
  }

  for (const ready of [false, true]) {
    it.effect(`L13 parts of a stream pass in the provider's own chunks${ready ? ", also when all are ready" : ""}`, () =>
      C.fresh(Effect.gen(function*() {
        const { toolkit } = yield* C.fileTools
        const delta = (delta: string) => ({ type: "text-delta", id: "t", delta }) as const
        const pause = ready ? [] : [ScriptedModel.pause(Effect.replicateEffect(Effect.yieldNow, 20, { discard: true }))]
        const script = yield* ScriptedModel.make({
          turns: [[
            ScriptedModel.chunk([{ type: "text-start", id: "t" }, delta("a"), delta("b")]),
            ...pause,
            ScriptedModel.chunk([delta("c"), delta("d"), { type: "text-end", id: "t" }]),
            ...pause,
            C.deleteCall("c1", "a")
          ]]
        })
        const chunks: Array<string> = []
        yield* LanguageModel.streamText({ prompt: "hi", toolkit }).pipe(
          Stream.runForEachArray((chunk) => Effect.sync(() => chunks.push(chunk.map((part) => part.type).join(" ")))),
          Effect.provideService(LanguageModel.LanguageModel, script.model)
        )
        assert.deepStrictEqual(chunks.slice(0, 2), [
          "text-start text-delta text-delta",
          "text-delta text-delta text-end"
        ])
      })))
  }
})

describe("emission of truncated responses", () => {
  for (const reason of ["length", "content-filter", "error", "other", "unknown"] as const) {
    C.everyWay(
      `L13 a response cut off with "${reason}": nothing runs, nothing can be approved, the chat goes on`,
      function*(way) {
        const { runs, toolkit } = yield* C.fileTools
        const chat = yield* C.start({
          way,
          toolkit,
          turns: [[C.deleteCall("c1", "a"), C.readCall("r1", "x"), ScriptedModel.finish(reason)], "on", "bye"]
        })
        const cut = yield* chat.send("tidy up")
        assert.deepStrictEqual(runs, [])
        assert.deepStrictEqual(cut.requests, [])
        assert.strictEqual(cut.finishReason, reason)
        for (const part of cut.results) C.reasonOf(part)
        assert.deepStrictEqual(C.pendingOf(yield* chat.history), [])

        for (const text of ["on", "bye"]) {
          assert.strictEqual((yield* chat.send("go on")).text, text)
          const prompt = yield* chat.lastPrompt
          C.assertWellFormed(prompt)
          for (const part of C.resultsOf(prompt)) C.reasonOf(part)
          assert.strictEqual(C.resultsOf(prompt).length, 2)
        }
        assert.deepStrictEqual(runs, [])
      }
    )
  }

  for (const way of streams) {
    it.effect(`L13 a stream that ends without a finish: nothing is asked, the chat goes on [${way}]`, () =>
      C.fresh(Effect.gen(function*() {
        const { runs, toolkit } = yield* C.fileTools
        const chat = yield* C.start({
          way,
          toolkit,
          turns: [[C.deleteCall("c1", "a"), ScriptedModel.withoutFinish], "on"]
        })
        const cut = yield* chat.send("tidy up")
        assert.deepStrictEqual(cut.requests, [])
        assert.strictEqual((yield* chat.send("go on")).text, "on")
        C.assertWellFormed(yield* chat.lastPrompt)
        assert.deepStrictEqual(runs, [])
      })))
  }
})

describe("what a request says", () => {
  Support.forEachMode(
    "L5 a request and its repetition are questions of approval, and say who runs the call",
    function*(mode) {
      const { asked, options, request } = yield* Asked.deletion(mode)
      assert.deepStrictEqual([request.interaction, request.providerExecuted], ["approval", false])
      const poll = yield* Support.takeTurn(mode, options)
      assert.deepStrictEqual(poll.requests, asked.requests)
    }
  )

  Support.forEachMode(
    "L9 the provider's own request, repeated, still says that the provider runs the call",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const { model } = yield* Support.answering
      const call = Prompt.toolCallPart({
        id: "mcp_1",
        name: "Search",
        params: { query: "a" },
        providerExecuted: true
      })
      const history = Support.written([call, Support.requestPart("mcpr_1", "mcp_1")])
      const poll = yield* Support.takeTurn(mode, { model, toolkit: tools.toolkit, history })
      assert.deepStrictEqual(
        poll.requests.map(({ approvalId, providerExecuted, toolName }) => [approvalId, toolName, providerExecuted]),
        [["mcpr_1", "Search", true]]
      )
    }
  )
})
