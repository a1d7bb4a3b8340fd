/**
 * L2 At most once: the journal is the state machine. Each fate is written once, before the model is called; history can
 * add a denial and never remove one.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Result } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalJournal, ApprovalSeal, type Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const ask = (mode: Support.Mode, tools: Support.Tools, ...ids: ReadonlyArray<string>) =>
  Support.ask(mode, {
    toolkit: tools.toolkit,
    approval: { expiresIn: "30 days" },
    calls: ids.map((id) => Support.call(id, "DeleteFile", { path: id }))
  })

const claimOf = ({ approvalId, toolCallId, toolName }: Approval.ApprovalRequest) =>
  Effect.map(ApprovalSeal.ApprovalSeal, (seal) => {
    const { expiresAt, nonce } = Result.getOrThrow(seal.parse(approvalId))
    return { approvalId, expiresAt, nonce, toolCallId, toolName }
  })

/** The state of a request in the journal of this test. */
const stateOf = (request: Approval.ApprovalRequest) =>
  Effect.gen(function*() {
    const journal = yield* ApprovalJournal.ApprovalJournal
    const entry = yield* journal.find(yield* claimOf(request))
    return entry?.state ?? "pending"
  })

/** A model that looks into the journal when it is called. */
const lookingModel = (requests: ReadonlyArray<Approval.ApprovalRequest>) =>
  Effect.gen(function*() {
    const context = yield* Effect.context<never>()
    const seen: Array<ReadonlyArray<string>> = []
    const look = Effect.forEach(requests, stateOf).pipe(
      Effect.map((states) => void seen.push(states)),
      Effect.orDie,
      Effect.provideContext(context)
    )
    const script = yield* ScriptedModel.make({ turns: [[ScriptedModel.pause(look), ScriptedModel.text("done")]] })
    return { model: script.model, seen }
  })

describe("L2 at most once: every fate is written before the model is called", () => {
  Support.forEachMode("L2 done, failed and denied stand in the journal when the model is called", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* ask(mode, tools, "c1", "c2")
    const [one, two] = [asked.requests[0]!, asked.requests[1]!]
    assert.deepStrictEqual(yield* Effect.forEach(asked.requests, stateOf), ["pending", "pending"])
    const { model, seen } = yield* lookingModel(asked.requests)
    yield* Support.reply(mode, { asked, model, tools }, Support.answers(Approval.approve(one), Approval.deny(two)))
    assert.deepStrictEqual(seen, [["done", "denied"]])
  })

  Support.forEachMode(
    "L2 superseded stands in the journal when the model is called, and cannot be undone",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const asked = yield* ask(mode, tools, "c1")
      const { model, seen } = yield* lookingModel(asked.requests)
      const options = { toolkit: tools.toolkit, history: asked.history }
      yield* Support.takeTurn(mode, { ...options, model, prompt: "Never mind." })
      assert.deepStrictEqual(seen, [["superseded"]])
      const { model: next } = yield* Support.answering
      const turn = yield* Support.takeTurn(mode, {
        ...options,
        model: next,
        prompt: Support.answers(Approval.approve(asked.requests[0]!))
      })
      assert.deepStrictEqual(tools.runs, [])
      Support.failureReason(turn.results[0])
    }
  )

  Support.forEachMode("L2 expired stands in the journal when the model is called", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* ask(mode, tools, "c1")
    const { model, seen } = yield* lookingModel(asked.requests)
    yield* TestClock.adjust("30 days")
    yield* TestClock.adjust("1 millis")
    yield* Support.approve(mode, { asked, model, tools })
    assert.deepStrictEqual([seen, tools.runs], [[["expired"]], []])
  })

  Support.forEachMode(
    "L2 L14 what was cancelled does not run when it is approved after all: it may be asked again",
    function*(mode) {
      const tools = yield* Support.makeTools()
      const asked = yield* ask(mode, tools, "c1", "c2")
      const [request, other] = asked.requests
      const journal = yield* ApprovalJournal.ApprovalJournal
      yield* journal.end(yield* claimOf(request!), "cancelled", "Cancelled. Nothing ran; it may be asked again.")
      const { model } = yield* Support.answering
      const turn = yield* Support.reply(
        mode,
        { asked, model, tools },
        Support.answers(Approval.approve(request!), Approval.approve(other!))
      )
      assert.deepStrictEqual(tools.runs.map(({ params }) => params), [{ path: "c2" }])
      const result = turn.results.find(({ id }) => id === "c1")
      assert.strictEqual(Support.failureReason(result), "Cancelled. Nothing ran; it may be asked again.")
      assert.propertyVal(result?.encodedResult, "type", "execution-interrupted")
      assert.strictEqual(turn.text, "done")
    }
  )

  Support.forEachMode("L2 running stands in the journal while the tool runs", function*(mode) {
    const hold = yield* Support.makeHold
    const tools = yield* Support.makeTools([Support.DeleteFile], {
      DeleteFile: () => Effect.as(hold.wait, { deleted: true })
    })
    const asked = yield* ask(mode, tools, "c1")
    const { model, seen } = yield* lookingModel(asked.requests)
    const fiber = yield* Effect.forkChild(
      Support.approve(mode, { asked, model, tools })
    )
    yield* hold.entered
    assert.strictEqual(yield* stateOf(asked.requests[0]!), "running")
    assert.deepStrictEqual(seen, [])
    yield* hold.release
    yield* Fiber.join(fiber)
    assert.deepStrictEqual(seen, [["done"]])
  })
})

