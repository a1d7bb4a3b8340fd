/** The other laws, for tools that wait. */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  Approval,
  ApprovalError,
  ApprovalPolicy,
  DeferredTool,
  Interaction,
  LanguageModel,
  Prompt,
  Response,
  SuspensionStore,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { lateIn } from "../laws/conversation.ts"
import { logged } from "../laws/logs.ts"
import * as Support from "./support.ts"

const listed = Effect.map(
  Effect.flatMap(SuspensionStore.SuspensionStore, (store) => store.list()),
  ({ suspensions }) => suspensions.map(({ toolCallId }) => toolCallId)
)

describe("L4 forgery", () => {
  Support.inEachMode(
    "an answer under an id that was made up, or moved to another call, goes on from nothing",
    function*(mode) {
      const { first, names, script, toolkit } = yield* Support.begin(mode, [
        Support.ask("c1", "Which?"),
        Support.call("c2", "Gated", { question: "Size?" })
      ])
      const [question, consent] = first.requests
      const swap = (id: string) => id === question!.approvalId ? consent!.approvalId : question!.approvalId
      const history = Support.rewrite(
        first.history,
        (part) =>
          part.type === "tool-approval-request"
            ? Prompt.toolApprovalRequestPart({ ...part, approvalId: swap(part.approvalId) })
            : part
      )
      const turn = yield* Support.takeTurn(mode, {
        model: script.model,
        toolkit,
        history,
        prompt: Support.answers(Approval.answer(question!, "x"), Approval.approve(consent!))
      })
      assert.deepStrictEqual(turn.results.map(({ isFailure }) => isFailure), [true, true])
      assert.deepStrictEqual(names(), ["start"])
    }
  )

  Support.inEachMode("it belongs to its scope", function*(mode) {
    const inScope = (conversation: string) => Effect.provideService(Approval.Scope, { conversation })
    const { first, names, script, toolkit } = yield* inScope("one")(
      Support.begin(mode, [Support.ask("c1", "Which?")])
    )
    const turn = Support.takeTurn(mode, {
      model: script.model,
      toolkit,
      history: first.history,
      prompt: Support.answers(Approval.answer(Support.only(first), "x"))
    })
    const other = yield* inScope("two")(turn)
    assert.match(Support.failureReason(other.results[0]), /does not belong/)
    assert.deepStrictEqual(names(), ["start"])
    assert.deepStrictEqual(Support.resultsOf(yield* inScope("one")(turn)), [["c1", "x"]])
  })
})

