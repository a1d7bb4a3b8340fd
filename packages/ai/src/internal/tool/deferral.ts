/**
 * What makes a tool one that may wait, and how its handler and the engine speak with each other.
 *
 * The handler of a `Toolkit` may only succeed, fail or die. The engine tells it through a reference whether it is to
 * begin or to go on, and a handler that is to wait dies with a {@link Suspended} where it makes its suspension: a success
 * would have to fit the tool's schema and would let the handler go on, and a failure could be retried or returned to the
 * model by somebody in between. What it made is noted in a cell of the run, so that one that was caught is known.
 */
import type * as Tool from "effect/ai/Tool"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type { DecidedBy } from "../../Approver.ts"
import type * as Interaction from "../../Interaction.ts"
import * as Handlers from "./handlers.ts"
import * as Nesting from "./nesting.ts"

/** What the engine must know of a tool that may wait. */
export interface Deferral {
  /** All that it does is what its agents do: a run whose process has died may begin again. */
  readonly repeats: boolean
  readonly interactions: Interaction.Record
  readonly stateVersion: number
  /** Whether anything leads from other versions to this one. */
  readonly migrates: boolean
  readonly encodeState: (state: unknown) => Effect.Effect<Schema.Json, unknown>
  /** Fails for a version that nothing leads from to this one. */
  readonly decodeState: (encoded: Schema.Json, version: number) => Effect.Effect<unknown, unknown>
}

const Annotation = Context.Reference<Deferral | undefined>("~@assent/ai/Tool/Deferral", {
  defaultValue: () => undefined
})

/** What a tool's author says of it. */
export interface Options {
  readonly repeats?: boolean | undefined
  readonly interactions: Interaction.Record
  readonly state?: Schema.Constraint | undefined
  readonly stateVersion?: number | undefined
  readonly migrate?:
    | ((state: Schema.Json, version: number) => Schema.Json | Effect.Effect<Schema.Json, unknown>)
    | undefined
}

