/** `ApprovalController.Check` and `Remembers`: what a controller may know of an answer before it is given. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, identity, Schema, Stream } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalMemory,
  DeferredTool,
  Interaction,
  LanguageModel,
  Tool,
  Toolkit
} from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"

const WriteFile = Tool.make("WriteFile", {
  parameters: { path: Schema.NonEmptyString, mode: Schema.optionalKey(Schema.Int) },
  success: Schema.String,
  needsApproval: true
})

const Book = DeferredTool.make("Book", {
  parameters: {},
  success: Schema.String,
  state: Schema.Undefined,
  interactions: { train: Interaction.selectOptions, nights: Interaction.form(Schema.Int) }
})

const toolkit = Toolkit.make(WriteFile, Book)

const ran: Array<unknown> = []

const handlers = toolkit.toLayer({
  WriteFile: (params) => Effect.sync(() => (ran.push(params), "written")),
  Book: DeferredTool.handler(Book, {
    start: () => Book.suspend.train({ prompt: "Which?", options: ["7:00", "9:00"] }, undefined),
    resume: {
      train: () => Book.suspend.nights({ prompt: "How long?" }, undefined),
      nights: (nights) => Effect.sync(() => (ran.push(nights), "booked"))
    }
  })
})

/** Tries what it is given, in order, and decides for the first that is said to be good; what was wrong is kept. */
const trying = (tried: ReadonlyArray<Schema.Json>, problems: Array<string>) =>
  Effect.gen(function*() {
    const check = yield* ApprovalController.Check
    for (const value of tried) {
      const problem = yield* check(value)
      if (problem === undefined) return value
      problems.push(problem)
    }
    return yield* Effect.fail("nothing fits")
  })

const play = (call: ReturnType<typeof ScriptedModel.toolCall>, controller: ApprovalController.Service) =>
  LanguageModel.generateText({ prompt: "Go on.", toolkit }).pipe(
    Effect.provide(ScriptedModel.layer({ turns: [[call]] }).pipe(LanguageModel.approval())),
    Effect.provideService(ApprovalController.ApprovalController, controller),
    Effect.provide(handlers)
  )

const edits = [{ path: "" }, { mode: 1 }, { path: "a", mode: "rw" }, "a", { path: "b", mode: 2 }]

describe("ApprovalController.Check", () => {
  it.effect("says why changed parameters cannot run, and nothing of those that can", () =>
    Effect.gen(function*() {
      ran.length = 0
      const problems: Array<string> = []
      yield* play(
        ScriptedModel.toolCall({ id: "call-1", name: "WriteFile", params: { path: "a" } }),
        ApprovalController.interactive(() =>
          Effect.map(trying(edits, problems), (params) => new Approval.Approved({ params }))
        )
      )
      assert.deepStrictEqual(ran, [{ path: "b", mode: 2 }])
      assert.strictEqual(problems.length, 4)
      assert.include(problems[0], "[\"path\"]")
      assert.include(problems[2], "[\"mode\"]")
    }))

  it.effect("says so of a guarded toolkit too", () =>
    Effect.gen(function*() {
      ran.length = 0
      const problems: Array<string> = []
      const guarded = Toolkit.guard(yield* toolkit)
      yield* Effect.flatMap(guarded.handle("WriteFile", { path: "a" }), () => Effect.void).pipe(
        Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive(() =>
            Effect.map(trying(edits, problems), (params) => new Approval.Approved({ params }))
          )
        )
      )
      assert.strictEqual(problems.length, 4)
    }).pipe(Effect.provide(handlers)))

  it.effect("says why an answer that a tool waits for does not fit", () =>
    Effect.gen(function*() {
      ran.length = 0
      const problems: Array<string> = []
      yield* play(
        ScriptedModel.toolCall({ id: "call-1", name: "Book", params: {} }),
        ApprovalController.interactive(({ awaited }) =>
          Effect.map(
            trying(awaited!.name === "train" ? ["8:00", "9:00"] : ["two", 1.5, 2], problems),
            (answer) => new Approval.Approved({ answer })
          )
        )
      )
      assert.deepStrictEqual(ran, [2])
      assert.strictEqual(problems.length, 3)
      assert.include(problems[0], "not among the options")
    }))

  it.effect("knows nothing where nobody is asked, or where parameters have no schema to fit", () =>
    Effect.gen(function*() {
      const check = yield* ApprovalController.Check
      assert.isUndefined(yield* check({ any: "thing" }))
    }))
})

describe("ApprovalController.Remembers", () => {
  const asked = (around: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>) =>
    Effect.gen(function*() {
      const told: Array<string | undefined> = []
      const controller = ApprovalController.interactive(() =>
        Effect.map(ApprovalController.Remembers, (remembers) => (told.push(remembers), true))
      )
      const here = Effect.provideService(ApprovalController.ApprovalController, controller)
      const call = ScriptedModel.toolCall({ id: "call-1", name: "WriteFile", params: { path: "a" } })
      yield* around(play(call, controller))
      const guarded = Toolkit.guard(yield* toolkit)
      yield* around(here(Effect.flatMap(guarded.handle("WriteFile", { path: "a" }), Stream.runDrain)))
      yield* around(here(ApprovalController.request({ name: "deploy" })))
      return told
    }).pipe(Effect.provide(handlers))

  const remembering = Effect.provide(ApprovalMemory.layerSession())

  it.effect("is nothing without a memory", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* asked(identity), [undefined, undefined, undefined])
    }))

  it.effect("without a conversation is the turn, or a guarded toolkit; a program's own question is forgotten", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* asked(remembering), ["turn", "toolkit", undefined])
    }))

  it.effect("is a named conversation", () =>
    Effect.gen(function*() {
      const named = Effect.provideService(Approval.Scope, { conversation: "chat-7" })
      assert.deepStrictEqual(yield* asked((effect) => named(remembering(effect))), [
        "conversation",
        "conversation",
        "conversation"
      ])
    }))
})
