/**
 * L2 At most once: what the model said is on record before anything of it runs, so that a turn that is left, cancelled or
 * stopped by a limit is told of what ran.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Ref, Schema, Stream } from "effect"
import { Chat as UpstreamChat } from "effect/ai"
import { KeyValueStore, Persistence } from "effect/persistence"
import { TestClock } from "effect/testing"
import {
  ApprovalController,
  Chat,
  Conversation,
  LanguageModel,
  type Prompt,
  Store,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../conversation/support.ts"
import { intercept } from "../store/intercept.ts"
import * as Support from "./support.ts"

const said = ScriptedModel.text("Let me see.")
const look = C.read("a")
const pay = C.remove("b")

// A person who says yes to everything.
const asking = Effect.provideService(
  ApprovalController.ApprovalController,
  ApprovalController.interactive(() => true)
)

/** The results that the model was last sent, in words. */
const lastSent = (script: ScriptedModel.ScriptedModel) =>
  Effect.map(Support.sentResults(script), (results) => results.map(({ result }) => JSON.stringify(result)))

describe("L2 on record first: a conversation whose turn did not come to its end", () => {
  const inConversation = (options: Partial<C.StartOptions> = {}) =>
    Effect.gen(function*() {
      const hold = yield* Support.makeHold
      const started = yield* asking(C.start({
        turns: [[said, look, pay]],
        afterLastTurn: "Well.",
        before: (step) => step === "DeleteFile" ? hold.wait : Effect.void,
        ...options
      }))
      return { ...started, hold }
    })
  type Story = Effect.Success<ReturnType<typeof inConversation>>
  const ways = {
    send: ({ conversation }: Story): Effect.Effect<unknown, unknown> => conversation.send("Pay Ada."),
    stream: ({ conversation }: Story): Effect.Effect<unknown, unknown> =>
      Stream.runDrain(conversation.stream("Pay Ada."))
  }
  const ends = {
    "its reader left": (_: Story, taken: Fiber.Fiber<unknown, unknown>) => Fiber.interrupt(taken),
    "its time was over": () => TestClock.adjust("1 minute"),
    "it was cancelled": ({ conversation }: Story) => conversation.cancel()
  }

  for (const [way, take] of Object.entries(ways)) {
    for (const [how, end] of Object.entries(ends)) {
      it.effect(`tells the next what it deleted: ${how} [${way}]`, () =>
        Effect.gen(function*() {
          const story = yield* inConversation({ limits: { time: "30 seconds" } })
          const taken = yield* Effect.forkChild(take(story))
          yield* story.hold.entered
          assert.deepStrictEqual(yield* story.conversation.pending(), [])
          const ending = yield* Effect.forkChild(Effect.exit(end(story, taken)))
          yield* Support.idle
          yield* story.hold.release
          yield* Fiber.join(ending)
          yield* Fiber.await(taken)
          assert.deepStrictEqual(yield* story.conversation.pending(), [])
          assert.strictEqual(C.finished(yield* story.conversation.send("And?")), "Well.")
          const [read, deleted] = yield* lastSent(story.script)
          assert.strictEqual(read, "\"text of a\"")
          // What was stopped on purpose is not told as done.
          assert.include(deleted, how === "it was cancelled" ? "stopped before it finished" : "\"deleted\":true")
          assert.deepStrictEqual(story.steps, [["ReadFile", "a"], ["DeleteFile", "b"]])
        }))
    }

    it.effect(`has what began to wait open, where its reader left while somebody here was asked [${way}]`, () =>
      Effect.gen(function*() {
        const hold = yield* Support.makeHold
        const started = yield* C.start({ turns: [[C.ask("Size?")]], afterLastTurn: "Well." }).pipe(
          Effect.provideService(
            ApprovalController.ApprovalController,
            ApprovalController.interactive(() => Effect.as(hold.wait, false))
          )
        )
        const taken = yield* Effect.forkChild(take({ ...started, hold }))
        yield* hold.entered
        yield* Fiber.interrupt(taken)
        const { pending } = started.conversation
        assert.deepStrictEqual((yield* pending()).map(({ awaited }) => awaited?.prompt), ["Size?"])
        assert.deepStrictEqual(started.steps, [["start", "Size?"]])
      }))

    it.effect(`lets nothing run that cannot be kept, and asks nobody [${way}]`, () =>
      Effect.gen(function*() {
        let writes = 0
        const shared = intercept(yield* Store.makeMemory(), (operation, _, run) =>
          Effect.suspend(() =>
            operation === "conversations.write" && ++writes > 1
              ? Effect.fail(new Store.StoreError({ operation, description: "Away.", reason: "Unavailable" }))
              : run
          ))
        const story = yield* inConversation({ shared })
        const taken = yield* Effect.forkChild(Effect.flip(take(story)))
        assert.isTrue(yield* Support.advance(taken, "1 second"))
        assert.deepStrictEqual(story.steps, [])
      }))
  }
})

