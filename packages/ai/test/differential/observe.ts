/**
 * Makes one call as a program makes it, to upstream's service or through ours, and writes down everything that can be
 * seen of it: what came out and when, what the provider was asked, what ran, and how it ended.
 *
 * The clock is the test's. The call starts from a sleep, so that the clock waits for it, and moves on only when nothing
 * is left to do; two observations of one case see the same times.
 */
import {
  type AiError,
  LanguageModel as UpstreamLanguageModel,
  type Prompt,
  type Response,
  type Tool,
  Toolkit
} from "effect/ai"
import type * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import { Approval, ApprovalJournal, ApprovalPolicy, LanguageModel } from "../../src/index.ts"
import * as History from "./history.ts"
import * as Script from "./response.ts"
import type * as Scenario from "./scenario.ts"
import * as Tools from "./tools.ts"

// =============================================================================
// Ways to make a call
// =============================================================================

export const methods = ["generateText", "streamText", "generateObject"] as const

export type Method = (typeof methods)[number]

/**
 * `straight`: no tool is gated. `gated` has a gated tool in the toolkit that is never called, `silent` a policy that says
 * nothing, `approving` one that lets all calls run.
 */
export const paths = ["straight", "gated", "silent", "approving"] as const

export type Path = (typeof paths)[number]

export const underPolicy = (path: Path): boolean => path === "silent" || path === "approving"

/**
 * Whether the engine has the turn at all: not where nobody is to be asked and the caller resolves the calls, nor without a
 * toolkit after a history that calls nothing. An object beside a tool that the provider runs, and may ask about, is its
 * business even so (law L12).
 */
export const engineHasIt = (method: Method, path: Path, scenario: Scenario.Scenario): boolean => {
  if (scenario.options.toolkit === "failing") return false
  if (hasNoTools(scenario)) {
    return resolves(scenario) && (scenario.options.toolkit === "empty" || History.hasLocalCalls(scenario))
  }
  return path !== "straight" || method === "generateObject" || resolves(scenario)
}

export const hasNoTools = ({ options }: Scenario.Scenario): boolean =>
  options.toolkit === "none" || options.toolkit === "empty"

/** A response that the caller resolves is upstream's as it stands. */
export const resolves = ({ options }: Scenario.Scenario): boolean => options.disableToolCallResolution !== true

export const toolkitOf = (path: Path): Toolkit.Any => path === "gated" ? Tools.GatedTools : Tools.PlainTools

const toolsOf = (path: Path) => toolkitOf(path).tools as Record<string, Tool.Any>

const policies = {
  straight: undefined,
  gated: undefined,
  silent: ApprovalPolicy.make(() => undefined),
  approving: ApprovalPolicy.make(() => Approval.preApproved())
} as const

/** What ours is provided with; a journal that is named, or the engine asks for the process's key in real time. */
export const withPolicy = (path: Path) => <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> => {
  const policy = policies[path]
  return Effect.provide(
    policy === undefined ? effect : Effect.provideService(effect, ApprovalPolicy.ApprovalPolicy, policy),
    journal
  )
}

const journal = ApprovalJournal.layerMemory({ grace: 0 })

// =============================================================================
// What is seen
// =============================================================================

export interface Emitted {
  readonly at: number
  readonly part: Response.AnyPart
}

export interface ProviderRequest {
  readonly method: "generateText" | "streamText"
  readonly at: number
  readonly prompt: Prompt.Prompt
  readonly incrementalPrompt: Prompt.Prompt | undefined
  readonly previousResponseId: string | undefined
  readonly tools: ReadonlyArray<string>
  /** Whether the tools and the schema are the very ones that were given, which providers keep things by. */
  readonly identical: boolean
  readonly toolChoice: unknown
  readonly responseFormat: unknown
  readonly toolCallValidation: string | undefined
  readonly span: { readonly name: string; readonly kind: string; readonly attributes: ReadonlyMap<string, unknown> }
}

export interface Observation {
  /** What the call was given. */
  readonly prompt: Prompt.RawInput
  /** `undefined`: it never ended. */
  readonly exit: Exit.Exit<unknown, unknown> | undefined
  readonly endedAt: number
  readonly emitted: ReadonlyArray<Emitted>
  /** What a whole response says of itself. */
  readonly response: unknown
  readonly value: unknown
  readonly requests: ReadonlyArray<ProviderRequest>
  readonly runs: ReadonlyArray<Tools.Run>
  /** How often a toolkit given as an effect was run. */
  readonly resolutions: number
}

// =============================================================================
// The provider
// =============================================================================

