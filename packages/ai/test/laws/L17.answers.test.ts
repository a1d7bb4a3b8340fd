/**
 * L17: what people, programs and senders answer has a bound on depth and size, looked at before anything reads it. What is
 * out of bounds is no answer, and never a yes: who gave it is told why, and the request stays open.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  Approval,
  type ApprovalError,
  ApprovalJournal,
  ApprovalSeal,
  Conversation,
  DeferredTool,
  Interaction,
  LanguageModel,
  Prompt,
  SuspensionStore,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as S from "../webhook/support.ts"
import { deep, nested, whole, writable } from "./bounds.ts"

const tooDeep = /nested deeper than 512 levels/
const tooLarge = /larger than 1 MiB \(1,048,576 bytes\) as JSON/

const bad: Record<string, { readonly said: unknown; readonly reason: RegExp }> = {
  "6,000 levels": { said: deep, reason: tooDeep },
  "a hundred thousand levels": { said: nested(100_000), reason: tooDeep },
  "513 levels": { said: nested(513), reason: tooDeep },
  "more than 1 MiB": { said: whole(1_048_577), reason: tooLarge }
}

const reasonOf = <A>(effect: Effect.Effect<A, unknown>): Effect.Effect<string> =>
  Effect.map(
    Effect.flip(effect as Effect.Effect<A, ApprovalError.ApprovalError>),
    (error) => `${error.reason._tag}: ${error.message}`
  ) as Effect.Effect<string>

describe("L17 answers as they are posted", () => {
  for (const [what, { reason, said }] of Object.entries(bad)) {
    for (const field of ["params", "answer", "remember"]) {
      it.effect(`L17 ${what} in ${field}: nothing of the answer is read, in whatever form it comes`, () =>
        Effect.gen(function*() {
          const decision = { _tag: "Approved", [field]: said }
          const posted: ReadonlyArray<unknown> = [
            { approvalId: "id-1", decision },
            { approvalId: "id-1", approved: true, options: { assent: { [field]: said } } },
            [{ approvalId: "id-1", approved: true, [field]: said }]
          ]
          for (const one of posted) {
            const error = yield* reasonOf(Prompt.readAnswers(one))
            assert.match(error, /^InvalidAnswer/)
            assert.match(error, reason)
            assert.isBelow(error.length, 500)
          }
        }))
    }
  }

  it.effect("L17 a note has the same bound, and 512 levels are read", () =>
    Effect.gen(function*() {
      const note = { approvalId: "id-1", approved: false, reason: whole(1_048_577) }
      assert.match(yield* reasonOf(Prompt.readAnswers(note)), tooLarge)
      const [answer] = yield* Prompt.readAnswers({ approvalId: "id-1", approved: true, answer: nested(512) })
      assert.strictEqual(answer?.decision._tag, "Approved")
    }))
})

// =============================================================================
// What a tool waits for
// =============================================================================

const Survey = DeferredTool.make("Survey", {
  parameters: { about: Schema.String },
  success: Schema.String,
  interactions: {
    form: Interaction.form(Schema.Struct({ answers: Schema.Unknown })),
    outside: Interaction.external(Schema.Struct({ answers: Schema.Unknown }))
  }
})

const begin = Effect.fnUntraced(function*(waitsFor: "form" | "outside") {
  const given: Array<unknown> = []
  const kit = Toolkit.make(Survey)
  const resume = ({ answers }: { readonly answers: unknown }) =>
    Effect.sync(() => {
      given.push(answers)
      return "thank you"
    })
  const layer = kit.toLayer({
    Survey: DeferredTool.handler(Survey, {
      start: () => waitsFor === "form" ? Survey.suspend.form({ prompt: "?" }) : Survey.suspend.outside({}),
      resume: { form: resume, outside: resume }
    })
  })
  const { model } = yield* ScriptedModel.make({
    turns: [[ScriptedModel.toolCall({ id: "c1", name: "Survey", params: { about: "us" } })]],
    afterLastTurn: "done"
  })
  const conversation = yield* Conversation.make({ id: "c1", toolkit: kit }).pipe(
    Effect.provide(layer),
    Effect.provideService(LanguageModel.LanguageModel, model)
  )
  yield* conversation.send("Ask them.")
  const [request] = yield* conversation.pending()
  return { conversation, given, request: request! }
})

const inOneProcess = <A, E>(effect: Effect.Effect<A, E, never>) =>
  effect.pipe(
    Effect.provide(SuspensionStore.layerMemory),
    Effect.provide(ApprovalJournal.layerMemory()),
    Effect.provide(ApprovalSeal.layer({ key: "the key of the law tests, 32 bytes" }))
  )

describe("L17 answers to what a tool waits for", () => {
  for (const [what, { reason, said }] of Object.entries(bad)) {
    it.effect(`L17 ${what}: the tool still waits, and goes on with an answer that fits`, () =>
      inOneProcess(Effect.gen(function*() {
        for (const kind of ["form", "outside"] as const) {
          const { conversation, given, request } = yield* begin(kind)
          const answers = said
          const ways: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            conversation.decide({ approvalId: request.approvalId, approved: true, answer: { answers } } as never),
            conversation.resume(Survey, kind, { answers }),
            DeferredTool.deliver(Survey, kind, request, { answers }),
            SuspensionStore.deliver(request.approvalId, { answers } as never)
          ]
          for (const way of ways) assert.match(yield* reasonOf(way), reason)
          assert.deepStrictEqual((yield* conversation.pending()).map(({ approvalId }) => approvalId), [
            request.approvalId
          ])
          const outcome = yield* conversation.resume(Survey, kind, { answers: nested(500) })
          assert.strictEqual(outcome._tag, "Completed")
          assert.strictEqual(JSON.stringify(given), JSON.stringify([nested(500)]))
          yield* writable(yield* conversation.history)
        }
      })).pipe(Effect.scoped) as Effect.Effect<void>)
  }

  it.effect("L17 a webhook takes no body that is too deep, and waits for the next", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const hook = { wake: () => Effect.void }
      for (const levels of [513, 6_000, 100_000]) {
        const more = `${"[".repeat(levels)}${"]".repeat(levels)}`
        const { status } = yield* S.call(world, hook, { body: `{"id":"p-1","amount":"20","more":${more}}` })
        assert.strictEqual(status, 400)
      }
      assert.strictEqual((yield* S.call(world, hook)).status, 202)
    }))

  it.effect("L17 what an approver changed in a conversation has the bound of parameters", () =>
    inOneProcess(Effect.gen(function*() {
      const { conversation, request } = yield* begin("form")
      const answer = new Approval.ApprovalAnswer({
        approvalId: request.approvalId,
        decision: new Approval.Approved({ answer: nested(600) as Schema.Json })
      })
      assert.match(yield* reasonOf(conversation.decide(answer)), tooDeep)
      assert.strictEqual((yield* conversation.pending()).length, 1)
    })) as Effect.Effect<void>)
})
