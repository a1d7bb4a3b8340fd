/**
 * Whole turns: objects, streams, and what is put around a model. Mutants of `internal/generate.ts`, `stream.ts`,
 * `wrap.ts`, and of the seal.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Result, Schema, Stream } from "effect"
import { Telemetry } from "effect/ai"
import {
  Approval,
  ApprovalController,
  ApprovalError,
  ApprovalSeal,
  LanguageModel,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "../../src/index.ts"
import * as Text from "../../src/internal/text.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "../laws/support.ts"

const schema = Schema.Struct({ count: Schema.Number })
const object = ScriptedModel.text(`{"count":2}`)
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

describe("L12 objects", () => {
  const begin = (turns: ReadonlyArray<ScriptedModel.Turn>, handlers?: Parameters<typeof Support.makeTools>[1]) =>
    Effect.gen(function*() {
      const tools = yield* Support.makeTools(
        [Support.DeleteFile, Support.ReadFile, Tool.make("Fails", { failure: Schema.String }) as Tool.Any],
        { Fails: () => Effect.fail("broken"), ...handlers }
      )
      const asked = yield* Support.ask("generateText", { toolkit: tools.toolkit, calls: [deleteA] })
      const script = yield* ScriptedModel.make({ turns })
      const answered = Prompt.concat(asked.history, Support.answers(Approval.approve(asked.requests[0]!)))
      return { answered, asked, script, tools }
    })

  Support.single(
    "L8 L12 a call of the history that fails the turn fails it before the model is called",
    () =>
      Effect.gen(function*() {
        const { answered, script, tools } = yield* begin([[object]], {
          DeleteFile: () => Effect.die(new Error("a bug"))
        })
        const exit = yield* Effect.exit(generate(script, tools, answered))
        assert.deepStrictEqual([exit._tag, yield* script.calls, tools.count("DeleteFile")], ["Failure", 0, 1])
      })
  )

  Support.single(
    "L8 L12 a call of the response that fails the turn fails it, object or not",
    () =>
      Effect.gen(function*() {
        const { script, tools } = yield* begin([[readA, Support.call("f1", "Fails", {}), object]])
        assert.strictEqual(yield* Effect.flip(generate(script, tools)), "broken")
        assert.strictEqual(tools.count("ReadFile"), 1)
      })
  )

  Support.single(
    "L5 L12 a request of the history that is open: the error carries what was settled, and the request",
    () =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* Support.ask("generateText", {
          toolkit: tools.toolkit,
          calls: [deleteA, Support.call("c2", "DeleteFile", { path: "b" })]
        })
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
      })
  )

  Support.single(
    "L12 a caller who resolves calls gets the object, behind what was settled, and nothing runs",
    () =>
      Effect.gen(function*() {
        const { asked, script, tools } = yield* begin([[readA, object]])
        const history = Prompt.concat(asked.history, Support.answers(Approval.deny(asked.requests[0]!)))
        const response = yield* generate(script, { ...tools, disableToolCallResolution: true }, history)
        assert.deepStrictEqual(response.value, { count: 2 })
        assert.deepStrictEqual(response.content.map((part) => part.type).slice(0, 2), ["tool-result", "tool-call"])
        assert.deepStrictEqual(tools.runs, [])
      })
  )

  Support.single("L12 of a response that was cut nothing runs, and nobody is asked", () =>
    Effect.gen(function*() {
      const { script, tools } = yield* begin([[readA, deleteA, object, ScriptedModel.finish("length")]])
      const response = yield* generate(script, tools)
      assert.deepStrictEqual(tools.runs, [])
      assert.deepStrictEqual(
        response.content.flatMap((part) => part.type === "tool-result" ? [[part.id, part.isFailure]] : []),
        [["r1", true], ["c1", true]]
      )
      assert.deepStrictEqual(Response.approvalRequests(response.content as never), [])
    }))

  Support.single("L12 whoever transforms spans around the call still sees the response", () =>
    Effect.gen(function*() {
      const { script, tools } = yield* begin([[object]])
      let seen = 0
      yield* generate(script, tools).pipe(
        Effect.provideService(Telemetry.CurrentSpanTransformer, () => void seen++)
      )
      assert.strictEqual(seen, 1)
    }))
})

describe("§4 streams", () => {
  const streaming = (
    tools: Support.Tools,
    parts: ReadonlyArray<ScriptedModel.TurnPart>,
    options?: ScriptedModel.Options["strict"]
  ) =>
    Effect.map(
      ScriptedModel.make({ turns: [parts], ...(options === undefined ? undefined : { strict: options }) }),
      ({ model }) =>
        LanguageModel.streamText({ prompt: "Go on.", toolkit: tools.toolkit }).pipe(
          Stream.provideService(LanguageModel.LanguageModel, model)
        )
    )

  Support.single("§4 a call that needs nobody starts while the model goes on", () =>
    Effect.gen(function*() {
      const started = yield* Deferred.make<void>()
      const tools = yield* Support.makeTools(undefined, {
        ReadFile: () => Effect.as(Deferred.succeed(started, undefined), "read")
      })
      const stream = yield* streaming(tools, [
        readA,
        ScriptedModel.text("so"),
        ScriptedModel.pause(Deferred.await(started)),
        ScriptedModel.text("on")
      ])
      const parts = yield* Stream.runCollect(stream)
      assert.isTrue(parts.some((part) => part.type === "tool-result"))
    }))

  Support.single(
    "§4 preliminary results of a call that needs nobody come before its last, as they are known",
    () =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const output = (result: string, preliminary: boolean) => ({
          result,
          encodedResult: result,
          isFailure: false,
          preliminary
        })
        const handle = () => Effect.succeed(Stream.make(output("half", true), output("whole", false)))
        const stream = yield* streaming({ ...tools, toolkit: { ...tools.toolkit, handle } as never }, [readA])
        const results = (yield* Stream.runCollect(stream)).flatMap((part) =>
          part.type === "tool-result" ? [[part.preliminary, part.result]] : []
        )
        assert.deepStrictEqual(results, [[true, "half"], [false, "whole"]])
      })
  )

  Support.single(
    "L9 the provider's own request stands right behind its call, and does not wait for the end",
    () =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const stream = yield* streaming(tools, [
          ScriptedModel.toolCall({ id: "p1", name: "Search", params: { query: "a" }, providerExecuted: true }),
          { type: "tool-approval-request", approvalId: "mcpr_1", toolCallId: "p1" },
          ScriptedModel.text("I wait.")
        ])
        const types = (yield* Stream.runCollect(stream)).map((part) => part.type).filter((type) =>
          !type.startsWith("tool-params")
        )
        assert.deepStrictEqual(types.slice(0, 3), ["tool-call", "tool-approval-request", "text-start"])
      })
  )
})

describe("around a model", () => {
  const odd = Prompt.fromMessages([{ role: "user", content: 7 } as never])
  const methods = {
    generateText: (prompt: Prompt.Prompt) => LanguageModel.generateText({ prompt }),
    streamText: (prompt: Prompt.Prompt) => Stream.runCollect(LanguageModel.streamText({ prompt })),
    generateObject: (prompt: Prompt.Prompt) => LanguageModel.generateObject({ prompt, schema })
  }
  for (const [name, method] of Object.entries(methods)) {
    Support.single(`§3 an error of ours names the method that was called: ${name}`, () =>
      Effect.gen(function*() {
        const { model } = yield* Support.answering
        const tools = yield* Support.makeTools()
        const asked = yield* Support.ask("generateText", { toolkit: tools.toolkit, calls: [deleteA] })
        const call = (prompt: Prompt.Prompt) =>
          Effect.flip((method(prompt) as Effect.Effect<unknown, any, LanguageModel.LanguageModel>).pipe(
            Effect.provideService(
              LanguageModel.LanguageModel,
              LanguageModel.withApproval(model, { onNewMessage: "fail" })
            )
          ))
        const unread = yield* call(odd)
        assert.strictEqual(unread.method, name)
        assert.include(unread.message, "a message or one of its parts does not have the form of one.")
        const required = yield* call(Prompt.concat(asked.history, Prompt.make("And now?")))
        assert.strictEqual(required.method, name)
        assert.isTrue(ApprovalError.fromAiError(required)._tag === "Some")
      }))
  }

  Support.single(
    "§1 a copy of one of our services with functions of its own is wrapped again",
    () =>
      Effect.gen(function*() {
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
  )

  Support.forEachMode(
    "L10 a toolkit without tools is no toolkit: an approval waits for one that has the tool",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [deleteA] })
        const empty = yield* Toolkit.empty
        const { model } = yield* Support.answering
        const options = { model, history: asked.history, prompt: Support.answers(Approval.approve(asked.requests[0]!)) }
        const turn = yield* Support.takeTurn(mode, { ...options, toolkit: empty as never })
        assert.include(Support.failureReason(turn.results[0]), "No toolkit was given on this turn")
        yield* Support.takeTurn(mode, { ...options, toolkit: tools.toolkit })
        assert.lengthOf(tools.runs, 1)
      })
  )

  Support.forEachMode(
    "L14 where nobody can be asked the model is told so, and not to try again",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const turn = yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [deleteA] }).pipe(
          Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict)
        )
        assert.match(
          Support.failureReason(turn.results[0]),
          /needs a person's approval, and nobody can be asked.*Do not retry/
        )
      })
  )
})

describe("L4 the scope is sealed, each part of it", () => {
  const parts = ["tenant", "principal", "conversation"] as const
  for (const part of parts) {
    Support.single(
      `L4 an approval given for one ${part} is none for another, nor for nobody's`,
      () =>
        Effect.gen(function*() {
          const seal = yield* ApprovalSeal.ApprovalSeal
          const binding = {
            source: "local",
            toolName: "DeleteFile",
            toolCallId: "c1",
            schemaFingerprint: "v1",
            params: "{}"
          }
          const { approvalId } = yield* seal.seal({ ...binding, scope: { [part]: "one" } })
          yield* seal.verify(approvalId, { ...binding, scope: { [part]: "one" } })
          const others = [
            { [part]: "another" },
            {},
            ...parts.filter((other) => other !== part).map((other) => ({ [other]: "one" }))
          ]
          for (const scope of others) {
            const { reason } = yield* Effect.flip(seal.verify(approvalId, { ...binding, scope }))
            assert.strictEqual(reason._tag, "Forged", JSON.stringify(scope))
          }
        })
    )
  }
})

describe("L15 text that is cut", () => {
  it("L15 is cut at a whole character, with what is missing said", () => {
    const smile = "\u{1f642}"
    const cuts: ReadonlyArray<readonly [text: string, length: number, kept: string]> = [
      ["abc", 3, "abc"],
      ["abcd", 3, "abc… (1 more characters)"],
      [`ab${smile}c`, 3, "ab… (3 more characters)"],
      [`ab${smile}c`, 4, `ab${smile}… (1 more characters)`],
      ["ab\ud800\udc00c", 3, "ab… (3 more characters)"],
      ["ab\udbff\udfffc", 3, "ab… (3 more characters)"],
      ["ab\ud7ffcd", 3, "ab\ud7ff… (2 more characters)"],
      ["ab\ue000cd", 3, "ab\ue000… (2 more characters)"]
    ]
    for (const [text, length, kept] of cuts) assert.strictEqual(Text.truncate(text, length), kept)
  })
})