export const recordRequest = (
  requests: Array<ProviderRequest>,
  method: ProviderRequest["method"],
  options: UpstreamLanguageModel.ProviderOptions
): Effect.Effect<void> =>
  Effect.map(Tools.now, (at) => {
    const { span } = options
    requests.push({
      method,
      at,
      prompt: options.prompt,
      incrementalPrompt: options.incrementalPrompt,
      previousResponseId: options.previousResponseId,
      tools: options.tools.map((tool) => tool.name),
      identical: options.tools.every((tool) =>
        tool === (Tools.GatedTools.tools as Record<string, Tool.Any>)[tool.name]
      ) &&
        (options.responseFormat.type === "text" || options.responseFormat.schema === Script.Answer),
      toolChoice: options.toolChoice,
      responseFormat: options.responseFormat.type === "text" ? "text" : options.responseFormat.objectName,
      toolCallValidation: options.toolCallValidation,
      span: { name: span.name, kind: span.kind, attributes: new Map(span.attributes) }
    })
  })

interface Stage {
  readonly script: Script.Scripted
  readonly requests: Array<ProviderRequest>
}

// What the model says is in the context of the call, so that one model, which keeps the schemas it made, plays all.
const Stage = Context.Reference<Stage | undefined>("@assent/ai/test/Stage", { defaultValue: () => undefined })

const onStage = Effect.map(Stage, (stage) => stage!)

const hooks: Parameters<typeof UpstreamLanguageModel.make>[0] = {
  generateText: (options) =>
    Effect.gen(function*() {
      const { requests, script } = yield* onStage
      yield* recordRequest(requests, "generateText", options)
      yield* Effect.sleep(Script.beat)
      if (script.failure !== undefined) return yield* script.failure.effect
      return script.content.slice() as Array<Response.PartEncoded>
    }),
  streamText: (options) =>
    Stream.unwrap(
      Effect.flatMap(onStage, ({ requests, script }) =>
        Effect.as(recordRequest(requests, "streamText", options), playStream(script)))
    )
}

const provider = Effect.runSync(UpstreamLanguageModel.make(hooks))
const foreign = Effect.runSync(UpstreamLanguageModel.make(hooks))

/** The functions that are called, and the service they find. */
const entrances = {
  upstream: [UpstreamLanguageModel, provider],
  accessor: [LanguageModel, foreign],
  withApproval: [UpstreamLanguageModel, LanguageModel.withApproval(foreign)],
  make: [UpstreamLanguageModel, Effect.runSync(LanguageModel.make(hooks))]
} as const

type Chunk = Arr.NonEmptyReadonlyArray<Response.StreamPartEncoded>

const playStream = (script: Script.Scripted): Stream.Stream<Response.StreamPartEncoded, AiError.AiError> => {
  const { chunks, failure, spaced } = script
  const before = (index: number): Effect.Effect<void, AiError.AiError> =>
    Effect.andThen(
      spaced ? Effect.sleep(Script.beat) : Effect.void,
      failure !== undefined && Math.min(failure.at, chunks.length) === index ? failure.effect : Effect.void
    )
  return Stream.fromIterable(chunks.keys(), { chunkSize: 1 }).pipe(
    Stream.mapArrayEffect(([index]) => Effect.as(before(index), chunks[index] as unknown as Chunk)),
    Stream.concat(Stream.fromEffectDrain(before(chunks.length)))
  )
}

// =============================================================================
// The call
// =============================================================================

const choices: Record<Scenario.Options["toolChoice"], unknown> = {
  unset: undefined,
  none: "none",
  auto: "auto",
  required: "required",
  tool: { tool: "Charge" },
  oneOf: { oneOf: ["Read", "WebSearch"] },
  oneOfRequired: { mode: "required", oneOf: ["Ask"] }
}

const definedOf = (options: Scenario.Options): Record<string, unknown> => ({
  ...(options.toolChoice === "unset" ? {} : { toolChoice: choices[options.toolChoice] }),
  ...(options.concurrency === "unset" ? {} : { concurrency: options.concurrency }),
  ...(options.disableToolCallResolution === "unset"
    ? {}
    : { disableToolCallResolution: options.disableToolCallResolution }),
  ...(options.toolCallValidation === "unset" ? {} : { toolCallValidation: options.toolCallValidation })
})

export interface Subject {
  readonly method: Method
  readonly path: Path
  /** Upstream's own service, or ours around it. */
  readonly ours: boolean
  readonly scenario: Scenario.Scenario
  readonly onlyCall?: string | undefined
  /** What is missing in the toolkit has a tool in its place that answers as the engine does. */
  readonly standIns?: boolean | undefined
  /** Every local call succeeds at once, and none waits for another. */
  readonly quiet?: boolean | undefined
}

export const limitsOf = ({ method, onlyCall, path, quiet, scenario }: Omit<Subject, "ours">): Script.Limits => ({
  method,
  engineJudges: engineHasIt(method, path, scenario) && resolves(scenario),
  withoutCalls: engineHasIt(method, path, scenario) && hasNoTools(scenario),
  // Of a tool that returns its failures, the engine's result is upstream's, but under a policy.
  invalidParams: (toolName) =>
    !engineHasIt(method, path, scenario) ||
    (!underPolicy(path) && toolsOf(path)[toolName]?.failureMode === "return"),
  onlyCall,
  quiet
})

