/**
 * L10, drift: tool removed or renamed, schema changed: a failed result that says so. Call trimmed from history: its
 * request and answer are dropped. No toolkit: denials settle, approvals become failed results without using up the
 * nonce. Never a defect, never a chat stuck on every retry.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { Approval, Prompt, Tool, Toolkit } from "../../src/index.ts"
import * as Asked from "./asked.ts"
import * as C from "./conversation.ts"
import { logged } from "./logs.ts"
import * as Support from "./support.ts"

const calls = [C.deleteCall("c1", "a"), C.deleteCall("c2", "b")]

const begin = Effect.fnUntraced(function*(way: C.Way, turns: C.StartOptions["turns"] = [calls, "done", "bye", "bye"]) {
  const { runs, toolkit } = yield* C.fileTools
  const chat = yield* C.start({ way, toolkit, turns })
  const asked = yield* chat.send("tidy up")
  const asking = yield* chat.history
  const answers = C.approveAll(asked)
  return { answers, asked, asking, chat, runs }
})

const record = (runs: Array<string>) => (params: unknown) =>
  Effect.sync(() => (runs.push(JSON.stringify(params)), { deleted: "it" }))

/** A toolkit of one tool that deletes, under this name and with these parameters. */
const deleting = (runs: Array<string>, name: string, parameters: Schema.Struct.Fields, description?: string) => {
  const success = Schema.Struct({ deleted: Schema.String })
  const tool = Tool.make(name, { description, parameters, success, needsApproval: true })
  return C.withHandlers(Toolkit.make(tool), { [name]: record(runs) })
}

/** The toolkits a program might have after a deploy, and the words a failed result should say. */
const deploys: Record<string, {
  readonly make: (runs: Array<string>) => Effect.Effect<C.AnyToolkit>
  readonly says: RegExp
}> = {
  "B13 the tool was removed": {
    make: (runs) =>
      C.withHandlers(Toolkit.make(C.ReadFile), {
        ReadFile: ({ path }) => Effect.sync(() => (runs.push(path), path))
      }),
    says: /DeleteFile/
  },
  "B13 the tool was renamed": {
    make: (runs) => deleting(runs, "RemoveFile", { path: Schema.String }),
    says: /DeleteFile/
  },
  "B12 the parameters no longer decode": {
    make: (runs) => deleting(runs, "DeleteFile", { file: Schema.String }),
    says: /parameters|schema/i
  },
  "B12 a parameter is narrower now": {
    make: (runs) => deleting(runs, "DeleteFile", { path: Schema.Literal("z") }),
    says: /parameters|schema/i
  },
  "the schema changed in a way that still decodes": {
    make: (runs) =>
      deleting(runs, "DeleteFile", { path: Schema.String, recursive: Schema.optionalKey(Schema.Boolean) }),
    says: /parameters|schema|changed/i
  }
}

describe("L10 drift", () => {
  for (const [title, { make, says }] of Object.entries(deploys)) {
    C.everyWay(`L10 ${title}: failed results that say so, nothing runs, and the chat goes on`, function*(way) {
      const { answers, chat, runs } = yield* begin(way)
      const toolkit = yield* make(runs)
      const turn = yield* chat.send(answers, { toolkit })
      assert.strictEqual(turn.text, "done")
      assert.deepStrictEqual(turn.results.map((part) => part.id).toSorted(), ["c1", "c2"])
      for (const part of turn.results) assert.match(C.reasonOf(part), says)
      assert.strictEqual((yield* chat.send("thanks", { toolkit })).text, "bye")
      const prompt = yield* chat.lastPrompt
      C.assertWellFormed(prompt)
      assert.strictEqual(C.resultsOf(prompt).length, 2)
      assert.deepStrictEqual(runs, [])
    })

    C.everyWay(`L10 ${title}: a denial is still a denial`, function*(way) {
      const { asked, chat, runs } = yield* begin(way)
      const toolkit = yield* make(runs)
      const denials = asked.requests.map((request) => Approval.deny(request, "keep it"))
      const turn = yield* chat.send(Prompt.approvalResponses(denials), { toolkit })
      assert.deepStrictEqual(turn.results.map((part) => C.reasonOf(part).includes("keep it")), [true, true])
      C.assertWellFormed(yield* chat.lastPrompt)
      assert.deepStrictEqual(runs, [])
    })

    C.everyWay(`L10 ${title}, while nobody has answered: no defect, and a new message goes on`, function*(way) {
      const { chat, runs } = yield* begin(way)
      const toolkit = yield* make(runs)
      yield* chat.send([], { toolkit })
      yield* chat.send("and now?", { toolkit })
      assert.isAtLeast(yield* chat.calls, 2)
      C.assertWellFormed(yield* chat.lastPrompt)
      assert.deepStrictEqual(runs, [])
    })
  }

  C.everyWay("L10 a new description of the tool is no drift: the approval holds", function*(way) {
    const { answers, chat, runs } = yield* begin(way)
    const toolkit = yield* deleting(runs, "DeleteFile", { path: Schema.String }, "Deletes a file for good")
    yield* chat.send(answers, { toolkit })
    assert.deepStrictEqual(runs.toSorted(), [`{"path":"a"}`, `{"path":"b"}`])
  })
})

