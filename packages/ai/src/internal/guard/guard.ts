/**
 * A toolkit that asks before it runs, without a model around it: each call is judged, asked about and run where it is
 * handled, and blocks until somebody has answered. Nothing of it comes back in a history, so nothing is sealed.
 */
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Result from "effect/Result"
import * as Semaphore from "effect/Semaphore"
import * as Stream from "effect/Stream"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as Enclosing from "../asking/enclosing.ts"
import * as Levels from "../asking/levels.ts"
import type { Decision } from "../decide/decision.ts"
import { EnclosingTurn } from "../environment/enclosingTurn.ts"
import * as Environment from "../environment/environment.ts"
import { definedFields } from "../fields.ts"
import { type Case, make as makeFile, standing } from "../gather/file.ts"
import * as Remembering from "../gather/remembering.ts"
import * as Request from "../gather/request.ts"
import * as Tools from "../gather/tools.ts"
import * as Verdict from "../gather/verdict.ts"
import * as Results from "../history/results.ts"
import { advance, again, conclude } from "../run/loop.ts"
import * as Ours from "../run/ours.ts"
import * as Parts from "../run/parts.ts"
import * as Cryptography from "../seal/cryptography.ts"
import * as Consent from "../tool/consent.ts"
import * as Deferral from "../tool/deferral.ts"
import * as GatedTool from "../tool/gatedTool.ts"
import * as Handling from "../tool/handlers.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Presentation from "../tool/presentation.ts"
import { hand } from "./hand.ts"

export type AnyTools = Record<string, Tool.Any>

/** A toolkit with its handlers, whatever they need. */
export interface Handlers {
  readonly tools: AnyTools
  readonly handle: (name: string, params: unknown, ...rest: ReadonlyArray<unknown>) => Effect.Effect<Output, unknown>
}

type Output = Stream.Stream<Tool.HandlerResult<Tool.Any>, unknown>

export interface Options {
  /** As the engine around has it, or 30 seconds, where nothing is said. */
  readonly policyTimeLimit?: Duration.Input | undefined
  /** What holds where the toolkit was guarded. */
  readonly inside?: Levels.Levels | undefined
}

const nobodyReason = "This call needs a person's approval, and nobody can be asked here. Nothing ran."

// The model cannot do anything about it.
const tellNobody = ({ call: { toolName } }: Case["file"]): Effect.Effect<void> =>
  Effect.logWarning(
    `Assent: "${toolName}" of a guarded toolkit needs a person's approval, and nobody can be asked, so it did not run.` +
      " Provide ApprovalController.layerInteractive where the toolkit is used."
  )

const openReason = "This call needs a person's approval, and nobody has given it. Nothing ran; it may be asked again."

const heldReason = "The approval policy failed, so the approved call did not run. Nothing ran; it may be asked again."

