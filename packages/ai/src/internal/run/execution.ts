/**
 * Runs calls, once. An approved call runs under the journal's claim and in the journal's scope, so that a reader who
 * leaves, a repeat, or a sibling that fails never runs it again or loses what it did (laws L2, L8). A call that needs
 * nobody runs as upstream runs it.
 */
import * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type * as ApprovalError from "../../ApprovalError.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"
import * as Within from "../agent/within.ts"
import * as Words from "../decide/words.ts"
import * as Environment from "../environment/environment.ts"
import type { Approved } from "../gather/file.ts"
import * as Remembering from "../gather/remembering.ts"
import * as Request from "../gather/request.ts"
import { toolOf, type Tools } from "../gather/tools.ts"
import * as Results from "../history/results.ts"
import * as Consent from "../tool/consent.ts"
import * as Deferral from "../tool/deferral.ts"
import * as Nesting from "../tool/nesting.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Bounding from "./bounding.ts"
import * as Recording from "./recording.ts"
import * as Reopening from "./reopening.ts"
import * as Spans from "./spans.ts"
import * as Suspending from "./suspending.ts"

/** A toolkit with its handlers, as the engine sees any of them. Handlers' errors and services are the caller's. */
export interface Handlers {
  readonly tools: Tools
  readonly handle: Bounding.Handle
}

/** The engine's view of a toolkit. */
export const handlersOf = (toolkit: Toolkit.WithHandler<Record<string, Tool.Any>>): Handlers =>
  // The services of the handlers are in the type of the call that passed the toolkit, which runs this.
  toolkit as unknown as Handlers

export type Emit = (part: Results.ResultPart) => Effect.Effect<void>

/** How a call ended: with its result and, for failure mode "error", the cause the turn is to fail with. */
export interface Executed {
  readonly part: Results.ResultPart | undefined
  readonly failure: Cause.Cause<unknown> | undefined
  /** The request as which it waits, if it did not end. */
  readonly suspendedAs?: string | undefined
}

// =============================================================================
// Calls that need nobody
// =============================================================================

interface Call extends Results.CallName {
  readonly params: unknown
}

/** Lets a handler run in this fiber, emitting preliminary results, and gives its final one. */
const take = (
  handlers: Handlers,
  handled: ReturnType<Handlers["handle"]>,
  call: Call,
  maxResultBytes: number,
  emit: Emit
): Effect.Effect<Results.ResultPart, unknown> => {
  let final: Results.ResultPart | undefined
  const opened = new Set<string>()
  const takeOne = (output: Tool.HandlerResult<Tool.Any>): Effect.Effect<void> => {
    const excess = Results.excessOf(output, maxResultBytes)
    if (output.preliminary) {
      return excess === undefined
        ? emit(Results.toolResult(call, output))
        : Bounding.tellLeftOut(call, output, excess)
    }
    final = Results.toolResult(call, excess === undefined ? output : Results.leftOut(output, excess, maxResultBytes))
    return excess === undefined ? Effect.void : Bounding.tellLeftOut(call, output, excess)
  }
  const running = Effect.flatMap(
    handled,
    // Most give one thing, and all of it at once.
    Stream.runForEachArray((outputs) =>
      outputs.length === 1 ? takeOne(outputs[0]) : Effect.forEach(outputs, takeOne, { discard: true })
    )
  )
  return Consent.giveTo(running, toolOf(handlers.tools, call.name), call.name, call.id).pipe(
    Effect.provideService(Within.Opened, opened),
    Effect.flatMap(() =>
      final === undefined
        ? Effect.die(new Error(noFinalResult(call.name)))
        : Effect.succeed(opened.size === 0 || final.isFailure ? final : Results.interrupted(call, Words.openedByHand))
    )
  )
}

/** Runs a call that needs nobody so that its failure is a value, to be raised when its siblings have settled. */
export const directSettled = (
  handlers: Handlers,
  call: Call,
  maxResultBytes: number,
  emit: Emit
): Effect.Effect<Executed> =>
  Effect.flatMap(
    Effect.exit(take(handlers, handlers.handle(call.name, call.params, call.id), call, maxResultBytes, emit)),
    (exit): Effect.Effect<Executed> => {
      if (Exit.isSuccess(exit)) return Effect.succeed({ part: exit.value, failure: undefined })
      if (Cause.hasInterruptsOnly(exit.cause)) return Effect.interrupt
      const refused = Prepare.refusedIn(call.name, call.id, exit.cause)
      return refused === undefined
        ? Effect.succeed({ part: undefined, failure: exit.cause })
        : Effect.map(refused, ({ message }) => ({ part: Results.interrupted(call, message), failure: undefined }))
    }
  )

