/**
 * Everything that decides a turn: the services read when a call is decided, and the engine's options.
 *
 * A service provided to one call wins over the one captured where the model was wrapped, which wins over the default.
 */
import { CurrentSpanTransformer, type SpanTransformer } from "effect/ai/Telemetry"
import * as ByteSize from "effect/ByteSize"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Approval from "../../Approval.ts"
import * as ApprovalController from "../../ApprovalController.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as ApprovalJournal from "../../ApprovalJournal.ts"
import type * as ApprovalMemory from "../../ApprovalMemory.ts"
import * as ApprovalSeal from "../../ApprovalSeal.ts"
import type { DecidedBy } from "../../Approver.ts"
import * as SuspensionStore from "../../SuspensionStore.ts"
import * as Within from "../agent/within.ts"
import * as Levels from "../asking/levels.ts"
import * as Bounds from "../bounds.ts"
import * as Memory from "../memory.ts"
import type * as Permits from "../permits.ts"
import * as Policies from "../policy/service.ts"
import * as Cryptography from "../seal/cryptography.ts"
import { InPassing } from "../seal/passing.ts"
import { Answering, Refusals, type Refused, TrustsAnswers } from "./trust.ts"

export interface Options {
  readonly onNewMessage: "supersede" | "keep" | "hold" | "fail"
  readonly onInvalid: "result" | "fail"
  readonly concurrency: number
  readonly expiresIn: Duration.Input | undefined
  readonly policyTimeLimit: Duration.Input
  readonly paramsInSpans: boolean
  readonly maxResultSize: ByteSize.Input
}

export const defaultOptions: Options = {
  onNewMessage: "supersede",
  onInvalid: "result",
  concurrency: 8,
  expiresIn: undefined,
  policyTimeLimit: "30 seconds",
  paramsInSpans: false,
  maxResultSize: Bounds.maxResultBytes
}

/** How large a result may be (law L17). */
export const maxResultBytes = ({ maxResultSize }: Pick<Options, "maxResultSize">): number =>
  typeof maxResultSize === "number" ? maxResultSize : Number(ByteSize.fromInputUnsafe(maxResultSize))

/** An answer, and until when it holds, in milliseconds since 1970. */
export interface Given {
  readonly answered: ApprovalMemory.Answered
  readonly until: number
}

export interface Environment {
  readonly seal: ApprovalSeal.Service
  readonly journal: ApprovalJournal.Service
  readonly policy: Policies.Service
  readonly controller: ApprovalController.Service
  readonly memory: ApprovalMemory.Service
  readonly events: ApprovalEvents.Service
  readonly suspensions: SuspensionStore.Service
  readonly scope: Approval.ApprovalScope
  readonly options: Options
  /** How many policies are asked, and calls that need nobody run, at one time; `undefined`: any number. */
  readonly permits: Permits.Permits | undefined
  /** Who is told of each response of the model: of the call, or else of where the model was made. */
  readonly spanTransformer: Option.Option<SpanTransformer>
  /** Whether what the answers of the history change, or want remembered, is the program's own word. */
  readonly trustsAnswers: boolean
  /** Who gave the last answers of the history, by the ids of their requests. */
  readonly answeredBy: (approvalId: string) => DecidedBy | undefined
  /** Told of each decision that settles nothing. */
  readonly onRefused: Refused
  /** Whose memory this is: of this call of the model alone, where no conversation is named. */
  readonly memoryScope: ApprovalMemory.MemoryScope
  /** What is asked in this turn is kept by this process alone. */
  readonly endsWithProcess: boolean
  /** The agent in which this runs, if it does in one. */
  readonly within: Within.Within | undefined
  /** Nobody comes back to that memory once this call of the model is over. */
  readonly fleeting: boolean
  /** What was answered in this turn and is to be remembered: it holds at once, and is written when it has its effect. */
  readonly given: Array<Given>
}

const keys = [
  ApprovalSeal.ApprovalSeal.key,
  ApprovalJournal.ApprovalJournal.key,
  Levels.policyKey,
  ApprovalController.ApprovalController.key,
  Memory.ApprovalMemory.key,
  ApprovalEvents.ApprovalEvents.key,
  SuspensionStore.SuspensionStore.key,
  CurrentSpanTransformer.key
]

