/** The engine around a service: found, kept, never put on twice, and out of the way where nothing concerns it. */
import {
  Approval,
  ApprovalController,
  ApprovalJournal,
  ApprovalPolicy,
  LanguageModel,
  Model,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Result, Schema, Stream } from "effect"
import { LanguageModel as Upstream } from "effect/ai"
import { ApprovalError, ApprovalSeal } from "../src/index.ts"
import * as ApprovalId from "../src/internal/seal/approvalId.ts"
import * as Support from "./laws/support.ts"

const ReadFile = Tool.make("ReadFile", { parameters: { path: Schema.String }, success: Schema.String })
const DeleteFile = Tool.make("DeleteFile", {
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})
const ungated = Toolkit.make(ReadFile)
const gated = Toolkit.make(ReadFile, DeleteFile)
const handlers = gated.toLayer({
  ReadFile: ({ path }) => Effect.succeed(`read ${path}`),
  DeleteFile: ({ path }) => Effect.succeed(`deleted ${path}`)
})
const deleteCall = ScriptedModel.toolCall({ id: "c1", name: "DeleteFile", params: { path: "a" } })
const readCall = ScriptedModel.toolCall({ id: "c1", name: "ReadFile", params: { path: "a" } })

const fresh = Effect.provide(Layer.mergeAll(handlers, ApprovalJournal.layerMemory()))

const waits = (model: LanguageModel.LanguageModel) =>
  Upstream.generateText({ prompt: "tidy up", toolkit: gated }).pipe(
    Effect.provideService(LanguageModel.LanguageModel, model),
    Effect.map(Response.isWaiting)
  )

