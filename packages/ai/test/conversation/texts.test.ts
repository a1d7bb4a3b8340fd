/** A plain text where several questions are open: it answers the first asked, the rest stay open, and none is consent. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalJournal,
  Conversation,
  DeferredTool,
  Interaction,
  LanguageModel,
  SuspensionStore,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./support.ts"

const promptsOf = (requests: ReadonlyArray<Approval.ApprovalRequest>) =>
  requests.map(({ awaited, toolName }) => awaited?.prompt ?? toolName)

const AskTwice = DeferredTool.make("AskTwice", {
  parameters: { question: Schema.String },
  success: Schema.String,
  state: Schema.String,
  interactions: { first: Interaction.askUser, sure: Interaction.askUser }
})

const twice = Toolkit.make(AskTwice)

const AskTwiceLive = twice.toLayer({
  AskTwice: DeferredTool.handler(AskTwice, {
    start: ({ question }) => AskTwice.suspend.first({ prompt: question }, ""),
    resume: {
      first: (text) => AskTwice.suspend.sure({ prompt: `Sure of ${text}?` }, text),
      sure: (text, before) => Effect.succeed(`${before}, ${text}`)
    }
  })
})

/** Said and streamed are one. */
const ways = {
  send: ({ conversation }: C.Started, text: string) => conversation.send(text),
  stream: ({ conversation }: C.Started, text: string) =>
    Effect.map(
      Effect.andThen(Stream.runDrain(conversation.stream(text)), conversation.outcome),
      (outcome) => outcome!
    )
}

for (const [way, say] of Object.entries(ways)) {
  describe(`a text, by ${way}`, () => {
    it.effect("answers the first of several questions; the rest stay open, and the model is called when none is", () =>
      Effect.gen(function*() {
        const it = yield* C.start({ turns: [[C.ask("Size?"), C.ask("Colour?"), C.ask("Where to?")], "Bought."] })
        yield* say(it, "Buy socks.")
        assert.deepStrictEqual(promptsOf(C.requestsOf(yield* say(it, "42"))), ["Colour?", "Where to?"])
        assert.deepStrictEqual(promptsOf(C.requestsOf(yield* say(it, "red"))), ["Where to?"])
        assert.strictEqual(yield* it.script.calls, 1)
        assert.strictEqual(C.finished(yield* say(it, "home")), "Bought.")
        assert.strictEqual(yield* it.script.calls, 2)
        assert.deepStrictEqual(it.steps.slice(3), [["text", "42"], ["text", "red"], ["text", "home"]])
        const [, sent] = yield* C.prompts(it.script)
        assert.lengthOf(sent!.content.filter(({ role }) => role === "user"), 1, "no answer is a message")
      }))

    it.effect("answers the question beside an approval, and never the approval", () =>
      Effect.gen(function*() {
        const it = yield* C.start({ turns: [[C.remove("a"), C.ask("Why?")], "Done."] })
        yield* say(it, "Go.")
        const [approval, ...others] = C.requestsOf(yield* say(it, "yes"))
        assert.deepStrictEqual([approval?.interaction, others], ["approval", []])
        assert.deepStrictEqual(it.steps, [["start", "Why?"], ["text", "yes"]])
        assert.strictEqual(yield* it.script.calls, 1)
        assert.strictEqual(C.finished(yield* it.conversation.decide(Approval.approve(approval!))), "Done.")
        assert.deepStrictEqual(it.steps.slice(2), [["DeleteFile", "a"]])
      }))
  })
}

describe("the first asked", () => {
  it.effect("is the first that the text can answer: a choice only by one of its options", () =>
    Effect.gen(function*() {
      const { conversation, steps } = yield* C.start({ turns: [[C.menu("one"), C.ask("To drink?")], "Enjoy."] })
      yield* conversation.send("Lunch.")
      const [choice] = C.requestsOf(yield* conversation.send("water"))
      assert.strictEqual(choice?.interaction, "selectOptions")
      assert.strictEqual(C.finished(yield* conversation.send("soup")), "Enjoy.")
      assert.deepStrictEqual(steps.slice(2), [["text", "water"], ["one", "soup"]])
      const other = yield* C.start({ turns: [[C.menu("one"), C.ask("To drink?")], "Enjoy."] })
      yield* other.conversation.send("Lunch.")
      assert.deepStrictEqual(promptsOf(C.requestsOf(yield* other.conversation.send("Soup"))), ["To drink?"])
    }))

  it.effect("is by when it was asked: what one tool asks next comes after what another asked before", () =>
    Effect.gen(function*() {
      const { model } = yield* ScriptedModel.make({
        turns: [[C.ask("Size?"), C.ask("Colour?")].map((call) => ({ ...call, name: "AskTwice" })), "Bought."]
      })
      const conversation = yield* Effect.provideService(
        Conversation.make({ id: "texts-twice", toolkit: Effect.provide(twice, AskTwiceLive) }),
        LanguageModel.LanguageModel,
        model
      )
      yield* conversation.send("Buy socks.")
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(promptsOf(C.requestsOf(yield* conversation.send("42"))).toSorted(), [
        "Colour?",
        "Sure of 42?"
      ])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual(promptsOf(C.requestsOf(yield* conversation.send("red"))).toSorted(), [
        "Sure of 42?",
        "Sure of red?"
      ])
      assert.deepStrictEqual(promptsOf(C.requestsOf(yield* conversation.send("quite"))), ["Sure of red?"])
      assert.strictEqual(C.finished(yield* conversation.send("yes")), "Bought.")
      assert.include(JSON.stringify(yield* conversation.history), "42, quite")
    }).pipe(Effect.scoped, Effect.provide([SuspensionStore.layerMemory, ApprovalJournal.layerMemory()])))

  it.effect("is the same after a restart, and by whichever process", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const first = yield* C.start({ shared, turns: [[C.ask("Size?"), C.remove("a"), C.ask("Colour?")]] })
      yield* first.conversation.send("Buy socks.")
      const second = yield* C.start({ shared, turns: ["Bought."] })
      const left = C.requestsOf(yield* second.conversation.send("42"))
      assert.deepStrictEqual(promptsOf(left), ["DeleteFile", "Colour?"])
      const third = yield* C.start({ shared, turns: ["Bought."] })
      assert.deepStrictEqual(promptsOf(C.requestsOf(yield* third.conversation.send("red"))), ["DeleteFile"])
      assert.deepStrictEqual([second.steps, third.steps], [[["text", "42"]], [["text", "red"]]])
      assert.strictEqual(yield* third.script.calls, 0)
      const fourth = yield* C.start({ shared, turns: ["Bought."] })
      const [approval] = yield* fourth.conversation.pending()
      assert.strictEqual(C.finished(yield* fourth.conversation.decide(Approval.deny(approval!, "keep it"))), "Bought.")
    }))
})