/**
 * Runs a call that needs nobody and may wait: it has a claim all the same, by which it is known when it goes on, and what it
 * has begun. Unlike an approved one it ends with its reader. `begins` is done before its handler is called.
 */
export const claimed = (
  environment: Environment.Environment,
  handlers: Handlers,
  claim: ApprovalJournal.Claim,
  prepared: Prepare.Prepared,
  begins: Effect.Effect<void, ApprovalError.ApprovalError>,
  emit: Emit
): Effect.Effect<Executed, ApprovalError.ApprovalError> => {
  const { approvalId } = claim
  const waiting: Suspending.Waiting = {
    call: { ...Request.about(prepared), root: approvalId, canonical: prepared.canonical },
    prepared,
    previous: approvalId,
    edits: undefined,
    began: claim.nonce
  }
  const agents = { began: false }
  const runs = run(environment, handlers, waiting, undefined, agents, emit)
  return environment.journal.run(claim, {
    effect: Effect.matchEffect(begins, {
      onFailure: (unbegun) => Effect.succeed({ unbegun }),
      onSuccess: () => runs
    }),
    idempotent: isRepeatable(prepared.tool),
    endsWithReader: true,
    within: () => agents.began ? claim.nonce : undefined
  }).pipe(
    Effect.flatMap(({ entry, ran }) =>
      ran === undefined
        ? executed({ entry, ran }, waiting)
        // Nobody was asked, so there is no request that its result settles.
        : Effect.succeed(
          ranTo(entry, ran, waiting, ran.recorded.stop === true ? { approvalId, stop: true } : undefined)
        )
    )
  )
}

// What is done by its agents is done once by them, whoever works for them.
const isAgent = (tool: Tool.Any): boolean => Deferral.of(tool)?.repeats === true

const isRepeatable = (tool: Tool.Any): boolean => isAgent(tool) || Context.get(tool.annotations, Tool.Idempotent)

/** As a run that may wait: from the beginning, or from where it waited. */
const within = <A, E>(
  { id, name }: Results.CallName,
  run: Pick<Deferral.Run, "agents" | "began" | "resumption">,
  effect: Effect.Effect<A, E>
): Effect.Effect<A, E> => Effect.provideService(effect, Deferral.CurrentRun, { toolName: name, toolCallId: id, ...run })

const noFinalResult = (name: string) => `Tool handler of "${name}" did not produce a final result`

// =============================================================================
// Approved calls
// =============================================================================

/** Runs an approved call under its claim, joins the run that has it, or gives what the journal recorded. */
export const approved = (
  environment: Environment.Environment,
  handlers: Handlers,
  { answered, asked, claim, edits, isNew, joinOnly, prepared }: Approved,
  emit: Emit
): Effect.Effect<Executed, ApprovalError.ApprovalError> => {
  const { approvalId } = claim
  const { toolCallId, toolName } = prepared
  const waiting: Suspending.Waiting = {
    call: {
      toolCallId,
      toolName,
      root: approvalId,
      canonical: (asked ?? prepared).canonical
    },
    prepared,
    previous: approvalId,
    edits,
    began: claim.nonce
  }
  const agents: Deferral.Run["agents"] = { began: false }
  const running = Spans.run(run(environment, handlers, waiting, undefined, agents, emit), claim)
  const runAs = (params: string | undefined, hasAgents: boolean) =>
    environment.journal.run({ ...claim, params }, {
      effect: answered === undefined ? running : Effect.andThen(Remembering.keep(environment, answered), running),
      idempotent: hasAgents || isRepeatable(prepared.tool),
      joinOnly,
      isNew,
      endsWithReader: isAgent(prepared.tool),
      within: () => agents.began ? claim.nonce : undefined
    })
  const settled = Effect.flatMapEager(
    edits !== undefined ? Prepare.paramsDigest(prepared) : Effect.undefined,
    (params) =>
      Effect.flatMapEager(
        // A handler that talks to agents begins again at its first line.
        Deferral.of(prepared.tool) === undefined || joinOnly
          ? Effect.succeed(false)
          : environment.suspensions.hasAgents(claim.nonce),
        (hasAgents) => runAs(params, hasAgents)
      )
  )
  return Effect.flatMap(settled, (settled) => executed(settled, waiting))
}

type Ended = ApprovalJournal.Ran | ApprovalJournal.Suspended | ApprovalJournal.Again

