/**
 * The consent under which a gated tool runs, and its lock: the handler runs only where the engine or a guard has put the
 * consent to this very call into its context, and dies anywhere else (law L1). Never a failure: under the failure mode
 * "return" that would be told to the model, and the turn would go on.
 */
import type * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Gate from "./gate.ts"
import * as Handling from "./handlers.ts"

/** To one call of one tool. It may be used more than once: whoever stands before a handler may try again. */
export interface Consent {
  readonly toolName: string
  /** The tool's own name, where a toolkit calls it otherwise. */
  readonly ownName: string
  readonly toolCallId: unknown
}

/** `"any"` is a test's, which wants handlers to run without anybody to ask. The key is a string, so that two copies agree. */
export const Consent: Context.Reference<Consent | "any" | undefined> = Context.Reference<Consent | "any" | undefined>(
  "~@assent/ai/internal/Consent",
  { defaultValue: () => undefined }
)

/** A gated tool was called by a way on which nobody asked. */
export class WithoutConsent extends Error {
  override readonly name = "WithoutConsent"
  constructor(toolName: string) {
    super(
      `Assent: the tool "${toolName}" needs approval and was called without it, so it did not run. Import LanguageModel,` +
        " Chat, Toolkit and McpServer from @assent/ai, not from effect/ai; or put LanguageModel.approval() around the" +
        " model. Without a model, Toolkit.guard(toolkit) asks. A copy that asks less, setNeedsApproval(tool, false), needs" +
        " a layer of handlers of its own: Toolkit.make(copy).toLayer({ … })."
    )
  }
}

type Handled<A, E, E2> = Effect.Effect<Stream.Stream<A, E>, E2>

/** Gives the consent to one call, if its tool has a gate: one that has none needs none, and finds nothing of ours. */
export const give = <A, E, E2>(
  handled: Handled<A, E, E2>,
  tool: Tool.Any | undefined,
  toolName: string,
  toolCallId: unknown
): Handled<A, E, E2> => {
  const consent = of(tool, toolName, toolCallId)
  if (consent === undefined) return handled
  // Upstream's handlers run where they are begun; another's may run where their output is read.
  return Effect.provideService(Effect.map(handled, Stream.provideService(Consent, consent)), Consent, consent)
}

/** Gives it to what runs one call and reads all that it gives. */
export const giveTo = <A, E, R>(
  running: Effect.Effect<A, E, R>,
  tool: Tool.Any | undefined,
  toolName: string,
  toolCallId: unknown
): Effect.Effect<A, E, R> => {
  const consent = of(tool, toolName, toolCallId)
  return consent === undefined ? running : Effect.provideService(running, Consent, consent)
}

const of = (tool: Tool.Any | undefined, toolName: string, toolCallId: unknown): Consent | undefined =>
  tool === undefined || !Gate.isGated(tool) ? undefined : { toolName, ownName: tool.name, toolCallId }

const covers = (consent: Consent | "any" | undefined, toolName: string, toolCallId: unknown): boolean =>
  consent !== undefined && (consent === "any" ||
    (consent.toolName === toolName || consent.ownName === toolName) &&
      // Who stands between the engine and the handler may have lost the id.
      (toolCallId === undefined || consent.toolCallId === toolCallId))

// =============================================================================
// The lock
// =============================================================================

/** Takes the consent away: what runs within a consented call has none of its own. */
export const withoutConsent = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  // Providing nothing to a reference leaves the services that are required as they are.
  Effect.updateContext(effect, omit as (context: Context.Context<R>) => Context.Context<R>)

const omit = Context.omit(Consent)

type Run = (...args: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>

/** Marks what is locked. A string, so that no other copy of this module locks it twice. */
const LockedTypeId = "~@assent/ai/Tool/Locked" as const

/** The handler of a tool, locked if the tool has a gate. It is looked at with its parameters decoded, as upstream calls it. */
export const lock = <Handler>(tool: Tool.Any, handler: Handler): Handler => {
  if (typeof handler !== "function" || LockedTypeId in handler || !Gate.isGated(tool)) return handler
  const run = handler as unknown as Run
  const locked = (params: unknown, context?: { readonly toolCallId?: unknown }, ...rest: ReadonlyArray<unknown>) =>
    Effect.flatMap(Consent, (consent) => {
      if (!covers(consent, tool.name, context?.toolCallId)) return Effect.die(new WithoutConsent(tool.name))
      const running = Effect.suspend(() => Handling.running(tool.name, run(params, context, ...rest)))
      return consent === "any" ? running : withoutConsent(running)
    })
  return Object.assign(locked, { [LockedTypeId]: true }) as unknown as Handler // takes and gives what it took and gave
}

/** What handles the calls of tools that all have a gate, where the handlers are somebody else's. */
export const lockHandle = <Handle>(tools: Readonly<Record<string, Tool.Any>>, handle: Handle): Handle => {
  const run = handle as unknown as Run
  const locked: Run = (name, params, toolCallId, ...rest) =>
    Effect.suspend(() => {
      const tool = typeof name === "string" && Object.hasOwn(tools, name) ? tools[name] : undefined
      if (tool === undefined) return run(name, params, toolCallId, ...rest)
      return Effect.flatMap(Consent, (consent) =>
        covers(consent, name as string, toolCallId) || covers(consent, tool.name, toolCallId)
          ? run(name, params, toolCallId, ...rest)
          : Effect.die(new WithoutConsent(name as string)))
    })
  return locked as unknown as Handle // takes and gives what it took and gave
}
