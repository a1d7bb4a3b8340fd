/**
 * Puts the engine around a model. A call without a toolkit after a history without calls, or whose caller resolves the calls
 * itself, goes straight to the model where that is in order: one look at the tools, one pass over the history, and nothing
 * else.
 */
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Prompt from "effect/ai/Prompt"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Arr from "effect/Array"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalSeal from "../../ApprovalSeal.ts"
import { Enclosing } from "../asking/enclosing.ts"
import * as Levels from "../asking/levels.ts"
import * as Environment from "../environment/environment.ts"
import { KeepsHistory } from "../environment/keepsHistory.ts"
import * as Model from "../environment/model.ts"
import * as Recorder from "../environment/recorder.ts"
import { Answering, nobody, Refusals, TrustsAnswers } from "../environment/trust.ts"
import * as Tools from "../gather/tools.ts"
import * as Bounded from "../history/bounded.ts"
import * as Cut from "../history/cut.ts"
import * as Ending from "../history/ending.ts"
import * as ProviderPrompt from "../history/providerPrompt.ts"
import * as Transcript from "../history/transcript.ts"
import type * as Policies from "../policy/service.ts"
import * as Execution from "../run/execution.ts"
import { InPassing } from "../seal/passing.ts"
import * as Handlers from "../tool/handlers.ts"
import * as Chunks from "./chunks.ts"
import * as Generate from "./generate.ts"
import * as ProtectedTag from "./protectedTag.ts"
import * as StreamText from "./stream.ts"
import * as Turn from "./turn.ts"

const TypeId = "~@assent/ai/LanguageModel" as const

/** Whether a service is one of ours, and so is never wrapped again. */
const isWrapped = (model: LanguageModel.LanguageModel): boolean =>
  // The brand names its bearer, so that a decorated copy, whose own functions need the engine again, is not one of ours.
  Predicate.hasProperty(model, TypeId) && model[TypeId] === model

const sources = new WeakMap<
  LanguageModel.LanguageModel,
  {
    readonly original: LanguageModel.LanguageModel
    readonly captured: Context.Context<never>
    readonly options: Environment.Options
  }
>()

/**
 * The engine around a model, or the one it has with what is said here over what was said before: never two engines, one
 * around the other, and nothing that was said once is taken back by silence.
 */
export const wrapOver = (
  model: LanguageModel.LanguageModel,
  captured: Context.Context<never>,
  options: Partial<Environment.Options>
): LanguageModel.LanguageModel => {
  const source = isWrapped(model) ? sources.get(model) : undefined
  return source === undefined
    ? wrap(model, captured, { ...Environment.defaultOptions, ...options })
    : wrap(source.original, Context.merge(source.captured, captured), { ...source.options, ...options })
}

/** The engine as it is around a model, around one that can only fail: what the history has is settled, and no more. */
export const refusing = <E>(model: LanguageModel.LanguageModel, error: E): LanguageModel.LanguageModel => {
  const source = isWrapped(model) ? sources.get(model) : undefined
  const refusal = Effect.fail(error)
  const original = Model.toService(source?.original ?? model, {
    generateText: () => refusal,
    generateObject: () => refusal,
    streamText: () => Stream.fail(error)
  })
  return wrap(original, source?.captured ?? Context.empty(), source?.options ?? Environment.defaultOptions)
}

/** What of ours stands around a model of ours. */
export const capturedBy = (model: LanguageModel.LanguageModel): Context.Context<never> =>
  (isWrapped(model) ? sources.get(model)?.captured : undefined) ?? Context.empty()