describe("L2 at most once: history can add a denial, never remove one", () => {
  /** Takes the turn after the question, with these answers in its history. */
  const begin = Effect.fnUntraced(function*(mode: Support.Mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* ask(mode, tools, "c1")
    const { model } = yield* Support.answering
    const take = (...answers: ReadonlyArray<Approval.ApprovalAnswer>) =>
      Support.reply(mode, { asked, model, tools }, Support.answers(...answers))
    return { request: asked.requests[0]!, take, tools }
  })

  Support.forEachMode("L2 a denial recorded, then an approval in its place: the tool does not run", function*(mode) {
    const { request, take, tools } = yield* begin(mode)
    yield* take(Approval.deny(request, "keep it"))
    for (let i = 0; i < 2; i++) {
      const turn = yield* take(Approval.approve(request))
      assert.deepStrictEqual(tools.runs, [])
      assert.include(Support.failureReason(turn.results[0]), "keep it")
      assert.deepStrictEqual(turn.requests, [])
    }
  })

  Support.forEachMode(
    "L2 a denial recorded, then taken out of the history: the request is not open again",
    function*(mode) {
      const { request, take, tools } = yield* begin(mode)
      yield* take(Approval.deny(request, "keep it"))
      const turn = yield* take()
      assert.deepStrictEqual([turn.requests, tools.runs], [[], []])
      assert.include(Support.failureReason(turn.results[0]), "keep it")
    }
  )

  Support.forEachMode(
    "L2 a run recorded, then its result and answer taken out of the history: not open again",
    function*(mode) {
      const { request, take, tools } = yield* begin(mode)
      yield* take(Approval.approve(request))
      const turn = yield* take()
      assert.deepStrictEqual(turn.requests, [])
      assert.deepStrictEqual(turn.results.map((result) => result.result), [{ deleted: true }])
      assert.strictEqual(tools.runs.length, 1)
    }
  )
})

describe("L2 at most once: a result is returned only after seal, scope and call verify", () => {
  const secretTools = Support.makeTools([Support.ReadFile, Support.DeleteFile, Support.Charge], {
    Charge: () => Effect.succeed({ at: new Date(0), total: 424242n })
  })
  const inScope = Effect.provideService(Approval.Scope, { principal: "ada" })

  const tampered: Record<string, (history: Prompt.Prompt, approvalId: string) => Prompt.Prompt> = {
    "other parameters": (history) =>
      Support.rewrite(history, (part) => part.type === "tool-call" ? { ...part, params: { amount: "13" } } : part),
    "another call id": (history) =>
      Support.rewrite(history, (part) =>
        part.type === "tool-call"
          ? { ...part, id: "c9" }
          : part.type === "tool-approval-request"
          ? { ...part, toolCallId: "c9" }
          : part),
    "another tool": (history) =>
      Support.rewrite(
        history,
        (part) => part.type === "tool-call" ? { ...part, name: "DeleteFile", params: { path: "12" } } : part
      )
  }
  for (const [what, tamper] of Object.entries(tampered)) {
    Support.forEachMode(
      `L2 a recorded result is not given to a history with ${what}`,
      (mode) =>
        inScope(Effect.gen(function*() {
          const { asked, options, tools } = yield* settled(mode)
          const turn = yield* Support.takeTurn(mode, {
            ...options,
            history: tamper(asked.history, asked.requests[0]!.approvalId)
          })
          assert.isFalse(JSON.stringify(turn.results.map((result) => result.encodedResult)).includes("424242"))
          Support.failureReason(turn.results[0])
          assert.strictEqual(tools.runs.length, 1)
        }))
    )
  }

  Support.forEachMode("L2 a recorded result is not given to another principal", function*(mode) {
    const { options, tools } = yield* inScope(settled(mode))
    const turn = yield* Support.takeTurn(mode, options).pipe(
      Effect.provideService(Approval.Scope, { principal: "mallory" })
    )
    assert.isFalse(JSON.stringify(turn.results.map((result) => result.encodedResult)).includes("424242"))
    Support.failureReason(turn.results[0])
    assert.strictEqual(tools.runs.length, 1)
  })

  const settled = (mode: Support.Mode) =>
    Effect.gen(function*() {
      const tools = yield* secretTools
      const asked = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        calls: [Support.call("c1", "Charge", { amount: "12" })]
      })
      const { model } = yield* Support.answering
      const options = {
        model,
        toolkit: tools.toolkit,
        history: asked.history,
        prompt: Support.answers(Approval.approve(asked.requests[0]!))
      }
      const turn = yield* Support.takeTurn(mode, options)
      assert.strictEqual((turn.results[0]!.encodedResult as { total: string }).total, "424242")
      return { asked, options, tools }
    })
})

describe("L2 at most once: tombstones outlive the seal", () => {
  Support.forEachMode("L2 a history sent again around the seal's expiry does not run its call again", function*(mode) {
    const tools = yield* Support.makeTools()
    const asked = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "DeleteFile", { path: "a" })],
      approval: { expiresIn: "1 hour" }
    })
    const { model } = yield* Support.answering
    const turn = Support.approve(mode, { asked, model, tools })
    yield* turn
    for (const step of ["59 minutes", "1 minute", "1 millis", "10 minutes", "23 hours", "40 days"] as const) {
      yield* TestClock.adjust(step)
      const { requests, results } = yield* turn
      assert.deepStrictEqual([requests.length, results.length, tools.runs.length], [0, 1, 1])
    }
  })
})
