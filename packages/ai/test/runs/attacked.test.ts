/** What attacks on runs have found: each is a story in which something was forgotten, lost or counted twice. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Schema, Stream } from "effect"
import { AiError } from "effect/ai"
import {
  Approval,
  ApprovalController,
  ConversationStore,
  LanguageModel,
  type Prompt,
  Store,
  Tool
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Hosted from "../laws/hosted.ts"
import * as Laws from "../laws/support.ts"
import * as R from "./support.ts"

const userTexts = ({ content }: Prompt.Prompt) =>
  content.flatMap((message) => message.role === "user" ? message.content : [])
    .flatMap((part) => part.type === "text" ? [part.text] : [])

describe("a reader who has the finish of a turn, and stops reading", () => {
  for (const turns of [["One.", "Two."], [[R.pay], "Two."]]) {
    R.inWays(`can say the same again: nothing was left [${turns[0] === "One." ? "a text" : "a call"}]`, function*(way) {
      const world = yield* R.make(way, { turns })
      const read = Stream.runDrain(Stream.takeUntil(world.stream("Next."), ({ type }) => type === "finish"))
      yield* read
      yield* read
      assert.deepStrictEqual(userTexts(yield* R.sent(world)), ["Next.", "Next."])
      assert.deepStrictEqual(userTexts(yield* world.history), ["Next.", "Next."])
    }, R.streamWays)
  }
})

describe("a handler that fails because a turn of its own waits for somebody", () => {
  const Inner = Tool.make("Inner", { success: Schema.String, failure: AiError.AiError })

  R.inWays("does not undo what its siblings did: the next turn's model is told, and pays once", function*(way) {
    const { toolkit } = yield* Laws.makeTools(R.tools)
    const { model } = yield* ScriptedModel.make({ turns: [[R.ship]] })
    const inner = LanguageModel.generateObject({ prompt: "Ship it.", toolkit, schema: Schema.Struct({}) }).pipe(
      Effect.provideService(LanguageModel.LanguageModel, model),
      Effect.provideService(ApprovalController.ApprovalController, ApprovalController.deferred)
    )
    const world = yield* R.make(way, {
      turns: [[R.pay, ScriptedModel.toolCall({ id: "inner-1", name: "Inner", params: {} })], R.paysUnlessTold],
      more: [Inner],
      // Its tools are any tools, and so are what they need: nothing.
      handlers: { Inner: () => inner as Effect.Effect<unknown, unknown> }
    })
    assert.isTrue(Exit.isFailure(yield* Effect.exit(world.begin)))
    yield* world.say("And now?")
    assert.strictEqual(world.count("Pay"), 1)
    yield* R.assertToldResult(world, "pay-1", "paid 5")
  }, ["send", "stream", ...R.chatWays])
})

describe("a provider's own request that was answered at once, beside a call that ran", () => {
  R.inWays("is not lost when the model fails to go on: the provider is told of it again", function*(way) {
    const overloaded = AiError.make({
      module: "Provider",
      method: "call",
      reason: new AiError.UnknownError({ description: "overloaded" })
    })
    const world = yield* R.make(way, {
      turns: [[R.pay, ...Hosted.asking(1)], overloaded, [Hosted.done(1), ScriptedModel.text("Done.")]],
      more: [Hosted.Mcp],
      strict: Hosted.allowed
    })
    const judged = Hosted.withPolicy(() => Approval.needsApproval({}))
    assert.isTrue(Exit.isFailure(yield* Effect.exit(judged(world.begin))))
    if (world.conversation !== undefined) assert.deepStrictEqual(yield* world.conversation.pending(), [])
    yield* judged(world.say([]))
    assert.include(Hosted.approvals(yield* R.sent(world)), "approve mcpr_1")
    yield* R.assertToldResult(world, "pay-1", "paid 5")
    assert.strictEqual(world.count("Pay"), 1)
  }, ["send", "stream", ...R.chatWays])
})

describe("the bytes of a conversation", () => {
  it.effect("do not count what the end of a step has written over", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      const conversations = yield* ConversationStore.make({ store })
      const world = yield* R.make("send", { turns: [[ScriptedModel.text("x".repeat(1_000)), R.pay]], store })
      yield* world.begin
      const key = yield* ConversationStore.keyOf("c1", {})
      const read = yield* conversations.read(key)
      const { history, turn: _, ...rest } = read!.kept
      const [first, ...others] = history.content
      assert.strictEqual(first!.role, "user")
      const kept = { ...rest, history: { ...history, content: [first!] } }
      const written = yield* conversations.write(key, read, kept)
      const again = yield* conversations.read(key)
      assert.isAbove(others.length, 0)
      assert.strictEqual(written!.bytes, again!.bytes)
    }))
})