export const wrap = (
  original: LanguageModel.LanguageModel,
  captured: Context.Context<never>,
  options: Environment.Options
): LanguageModel.LanguageModel => {
  const model = Model.modelOf(original)
  const maxResultBytes = Environment.maxResultBytes(options)

  // Before the model is called: a turn that could not record what runs must not begin.
  const environmentFor = (method: string, tools: Tools.Tools | undefined) =>
    Effect.tap(
      Environment.read(captured, options),
      (environment) =>
        Effect.mapError(
          Environment.requireStores(environment, tools !== undefined && Object.values(tools).some(Tools.mayWait)),
          (error) => ApprovalError.toAiError(error, method)
        )
    )

  const enter = <O extends Model.Options>(method: string, callOptions: O): Effect.Effect<Entered<O>, unknown> =>
    Effect.contextWith((context: Context.Context<never>) => {
      const read = readPrompt(callOptions.prompt)
      if (Result.isFailure(read)) return Effect.fail(ApprovalError.toAiError(read.failure, method))
      const { prompt, transcript } = read.success
      const policy = Environment.readPolicy(captured, context)
      // Without anybody to answer here, and with everything in order, there is nothing for the engine to do.
      const keepsHistory = Context.get(context, KeepsHistory)
      const isInOrder = transcript.changes === undefined && !Environment.mayAnswer(captured, context) &&
        !(keepsHistory && Ending.endsWithAssistant(prompt.content))
      const seen = seeing(context)
      const passOn = (toolkit: Model.AnyToolkit | undefined): Effect.Effect<Entered<O>> =>
        Effect.succeed({ model: seen, turn: undefined, options: { ...callOptions, prompt, toolkit } })
      const resolvesCalls = callOptions.disableToolCallResolution !== true
      const recorder = resolvesCalls ? Context.get(context, Recorder.Recorder) : Recorder.none
      const passes = (tools: Tools.Tools | undefined): boolean =>
        isInOrder && !resolvesCalls && tools !== undefined && needsNobody(method, policy, tools)
      const toolkit = usable(callOptions.toolkit, method, resolvesCalls)
      // A model that was never told of a tool calls none.
      const passesAtOnce = toolkit === undefined
        ? isInOrder && (!resolvesCalls || !transcript.hasCalls)
        : passes(declaredTools(callOptions.toolkit))
      if (passesAtOnce) return passOn(toolkit)
      return Effect.flatMap(resolveToolkit(toolkit), (resolved): Effect.Effect<Entered<O>, unknown> => {
        if (passes(resolved?.tools)) return passOn(resolved)
        // A toolkit without tools is none: it cannot tell whether a tool was removed or just not given on this turn.
        const handlers = resolved === undefined || isEmpty(resolved.tools) ? undefined : Execution.handlersOf(resolved)
        const keepsNothing = isInOrder &&
          (handlers === undefined || (recorder === Recorder.none && needsNobody(method, policy, handlers.tools)))
        const environment = keepsNothing
          ? Environment.read(captured, options)
          : environmentFor(method, resolved?.tools)
        return Effect.map(environment, (environment) => ({
          model: seen,
          turn: Turn.make({
            method,
            environment,
            prompt,
            transcript,
            isInOrder,
            keepsHistory,
            handlers,
            resolvesCalls,
            concurrency: callOptions.concurrency,
            recorder
          }),
          options: { ...callOptions, toolkit: resolved }
        }))
      })
    })

  // A provider may have something of its own to seal: it does so as the engine does. Only where there is something to
  // provide, because it is felt by every chunk.
  const seal = Context.getOrUndefined(captured, ApprovalSeal.ApprovalSeal)
  const sealing = seal === undefined ?
    model :
    Model.seeing(model, (current) =>
      Context.getOrUndefined(current, ApprovalSeal.ApprovalSeal) === undefined
        ? Context.add(current, ApprovalSeal.ApprovalSeal, seal)
        : current)
  const passing = Model.seeing(sealing, Context.add(InPassing, true))
  const seeing = (context: Context.Context<never>): Model.Model =>
    Context.get(context, InPassing)
      ? passing
      : Context.getOrUndefined(context, ApprovalSeal.ApprovalSeal) === undefined
      ? sealing
      : model

  // Handlers run in the turn, and what asks from within one asks as the turn does.
  const given = captured.mapUnsafe.size > 0 ? Context.make(Enclosing, captured) : undefined
  const insideOf = (current: Context.Context<never>): Context.Context<never> | undefined => {
    const around = Levels.around(captured, current)
    return around === undefined || given === undefined ? around ?? given : Context.merge(around, given)
  }
  const enclosing = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.contextWith((current: Context.Context<never>) => {
      const inside = insideOf(current)
      return inside === undefined ? effect : Effect.provideContext(effect, inside)
    })
  // Only where there is something to provide: it is felt by every chunk.
  const enclosingStream = <A, E, R, E2, R2>(begun: Effect.Effect<Stream.Stream<A, E, R>, E2, R2>) =>
    Chunks.unwrap(Effect.contextWith((current: Context.Context<never>) => {
      const inside = insideOf(current)
      return inside === undefined
        ? begun
        : Effect.provideContext(Effect.map(begun, Stream.provideContext(inside)), inside)
    }))

  const wrapped = Model.toService(original, {
    generateText: (callOptions) =>
      enclosing(Effect.flatMap(enter("generateText", callOptions), ({ model, options, turn }) =>
        distrusting(
          turn === undefined
            ? Effect.map(model.generateText(options), (response) => {
              const content = Bounded.parts(response.content, maxResultBytes)
              return content === response.content
                ? response
                : new LanguageModel.GenerateTextResponse<Model.AnyTools, "opaque">([...content])
            })
            : Turn.within(turn, Effect.mapError(Generate.generateText(model, turn, options), toAiError("generateText")))
        ))),
    generateObject: (callOptions) =>
      enclosing(Effect.flatMap(enter("generateObject", callOptions), ({ model, options, turn }) =>
        distrusting(
          turn === undefined
            ? Effect.map(model.generateObject(options), (response) => {
              const content = Bounded.parts(response.content, maxResultBytes)
              return content === response.content
                ? response
                : new LanguageModel.GenerateObjectResponse<Model.AnyTools, unknown, "opaque">(response.value, [
                  ...content
                ])
            })
            : Turn.within(
              turn,
              Effect.mapError(Generate.generateObject(model, turn, options), toAiError("generateObject"))
            )
        ))),
    streamText: (callOptions) =>
      enclosingStream(
        Effect.contextWith((context: Context.Context<never>) =>
          Effect.map(enter("streamText", callOptions), ({ model, options, turn }) => {
            const said = turn === undefined
              ? options.toolkit === undefined
                ? model.streamText(options)
                : boundedStream(model.streamText(options), maxResultBytes)
              : StreamText.streamText(model, turn, options, toAiError("streamText"))
            return isEntrusted(context) ? Stream.provideContext(said, distrust) : said
          })
        )
      )
  })
  sources.set(wrapped, { original, captured, options })
  // Not enumerable: a copy is not its bearer, and what shows or writes a service must not follow it round and round.
  return Object.defineProperty(wrapped, TypeId, { value: wrapped })
}

