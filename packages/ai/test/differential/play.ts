/**
 * One small call for an example, made in every way that has to behave alike: to upstream's service, through ours with
 * nothing gated, and through our engine, once for the sake of a gated tool that is never called and once for a policy
 * that says nothing.
 */
import { it } from "@effect/vitest"
import { type AiError, LanguageModel as UpstreamLanguageModel, type Response, type Tool } from "effect/ai"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import { LanguageModel, Toolkit } from "../../src/index.ts"
import { type Story, tell } from "../laws/story.ts"
import * as Observe from "./observe.ts"
import * as Script from "./response.ts"
import * as Tools from "./tools.ts"

// =============================================================================
// Sides
// =============================================================================

export interface Side {
  readonly name: "upstream" | "straight" | "engine, gated tool" | "engine, silent policy"
  readonly ours: boolean
  /** Whether our engine resolves the calls. */
  readonly engine: boolean
  readonly path: Observe.Path
}

export const upstream: Side = { name: "upstream", ours: false, engine: false, path: "straight" }
export const straight: Side = { name: "straight", ours: true, engine: true, path: "straight" }
export const gated: Side = { name: "engine, gated tool", ours: true, engine: true, path: "gated" }
export const silent: Side = { name: "engine, silent policy", ours: true, engine: true, path: "silent" }

export const sides: ReadonlyArray<Side> = [upstream, straight, gated, silent]

/** Registers an example for every side and the methods it is about. */
export const everySide = (
  title: string,
  methods: ReadonlyArray<Observe.Method>,
  test: Story<[side: Side, method: Observe.Method]>,
  only: ReadonlyArray<Side> = sides
): void => {
  for (const method of methods) {
    for (const side of only) it.effect(`${title} [${method}, ${side.name}]`, () => tell(test, side, method))
  }
}

export const both = ["generateText", "streamText"] as const

// =============================================================================
// Playing
// =============================================================================

export interface Options {
  readonly method: Observe.Method
  readonly tools: ReadonlyArray<Tool.Any>
  /** In a stream each is a chunk of its own, {@link Script.beat} milliseconds after the one before. */
  readonly content: ReadonlyArray<Response.AllPartsEncoded>
  readonly handlers?: Record<
    string,
    (params: any, context: Toolkit.HandlerContext<any>) => Effect.Effect<any, any, any>
  >
  readonly options?: Record<string, unknown>
  /** What the reader of a stream does with each part. */
  readonly reader?: (part: Response.AnyPart) => Effect.Effect<void>
  /** How the toolkit is given; the resolved one by default. */
  readonly toolkit?: (resolved: AnyToolkit, toolkit: Toolkit.Any) => unknown
  readonly around?: (effect: Effect.Effect<unknown, unknown, any>) => Effect.Effect<unknown, unknown, any>
}

/** What a story of one tool is told with: what the provider writes, and what else is not as always. */
export type Told = readonly [side: Side, method: Observe.Method, content: Options["content"], more?: Partial<Options>]

export type AnyToolkit = Toolkit.WithHandler<Record<string, Tool.Any>>

export interface Span {
  readonly name: string
  readonly parent: string | undefined
  readonly attributes: Record<string, unknown>
  readonly kind: string
  readonly failed: boolean | undefined
}

export interface Played {
  readonly exit: Exit.Exit<unknown, unknown> | undefined
  readonly emitted: ReadonlyArray<Observe.Emitted>
  readonly parts: ReadonlyArray<Response.AnyPart>
  readonly results: ReadonlyArray<Response.ToolResultPart<string, unknown, unknown>>
  readonly requests: ReadonlyArray<Observe.ProviderRequest>
  readonly spans: ReadonlyArray<Span>
  readonly value: unknown
}