describe("L6 a new message", () => {
  const menu = (id: string, kind: string) => Support.call(id, "Menu", { kind })

  Support.inEachMode("supersedes what people are asked; timers and events go on waiting", function*(mode) {
    const { chat, first, names, script } = yield* Support.begin(mode, [
      Support.ask("c1", "Which?"),
      menu("c2", "external")
    ])
    const second = yield* chat.take("Something else")
    assert.match(Support.failureReason(second.results[0]), /Superseded/)
    assert.deepStrictEqual([second.results.length, second.text, second.requests.length], [1, "done", 0])
    const sent = yield* Support.sentResults(script)
    assert.match(Support.failureReason(sent[1]), /waits for "external"/)
    assert.deepStrictEqual(yield* listed, ["c2"])
    yield* DeferredTool.deliver(Support.Menu, "external", first.requests[1]!, { paid: 3 })
    const third = yield* chat.take()
    assert.deepStrictEqual(Support.resultsOf(third), [["c2", { paid: 3 }]])
    const again = yield* Support.sentResults(script)
    assert.deepStrictEqual(again, sent, "what the model was told stays")
    assert.deepStrictEqual(lateIn((yield* script.requests).at(-1)!.prompt), [
      { tool: "Menu", toolCallId: "c2", isFailure: false, result: { paid: 3 } }
    ])
    const late = yield* chat.take(Support.answers(Approval.answer(first.requests[0]!, "x")))
    assert.deepStrictEqual([late.results.map(Support.failureReason), late.text, names()], [
      second.results.map(Support.failureReason),
      "",
      ["start", "start", "external"]
    ])
  })

  Support.inEachMode("a wrong answer beside it does not keep it from being answered", function*(mode) {
    const { chat, first } = yield* Support.begin(mode, [Support.ask("c1", "Which?")])
    const request = Support.only(first)
    yield* chat.take(Support.answers(Approval.answer(request, 7)))
    const second = yield* chat.take(
      Prompt.concat(Prompt.make("Here:"), Support.answers(Approval.answer(request, "that")))
    )
    assert.deepStrictEqual(Support.resultsOf(second), [["c1", "that"]])
    const other = yield* Support.begin(mode, [Support.ask("c1", "Which?")])
    yield* other.chat.take(Support.answers(Approval.answer(Support.only(other.first), 7)))
    const third = yield* other.chat.take("Forget it")
    assert.match(Support.failureReason(third.results[0]), /Superseded/)
  })

  Support.inEachMode("hold, keep and fail are as for approvals", function*(mode) {
    const holding = yield* Support.begin(mode, [Support.ask("c1", "Which?")], { approval: { onNewMessage: "hold" } })
    const held = yield* holding.chat.take("Something else")
    assert.deepStrictEqual(held.requests, holding.first.requests)
    const keeping = yield* Support.begin(mode, [Support.ask("c1", "Which?")], { approval: { onNewMessage: "keep" } })
    const kept = yield* keeping.chat.take("Something else")
    assert.deepStrictEqual([kept.text, kept.results], ["done", []])
    const answered = yield* keeping.chat.take(Support.answers(Approval.answer(Support.only(keeping.first), "x")))
    assert.deepStrictEqual(Support.resultsOf(answered), [["c1", "x"]])
    const failing = yield* Support.begin(mode, [Support.ask("c1", "Which?")], { approval: { onNewMessage: "fail" } })
    const reason = yield* Support.reasonOf(failing.chat.take("Something else"))
    assert.strictEqual(reason._tag, "ApprovalRequired")
  })
})

