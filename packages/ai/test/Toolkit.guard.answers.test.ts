/** What a person may say to a guarded toolkit, and what the model, the events and the memory are told of it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalMatcher, ApprovalMemory, Tool, Toolkit } from "../src/index.ts"
import * as C from "./laws/conversation.ts"
import * as M from "./laws/remembered.ts"

const Delete = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})

const begin = Effect.gen(function*() {
  const runs: Array<string> = []
  const toolkit = Toolkit.guard(
    yield* C.withHandlers(Toolkit.make(Delete), {
      DeleteFile: ({ path }) => Effect.sync(() => (runs.push(path), "gone"))
    })
  )
  const remove = (path: string) =>
    Effect.map(
      Effect.flatMap(toolkit.handle("DeleteFile", { path }), Stream.runCollect),
      (results) => results[results.length - 1]!
    )
  return { remove, runs }
})

const reasonOf = (result: { readonly encodedResult: unknown }) =>
  (result.encodedResult as { readonly reason: string }).reason

describe("a guarded toolkit", () => {
  it.effect("tells the model of an edit, and of nothing where there was none", () =>
    Effect.gen(function*() {
      const { remove, runs } = yield* begin
      const plain = yield* M.person(() => true).answers(remove("a"))
      assert.isUndefined(plain.modelOutput)
      const edited = yield* M.person(() => new Approval.Approved({ params: { path: "c" } })).answers(remove("b"))
      assert.include(JSON.stringify(edited.modelOutput), "changed the parameters before approving")
      assert.deepStrictEqual(runs, ["a", "c"])
    }))

  it.effect("events say what was decided, and how long it was waited for", () =>
    Effect.gen(function*() {
      const { remove } = yield* begin
      const events = yield* M.events
      yield* TestClock.adjust("1 hour")
      const ada = M.person((request) =>
        Effect.as(
          TestClock.adjust("5 seconds"),
          M.pathOf(request) === "a" ? true : new Approval.Approved({ params: { path: "c" } })
        )
      )
      for (const path of ["a", "b"]) yield* events.observe(ada.answers(remove(path)))
      assert.deepStrictEqual(
        (yield* events.seen).flatMap((event) => event._tag === "Changed" ? [[event.state, event.waited]] : []),
        [["approved", 5_000], ["edited", 5_000]]
      )
    }).pipe(Effect.scoped))

  it.effect("a remark is what the model is told, and nothing runs", () =>
    Effect.gen(function*() {
      const { remove, runs } = yield* begin
      const ada = M.person(() => new Approval.Info({ note: "ask me after lunch" }))
      assert.strictEqual(reasonOf(yield* ada.answers(remove("a"))), "ask me after lunch")
      assert.deepStrictEqual(runs, [])
    }))

  it.effect("what the policy blocks while the person decides is a denial", () =>
    Effect.gen(function*() {
      const { remove, runs } = yield* begin
      let blocked = false
      const ada = M.person(() => (blocked = true))
      const result = yield* ada.answers(remove("a")).pipe(
        M.withPolicy(() => blocked ? Approval.blocked("frozen") : undefined)
      )
      assert.deepStrictEqual([result.encodedResult, runs], [{ type: "execution-denied", reason: "frozen" }, []])
    }))

  it.effect("a denial is remembered with its reason", () =>
    Effect.gen(function*() {
      const { remove } = yield* begin
      const ada = M.person(() => M.no("never", "session"))
      const first = yield* ada.answers(remove("a"))
      const again = yield* ada.answers(remove("a"))
      assert.deepStrictEqual([ada.seen, reasonOf(first), reasonOf(again)], [["a"], "never", "never"])
    }).pipe(Effect.provide(ApprovalMemory.layerSession())))

  it.effect("a call that a sibling's answer covers is no question, and no event says that it is", () =>
    Effect.gen(function*() {
      const { remove, runs } = yield* begin
      const events = yield* M.events
      const ada = M.person(() => M.yes({ covers: ApprovalMatcher.tool.description }))
      const both = Effect.all([remove("a"), remove("b")], { concurrency: "unbounded" })
      yield* events.observe(ada.answers(both))
      const asked = (yield* events.seen).filter(({ _tag }) => _tag === "Requested")
      assert.deepStrictEqual([ada.seen.length, asked.length, runs.length], [1, 1, 2])
    }).pipe(Effect.scoped, Effect.provide(ApprovalMemory.layerSession())))
})