/** The toolkit with every gated tool guarded; tools that were guarded before are not asked about twice. */
export const guard = <Kit extends AnyTools>(
  toolkit: Toolkit.WithHandler<Kit>,
  options: Options
): Toolkit.WithHandler<Kit> => {
  const inner = toolkit as unknown as Handlers // The services of its handlers are in the type of what handles a call.
  // What a person wants remembered counts for this toolkit, where no conversation is named.
  const session = Effect.runSync(Effect.cached(Cryptography.randomToken(16)))
  const shown: Shown = { permits: Semaphore.makeUnsafe(1), runs: 0 }
  const handle: Handlers["handle"] = (...args) =>
    Effect.flatMap(
      placeOf(options, session),
      (place) =>
        Effect.provideService(handleIn(place, ...args), ApprovalEvents.ApprovalEvents, place.environment.events)
    )
  const handleIn = Effect.fnUntraced(function*(
    { around, environment }: Place,
    name: string,
    params: unknown,
    toolCallId?: unknown,
    ...rest: ReadonlyArray<unknown>
  ): Effect.fn.Return<Output, unknown> {
    const tool = Tools.toolOf(inner.tools, name)
    const handled = (params: unknown, id: unknown) => within(around, inner.handle(name, params, id, ...rest))
    // One that goes on from where it waited was asked about when it began.
    const resumes = Deferral.resumes(yield* Deferral.CurrentRun, name, toolCallId)
    const asksNobody = tool === undefined || resumes || Tools.isProviderTool(tool) || Handling.isUnhandled(tool)
    if (asksNobody || !Tools.isGated(environment.policy, tool)) {
      const handling = handled(params, toolCallId)
      return yield* resumes ? Consent.give(handling, tool, name, toolCallId) : handling
    }
    const id = typeof toolCallId === "string" ? toolCallId : yield* Cryptography.randomToken(16)
    const run = (prepared: Prepare.Prepared) => Consent.give(handled(prepared.encoded, id), tool, name, id)
    const before = shown.runs
    const one = yield* read(environment, tool, { id, name, params })
    const said = yield* advance(hand, one, ["reply"])
    const decision = said._tag === "Need" ? yield* conclude(hand, one) : said
    if (decision._tag !== "Run") {
      if (isNobodys(one, decision)) yield* tellNobody(one.file)
      return Stream.succeed(resultOf(one, decision))
    }
    if (decision.as === "free") return yield* run(one.file.prepared!)
    const { edits, prepared } = one.file.approval!
    const output = isShown(one) ? runShown(shown, before, one, run) : yield* run(prepared)
    return edits === undefined ? output : Stream.map(output, tellEdits(prepared))
  })
  const tools = Record.map(inner.tools, (tool) => GatedTool.setGate(tool, false).annotate(Tools.Guarded, true))
  // The same tools and the same ways to call them.
  return { tools, handle } as unknown as Toolkit.WithHandler<Kit>
}

/**
 * Throws a `TypeError` for a tool of a guarded toolkit. It has no gate, because the toolkit asks where it is handled: with
 * handlers of another it would run unasked (law L1).
 */
export const refuseAlone = (tools: Iterable<Tool.Any>): void => {
  for (const tool of tools) {
    if (!Context.get(tool.annotations, Tools.Guarded)) continue
    throw new TypeError(
      `The tool "${tool.name}" is from a guarded toolkit, and nobody would be asked about it in another one. Put the tool` +
        " that you made into Toolkit.make, and guard that toolkit; Toolkit.join puts guarded toolkits together."
    )
  }
}

// The call as one that is to be decided.
const read = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  tool: Tool.Any,
  call: { readonly id: string; readonly name: string; readonly params: unknown }
): Effect.fn.Return<Case> {
  const turn = yield* EnclosingTurn
  const messages = turn?.messages ?? []
  const preparation = yield* Effect.result(Prepare.prepare(tool, call))
  const prepared = Result.getOrUndefined(preparation)
  const named = { toolCallId: call.id, toolName: call.name }
  return {
    file: makeFile({
      environment,
      call: named,
      tools: { [call.name]: tool },
      messages,
      announces: true,
      judge: Verdict.judge(environment, call.name, messages),
      subject: Effect.suspend(() => Remembering.subjectOf(prepared!)),
      request: ({ sealed }, shown) => Request.makeRequest(environment, sealed, prepared!, shown),
      prepared,
      failure: Result.isFailure(preparation) ? preparation.failure : undefined
    }),
    standing: standing(environment, {
      way: "guarded",
      tool: prepared === undefined ? "unfit" : "gated",
      finish: "complete"
    })
  }
})

/** Where a call is handled. */
interface Place {
  readonly environment: Environment.Environment
  /** What stands around what its handler does. */
  readonly around: Levels.Services | undefined
}