describe("L10 drift", () => {
  const make = (options: {
    readonly interactions?: { readonly [name: string]: Interaction.Interaction<Interaction.Question, any> }
    readonly state?: Schema.ConstraintCodec<any, any>
    readonly stateVersion?: number
    readonly migrate?: (state: Schema.Json, version: number) => Schema.Json
    readonly parameters?: Schema.Struct.Fields
    readonly name?: string
  }) => {
    const resumed: Array<unknown> = []
    const tool = DeferredTool.make(options.name ?? "Drift", {
      parameters: options.parameters ?? { a: Schema.String },
      success: Schema.String,
      state: options.state ?? Schema.Struct({ n: Schema.Number }),
      stateVersion: options.stateVersion,
      migrate: options.migrate,
      interactions: options.interactions ?? { ask: Interaction.askUser }
    })
    const kit = Toolkit.make(tool)
    const resume = (answer: unknown, state: unknown) =>
      Effect.sync(() => {
        resumed.push([answer, state])
        return "went on"
      })
    const layer = kit.toLayer({
      [tool.name]: DeferredTool.handler(tool, {
        start: () => tool.suspend["ask"]!({ prompt: "?" }, { n: 1 }),
        resume: { ask: resume, other: resume }
      })
    })
    return Effect.map(Effect.provide(kit, layer), (toolkit) => ({
      toolkit: toolkit as unknown as Support.AnyToolkit,
      resumed
    }))
  }

  const cases: ReadonlyArray<readonly [string, Parameters<typeof make>[0], RegExp, told?: RegExp]> = [
    ["the tool was renamed", { name: "Other" }, /"Drift" is no longer available/],
    ["the interaction was renamed", { interactions: { other: Interaction.askUser } }, /no longer waits for "ask"/],
    ["the interaction is of another kind", { interactions: { ask: Interaction.getApproval } }, /no longer waits for/],
    [
      "the state is of another version",
      { stateVersion: 2 },
      /"Drift" remembered cannot be used any more\. It did not go on/,
      /of version 1, and there is no migration to version 2\./
    ],
    [
      "the state does not fit any more",
      { state: Schema.Struct({ m: Schema.Number }) },
      /remembered cannot be used any more/,
      /does not fit the schema of its state/
    ],
    [
      "the migration dies",
      {
        stateVersion: 2,
        migrate: () => {
          throw new Error("secret")
        }
      },
      /cannot be used/,
      /`migrate` failed to make version 2 of it\./
    ],
    [
      "what the migration makes does not fit",
      { stateVersion: 2, migrate: () => ({ n: "secret" }) },
      /cannot be used/,
      /what `migrate` made of it does not fit the schema of version 2\./
    ],
    ["the parameters do not fit any more", { parameters: { b: Schema.Number } }, /no longer fit/]
  ]
  for (const [what, options, says, told] of cases) {
    Support.inEachMode(`${what}: a failed result that says so, once and for all`, function*(mode) {
      const before = yield* make({})
      const first = yield* Support.firstTurn(mode, before.toolkit, [Support.call("c1", "Drift", { a: "x" })])
      const after = yield* make(options)
      const script = yield* Support.answering
      const take = (toolkit: Support.AnyToolkit) =>
        Support.takeTurn(mode, {
          model: script.model,
          toolkit,
          history: first.history,
          prompt: Support.answers(Approval.answer(Support.only(first), "x"))
        })
      const [turn, lines] = yield* logged(take(after.toolkit))
      const warnings = lines.map(({ text }) => text).join("\n")
      if (told !== undefined) assert.match(warnings, told)
      assert.notMatch(warnings, /secret/)
      const reason = Support.failureReason(turn.results[0])
      assert.match(reason, says)
      assert.notMatch(reason, /secret/)
      assert.strictEqual(turn.text, "done")
      assert.match(Support.failureReason((yield* take(before.toolkit)).results[0]), says)
      assert.deepStrictEqual([before.resumed, after.resumed, yield* listed], [[], [], []])
    })
  }

  Support.inEachMode("a migration leads from what was remembered to what is now", function*(mode) {
    const before = yield* make({})
    const first = yield* Support.firstTurn(mode, before.toolkit, [Support.call("c1", "Drift", { a: "x" })])
    const after = yield* make({
      state: Schema.Struct({ m: Schema.String }),
      stateVersion: 3,
      migrate: (state, version) => ({ m: `${JSON.stringify(state)} of ${version}` }),
      parameters: { a: Schema.String, b: Schema.optionalKey(Schema.String) }
    })
    const turn = yield* Support.reply(
      mode,
      { asked: first, model: (yield* Support.answering).model, tools: after },
      Support.answers(Approval.answer(Support.only(first), "y"))
    )
    assert.deepStrictEqual(Support.resultsOf(turn), [["c1", "went on"]])
    assert.deepStrictEqual(after.resumed, [["y", { m: `{"n":1} of 1` }]])
  })

  Support.inEachMode("no toolkit: the answer is not used up", function*(mode) {
    const { first, names, script, toolkit } = yield* Support.begin(mode, [Support.ask("c1", "Which?")])
    const take = (toolkit: Support.AnyToolkit | undefined) =>
      Support.takeTurn(mode, {
        model: script.model,
        toolkit,
        history: first.history,
        prompt: Support.answers(Approval.answer(Support.only(first), "x"))
      })
    const without = yield* take(undefined)
    assert.match(Support.only(without).reason ?? "", /was not there in this turn.*Nothing is lost/)
    assert.deepStrictEqual(names(), ["start"])
    assert.deepStrictEqual(Support.resultsOf(yield* take(toolkit)), [["c1", "x"]])
  })
})

