/**
 * Effect's own examples of its AI modules (`ai-docs/src/71_ai`), with nothing changed but where they import from, and a tool
 * that needs approval: they work, and what needs approval does not run.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, type Layer, Logger, Stream } from "effect"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "../laws/support.ts"
import * as Generated from "./generated.ts"
import * as Providers from "./providers.ts"

const made: Array<string> = []

afterAll(() => made.forEach(Generated.remove))

const imports = [
  ["\"@effect/ai-openai\"", "\"../providers.ts\""],
  ["from \"effect/ai\"", "from \"../../../src/index.ts\""]
] as const

const load = (name: string, ...changes: ReadonlyArray<readonly [string, string]>) =>
  Effect.promise(async (): Promise<Record<string, unknown>> => {
    const file = Generated.example(name, [...imports, ...changes])
    made.push(file)
    return await import(file) as Record<string, unknown>
  })

interface Service<Shape> extends Effect.Effect<Shape> {
  readonly layer: Layer.Layer<never>
}

/** Uses a service of an example while its models say this; gives what it logs too. */
const use = <Shape, A>(
  service: unknown,
  turns: ReadonlyArray<ScriptedModel.Turn>,
  f: (service: Shape) => Effect.Effect<A, unknown>
) =>
  Support.fresh(Effect.gen(function*() {
    const { layer } = service as Service<Shape>
    const lines: Array<string> = []
    const logger = Logger.make<unknown, void>(({ message }) => void lines.push(String(message)))
    Providers.script.current = yield* ScriptedModel.make({ turns })
    const value = yield* Effect.provide(Effect.flatMap(service as Service<Shape>, f), layer).pipe(
      Effect.provide(Logger.layer([logger]))
    )
    return { value, lines, calls: yield* Providers.script.current.calls }
  }))

describe("effect's examples, with their imports switched", () => {
  it.effect("10_language-model: text, objects and streams, and plans that yield the service", () =>
    Effect.gen(function*() {
      const { AiWriter } = yield* load("10_language-model", ["\"@effect/ai-anthropic\"", "\"../providers.ts\""])
      interface Writer {
        readonly draftAnnouncement: (product: string) => Effect.Effect<unknown>
        readonly extractLaunchPlan: (notes: string) => Effect.Effect<object>
        readonly streamReleaseHighlights: (version: string) => Stream.Stream<string>
      }
      const plan = { audience: "operators", channels: ["mail"], launchDate: "soon", summary: "s", keyRisks: [] }
      const drafted = yield* use(AiWriter, ["Here it is."], (writer: Writer) => writer.draftAnnouncement("Cloud"))
      assert.deepStrictEqual(drafted.value, { provider: "openai", text: "Here it is." })
      const extracted = yield* use(AiWriter, [JSON.stringify(plan)], (writer: Writer) => writer.extractLaunchPlan("…"))
      assert.deepStrictEqual<object>({ ...extracted.value }, plan)
      const streamed = yield* use(
        AiWriter,
        ["It is fast."],
        (writer: Writer) => Stream.mkString(writer.streamReleaseHighlights("1"))
      )
      assert.strictEqual(streamed.value, "It is fast.")
    }))

  it.effect("20_tools: a tool without a gate runs, and one that needs approval does not", () =>
    Effect.gen(function*() {
      const gate = "description: \"Check current stock level for a product\","
      const { ProductAssistant } = yield* load("20_tools", [gate, `${gate} needsApproval: true,`])
      interface Assistant {
        readonly answer: (question: string) => Effect.Effect<unknown>
      }
      const { lines, value } = yield* use(
        ProductAssistant,
        [[
          ScriptedModel.toolCall({ id: "c1", name: "SearchProducts", params: { query: "red" } }),
          ScriptedModel.toolCall({ id: "c2", name: "GetInventory", params: { productId: "p-1" } })
        ]],
        (assistant: Assistant) => assistant.answer("Is it there?")
      )
      assert.deepStrictEqual(value, { text: "", toolCallCount: 2 })
      assert.deepStrictEqual(lines.filter((line) => line.startsWith("Tool")), [
        "Tool call: SearchProducts id=c1",
        "Tool call: GetInventory id=c2",
        "Tool result: SearchProducts id=c1 isFailure=false"
      ])
    }))

  it.effect("30_chat: a chat chats, and its agent ends where somebody has to be asked", () =>
    Effect.gen(function*() {
      const gate = "description: \"Get the current time in ISO format\","
      interface Assistant {
        readonly chat: (message: string) => Effect.Effect<string>
        readonly agent: (question: string) => Effect.Effect<string>
      }
      const time = ScriptedModel.toolCall({ id: "c1", name: "getCurrentTime", params: { id: "t" } })
      const open = yield* load("30_chat")
      const { AiAssistant } = yield* load("30_chat", [gate, `${gate} needsApproval: true,`])
      const chatted = yield* use(AiAssistant, ["Hello."], (assistant: Assistant) => assistant.chat("Hi"))
      assert.strictEqual(chatted.value, "Hello.")
      const told = yield* use(
        open.AiAssistant,
        [[time], "Noon."],
        (assistant: Assistant) => assistant.agent("What time is it?")
      )
      assert.deepStrictEqual([told.value, told.calls], ["Noon.", 2])
      const asked = yield* use(
        AiAssistant,
        [[time], "Noon."],
        (assistant: Assistant) => assistant.agent("What time is it?")
      )
      assert.deepStrictEqual([asked.value, asked.calls], ["", 1])
    }))
})
