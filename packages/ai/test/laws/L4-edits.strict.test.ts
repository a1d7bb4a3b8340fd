/**
 * L4: an edit is no way around what holds for the call as proposed and as edited: what the person was shown must still be
 * so, and what was denied for good stays denied, whichever call it is reached from.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalMemory,
  ApprovalPresentation,
  Prompt,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"

const writing = Effect.gen(function*() {
  const disk = { text: "old" }
  const runs: Array<string> = []
  const WriteFile = Tool.present(
    Tool.make("WriteFile", {
      parameters: { content: Schema.String },
      success: Schema.String,
      needsApproval: () => Approval.needsApproval({ editable: true })
    }),
    ({ content }) => ApprovalPresentation.diff({ path: "a.txt", before: disk.text, after: content })
  )
  const toolkit = yield* C.withHandlers(Toolkit.make(WriteFile), {
    WriteFile: ({ content }) => Effect.sync(() => (runs.push(content), "written"))
  })
  return { disk, runs, toolkit }
})

const turns = [[ScriptedModel.toolCall({ id: "c1", name: "WriteFile", params: { content: "new" } })], "done"]

const params = { content: "new!" }

const answering = (...args: Parameters<typeof ApprovalController.interactive>) =>
  Effect.provideService(ApprovalController.ApprovalController, ApprovalController.interactive(...args))

describe("L4 an edit of what is not any more as it was shown", () => {
  C.everyWay("from a history: the file changed since, so nothing runs and it may be asked again", function*(way) {
    for (const changes of [true, false]) {
      const { disk, runs, toolkit } = yield* writing
      const chat = yield* C.start({ way, toolkit, turns })
      const { requests } = yield* chat.send("go")
      if (changes) disk.text = "changed by somebody else"
      const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(requests[0]!, { params })]))
      assert.deepStrictEqual(runs, changes ? [] : ["new!"])
      if (changes) assert.match(C.reasonOf(turn.results[0]!), /shown has changed.*asked again/)
    }
  })

  C.everyWay("inline: the file changed while the person typed", function*(way) {
    for (const changes of [true, false]) {
      const { disk, runs, toolkit } = yield* writing
      const chat = yield* C.start({ way, toolkit, turns })
      yield* chat.send("go").pipe(answering((request) => {
        if (changes) disk.text = "changed by somebody else"
        return Approval.approve(request, { params })
      }))
      assert.deepStrictEqual(runs, changes ? [] : ["new!"])
    }
  })

  C.everyWay("in a guarded toolkit", function*() {
    for (const changes of [true, false]) {
      const { disk, runs, toolkit } = yield* writing
      const written = Effect.flatMap(Toolkit.guard(toolkit).handle("WriteFile", { content: "new" }), Stream.runDrain)
      yield* written.pipe(answering((request) => {
        if (changes) disk.text = "changed by somebody else"
        return Approval.approve(request, { params })
      }))
      assert.deepStrictEqual(runs, changes ? [] : ["new!"])
    }
  })
})

describe("L4 an edit into what was denied for good", () => {
  const denyAll = M.person(() => M.no("never touch it", "session"))

  M.everyWay("inline: a remembered denial is not undone", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["secret"], ["a"], "done"])
    yield* denyAll.answers(chat.send("go"))
    const ada = M.person(() => new Approval.Approved({ params: { path: "secret" } }))
    const turn = yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual(runs, [])
    assert.include(C.reasonOf(turn.results[0]!), "never touch it")
  })

  M.everyWay("from a history that may edit: a remembered denial is not undone", function*(way) {
    const editable = M.needs({ editable: true })
    const { chat, runs } = yield* M.deleting(way, [["secret"], ["a"], "done"])
    yield* denyAll.answers(editable(chat.send("go")))
    const { requests } = yield* editable(chat.send("go"))
    const answer = Prompt.approvalResponses([Approval.approve(requests[0]!, { params: { path: "secret" } })])
    const turn = yield* editable(chat.send(answer))
    assert.deepStrictEqual(runs, [])
    assert.include(C.reasonOf(turn.results[0]!), "never touch it")
  })

  M.everyWay(
    "a memory that is away says no more than it does of a call that is proposed: the person decided",
    function*(way) {
      const { chat, runs } = yield* M.deleting(way, [["a"], "done"])
      const ada = M.person(() => new Approval.Approved({ params: { path: "b" } }))
      yield* ada.answers(chat.send("go")).pipe(
        Effect.provideService(ApprovalMemory.ApprovalMemory, {
          ...ApprovalMemory.none,
          remembers: true,
          find: () => Effect.die("away")
        })
      )
      assert.deepStrictEqual(runs, ["delete b"])
    }
  )
})
