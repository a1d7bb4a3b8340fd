/** Who plays the agent: a model in this process, or OpenAI's API. */
import { type AiError, LanguageModel, Toolkit } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { OpenAiClient, OpenAiLanguageModel, OpenAiTool } from "@assent/openai"
import { ResponsesServer } from "@assent/openai/testing"
import { Config, Console, Effect, Layer, Option, Redacted, Schema } from "effect"
import { agent } from "./agent.ts"
import * as Tools from "./tools.ts"
import * as Transcript from "./transcript.ts"

/** A model for the janitor. */
export interface Player {
  readonly model: Layer.Layer<LanguageModel.LanguageModel, AiError.AiError | Config.ConfigError>
  readonly toolkit: typeof Tools.toolkit | typeof withBoard
  /** What is said of it beforehand. */
  readonly note: string | undefined
  /** A person's, where there is none. */
  readonly answers: string
}

// =============================================================================
// In this process
// =============================================================================

export const scripted: Player = {
  // With a provider of yours: AnyProvider.model("its-model").pipe(LanguageModel.approval())
  model: ScriptedModel.layer({
    turns: [({ prompt }) => {
      const done = Transcript.exchanges(prompt)
      const { calls, text, tool } = agent(done)
      return [
        ScriptedModel.text(text),
        ...calls.map((params, index) =>
          ScriptedModel.toolCall({ id: `call-${done.length + index + 1}`, name: tool, params })
        )
      ]
    }],
    afterLastTurn: "repeat"
  }).pipe(LanguageModel.approval()),
  toolkit: Tools.toolkit,
  note: undefined,
  answers: "approve,deny:keep it,approve"
}

// =============================================================================
// OpenAI
// =============================================================================

const name = "gpt-5.2"

/** OpenAI itself where there is a key for it, at OPENAI_BASE_URL where that is set. */
export const openai: Effect.Effect<Player, Config.ConfigError> = Effect.gen(function*() {
  const key = yield* Config.String("OPENAI_API_KEY").pipe(Config.withDefault(""))
  if (key.trim() === "") return openaiHere
  const url = yield* Config.String("OPENAI_BASE_URL").pipe(Config.withDefault(""))
  return {
    model: OpenAiLanguageModel.model(name).pipe(Layer.provide(OpenAiClient.layerConfig())),
    toolkit: Tools.toolkit,
    note: `Provider: OpenAI's ${name}, at ${URL.canParse(url) ? new URL(url).host : "api.openai.com"}`,
    answers: scripted.answers
  }
})

/** A notice board of the household: a hosted MCP server, which OpenAI calls once a person has consented. */
export const withBoard = Toolkit.merge(
  Tools.toolkit,
  Toolkit.make(OpenAiTool.Mcp({ server_label: "board", server_url: "https://board.example.com/mcp" }))
)

/** The same requests over HTTP, to a server that plays OpenAI's API and refuses what that refuses. */
const openaiHere: Player = {
  model: Layer.unwrap(Effect.map(
    ResponsesServer.make({
      turns: [(request) => play(request)],
      afterLastTurn: "repeat",
      mcpServers: {
        board: [{ name: "post", run: () => Effect.as(Console.log("\n  (posted on the board)"), "posted") }]
      }
    }),
    (server) =>
      OpenAiLanguageModel.model(name).pipe(
        Layer.provide(OpenAiClient.layer({ apiKey: Redacted.make(server.apiKey), apiUrl: server.url }))
      )
  )),
  toolkit: withBoard,
  note: "Provider: OpenAI's SDK. There is no OPENAI_API_KEY, so it talks to a server on\n" +
    "this computer, which plays OpenAI's API with a model that follows a script.",
  answers: "approve,deny:keep it,approve,approve"
}

/** The agent as that server sees it, and a note to the household at the end. */
const play = ({ context }: ResponsesServer.TurnRequest): ResponsesServer.Turn => {
  if (context.some(({ type }) => type === "mcp_approval_response")) return "Good bye."
  const done = exchangesOf(context)
  const { calls, text, tool } = agent(done)
  const deleted = done.filter(({ refused, tool }) => tool === "DeleteFile" && refused === undefined).length
  return [
    ResponsesServer.text(text),
    ...calls.map((params) => ResponsesServer.functionCall({ name: tool, params })),
    ...(calls.length > 0 ? [] : [
      ResponsesServer.mcpCall({
        server: "board",
        name: "post",
        params: { text: `The janitor deleted ${deleted} files.` }
      })
    ])
  ]
}

const denied = "The call was denied and did not run. "

const exchangesOf = (context: ResponsesServer.TurnRequest["context"]): ReadonlyArray<Transcript.Exchange> =>
  context.filter(({ type }) => type === "function_call_output").map(({ call_id, output }) => {
    const call = context.find((item) => item["type"] === "function_call" && item["call_id"] === call_id)
    const text = String(output)
    return {
      tool: String(call?.["name"]),
      path: Transcript.pathOf(Option.getOrUndefined(parse(call?.["arguments"]))),
      result: Option.getOrElse(parse(text), () => text),
      refused: text.startsWith(denied) ? text.slice(denied.length) : undefined
    }
  })

const parse = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
