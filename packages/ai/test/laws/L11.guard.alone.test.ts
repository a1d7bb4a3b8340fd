/**
 * L11 for guarded toolkits in a turn in which the engine itself has nothing to decide, because nobody can be asked and no
 * other tool has a gate: their policy sees the conversation of that very turn all the same.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { Approval, Prompt, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

/** A guarded toolkit whose gate forbids what is done in a conversation that says so; it counts what it was shown. */
const makeGuarded = Effect.gen(function*() {
  const seen: Array<number> = []
  const runs: Array<string> = []
  const Erase = Tool.make("Erase", {
    parameters: { path: Schema.String },
    success: Schema.String,
    needsApproval: (_, { messages }) => {
      seen.push(messages.length)
      return JSON.stringify(messages).includes("Touch nothing") ? Approval.blocked("read only") : false
    }
  })
  const kit = Toolkit.make(Erase)
  const handlers = kit.toLayer({ Erase: ({ path }) => Effect.sync(() => (runs.push(path), `erased ${path}`)) })
  const guarded = yield* Effect.provide(Toolkit.guard(kit), handlers)
  const erase = (path: string) =>
    Effect.flatMap(guarded.handle("Erase", { path }), Stream.runCollect).pipe(Effect.orDie)
  return { seen, runs, erase, toolkit: guarded as unknown as Support.AnyToolkit }
})

const Delegate = Tool.make("Delegate", { success: Schema.String })

const careful = Prompt.make([{ role: "system", content: "Touch nothing." }])

describe("L11 the policy of a guarded call, in a turn with nothing to decide", () => {
  Support.forEachMode("L11 given to the turn itself it sees the messages of the turn", function*(mode) {
    const { runs, seen, toolkit } = yield* makeGuarded
    const { model } = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Erase", { path: "a" })]] })
    yield* Support.takeTurn(mode, { model, toolkit, history: careful, prompt: "Go on." })
    assert.deepStrictEqual([runs, seen], [[], [2]])
  })

  Support.forEachMode("L11 in a handler it sees the messages of the turn", function*(mode) {
    const { erase, runs, seen } = yield* makeGuarded
    const { toolkit } = yield* Support.makeTools([Delegate], { Delegate: () => Effect.as(erase("a"), "done") })
    const { model } = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Delegate", {})]] })
    yield* Support.takeTurn(mode, { model, toolkit, history: careful, prompt: "Go on." })
    assert.deepStrictEqual([runs, seen], [[], [2]])
  })

  Support.forEachMode("L11 in a turn within a turn it sees the messages of the inner one", function*(mode) {
    const { runs, seen, toolkit } = yield* makeGuarded
    const inner = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Erase", { path: "a" })]] })
    const tools = yield* Support.makeTools([Delegate, Support.DeleteFile], {
      Delegate: () =>
        Effect.as(
          Effect.orDie(
            Support.takeTurn(mode, { model: inner.model, toolkit, history: careful, prompt: "Go on." })
          ),
          "done"
        )
    })
    const outer = yield* ScriptedModel.make({ turns: [[Support.call("c1", "Delegate", {})]] })
    yield* Support.takeTurn(mode, { model: outer.model, toolkit: tools.toolkit, prompt: "Do what you want." })
    assert.deepStrictEqual([runs, seen], [[], [2]])
  })
})
