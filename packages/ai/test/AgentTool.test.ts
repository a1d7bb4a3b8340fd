/** What agents within a call say while it goes on. What they ask, and who answers, is in `agent/`. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { AgentTool, LanguageModel, Tool, Toolkit } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"

const Look = Tool.make("Look", { parameters: { at: Schema.String }, success: Schema.String })
const looks = Toolkit.make(Look)
const Researcher = AgentTool.make("Researcher", { parameters: { task: Schema.String } })
const researchers = Toolkit.make(Researcher)
const Manager = AgentTool.make("Manager", { parameters: { task: Schema.String } })
const managers = Toolkit.make(Manager)

const calls = (name: string, params: Record<string, unknown>) =>
  ScriptedModel.toolCall({ id: `call-${name}`, name, params })

/** What the reader of the outermost stream is told before the result, and by whom. */
const told = (tell: "nothing" | "steps" | "deltas") =>
  Effect.gen(function*() {
    const researcher = yield* ScriptedModel.make({ turns: [[calls("Look", { at: "books" })], "All is well."] })
    const manager = yield* ScriptedModel.make({ turns: [[calls("Researcher", { task: "Look." })], "Managed."] })
    const lead = yield* ScriptedModel.make({ turns: [[calls("Manager", { task: "Manage." })]] })
    const toolkit = yield* Effect.provide(looks, looks.toLayer({ Look: ({ at }) => Effect.succeed(`saw ${at}`) }))
    const inner = yield* Effect.provide(
      researchers,
      researchers.toLayer({
        Researcher: AgentTool.handler(Researcher, {
          toolkit,
          model: researcher.model,
          prompt: ({ task }) => task,
          tell
        })
      })
    )
    const outer = yield* Effect.provide(
      managers,
      managers.toLayer({
        Manager: AgentTool.handler(Manager, { toolkit: inner, model: manager.model, prompt: ({ task }) => task })
      })
    )
    const parts = yield* Stream.runCollect(LanguageModel.streamText({ prompt: "Go.", toolkit: outer })).pipe(
      Effect.provideService(LanguageModel.LanguageModel, lead.model)
    )
    return parts.flatMap((part) =>
      part.type === "tool-result"
        ? [[part.id, part.preliminary, part.result, (part.metadata.assent as { path?: unknown } | undefined)?.path]]
        : []
    )
  })

describe("tell", () => {
  const result = ["call-Manager", false, "Managed.", undefined]
  const path = ["Manager", "Researcher"]

  it.effect("says nothing where nobody wants to hear of it", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* told("nothing"), [result])
    }))

  it.effect("says step by step what an agent does, in the name of the outermost call, with its path", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* told("steps"), [
        ["call-Manager", true, "Look(at='books')", path],
        ["call-Manager", true, "All is well.", path],
        result
      ])
    }))

  it.effect("says the words of an agent as they come", () =>
    Effect.gen(function*() {
      const parts = yield* told("deltas")
      assert.deepStrictEqual(parts.at(-1), result)
      assert.deepStrictEqual(parts.at(-2), ["call-Manager", true, "All is well.", path])
      assert.isTrue(
        parts.slice(0, -1).every(([, preliminary, text]) =>
          preliminary === true && "All is well.".startsWith(text as string)
        )
      )
    }))
})
