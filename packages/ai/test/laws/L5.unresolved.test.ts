/**
 * L5 and L11 for a caller that resolves tool calls itself (`disableToolCallResolution`): nothing runs, so nobody is asked
 * about the open requests of the history. What the history itself says is put on record all the same.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalEvents,
  ApprovalMemory,
  ApprovalPolicy,
  type LanguageModel,
  type Prompt
} from "../../src/index.ts"
import * as Support from "../waiting/support.ts"
import * as Laws from "./support.ts"

const unresolved = { disableToolCallResolution: true }

/** Whoever could be asked about a call, each of whom would let it run; and who was. */
const makeProbes = Effect.sync(() => {
  const asked: Array<string> = []
  const policy = ApprovalPolicy.make((call) => {
    asked.push(`policy ${call.toolCallId}`)
    return Approval.preApproved("harmless")
  })
  const controller = ApprovalController.interactive((request) => {
    asked.push(`controller ${request.toolCallId}`)
    return true
  })
  const memory: ApprovalMemory.Service = {
    ...ApprovalMemory.none,
    remembers: true,
    find: (call) => Effect.sync(() => void asked.push(`memory ${JSON.stringify(call.params)}`))
  }
  const around = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy),
      Effect.provideService(ApprovalController.ApprovalController, controller),
      Effect.provideService(ApprovalMemory.ApprovalMemory, memory)
    )
  return { asked, around }
})

const begin = Effect.fnUntraced(function*(mode: Support.Mode, approval?: LanguageModel.ApprovalOptions) {
  const tools = yield* Support.makeTools()
  const first = yield* Laws.ask(mode, {
    toolkit: tools.toolkit,
    approval,
    calls: ["a", "b"].map((path) => Support.call(path, "DeleteFile", { path }))
  })
  const [a, b] = [first.requests[0]!, first.requests[1]!]
  const { around, asked } = yield* makeProbes
  const script = yield* Support.answering
  const take = (prompt: Prompt.RawInput = []) =>
    Support.takeTurn(mode, {
      model: script.model,
      toolkit: tools.toolkit,
      approval,
      history: first.history,
      prompt
    })
  const quietly = (prompt: Prompt.RawInput = []) =>
    around(Support.takeTurn(mode, {
      model: script.model,
      toolkit: tools.toolkit,
      approval,
      history: first.history,
      prompt,
      ...unresolved
    }))
  return { a, b, asked, quietly, take, tools, script }
})

const idsOf = (turn: Support.Turn) => turn.requests.map(({ toolCallId }) => toolCallId)

/** What becomes of requests while the effect runs. */
const changes = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.gen(function*() {
    const events = yield* ApprovalEvents.make()
    const seen: Array<string> = []
    const all = yield* events.subscribe
    yield* Effect.forkScoped(Stream.runForEach(all, (event) =>
      Effect.sync(() => {
        if (event._tag === "Changed") seen.push(`${event.toolCallId} ${event.state}`)
      })))
    yield* Effect.provideService(effect, ApprovalEvents.ApprovalEvents, events)
    yield* Support.idle
    return seen.toSorted()
  }))

describe("L5 the open requests of a caller that resolves calls itself", () => {
  Support.forEachMode("L5 stay open, and nobody is asked about them", function*(mode) {
    const { asked, quietly, script, tools } = yield* begin(mode)
    for (let i = 0; i < 2; i++) {
      const turn = yield* quietly()
      assert.deepStrictEqual([idsOf(turn), turn.results, turn.finish], [["a", "b"], [], "pause"])
    }
    assert.deepStrictEqual([asked, tools.runs, yield* script.calls], [[], [], 0])
  })

  for (const params of [undefined, { path: "elsewhere" }]) {
    const how = params === undefined ? "approved" : "approved with an edit"
    Support.forEachMode(
      `L11 ${how}, stay open and do not run; the approval counts where calls are run`,
      function*(mode) {
        const { a, asked, quietly, take, tools } = yield* begin(mode)
        const yes = Support.answers(Approval.approve(a, params === undefined ? undefined : { params }))
        const turn = yield* quietly(yes)
        assert.deepStrictEqual([idsOf(turn), turn.results], [["a", "b"], []])
        assert.deepStrictEqual([asked, tools.runs], [[], []])
        const later = yield* take(Support.answers(Approval.approve(a), Approval.approve(turn.requests[1]!)))
        assert.deepStrictEqual([tools.runs.length, later.text], [2, "done"])
      }
    )
  }

  Support.forEachMode("L3 a denial is put on record, and nobody is asked", function*(mode) {
    const { a, asked, b, quietly, take, tools } = yield* begin(mode)
    const turn = yield* quietly(Support.answers(Approval.deny(a, "keep it")))
    assert.deepStrictEqual([idsOf(turn), turn.results.map(({ id }) => id)], [["b"], ["a"]])
    assert.match(Support.failureReason(turn.results[0]), /keep it/)
    assert.deepStrictEqual(asked, [])
    const later = yield* take(Support.answers(Approval.approve(a), Approval.approve(b)))
    assert.deepStrictEqual(tools.runs.map(({ params }) => params), [{ path: "b" }])
    assert.match(Support.failureReason(later.results.find(({ id }) => id === "a")), /keep it/)
  })

  Support.forEachMode("L4 an expiry is put on record, and nobody is asked", function*(mode) {
    const { a, asked, quietly, tools } = yield* begin(mode, { expiresIn: "1 minute" })
    yield* TestClock.adjust("61 seconds")
    const seen = yield* changes(quietly(Support.answers(Approval.approve(a))))
    assert.deepStrictEqual([seen, asked, tools.runs], [["a expired", "b expired"], [], []])
  })

  Support.forEachMode("L6 a supersession is put on record, and nobody is asked", function*(mode) {
    const { a, asked, b, quietly, take, tools } = yield* begin(mode)
    const turn = yield* quietly("never mind")
    assert.deepStrictEqual([turn.results.map(({ id }) => id), turn.requests, asked], [["a", "b"], [], []])
    for (const result of turn.results) assert.match(Support.failureReason(result), /superseded/i)
    const later = yield* take(Support.answers(Approval.approve(a), Approval.approve(b)))
    assert.deepStrictEqual([tools.runs, later.results.length], [[], 2])
  })
})

describe("L5 what waits, for a caller that resolves calls itself", () => {
  Support.inEachMode("L5 stays open, and nobody is asked what it waits for", function*(mode) {
    const { first, names, script, toolkit } = yield* Support.begin(mode, [
      Support.ask("c1", "Size?"),
      Support.call("c2", "Gated", { question: "Size?" })
    ])
    const { around, asked } = yield* makeProbes
    const question = first.requests.find(({ interaction }) => interaction === "askUser")!
    for (const prompt of [[], Support.answers(Approval.answer(question, "42"))]) {
      const turn = yield* around(
        Support.takeTurn(mode, { model: script.model, toolkit, history: first.history, prompt, ...unresolved })
      )
      assert.deepStrictEqual([idsOf(turn).toSorted(), turn.results], [["c1", "c2"], []])
    }
    assert.deepStrictEqual([asked, names()], [[], ["start"]])
  })
})