// =============================================================================
// Finding the service
// =============================================================================

export const isModel = (u: unknown): u is LanguageModel.LanguageModel => Predicate.hasProperty(u, LanguageModel.TypeId)

const wrapped = new WeakMap<LanguageModel.LanguageModel, LanguageModel.LanguageModel>()

/** With the default options, one service is always wrapped into the same other one. */
export const wrapDefault = (model: LanguageModel.LanguageModel): LanguageModel.LanguageModel => {
  if (isWrapped(model)) return model
  let known = wrapped.get(model)
  if (known === undefined) {
    known = wrap(model, Context.empty(), Environment.defaultOptions)
    wrapped.set(model, known)
  }
  return known
}

/** Upstream's tag; what runs it gets the service with the engine around. */
export const tag: typeof LanguageModel.LanguageModel = ProtectedTag.make(LanguageModel.LanguageModel, wrapDefault)

const current = Effect.flatMap(
  Effect.serviceOption(LanguageModel.LanguageModel),
  Option.match({
    onNone: () =>
      Effect.die(
        new Error(
          "Service not found: effect/ai/LanguageModel. Provide a model, as in Effect.provide(program," +
            " OpenAiLanguageModel.model(\"…\")) of @assent/openai, or AiSdkLanguageModel.model(…) of @assent/ai-sdk."
        )
      ),
    onSome: (model) => Effect.succeed(Model.modelOf(wrapDefault(model)))
  })
)

// The accessors are upstream's own functions over another service: their overloads, which infer tools, errors and
// services from the options, are upstream's to write.
export const generateText =
  ((options: Model.Options) =>
    Effect.flatMap(current, (model) => model.generateText(options))) as unknown as typeof LanguageModel.generateText

export const generateObject =
  ((options: Model.ObjectOptions) =>
    Effect.flatMap(current, (model) => model.generateObject(options))) as unknown as typeof LanguageModel.generateObject

export const streamText = ((options: Model.Options) =>
  Stream.unwrap(
    Effect.map(current, (model) => model.streamText(options))
  )) as unknown as typeof LanguageModel.streamText

/** Replaces the language model of a layer and keeps everything else of it, a `Model`'s own methods included. */
export const mapLayer = <L extends Layer.Layer<LanguageModel.LanguageModel, unknown, unknown>>(
  self: L,
  f: (model: LanguageModel.LanguageModel, context: Context.Context<never>) => LanguageModel.LanguageModel
): L => {
  const mapped = Layer.provideMerge(
    Layer.effect(
      LanguageModel.LanguageModel,
      Effect.contextWith((context: Context.Context<LanguageModel.LanguageModel>) =>
        Effect.succeed(f(Context.get(context, LanguageModel.LanguageModel), context))
      )
    ),
    self
  )
  // Same services, same errors, same requirements; a `Model` is a layer with a provider and a prototype of its own.
  return Object.assign(Object.create(Object.getPrototypeOf(self)), self, mapped) as L
}