describe("L10 trimmed", () => {
  const without = (history: Prompt.Prompt, drop: (part: { readonly type: string; readonly id?: string }) => boolean) =>
    Prompt.fromMessages(history.content.flatMap((message): ReadonlyArray<Prompt.Message> => {
      if (message.role !== "assistant") return [message]
      const content = message.content.filter((part) => !drop(part))
      return content.length === 0 ? [] : [Prompt.assistantMessage({ content })]
    }))

  for (const answered of [true, false]) {
    C.everyWay(
      `L10 B14 both calls trimmed, ${answered ? "answered" : "open"}: dropped, and the model goes on`,
      function*(way) {
        const { answers, asking, chat, runs } = yield* begin(way)
        yield* chat.setHistory(without(asking, (part) => part.type === "tool-call"))
        const turn = yield* chat.send(answered ? answers : [])
        assert.strictEqual(turn.text, "done")
        assert.deepStrictEqual(turn.results, [])
        assert.deepStrictEqual(turn.requests, [])
        assert.deepStrictEqual(C.outline(yield* chat.lastPrompt), ["user:[tidy up]"])
        assert.strictEqual((yield* chat.send("thanks")).text, "bye")
        C.assertWellFormed(yield* chat.lastPrompt)
        assert.deepStrictEqual(runs, [])
      }
    )
  }

  C.everyWay("L10 B14 one of two calls trimmed: the other is settled as ever", function*(way) {
    const { answers, asking, chat, runs } = yield* begin(way)
    yield* chat.setHistory(without(asking, (part) => part.id === "c1"))
    const turn = yield* chat.send(answers)
    assert.strictEqual(turn.shape, "result text finish")
    assert.deepStrictEqual(runs, ["delete b"])
    assert.deepStrictEqual(C.outline(yield* chat.lastPrompt), [
      "user:[tidy up]",
      "assistant:[call c2]",
      "tool:[result c2]"
    ])
  })

  C.everyWay("L10 B14 everything but the answers trimmed: the model goes on", function*(way) {
    const { answers, chat, runs } = yield* begin(way)
    yield* chat.setHistory(Prompt.make("tidy up"))
    assert.strictEqual((yield* chat.send(answers)).text, "done")
    assert.deepStrictEqual(C.outline(yield* chat.lastPrompt), ["user:[tidy up]"])
    assert.deepStrictEqual(runs, [])
  })
})

