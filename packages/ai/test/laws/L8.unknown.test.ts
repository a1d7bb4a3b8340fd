/**
 * L8: a local call of a tool that is not in the toolkit is a mistake of the model's that it can fix. It gets a failed
 * result that names the tool; its siblings run or are asked about as if it were not there.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalError,
  Conversation,
  LanguageModel,
  Prompt,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

const names = ["Missing", "deletefile", "__proto__", "constructor", "toString", "hasOwnProperty"]

const unknown = (name = "Missing", id = "u1") => Support.call(id, name, { path: "x" })

const assertUnknown = (result: Support.ToolResult | Prompt.ToolResultPart | undefined, name = "Missing") => {
  const reason = Support.failureReason(result)
  assert.include(reason, name)
  assert.match(reason, /no tool|not in the toolkit|not available|unknown|does not exist|no longer available/i)
}

const take = (
  mode: Support.Mode,
  tools: Support.Tools,
  calls: ReadonlyArray<ScriptedModel.TurnPart>
) =>
  Effect.gen(function*() {
    const script = yield* ScriptedModel.make({ turns: [calls], afterLastTurn: "done" })
    const chat = yield* Support.converse(mode, { model: script.model, toolkit: tools.toolkit })
    return { script, chat, turn: yield* chat.take("Go on.") }
  })

describe("L8 a call of a tool that is not in the toolkit", () => {
  for (const name of names) {
    Support.forEachMode(`L8 ${name}, alone: a failed result names it, and the model goes on`, function*(mode) {
      const tools = yield* Support.makeTools()
      const { chat, script, turn } = yield* take(mode, tools, [unknown(name)])
      assert.deepStrictEqual([turn.results.length, turn.requests, turn.waiting], [1, [], false])
      assertUnknown(turn.results[0], name)
      const next = yield* chat.take()
      assert.strictEqual(next.text, "done")
      const sent = yield* Support.sentResults(script)
      assert.lengthOf(sent, 1)
      assertUnknown(sent[0], name)
    })
  }

  const places: Record<
    string,
    (known: ReadonlyArray<ScriptedModel.TurnPart>) => ReadonlyArray<ScriptedModel.TurnPart>
  > = {
    "before": (known) => [unknown(), ...known],
    "between": ([first, ...rest]) => [first!, unknown(), ...rest],
    "behind": (known) => [...known, unknown()]
  }
  for (const [where, place] of Object.entries(places)) {
    const calls = place([
      Support.call("r1", "ReadFile", { path: "a" }),
      Support.call("d1", "DeleteFile", { path: "b" })
    ])

    Support.forEachMode(
      `L8 ${where} others: free ones run, gated ones are asked about and run when approved`,
      function*(mode) {
        const tools = yield* Support.makeTools()
        const { chat, script, turn } = yield* take(mode, tools, calls)
        const results = new Map(turn.results.map((result) => [result.id, result]))
        assert.deepStrictEqual([...results.keys()].toSorted(), ["r1", "u1"])
        assertUnknown(results.get("u1"))
        assert.strictEqual(results.get("r1")!.result, "text of a")
        assert.deepStrictEqual(turn.requests.map(({ toolCallId }) => toolCallId), ["d1"])
        const next = yield* chat.take(Support.answers(Approval.approve(turn.requests[0]!)))
        assert.strictEqual(next.text, "done")
        assert.deepStrictEqual(tools.runs.map(({ name }) => name).toSorted(), ["DeleteFile", "ReadFile"])
        const sent = yield* Support.sentResults(script)
        assert.deepStrictEqual(sent.map(({ id, isFailure }) => [id, isFailure]).toSorted(), [
          ["d1", false],
          ["r1", false],
          ["u1", true]
        ])
      }
    )

    Support.forEachMode(`L8 ${where} others that are approved at once: they run, and the turn ends`, function*(mode) {
      const tools = yield* Support.makeTools()
      const shown: Array<string> = []
      const controller = ApprovalController.interactive((request) => (shown.push(request.toolCallId), true))
      const { turn } = yield* Effect.provideService(
        take(mode, tools, calls),
        ApprovalController.ApprovalController,
        controller
      )
      assert.deepStrictEqual([shown, turn.requests], [["d1"], []])
      assert.deepStrictEqual(turn.results.map(({ id, isFailure }) => [id, isFailure]).toSorted(), [
        ["d1", false],
        ["r1", false],
        ["u1", true]
      ])
      assert.strictEqual(tools.runs.length, 2)
    })
  }

  Support.forEachMode("L8 several of them: each its own result; a long name is cut", function*(mode) {
    const tools = yield* Support.makeTools()
    const long = "M".repeat(10_000)
    const { turn } = yield* take(mode, tools, [unknown("One", "u1"), unknown("Two", "u2"), unknown(long, "u3")])
    const reasons = new Map(turn.results.map((result) => [result.id, Support.failureReason(result)]))
    assert.include(reasons.get("u1"), "One")
    assert.include(reasons.get("u2"), "Two")
    assert.isBelow(reasons.get("u3")!.length, 1_000)
  })
})

// A model may call what it saw called before, or what a server gave that cannot be reached now.
describe("L8 L10 a call of a tool on a turn whose toolkit has none", () => {
  const conversations = {
    "an empty toolkit": { toolkit: Toolkit.empty as never, history: [] },
    "no toolkit, after calls in the history": {
      toolkit: undefined,
      history: Prompt.fromMessages([
        Prompt.userMessage({ content: [Prompt.textPart({ text: "Read it." })] }),
        Prompt.assistantMessage({
          content: [Prompt.toolCallPart({ id: "r1", name: "Missing", params: {}, providerExecuted: false })]
        }),
        Prompt.toolMessage({
          content: [
            Prompt.toolResultPart({
              id: "r1",
              name: "Missing",
              result: "read",
              isFailure: false,
              providerExecuted: false
            })
          ]
        })
      ])
    }
  }
  for (const [which, options] of Object.entries(conversations)) {
    Support.forEachMode(`${which}: a failed result that the model reads, and it goes on`, function*(mode) {
      const script = yield* ScriptedModel.make({
        turns: [[ScriptedModel.text("Let me see."), unknown()]],
        afterLastTurn: "done"
      })
      const chat = yield* Support.converse(mode, { model: script.model, ...options })
      const turn = yield* chat.take("Go on.")
      assert.deepStrictEqual([turn.results.length, turn.requests, turn.text], [1, [], "Let me see."])
      assertUnknown(turn.results[0])
      assert.strictEqual((yield* chat.take()).text, "done")
      assertUnknown((yield* Support.sentResults(script)).at(-1))
    })
  }

  Support.forEachMode("two calls: each has its own result, and the model is asked nothing else", function*(mode) {
    const script = yield* ScriptedModel.make({ turns: [[unknown("One", "u1"), unknown("Two", "u2")]] })
    const chat = yield* Support.converse(mode, { model: script.model, toolkit: Toolkit.empty as never })
    const { results } = yield* chat.take("Go on.")
    assert.deepStrictEqual(results.map(({ id, isFailure }) => [id, isFailure]), [["u1", true], ["u2", true]])
    assert.strictEqual(yield* script.calls, 1)
  })

  Support.forEachMode(
    "the caller's own resolution is the caller's: the call is judged as upstream does",
    function*(mode) {
      const script = yield* ScriptedModel.make({ turns: [[unknown()]] })
      const chat = yield* Support.converse(mode, {
        model: script.model,
        toolkit: Toolkit.empty as never,
        disableToolCallResolution: true
      })
      assert.strictEqual((yield* Effect.flip(chat.take("Go on."))).reason._tag, "InvalidOutputError")
    }
  )

  for (const way of ["send", "stream"] as const) {
    Support.single(`a conversation with an empty toolkit goes on in the same turn, by ${way}`, function*() {
      const script = yield* ScriptedModel.make({ turns: [[unknown()], "Without it, then."] })
      const conversation = yield* Conversation.make({ id: `empty by ${way}`, toolkit: Toolkit.empty }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, script.model)
      )
      yield* way === "send" ? conversation.send("Go on.") : Stream.runDrain(conversation.stream("Go on."))
      const sent = yield* Support.sentResults(script)
      assert.lengthOf(sent, 1)
      assertUnknown(sent[0])
      const last = (yield* conversation.history).content.at(-1)
      assert.deepStrictEqual(last?.content, [Prompt.textPart({ text: "Without it, then." })])
    })
  }
})

const schema = Schema.Struct({ count: Schema.Number })
const object = ScriptedModel.text(`{"count":2}`)

const services: Record<string, (script: ScriptedModel.ScriptedModel) => Effect.Effect<LanguageModel.LanguageModel>> = {
  "our make": (script) => LanguageModel.make(script.params),
  "a foreign service": (script) => Effect.succeed(LanguageModel.withApproval(script.model)),
  "a bare service": (script) => Effect.succeed(script.model)
}

for (const [name, make] of Object.entries(services)) {
  const generate = (calls: ReadonlyArray<ScriptedModel.TurnPart>) =>
    Effect.gen(function*() {
      const { runs, toolkit } = yield* C.fileTools
      const script = yield* ScriptedModel.make({ turns: [calls] })
      const model = yield* make(script)
      const exit = yield* LanguageModel.generateObject({ prompt: "count", toolkit, schema }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model),
        Effect.result
      )
      return { exit, runs }
    })

  describe(`L8 generateObject over ${name}`, () => {
    it.effect(`L8 an unknown tool beside the object: the object is given, with the failed result, ${name}`, () =>
      C.fresh(Effect.gen(function*() {
        const { exit, runs } = yield* generate([unknown(), C.readCall("r1", "a"), object])
        assert.strictEqual(exit._tag, "Success", String(exit))
        if (exit._tag !== "Success") return
        assert.deepStrictEqual([exit.success.value, runs], [{ count: 2 }, ["read a"]])
        const results = exit.success.content.filter((part) => part.type === "tool-result")
        assertUnknown(results.find(({ id }) => id === "u1") as Support.ToolResult | undefined)
      })))

    it.effect(`L8 an unknown tool beside the object, with an empty toolkit: the same, ${name}`, () =>
      C.fresh(Effect.gen(function*() {
        const script = yield* ScriptedModel.make({ turns: [[unknown(), object]] })
        const response = yield* LanguageModel.generateObject({ prompt: "count", toolkit: Toolkit.empty, schema }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, yield* make(script))
        )
        assert.deepStrictEqual(response.value, { count: 2 })
        const [result] = response.content.filter((part) => (part.type as string) === "tool-result")
        assertUnknown(result as unknown as Support.ToolResult)
      })))

    it.effect(`L8 L12 an unknown tool beside a gated one: what is open is asked about, ${name}`, () =>
      C.fresh(Effect.gen(function*() {
        const { exit, runs } = yield* generate([unknown(), C.deleteCall("d1", "a"), object])
        assert.strictEqual(exit._tag, "Failure")
        if (exit._tag !== "Failure") return
        const found = ApprovalError.fromAiError(exit.failure)
        if (found._tag === "None" || found.value.reason._tag !== "ApprovalRequired") {
          return assert.fail(String(exit.failure))
        }
        const { content, requests } = found.value.reason
        assert.deepStrictEqual([requests.map(({ toolCallId }) => toolCallId), runs], [["d1"], []])
        // With what it carries the history is whole: the model hears of its mistake when the other is answered.
        const history = Prompt.concat(Prompt.make("count"), Prompt.fromResponseParts(content))
        const { toolkit } = yield* C.fileTools
        const script = yield* ScriptedModel.make({ turns: ["done"] })
        yield* LanguageModel.generateText({
          prompt: Prompt.concat(history, Prompt.approvalResponses([Approval.deny(requests[0]!)])),
          toolkit
        }).pipe(Effect.provideService(LanguageModel.LanguageModel, yield* make(script)))
        const sent = yield* Support.sentResults(script)
        assert.deepStrictEqual(sent.map(({ id, isFailure }) => [id, isFailure]).toSorted(), [["d1", true], [
          "u1",
          true
        ]])
      })))
  })
}
