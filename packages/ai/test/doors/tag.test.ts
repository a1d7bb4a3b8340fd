/** The tag of `@assent/ai` is upstream's by its key, and gives the protected service in whatever way an effect is run. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, pipe } from "effect"
import { Chat as UpstreamChat, LanguageModel as Upstream } from "effect/ai"
import { Persistence } from "effect/persistence"
import { Chat, LanguageModel, Response, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "../laws/support.ts"

const toolkit = Toolkit.make(Tool.make("Delete", { needsApproval: true }))
const says = ScriptedModel.toolCall({ id: "c1", name: "Delete", params: {} })

type Model = LanguageModel.LanguageModel

class Mine extends Context.Service<Mine, Model>()("test/doors/Mine") {}

const ways: Record<string, Effect.Effect<Model, never, Model>> = {
  "yield*": Effect.gen(function*() {
    return yield* LanguageModel.LanguageModel
  }),
  "Effect.flatMap": Effect.flatMap(LanguageModel.LanguageModel, Effect.succeed),
  "pipe": pipe(LanguageModel.LanguageModel, Effect.map((model) => model)),
  "its own pipe": LanguageModel.LanguageModel.pipe(Effect.map((model) => model)),
  "use": LanguageModel.LanguageModel.use(Effect.succeed),
  "useSync": LanguageModel.LanguageModel.useSync((model) => model),
  "Effect.service": Effect.service(LanguageModel.LanguageModel),
  "Effect.all": Effect.map(Effect.all([LanguageModel.LanguageModel]), ([model]) => model),
  "Effect.all of a struct": Effect.map(Effect.all({ model: LanguageModel.LanguageModel }), ({ model }) => model),
  "Effect.zip": Effect.map(Effect.zip(LanguageModel.LanguageModel, Effect.void), ([model]) => model),
  "Layer.effect": Effect.provide(Mine, Layer.effect(Mine, LanguageModel.LanguageModel)),
  "Effect.updateService": Effect.updateService(
    LanguageModel.LanguageModel,
    LanguageModel.LanguageModel,
    (model): Model => ({ ...model })
  ),
  "upstream's key, its value decorated": Effect.updateService(
    LanguageModel.LanguageModel,
    Upstream.LanguageModel,
    (model): Model => ({ ...model })
  )
}

const asked = (model: Model) =>
  Effect.map(
    Effect.provide(model.generateText({ prompt: "go", toolkit }), toolkit.toLayer({ Delete: () => Effect.die("ran") })),
    (response) => Response.isWaiting(response)
  )

describe("LanguageModel.LanguageModel", () => {
  for (const [name, way] of Object.entries(ways)) {
    it.effect(`L1 gives the protected service by ${name}`, () =>
      Support.fresh(Effect.gen(function*() {
        const { model } = yield* ScriptedModel.make({ turns: [[says]] })
        const found = yield* Effect.provideService(way, LanguageModel.LanguageModel, model)
        assert.notStrictEqual(found, model)
        assert.isTrue(yield* asked(found))
      })))
  }

  it.effect("is upstream's by its key: what is provided by one is found by the other, and wrapped once", () =>
    Effect.gen(function*() {
      const { model } = yield* ScriptedModel.make({ turns: [] })
      assert.strictEqual(LanguageModel.LanguageModel.key, Upstream.LanguageModel.key)
      assert.isTrue(Context.isKey(LanguageModel.LanguageModel))
      assert.isTrue(Effect.isEffect(LanguageModel.LanguageModel))
      assert.strictEqual(typeof LanguageModel.LanguageModel, typeof Upstream.LanguageModel)
      assert.deepStrictEqual(
        JSON.parse(JSON.stringify(LanguageModel.LanguageModel)),
        JSON.parse(JSON.stringify(Upstream.LanguageModel))
      )
      const byOurs = LanguageModel.LanguageModel.context(model)
      const byTheirs = Upstream.LanguageModel.context(model)
      assert.strictEqual(Context.get(byOurs, Upstream.LanguageModel), model)
      // Whoever reads a context, and runs nothing, finds what was provided; the README says so.
      assert.strictEqual(Context.get(byTheirs, LanguageModel.LanguageModel), model)
      const [first, second] = yield* Effect.provideContext(
        Effect.all([LanguageModel.LanguageModel, LanguageModel.LanguageModel]),
        byTheirs
      )
      assert.strictEqual(first, second)
      assert.strictEqual(LanguageModel.withApproval(first), first)
    }))

  it.effect("dies, as upstream's does, where there is no model", () =>
    Effect.gen(function*() {
      const missing = LanguageModel.LanguageModel as unknown as Effect.Effect<Model>
      const theirs = Upstream.LanguageModel as unknown as Effect.Effect<Model>
      const sentence = (effect: Effect.Effect<unknown>) => Effect.map(Effect.flip(Effect.sandbox(effect)), String)
      assert.strictEqual(yield* sentence(missing), yield* sentence(theirs))
    }))
})

describe("Chat", () => {
  it.effect("L1 the tags of chats give protected ones, whoever provided them", () =>
    Support.fresh(Effect.gen(function*() {
      const persisted = UpstreamChat.layerPersisted({ storeId: "chats" }).pipe(
        Layer.provide(Persistence.layerBackingMemory)
      )
      const chats = [
        Effect.provideServiceEffect(Chat.Chat, UpstreamChat.Chat, UpstreamChat.empty),
        Effect.provide(Effect.flatMap(Chat.Persistence, (chats) => chats.getOrCreate("c")), persisted),
        Effect.provide(Chat.Persistence.use((chats) => chats.getOrCreate("c")), persisted)
      ]
      for (const one of chats) {
        const { model } = yield* ScriptedModel.make({ turns: [[says]] })
        const chat = yield* one
        const turn = yield* chat.generateText({ prompt: "go", toolkit }).pipe(
          Effect.provideService(Upstream.LanguageModel, model),
          Effect.provide(toolkit.toLayer({ Delete: () => Effect.die("ran") }))
        )
        assert.isTrue(Response.isWaiting(turn))
      }
    })))
})
