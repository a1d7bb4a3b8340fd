/**
 * The engine's view of any language model service: options in, parts out. Upstream's overloads infer tools, errors and
 * services from the caller's options; here they are whatever the caller's were.
 */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

export type AnyTools = Record<string, Tool.Any>
export type Part = Response.Part<AnyTools, "opaque">
export type StreamPart = Response.StreamPart<AnyTools, "opaque">

export type AnyToolkit = Toolkit.WithHandler<AnyTools> | Effect.Effect<Toolkit.WithHandler<AnyTools>, unknown>

export interface Options {
  readonly prompt: Prompt.RawInput
  readonly toolkit?: AnyToolkit | undefined
  readonly toolChoice?: LanguageModel.ToolChoice<string> | undefined
  readonly concurrency?: LanguageModel.GenerateTextOptions<{}>["concurrency"]
  readonly disableToolCallResolution?: boolean | undefined
  readonly toolCallValidation?: "strict" | "deferred" | undefined
}

export interface ObjectOptions extends Options {
  readonly objectName?: string | undefined
  readonly schema: Schema.Top
}

export interface Model {
  readonly generateText: (options: Options) => Effect.Effect<{ readonly content: ReadonlyArray<Part> }, unknown>
  readonly generateObject: (
    options: ObjectOptions
  ) => Effect.Effect<{ readonly value: unknown; readonly content: ReadonlyArray<Part> }, unknown>
  readonly streamText: (options: Options) => Stream.Stream<StreamPart, unknown>
}

/** What the engine always asks of upstream: give me the calls, run none, judge none. */
export const unresolved = { disableToolCallResolution: true, toolCallValidation: "deferred" } as const

export const modelOf = (model: LanguageModel.LanguageModel): Model =>
  // The services of toolkits and schemas stay in the type of the caller's own call, which runs this.
  model as unknown as Model

/** With other services for the calls themselves, which what is around them need not see. */
export const seeing = (
  model: Model,
  services: (current: Context.Context<never>) => Context.Context<never>
): Model => ({
  generateText: (options) => Effect.updateContext(model.generateText(options), services),
  generateObject: (options) => Effect.updateContext(model.generateObject(options), services),
  streamText: (options) => Stream.updateContext(model.streamText(options), services)
})

/** The other way: what the engine makes is called through upstream's overloads. */
export const toService = (
  original: LanguageModel.LanguageModel,
  model: Model
): LanguageModel.LanguageModel =>
  // Same options, same parts: the overloads are upstream's, kept by spreading its service.
  ({ ...original, ...model }) as unknown as LanguageModel.LanguageModel
