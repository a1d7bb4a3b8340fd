/**
 * Nested tools (`async-callbacks.md`, "nested tool approval"; issue 5, point 3): a handler that asks a person itself, or
 * takes a turn of a model of its own in which calls need approval, waits for nobody but that person, and ends with
 * whoever called it.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema } from "effect"
import { Approval, ApprovalController, ApprovalJournal, LanguageModel, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"
import { idle, makeHold } from "./support.ts"

const make = (needsApproval: boolean) =>
  Tool.make("Deploy", {
    parameters: { path: Schema.String },
    success: Schema.String,
    failure: Schema.String,
    failureMode: "return",
    needsApproval
  })

const Deploy = make(true)

const call = (id: string, path: string) => ScriptedModel.toolCall({ id, name: "Deploy", params: { path } })

/** A conversation whose one tool does this. */
const deploying = Effect.fnUntraced(function*(
  way: C.Way,
  handler: (params: { readonly path: string }) => Effect.Effect<string, string>,
  turns: C.StartOptions["turns"] = [[call("c1", "a")]],
  tool: typeof Deploy = Deploy
) {
  const toolkit = yield* C.withHandlers(Toolkit.make(tool), { Deploy: handler })
  return yield* C.start({ way, toolkit, turns })
})

const ask = (name: string) =>
  ApprovalController.request({ name, params: { path: name } }).pipe(
    Effect.map(({ _tag }) => _tag),
    Effect.mapError((error) => error.reason._tag)
  )

/** A model of its own, that deletes a file, which is asked. */
const innerTurn = Effect.fnUntraced(function*(path: string, runs: Array<string>) {
  const script = yield* ScriptedModel.make({ turns: [[C.deleteCall("inner", path)]] })
  const toolkit = yield* C.withHandlers(Toolkit.make(C.DeleteFile), {
    DeleteFile: ({ path }) => Effect.sync(() => (runs.push(path), { deleted: path }))
  })
  const response = yield* LanguageModel.generateText({ prompt: "go", toolkit }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, script.model),
    Effect.orDie
  )
  return response.toolResults.length
})

describe("nested: a handler that asks", () => {
  C.everyWay("is answered by the same person, after its own approval, one question at a time", function*(way) {
    const chat = yield* deploying(way, ({ path }) => ask(`stop ${path}`), [[call("c1", "a"), call("c2", "b")]])
    const ada = M.person((request) => M.pathOf(request) !== "stop b")
    const turn = yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual(ada.seen.toSorted(), ["a", "b", "stop a", "stop b"])
    assert.isBelow(ada.seen.indexOf("a"), ada.seen.indexOf("stop a"))
    assert.deepStrictEqual(turn.results.map(({ id, result }) => [id, result]).toSorted(), [
      ["c1", "Approved"],
      ["c2", "Denied"]
    ])
  })

  C.everyWay("in a tool that needs nobody too", function*(way) {
    const chat = yield* deploying(way, () => ask("stop"), [[call("c1", "a")]], make(false))
    const ada = M.person(() => true)
    const turn = yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual([ada.seen, turn.results[0]!.result], [["stop"], "Approved"])
  })

  C.everyWay("with several approvals at once and one permit for them, nobody waits for ever", function*(way) {
    const chat = yield* deploying(way, ({ path }) => ask(`stop ${path}`), [
      ["a", "b", "c", "d"].map((path) => call(path, path))
    ])
    const ada = M.person(() => Effect.as(Effect.yieldNow, true))
    const turn = yield* ada.answers(chat.send("go", { concurrency: 1 }))
    assert.lengthOf(turn.results, 4)
    assert.lengthOf(ada.seen, 8)
  })

  C.everyWay("a batch takes the inner questions as it takes the others", function*(way) {
    const chat = yield* deploying(way, ({ path }) => ask(`stop ${path}`), [[call("c1", "a"), call("c2", "b")]])
    const shown: Array<number> = []
    const controller = ApprovalController.batch(
      (requests) => (shown.push(requests.length), requests.map(() => true)),
      { window: 0 }
    )
    const asking = yield* Effect.forkChild(
      chat.send("go").pipe(
        Effect.provideService(ApprovalController.ApprovalController, controller)
      )
    )
    const turn = yield* Fiber.join(asking)
    assert.deepStrictEqual(turn.results.map(({ result }) => result), ["Approved", "Approved"])
    assert.strictEqual(shown.reduce((sum, count) => sum + count, 0), 4)
  })

  C.everyWay("where nobody answers inline it gets a typed error, and can say so", function*(way) {
    const chat = yield* deploying(way, () => ask("stop"), [[call("c1", "a")]], make(false))
    const turn = yield* chat.send("go")
    assert.deepStrictEqual([turn.results[0]!.isFailure, turn.results[0]!.result], [true, "ApprovalRequired"])
  })

  M.everyWay("what was remembered of its question answers the next", function*(way) {
    const chat = yield* deploying(way, () => ask("stop"), [[call("c1", "a")], [call("c2", "b")]])
    const ada = M.person((request) => M.pathOf(request) === "stop" ? M.yes("session") : true)
    for (let turn = 0; turn < 2; turn++) yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual(ada.seen, ["a", "stop", "b"])
  })
})