describe("L2 on record first: a chat whose turn did not come to its end", () => {
  const persisted = Effect.gen(function*() {
    const persistence = yield* Chat.makePersisted({ storeId: "chats" })
    return { open: persistence.getOrCreate("chat") }
  }).pipe(Effect.provide(Layer.provide(Persistence.layerBackingKvs, KeyValueStore.layerMemory)))

  const inChat = Effect.gen(function*() {
    const hold = yield* Support.makeHold
    const tools = yield* Support.makeTools([Support.ReadFile, Support.DeleteFile], {
      DeleteFile: () => Effect.as(hold.wait, { deleted: true })
    })
    const script = yield* ScriptedModel.make({ turns: [[said, look, pay]], afterLastTurn: "Well." })
    const model = LanguageModel.withApproval(script.model)
    const take = (chat: Chat.Chat, way: "generate" | "stream", prompt: Prompt.RawInput) => {
      const options = { prompt, toolkit: tools.toolkit }
      return (way === "generate"
        ? Effect.asVoid(chat.generateText(options))
        : Stream.runDrain(chat.streamText(options))).pipe(
          Effect.provideService(LanguageModel.LanguageModel, model),
          asking
        )
    }
    return { hold, runs: tools.runs, script, take }
  })

  for (const way of ["generate", "stream"] as const) {
    it.effect(`has what it paid in its history, and what is kept of it has it too [${way}]`, () =>
      Support.fresh(Effect.gen(function*() {
        const { open } = yield* persisted
        const chat = yield* open
        const story = yield* inChat
        const taken = yield* Effect.forkChild(story.take(chat, way, "Pay Ada."))
        yield* story.hold.entered
        // As another process would find it now.
        const found = yield* Ref.get((yield* open).history)
        assert.include(JSON.stringify(found), "tool-approval-request")
        const leaving = yield* Effect.forkChild(Fiber.interrupt(taken))
        yield* story.hold.release
        yield* Fiber.join(leaving)
        const again = yield* open
        yield* story.take(again, way, "And?")
        assert.deepStrictEqual(yield* lastSent(story.script), ["\"text of a\"", "{\"deleted\":true}"])
        assert.deepStrictEqual(story.runs.map(({ name }) => name), ["ReadFile", "DeleteFile"])
      })))

    it.effect(`lets no turn come between that waits in line, and says the same words once [${way}]`, () =>
      Support.fresh(Effect.gen(function*() {
        const chat = yield* Chat.empty
        const story = yield* inChat
        const first = yield* Effect.forkChild(story.take(chat, way, "Pay Ada."))
        yield* story.hold.entered
        const second = yield* Effect.forkChild(story.take(chat, way, "Pay Ada."))
        const leaving = yield* Effect.forkChild(Fiber.interrupt(first))
        yield* story.hold.release
        yield* Fiber.join(leaving)
        yield* Fiber.join(second)
        assert.deepStrictEqual(yield* lastSent(story.script), ["\"text of a\"", "{\"deleted\":true}"])
        const { content } = yield* Ref.get(chat.history)
        assert.lengthOf(content.filter(({ role }) => role === "user"), 1)
        assert.deepStrictEqual(story.runs.map(({ name }) => name), ["ReadFile", "DeleteFile"])
      })))
  }
})

describe("L2 on record first: nobody else's", () => {
  it.effect("a handler that calls a model of its own is not in the record of the turn around it", () =>
    Effect.gen(function*() {
      const inner = yield* ScriptedModel.make({ turns: [[look], "Inside."], afterLastTurn: "Inside." })
      const tools = yield* Support.makeTools([Support.ReadFile])
      const Nest = Tool.make("Nest", { parameters: {}, success: Schema.String })
      const kit = Toolkit.make(Nest)
      const toolkit = yield* kit.pipe(Effect.provide(kit.toLayer({
        Nest: () =>
          LanguageModel.generateText({ prompt: "in", toolkit: tools.toolkit }).pipe(
            Effect.map(({ text }) => text),
            Effect.provideService(LanguageModel.LanguageModel, inner.model),
            Effect.orDie
          ) as Effect.Effect<string>
      })))
      const script = yield* ScriptedModel.make({
        turns: [[Support.call("n1", "Nest", {})]],
        afterLastTurn: "Well."
      })
      const conversation = yield* Conversation.make({ id: "outer", toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, script.model)
      )
      yield* conversation.send("Go.")
      const history = JSON.stringify(yield* conversation.history)
      assert.notInclude(history, "ReadFile")
    }))

  it.effect("upstream's own Chat is as it was", () =>
    Support.fresh(Effect.gen(function*() {
      const chat = yield* UpstreamChat.empty
      const script = yield* ScriptedModel.make({ turns: ["Hello."] })
      yield* chat.generateText({ prompt: "Hi." }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, script.model)
      )
      assert.lengthOf((yield* Ref.get(chat.history)).content, 2)
    })))
})
