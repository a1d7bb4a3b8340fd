/** Several calls of one turn, in the corners that mutants of `turn.ts`, `stream.ts` and `remembering.ts` showed. */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, ApprovalMemory, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import { asking, begin, done, withController } from "../laws/hosted.ts"
import * as M from "../laws/remembered.ts"
import * as Support from "../laws/support.ts"
import { logged } from "./logs.ts"

describe("how many run at once", () => {
  const gates = { "that were approved": true, "that need nobody": () => false }
  for (const [which, needsApproval] of Object.entries(gates)) {
    for (const [concurrency, expected] of [["unbounded", 12], [2, 2], [1, 1]] as const) {
      Support.forEachMode(`L8 of calls ${which}, ${concurrency}: ${expected} of 12`, (mode) =>
        Effect.gen(function*() {
          let running = 0
          let most = 0
          const Render = Tool.make("Render", { success: Schema.String, needsApproval })
          const tools = yield* Support.makeTools([Render as Tool.Any], {
            Render: () =>
              Effect.gen(function*() {
                most = Math.max(most, ++running)
                yield* Support.idle
                running--
                return "done"
              })
          })
          const calls = Array.from({ length: 12 }, (_, index) => Support.call(`r${index}`, "Render", {}))
          const script = yield* ScriptedModel.make({ turns: [calls], afterLastTurn: "done" })
          const options = { model: script.model, toolkit: tools.toolkit, concurrency }
          const first = yield* Support.takeTurn(mode, { ...options, prompt: "Go on." })
          if (needsApproval === true) {
            const prompt = Support.answers(...first.requests.map((request) => Approval.approve(request)))
            yield* Support.takeTurn(mode, { ...options, history: first.history, prompt })
          }
          assert.deepStrictEqual([tools.runs.length, most], [12, expected])
        }), ["generateText", "streamText"])
    }
  }
})

describe("a response that ends twice", () => {
  for (const [first, second] of [["length", "stop"], ["stop", "length"]] as const) {
    Support.forEachMode(
      `L8 ${first}, then ${second}: it was cut, so nothing gated runs or is asked`,
      (mode) =>
        Effect.gen(function*() {
          const tools = yield* Support.makeTools()
          const turn = yield* Support.ask(mode, {
            toolkit: tools.toolkit,
            calls: [
              Support.call("c1", "DeleteFile", { path: "a" }),
              ScriptedModel.finish(first),
              ScriptedModel.finish(second)
            ]
          })
          assert.deepStrictEqual([turn.requests, tools.runs, turn.results.map((part) => part.isFailure)], [[], [], [
            true
          ]])
        }),
      ["generateText", "streamText"]
    )
  }
})

describe("memory within a turn", () => {
  const gated = { parameters: { path: Schema.String }, success: Schema.String, needsApproval: true } as const
  const toolkit = C.withHandlers(Toolkit.make(Tool.make("DeleteFile", gated), Tool.make("Publish", gated)), {
    DeleteFile: () => Effect.succeed("deleted"),
    Publish: () => Effect.succeed("published")
  })

  M.everyWay(
    "an answer about one tool is none about another with the same parameters",
    (way) =>
      Effect.gen(function*() {
        for (const answer of [M.yes("session"), M.no("no", "session")]) {
          const asked: Array<string> = []
          const ada = M.person((request) => (asked.push(request.toolName), answer))
          const calls = ["DeleteFile", "Publish"].map((name, index) => Support.call(`c${index}`, name, { path: "a" }))
          const chat = yield* C.start({ way, toolkit: yield* toolkit, turns: [calls, "done"] })
          yield* ada.answers(chat.send("go")).pipe(Effect.provide(ApprovalMemory.layerSession()))
          assert.deepStrictEqual(asked, ["DeleteFile", "Publish"])
        }
      })
  )

  M.everyWay("a call that needs nobody uses up none of what was approved", (way) =>
    Effect.gen(function*() {
      const { chat, runs } = yield* M.deleting(way, [["a"], ["a"], ["a"], ["a"]])
      const ada = M.person(() => M.yes({ uses: 1 }))
      yield* ada.answers(chat.send("one"))
      yield* ada.answers(chat.send("two")).pipe(M.withPolicy(() => Approval.preApproved()))
      yield* ada.answers(chat.send("three"))
      assert.lengthOf(ada.seen, 1)
      yield* ada.answers(chat.send("four"))
      assert.deepStrictEqual([ada.seen.length, runs.length], [2, 4])
    }))
})

describe("an answer whose remember cannot be read", () => {
  for (const [approved, runs] of [[true, ["delete a"]], [false, []]] as const) {
    M.everyWay(
      `is ${approved ? "an approval" : "a denial"} like any other, and is not remembered`,
      (way) =>
        Effect.gen(function*() {
          const { chat, runs: ran } = yield* M.deleting(way, [["a"], "done"])
          const policy = M.needs({ rememberable: true })
          const asked = yield* policy(chat.send("go"))
          const { approvalId } = asked.requests[0]!
          const answer = M.posted({ approvalId, approved, assent: { remember: { uses: -1 } } })
          const [, lines] = yield* logged(policy(chat.send(answer)))
          assert.deepStrictEqual([ran, yield* M.listed()], [runs, []])
          assert.match(lines[0]?.text ?? "", /"DeleteFile".*cannot be read, so it is not remembered/)
        })
    )
  }
})

describe("L9 a turn that goes on", () => {
  C.everyWay(
    "L9 the model is told of the local calls of the response, run or blocked, each once",
    (way) =>
      Effect.gen(function*() {
        const { chat, runs } = yield* begin(way, [
          [C.readCall("r1", "x"), C.deleteCall("c1", "a"), ...asking(1)],
          [done(1), ScriptedModel.text("Done.")]
        ])
        const turn = yield* withController(({ approvalId }) => Approval.approve({ approvalId }).decision)(
          chat.send("go")
        ).pipe(M.withPolicy(({ toolName }) => toolName === "DeleteFile" ? Approval.blocked("never") : undefined))
        assert.deepStrictEqual([turn.text, runs], ["Done.", ["read x"]])
        const results = Support.partsOf(yield* chat.lastPrompt).filter((part) => part.type === "tool-result")
        assert.deepStrictEqual(results.map((part) => [part.id, part.isFailure, part.result]), [
          ["r1", false, "x"],
          ["c1", true, { type: "execution-denied", reason: "never" }]
        ])
      })
  )

  C.everyWay(
    "L9 of two hosted calls that wait and are denied, each has its own result",
    (way) =>
      Effect.gen(function*() {
        const { chat } = yield* begin(way, [[...asking(1), ...asking(2)], "Done."])
        yield* chat.send("go")
        const turn = yield* withController(() => false)(chat.send([]))
        assert.deepStrictEqual(turn.results.map(({ id }) => id).toSorted(), ["mcp_1", "mcp_2"])
      })
  )
})
