/**
 * Who runs a tool's calls. Upstream looks for a handler when a call is to run, which is after a person has agreed to it;
 * here it is known when the turn begins. What has none on purpose is never looked for: a tool that the provider runs, and
 * any tool where the program resolves the calls itself.
 */
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { constVoid } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as ApprovalError from "../../ApprovalError.ts"
import * as GatedTool from "./gatedTool.ts"
import * as Schemas from "./schemas.ts"

type Tools = Readonly<Record<string, Tool.Any>>

/** A toolkit with its handlers, whatever they need. */
export interface Handlers {
  readonly tools: Tools
  readonly handle: (name: string, ...rest: ReadonlyArray<unknown>) => Effect.Effect<unknown, unknown>
}

// =============================================================================
// Tools without a handler
// =============================================================================

// On the tool, so that it goes wherever the tool goes: through a guard, a policy, or a join.
const Unhandled = Context.Reference<boolean>("~@assent/ai/Tool/Unhandled", { defaultValue: () => false })

/** Whether it is known that nobody handles the calls of this tool. */
export const isUnhandled = (tool: Tool.Any): boolean => Context.get(tool.annotations, Unhandled)

const hasHandler = (tool: Tool.Any, context: Context.Context<never>): boolean => {
  if (Tool.isProviderDefined(tool) && !tool.requiresHandler) return true
  const found = GatedTool.handlerIn(context, tool)
  return typeof found?.handler === "function"
}

/** A toolkit that was built in this context: tools that nobody handles are marked, and what calls one fails with a reason. */
export const mark = <Kit extends Handlers>(built: Kit, context: Context.Context<never>): Kit => {
  const missing = new Set(Object.keys(built.tools).filter((name) => !hasHandler(built.tools[name]!, context)))
  if (missing.size === 0) return built
  const handle: Handlers["handle"] = (name, ...rest) =>
    missing.has(name)
      ? Effect.fail(ApprovalError.toAiError(unhandled([name]), `${name}.handle`, "Toolkit"))
      : built.handle(name, ...rest)
  const tools = Object.entries(built.tools).map(([name, tool]) =>
    [name, missing.has(name) && !isUnhandled(tool) ? tool.annotate(Unhandled, true) : tool] as const
  )
  return { ...built, tools: Object.fromEntries(tools), handle }
}

/** A toolkit and its handlers, with those tools marked that nobody handles, also where the toolkit is effect/ai's. */
export const resolve = <Kit, E, R>(toolkit: Kit | Effect.Effect<Kit, E, R>): Effect.Effect<Kit, E, R> =>
  !Effect.isEffect(toolkit)
    ? Effect.succeed(toolkit)
    : Predicate.hasProperty(toolkit, "toHandlers") // what has no handlers of its own, other than an effect that gives any
    ? Effect.contextWith((context: Context.Context<R>) =>
      // A toolkit gives its tools with their handlers.
      Effect.map(toolkit, (built) => mark(built as Kit & Handlers, context as Context.Context<never>))
    )
    : toolkit

// =============================================================================
// What a turn cannot be taken with
// =============================================================================

/** Why no turn can be taken with this toolkit; `undefined` if one can. */
export const problemOf = (
  toolkit: unknown,
  { resolvesCalls }: { readonly resolvesCalls: boolean }
): ApprovalError.ApprovalError | undefined => {
  if (!isBuilt(toolkit)) return notToolkit(toolkit)
  const missing: Array<string> = []
  for (const name in toolkit.tools) {
    const tool = toolkit.tools[name]!
    const problem = Schemas.problemOf(tool)
    if (problem !== undefined) return refusal([name], problem)
    if (resolvesCalls && isUnhandled(tool)) missing.push(name)
  }
  return missing.length === 0 ? undefined : unhandled(missing)
}

const isBuilt = (u: unknown): u is Handlers =>
  Predicate.hasProperty(u, "tools") && Predicate.isObject(u.tools) && Predicate.hasProperty(u, "handle")

const refusal = (toolNames: ReadonlyArray<string>, description: string): ApprovalError.ApprovalError =>
  ApprovalError.make(new ApprovalError.InvalidToolkit({ toolNames, description }))

const notToolkit = (u: unknown): ApprovalError.ApprovalError =>
  refusal([], `It is ${Schemas.kindOf(u)}, not a toolkit: give Toolkit.make(DeleteFile, ReadFile).`)

const unhandled = (names: ReadonlyArray<string>): ApprovalError.ApprovalError => {
  const handlers = names.map((name) => `${name}: (params) => …`).join(", ")
  return refusal(
    names,
    `${names.join(", ")} ${
      names.length === 1 ? "has no handler" : "have no handlers"
    }: provide toolkit.toLayer({ ${handlers} }).`
  )
}

// =============================================================================
// What handlers give
// =============================================================================

/** A handler gave something that cannot be run. A defect, because nobody knows what it did. */
export class NotAnEffect extends Error {
  override readonly name = "NotAnEffect"
  constructor(toolName: string, given: unknown, written: string) {
    super(
      `Assent: the handler of "${toolName}" returned ${
        Schemas.kindOf(given)
      }, not an Effect, so its result is not known.` +
        (Predicate.isPromiseLike(given)
          ? ` Write ${written} => Effect.promise(async () => { … }).`
          : ` Write ${written} => Effect.succeed(…), or Effect.sync(() => …).`)
    )
  }
}

/** What a handler gave, if it can be run: what is no effect, effect would wait for without end. `written` is how it begins. */
export const running = <Given>(
  toolName: string,
  given: Given,
  written: string = `${toolName}: (params)`
): Given | Effect.Effect<never> => {
  if (Effect.isEffect(given)) return given
  // Nobody will await it, and its rejection must not end the process.
  if (Predicate.isPromise(given)) given.catch(constVoid)
  return Effect.die(new NotAnEffect(toolName, given, written))
}

type Run = (...args: ReadonlyArray<unknown>) => unknown

/** A handler whose result is looked at. */
export const checked = (toolName: string, handler: unknown): unknown =>
  typeof handler === "function"
    ? (...args: ReadonlyArray<unknown>) => running(toolName, (handler as Run)(...args))
    : handler