// =============================================================================
// Internals
// =============================================================================

interface Entered<O extends Model.Options> {
  readonly model: Model.Model
  /** `undefined`: nothing here concerns the engine. */
  readonly turn: Turn.Turn | undefined
  readonly options: O
}

// The trust is in the history that was read, and that is recorded: what is asked in the course of its turn has another one
// (law L4).
const isEntrusted = (context: Context.Context<never>): boolean =>
  Context.get(context, TrustsAnswers) || Context.get(context, Recorder.Recorder) !== Recorder.none

const distrusting = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.contextWith((context: Context.Context<never>) =>
    isEntrusted(context) ? Effect.provideContext(effect, distrust) : effect
  )

const distrust = Context.make(TrustsAnswers, false).pipe(
  Context.add(Answering, nobody),
  Context.add(Refusals, nobody),
  Context.add(KeepsHistory, false),
  Context.add(InPassing, false),
  Context.add(Recorder.Recorder, Recorder.none)
)

const toAiError = (method: string) => (error: unknown): unknown =>
  error instanceof ApprovalError.ApprovalError ? ApprovalError.toAiError(error, method) : error

// Messages made by hand may be anything; that is the caller's mistake, not a defect of the program.
const readPrompt = (input: Prompt.RawInput) =>
  Result.try({
    try: () => {
      const prompt = ProviderPrompt.asRead(Prompt.make(input))
      Cut.begin(prompt)
      return { prompt, transcript: Transcript.read(prompt.content) }
    },
    catch: () =>
      ApprovalError.make(
        new ApprovalError.InvalidPrompt({ description: "a message or one of its parts is malformed." })
      )
  })

// Without tools nothing comes that could be out of bounds.
const boundedStream = (said: Stream.Stream<Model.StreamPart, unknown>, maxResultBytes: number) =>
  Stream.mapArray(said, (chunk) => {
    const parts = Bounded.parts(chunk, maxResultBytes)
    return Arr.isReadonlyArrayNonEmpty(parts) ? parts : chunk
  })

const needsNobody = (
  method: string,
  policy: Policies.Service,
  tools: Tools.Tools
): boolean => {
  for (const name in tools) {
    const tool = tools[name]!
    if (Tools.isGated(policy, tool) || Tools.mayWait(tool)) return false
    // The provider may ask about its own tool, and then an object cannot come (law L12).
    if (Tools.isProviderTool(tool) && (method === "generateObject" || Tools.isGatedProviderTool(tool))) return false
  }
  return true
}

const isEmpty = (tools: Tools.Tools): boolean => Object.keys(tools).length === 0

// A `Toolkit` shows its tools before its handlers are resolved; any other effect has to be run to see them.
const declaredTools = (toolkit: Model.AnyToolkit | undefined): Tools.Tools | undefined =>
  Predicate.hasProperty(toolkit, "tools") ? toolkit.tools as Tools.Tools : undefined

// Before the model is called: what cannot be used is not offered to it, and nobody is asked about what cannot run.
const usable = (
  toolkit: Model.AnyToolkit | undefined,
  method: string,
  resolvesCalls: boolean
): Model.AnyToolkit | undefined => {
  if (toolkit === undefined) return undefined
  const check = (built: Toolkit.WithHandler<Model.AnyTools>) => {
    const problem = Handlers.problemOf(built, { resolvesCalls })
    return problem === undefined ? built : Effect.fail(ApprovalError.toAiError(problem, method))
  }
  if (!Effect.isEffect(toolkit)) return check(toolkit)
  return Effect.flatMap(Handlers.resolve(toolkit), (built) => {
    const checked = check(built)
    return Effect.isEffect(checked) ? checked : Effect.succeed(checked)
  })
}

const resolveToolkit = (
  toolkit: Model.AnyToolkit | undefined
): Effect.Effect<Toolkit.WithHandler<Model.AnyTools> | undefined, unknown> =>
  toolkit === undefined ? Effect.undefined : Effect.isEffect(toolkit) ? toolkit : Effect.succeed(toolkit)