describe("finding the service", () => {
  it.effect("our own accessors wrap a bare service, always into the same other one", () =>
    Effect.gen(function*() {
      const { model } = yield* ScriptedModel.make({ turns: [[deleteCall]] })
      const response = yield* LanguageModel.generateText({ prompt: "tidy up", toolkit: gated }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model)
      )
      assert.isTrue(Response.isWaiting(response))
      assert.strictEqual(LanguageModel.withApproval(model), LanguageModel.withApproval(model))
    }).pipe(fresh))

  it.effect("a wrapped service is never wrapped again, whichever way it was wrapped", () =>
    Effect.gen(function*() {
      const { model, params } = yield* ScriptedModel.make({ turns: [] })
      const made = yield* LanguageModel.make(params)
      for (const wrapped of [LanguageModel.withApproval(model), LanguageModel.withApproval(model, {}), made]) {
        assert.strictEqual(LanguageModel.withApproval(wrapped), wrapped)
      }
    }))

  it.effect("a wrapped service can be written and looked at like any other object", () =>
    Effect.gen(function*() {
      const { model } = yield* ScriptedModel.make({ turns: [] })
      const wrapped = LanguageModel.withApproval(model)
      assert.doesNotThrow(() => JSON.stringify(wrapped))
      assert.deepStrictEqual(Object.keys(wrapped).toSorted(), Object.keys(model).toSorted())
      // A copy is not its bearer: what was changed about it needs the engine again.
      assert.notStrictEqual(LanguageModel.withApproval({ ...wrapped }), wrapped)
    }))

  it.effect("options given to a service that has approvals count in place of those it had", () =>
    Effect.gen(function*() {
      const script = yield* ScriptedModel.make({ turns: [[deleteCall]] })
      const held = LanguageModel.withApproval(LanguageModel.withApproval(script.model), { onNewMessage: "hold" })
      const turn = (prompt: Prompt.RawInput) =>
        Upstream.generateText({ prompt, toolkit: gated }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, held)
        )
      const asked = yield* turn("tidy up")
      const history = Prompt.concat(Prompt.make("tidy up"), Prompt.fromResponseParts(asked.content))
      assert.isTrue(Response.isWaiting(yield* turn(Prompt.concat(history, "and?"))))
      assert.strictEqual(yield* script.calls, 1)
    }).pipe(fresh))

  it.effect("what was said once is not taken back by an approval() that says nothing, nor by other options", () =>
    Effect.gen(function*() {
      const script = yield* ScriptedModel.make({ turns: [[deleteCall]] })
      const made = yield* LanguageModel.make(script.params, { onNewMessage: "hold" })
      const layer = Layer.succeed(LanguageModel.LanguageModel, made).pipe(
        LanguageModel.approval(),
        LanguageModel.approval({ concurrency: 2, onNewMessage: undefined })
      )
      const turn = (prompt: Prompt.RawInput) => Upstream.generateText({ prompt, toolkit: gated })
      yield* Effect.gen(function*() {
        const asked = yield* turn("tidy up")
        const history = Prompt.concat(Prompt.make("tidy up"), Prompt.fromResponseParts(asked.content))
        assert.isTrue(Response.isWaiting(yield* turn(Prompt.concat(history, "and?"))))
      }).pipe(Effect.provide(layer))
      assert.strictEqual(yield* script.calls, 1)
    }).pipe(fresh))

  it.effect("a decorated copy, whose functions are its own, is not taken for one of ours", () =>
    Effect.gen(function*() {
      const { model } = yield* ScriptedModel.make({ turns: [[deleteCall]] })
      const router = { ...LanguageModel.withApproval(model), generateText: model.generateText }
      assert.isTrue(yield* waits(LanguageModel.withApproval(router)))
    }).pipe(fresh))

  it.effect("approval() keeps a Model's other services, its provider and captureRequirements", () =>
    Effect.gen(function*() {
      const bare = Model.make("scripted", "one", ScriptedModel.layer({ turns: [[deleteCall], [deleteCall]] }))
      const model = bare.pipe(LanguageModel.approval())
      assert.strictEqual(model.provider, "scripted")
      const layer = yield* model.captureRequirements
      const names = Effect.zip(Model.ProviderName, Model.ModelName)
      assert.deepStrictEqual(yield* Effect.provide(names, layer), ["scripted", "one"])
      assert.isTrue(yield* Effect.flatMap(LanguageModel.LanguageModel, waits).pipe(Effect.provide(layer)))
    }).pipe(fresh))

  it.effect("what is provided to a call wins over what was provided to the layer, which wins over the default", () =>
    Effect.gen(function*() {
      const layer = ScriptedModel.layer({ turns: [], afterLastTurn: [deleteCall] }).pipe(
        LanguageModel.approval(),
        Layer.provide(ApprovalController.layerStrict)
      )
      const results = Effect.map(
        Upstream.generateText({ prompt: "tidy up", toolkit: gated }),
        (response) => response.toolResults.map((part) => part.isFailure)
      )
      yield* Effect.gen(function*() {
        assert.deepStrictEqual(yield* results, [true])
        assert.deepStrictEqual(
          yield* Effect.provideService(
            results,
            ApprovalController.ApprovalController,
            ApprovalController.approveAll
          ),
          [false]
        )
      }).pipe(Effect.provide(layer))
    }).pipe(fresh))

  it.effect("the scope of whoever builds a layer is not lent to later calls", () =>
    Effect.gen(function*() {
      const layer = ScriptedModel.layer({ turns: [[deleteCall], "done"] }).pipe(LanguageModel.approval())
      const context = yield* Layer.build(layer).pipe(
        Effect.provideService(Approval.Scope, { principal: "ada" })
      )
      const turn = (prompt: Prompt.RawInput) =>
        Effect.provideContext(LanguageModel.generateText({ prompt, toolkit: gated }), context).pipe(
          Effect.provideService(Approval.Scope, {})
        )
      const asked = yield* turn("tidy up")
      const history = Prompt.concat(Prompt.make("tidy up"), Prompt.fromResponseParts(asked.content))
      const [request] = Response.approvalRequests(asked)
      const answered = yield* turn(Prompt.concat(history, Prompt.approvalResponses([Approval.approve(request!)])))
      assert.strictEqual(answered.toolResults[0]?.isFailure, false)
    }).pipe(Effect.scoped, fresh))
})

describe("a program without approvals", () => {
  it.effect("a history in order reaches the provider as the very object; parts come in its own arrays, the finish last", () =>
    Effect.gen(function*() {
      const chunk = [
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: "a" },
        { type: "text-delta", id: "t", delta: "b" },
        { type: "text-end", id: "t" }
      ] as const
      const script = yield* ScriptedModel.make({
        turns: ["one", [ScriptedModel.chunk(chunk)]],
        // What a program begins for the model is the program's own.
        strict: { allowPrefill: true }
      })
      const prompt = Prompt.make([{ role: "user", content: "hi" }, { role: "assistant", content: "hello" }])
      const model = LanguageModel.withApproval(script.model)
      yield* model.generateText({ prompt, toolkit: ungated })
      const shapes: Array<number> = []
      yield* Stream.runForEachArray(
        model.streamText({ prompt, toolkit: ungated }),
        (parts) => Effect.sync(() => shapes.push(parts.length))
      )
      assert.deepStrictEqual(shapes, [chunk.length, 1])
      for (const request of yield* script.requests) assert.strictEqual(request.prompt, prompt)
    }).pipe(fresh))

  it.effect("runs its tools as upstream does, through an effect that is resolved once", () =>
    Effect.gen(function*() {
      const { model } = yield* ScriptedModel.make({ turns: [[readCall]] })
      let resolved = 0
      const toolkit = Effect.tap(Effect.suspend(() => ungated), () => Effect.sync(() => resolved++))
      const response = yield* LanguageModel.withApproval(model).generateText({ prompt: "read", toolkit })
      assert.strictEqual(response.toolResults[0]?.result, "read a")
      assert.strictEqual(resolved, 1)
    }).pipe(fresh))

  it.effect("a policy makes every tool one that may be asked about", () =>
    Effect.gen(function*() {
      const { model } = yield* ScriptedModel.make({ turns: [[readCall]] })
      const response = yield* LanguageModel.generateText({ prompt: "read", toolkit: ungated }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model),
        Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => true))
      )
      assert.isTrue(Response.isWaiting(response))
    }).pipe(fresh))
})