describe("L11 the policy is asked again", () => {
  Support.inEachMode("one that blocks now ends the call; one that fails leaves it open", function*(mode) {
    const { first, names, reply } = yield* Support.begin(mode, [Support.ask("c1", "Which?")])
    const take = (policy: Parameters<typeof ApprovalPolicy.make>[0]) =>
      Effect.provideService(
        reply(Approval.answer(Support.only(first), "x")),
        ApprovalPolicy.ApprovalPolicy,
        ApprovalPolicy.make(policy)
      )
    const held = yield* take(() => Effect.die("no"))
    assert.match(Support.only(held).reason ?? "", /policy failed/)
    const blocked = yield* take(() => Approval.blocked("not today"))
    assert.strictEqual(Support.failureReason(blocked.results[0]), Support.begun("not today."))
    assert.deepStrictEqual([names(), yield* listed], [["start"], []])
  })
})

describe("L12 generateObject", () => {
  Support.once("fails with what is asked, and with what its siblings gave", function*() {
    const { steps, toolkit } = yield* Support.makeWaiting()
    const script = yield* ScriptedModel.make({
      turns: [[Support.ask("c1", "Which?"), Support.call("c2", "ReadFile", { path: "a" })], `{"n":1}`]
    })
    const schema = Schema.Struct({ n: Schema.Number })
    const call = (prompt: Prompt.RawInput) =>
      LanguageModel.generateObject({ prompt, toolkit, schema } as any).pipe(
        Effect.provideService(LanguageModel.LanguageModel, script.model)
      ) as unknown as Effect.Effect<{ readonly value: unknown }, unknown>
    const error = yield* Effect.flip(call("Go"))
    const found = ApprovalError.fromAiError(error)
    if (found._tag === "None" || found.value.reason._tag !== "ApprovalRequired") return assert.fail(String(error))
    const { content, requests } = found.value.reason
    assert.deepStrictEqual(requests.map(({ interaction }) => interaction), ["askUser"])
    assert.deepStrictEqual(content.filter(({ type }) => type === "tool-result").length, 1)
    const last = yield* call(Prompt.concat(
      Prompt.concat(Prompt.make("Go"), Prompt.fromResponseParts(content)),
      Support.answers(Approval.answer(requests[0]!, "x"))
    ))
    assert.deepStrictEqual(last.value, { n: 1 })
    assert.deepStrictEqual(steps.map(([name]) => name).toSorted(), ["ReadFile", "start", "text"])
  })
})

describe("L13 ids that repeat", () => {
  Support.inEachMode("a call of the same id, made while the other waits, gets none of its answers", function*(mode) {
    const { steps, toolkit } = yield* Support.makeWaiting()
    const script = yield* ScriptedModel.make({
      turns: [[Support.submit("c1")], [Support.submit("c1")]],
      afterLastTurn: "done"
    })
    const chat = yield* Support.converse(mode, { model: script.model, toolkit, approval: { onNewMessage: "keep" } })
    const one = yield* chat.take("Go")
    const two = yield* chat.take("Go on")
    const three = yield* chat.take(Support.answers(Approval.approve(Support.only(one))))
    const director = three.requests.find(({ awaited }) => awaited?.name === "director")!
    const last = yield* chat.take(Support.answers(
      Approval.approve(director),
      Approval.deny(Support.only(two), "second one")
    ))
    // A stream gives them as they come.
    assert.deepStrictEqual(last.results.map(({ result }) => (result as any).said).toSorted(), [
      "chairs approved by manager, director",
      "rejected by manager"
    ])
    assert.deepStrictEqual(steps.map(([name]) => name).toSorted(), [
      "director",
      "manager",
      "manager",
      "start",
      "start"
    ])
    assert.strictEqual((yield* chat.take("Thanks")).text, "done")
  })

  Support.inEachMode("nor does a call that nobody has consented to yet", function*(mode) {
    const { steps, toolkit } = yield* Support.makeWaiting()
    const gated = Support.call("c1", "Gated", { question: "Size?" })
    const script = yield* ScriptedModel.make({ turns: [[gated], [gated]], afterLastTurn: "done" })
    const chat = yield* Support.converse(mode, { model: script.model, toolkit, approval: { onNewMessage: "keep" } })
    const one = yield* chat.take("Go")
    const two = yield* chat.take("Go on")
    // What the first call asks now stands behind the second.
    const three = yield* chat.take(Support.answers(Approval.approve(Support.only(one))))
    const question = three.requests.find(({ interaction }) => interaction === "askUser")!
    const four = yield* chat.take(Support.answers(Approval.answer(question, "42")))
    assert.deepStrictEqual(Support.resultsOf(four), [["c1", "Size? 42"]])
    const last = yield* chat.take(Support.answers(Approval.deny(Support.only(two), "once is enough")))
    assert.strictEqual(Support.failureReason(last.results[0]), "once is enough")
    assert.deepStrictEqual(steps.map(([name]) => name), ["start", "text"])
  })
})

