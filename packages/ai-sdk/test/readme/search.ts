import { anthropic } from "@ai-sdk/anthropic"
import { LanguageModel, Toolkit } from "@assent/ai"
import { AiSdkLanguageModel, AiSdkTool } from "@assent/ai-sdk"
import { Console, Effect } from "effect"

const toolkit = Toolkit.make(
  AiSdkTool.make("WebSearch", anthropic.tools.webSearch_20250305({ maxUses: 3 }))
)

const program = Effect.gen(function*() {
  const response = yield* LanguageModel.generateText({ prompt: "What is new in Effect?", toolkit })
  yield* Console.log(response.text)
})

await Effect.runPromise(Effect.provide(program, AiSdkLanguageModel.model(anthropic("claude-sonnet-4-5"))))
