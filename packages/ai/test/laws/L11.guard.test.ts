/**
 * L11 for guarded toolkits within a turn of the engine: their policy sees the conversation that the turn is part of, and
 * what the engine says of expiry counts for them too.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, ApprovalPolicy, Prompt, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

/** What a policy was told: of which call, and the texts of the messages around it. */
interface Seen {
  readonly by: string
  readonly toolName: string
  readonly texts: ReadonlyArray<string>
}

const textsOf = (messages: ReadonlyArray<Prompt.Message>): ReadonlyArray<string> =>
  messages.map((message) => {
    if (message.role === "system") return `system: ${message.content}`
    const parts = (message.content as ReadonlyArray<Prompt.Part>).map((part) =>
      part.type === "text" ? part.text : part.type
    )
    return `${message.role}: ${parts.join(", ")}`
  })

/** A guarded toolkit of one tool, whose gate and whose policy say what they see. */
const makeGuarded = Effect.gen(function*() {
  const seen: Array<Seen> = []
  const runs: Array<string> = []
  const Erase = Tool.make("Erase", {
    parameters: { path: Schema.String },
    success: Schema.String,
    needsApproval: (_, { messages }) => {
      seen.push({ by: "gate", toolName: "Erase", texts: textsOf(messages) })
      return true
    }
  })
  const kit = Toolkit.make(Erase)
  const handlers = kit.toLayer({ Erase: ({ path }) => Effect.sync(() => (runs.push(path), `erased ${path}`)) })
  const guarded = yield* Effect.provide(Toolkit.guard(kit), handlers)
  const policy = ApprovalPolicy.make((call) => {
    seen.push({ by: "policy", toolName: call.toolName, texts: textsOf(call.messages) })
    return undefined
  })
  const erase = (path: string) =>
    Effect.flatMap(guarded.handle("Erase", { path }), Stream.runCollect).pipe(
      Effect.map((outputs) => outputs.at(-1)!),
      Effect.orDie
    )
  return { seen, runs, policy, erase, toolkit: guarded as unknown as Support.AnyToolkit }
})

const Delegate = Tool.make("Delegate", { success: Schema.String })
const GatedDelegate = Tool.make("Delegate", { success: Schema.String, needsApproval: true })

const yes = ApprovalController.interactive(() => true)

const within = (policy: ApprovalPolicy.Service, controller = yes) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy),
    Effect.provideService(ApprovalController.ApprovalController, controller)
  )

/** A conversation that has gone on for a while. */
const history = Prompt.make([
  { role: "system", content: "Be careful." },
  { role: "user", content: [{ type: "text", text: "Hello." }] },
  { role: "assistant", content: [{ type: "text", text: "Hi." }] }
])

const around = ["system: Be careful.", "user: Hello.", "assistant: Hi.", "user: Go on."]

const whoSaw = (seen: ReadonlyArray<Seen>, toolName: string) => {
  const of = seen.filter((one) => one.toolName === toolName)
  assert.isNotEmpty(of, `nobody was asked about ${toolName}`)
  return of
}

