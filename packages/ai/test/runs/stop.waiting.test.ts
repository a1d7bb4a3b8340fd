/** L3, L14: what waits is cancelled, which is nobody's "no": the tool does not go on with it, and the model is told so. */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Approval, DeferredTool, Interaction, Webhook } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failureReason } from "../laws/support.ts"
import * as R from "./support.ts"

const kinds = ["approval", "text", "choice", "several", "form", "event", "timer", "webhook"] as const

/** Has something done, and waits for one of all kinds there are. */
const Errand = DeferredTool.make("Errand", {
  parameters: { kind: Schema.Literals(kinds) },
  success: Schema.String,
  interactions: {
    approval: Interaction.getApproval,
    text: Interaction.askUser,
    choice: Interaction.selectOptions,
    several: Interaction.selectMany,
    form: Interaction.form(Schema.Struct({ amount: Schema.Number })),
    event: Interaction.external(Schema.Struct({ paid: Schema.Number })),
    timer: Interaction.timer,
    webhook: Interaction.webhook(Schema.Struct({ paid: Schema.Number }))
  }
})

type Kind = (typeof kinds)[number]

const errand = (kind: Kind) => ScriptedModel.toolCall({ id: "errand-1", name: "Errand", params: { kind } })

const suspended = (kind: Kind) => {
  const prompt = "Well?"
  const options = ["a", "b"]
  const { suspend } = Errand
  switch (kind) {
    case "choice":
    case "several":
      return suspend[kind]({ prompt, options })
    case "timer":
      return suspend.timer({ after: "1 hour" })
    case "webhook":
      return Effect.flatMap(Webhook.makeToken, (token) => suspend.webhook({ token, prompt }))
    default:
      return suspend[kind]({ prompt })
  }
}

const waiting = Effect.fnUntraced(function*(way: R.Way, kind: Kind) {
  const steps: Array<string> = []
  const step = (name: string) => Effect.sync(() => steps.push(name))
  const went = Effect.as(step("went on"), "went on")
  const world = yield* R.make(way, {
    turns: [[errand(kind)]],
    more: [Errand],
    handlers: {
      Errand: DeferredTool.handler(Errand, {
        start: () => Effect.andThen(step("start"), suspended(kind)),
        resume: {
          approval: () => went,
          text: () => went,
          choice: () => went,
          several: () => went,
          form: () => went,
          event: () => went,
          timer: () => went,
          webhook: () => went
        }
      })
    }
  })
  const conversation = world.conversation!
  yield* world.serving(conversation.send("Go on."))
  const [request] = yield* conversation.pending()
  assert.strictEqual(request?.toolCallId, "errand-1")
  return { conversation, request: request!, steps, world }
})

describe("cancel, of a tool that waits", () => {
  for (const kind of kinds) {
    R.inWays(
      `for "${kind}": it does not go on, and the next turn's model is told that it was cancelled`,
      function*(way) {
        const { conversation, request, steps, world } = yield* waiting(way, kind)
        yield* conversation.cancel("it is not needed")
        assert.deepStrictEqual(yield* conversation.pending(), [])
        yield* world.say("And now?")
        const reason = failureReason(yield* R.toldOf(world, "errand-1"))
        assert.match(reason, /cancel|it is not needed/i)
        // It had begun, and what it did stands.
        assert.notMatch(reason, /nothing ran/i)
        // What comes late finds nobody.
        yield* TestClock.adjust("2 hours")
        yield* Effect.exit(world.serving(conversation.decide(Approval.approve(request))))
        yield* world.serving(conversation.wake)
        yield* world.say("Thanks.")
        assert.deepStrictEqual(steps, ["start"])
      },
      kind === "approval" ? ["send", "stream"] : ["send"]
    )
  }

  R.inWays("from another object, or another process, is the same", function*(way) {
    const there = yield* waiting(way, "approval")
    yield* (yield* there.world.another).cancel("it is not needed")
    yield* there.world.say("And now?")
    assert.deepStrictEqual(there.steps, ["start"])

    const here = yield* waiting(way, "approval")
    const process = yield* R.make("send", { turns: [], store: here.world.store, more: [Errand] })
    yield* process.conversation!.cancel("it is not needed")
    yield* here.world.say("And now?")
    assert.deepStrictEqual(here.steps, ["start"])
  }, ["send", "stream"])
})

describe("a person's \"no\"", () => {
  R.inWays("is still handed to the tool", function*(way) {
    const { conversation, request, steps, world } = yield* waiting(way, "approval")
    yield* world.serving(conversation.decide(Approval.deny(request, "not today")))
    assert.deepStrictEqual(steps, ["start", "went on"])
  }, ["send"])
})
