/**
 * What makes a tool one that may wait, and how its handler and the engine speak with each other.
 *
 * The handler of a `Toolkit` may only succeed, fail or die. The engine tells it through a reference whether it is to
 * begin or to go on, and a handler that is to wait dies with a {@link Suspended}: a success would have to fit the tool's
 * schema, and a failure could be retried or returned to the model by somebody in between.
 */
import type * as Tool from "effect/ai/Tool"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type * as Interaction from "../../Interaction.ts"

/** What the engine must know of a tool that may wait. */
export interface Deferral {
  readonly interactions: Interaction.Record
  readonly stateVersion: number
  readonly encodeState: (state: unknown) => Effect.Effect<Schema.Json, unknown>
  /** Fails for a version that nothing leads from to this one. */
  readonly decodeState: (encoded: Schema.Json, version: number) => Effect.Effect<unknown, unknown>
}

const Annotation = Context.Reference<Deferral | undefined>("~@assent/ai/Tool/Deferral", {
  defaultValue: () => undefined
})

/** What a tool's author says of it. */
export interface Options {
  readonly interactions: Interaction.Record
  readonly state?: Schema.Constraint | undefined
  readonly stateVersion?: number | undefined
  readonly migrate?:
    | ((state: Schema.Json, version: number) => Schema.Json | Effect.Effect<Schema.Json, unknown>)
    | undefined
}

export const make = ({ interactions, migrate, state, stateVersion = 1 }: Options): Deferral => {
  // Services of the schema, if it has any, are the tool's own requirements.
  const codec = Schema.toCodecJson((state ?? Schema.Undefined) as Schema.Codec<unknown>)
  const decode = Schema.decodeUnknownEffect(codec)
  return {
    interactions,
    stateVersion,
    encodeState: Schema.encodeUnknownEffect(codec),
    decodeState: (encoded, version) => {
      if (version === stateVersion) return decode(encoded)
      if (migrate === undefined) return Effect.fail("There is no migration.")
      return Effect.flatMap(
        Effect.suspend(() => {
          const migrated = migrate(encoded, version)
          return Effect.isEffect(migrated) ? migrated : Effect.succeed(migrated)
        }),
        decode
      )
    }
  }
}

/** `undefined` of a tool that never waits. */
export const of = (tool: Tool.Any): Deferral | undefined => Context.get(tool.annotations, Annotation)

interface Annotatable {
  annotate<I, S>(tag: Context.Key<I, S>, value: S): unknown
}

/** A copy of the tool that may wait. */
export const set = <T extends Annotatable>(tool: T, deferral: Deferral): T =>
  // Upstream's method returns a clone with the same prototype and fields, typed as the base interface `Tool`.
  tool.annotate(Annotation, deferral) as unknown as T

export const interactionOf = ({ interactions }: Deferral, name: string): Interaction.Any | undefined =>
  Object.hasOwn(interactions, name) ? interactions[name] : undefined

// =============================================================================
// Between engine and handler
// =============================================================================

/** One run of a handler: from the beginning, or from where it waited. */
export interface Run {
  readonly toolName: string
  readonly toolCallId: string
  readonly resumption: Resumption | undefined
}

export interface Resumption {
  readonly interaction: string
  readonly answer: unknown
  readonly state: unknown
}

/** The run whose handler is called; `undefined` where no engine is around that could let it wait. */
export const CurrentRun = Context.Reference<Run | undefined>("~@assent/ai/DeferredTool/CurrentRun", {
  defaultValue: () => undefined
})

const isFor = (run: Run | undefined, toolName: string, toolCallId: unknown): run is Run =>
  run !== undefined && run.toolName === toolName && run.toolCallId === toolCallId

/** Whether this very call goes on from where it waited. */
export const resumes = (run: Run | undefined, toolName: string, toolCallId: unknown): boolean =>
  isFor(run, toolName, toolCallId) && run.resumption !== undefined

const SuspensionTypeId = "~@assent/ai/DeferredTool/Suspension" as const

/** What a tool's own handler ends with that is to wait. */
export interface Suspension<out Name extends string> {
  readonly [SuspensionTypeId]: typeof SuspensionTypeId
  readonly toolName: Name
  readonly interaction: string
  readonly ask: unknown
  readonly state: unknown
}

const isSuspension = (u: unknown): u is Suspension<string> => Predicate.hasProperty(u, SuspensionTypeId)

/** For each interaction the function that makes its suspension. What it takes is in the type of `suspend`. */
export const suspendFunctions = <Functions>(toolName: string, interactions: Interaction.Record): Functions =>
  Record.map(
    interactions,
    (_, interaction) => (ask: unknown, state: unknown): Effect.Effect<Suspension<string>> =>
      Effect.succeed({ [SuspensionTypeId]: SuspensionTypeId, toolName, interaction, ask, state })
  ) as Functions

/** Lets a handler begin or go on, and end or wait. */
export const handle = <A, Name extends string, E, E2, R>(options: {
  readonly toolName: string
  readonly toolCallId: string | undefined
  readonly start: () => Effect.Effect<A | Suspension<Name>, E, R>
  readonly resume: (resumption: Resumption) => Effect.Effect<A | Suspension<Name>, E, R>
  /** What it fails with where nothing lets it wait. */
  readonly withoutEngine: E2
}): Effect.Effect<A, E | E2, R> =>
  Effect.flatMap(CurrentRun, (run): Effect.Effect<A, E | E2, R> => {
    if (!isFor(run, options.toolName, options.toolCallId)) return Effect.fail(options.withoutEngine)
    const { resumption } = run
    const ending = Effect.suspend(() => resumption === undefined ? options.start() : options.resume(resumption))
    return Effect.flatMap(
      // What the handler calls is no run of this tool.
      Effect.provideService(ending, CurrentRun, undefined),
      // What is no suspension is the tool's success, which a type that is not known yet cannot show.
      (ended) => isSuspension(ended) ? Effect.die(new Suspended(ended)) : Effect.succeed(ended as A)
    )
  })

/** The engine resumes only what the tool declares, with an answer and a state that the tool's own schemas have read. */
export const resumeOf = <Ending, HandlerContext>(
  resume: { readonly [name: string]: (answer: never, state: never, context: HandlerContext) => Ending },
  context: HandlerContext
) =>
({ answer, interaction, state }: Resumption): Ending => resume[interaction]!(answer as never, state as never, context)

const TypeId = "~@assent/ai/DeferredTool/Suspended" as const

/** What a handler dies with that is to wait. An error, so that whoever sees it without the engine sees what it is. */
export class Suspended extends Error {
  readonly [TypeId] = TypeId
  readonly interaction: string
  readonly ask: unknown
  readonly state: unknown

  constructor(options: { readonly interaction: string; readonly ask: unknown; readonly state: unknown }) {
    super(`The tool waits for "${options.interaction}".`)
    this.interaction = options.interaction
    this.ask = options.ask
    this.state = options.state
  }
}

// By its name, so that two copies of this module agree.
const isSuspended = (u: unknown): u is Suspended => Predicate.hasProperty(u, TypeId)

/** What a handler that ended this way waits for. */
export const suspendedOf = (cause: Cause.Cause<unknown>): Suspended | undefined => {
  for (const reason of cause.reasons) {
    if (Cause.isDieReason(reason) && isSuspended(reason.defect)) return reason.defect
  }
  return undefined
}
