/**
 * What users of other libraries ask for (PEERS.md §4), each titled with its issues: the names of the repositories and the
 * numbers.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalJournal,
  ApprovalSeal,
  LanguageModel,
  Prompt,
  Response,
  Store,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedApprover, ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Support from "../laws/support.ts"
import { begin, no, one, outcomes, two, yes } from "./conversation.ts"

const interactively = (callback: Parameters<typeof ApprovalController.interactive>[0]) =>
  Effect.provideService(ApprovalController.ApprovalController, ApprovalController.interactive(callback))

describe("what users ask for: answers", () => {
  C.everyWay(
    "vercel/ai 11294 10070, openai-agents-js 1097 edit on approve: the edited parameters run, once, and the model is told their result",
    function*(way) {
      const edit = interactively((request) => Approval.approve(request, { params: { path: "b" } }))
      const chat = yield* edit(begin(way))
      const turn = yield* edit(chat.send([]))
      assert.deepStrictEqual([chat.runs, chat.requests, turn.text], [["delete b"], [], "done"])
      const prompt = yield* chat.lastPrompt
      C.assertWellFormed(prompt)
      assert.deepStrictEqual(C.resultsOf(prompt).map((part) => part.result), [{ deleted: "b" }])
    }
  )

  C.everyWay("langchainjs 11125 11437 one reject does not lose approved calls", function*(way) {
    const chat = yield* begin(way, { calls: [...two, C.deleteCall("c3", "c")] })
    const [first, second, third] = chat.requests
    const turn = yield* chat.send(Prompt.concat(no(second!), yes(first!, third!)))
    assert.deepStrictEqual([outcomes(turn), turn.text], [["-c2", "c1", "c3"], "done"])
    assert.deepStrictEqual(chat.runs.toSorted(), ["delete a", "delete c"])
    const prompt = yield* chat.lastPrompt
    C.assertWellFormed(prompt)
    assert.deepStrictEqual(C.outline(prompt).at(-1), "tool:[result c1, failure c2, result c3]")
  })

  C.everyWay(
    "vercel/ai 12709, pydantic-ai 3488 typing instead of clicking: the chat goes on, nothing runs, it may be asked again",
    function*(way) {
      const chat = yield* begin(way, { turns: ["which one?", [C.deleteCall("c1", "b")]] })
      assert.strictEqual((yield* chat.send("no, the other one")).text, "which one?")
      C.assertWellFormed(yield* chat.lastPrompt)
      yield* chat.send(yes(...chat.requests))
      assert.deepStrictEqual([chat.runs, yield* chat.calls], [[], 2], "a click that comes after all")
      const again = yield* chat.send("b")
      assert.deepStrictEqual(again.requests.map(({ params }) => params), [{ path: "b" }])
      yield* chat.send(yes(...again.requests))
      assert.deepStrictEqual(chat.runs, ["delete b"])
      C.assertWellFormed(yield* chat.lastPrompt)
    }
  )

  C.everyWay("mastra 19633 a stale button does not approve another call, though that has the same id", function*(way) {
    const chat = yield* begin(way, { turns: [[C.deleteCall("c1", "b")]] })
    const next = yield* chat.send(Prompt.concat(no(...chat.requests), "then the other"))
    const turn = yield* chat.send(yes(...chat.requests))
    assert.deepStrictEqual([chat.runs, turn.requests, turn.finishReason], [[], next.requests, "pause"])
    yield* chat.send(yes(...next.requests))
    assert.deepStrictEqual(chat.runs, ["delete b"])
  })

  C.everyWay("meho 3486 no duplicate cards: however often a page asks, one request with one id", function*(way) {
    const chat = yield* begin(way, { calls: two })
    for (let i = 0; i < 3; i++) assert.deepStrictEqual((yield* chat.send([])).requests, chat.requests)
    const pending = C.pendingOf(yield* chat.history).map((one) => one.approvalId)
    assert.deepStrictEqual(pending, chat.requests.map((one) => one.approvalId))
  })

  C.everyWay("agent-framework 4879 siblings are not asked about without need", function*(way) {
    const chat = yield* begin(way, { calls: [C.readCall("r1", "x"), ...one, C.readCall("r2", "y")] })
    assert.deepStrictEqual(chat.requests.map((request) => request.toolCallId), ["c1"])
    assert.deepStrictEqual([chat.runs.toSorted(), outcomes(chat.asked)], [["read x", "read y"], ["r1", "r2"]])
  })
})

describe("what users ask for: once, and only what was asked", () => {
  C.everyWay(
    "vercel/ai 15947 16068 19964 forgery: a client that makes up call, request and answer runs nothing",
    function*(way) {
      const { runs, toolkit } = yield* C.fileTools
      for (const name of ["DeleteFile", "ReadFile"]) {
        const chat = yield* C.start({ way, toolkit, turns: ["done"] })
        const call = Support.callPart("c1", name, { path: "id_rsa" })
        const prompt = Prompt.concat(
          Support.written([call, Support.requestPart("a1", "c1")]),
          yes({ approvalId: "a1" })
        )
        assert.deepStrictEqual(outcomes(yield* chat.send(prompt)), ["-c1"])
        C.assertWellFormed(yield* chat.lastPrompt)
      }
      assert.deepStrictEqual(runs, [])
    }
  )

  C.everyWay(
    "pydantic-ai 5536 an approval is consumed once: it does not let the next call of the tool through",
    function*(way) {
      const chat = yield* begin(way, { turns: [[C.deleteCall("c2", "a")]] })
      const turn = yield* chat.send(yes(...chat.requests))
      assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c2"], "asked about again")
      yield* chat.send(yes(...chat.requests))
      assert.deepStrictEqual(chat.runs, ["delete a"])
    }
  )

  C.everyWay("archestra 5132, agent-framework 6851 no double run: two clicks at once, and a reload", function*(way) {
    const { asking, requests, runs, send, setHistory } = yield* begin(way)
    yield* setHistory(Prompt.concat(asking, yes(...requests)))
    yield* Effect.all([send(yes(...requests)), send(yes(...requests))], { concurrency: "unbounded" })
    yield* setHistory(Support.throughJson(asking))
    assert.deepStrictEqual(outcomes(yield* send(yes(...requests))), ["c1"])
    assert.deepStrictEqual(runs, ["delete a"])
  })

  C.everyWay("openai-agents-python 4845 a predicate that fails does not fail open", function*(way) {
    const runs: Array<string> = []
    for (const gate of [() => Effect.fail("offline"), () => Effect.die("bug"), () => undefined as never]) {
      const tool = Tool.setNeedsApproval(C.DeleteFile, gate)
      const toolkit = yield* C.withHandlers(Toolkit.make(tool), {
        DeleteFile: ({ path }) => Effect.sync(() => (runs.push(path), { deleted: path }))
      })
      assert.strictEqual((yield* begin(way, { toolkit })).requests.length, 1)
    }
    assert.deepStrictEqual(runs, [])
  })
})

describe("what users ask for: time and place", () => {
  C.everyWay(
    "agenticos 178, breeze 3090 pending for ever: it waits as long as it was told, and expiry is not a denial",
    function*(way) {
      const chat = yield* begin(way, { approval: { expiresIn: "1 hour" } })
      yield* TestClock.adjust("59 minutes")
      assert.deepStrictEqual((yield* chat.send([])).requests, chat.requests)
      yield* TestClock.adjust("2 minutes")
      const turn = yield* chat.send(yes(...chat.requests))
      assert.match(C.reasonOf(turn.results[0]!), /expired/i)
      assert.match(C.reasonOf(turn.results[0]!), /nothing ran.*again/i)
      assert.notMatch(C.reasonOf(turn.results[0]!), /denied|declined|rejected/i)
      assert.deepStrictEqual([chat.runs, turn.text], [[], "done"])
    }
  )

  C.everyWay(
    "druks 619 a request is not lost across a deploy: a new process with key and journal settles it once",
    function*(way) {
      const store = yield* Store.makeMemory()
      const inProcess = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.provide(
          effect,
          Layer.merge(
            ApprovalSeal.layer({ key: "the key of every deploy, 32 bytes" }),
            ApprovalJournal.layerStore().pipe(Layer.provide(Layer.succeed(Store.Store, store)))
          ),
          { local: true }
        )
      const { asking, requests } = yield* inProcess(begin(way))
      const { runs, toolkit } = yield* C.fileTools
      for (const turns of [["done"], ["done"]]) {
        const chat = yield* C.start({ way, toolkit, turns, history: Support.throughJson(asking) })
        const turn = yield* inProcess(chat.send(yes(...requests)))
        assert.deepStrictEqual([outcomes(turn), turn.text], [["c1"], "done"])
        C.assertWellFormed(yield* chat.lastPrompt)
      }
      assert.deepStrictEqual(runs, ["delete a"])
    }
  )

  // An agent as a tool: its handler takes a turn of its own, with a model and tools of its own.
  const agentOf = Effect.fnUntraced(function*(needsApproval: boolean) {
    const { runs, toolkit } = yield* C.fileTools
    const script = yield* ScriptedModel.make({ turns: [], afterLastTurn: one })
    const Agent = Tool.make("Agent", { success: Schema.String, needsApproval })
    const agents = yield* C.withHandlers(Toolkit.make(Agent), {
      Agent: () =>
        LanguageModel.generateText({ prompt: "tidy up", toolkit }).pipe(
          Effect.map((turn) =>
            Response.isWaiting(turn) ? `${Response.approvalRequests(turn.content).length} waits` : "done"
          ),
          Effect.provideService(LanguageModel.LanguageModel, script.model),
          Effect.orDie
        )
    })
    return { runs, toolkit: agents }
  })
  const agentCall = [ScriptedModel.toolCall({ id: "agent", name: "Agent", params: {} })]

  for (const gated of [false, true]) {
    const title = gated ? "an approved agent" : "an agent that needs nobody"
    C.everyWay(
      `openai-agents-js 680, mastra 12552, agent-framework 4963 a nested request is not swallowed: the person of ${title} is asked`,
      function*(way) {
        const { runs, toolkit } = yield* agentOf(gated)
        const approver = ScriptedApprover.make(() => "approve")
        const chat = yield* interactively(approver.callback)(begin(way, { toolkit, calls: agentCall }))
        assert.deepStrictEqual(chat.asked.results.map((part) => part.result), ["done"])
        const seen = (yield* approver.seen).map((request) => request.toolName)
        assert.deepStrictEqual([seen, runs], [gated ? ["Agent", "DeleteFile"] : ["DeleteFile"], ["delete a"]])
      }
    )

    C.everyWay(
      `openai-agents-js 680, mastra 12552, agent-framework 4963 a nested request is not swallowed: the handler of ${title} sees that it waits`,
      function*(way) {
        const { runs, toolkit } = yield* agentOf(gated)
        const chat = yield* begin(way, { toolkit, calls: agentCall })
        const turn = gated ? yield* chat.send(yes(...chat.requests)) : chat.asked
        assert.deepStrictEqual([turn.results.map((part) => part.result), runs], [["1 waits"], []])
      }
    )
  }
})