export const play = Effect.fnUntraced(function*(side: Side, options: Options): Effect.fn.Return<Played> {
  const requests: Array<Observe.ProviderRequest> = []
  const provider = yield* UpstreamLanguageModel.make(hooksOf(options.content, requests))
  const tools = side.path === "gated" ? [...options.tools, Tools.Wipe] : options.tools
  const kit = Toolkit.make(...(tools as ReadonlyArray<typeof Tools.Wipe>))
  const handlers = {
    ...Object.fromEntries(tools.map(({ name }) => [name, () => Effect.succeed("ran")])),
    ...options.handlers
  }
  const layer = kit.toLayer(handlers as never)
  const resolved = (yield* Effect.provide(kit, layer)) as unknown as AnyToolkit
  const request = {
    prompt: "Go on.",
    toolkit: options.toolkit === undefined ? resolved : options.toolkit(resolved, kit),
    ...(options.method === "generateObject" ? { schema: Script.Answer } : {}),
    ...options.options
  }
  const emitted: Array<Observe.Emitted> = []
  let value: unknown
  const emit = (part: Response.AnyPart) => Effect.map(Tools.now, (at) => void emitted.push({ at, part }))
  const read = options.reader ?? (() => Effect.void)
  const service = side.ours ? LanguageModel : UpstreamLanguageModel
  const call: Effect.Effect<unknown, unknown, UpstreamLanguageModel.LanguageModel> = options.method === "streamText"
    ? Stream.runForEach(
      service.streamText(request as never) as Stream.Stream<Response.AnyPart>,
      (part) => Effect.andThen(emit(part), read(part))
    )
    : Effect.flatMap(
      (service[options.method] as (options: unknown) => unknown)(request) as Effect.Effect<
        UpstreamLanguageModel.GenerateObjectResponse<Record<string, Tool.Any>, unknown>
      >,
      (response) => {
        value = response.value
        return Effect.forEach(response.content, emit, { discard: true })
      }
    )
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const around = options.around ?? ((effect) => effect)
  const { exit } = yield* Observe.run(
    around(call).pipe(
      Effect.provide(layer),
      Effect.provideService(UpstreamLanguageModel.LanguageModel, provider),
      side.ours ? Observe.withPolicy(side.path) : (effect) => effect,
      Effect.withTracer(tracer)
    ) as Effect.Effect<unknown, unknown>
  )
  const parts = emitted.map(({ part }) => part)
  return {
    exit,
    emitted,
    parts,
    results: parts.filter((part) => part.type === "tool-result"),
    requests,
    spans: spans.map(toSpan),
    value
  }
})

const hooksOf = (
  content: Options["content"],
  requests: Array<Observe.ProviderRequest>
): Parameters<typeof UpstreamLanguageModel.make>[0] => ({
  generateText: (options) =>
    Effect.as(
      Observe.recordRequest(requests, "generateText", options),
      content.slice() as Array<Response.PartEncoded>
    ),
  streamText: (options) =>
    Stream.unwrap(
      Effect.as(
        Observe.recordRequest(requests, "streamText", options),
        Stream.fromIterable(content, { chunkSize: 1 }).pipe(
          Stream.mapArrayEffect((chunk) => Effect.as(Effect.sleep(Script.beat), chunk)),
          Stream.concat(Stream.fromEffectDrain(Effect.sleep(Script.beat)))
        ) as Stream.Stream<Response.StreamPartEncoded, AiError.AiError>
      )
    )
})

const toSpan = (span: Tracer.Span): Span => ({
  name: span.name,
  parent: Option.match(span.parent, {
    onNone: () => undefined,
    onSome: (parent) => parent._tag === "Span" ? parent.name : "external"
  }),
  attributes: Object.fromEntries(span.attributes),
  kind: span.kind,
  failed: span.status._tag === "Ended" ? span.status.exit._tag === "Failure" : undefined
})

// =============================================================================
// Writing and reading
// =============================================================================

export const call = (id: string, name: string, params: unknown = {}): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id,
  name,
  params
})

/** What the provider gave for a call it ran, which the toolkit's own `WebSearch` cannot read. */
export const undecodable = (id: string): Response.ToolResultPartEncoded => ({
  type: "tool-result",
  id,
  name: "WebSearch",
  result: { hits: "many" },
  isFailure: false,
  providerExecuted: true
})

export const text = (method: Observe.Method, text: string): Response.AllPartsEncoded =>
  method === "streamText" ? { type: "text-delta", id: "t", delta: text } : { type: "text", text }

export const finish = (reason: Response.FinishReason): Response.FinishPartEncoded => ({
  type: "finish",
  reason,
  usage: {
    inputTokens: { uncached: 1, total: 1, cacheRead: 0, cacheWrite: 0 },
    outputTokens: { total: 1, text: 1, reasoning: 0 }
  }
})

/** `type` or, for a call and its result, `call id` and `result id`. */
export const outline = (parts: ReadonlyArray<Response.AnyPart>): ReadonlyArray<string> =>
  parts.map((part) => {
    if (part.type === "tool-call") return `call ${part.id}`
    if (part.type !== "tool-result") return part.type
    return `${part.preliminary ? "preliminary" : part.isFailure ? "failure" : "result"} ${part.id}`
  })

/** The first thing a call failed with, or the defect it died of. */
export const failureOf = ({ exit }: Played): unknown => {
  if (exit?._tag !== "Failure") return undefined
  const reason = exit.cause.reasons[0]!
  return Cause.isFailReason(reason) ? reason.error : Cause.isDieReason(reason) ? reason.defect : "interrupted"
}

export const endingOf = ({ exit }: Played): unknown => Observe.endingOf(exit)