export const make = (
  { interactions, migrate, repeats = false, state, stateVersion = 1 }: Options
): Deferral => {
  // Services of the schema, if it has any, are the tool's own requirements.
  const codec = Schema.toCodecJson((state ?? Schema.Undefined) as Schema.Codec<unknown>)
  const decode = Schema.decodeUnknownEffect(codec)
  return {
    repeats,
    interactions,
    stateVersion,
    migrates: migrate !== undefined,
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
  name === Nesting.name ? Nesting.nested : Object.hasOwn(interactions, name) ? interactions[name] : undefined

// =============================================================================
// Between engine and handler
// =============================================================================

/** One run of a handler: from the beginning, or from where it waited. */
export interface Run {
  readonly toolName: string
  readonly toolCallId: string
  readonly resumption: Resumption | undefined
  /** The nonce of the call's first claim. */
  readonly began: string | undefined
  /** Whether it has begun any agent, and what is to be done before it does. */
  readonly agents: { began: boolean; readonly begins?: Effect.Effect<void> | undefined }
}

export type Resumption = Answered | Unanswered

interface Waited {
  readonly interaction: string
  readonly state: unknown
  /** As it is kept, for a run that is to begin here again. */
  readonly kept: Schema.Json
}

export interface Answered extends Waited {
  readonly answer: unknown
  readonly decidedBy: DecidedBy
}

/** Nobody answered in time. */
export interface Unanswered extends Waited {
  readonly expiredAt: number
  /** Why it does not go on, where the handler that said how is gone. */
  readonly description: string
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

declare const SuspensionTypeId: unique symbol

/** What the effect of a suspension would succeed with. None ever does: the handler stops there. */
export interface Suspension<out Name extends string> {
  readonly [SuspensionTypeId]: Name
}

/** What a run has made. */
export interface Made {
  readonly toolName: string
  readonly toolCallId: string
  readonly began: string | undefined
  readonly suspensions: Array<Suspended>
  /** Whether the handler says how it goes on when nobody answers that. */
  readonly handlesExpiry: (interaction: string) => boolean
  hasEnded: boolean
  /** How many of its agents go on, and what the others of them do that wait, once none does. */
  readonly agents: {
    readonly run: Run["agents"]
    running: number
    readonly waiting: Set<() => void>
    suspended: Suspended | undefined
  }
}

export const CurrentMade = Context.Reference<Made | undefined>("~@assent/ai/DeferredTool/CurrentMade", {
  defaultValue: () => undefined
})

/** For each interaction the function that makes its suspension. What it takes is in the type of `suspend`. */
export const suspendFunctions = <Functions>(toolName: string, interactions: Interaction.Record): Functions =>
  Record.map(
    interactions,
    (_, interaction) => (ask: unknown, state: unknown): Effect.Effect<Suspension<string>> =>
      Effect.flatMap(CurrentMade, (made) => {
        const handlesExpiry = made?.toolName === toolName && made.handlesExpiry(interaction)
        const make = () => new Suspended({ toolName, interaction, ask, state, handlesExpiry })
        if (made?.toolName !== toolName) return Effect.die(make())
        const suspended = withoutStack(make)
        const dies = Effect.die(suspended)
        if (made.hasEnded) return Effect.andThen(tellCaught(made, suspended), dies)
        made.suspensions.push(suspended)
        return dies
      })
  ) as Functions

/**
 * Runs an agent of a handler. One that waits does so until no other one goes on: then the handler stops there, once for all of
 * them, so that none is cut short because another one waits.
 */
export const runAgent = <A, E, R>(
  made: Made,
  agent: Effect.Effect<A, E, R>,
  isWaiting: (ended: A) => boolean
): Effect.Effect<A, E, R> => {
  const { agents } = made
  const settle = () => {
    if (agents.running > 0) return
    for (const resume of agents.waiting) resume()
    agents.waiting.clear()
  }
  const begun = Effect.suspend(() => {
    agents.running++
    agents.run.began = true
    const { begins } = agents.run
    return Effect.onExit(
      begins === undefined ? agent : Effect.andThen(begins, agent),
      () => Effect.sync(() => void agents.running--)
    )
  })
  return Effect.flatMap(Effect.onError(begun, () => Effect.sync(settle)), (ended) => {
    // Whoever begins another one beside it, or behind it, does so first.
    queueMicrotask(() => queueMicrotask(settle))
    if (!isWaiting(ended)) return Effect.succeed(ended)
    return Effect.andThen(
      Effect.callback<void>((resume) => {
        const done = () => resume(Effect.void)
        agents.waiting.add(done)
        return Effect.sync(() => agents.waiting.delete(done))
      }),
      Effect.suspend(() => Effect.die(agents.suspended ??= nestedSuspension(made)))
    )
  })
}

const nestedSuspension = (made: Made): Suspended => {
  const { toolName } = made
  const suspended = new Suspended({
    toolName,
    interaction: Nesting.name,
    ask: {},
    state: undefined,
    handlesExpiry: false
  })
  made.suspensions.push(suspended)
  return suspended
}

/** The agents of a handler came to an end that is none of its tool. Where a person stopped them, the turn ends with it. */
export const unended = (reason: string, stops = false): Effect.Effect<never> => Effect.die(new Unended(reason, stops))

/** Lets a handler begin or go on, and end or wait. */
export const handle = <A, Name extends string, E, E2, R>(options: {
  readonly toolName: string
  readonly toolCallId: string | undefined
  readonly start: () => Effect.Effect<A | Suspension<Name>, E, R>
  readonly resume: (answered: Answered) => Effect.Effect<A | Suspension<Name>, E, R>
  /** By the name of an interaction: how it goes on when nobody answered. */
  readonly expired: (interaction: string) =>
    | ((unanswered: Unanswered) => Effect.Effect<A | Suspension<Name>, E, R>)
    | undefined
  /** What it fails with where nothing lets it wait. */
  readonly withoutEngine: () => E2
}): Effect.Effect<A, E | E2, R> =>
  Effect.flatMap(CurrentRun, (run): Effect.Effect<A, E | E2, R> => {
    if (!isFor(run, options.toolName, options.toolCallId)) return Effect.fail(options.withoutEngine())
    const { agents, began, resumption, toolCallId, toolName } = run
    const made: Made = {
      toolName,
      toolCallId,
      began,
      suspensions: [],
      handlesExpiry: (interaction) => options.expired(interaction) !== undefined,
      hasEnded: false,
      agents: { run: agents, running: 0, waiting: new Set(), suspended: undefined }
    }
    const ending = Effect.suspend(() => {
      if (resumption === undefined) return Handlers.running(toolName, options.start(), "start: (params)")
      const { interaction } = resumption
      if (!("expiredAt" in resumption)) {
        return Handlers.running(toolName, options.resume(resumption), `${interaction}: (answer, state)`)
      }
      const expired = options.expired(interaction)
      // It was there when the run began to wait: another release has taken it away.
      return expired === undefined
        ? Effect.die(new Unended(resumption.description))
        : Handlers.running(toolName, expired(resumption), `${interaction}: (state)`)
    })
    return ending.pipe(
      Effect.provideService(CurrentMade, made),
      // What the handler calls is no run of this tool.
      Effect.provideService(CurrentRun, undefined),
      Effect.onExit(() => Effect.sync(() => made.hasEnded = true)),
      Effect.matchCauseEffect({
        onSuccess: (ended): Effect.Effect<A> => {
          const [caught] = made.suspensions
          // No suspension ever comes out of the effect that makes it.
          return caught === undefined
            ? Effect.succeed(ended as A)
            : Effect.andThen(tellCaught(made, caught), Effect.die(new Unended(caughtReason)))
        },
        onFailure: (cause) => {
          const suspended = made.suspensions.find((one) => hasDefect(cause, one))
          if (suspended !== undefined) return Effect.die(suspended)
          const [caught] = made.suspensions
          return caught === undefined || Cause.hasInterruptsOnly(cause)
            ? Effect.failCause(cause)
            : Effect.andThen(tellCaught(made, caught), Effect.failCause(cause))
        }
      })
    )
  })

const hasDefect = (cause: Cause.Cause<unknown>, defect: unknown): boolean =>
  cause.reasons.some((reason) => Cause.isDieReason(reason) && reason.defect === defect)

// It is a mistake in the handler, which its author is to hear of.
const tellCaught = ({ toolCallId, toolName }: Made, { interaction }: Suspended): Effect.Effect<void> =>
  Effect.andThen(
    ApprovalEvents.publish((occasion) => ({
      _tag: "SuspensionCaught",
      ...occasion,
      toolName,
      toolCallId,
      interaction
    })),
    Effect.logWarning(
      `Assent: "${toolName}" was to wait for "${interaction}", and something in its handler caught that and went on, so` +
        " nobody was asked. Do not catch the exit, the cause or the defect of a suspension, and do not fork it."
    )
  )

/** The engine resumes only what the tool declares, with an answer and a state that the tool's own schemas have read. */
export const resumeOf = <Ending, HandlerContext>(
  resume: {
    readonly [name: string]: (
      answer: never,
      state: never,
      context: HandlerContext & { readonly decidedBy: DecidedBy }
    ) => Ending
  },
  context: HandlerContext
) =>
({ answer, decidedBy, interaction, state }: Answered): Ending =>
  resume[interaction]!(answer as never, state as never, { ...context, decidedBy })

/** As {@link resumeOf}, of what nobody answered: only some handlers say how they go on then. */
export const expiredOf = <Ending, HandlerContext>(
  expired: {
    readonly [name: string]:
      | ((state: never, context: HandlerContext & { readonly expiredAt: number }) => Ending)
      | undefined
  },
  context: HandlerContext
) =>
(interaction: string): ((unanswered: Unanswered) => Ending) | undefined => {
  const goOn = Object.hasOwn(expired, interaction) ? expired[interaction] : undefined
  return goOn === undefined
    ? undefined
    : ({ expiredAt, state }) => goOn(state as never, { ...context, expiredAt })
}

const TypeId = "~@assent/ai/DeferredTool/Suspended" as const

/** What a handler dies with that is to wait. An error, so that whoever sees it without the engine sees what it is. */
export class Suspended extends Error {
  readonly [TypeId] = TypeId
  readonly toolName: string
  readonly interaction: string
  readonly ask: unknown
  readonly state: unknown
  /** Its handler says how it goes on when nobody answers. */
  readonly handlesExpiry: boolean

  constructor(options: Pick<Suspended, "toolName" | "interaction" | "ask" | "state" | "handlesExpiry">) {
    super(
      `The tool "${options.toolName}" waits for "${options.interaction}", which only its own handler can, under the engine.`
    )
    this.toolName = options.toolName
    this.interaction = options.interaction
    this.ask = options.ask
    this.state = options.state
    this.handlesExpiry = options.handlesExpiry
  }
}

// Nobody looks where a handler waits, and finding out takes longer than to wait.
const withoutStack = <A>(make: () => A): A => {
  const limit: unknown = Reflect.get(Error, "stackTraceLimit")
  Reflect.set(Error, "stackTraceLimit", 0)
  const made = make()
  Reflect.set(Error, "stackTraceLimit", limit)
  return made
}

// By its name, so that two copies of this module agree.
const isSuspended = (u: unknown): u is Suspended => Predicate.hasProperty(u, TypeId)

/** What the handler of this tool waits for, if it ended this way to wait. */
export const suspendedOf = (cause: Cause.Cause<unknown>, toolName: string): Suspended | undefined => {
  for (const reason of cause.reasons) {
    if (Cause.isDieReason(reason) && isSuspended(reason.defect) && reason.defect.toolName === toolName) {
      return reason.defect
    }
  }
  return undefined
}

const UnendedTypeId = "~@assent/ai/DeferredTool/Unended" as const

/**
 * What a handler dies with that was to wait, and went on; or that cannot go on any more. A failure could be returned to
 * the model as the tool's own.
 */
class Unended extends Error {
  readonly [UnendedTypeId] = UnendedTypeId
  readonly stops: boolean

  constructor(reason: string, stops = false) {
    super(reason)
    this.stops = stops
  }
}

const caughtReason =
  "The tool began, and was to wait, but something in its handler caught that and it went on, so nobody was asked." +
  " What it did is not undone. Check before calling again."

const isUnended = (u: unknown): u is Unended => Predicate.hasProperty(u, UnendedTypeId)

/** Why what a handler ended with counts as a failure, if it neither waits nor came to its end, and whether it ends the turn. */
export const unendedOf = (
  cause: Cause.Cause<unknown>
): { readonly reason: string; readonly stops: boolean } | undefined => {
  for (const reason of cause.reasons) {
    if (!Cause.isDieReason(reason) || !isUnended(reason.defect)) continue
    const { message, stops } = reason.defect
    return { reason: message, stops }
  }
  return undefined
}