/** A call whose run waited. */
export interface Resumed {
  readonly claim: ApprovalJournal.Claim
  readonly call: Suspending.Call
  /** The call as its handler gets it. */
  readonly prepared: Prepare.Prepared
  readonly edits: Schema.Json | undefined
  /** Nothing may be resumed; only a run that is going on is joined, and one that ended is given. */
  readonly joinOnly: boolean
  /** `undefined`: from its beginning. */
  readonly resumption: Deferral.Resumption | undefined
  readonly began: string | undefined
  /** It goes on because its agents can, whoever was answered there. */
  readonly waitedForAgents: boolean
  /** It went on before, and talked to agents. */
  readonly converses: boolean
  /** Somebody has said something since it was asked, which what is asked from now on comes behind. */
  readonly isPassedOver: boolean
}

/** Goes on with a call from where it waited, once; or joins the run that does; or gives what the journal recorded. */
export const resumed = (
  environment: Environment.Environment,
  handlers: Handlers,
  { began, call, claim, converses, edits, isPassedOver, joinOnly, prepared, resumption, waitedForAgents }: Resumed,
  emit: Emit
): Effect.Effect<Executed, ApprovalError.ApprovalError> => {
  const { approvalId } = claim
  // A handler that talks to agents begins again at its first line, which is where it goes on here.
  const isIdempotent = waitedForAgents || converses || isRepeatable(prepared.tool)
  const kept = resumption?.kept
  const agents = {
    began: waitedForAgents,
    begins: isIdempotent ? undefined : Effect.ignore(environment.suspensions.noteAgents(approvalId))
  }
  const { begin, reopens } = waitedForAgents ? Reopening.make(environment, began, isPassedOver) : Reopening.never
  const waiting: Suspending.Waiting = { call, prepared, previous: approvalId, edits, began, kept, reopens }
  // The journal lets one run of this claim begin; the store, whoever the journal is. Where the store cannot say, nothing has
  // begun, and it may be tried again.
  const takeState = Effect.result(Effect.retry(environment.suspensions.take(approvalId), { times: 3 }))
  return environment.journal.run(claim, {
    effect: Effect.flatMap(
      takeState,
      (taken): Effect.Effect<Ended | ApprovalJournal.Unbegun> =>
        Result.isFailure(taken)
          ? Effect.succeed({ unbegun: taken.failure })
          : taken.success || isIdempotent
          ? Spans.run(Effect.andThen(begin, run(environment, handlers, waiting, resumption, agents, emit)), claim)
          : Effect.succeed(
            Recording.record(Results.interrupted({ id: call.toolCallId, name: call.toolName }, takenReason), waiting)
          )
    ),
    idempotent: isIdempotent,
    joinOnly,
    endsWithReader: waitedForAgents || isAgent(prepared.tool),
    within: () => agents.began ? began : undefined
  }).pipe(
    // Given up only when the outcome is on record: until then a run that is repeated needs it.
    Effect.tap(({ entry }) =>
      entry.state === "running" || entry.state === "unknown" || entry.state === "pending"
        ? Effect.void
        : Effect.ignore(environment.suspensions.end(approvalId))
    ),
    Effect.flatMap((settled) => executed(settled, waiting, Words.begunAndEnded))
  )
}

/** Waits for the end of a run that goes on elsewhere, of a call that cannot be run here. */
export const awaited = (
  environment: Environment.Environment,
  claim: ApprovalJournal.Claim,
  root: string,
  begun: string | undefined
): Effect.Effect<Executed, ApprovalError.ApprovalError> => {
  const call = { id: claim.toolCallId, name: claim.toolName }
  return Effect.flatMap(
    // Who only joins never begins.
    environment.journal.run(claim, { effect: Effect.never, idempotent: false, joinOnly: true }),
    ({ entry }) => recorded(entry, call, { root, tool: undefined, begun, waitsAs: claim.approvalId })
  )
}

const takenReason =
  "The tool was answered and went on before; what became of it is not known here. Check before calling" +
  " it again."

const executed = (
  { entry, ran }: ApprovalJournal.Settled,
  waiting: Suspending.Waiting,
  begun?: string
): Effect.Effect<Executed> => {
  const { call: { root, toolCallId: id, toolName: name }, prepared, previous: waitsAs } = waiting
  return ran === undefined
    ? recorded(entry, { id, name }, { root, tool: prepared.tool, begun, waitsAs })
    : Effect.succeed(ranTo(entry, ran, waiting, Results.settles(root, ran.recorded, entry.decidedBy)))
}

