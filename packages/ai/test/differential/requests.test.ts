/** What upstream asks the provider, and ours with it: tools, choice, format, and what it keeps of earlier responses. */
import { assert, describe } from "@effect/vitest"
import { Prompt, ResponseIdTracker, Tool } from "effect/ai"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Play from "./play.ts"

const Read = Tool.make("Read", { parameters: Schema.Struct({ path: Schema.String }), success: Schema.String })
const Write = Tool.make("Write", { parameters: Schema.Struct({ path: Schema.String }), success: Schema.String })

const choices = {
  "nothing said": [undefined, ["Read", "Write"]],
  "\"auto\"": ["auto", ["Read", "Write"]],
  "\"required\"": ["required", ["Read", "Write"]],
  "\"none\"": ["none", ["Read", "Write"]],
  "one tool": [{ tool: "Read" }, ["Read", "Write"]],
  "one of": [{ oneOf: ["Write"] }, ["Write"]],
  "required one of": [{ mode: "required", oneOf: ["Write"] }, ["Write"]]
} as const

describe("requests", () => {
  for (const [title, [toolChoice, tools]] of Object.entries(choices)) {
    Play.everySide(`tool choice, ${title}`, [...Play.both, "generateObject"], function*(side, method) {
      const played = yield* Play.play(side, {
        method,
        tools: [Read, Write],
        content: [{ type: "text", text: "{\"answer\":\"1\"}" }, Play.finish("stop")].filter(({ type }) =>
          method !== "streamText" || type === "finish"
        ) as never,
        options: toolChoice === undefined ? {} : { toolChoice }
      })
      assert.strictEqual(Play.endingOf(played), "success")
      const [request, ...more] = played.requests
      assert.deepStrictEqual(more, [])
      assert.deepStrictEqual(request!.toolChoice, toolChoice ?? "auto")
      // The gated tool is there for the engine alone.
      assert.deepStrictEqual<ReadonlyArray<string>>(request!.tools.filter((name) => name !== "Wipe"), tools)
      assert.strictEqual(request!.responseFormat, method === "generateObject" ? "Answer" : "text")
      assert.strictEqual(
        request!.span.attributes.get("effect.ai.tool_choice"),
        typeof toolChoice === "object" ? JSON.stringify(toolChoice) : toolChoice ?? "auto"
      )
    })
  }

  Play.everySide("a tool choice does not keep other calls from running", Play.both, function*(side, method) {
    const played = yield* Play.play(side, {
      method,
      tools: [Read, Write],
      content: [Play.call("c", "Read", { path: "a" }), Play.finish("tool-calls")],
      options: { toolChoice: { oneOf: ["Write"] } }
    })
    assert.deepStrictEqual(Play.outline(played.results), ["result c"])
  })

  Play.everySide("with a tracker, a second request is incremental", Play.both, function*(side, method) {
    const tracker = yield* ResponseIdTracker.make
    const asked = Prompt.fromMessages([Prompt.userMessage({ content: [Prompt.textPart({ text: "one" })] })])
    const play = (prompt: Prompt.Prompt) =>
      Play.play(side, {
        method,
        tools: [Read],
        content: [
          { type: "response-metadata", id: "response-1" },
          Play.call("c", "Read", { path: "a" }),
          Play.finish("tool-calls")
        ],
        handlers: { Read: () => Effect.succeed("text") },
        options: { prompt },
        around: Effect.provideService(ResponseIdTracker.ResponseIdTracker, tracker)
      })
    const first = yield* play(asked)
    const next = Prompt.concat(Prompt.concat(asked, Prompt.fromResponseParts(first.parts)), "two")
    const second = yield* play(next)
    assert.strictEqual(first.requests[0]!.previousResponseId, undefined)
    assert.strictEqual(second.requests[0]!.previousResponseId, "response-1")
    assert.deepStrictEqual(
      second.requests[0]!.incrementalPrompt?.content.map(({ role }) => role),
      ["tool", "user"]
    )
  })
})
