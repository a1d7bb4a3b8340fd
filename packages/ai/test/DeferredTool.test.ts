import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { AiError, LanguageModel as UpstreamModel, Prompt as UpstreamPrompt } from "effect/ai"
import { Approval, ApprovalController, DeferredTool, Interaction, Tool, Toolkit } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import * as Support from "./waiting/support.ts"

const toolkitOf = (started: Array<string>, options?: { readonly failureMode?: "error" | "return" }) => {
  const Ask = DeferredTool.make("Ask", {
    parameters: { question: Schema.String },
    success: Schema.String,
    failureMode: options?.failureMode,
    interactions: { text: Interaction.askUser }
  })
  const kit = Toolkit.make(Ask)
  const layer = kit.toLayer({
    Ask: DeferredTool.handler(Ask, {
      start: ({ question }) => {
        started.push(question)
        return Ask.suspend.text({ prompt: question })
      },
      resume: { text: (text) => Effect.succeed(text) }
    })
  })
  return Effect.provide(kit, layer)
}

describe("without the engine", () => {
  for (const failureMode of ["error", "return"] as const) {
    it.effect(`under upstream's own LanguageModel nothing begins, and the call says why (${failureMode})`, () =>
      Effect.gen(function*() {
        const started: Array<string> = []
        const toolkit = yield* toolkitOf(started, { failureMode })
        const { model } = yield* ScriptedModel.make({ turns: [[Support.ask("c1", "Which?")]] })
        const outcome = yield* Effect.result(
          Effect.provideService(
            UpstreamModel.generateText({ prompt: "Go", toolkit }),
            UpstreamModel.LanguageModel,
            model
          )
        )
        const error = outcome._tag === "Failure" ? outcome.failure : outcome.success.toolResults[0]?.result
        assert.isTrue(AiError.isAiError(error), String(error))
        assert.match(String((error as AiError.AiError).message), /ToolConfigurationError|may have to wait/)
        assert.match(String((error as AiError.AiError).message), /@assent\/ai/)
        assert.deepStrictEqual(started, [])
      }))
  }

  it.effect("nor does it under a guarded toolkit without a model", () =>
    Effect.gen(function*() {
      const started: Array<string> = []
      const guarded = Toolkit.guard(yield* toolkitOf(started))
      const error = yield* Effect.flip(
        Effect.flatMap(guarded.handle("Ask", { question: "?" }, "c1"), Stream.runCollect)
      )
      assert.match(String(error), /may have to wait/)
      assert.deepStrictEqual(started, [])
    }))

  it.effect("nor where its handler calls upstream's model with the same tool", () =>
    Effect.gen(function*() {
      const started: Array<string> = []
      const inner = yield* toolkitOf(started)
      const { model } = yield* ScriptedModel.make({ turns: [[Support.ask("c1", "Which?")]] })
      const Outer = DeferredTool.make("Outer", { success: Schema.String, interactions: { a: Interaction.askUser } })
      const kit = Toolkit.make(Outer)
      const toolkit = yield* Effect.provide(
        kit,
        kit.toLayer({
          Outer: DeferredTool.handler(Outer, {
            start: () =>
              UpstreamModel.generateText({ prompt: "Go", toolkit: inner }).pipe(
                Effect.provideService(UpstreamModel.LanguageModel, model),
                Effect.map((response) => response.text)
              ),
            resume: { a: (text) => Effect.succeed(text) }
          })
        })
      )
      const turn = yield* Effect.flip(
        Support.firstTurn("generateText", toolkit as unknown as Support.AnyToolkit, [Support.call("c1", "Outer", {})])
      )
      assert.match(String(turn), /may have to wait/)
      assert.deepStrictEqual(started, [])
    }))
})

describe("a guarded toolkit under the engine", () => {
  Support.once("asks once before it begins, and not again when it goes on", function*() {
    const asked: Array<string> = []
    const { steps, toolkit } = yield* Support.makeWaiting()
    const guarded = Toolkit.guard(toolkit)
    const controller = Effect.provideService(ApprovalController.ApprovalController, {
      ask: (request: Approval.ApprovalRequest) => {
        asked.push(request.interaction)
        return Effect.succeed(
          request.interaction === "approval" ? new Approval.Approved({}) : new Approval.Info({ note: "later" })
        )
      }
    })
    const script = yield* ScriptedModel.make({
      turns: [[Support.call("c1", "Gated", { question: "Size?" })]],
      afterLastTurn: "done"
    })
    const first = yield* controller(
      Support.takeTurn("generateText", { model: script.model, toolkit: guarded, prompt: "Go" })
    )
    const last = yield* Support.takeTurn("generateText", {
      model: script.model,
      toolkit: guarded,
      history: first.history,
      prompt: Support.answers(Approval.answer(Support.only(first), "42"))
    })
    assert.deepStrictEqual(Support.resultsOf(last), [["c1", "Size? 42"]])
    assert.deepStrictEqual([asked, steps.length], [["approval", "askUser"], 2])
  })
})