/**
 * The part of a context that is ours, to be kept where a model is wrapped. Not the scope: whoever builds a layer first
 * must not lend their name to everybody after.
 */
export const capture = (context: Context.Context<never>): Context.Context<never> => {
  const captured = new Map<string, unknown>()
  for (const key of keys) {
    if (context.mapUnsafe.has(key)) captured.set(key, context.mapUnsafe.get(key))
  }
  return Context.makeUnsafe(captured)
}

export const read = (captured: Context.Context<never>, options: Options): Effect.Effect<Environment> =>
  Effect.contextWith((current: Context.Context<never>) => {
    // Not one context of both: that would copy every service of the program for each turn.
    const found = <I, S>(reference: Context.Reference<S> & Context.Key<I, S>): S =>
      Context.getOrUndefined(current, reference) ?? Context.get(captured, reference)
    const scope = Context.get(current, Approval.Scope)
    const memory = found(Memory.ApprovalMemory)
    return Effect.map(memoryScope(memory, scope), (memoryScope) => ({
      seal: found(ApprovalSeal.ApprovalSeal),
      journal: found(ApprovalJournal.ApprovalJournal),
      policy: readPolicy(captured, current),
      controller: readController(captured, current),
      endsWithProcess: Context.get(current, InPassing),
      events: found(ApprovalEvents.ApprovalEvents),
      suspensions: found(SuspensionStore.SuspensionStore),
      memory,
      scope,
      trustsAnswers: Context.get(current, TrustsAnswers),
      answeredBy: Context.get(current, Answering),
      onRefused: Context.get(current, Refusals),
      options,
      permits: undefined,
      spanTransformer: Option.fromUndefinedOr(
        Context.getOrUndefined(current, CurrentSpanTransformer) ??
          Context.getOrUndefined(captured, CurrentSpanTransformer)
      ),
      memoryScope,
      within: Context.get(current, Within.Within),
      fleeting: memoryScope.call !== undefined,
      given: []
    }))
  })

const memoryScope = (
  memory: ApprovalMemory.Service,
  scope: Approval.ApprovalScope
): Effect.Effect<ApprovalMemory.MemoryScope> =>
  !memory.remembers || scope.conversation !== undefined
    ? Effect.succeed(scope)
    : Effect.map(Cryptography.randomToken(16), (call) => ({ ...scope, call }))

/** Lets a policy be asked when it is its turn; one that has spoken already needs none. */
export const permitted = <A, E>({ permits }: Environment, effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  permits === undefined || Exit.isExit(effect) ? effect : permits.withPermit(effect)

/** The policy alone, which says whether there is anything to ask about. */
export const readPolicy = (captured: Context.Context<never>, current: Context.Context<never>): Policies.Service =>
  Policies.join(Levels.policiesOf(captured, current))

/** The policies that have a word where this runs. */
export const policy: Effect.Effect<Policies.Service> = Effect.map(Levels.policies, Policies.join)

const readController = (
  captured: Context.Context<never>,
  current: Context.Context<never>
): ApprovalController.Service => Levels.innermost(captured, current) ?? ApprovalController.deferred

/** Whether the provider's own requests may be answered at once: by a controller, or by what was answered before. */
export const mayAnswer = (captured: Context.Context<never>, current: Context.Context<never>): boolean =>
  readController(captured, current).ask !== undefined ||
  (Context.getOrUndefined(current, Memory.ApprovalMemory) ?? Context.get(captured, Memory.ApprovalMemory)).remembers

/**
 * With a configured key, requests outlive this process; so must the memory of what ran (law L4) and, for tools that may
 * wait, what they are to remember.
 */
export const requireStores = (
  { journal, seal, suspensions }: Environment,
  mayWait: boolean
): Effect.Effect<void, ApprovalError.ApprovalError> => {
  const missing = !journal.named
    ? new ApprovalError.JournalRequired()
    : mayWait && !suspensions.named
    ? new ApprovalError.SuspensionStoreRequired()
    : undefined
  return missing === undefined ? Effect.void : Effect.flatMap(
    seal.configured,
    (configured) => configured ? Effect.fail(ApprovalError.make(missing)) : Effect.void
  )
}