describe("nested: a handler that takes a turn of its own", () => {
  C.everyWay("has its calls asked and run, with the same person", function*(way) {
    const runs: Array<string> = []
    const chat = yield* deploying(way, ({ path }) => Effect.map(innerTurn(`inner ${path}`, runs), String), [
      [call("c1", "a"), call("c2", "b")]
    ])
    const ada = M.person((request) => M.pathOf(request) !== "inner b")
    const turn = yield* ada.answers(chat.send("go"))
    assert.lengthOf(turn.results.filter((result) => !result.isFailure), 2)
    assert.deepStrictEqual([ada.seen.toSorted(), runs], [["a", "b", "inner a", "inner b"], ["inner a"]])
  })

  C.everyWay("what a callback asks by a turn of its own does not wait for the question it is asked in", function*(way) {
    const runs: Array<string> = []
    const { chat } = yield* M.deleting(way, [["a"]])
    const seen: Array<string> = []
    const controller: ApprovalController.Service = ApprovalController.interactive((request) => {
      seen.push(M.pathOf(request))
      return M.pathOf(request) === "look"
        ? true
        : innerTurn("look", runs).pipe(
          Effect.provideService(ApprovalController.ApprovalController, controller),
          Effect.map((results) => results === 1)
        )
    })
    yield* chat.send("go").pipe(Effect.provideService(ApprovalController.ApprovalController, controller))
    assert.deepStrictEqual([seen, runs], [["a", "look"], ["look"]])
  })
})

describe("nested: who leaves", () => {
  const stuck = Effect.gen(function*() {
    const hold = yield* makeHold
    let ended = 0
    const ada = M.person((request) =>
      M.pathOf(request) === "stop"
        ? Effect.as(Effect.onInterrupt(hold.wait, () => Effect.sync(() => ended++)), true)
        : true
    )
    return { ada, hold, ended: () => ended }
  })

  C.everyWay(
    "a turn that is left takes the question of a tool that needs nobody along, and the next is asked",
    function*(way) {
      const { ada, ended, hold } = yield* stuck
      const chat = yield* deploying(way, () => ask("stop"), [[call("c1", "a")]], make(false))
      const asking = yield* Effect.forkChild(ada.answers(chat.send("go")))
      yield* hold.entered
      yield* Fiber.interrupt(asking)
      yield* idle
      assert.strictEqual(ended(), 1)
      const { chat: other, runs } = yield* M.deleting(way, [["b"]])
      yield* ada.answers(other.send("go"))
      assert.deepStrictEqual(runs, ["delete b"])
    }
  )

  C.everyWay(
    "an approved run belongs to the journal: left by its reader its question stands, Stop ends both (law L2)",
    function*(way) {
      const { ada, ended, hold } = yield* stuck
      const ids: Array<string> = []
      const asked = M.person((request) => (ids.push(request.approvalId), true))
      const chat = yield* deploying(way, () => ada.answers(ask("stop")))
      const asking = yield* Effect.forkChild(Effect.exit(asked.answers(chat.send("go"))))
      yield* hold.entered
      yield* Fiber.interrupt(asking)
      yield* idle
      assert.strictEqual(ended(), 0, "the run goes on")
      const journal = yield* ApprovalJournal.ApprovalJournal
      assert.isTrue(yield* journal.interrupt(ids[0]!))
      yield* idle
      assert.strictEqual(ended(), 1)
      assert.isFalse(yield* journal.interrupt(ids[0]!))
      assert.isTrue(Exit.isFailure(yield* Fiber.await(asking)))
      const { chat: other, runs } = yield* M.deleting(way, [["b"]])
      yield* ada.answers(other.send("go"))
      assert.deepStrictEqual(runs, ["delete b"])
    }
  )

  C.everyWay("a denial of the outer call never gets to the inner question", function*(way) {
    const chat = yield* deploying(way, () => ask("stop"))
    const ada = M.person((request) => M.pathOf(request) === "stop" || new Approval.Denied({ note: "not today" }))
    const turn = yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual(ada.seen, ["a"])
    assert.include(C.reasonOf(turn.results[0]!), "not today")
  })
})