describe("an approval that changes the parameters", () => {
  Support.once("the tool begins with them, and its result says so, however often it waits", function*() {
    const { steps, toolkit } = yield* Support.makeWaiting()
    const script = yield* ScriptedModel.make({
      turns: [[Support.call("c1", "Gated", { question: "Size?" })]],
      afterLastTurn: "done"
    })
    const first = yield* Effect.provideService(
      Support.takeTurn("generateText", { model: script.model, toolkit, prompt: "Go" }),
      ApprovalController.ApprovalController,
      {
        ask: (request) =>
          Effect.succeed(
            request.interaction === "approval"
              ? new Approval.Approved({ params: { question: "Colour?" } })
              : new Approval.Info({ note: "later" })
          )
      }
    )
    assert.deepStrictEqual(Support.only(first).params, { question: "Colour?" })
    const last = yield* Support.takeTurn("generateText", {
      model: script.model,
      toolkit,
      history: first.history,
      prompt: Support.answers(Approval.answer(Support.only(first), "red"))
    })
    assert.deepStrictEqual(steps, [["start", "Colour?"], ["text", "red", "Colour?"]])
    const [result] = last.results
    assert.match(JSON.stringify(result?.modelOutput), /The call ran with: .*Colour/)
    assert.deepStrictEqual(result?.metadata.assent, {
      approvalId: Support.partsOf(first.history).flatMap((part) =>
        part.type === "tool-approval-request" ? [part.approvalId] : []
      )[0]!,
      edits: [{ op: "replace", path: "/question", value: "Colour?" }],
      decidedBy: { via: "message" }
    })
  })
})

describe("parameters as raw JSON Schema", () => {
  Support.once("are those the model sent", function*() {
    const Query = DeferredTool.from(
      Tool.dynamic("Query", { parameters: { type: "object", properties: { sql: { type: "string" } } } }),
      { state: Schema.Unknown, interactions: { database: Interaction.selectOptions } }
    )
    const kit = Toolkit.make(Query)
    const toolkit = yield* Effect.provide(
      kit,
      kit.toLayer({
        Query: DeferredTool.handler(Query, {
          start: (params) => Query.suspend.database({ prompt: "Which?", options: ["a", "b"] }, params),
          resume: { database: (name, params) => Effect.succeed([name, params]) }
        })
      })
    )
    const script = yield* ScriptedModel.make({
      turns: [[Support.call("c1", "Query", { sql: "select 1" })]],
      afterLastTurn: "done"
    })
    const chat = yield* Support.converse("generateText", {
      model: script.model,
      toolkit: toolkit as unknown as Support.AnyToolkit
    })
    const first = yield* chat.take("Go")
    const last = yield* chat.take(Support.answers(Approval.answer(Support.only(first), "b")))
    assert.deepStrictEqual(Support.resultsOf(last), [["c1", ["b", { sql: "select 1" }]]])
  })
})

describe("describe", () => {
  it("says of each tool what it may wait for, and how that is answered", () => {
    const Pay = DeferredTool.make("Pay", {
      interactions: {
        ok: Interaction.describe(Interaction.getApproval, "the manager's consent"),
        paid: Interaction.webhook(Schema.Struct({ id: Schema.String })),
        later: Interaction.timer,
        booked: Interaction.external(Schema.Boolean),
        which: Interaction.selectOptions
      }
    })
    const described = DeferredTool.describe(Toolkit.make(Pay, Support.ReadFile))
    assert.deepStrictEqual(
      described.map(({ answeredBy, interaction, kind, tool }) => [tool, interaction, kind, answeredBy]),
      [
        ["Pay", "ok", "getApproval", "message"],
        ["Pay", "paid", "webhook", "webhook"],
        ["Pay", "later", "timer", "clock"],
        ["Pay", "booked", "external", "program"],
        ["Pay", "which", "selectOptions", "message"]
      ]
    )
    assert.strictEqual(described[0]?.description, "the manager's consent")
    assert.deepStrictEqual((described[1]!.answerSchema as any).required, ["id"])
    for (const { how } of described) assert.isAbove(how.length, 20)
  })

  it("knows which tools may wait", () => {
    assert.deepStrictEqual([Support.Ask, Support.ReadFile].map(DeferredTool.isDeferred), [true, false])
  })
})

describe("what the model sees", () => {
  Support.once("no state, no prompt and no request", function*() {
    const { chat, first, script } = yield* Support.begin("generateText", [Support.submit("c1")])
    const second = yield* chat.take(Support.answers(Approval.approve(Support.only(first))))
    yield* chat.take(Support.answers(Approval.approve(Support.only(second))))
    const sent = JSON.stringify((yield* script.requests).map(({ prompt }) => UpstreamPrompt.make(prompt).content))
    assert.notMatch(sent, /tool-approval|And you/)
  })
})