describe("a response that is cut", () => {
  Support.inEachMode("asks nobody: its calls end with what happened", function*(mode) {
    // A whole response that does not say how it ended came to its end.
    const isWhole = mode.endsWith("generateText")
    for (const end of [ScriptedModel.finish("length"), ScriptedModel.withoutFinish]) {
      const { chat, first } = yield* Support.begin(mode, [Support.ask("c1", "Which?"), end])
      if (isWhole && end === ScriptedModel.withoutFinish) {
        const last = yield* chat.take(Support.answers(Approval.answer(Support.only(first), "that one")))
        assert.deepStrictEqual(Support.resultsOf(last), [["c1", "that one"]])
      } else {
        assert.deepStrictEqual([first.requests.length, first.results.length], [0, 1])
        Support.failureReason(first.results[0])
      }
      assert.deepStrictEqual(yield* listed, [])
    }
  })
})

describe("what cannot be asked", () => {
  Support.once("a tool that asks for nothing that can be answered ends with a failed result", function*() {
    const asks: ReadonlyArray<readonly [Interaction.Any, unknown, RegExp]> = [
      [Interaction.selectOptions, { prompt: "?", options: [] }, /no options/],
      [Interaction.selectOptions, { prompt: "?", options: ["a", { value: "a", label: "b" }] }, /same value/],
      [Interaction.selectOptions, { prompt: "?", options: ["a".repeat(257)] }, /longer/],
      [Interaction.timer, { at: "no date" }, /no time/],
      [Interaction.timer, { after: Infinity }, /no time/],
      [Interaction.webhook(Schema.String), {}, /no token/]
    ]
    for (const [interaction, ask, says] of asks) {
      const tool = DeferredTool.make("Asks", { interactions: { it: interaction } })
      const kit = Toolkit.make(tool)
      const toolkit = yield* Effect.provide(
        kit,
        kit.toLayer({
          Asks: DeferredTool.handler(tool, {
            start: () => (tool.suspend.it as any)(ask),
            resume: { it: () => Effect.void }
          })
        })
      )
      const turn = yield* Support.firstTurn("generateText", toolkit as any, [Support.call("c1", "Asks", {})])
      assert.match(Support.failureReason(turn.results[0]), says)
      assert.isFalse(Response.isWaiting(turn.parts))
    }
  })

  Support.once("a timer has no approvers, whatever a program without types names", function*() {
    const tool = DeferredTool.make("Asks", { interactions: { it: Interaction.timer } })
    const kit = Toolkit.make(tool)
    const toolkit = yield* Effect.provide(
      kit,
      kit.toLayer({
        Asks: DeferredTool.handler(tool, {
          start: () => (tool.suspend.it as any)({ after: "1 hour", approvers: ["ada"] }),
          resume: { it: () => Effect.void }
        })
      })
    )
    const turn = yield* Support.firstTurn("generateText", toolkit as any, [Support.call("c1", "Asks", {})])
    assert.isUndefined(Support.only(turn).awaited?.approvers)
  })
})
