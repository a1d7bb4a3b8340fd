/**
 * L12, generateObject with a pending approval fails with `ApprovalRequired` carrying requests and content; it wins over
 * parse errors; siblings do not run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Ref, Schema } from "effect"
import { Telemetry } from "effect/ai"
import { Approval, ApprovalController, Chat, LanguageModel, Prompt, Response, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

const schema = Schema.Struct({ count: Schema.Number })
const object = `{"count":2}`

const services: Record<string, (script: ScriptedModel.ScriptedModel) => Effect.Effect<LanguageModel.LanguageModel>> = {
  "our make": (script) => LanguageModel.make(script.params),
  "a foreign service": (script) => Effect.succeed(LanguageModel.withApproval(script.model)),
  "a bare service": (script) => Effect.succeed(script.model)
}

const begin = Effect.fnUntraced(function*(name: string, turns: C.StartOptions["turns"]) {
  const { runs, toolkit } = yield* C.fileTools
  const script = yield* ScriptedModel.make({ turns })
  const model = yield* services[name]!(script)
  const generate = (prompt: Prompt.RawInput) =>
    LanguageModel.generateObject({ prompt, toolkit, schema }).pipe(
      Effect.provideService(LanguageModel.LanguageModel, model)
    )
  const ask = (prompt: Prompt.RawInput) =>
    Effect.map(
      LanguageModel.generateText({ prompt, toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model)
      ),
      (response) => Prompt.concat(Prompt.make(prompt), Prompt.fromResponseParts(response.content))
    )
  return { ask, generate, model, runs, script, toolkit }
})

const requestsOf = (error: unknown) => {
  const reason = C.approvalErrorOf(error)
  assert.strictEqual(reason._tag, "ApprovalRequired")
  return reason._tag === "ApprovalRequired" ? reason.requests : []
}

for (const name of Object.keys(services)) {
  describe(`L12 generateObject over ${name}`, () => {
    const answers: Record<string, ReadonlyArray<ScriptedModel.TurnPart>> = {
      "with the object besides": [C.deleteCall("c1", "a"), ScriptedModel.text(object)],
      "without any text": [C.deleteCall("c1", "a")],
      "with text that does not parse": [C.deleteCall("c1", "a"), ScriptedModel.text("one moment")],
      "with an object of another shape": [C.deleteCall("c1", "a"), ScriptedModel.text(`{"n":1}`)]
    }
    for (const [title, parts] of Object.entries(answers)) {
      it.effect(`L12 B18 a response ${title} fails with ApprovalRequired, nothing ran, ${name}`, () =>
        C.fresh(Effect.gen(function*() {
          const { generate, runs, script } = yield* begin(name, [parts])
          const requests = requestsOf(yield* Effect.flip(generate("tidy up and count")))
          assert.deepStrictEqual(
            requests.map((request) => [request.toolCallId, request.toolName, request.description]),
            [["c1", "DeleteFile", "DeleteFile(path='a')"]]
          )
          assert.isNotEmpty(requests[0]!.approvalId)
          assert.deepStrictEqual(runs, [])
          assert.strictEqual(yield* script.calls, 1)
        })))
    }

    it.effect(`L12 siblings that need nobody do not run, ${name}`, () =>
      C.fresh(Effect.gen(function*() {
        const { generate, runs } = yield* begin(name, [[C.readCall("r1", "x"), C.deleteCall("c1", "a")]])
        assert.lengthOf(requestsOf(yield* Effect.flip(generate("tidy up and count"))), 1)
        assert.deepStrictEqual(runs, [])
      })))

    it.effect(`L12 all requests of the response are carried, ${name}`, () =>
      C.fresh(Effect.gen(function*() {
        const { generate } = yield* begin(name, [[C.deleteCall("c1", "a"), C.deleteCall("c2", "b")]])
        const requests = requestsOf(yield* Effect.flip(generate("tidy up")))
        assert.deepStrictEqual(requests.map((request) => request.toolCallId), ["c1", "c2"])
      })))

    it.effect(`L12 the error carries the content, so that the program can go on from there, ${name}`, () =>
      C.fresh(Effect.gen(function*() {
        const { generate, runs, script } = yield* begin(name, [[C.deleteCall("c1", "a")], object])
        const reason = C.approvalErrorOf(yield* Effect.flip(generate("tidy up")))
        assert.property(reason, "content")
        const { content } = reason as unknown as { readonly content: ReadonlyArray<Response.AnyPart> }
        const [request] = reason._tag === "ApprovalRequired" ? reason.requests : []
        const response = yield* generate(
          Prompt.make("tidy up").pipe(
            Prompt.concat(Prompt.fromResponseParts(content)),
            Prompt.concat(Prompt.approvalResponses([Approval.approve(request!)]))
          )
        )
        assert.deepStrictEqual(response.value, { count: 2 })
        assert.deepStrictEqual(runs, ["delete a"])
        assert.strictEqual(yield* script.calls, 2)
      })))

    it.effect(`L12 an open request in the history fails it before the model is called, ${name}`, () =>
      C.fresh(Effect.gen(function*() {
        const { ask, generate, runs, script } = yield* begin(name, [[C.deleteCall("c1", "a")], object])
        const history = yield* ask("tidy up")
        assert.lengthOf(requestsOf(yield* Effect.flip(generate(history))), 1)
        assert.strictEqual(yield* script.calls, 1)
        assert.deepStrictEqual(runs, [])
      })))

    it.effect(`L12 answered requests are carried out, then the object comes, ${name}`, () =>
      C.fresh(Effect.gen(function*() {
        const { ask, generate, runs, script } = yield* begin(name, [
          [C.deleteCall("c1", "a"), C.deleteCall("c2", "b")],
          object
        ])
        const history = yield* ask("tidy up")
        const [first, second] = LanguageModel.collectToolApprovals(history.content).pending
        const response = yield* generate(Prompt.concat(
          history,
          Prompt.approvalResponses([Approval.approve(first!), Approval.deny(second!, "keep b")])
        ))
        assert.deepStrictEqual(response.value, { count: 2 })
        assert.deepStrictEqual(runs, ["delete a"])
        assert.deepStrictEqual(response.content.map((part) => part.type), [
          "tool-result",
          "tool-result",
          "text",
          "finish"
        ])
        for (const { prompt } of yield* script.requests) C.assertWellFormed(prompt)
      })))

    it.effect(`L12 without a gated call: tools run and the object comes, as upstream has it, ${name}`, () =>
      C.fresh(Effect.gen(function*() {
        const { generate, runs } = yield* begin(name, [[C.readCall("r1", "x"), ScriptedModel.text(object)]])
        const response = yield* generate("read and count")
        assert.deepStrictEqual(response.value, { count: 2 })
        assert.deepStrictEqual(runs, ["read x"])
      })))

    it.effect(`L12 a response that does not parse, without a gated call, is still a parse error, ${name}`, () =>
      C.fresh(Effect.gen(function*() {
        const { generate } = yield* begin(name, ["one moment"])
        const error = yield* Effect.flip(generate("count"))
        assert.notStrictEqual(error.reason._tag, "InvalidRequestError")
      })))
  })
}

describe("L12 with a controller", () => {
  const controllers: Record<string, readonly [ApprovalController.Service, ReadonlyArray<string>]> = {
    "that approves": [ApprovalController.approveAll, ["delete a"]],
    "that denies": [ApprovalController.strict, []],
    "that answers inline": [ApprovalController.interactive(() => true), ["delete a"]]
  }
  for (const [title, [controller, expected]] of Object.entries(controllers)) {
    it.effect(`L12 a controller ${title}: nothing waits, the object comes`, () =>
      C.fresh(Effect.gen(function*() {
        const { generate, runs } = yield* begin("a foreign service", [[
          C.deleteCall("c1", "a"),
          ScriptedModel.text(object)
        ]])
        const response = yield* generate("tidy up").pipe(
          Effect.provideService(ApprovalController.ApprovalController, controller)
        )
        assert.deepStrictEqual(response.value, { count: 2 })
        assert.deepStrictEqual(runs, expected)
      })))
  }
})

describe("L12 and provider-executed calls", () => {
  it.effect("L12 L9 a request of the provider's fails it too", () =>
    C.fresh(Effect.gen(function*() {
      const { generate } = yield* begin("our make", [[
        ScriptedModel.toolCall({ id: "mcp_1", name: "ReadFile", params: { path: "x" }, providerExecuted: true }),
        { type: "tool-approval-request", approvalId: "mcpr_1", toolCallId: "mcp_1" }
      ]])
      const requests = requestsOf(yield* Effect.flip(generate("search")))
      assert.deepStrictEqual(requests.map((request) => [request.approvalId, request.providerExecuted]), [
        ["mcpr_1", true]
      ])
    })))
})

describe("L12 under Chat", () => {
  it.effect("L12 B18 Chat.generateObject fails with ApprovalRequired; the chat goes on", () =>
    C.fresh(Effect.gen(function*() {
      const { model, runs, toolkit } = yield* begin("a foreign service", [[C.deleteCall("c1", "a")], "fine"])
      const chat = yield* Chat.empty
      yield* Effect.gen(function*() {
        const error = yield* Effect.flip(chat.generateObject({ prompt: "tidy up", toolkit, schema }))
        assert.lengthOf(requestsOf(error), 1)
        const response = yield* chat.generateText({ prompt: "never mind", toolkit })
        assert.strictEqual(response.text, "fine")
      }).pipe(Effect.provideService(LanguageModel.LanguageModel, model))
      assert.deepStrictEqual(runs, [])
      C.assertWellFormed(yield* Ref.get(chat.history), { allowPrefill: true })
    })))

  it.effect("L12 L2 what was on record is in the error, and not in the chat as well", () =>
    C.fresh(Effect.gen(function*() {
      const { model, runs, toolkit } = yield* begin("a foreign service", [[C.deleteCall("c1", "a")]])
      const chat = yield* Chat.fromPrompt("Be careful.")
      const before = yield* Ref.get(chat.history)
      // It is on record before a person is asked, and this one does not answer.
      const error = yield* Effect.flip(chat.generateObject({ prompt: "tidy up", toolkit, schema })).pipe(
        Effect.provideService(LanguageModel.LanguageModel, model),
        Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive(() => Effect.fail("away"))
        )
      )
      assert.lengthOf(requestsOf(error), 1)
      assert.deepStrictEqual([yield* Ref.get(chat.history), runs], [before, []])
    })))
})

describe("L12 objects", () => {
  const answer = ScriptedModel.text(object)
  const deleteA = Support.call("c1", "DeleteFile", { path: "a" })
  const readA = Support.call("r1", "ReadFile", { path: "a" })

  const generate = (
    script: ScriptedModel.ScriptedModel,
    options: { readonly toolkit?: Support.AnyToolkit; readonly disableToolCallResolution?: boolean },
    prompt: Prompt.RawInput = "Count."
  ) =>
    LanguageModel.generateObject({ schema, prompt, ...options } as never).pipe(
      Effect.provideService(LanguageModel.LanguageModel, script.model)
    ) as unknown as Effect.Effect<LanguageModel.GenerateObjectResponse<any, { readonly count: number }>, any>

  const begin = (turns: ReadonlyArray<ScriptedModel.Turn>, handlers?: Parameters<typeof Support.makeTools>[1]) =>
    Effect.gen(function*() {
      const { asked, tools } = yield* Support.asking("generateText", [deleteA], [
        Support.DeleteFile,
        Support.ReadFile,
        Tool.make("Fails", { failure: Schema.String }) as Tool.Any
      ], { Fails: () => Effect.fail("broken"), ...handlers })
      const script = yield* ScriptedModel.make({ turns })
      const answered = Prompt.concat(asked.history, Support.answers(Approval.approve(asked.requests[0]!)))
      return { answered, asked, script, tools }
    })

  Support.single("L8 L12 a call of the history that fails the turn fails it before the model is called", function*() {
    const { answered, script, tools } = yield* begin([[answer]], {
      DeleteFile: () => Effect.die(new Error("a bug"))
    })
    const exit = yield* Effect.exit(generate(script, tools, answered))
    assert.deepStrictEqual([exit._tag, yield* script.calls, tools.count("DeleteFile")], ["Failure", 0, 1])
  })

  Support.single("L8 L12 a call of the response that fails the turn fails it, object or not", function*() {
    const { script, tools } = yield* begin([[readA, Support.call("f1", "Fails", {}), answer]])
    assert.strictEqual(yield* Effect.flip(generate(script, tools)), "broken")
    assert.strictEqual(tools.count("ReadFile"), 1)
  })

  Support.single(
    "L5 L12 a request of the history that is open: the error carries what was settled, and the request",
    function*() {
      const { asked, tools } = yield* Support.asking("generateText", [
        deleteA,
        Support.call("c2", "DeleteFile", { path: "b" })
      ])
      const script = yield* Support.answering
      const history = Prompt.concat(asked.history, Support.answers(Approval.approve(asked.requests[0]!)))
      const reason = yield* Support.reasonOf(generate(script, tools, history))
      if (reason._tag !== "ApprovalRequired") return assert.fail(reason._tag)
      assert.deepStrictEqual(reason.content.map((part) => part.type), ["tool-result", "tool-approval-request"])
      assert.deepStrictEqual(reason.requests.map((request) => request.toolCallId), ["c2"])
      // With it the program goes on.
      const next = Prompt.concat(history, Prompt.fromResponseParts(reason.content))
      const turn = yield* Support.takeTurn("generateText", {
        model: script.model,
        toolkit: tools.toolkit,
        history: next,
        prompt: Support.answers(Approval.approve(asked.requests[1]!))
      })
      assert.deepStrictEqual([turn.text, tools.runs.length], ["done", 2])
    }
  )

  Support.single(
    "L12 a caller who resolves calls gets the object, behind what was settled, and nothing runs",
    function*() {
      const { asked, script, tools } = yield* begin([[readA, answer]])
      const history = Prompt.concat(asked.history, Support.answers(Approval.deny(asked.requests[0]!)))
      const response = yield* generate(script, { ...tools, disableToolCallResolution: true }, history)
      assert.deepStrictEqual(response.value, { count: 2 })
      assert.deepStrictEqual(response.content.map((part) => part.type).slice(0, 2), ["tool-result", "tool-call"])
      assert.deepStrictEqual(tools.runs, [])
    }
  )

  Support.single("L12 of a response that was cut nothing runs, and nobody is asked", function*() {
    const { script, tools } = yield* begin([[readA, deleteA, answer, ScriptedModel.finish("length")]])
    const response = yield* generate(script, tools)
    assert.deepStrictEqual(tools.runs, [])
    assert.deepStrictEqual(
      response.content.flatMap((part) => part.type === "tool-result" ? [[part.id, part.isFailure]] : []),
      [["r1", true], ["c1", true]]
    )
    assert.deepStrictEqual(Response.approvalRequests(response.content as never), [])
  })

  Support.single("L12 whoever transforms spans around the call still sees the response", function*() {
    const { script, tools } = yield* begin([[answer]])
    let seen = 0
    yield* generate(script, tools).pipe(
      Effect.provideService(Telemetry.CurrentSpanTransformer, () => void seen++)
    )
    assert.strictEqual(seen, 1)
  })
})
