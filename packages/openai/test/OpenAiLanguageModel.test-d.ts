import type { LanguageModel, Model, Prompt, Response } from "@assent/ai"
import { type OpenAiClient, OpenAiLanguageModel } from "@assent/openai"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import { describe, expectTypeOf, it } from "vitest"

describe("OpenAiLanguageModel", () => {
  it("needs a client and nothing else, and never fails to be made", () => {
    expectTypeOf(OpenAiLanguageModel.make({ model: "gpt-5.2" })).toEqualTypeOf<
      Effect.Effect<LanguageModel.LanguageModel, never, OpenAiClient.OpenAiClient>
    >()
    expectTypeOf(OpenAiLanguageModel.layer({ model: "gpt-5.2" })).toEqualTypeOf<
      Layer.Layer<LanguageModel.LanguageModel, never, OpenAiClient.OpenAiClient>
    >()
    expectTypeOf(OpenAiLanguageModel.model("gpt-5.2")).toEqualTypeOf<
      Model.Model<"openai", LanguageModel.LanguageModel, OpenAiClient.OpenAiClient>
    >()
  })

  it("takes any model, and the fields of OpenAI's by their names", () => {
    void OpenAiLanguageModel.model("a-model-of-tomorrow", {
      store: false,
      reasoning: { effort: "low", summary: "auto" },
      text: { verbosity: "low" },
      temperature: undefined
    })
    // @ts-expect-error what the tools of a turn say is not said twice
    void OpenAiLanguageModel.model("gpt-5.2", { tools: [] })
    // @ts-expect-error a model has one name
    void OpenAiLanguageModel.model("gpt-5.2", { model: "gpt-4.1" })
    // @ts-expect-error no such effort
    void OpenAiLanguageModel.model("gpt-5.2", { reasoning: { effort: "enormous" } })
  })

  it("an override is no requirement", () => {
    const effect = Effect.map(OpenAiLanguageModel.Config, () => 1)
    expectTypeOf(OpenAiLanguageModel.withConfigOverride(effect, { store: false })).toEqualTypeOf<
      Effect.Effect<number>
    >()
    expectTypeOf(effect.pipe(OpenAiLanguageModel.withConfigOverride({ model: "gpt-4.1" }))).toEqualTypeOf<
      Effect.Effect<number>
    >()
  })

  it("what OpenAI says of a part is typed", () => {
    expectTypeOf<NonNullable<Response.TextPart["metadata"]["openai"]>["refusal"]>().toEqualTypeOf<
      string | null | undefined
    >()
    expectTypeOf<NonNullable<Prompt.ToolCallPart["options"]["openai"]>["serverLabel"]>().toEqualTypeOf<
      string | null | undefined
    >()
    expectTypeOf<NonNullable<Response.FinishPart["metadata"]["openai"]>["serviceTier"]>().toEqualTypeOf<
      string | null | undefined
    >()
    expectTypeOf<NonNullable<Prompt.FilePart["options"]["openai"]>["imageDetail"]>().toEqualTypeOf<
      "auto" | "low" | "high" | "original" | null | undefined
    >()
  })
})
