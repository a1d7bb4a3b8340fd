import { anthropic } from "@ai-sdk/anthropic"
import { openai } from "@ai-sdk/openai"
import { type Tool, Toolkit } from "@assent/ai"
import { AiSdkLanguageModel, AiSdkTool } from "@assent/ai-sdk"
import type { Layer } from "effect"
import { describe, expectTypeOf, it } from "vitest"

describe("AiSdkTool", () => {
  it("what the provider runs needs no handler, and what it leaves to the program has one", () => {
    const search = AiSdkTool.make("Search", anthropic.tools.webSearch_20250305({ maxUses: 3 }))
    const bash = AiSdkTool.make("Bash", anthropic.tools.bash_20250124({}))
    expectTypeOf(search.name).toEqualTypeOf<"Search">()
    expectTypeOf<Tool.HandlersFor<{ readonly Search: typeof search }>>().toEqualTypeOf<never>()
    expectTypeOf<Tool.HandlersFor<{ readonly Bash: typeof bash }>>().toEqualTypeOf<Tool.Handler<"Bash">>()
    Toolkit.make(search, bash).toLayer({
      Bash: (params) => {
        expectTypeOf(params).toEqualTypeOf<unknown>()
        return null as never
      }
    })
  })

  it("models of the packages are models", () => {
    const made = AiSdkLanguageModel.layer({ model: openai("gpt-5.2") })
    expectTypeOf(made).toExtend<Layer.Layer<never>>()
    expectTypeOf(anthropic("claude-sonnet-4-5")).toExtend<AiSdkLanguageModel.Model>()
  })
})