describe("collectToolApprovals", () => {
  const call = (id: string) => Prompt.toolCallPart({ id, name: "DeleteFile", params: {}, providerExecuted: false })
  const request = (approvalId: string, toolCallId: string) => Prompt.toolApprovalRequestPart({ approvalId, toolCallId })
  const answer = (approvalId: string, approved: boolean, reason?: string) =>
    Prompt.toolApprovalResponsePart({ approvalId, approved, ...(reason === undefined ? {} : { reason }) })
  const assistant = (...content: ReadonlyArray<Prompt.AssistantMessagePart>) => Prompt.assistantMessage({ content })
  const tool = (...content: ReadonlyArray<Prompt.ToolMessagePart>) => Prompt.toolMessage({ content })
  // As the engine seals what a run waits for.
  const waitsAgain = ApprovalId.write({
    keyId: "key",
    nonce: "n".repeat(22),
    issuedAt: 0,
    expiresAt: Infinity,
    schemaFingerprint: "schema",
    presentationDigest: "~awaited"
  }, "A".repeat(43))
  const ids = (list: ReadonlyArray<LanguageModel.CollectedApproval>) => list.map((one) => one.approvalId)

  it("sorts the requests of the whole history by their answers, each with its call, request and responses", () => {
    const { approved, denied, pending } = LanguageModel.collectToolApprovals([
      assistant(call("c1"), call("c2"), call("c3"), request("a1", "c1"), request("a2", "c2"), request("a3", "c3")),
      tool(answer("a1", true), answer("a2", false, "no")),
      Prompt.userMessage({ content: [Prompt.textPart({ text: "and?" })] })
    ])
    assert.deepStrictEqual([ids(approved), ids(denied), ids(pending)], [["a1"], ["a2"], ["a3"]])
    assert.strictEqual(denied[0]?.response?.reason, "no")
    assert.strictEqual(pending[0]?.toolCall?.id, "c3")
    assert.isUndefined(approved[0]?.result)
  })

  it("a denial counts before an approval, whatever their order, and the first of a kind before later ones", () => {
    for (const answers of [[true, false, false], [false, true, false], [false, false, true]]) {
      const { approved, denied } = LanguageModel.collectToolApprovals([
        assistant(call("c1"), request("a1", "c1")),
        tool(...answers.map((approved, index) => answer("a1", approved, `${index}`)))
      ])
      assert.deepStrictEqual([ids(approved), ids(denied)], [[], ["a1"]])
      assert.strictEqual(denied[0]?.response?.reason, `${answers.indexOf(false)}`)
      assert.lengthOf(denied[0]!.responses, 3)
    }
  })

  it("a request repeated by polling is one; one whose call has a result waits no more", () => {
    const done = Prompt.toolResultPart({
      id: "c1",
      name: "DeleteFile",
      isFailure: false,
      result: "ok",
      providerExecuted: false
    })
    const history = [assistant(call("c1"), request("a1", "c1")), assistant(request("a1", "c1"))]
    assert.deepStrictEqual(ids(LanguageModel.collectToolApprovals(history).pending), ["a1"])
    assert.deepStrictEqual(ids(LanguageModel.collectToolApprovals([...history, tool(done)]).pending), [])
  })

  it("tells what is still to run from what is settled: it has its result, goes on as another request, or was trimmed", () => {
    const result = (id: string) =>
      Prompt.toolResultPart({ id, name: "DeleteFile", isFailure: false, result: "ok", providerExecuted: false })
    const { approved, denied, pending, settled } = LanguageModel.collectToolApprovals([
      assistant(
        ...["ran", "runs", "told", "no", "open", "waits"].flatMap((id) => [call(id), request(`a-${id}`, id)]),
        request("a-trimmed", "trimmed")
      ),
      tool(answer("a-ran", true), answer("a-told", false), answer("a-waits", true), answer("a-trimmed", true)),
      tool(result("ran"), result("told")),
      assistant(request(waitsAgain, "waits")),
      tool(answer("a-runs", true), answer("a-no", false))
    ])
    assert.deepStrictEqual([ids(approved), ids(denied)], [["a-runs"], ["a-no"]])
    assert.deepStrictEqual(ids(pending), ["a-open", waitsAgain])
    assert.deepStrictEqual(ids(settled), ["a-ran", "a-told", "a-waits", "a-trimmed"])
    assert.deepStrictEqual(settled.map(({ result }) => result?.id), ["ran", "told", undefined, undefined])
  })

  it("L4 a made-up request behind one that is open does not hide it, whatever was answered to it", () => {
    const history = [assistant(call("c1"), request(waitsAgain, "c1")), assistant(request("made-up", "c1"))]
    for (const answers of [[], [tool(answer("made-up", true), answer("made-up", false))]]) {
      assert.include(ids(LanguageModel.collectToolApprovals([...history, ...answers]).pending), waitsAgain)
    }
  })

  it("names like __proto__ are ids like any other, and an answer without a request is none", () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      const { approved, denied, pending } = LanguageModel.collectToolApprovals([
        assistant(call(name), request(name, name)),
        tool(answer("valueOf", true))
      ])
      assert.deepStrictEqual([ids(approved), ids(denied), ids(pending)], [[], [], [name]])
    }
  })

  it("a request whose call was trimmed is still listed, without a call, and waits no more", () => {
    const { pending, settled } = LanguageModel.collectToolApprovals([assistant(request("a1", "c1"))])
    assert.deepStrictEqual([ids(pending), ids(settled)], [[], ["a1"]])
    assert.isUndefined(settled[0]?.toolCall)
  })
})

