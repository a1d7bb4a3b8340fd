/** Answers go to what was asked, whatever it is called: one name of a tool and one id of a call, at both levels. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  AgentTool,
  Approval,
  ApprovalJournal,
  ApprovalSeal,
  Conversation,
  ConversationStore,
  DeferredTool,
  Interaction,
  SuspensionStore,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as S from "./support.ts"

const OuterForm = DeferredTool.make("Form", {
  success: Schema.String,
  state: Schema.Null,
  interactions: { form: Interaction.form(Schema.Struct({ amount: Schema.FiniteFromString })) }
})
const InnerForm = DeferredTool.make("Form", {
  success: Schema.String,
  state: Schema.Null,
  interactions: {
    form: Interaction.form(Schema.Struct({ to: Schema.NonEmptyString })),
    paid: Interaction.external(Schema.Struct({ receipt: Schema.String }))
  }
})
const Agent = AgentTool.make("Agent", { parameters: { task: Schema.String } })

/** A form at both levels, each the call "c1" of its model; the inner one then waits for the program. */
const begin = Effect.gen(function*() {
  const filled: Array<unknown> = []
  const fill = (values: unknown) => Effect.sync(() => (filled.push(values), JSON.stringify(values)))
  const innerKit = Toolkit.make(InnerForm)
  const inner = yield* Effect.provide(
    innerKit,
    innerKit.toLayer({
      Form: DeferredTool.handler(InnerForm, {
        start: () => InnerForm.suspend.form({ prompt: "To whom?" }, null),
        resume: {
          form: (values) => Effect.andThen(fill(values), InnerForm.suspend.paid({ prompt: "the receipt" }, null)),
          paid: fill
        }
      })
    })
  )
  const model = yield* ScriptedModel.make({
    turns: [[ScriptedModel.toolCall({ id: "c1", name: "Form", params: {} })]],
    afterLastTurn: "Filled in."
  })
  const kit = Toolkit.make(Agent, OuterForm)
  const toolkit = yield* Effect.provide(
    kit,
    kit.toLayer({
      Agent: AgentTool.handler(Agent, { toolkit: inner, model: model.model, prompt: ({ task }) => task }),
      Form: DeferredTool.handler(OuterForm, {
        start: () => OuterForm.suspend.form({ prompt: "How much?" }, null),
        resume: { form: fill }
      })
    })
  )
  const outer = yield* ScriptedModel.make({
    turns: [[
      ScriptedModel.toolCall({ id: "c0", name: "Agent", params: { task: "Fill it in." } }),
      ScriptedModel.toolCall({ id: "c1", name: "Form", params: {} })
    ]],
    afterLastTurn: "Done."
  })
  const store = yield* S.makeStore
  const serving = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.provideService(effect, SuspensionStore.SuspensionStore, SuspensionStore.make({ store }))
  const conversation = yield* serving(
    Conversation.make({ id: "forms", toolkit }).pipe(
      Effect.provideService(S.LanguageModel, outer.model),
      Effect.provideService(ConversationStore.ConversationStore, yield* ConversationStore.make({ store })),
      Effect.provideService(ApprovalJournal.ApprovalJournal, yield* ApprovalJournal.make({ store, grace: 0 })),
      Effect.provide(ApprovalSeal.layer({ key: "the key of the tests of forms, 32 bytes" }))
    )
  )
  yield* conversation.send("Go.")
  const open = yield* conversation.pending()
  assert.deepStrictEqual(open.map(({ toolName }) => toolName), ["Form", "Form"])
  const asked = {
    inner: open.find(({ toolCallId }) => toolCallId === "c0/c1")!,
    outer: open.find(({ toolCallId }) => toolCallId === "c1")!
  }
  return { asked, conversation, filled, serving }
})

describe("an answer to what an agent's tool asks, of which there is a namesake outside", () => {
  it.effect("L4 is checked against what its own tool asks for, and changes nothing where it does not fit", () =>
    Effect.gen(function*() {
      const { asked, conversation, filled } = yield* begin
      for (const [request, answer] of [[asked.inner, { amount: "5" }], [asked.outer, { to: "ann" }]] as const) {
        const refused = yield* conversation.decide(Approval.answer(request, answer)).pipe(
          Effect.map(({ refused }) => refused[0]?.error),
          Effect.catch((error) => Effect.succeed(error))
        )
        assert.strictEqual(S.refusal(refused), "InvalidAnswer")
        assert.deepStrictEqual(
          (yield* conversation.pending()).map(({ approvalId }) => approvalId),
          [asked.inner, asked.outer].map(({ approvalId }) => approvalId).toSorted((one) =>
            one === asked.inner.approvalId ? 1 : -1
          )
        )
      }
      assert.deepStrictEqual(filled, [])
    }))

  it.effect("L13 counts beside one for the namesake, each with its own", () =>
    Effect.gen(function*() {
      const { asked, conversation, filled } = yield* begin
      yield* conversation.decide([
        Approval.answer(asked.inner, { to: "ann" }),
        Approval.answer(asked.outer, { amount: "5" })
      ])
      assert.sameDeepMembers(filled, [{ to: "ann" }, { amount: 5 }])
    }))

  it.effect("L2 that only the program can give is given by the id, and wakes the outermost, once", () =>
    Effect.gen(function*() {
      const { asked, conversation, filled, serving } = yield* begin
      yield* conversation.decide([
        Approval.answer(asked.inner, { to: "ann" }),
        Approval.answer(asked.outer, { amount: "5" })
      ])
      const [waiting, ...others] = yield* conversation.pending()
      assert.deepStrictEqual([waiting?.interaction, waiting?.path, others], ["external", ["Agent"], []])
      const deliver = serving(DeferredTool.deliver(InnerForm, "paid", waiting!, { receipt: "r-1" }))
      yield* deliver
      assert.strictEqual(S.refusal(yield* Effect.flip(deliver)), "AlreadyDecided")
      const woken: Array<string | undefined> = []
      yield* serving(SuspensionStore.wakeDue(({ scope }) => {
        woken.push(scope.conversation)
        return conversation.wake
      }))
      assert.deepStrictEqual(woken, ["forms"])
      assert.deepInclude(filled, { receipt: "r-1" })
      assert.deepStrictEqual(yield* conversation.pending(), [])
      yield* serving(SuspensionStore.wakeDue(() => Effect.die("it is due still")))
    }))
})
