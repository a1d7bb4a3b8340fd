/**
 * The law search over the bridge: what the plans script is played by a model of the provider interface, which the bridge
 * stands in front of. The laws read what the engine sends; that the same reaches the model is checked here.
 */
import type * as Provider from "@ai-sdk/provider"
import { MockLanguageModelV4 } from "ai/test"
import { type Context, Effect, Stream } from "effect"
import type { LanguageModel, Response } from "effect/ai"
import type * as Plan from "../../../ai/test/search/plan.ts"
import * as Turn from "../../../ai/test/search/turn.ts"
import * as Hooks from "../../src/internal/hooks.ts"
import * as Wire from "./wire.ts"

/** What the model was sent that its interface does not take, or that the engine did not say. */
export type Problems = Set<string>

/** Puts the bridge between the engine and the provider of each turn. */
export const within = (problems: Problems) => <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.provideService(self, Turn.Between, (params, context) => ({
    ...params,
    generateText: (request) => Hooks.make(optionsOf(request, params, context, problems)).generateText(request),
    streamText: (request) => Hooks.make(optionsOf(request, params, context, problems)).streamText(request)
  }))

/**
 * The plans that are about a provider of this kind. It cannot say what a call is about, a response of it always ends, it
 * gets every prompt whole, and it runs only what is in the toolkit.
 */
export const adapt = (plan: Plan.Plan): Plan.Plan => {
  const hosts = plan.steps.some((step) => step._tag === "Turn" && step.model.hosted.length > 0)
  return {
    options: { ...plan.options, provider: "ours", incremental: false },
    steps: plan.steps.map((step) =>
      step._tag !== "Turn" ? step : {
        ...step,
        toolkit: hosts ? "full" : step.toolkit,
        model: {
          ...step.model,
          finish: step.model.finish === "none" ? "complete" : step.model.finish,
          hosted: step.model.hosted.map((call) => ({ ...call, says: false }))
        }
      }
    )
  }
}

const optionsOf = (
  request: LanguageModel.ProviderOptions,
  params: Hooks.Hooks,
  context: Context.Context<never>,
  problems: Problems
): Hooks.Options => {
  const read = ({ prompt }: Provider.LanguageModelV4CallOptions) => {
    for (const problem of Wire.check(prompt, request.prompt)) problems.add(problem)
  }
  return {
    override: Effect.undefined,
    model: new MockLanguageModelV4({
      doGenerate: (options) => {
        read(options)
        return Effect.runPromiseWith(context)(
          Effect.map(params.generateText(request) as Effect.Effect<Array<Response.PartEncoded>>, Wire.result),
          { signal: options.abortSignal }
        )
      },
      doStream: async (options) => {
        read(options)
        const parts = params.streamText(request) as Stream.Stream<Response.StreamPartEncoded>
        return { stream: Stream.toReadableStreamWith(Stream.map(parts, Wire.streamPart), context) }
      }
    })
  }
}