// A run that came to its end just now, as its first reader has it.
const ranTo = (
  entry: ApprovalJournal.Entry,
  { failure, recorded, ...ran }: ApprovalJournal.Ran,
  { call: { root, toolCallId: id, toolName: name } }: Suspending.Waiting,
  settles: Parameters<typeof Results.toolResult>[2]
): Executed => {
  const { modelOutput } = Results.ofRecorded({ id, name }, entry, root)
  return {
    part: Results.toolResult({ id, name }, { ...ran, isFailure: recorded.isFailure, modelOutput }, settles),
    failure
  }
}

/** What the journal holds of a run. */
export const recorded = Effect.fnUntraced(function*(
  entry: ApprovalJournal.Entry,
  call: Results.CallName,
  { begun, root, tool, waitsAs }: {
    /** The request that was claimed. */
    readonly waitsAs: string
    readonly root: string
    readonly tool: Tool.Any | undefined
    /** What is to be said of a tool that had begun. */
    readonly begun: string | undefined
  }
): Effect.fn.Return<Executed> {
  if (entry.state === "suspended" && entry.suspendedAs !== undefined) {
    return { part: undefined, failure: undefined, suspendedAs: entry.suspendedAs }
  }
  // It waits for the same again.
  if (entry.state === "pending") return { part: undefined, failure: undefined, suspendedAs: waitsAs }
  const part = Results.ofEntry(call, entry, root, begun)
  return { part: tool === undefined ? part : yield* Recording.decodeResult(tool, part), failure: undefined }
})

// Never fails: what went wrong is recorded, and carried for the turn to fail with. Interruption (Stop, shutdown)
// passes, and the journal records the outcome as unknown.
const run = (
  environment: Environment.Environment,
  handlers: Handlers,
  waiting: Suspending.Waiting,
  resumption: Deferral.Resumption | undefined,
  agents: Deferral.Run["agents"],
  emit: Emit
): Effect.Effect<Ended> => {
  const { began, prepared } = waiting
  const maxResultBytes = Environment.maxResultBytes(environment.options)
  const call = { id: prepared.toolCallId, name: prepared.toolName, params: prepared.encoded }
  const mayWait = Deferral.of(prepared.tool) !== undefined
  const assent = { approvalId: waiting.call.root }
  const emitPreliminary: Emit = (part) => emit({ ...part, metadata: { ...part.metadata, assent } })
  const handled = handlers.handle(call.name, call.params, call.id)
  const taken = take(
    handlers,
    environment.options.paramsInSpans ? handled : Spans.withoutParameters(handled),
    call,
    maxResultBytes,
    emitPreliminary
  )
  // What agents say goes to whoever reads the outermost turn.
  const telling: Within.Telling = (path, text) =>
    emit(Results.toolResult(call, { result: text, encodedResult: text, isFailure: false, preliminary: true }, {
      approvalId: waiting.call.root,
      path
    }))
  const told = mayWait && environment.within === undefined
    ? Effect.provideService(taken, Within.Telling, telling)
    : taken
  return Effect.matchCauseEffect(mayWait ? within(call, { agents, began, resumption }, told) : told, {
    onSuccess: (part) => Effect.succeed(Recording.record(part, waiting)),
    onFailure: (cause): Effect.Effect<Ended> => {
      const suspended = mayWait ? Deferral.suspendedOf(cause, call.name) : undefined
      if (suspended !== undefined) {
        const cannot = (reason: string): ApprovalJournal.Ran =>
          Recording.record(Results.interrupted(call, reason), waiting)
        const begins = Effect.match(Suspending.begin(environment, waiting, suspended), {
          onFailure: (reason): Ended => cannot(reason),
          onSuccess: ({ approvalId, keep, kept }): Ended => ({
            suspendedAs: approvalId,
            waiting: { keep, kept, otherwise: (error) => Effect.map(Suspending.unkept(waiting, error), cannot) }
          })
        })
        const { previous, reopens = Effect.succeed(false) } = waiting
        return suspended.interaction !== Nesting.name ? begins : Effect.flatMap(
          reopens,
          (reopens) => reopens ? Effect.succeed({ again: environment.suspensions.reopen(previous) }) : begins
        )
      }
      const unended = mayWait ? Deferral.unendedOf(cause) : undefined
      if (unended !== undefined) {
        return Effect.succeed(Recording.record(Results.interrupted(call, unended.reason), waiting, unended.stops))
      }
      return Cause.hasInterruptsOnly(cause) ? Effect.interrupt : Effect.map(
        Recording.encodeFailure(prepared.tool, cause),
        (failed): ApprovalJournal.Ran => ({
          ...Recording.record(Results.bounded(failed, maxResultBytes), waiting),
          failure: cause
        })
      )
    }
  })
}
