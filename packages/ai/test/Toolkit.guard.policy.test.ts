/**
 * What a policy says of a guarded toolkit's calls holds there: its time limit, and itself where it is put over a toolkit
 * that is guarded already.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalEvents,
  ApprovalPolicy,
  LanguageModel,
  Tool,
  Toolkit
} from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import { fresh } from "./laws/support.ts"

const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const Files = Toolkit.make(DeleteFile)

const build = Effect.gen(function*() {
  const runs: Array<string> = []
  const handlers = Files.toLayer({ DeleteFile: ({ path }) => Effect.sync(() => (runs.push(path), "deleted")) })
  return { runs, toolkit: yield* Effect.provide(Toolkit.guard(Files), handlers) }
})

type Kit = Toolkit.WithHandler<Toolkit.Tools<typeof Files>>

const remove = (toolkit: Kit, path = "a") =>
  Effect.map(
    Effect.flatMap(toolkit.handle("DeleteFile", { path }), Stream.runCollect),
    (results) => JSON.stringify(results.at(-1)?.encodedResult)
  )

const answering = (...args: Parameters<typeof ApprovalController.interactive>) =>
  Effect.provideService(ApprovalController.ApprovalController, ApprovalController.interactive(...args))

describe("Toolkit.guard: expiry", () => {
  const expiring = Effect.flatMap(
    ApprovalPolicy.fromConfig({ DeleteFile: { approval: "required", expires_in: "1 minute" } }),
    (policy) => Effect.succeed(Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy))
  )

  it.effect("an approval that comes after the configured time runs nothing, and says that it may be asked again", () =>
    Effect.gen(function*() {
      const { runs, toolkit } = yield* build
      const configured = yield* expiring
      const events = yield* ApprovalEvents.make()
      const states: Array<string> = []
      yield* Effect.forkScoped(
        Stream.runForEach(
          yield* events.subscribe,
          (event) => Effect.sync(() => void (event._tag === "Changed" && states.push(event.state)))
        )
      )
      const seen: Array<number | undefined> = []
      const said = yield* remove(toolkit).pipe(
        configured,
        answering((request) => {
          seen.push(request.expiresAt)
          return Effect.as(TestClock.adjust("61 seconds"), true)
        }),
        Effect.provideService(ApprovalEvents.ApprovalEvents, events)
      )
      yield* Effect.yieldNow
      assert.deepStrictEqual([runs, seen, states], [[], [60_000], ["expired"]])
      assert.include(said, "execution-interrupted")
    }).pipe(Effect.scoped))

  it.effect("one that comes in time runs, and without a limit there is none", () =>
    Effect.gen(function*() {
      const { runs, toolkit } = yield* build
      const configured = yield* expiring
      const later = answering((request) => Effect.as(TestClock.adjust("59 seconds"), request.expiresAt !== undefined))
      yield* later(configured(remove(toolkit)))
      yield* remove(toolkit).pipe(
        answering((request) => Effect.as(TestClock.adjust("365 days"), request.expiresAt === undefined))
      )
      assert.deepStrictEqual(runs, ["a", "a"])
    }))
})

describe("Toolkit.withPolicy over a guarded toolkit", () => {
  const blocked = (toolkit: Kit) => Toolkit.withPolicy(toolkit, () => Approval.blocked("never"))

  it.effect("what it forbids does not run: guarded again, or under the engine, whoever says yes", () =>
    fresh(Effect.gen(function*() {
      const { runs, toolkit } = yield* build
      const yes = answering(() => true)
      assert.include(yield* yes(remove(Toolkit.guard(blocked(toolkit)))), "never")
      const script = yield* ScriptedModel.make({
        turns: [[ScriptedModel.toolCall({ id: "c1", name: "DeleteFile", params: { path: "a" } })]]
      })
      const response = yield* yes(LanguageModel.generateText({ prompt: "go", toolkit: blocked(toolkit) })).pipe(
        Effect.provideService(LanguageModel.LanguageModel, script.model)
      )
      assert.include(JSON.stringify(response.toolResults[0]?.encodedResult), "never")
      assert.deepStrictEqual(runs, [])
    })))

  it.effect("it cannot loosen what the guard asks, and where it says nothing the guard asks, once", () =>
    Effect.gen(function*() {
      for (const says of [() => false, () => undefined]) {
        const { runs, toolkit } = yield* build
        let asked = 0
        const kit = Toolkit.guard(Toolkit.withPolicy(toolkit, says))
        yield* remove(kit).pipe(answering(() => (asked++, false)))
        yield* remove(kit).pipe(answering(() => (asked++, true)))
        assert.deepStrictEqual([asked, runs], [2, ["a"]])
      }
    }))
})
