/** What a stream gives, and when: calls that need nobody start at once, and everything keeps its place. */
import { assert, describe } from "@effect/vitest"
import { Deferred, Effect, Stream } from "effect"
import { LanguageModel } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const readA = Support.call("r1", "ReadFile", { path: "a" })

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

  Support.single("§4 a call that needs nobody starts while the model goes on", function*() {
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
  })

  Support.single(
    "§4 preliminary results of a call that needs nobody come before its last, as they are known",
    function*() {
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
    }
  )

  Support.single(
    "L9 the provider's own request stands right behind its call, and does not wait for the end",
    function*() {
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
    }
  )
})
