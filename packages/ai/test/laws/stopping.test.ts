/**
 * A denial that ends the turn (as Claude's `interrupt` does): what was approved still runs, and the model is not called
 * before somebody says something new; the history is one that any provider takes (law L7).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { Approval, ApprovalController, ApprovalMemory, Prompt, Response } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Conversation from "../conversation/support.ts"
import * as C from "./conversation.ts"
import * as H from "./hosted.ts"
import * as M from "./remembered.ts"

const stop = (request: { readonly approvalId: string }, remember?: "session") =>
  Approval.deny(request, "enough", remember === undefined ? { stop: true } : { remember, stop: true })

/** Stops the turn at this path, and approves the others. */
const stopsAt = (path: string, remember?: "session") =>
  M.person((request) => M.pathOf(request) === path ? stop(request, remember) : true)

const answers = (...all: ReadonlyArray<Approval.AnswerInput>) => Prompt.approvalResponses(all)

const ended = (turn: C.Turn) => [Response.isStopped(turn.parts), turn.finishReason, turn.shape.split(" ").at(-1)]

const isStopped = [true, "stop", "finish"]

describe("a denial that ends the turn", () => {
  C.everyWay(
    "given inline: the approved sibling has run, and whoever would go on has nothing to go on with",
    function*(way) {
      const { chat, runs } = yield* M.deleting(way, [["a", "b", "c"], "next"])
      const turn = yield* stopsAt("b").answers(chat.send("go"))
      assert.deepStrictEqual([ended(turn), runs], [isStopped, ["delete a", "delete c"]])
      assert.deepStrictEqual(turn.results.map(({ isFailure }) => isFailure).toSorted(), [false, false, true])
      assert.strictEqual(C.reasonOf(turn.results.find(({ isFailure }) => isFailure)!), "enough")
      // The same history again: nobody is called, and nothing runs twice.
      for (let again = 0; again < 2; again++) assert.deepStrictEqual(ended(yield* chat.send([])), isStopped)
      assert.deepStrictEqual([yield* chat.calls, runs.length], [1, 2])
      const next = yield* chat.send("now something else")
      assert.deepStrictEqual([next.text, Response.isStopped(next.parts)], ["next", false])
      C.assertWellFormed(yield* chat.lastPrompt)
      assert.deepStrictEqual(C.resultsOf(yield* chat.lastPrompt).length, 3)
    }
  )

  C.everyWay("given in the history: the same, and what it leaves open is answered without the model", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a", "b", "c"], "next"])
    const { requests: [a, b, c] } = yield* chat.send("go")
    const waits = yield* chat.send(answers(Approval.approve(a!), stop(b!)))
    assert.deepStrictEqual([waits.requests.map(M.pathOf), waits.finishReason, runs], [["c"], "pause", ["delete a"]])
    const turn = yield* chat.send(answers(Approval.approve(c!)))
    assert.deepStrictEqual([ended(turn), runs, yield* chat.calls], [isStopped, ["delete a", "delete c"], 1])
    assert.strictEqual((yield* chat.send("now something else")).text, "next")
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  C.everyWay("needs no proof, but has to be a denial, of this turn", function*(way) {
    const { runs: ran, toolkit } = yield* C.fileTools
    const forged = yield* C.start({
      way,
      toolkit,
      turns: ["next"],
      history: [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: [
            Prompt.toolCallPart({ id: "c1", name: "DeleteFile", params: { path: "a" }, providerExecuted: false }),
            Prompt.toolApprovalRequestPart({ approvalId: "made-up", toolCallId: "c1" })
          ]
        }
      ]
    })
    const turn = yield* forged.send(answers(stop({ approvalId: "made-up" })))
    assert.deepStrictEqual([ended(turn), turn.results.map(C.reasonOf), ran], [isStopped, ["enough"], []])
    assert.strictEqual((yield* forged.send("and now?")).text, "next")
    for (const assent of [{ stop: false }, { stop: "true" }, { stop: 1 }]) {
      const { chat, runs } = yield* M.deleting(way, [["a"], "next"])
      const { requests: [request] } = yield* chat.send("go")
      const turn = yield* chat.send(M.posted({ approvalId: request!.approvalId, approved: false, assent }))
      assert.deepStrictEqual([turn.text, runs], ["next", []])
    }
    const { chat, runs } = yield* M.deleting(way, [["a"], "next"])
    const { requests: [request] } = yield* chat.send("go")
    const approved = yield* chat.send(
      M.posted({ approvalId: request!.approvalId, approved: true, assent: { stop: true } })
    )
    assert.deepStrictEqual([approved.text, runs], ["next", ["delete a"]])
    const late = yield* M.deleting(way, [["a"], "next"])
    const asked = yield* late.chat.send("go")
    const both = Prompt.concat(answers(stop(asked.requests[0]!)), Prompt.make("and now?"))
    const goesOn = yield* late.chat.send(both)
    assert.deepStrictEqual([goesOn.text, goesOn.results.map(C.reasonOf)], ["next", ["enough"]])
    assert.notProperty(goesOn.results[0]!.metadata.assent, "stop")
  })

  C.everyWay("which comes too late has no effect, and stops nothing", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], "one", "two"])
    const { requests: [request] } = yield* chat.send("go")
    const history = yield* chat.history
    yield* chat.send(answers(Approval.approve(request!)))
    // A history in which it was never answered.
    yield* chat.setHistory(history)
    const turn = yield* chat.send(answers(stop(request!)))
    assert.deepStrictEqual([turn.text, turn.results.map(({ result }) => result), runs], [
      "two",
      [{ deleted: "a" }],
      ["delete a"]
    ])
  })

  C.everyWay("is remembered as a denial that ends nothing", (way) =>
    Effect.gen(function*() {
      const { chat, runs } = yield* M.deleting(way, [["a"], ["a"], "done"])
      const ada = stopsAt("a", "session")
      yield* ada.answers(chat.send("go"))
      const again = yield* ada.answers(chat.send("again"))
      assert.deepStrictEqual([ada.seen, again.results.map(C.reasonOf)], [["a"], ["enough"]])
      assert.isFalse(Response.isStopped(again.parts))
      assert.strictEqual((yield* ada.answers(chat.send([]))).text, "done")
      assert.deepStrictEqual(runs, [])
    }).pipe(Effect.provide(ApprovalMemory.layerSession()), M.inConversation("talk")))

  C.everyWay(
    "of a call that the provider runs: the model is not called, and what it was not told of is asked again",
    function*(way) {
      const inline = yield* H.begin(way, [[...H.asking(1), ...H.asking(2)], "next"])
      const paths: Array<string> = []
      const turn = yield* inline.chat.send("go").pipe(H.withController((request) => {
        paths.push(request.toolCallId)
        return request.toolCallId === "mcp_1" ? stop(request) : true
      }))
      assert.deepStrictEqual([paths, yield* inline.chat.calls], [["mcp_1", "mcp_2"], 1])
      assert.deepStrictEqual(turn.requests.map(({ toolCallId }) => toolCallId), ["mcp_2"])
      assert.deepStrictEqual(turn.results.map(C.reasonOf), ["enough"])
      assert.deepStrictEqual(ended(yield* inline.chat.send(answers(Approval.deny(turn.requests[0]!)))), isStopped)
      assert.strictEqual((yield* inline.chat.send("now something else")).text, "next")
      C.assertWellFormed(yield* inline.chat.lastPrompt, H.allowed)

      const later = yield* H.begin(way, [[...H.asking(1), ...H.asking(2)], "next"])
      yield* later.chat.send("go")
      const posted = answers(stop({ approvalId: "mcpr_1" }), { approvalId: "mcpr_2", approved: true })
      assert.deepStrictEqual(ended(yield* later.chat.send(posted)), isStopped)
      assert.strictEqual((yield* later.chat.send("now something else")).text, "next")
      C.assertWellFormed(yield* later.chat.lastPrompt, H.allowed)
      // Answered before the new message, it still reaches the provider.
      assert.includeMembers([...H.approvals(yield* later.chat.lastPrompt)], ["deny mcpr_1 enough", "approve mcpr_2"])
    }
  )

  C.everyWay("beside a call that the provider runs: nobody is asked about that one, and it stays open", function*(way) {
    const seen: Array<string> = []
    const ada = H.withController((request) => {
      seen.push(request.toolCallId)
      return request.toolCallId === "c1" ? stop(request) : true
    })
    const turns = [[C.deleteCall("c1", "a"), ...H.asking(1)], "next"]
    const inline = yield* H.begin(way, turns)
    const turn = yield* ada(inline.chat.send("go"))
    assert.deepStrictEqual([seen, yield* inline.chat.calls, inline.runs], [["c1"], 1, []])
    assert.deepStrictEqual(turn.requests.map(({ toolCallId }) => toolCallId), ["mcp_1"])

    const later = yield* H.begin(way, turns)
    const { requests } = yield* later.chat.send("go")
    const local = requests.find(({ toolCallId }) => toolCallId === "c1")!
    const again = yield* ada(later.chat.send(answers(stop(local))))
    assert.deepStrictEqual([seen, yield* later.chat.calls, later.runs], [["c1"], 1, []])
    assert.deepStrictEqual(again.requests.map(({ toolCallId }) => toolCallId), ["mcp_1"])
  })

  C.everyWay("of a call that the model has gone on beside: it is told with the next message", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], "meanwhile", "next"], {
      approval: { onNewMessage: "keep" }
    })
    const { requests: [request] } = yield* chat.send("go")
    assert.strictEqual((yield* chat.send("go on without")).text, "meanwhile")
    assert.deepStrictEqual(ended(yield* chat.send(answers(stop(request!)))), isStopped)
    assert.deepStrictEqual([yield* chat.calls, runs], [2, []])
    assert.strictEqual((yield* chat.send("now something else")).text, "next")
    const prompt = yield* chat.lastPrompt
    C.assertWellFormed(prompt)
    assert.deepStrictEqual(C.lateIn(prompt).map(({ isFailure }) => isFailure), [true])
  })

  it.effect.prop(
    "among any answers, at once or later: no more of the model than without, nothing runs but what was approved",
    {
      way: Schema.Literals(C.ways),
      inline: Schema.Boolean,
      said: Schema.Array(Schema.Literals(["yes", "no", "stop", "later"])).check(
        Schema.isMinLength(1),
        Schema.isMaxLength(4)
      )
    },
    ({ inline, said, way }) =>
      C.fresh(Effect.gen(function*() {
        const paths = said.map((_, index) => String(index))
        const { chat, runs } = yield* M.deleting(way, [paths], { script: { afterLastTurn: "said" } })
        const decide = (request: Approval.ApprovalRequest): Approval.ApprovalAnswer | undefined => {
          const word = said[Number(M.pathOf(request))]!
          return word === "yes"
            ? Approval.approve(request)
            : word === "later"
            ? undefined
            : word === "stop"
            ? stop(request)
            : Approval.deny(request)
        }
        const later = new Approval.Info({ note: "later" })
        const first = inline
          ? yield* M.person((request) => decide(request) ?? later).answers(chat.send("go"))
          : yield* Effect.flatMap(chat.send("go"), ({ requests }) =>
            chat.send(answers(...requests.flatMap((request) => decide(request) ?? []))))
        const approved = (words: ReadonlyArray<string>) =>
          paths.filter((path) =>
            words.includes(said[Number(path)]!)
          ).map((path) => `delete ${path}`)
        assert.deepStrictEqual(runs.toSorted(), approved(["yes"]))
        assert.deepStrictEqual(first.requests.map(M.pathOf), paths.filter((path) => said[Number(path)] === "later"))
        const stops = said.includes("stop")
        if (first.requests.length > 0 || inline) {
          const rest = yield* chat.send(answers(...first.requests.map((request) => Approval.approve(request))))
          assert.strictEqual(Response.isStopped(rest.parts), stops)
        }
        assert.deepStrictEqual([runs.toSorted(), yield* chat.calls], [approved(["yes", "later"]), stops ? 1 : 2])
        assert.strictEqual((yield* chat.send("next")).text, "said")
        C.assertWellFormed(yield* chat.lastPrompt)
      })),
    { timeout: 20_000, arbitrary: { runs: 60, seed: "stopping" } }
  )

  it.effect("of what a tool waits for: the tool goes on with the no, and then the turn is over", () =>
    Effect.gen(function*() {
      const submit = ScriptedModel.toolCall({ id: "s1", name: "Submit", params: { item: "chairs", amount: "250" } })
      for (const inline of [true, false]) {
        const { conversation, script, steps } = yield* Conversation.start({ turns: [[submit], "next"] })
        const asked = conversation.send("go")
        const outcome = inline
          ? yield* M.person(stop).answers(asked)
          : yield* conversation.decide(stop(Conversation.requestsOf(yield* asked)[0]!))
        assert.deepStrictEqual([outcome._tag, steps.map(([step]) => step)], ["Stopped", ["start", "manager"]])
        assert.strictEqual(yield* script.calls, 1)
      }
    }).pipe(Effect.scoped))

  it.effect("a conversation is stopped, and goes on when somebody says something", () =>
    Effect.gen(function*() {
      const { conversation, script, steps } = yield* Conversation.start({
        turns: [[Conversation.remove("a"), Conversation.remove("b")], "next"]
      })
      const [a, b] = Conversation.requestsOf(yield* conversation.send("go"))
      const outcome = yield* conversation.decide([
        { approvalId: a!.approvalId, decision: { _tag: "Denied", reason: "enough", stop: true } },
        Approval.approve(b!)
      ])
      assert.deepStrictEqual([outcome._tag, steps], ["Stopped", [["DeleteFile", "b"]]])
      assert.strictEqual((yield* conversation.send([]))._tag, "Stopped")
      assert.strictEqual((yield* Stream.runCollect(conversation.stream([]))).length, 1)
      assert.strictEqual((yield* conversation.outcome)?._tag, "Stopped")
      assert.deepStrictEqual([yield* script.calls, (yield* conversation.pending()).length], [1, 0])
      assert.strictEqual(Conversation.finished(yield* conversation.send("go on")), "next")
      C.assertWellFormed((yield* Conversation.prompts(script)).at(-1)!)
    }).pipe(Effect.scoped))

  it.effect("a conversation is stopped by whoever answers inline, in the middle of its steps", () =>
    Effect.gen(function*() {
      for (const streams of [true, false]) {
        const { conversation, script, steps } = yield* Conversation.start({
          turns: [[Conversation.read("a")], [Conversation.remove("a"), Conversation.read("b")], "next"]
        })
        const turn = streams ? Stream.runDrain(conversation.stream("go")) : conversation.send("go")
        yield* stopsAt("a").answers(turn)
        assert.deepStrictEqual([(yield* conversation.outcome)?._tag, yield* script.calls], ["Stopped", 2])
        assert.deepStrictEqual(steps.map(([name, path]) => `${name} ${path}`), ["ReadFile a", "ReadFile b"])
        assert.strictEqual(Conversation.finished(yield* conversation.send("go on")), "next")
      }
    }).pipe(Effect.scoped))

  it.effect("a program that asks by itself sees that the person wants an end", () =>
    Effect.gen(function*() {
      const decision = yield* ApprovalController.request({ name: "deploy" }).pipe(M.person(stop).answers)
      assert.deepInclude(decision, { _tag: "Denied", note: "enough", stop: true })
    }))
})