describe("L11 the policy of a guarded call, within a turn", () => {
  for (const tool of [Delegate, GatedDelegate]) {
    const how = tool === Delegate ? "that needs nobody" : "that is approved at once"
    Support.forEachMode(`L11 in a handler of a call ${how} it sees the messages of the turn`, function*(mode) {
      const { erase, policy, runs, seen } = yield* makeGuarded
      const tools = yield* Support.makeTools([tool, Support.DeleteFile], {
        Delegate: () => Effect.as(erase("a"), "done")
      })
      const { model } = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Delegate", {})]] })
      yield* within(policy)(
        Support.takeTurn(mode, { model, toolkit: tools.toolkit, history, prompt: "Go on." })
      )
      assert.deepStrictEqual(runs, ["a"])
      for (const one of whoSaw(seen, "Erase")) assert.deepStrictEqual(one.texts, around, one.by)
      // They are what the turn's own calls are judged by.
      for (const one of whoSaw(seen, "Delegate")) assert.deepStrictEqual(one.texts, around, one.by)
    })
  }

  Support.forEachMode(
    "L11 in the handler of a call that was approved from the history it sees the messages of it",
    function*(mode) {
      const { erase, policy, runs, seen } = yield* makeGuarded
      const tools = yield* Support.makeTools([GatedDelegate], { Delegate: () => Effect.as(erase("a"), "done") })
      const asked = yield* Support.ask(mode, {
        toolkit: tools.toolkit,
        history,
        calls: [Support.call("c1", "Delegate", {})]
      })
      const { model } = yield* Support.answering
      yield* within(policy)(
        Support.approve(mode, { asked, model, tools })
      )
      assert.deepStrictEqual(runs, ["a"])
      for (const one of whoSaw(seen, "Erase")) {
        assert.deepStrictEqual(one.texts.slice(0, around.length), around, one.by)
      }
    }
  )

  Support.forEachMode("L11 given to the turn itself it sees the messages of the turn", function*(mode) {
    const { policy, runs, seen, toolkit } = yield* makeGuarded
    const { model } = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Erase", { path: "a" })]] })
    yield* within(policy)(Support.takeTurn(mode, { model, toolkit, history, prompt: "Go on." }))
    assert.deepStrictEqual(runs, ["a"])
    for (const one of whoSaw(seen, "Erase")) assert.deepStrictEqual(one.texts, around, one.by)
  })

  Support.forEachMode(
    "L11 in a turn that settles a call first it sees the result of that call, as the turn's own calls do",
    function*(mode) {
      const { policy, runs, seen, toolkit } = yield* makeGuarded
      const own = yield* Support.makeTools()
      const asked = yield* Support.ask(mode, {
        toolkit: own.toolkit,
        history,
        calls: [Support.call("c1", "DeleteFile", { path: "a" })]
      })
      const { model } = yield* ScriptedModel.make({
        turns: [[Support.call("c2", "Erase", { path: "b" }), Support.call("c3", "DeleteFile", { path: "c" })]]
      })
      const both = yield* Toolkit.join(own.toolkit, toolkit)
      yield* within(policy)(Support.takeTurn(mode, {
        model,
        toolkit: both as unknown as Support.AnyToolkit,
        history: asked.history,
        prompt: Support.answers(Approval.approve(asked.requests[0]!))
      }))
      assert.deepStrictEqual([own.count("DeleteFile"), runs], [2, ["b"]])
      const judged = [...around, "assistant: tool-call", "tool: tool-result"]
      for (const one of whoSaw(seen, "Erase")) assert.deepStrictEqual(one.texts, judged, one.by)
      assert.deepStrictEqual(whoSaw(seen, "DeleteFile").at(-1)!.texts, judged)
    }
  )

  Support.forEachMode("L11 in a turn within a turn it sees the messages of the inner one", function*(mode) {
    const { policy, runs, seen, toolkit } = yield* makeGuarded
    const inner = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Erase", { path: "a" })]] })
    const tools = yield* Support.makeTools([Delegate, Support.DeleteFile], {
      Delegate: () =>
        Effect.as(
          Effect.orDie(Support.takeTurn(mode, { model: inner.model, toolkit, prompt: "Erase it." })),
          "done"
        )
    })
    const outer = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Delegate", {})]] })
    yield* within(policy)(
      Support.takeTurn(mode, { model: outer.model, toolkit: tools.toolkit, history, prompt: "Go on." })
    )
    assert.deepStrictEqual(runs, ["a"])
    for (const one of whoSaw(seen, "Erase")) assert.deepStrictEqual(one.texts, ["user: Erase it."], one.by)
  })

  it.effect("L11 outside a turn, before and after one, there are no messages", () =>
    Effect.gen(function*() {
      const { erase, policy, runs, seen, toolkit } = yield* makeGuarded
      const { model } = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Erase", { path: "b" })]] })
      yield* within(policy)(erase("a"))
      yield* within(policy)(Support.takeTurn("generateText", { model, toolkit, history, prompt: "Go on." }))
      seen.length = 0
      yield* within(policy)(erase("c"))
      assert.deepStrictEqual(runs, ["a", "b", "c"])
      for (const one of whoSaw(seen, "Erase")) assert.deepStrictEqual(one.texts, [], one.by)
    }).pipe(Support.fresh))
})