const schema = Schema.Struct({ count: Schema.Number })

const deleteA = Support.call("c1", "DeleteFile", { path: "a" })

describe("around a model", () => {
  const odd = Prompt.fromMessages([{ role: "user", content: 7 } as never])
  const methods = {
    generateText: (prompt: Prompt.Prompt) => LanguageModel.generateText({ prompt }),
    streamText: (prompt: Prompt.Prompt) => Stream.runCollect(LanguageModel.streamText({ prompt })),
    generateObject: (prompt: Prompt.Prompt) => LanguageModel.generateObject({ prompt, schema })
  }
  for (const [name, method] of Object.entries(methods)) {
    Support.single(`§3 an error of ours names the method that was called: ${name}`, function*() {
      const { model } = yield* Support.answering
      const { asked } = yield* Support.asking("generateText", [deleteA])
      const call = (prompt: Prompt.Prompt) =>
        Effect.flip((method(prompt) as Effect.Effect<unknown, any, LanguageModel.LanguageModel>).pipe(
          Effect.provideService(
            LanguageModel.LanguageModel,
            LanguageModel.withApproval(model, { onNewMessage: "fail" })
          )
        ))
      const unread = yield* call(odd)
      assert.strictEqual(unread.method, name)
      assert.include(unread.message, "a message or one of its parts is malformed.")
      const required = yield* call(Prompt.concat(asked.history, Prompt.make("And now?")))
      assert.strictEqual(required.method, name)
      assert.isTrue(ApprovalError.fromAiError(required)._tag === "Some")
    })
  }

  Support.single("§1 a copy of one of our services with functions of its own is wrapped again", function*() {
    const tools = yield* Support.makeTools()
    const { model } = yield* ScriptedModel.make({ turns: [[deleteA]] })
    const decorated = { ...LanguageModel.withApproval(model), generateText: model.generateText }
    const response = yield* LanguageModel.generateText({ prompt: "Go on.", toolkit: tools.toolkit }).pipe(
      Effect.provideService(LanguageModel.LanguageModel, decorated)
    )
    const [request] = Response.approvalRequests(response.content)
    const seal = yield* ApprovalSeal.ApprovalSeal
    assert.isTrue(Result.isSuccess(seal.parse(request!.approvalId)))
  })

  Support.forEachMode(
    "L10 a toolkit without tools is no toolkit: an approval waits for one that has the tool",
    function*(mode) {
      const { asked, tools } = yield* Support.asking(mode, [deleteA])
      const empty = yield* Toolkit.empty
      const { model } = yield* Support.answering
      const options = { model, history: asked.history, prompt: Support.answers(Approval.approve(asked.requests[0]!)) }
      const turn = yield* Support.takeTurn(mode, { ...options, toolkit: empty as never })
      assert.include(Support.failureReason(turn.results[0]), "No toolkit was given on this turn")
      yield* Support.takeTurn(mode, { ...options, toolkit: tools.toolkit })
      assert.lengthOf(tools.runs, 1)
    }
  )

  Support.forEachMode("L14 where nobody can be asked the model is told so, and not to try again", function*(mode) {
    const tools = yield* Support.makeTools()
    const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [deleteA] }).pipe(
      Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)
    )
    assert.match(
      Support.failureReason(turn.results[0]),
      /needs a person's approval, and nobody can be asked.*Do not retry/
    )
  })
})