const placeOf = (
  { inside, policyTimeLimit }: Options,
  session: Effect.Effect<string>
): Effect.Effect<Place> => {
  const place = Effect.gen(function*() {
    const context = yield* Effect.context<never>()
    // Under our engine, what was provided to the model counts for its guarded tools too.
    const services = yield* Enclosing.context
    const turn = yield* EnclosingTurn
    const environment = yield* Environment.read(services, {
      ...(turn?.options ?? Environment.defaultOptions),
      ...definedFields({ policyTimeLimit })
    })
    const around = Levels.around(services, context)
    return environment.memory.remembers && environment.scope.conversation === undefined
      ? {
        around,
        environment: { ...environment, fleeting: false, memoryScope: yield* sessionScope(environment, session) }
      }
      : { around, environment }
  })
  return inside === undefined || inside === Levels.silent ? place : Effect.provideService(place, Levels.Inside, inside)
}

const sessionScope = ({ scope }: Environment.Environment, session: Effect.Effect<string>) =>
  Effect.map(session, (call) => ({ ...scope, call }))

// What a handler asks further in is asked within what holds for the guarded toolkit.
const within = (
  around: Levels.Services | undefined,
  handled: Effect.Effect<Output, unknown>
): Effect.Effect<Output, unknown> =>
  around === undefined ? handled : Effect.provideContext(Effect.map(handled, Stream.provideContext(around)), around)

/** The calls that were approved by what was shown of them run one after the other. */
interface Shown {
  readonly permits: Semaphore.Semaphore
  /** How many have ended: until then, a run may change what is shown. */
  runs: number
}

const isShown = ({ file }: Case): boolean =>
  file.questions[0] !== undefined && Presentation.shownIn(file.questions[0].sealed) !== undefined

// What was shown of this call may be what one that ran meanwhile has changed.
const runShown = (
  shown: Shown,
  before: number,
  one: Case,
  run: (prepared: Prepare.Prepared) => Effect.Effect<Output, unknown>
): Output =>
  Stream.unwrap(Effect.gen(function*() {
    yield* Effect.acquireRelease(shown.permits.take(1), () => shown.permits.release(1), { interruptible: true })
    const decision = shown.runs === before ? undefined : yield* again(hand, one)
    if (decision !== undefined && decision._tag !== "Run") return Stream.succeed(resultOf(one, decision))
    yield* Effect.addFinalizer(() => Effect.sync(() => shown.runs++))
    return yield* run(one.file.approval!.prepared)
  }))

const isNobodys = ({ file: { environment } }: Case, { _tag }: Decision): boolean =>
  _tag !== "Tell" && environment.controller.ask === undefined

// Nobody comes back to a call that is handled here: what is not approved now has failed.
const resultOf = (one: Case, decision: Exclude<Decision, { _tag: "Run" }>): Results.ResultPart => {
  const { file, standing: { questions } } = one
  const call = { id: file.call.toolCallId, name: file.call.toolName }
  if (decision._tag === "Tell" && decision.why !== "recorded") return Parts.toldPart(file, decision)
  if (decision._tag === "Tell") {
    const { ended } = file.questions[decision.at]!
    return typeof questions !== "string" && questions[decision.at]!.fate?.state === "denied"
      ? Results.denied(call, ended)
      : Results.interrupted(call, ended ?? openReason)
  }
  if (isNobodys(one, decision)) return Results.interrupted(call, nobodyReason)
  if (decision._tag === "Open" && decision.why === "held") return Results.interrupted(call, heldReason)
  const invalid = decision._tag === "Open" ? Ours.invalidEdit(file, decision.at, decision.why) : undefined
  const refused = file.refusal === undefined ? undefined : `${file.refusal.message} Nothing ran; it may be asked again.`
  return Results.interrupted(call, invalid?.message ?? refused ?? file.note ?? openReason)
}

const tellEdits =
  (prepared: Prepare.Prepared) => (output: Tool.HandlerResult<Tool.Any>): Tool.HandlerResult<Tool.Any> =>
    output.preliminary ? output : { ...output, modelOutput: Results.editedOutput(output, prepared.encoded) }