export const observe = Effect.fnUntraced(function*(subject: Subject): Effect.fn.Return<Observation> {
  const { method, ours, path, quiet, scenario, standIns } = subject
  const toolkit = standIns === true ? Tools.withStandIns(toolkitOf(path)) : toolkitOf(path)
  const script = Script.scriptOf(scenario, limitsOf(subject))
  const world = Tools.makeWorld(script.behaviours)
  const requests: Array<ProviderRequest> = []
  const resolved = yield* Tools.resolve(toolkit, world)
  let resolutions = 0
  const given = (): unknown => {
    switch (scenario.options.toolkit) {
      case "resolved":
        return resolved
      case "effect":
        return Effect.suspend(() => {
          resolutions++
          return Effect.as(Effect.sleep(1), resolved)
        })
      case "toolkit":
        return toolkit
      case "none":
        return undefined
      case "empty":
        return Effect.succeed({ tools: {}, handle: resolved.handle })
      case "failing":
        return Effect.fail({ _tag: "NoToolkit" })
    }
  }
  const options = {
    prompt: History.promptOf(scenario),
    ...(scenario.options.toolkit === "none" ? {} : { toolkit: given() }),
    ...(method === "generateObject" ? { schema: Script.Answer } : {}),
    ...definedOf(scenario.options),
    ...(quiet === true ? { concurrency: "unbounded" } : {})
  }
  const [service, model] = entrances[ours ? scenario.options.entrance : "upstream"]
  const emitted: Array<Emitted> = []
  const emit = (part: Response.AnyPart) => Effect.map(Tools.now, (at) => void emitted.push({ at, part }))
  let response: unknown
  let value: unknown
  const call: Effect.Effect<void, unknown, UpstreamLanguageModel.LanguageModel> = method === "streamText"
    ? Stream.runForEach(service.streamText(options as never) as Stream.Stream<Response.AnyPart>, emit)
    : Effect.flatMap(
      (service[method] as (options: unknown) => unknown)(options) as Effect.Effect<
        UpstreamLanguageModel.GenerateObjectResponse<Record<string, Tool.Any>, unknown>
      >,
      (answer) => {
        const { content, finishReason, reasoningText, text, toolCalls, toolResults, usage } = answer
        response = { finishReason, reasoningText, text, toolCalls, toolResults: byId(toolResults), usage }
        value = answer.value
        return Effect.forEach(content, emit, { discard: true })
      }
    )
  const ended = yield* run(
    call.pipe(
      Effect.provideService(UpstreamLanguageModel.LanguageModel, model),
      Effect.provideService(Stage, { script, requests }),
      Effect.provideService(Tools.Clerk, { name: "Ada" }),
      Effect.provide(Tools.layerOf(toolkit, world)),
      ours ? withPolicy(path) : (effect) => effect
    )
  )
  return { ...ended, prompt: options.prompt, emitted, response, value, requests, runs: world.runs, resolutions }
})

const byId = <A extends { readonly id: string }>(parts: ReadonlyArray<A>): ReadonlyArray<A> =>
  parts.toSorted((left, right) => left.id < right.id ? -1 : left.id > right.id ? 1 : 0)

/** Runs an effect to its end with the clock moving on by itself; an hour is more than any of them takes. */
export const run = <A, E>(
  effect: Effect.Effect<A, E>
): Effect.Effect<{ readonly exit: Exit.Exit<A, E> | undefined; readonly endedAt: number }> =>
  Effect.gen(function*() {
    const start = yield* Clock.currentTimeMillis
    const fiber = yield* Effect.forkChild(
      Effect.andThen(
        Effect.sleep(1),
        Effect.flatMap(Effect.exit(effect), (exit) => Effect.map(Tools.now, (endedAt) => ({ exit, endedAt })))
      ).pipe(Effect.provideService(Tools.Start, start)),
      { startImmediately: true }
    )
    yield* TestClock.adjust("1 hour")
    const ended = fiber.pollUnsafe()
    if (ended?._tag === "Success") return ended.value
    yield* Fiber.interrupt(fiber)
    return { exit: undefined, endedAt: -1 }
  })

// =============================================================================
// Endings
// =============================================================================

/** How a call ended, in a form to compare: reasons with where they came from. */
export const endingOf = (exit: Observation["exit"]): unknown => {
  if (exit === undefined) return "never"
  if (exit._tag === "Success") return "success"
  return exit.cause.reasons.map((reason) => {
    if (Cause.isFailReason(reason)) {
      const origin = Context.getOption(Cause.annotations(Cause.fromReasons([reason])), Toolkit.FailureOrigin)
      return { failed: reason.error, message: messageOf(reason.error), origin: Option.getOrUndefined(origin) }
    }
    return Cause.isDieReason(reason) ? { died: String(reason.defect) } : "interrupted"
  })
}

const messageOf = (error: unknown): string | undefined => error instanceof Error ? error.message : undefined