/** Somebody who takes two minutes for the guarded call, and none for others. */
const makeSlow = Effect.sync(() => {
  const shown: Array<Approval.ApprovalRequest> = []
  const controller = ApprovalController.interactive((request) => {
    if (request.toolName !== "Erase") return true
    shown.push(request)
    return Effect.as(Effect.sleep("2 minutes"), true)
  })
  return { controller, shown }
})

const advancing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    assert.isTrue(yield* Support.advance(fiber, "30 seconds"), "it came to its end")
    return yield* Fiber.join(fiber)
  })

const nothingElse = ApprovalPolicy.toolGate

describe("L4 the expiry of a guarded call, within a turn", () => {
  Support.forEachMode("L4 in a handler: an answer later than the engine's expiry runs nothing", function*(mode) {
    const { erase, runs } = yield* makeGuarded
    const outputs: Array<unknown> = []
    const tools = yield* Support.makeTools([Delegate, Support.DeleteFile], {
      Delegate: () =>
        Effect.map(erase("a"), ({ encodedResult, isFailure }) => {
          outputs.push([isFailure, encodedResult])
          return "done"
        })
    })
    const { controller, shown } = yield* makeSlow
    const { model } = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Delegate", {})]] })
    yield* advancing(
      within(nothingElse, controller)(Support.takeTurn(mode, {
        model,
        toolkit: tools.toolkit,
        prompt: "Go on.",
        approval: { expiresIn: "1 minute" }
      }))
    )
    assert.deepStrictEqual(shown.map(({ expiresAt }) => expiresAt), [60_000])
    assert.deepStrictEqual(runs, [])
    assert.match(JSON.stringify(outputs), /^\[\[true,.*expired/)
  })

  Support.forEachMode("L4 given to the turn: an answer later than the engine's expiry runs nothing", function*(mode) {
    const { runs, toolkit } = yield* makeGuarded
    const { controller, shown } = yield* makeSlow
    const { model } = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Erase", { path: "a" })]] })
    const turn = yield* advancing(
      within(nothingElse, controller)(Support.takeTurn(mode, {
        model,
        toolkit,
        prompt: "Go on.",
        approval: { expiresIn: "1 minute" }
      }))
    )
    assert.deepStrictEqual(shown.map(({ expiresAt }) => expiresAt), [60_000])
    assert.deepStrictEqual(runs, [])
    assert.match(Support.failureReason(turn.results[0]), /expired/)
  })

  Support.forEachMode("L4 what the policy says of the expiry of that call comes first", function*(mode) {
    const { runs, toolkit } = yield* makeGuarded
    const { controller } = yield* makeSlow
    const { model } = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Erase", { path: "a" })]] })
    const hour = ApprovalPolicy.make(() => Approval.needsApproval({ expiresIn: 3_600_000 }))
    yield* advancing(
      within(hour, controller)(Support.takeTurn(mode, {
        model,
        toolkit,
        prompt: "Go on.",
        approval: { expiresIn: "1 minute" }
      }))
    )
    assert.deepStrictEqual(runs, ["a"])
  })

  it.effect("L4 outside a turn nothing times out by itself", () =>
    Effect.gen(function*() {
      const { erase, runs } = yield* makeGuarded
      const { controller, shown } = yield* makeSlow
      const fiber = yield* Effect.forkChild(within(nothingElse, controller)(erase("a")))
      yield* Support.idle
      yield* TestClock.adjust("2 minutes")
      yield* Fiber.join(fiber)
      assert.deepStrictEqual([runs, shown.map(({ expiresAt }) => expiresAt)], [["a"], [undefined]])
    }).pipe(Support.fresh))
})
