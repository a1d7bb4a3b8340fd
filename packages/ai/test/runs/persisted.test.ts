/** A chat that is kept (`Chat.makePersisted`, `Chat.layerPersisted`) is saved again with what ran in a turn that was left. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Stream } from "effect"
import * as KeyValueStore from "effect/persistence/KeyValueStore"
import * as Persistence from "effect/persistence/Persistence"
import { ApprovalController, ApprovalJournal, ApprovalSeal, Chat, LanguageModel, type Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Laws from "../laws/support.ts"
import * as R from "./support.ts"

const methods = ["generateText", "streamText"] as const

type Method = (typeof methods)[number]

/** Programs that share what keeps chats and what ran, one after the other. */
const make = Effect.fnUntraced(function*(
  turns: ReadonlyArray<ScriptedModel.Turn>,
  handler: R.Handler,
  kept: Layer.Layer<KeyValueStore.KeyValueStore> = KeyValueStore.layerMemory
) {
  const script = yield* ScriptedModel.make({ turns, afterLastTurn: "Done." })
  const tools = yield* Laws.makeTools(R.tools, { Pay: handler, Break: () => Effect.fail("broken") })
  const services = yield* Layer.build(Layer.mergeAll(
    Persistence.layerBackingKvs.pipe(Layer.provide(kept)),
    ApprovalJournal.layerMemory({ grace: 0 }),
    ApprovalSeal.layer({ key: "the key of the tests of kept chats, 32 bytes" }),
    Layer.succeed(LanguageModel.LanguageModel, script.model),
    ApprovalController.layerInteractive(() => true)
  ))
  const { toolkit } = tools
  /** The chat as a program that starts finds it. */
  const open = Effect.map(
    Effect.flatMap(Chat.makePersisted({ storeId: "chats" }), (kept) => kept.getOrCreate("c1")),
    (chat) => ({
      say: (method: Method, prompt: string): R.Turn =>
        Effect.provideContext(
          // The tools are any tools, and so are what they need: nothing.
          (method === "generateText"
            ? Effect.map(chat.generateText({ prompt, toolkit }), ({ content }) => content)
            : Stream.runCollect(chat.streamText({ prompt, toolkit }))) as never,
          services
        ),
      history: chat.history
    })
  ).pipe(Effect.provideContext(services))
  return { open, script, tools }
})

const told = (script: ScriptedModel.ScriptedModel) =>
  Effect.map(Laws.sentResults(script), (results) => results.map(({ id, isFailure, result }) => [id, isFailure, result]))

const userTexts = ({ content }: Prompt.Prompt) =>
  content.flatMap((message) => message.role === "user" ? message.content : [])
    .flatMap((part) => part.type === "text" ? [part.text] : [])

describe("a chat that is kept", () => {
  for (const method of methods) {
    it.effect(`was left while an approved call ran: a program that starts is told its result [${method}]`, () =>
      Effect.gen(function*() {
        const hold = yield* Laws.makeHold
        const { open, script, tools } = yield* make([[R.pay], R.paysUnlessTold], R.heldOnce(hold, () => "paid 5"))
        const chat = yield* open
        const reader = yield* Effect.forkChild(chat.say(method, "Pay the bill."))
        yield* hold.entered
        yield* Fiber.interrupt(reader)
        yield* hold.release
        yield* R.idle
        const again = yield* open
        yield* again.say(method, "And now?")
        assert.deepStrictEqual(yield* told(script), [["pay-1", false, "paid 5"]])
        assert.strictEqual(tools.count("Pay"), 1)
      }))

    it.effect(`was left while an approved call runs: a program that starts waits for it [${method}]`, () =>
      Effect.gen(function*() {
        const hold = yield* Laws.makeHold
        const { open, script, tools } = yield* make([[R.pay], R.paysUnlessTold], R.heldOnce(hold, () => "paid 5"))
        const reader = yield* Effect.forkChild((yield* open).say(method, "Pay the bill."))
        yield* hold.entered
        yield* Fiber.interrupt(reader)
        const next = yield* Effect.forkChild((yield* open).say(method, "And now?"))
        yield* R.idle
        assert.isTrue(next.pollUnsafe() === undefined, "it waits")
        yield* hold.release
        yield* Fiber.join(next)
        assert.deepStrictEqual(yield* told(script), [["pay-1", false, "paid 5"]])
        assert.strictEqual(tools.count("Pay"), 1)
      }))

    it.effect(`failed after an approved call ran: a program that starts is told its result [${method}]`, () =>
      Effect.gen(function*() {
        const { open, script, tools } = yield* make(
          [[R.pay, R.breaks], R.paysUnlessTold],
          () => Effect.succeed("paid 5")
        )
        assert.isTrue(Exit.isFailure(yield* Effect.exit((yield* open).say(method, "Pay the bill."))))
        yield* (yield* open).say(method, "And now?")
        assert.deepInclude(yield* told(script), ["pay-1", false, "paid 5"])
        assert.strictEqual(tools.count("Pay"), 1)
      }))

    it.effect(`and tried again with the same words does not say them twice [${method}]`, () =>
      Effect.gen(function*() {
        const { open, script, tools } = yield* make(
          [[R.pay, R.breaks], R.paysUnlessTold],
          () => Effect.succeed("paid 5")
        )
        const chat = yield* open
        assert.isTrue(Exit.isFailure(yield* Effect.exit(chat.say(method, "Pay the bill."))))
        yield* chat.say(method, "Pay the bill.")
        assert.deepStrictEqual(userTexts((yield* script.requests).at(-1)!.prompt), ["Pay the bill."])
        assert.strictEqual(tools.count("Pay"), 1)
      }))

    it.effect(`and cannot be saved when the model has answered: the same can be said again [${method}]`, () =>
      Effect.gen(function*() {
        let saves = 0
        // A chat that is new is saved first.
        const kept = Layer.effect(
          KeyValueStore.KeyValueStore,
          Effect.map(
            KeyValueStore.KeyValueStore,
            (store): KeyValueStore.KeyValueStore => ({
              ...store,
              set: (key, value) =>
                ++saves === 2
                  ? Effect.fail(new KeyValueStore.KeyValueStoreError({ method: "set", key, message: "no disk" }))
                  : store.set(key, value)
            })
          )
        ).pipe(Layer.provide(KeyValueStore.layerMemory))
        const { open, script } = yield* make(["One.", "Two."], () => Effect.succeed("paid 5"), kept)
        const chat = yield* open
        assert.isTrue(Exit.isFailure(yield* Effect.exit(chat.say(method, "Next."))))
        yield* chat.say(method, "Next.")
        assert.deepStrictEqual(userTexts((yield* script.requests).at(-1)!.prompt), ["Next.", "Next."])
      }))
  }
})