describe("L10 no toolkit", () => {
  C.everyWay("L10 B17 denials settle without a toolkit", function*(way) {
    const { asked, chat } = yield* begin(way)
    const denials = asked.requests.map((request) => Approval.deny(request, "keep it"))
    const turn = yield* chat.send(Prompt.approvalResponses(denials), { toolkit: "none" })
    assert.strictEqual(turn.shape, "result result text finish")
    assert.deepStrictEqual(turn.results.map((part) => C.reasonOf(part).includes("keep it")), [true, true])
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  const empty = C.withHandlers(Toolkit.empty, {})
  for (const kind of ["no", "an empty"] as const) {
    C.everyWay(
      `L10 B17 approvals with ${kind} toolkit fail without using up the nonce: later they run`,
      function*(way) {
        const { answers, asking, chat, runs } = yield* begin(way)
        const turn = yield* chat.send(answers, { toolkit: kind === "no" ? "none" : yield* empty })
        assert.strictEqual(turn.text, "done")
        assert.deepStrictEqual(turn.results.map((part) => part.id).toSorted(), ["c1", "c2"])
        for (const part of turn.results) C.reasonOf(part)
        C.assertWellFormed(yield* chat.lastPrompt)
        assert.deepStrictEqual(runs, [])

        yield* chat.setHistory(asking)
        const again = yield* chat.send(answers)
        assert.sameDeepMembers(again.results.map((part) => part.result), [{ deleted: "a" }, { deleted: "b" }])
        assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b"])
      }
    )
  }

  C.everyWay(
    "L10 B17 open requests without a toolkit: no defect, nothing runs, and they can still be answered",
    function*(way) {
      const { answers, asking, chat, runs } = yield* begin(way)
      yield* chat.send([], { toolkit: "none" })
      assert.deepStrictEqual(runs, [])
      yield* chat.setHistory(asking)
      yield* chat.send(answers)
      assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b"])
    }
  )
})

describe("a call that was decided, told again where it cannot run", () => {
  const ways = {
    "without a toolkit": { toolkit: undefined },
    "by a caller who resolves calls": { disableToolCallResolution: true }
  }
  for (const [how, over] of Object.entries(ways)) {
    Support.forEachMode(`L2 the recorded result of a call that ran is given ${how}`, function*(mode) {
      const { options, request, script, tools } = yield* Asked.deletion(mode)
      const prompt = Support.answers(Approval.approve(request))
      const first = yield* Support.takeTurn(mode, { ...options, prompt })
      const again = yield* Support.takeTurn(mode, { ...options, ...over, prompt })
      assert.deepStrictEqual(again.results.map((part) => [part.id, part.isFailure, part.encodedResult]), [
        ["c1", false, { deleted: true }]
      ])
      assert.deepStrictEqual(
        [again.requests, again.text, tools.runs.length, yield* script.calls],
        [[], first.text, 1, 2]
      )
    })

    Support.forEachMode(
      `L2 a call that still runs is waited for, and nobody is asked about it again, ${how}`,
      function*(mode) {
        const hold = yield* Support.makeHold
        const { options, request, script, tools } = yield* Asked.deletion(mode, {
          handlers: { DeleteFile: () => Effect.as(hold.wait, { deleted: true }) }
        })
        const prompt = Support.answers(Approval.approve(request))
        const running = yield* Effect.forkChild(Support.takeTurn(mode, { ...options, prompt }))
        yield* hold.entered
        const meanwhile = yield* Effect.forkChild(Support.takeTurn(mode, { ...options, ...over, prompt }))
        yield* Support.idle
        assert.deepStrictEqual([meanwhile.pollUnsafe(), yield* script.calls], [undefined, 0])
        yield* hold.release
        for (const turn of [yield* Fiber.join(running), yield* Fiber.join(meanwhile)]) {
          assert.deepStrictEqual(turn.results.map(({ encodedResult }) => encodedResult), [{ deleted: true }])
          assert.deepStrictEqual([turn.requests, turn.text], [[], "done"])
        }
        assert.strictEqual(tools.runs.length, 1)
      }
    )
  }

  Support.forEachMode("L10 a request that nobody answered stays open on a turn without a toolkit", function*(mode) {
    const { asked, options, request, script } = yield* Asked.deletion(mode)
    const [poll, lines] = yield* logged(Support.takeTurn(mode, { ...options, toolkit: undefined }))
    assert.deepStrictEqual([poll.requests, poll.results, lines], [asked.requests, [], []])
    assert.strictEqual(yield* script.calls, 0)
    const [answered, warnings] = yield* logged(
      Support.takeTurn(mode, { ...options, toolkit: undefined, prompt: Support.answers(Approval.approve(request)) })
    )
    assert.include(Support.failureReason(answered.results[0]), "No toolkit was given on this turn")
    assert.deepStrictEqual(warnings.map(({ level }) => level), ["Warn"])
    assert.match(warnings[0]!.text, /approval of "DeleteFile" .* without a toolkit.*ass the toolkit of the turn/)
  })
})

describe("L2 L10 a run that ended unknown", () => {
  const Save = Tool.make("Save", {
    parameters: { path: Schema.String },
    success: Schema.String,
    needsApproval: true
  }).annotate(Tool.Idempotent, true)
  const Changed = Tool.make("Save", {
    parameters: { path: Schema.String, mode: Schema.optionalKey(Schema.String) },
    success: Schema.String,
    needsApproval: true
  }).annotate(Tool.Idempotent, true)

  for (const [what, tool, runs] of [["changed", Changed, 0], ["is the same", Save, 1]] as const) {
    Support.forEachMode(`L2 L10 is repeated only for the tool that was approved: it ${what}`, function*(mode) {
      const hold = yield* Support.makeHold
      const first = yield* Support.makeTools([Save as never], {
        Save: () => hold.wait.pipe(Effect.andThen(Effect.interrupt))
      })
      const asked = yield* Support.ask(mode, {
        toolkit: first.toolkit,
        calls: [Support.call("c1", "Save", { path: "a" })]
      })
      const { model } = yield* Support.answering
      const prompt = Support.answers(Approval.approve(asked.requests[0]!))
      yield* hold.release
      const options = { model, history: asked.history, prompt }
      yield* Effect.exit(Support.takeTurn(mode, { ...options, toolkit: first.toolkit }))
      assert.strictEqual(first.runs.length, 1)
      const second = yield* Support.makeTools([tool as never])
      const turn = yield* Support.takeTurn(mode, { ...options, toolkit: second.toolkit })
      assert.deepStrictEqual([second.runs.length, turn.results[0]?.isFailure], [runs, runs === 0])
    })
  }
})
