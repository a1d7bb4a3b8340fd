import {
  Approval,
  ApprovalController,
  ApprovalJournal,
  ApprovalSeal,
  Conversation,
  ConversationStore,
  LanguageModel,
  Store,
  SuspensionStore,
  Tool,
  Toolkit
} from "@assent/ai"
import { ScriptedApprover, ScriptedModel, StrictProvider, withConsent } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"

// The agent: in your program this is imported.
const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const toolkit = Toolkit.make(DeleteFile)
const makeAgent = Conversation.make({ id: "tidy", toolkit })

// What its tools did, and what its model says: two calls, and then a sentence.
const deletes = (deleted: Array<string>) =>
  toolkit.toLayer({ DeleteFile: ({ path }) => Effect.sync(() => (deleted.push(path), "deleted")) })
const call = (path: string) => ScriptedModel.toolCall({ id: path, name: "DeleteFile", params: { path } })
const turns = [[call("a.log"), call("thesis.txt")], "Done."]

/** A process: everything is made anew, but what it keeps in the store. */
const started = (store: Store.Store) =>
  Layer.mergeAll(
    ConversationStore.layerStore(),
    ApprovalJournal.layerStore(),
    SuspensionStore.layerStore,
    ApprovalSeal.layer({ key: Redacted.make("a key of at least 32 bytes, for tests") })
  ).pipe(Layer.provide(Layer.succeed(Store.Store, store)))

describe("the agent that tidies up", () => {
  it.effect("deletes what was approved, and its model reads why the other was not", () =>
    Effect.gen(function*() {
      const deleted: Array<string> = []
      const script = yield* ScriptedModel.make({ turns })
      const program = Effect.gen(function*() {
        const agent = yield* makeAgent
        const asked = yield* agent.send("Tidy up.")
        if (asked._tag !== "Waiting") return assert.fail(asked._tag)
        assert.deepStrictEqual(deleted, []) // nothing ran before anybody answered
        return yield* agent.decide(ScriptedApprover.answers(asked.requests, ["approve", { deny: "keep it" }]))
      }).pipe(Effect.provide([deletes(deleted), Layer.succeed(LanguageModel.LanguageModel, script.model)]))

      assert.strictEqual((yield* program).text, "Done.")
      assert.deepStrictEqual(deleted, ["a.log"])
      const [, last] = yield* script.requests
      assert.include(JSON.stringify(last?.prompt), "keep it")
      assert.deepStrictEqual(StrictProvider.check(last!.prompt), [])
    }))

  it.effect("asks a person who is there", () =>
    Effect.gen(function*() {
      const deleted: Array<string> = []
      const person = ScriptedApprover.make(({ description }) => description.includes("thesis") ? "deny" : "approve")
      const outcome = yield* Effect.flatMap(makeAgent, (agent) => agent.send("Tidy up.")).pipe(
        Effect.provide([deletes(deleted), ScriptedModel.layer({ turns })]),
        Effect.provide(ApprovalController.layerInteractive(person.callback))
      )
      assert.strictEqual(outcome._tag, "Completed")
      assert.deepStrictEqual(deleted, ["a.log"])
      assert.lengthOf(yield* person.seen, 2)
    }))

  it.effect("runs nothing that is approved a day too late", () =>
    Effect.gen(function*() {
      const deleted: Array<string> = []
      const Model = ScriptedModel.layer({ turns }).pipe(LanguageModel.approval({ expiresIn: "1 day" }))
      const late = Effect.gen(function*() {
        const agent = yield* makeAgent
        yield* agent.send("Tidy up.")
        const answers = (yield* agent.pending()).map((request) => Approval.approve(request))
        yield* TestClock.adjust("2 days")
        return (yield* agent.decide(answers)).refused.map(({ error }) => error.reason._tag)
      })
      assert.deepStrictEqual(yield* Effect.provide(late, [deletes(deleted), Model]), ["Expired", "Expired"])
      assert.deepStrictEqual(deleted, [])
    }))

  it.effect("goes on after a restart, and an answer that comes twice runs once", () =>
    Effect.gen(function*() {
      const deleted: Array<string> = []
      const store = yield* Store.makeMemory()
      const asked = yield* Effect.flatMap(makeAgent, (agent) => Effect.andThen(agent.send("Tidy up."), agent.pending()))
        .pipe(Effect.provide([deletes(deleted), ScriptedModel.layer({ turns: [turns[0]!] }), started(store)]))

      const answers = asked.map((request) => Approval.approve(request))
      const again = Effect.flatMap(makeAgent, (agent) => agent.decide(answers)).pipe(
        Effect.provide([deletes(deleted), ScriptedModel.layer({ turns: ["Done."] }), started(store)])
      )
      assert.strictEqual((yield* again).text, "Done.")
      assert.include((yield* Effect.flip(again)).message, "not open any more")
      assert.deepStrictEqual(deleted, ["a.log", "thesis.txt"])
    }))

  it.effect.prop(
    "deletes what was approved, whatever is answered",
    { answers: Schema.Array(Schema.Boolean) },
    (given) =>
      Effect.gen(function*() {
        const deleted: Array<string> = []
        const paths = given.answers.map((_, index) => `${index}.log`)
        const Model = ScriptedModel.layer({ turns: [paths.length === 0 ? "Nothing to do." : paths.map(call), "Done."] })
        yield* Effect.gen(function*() {
          const agent = yield* makeAgent
          yield* agent.send("Tidy up.")
          const requests = yield* agent.pending()
          const steps = given.answers.map((yes) => yes ? "approve" as const : "deny" as const)
          yield* agent.decide(ScriptedApprover.answers(requests, steps))
        }).pipe(Effect.provide([deletes(deleted), Model, ConversationStore.layerMemory()]))
        assert.deepStrictEqual(deleted.toSorted(), paths.filter((_, index) => given.answers[index]).toSorted())
      }),
    { arbitrary: { runs: 20 } }
  )

  it.effect("its handler by itself, where nobody is asked", () =>
    Effect.gen(function*() {
      const { handle } = yield* toolkit
      const [result] = yield* Stream.runCollect(yield* handle("DeleteFile", { path: "a.log" }))
      assert.strictEqual(result?.result, "deleted")
    }).pipe(withConsent, Effect.provide(deletes([]))))
})
