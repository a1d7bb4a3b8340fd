/**
 * What the matrix of doors is made of: tools that need approval, toolkits, and ways into a turn, each of this package, of a
 * second copy of it, or of effect/ai.
 */
import { Cause, Context, Effect, Exit, type Layer, Option, Schema, Stream } from "effect"
import * as Upstream from "effect/ai"
import * as Assent from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"

export type Package = typeof Assent

/** The modules that a program takes from one package or from the other. */
export type Modules = Pick<Package, "Chat" | "LanguageModel" | "McpServer" | "Toolkit">

// Upstream's modules are called as ours are: a program differs in nothing but the import.
export const upstream = Upstream as unknown as Modules

type AnyKit = Assent.Toolkit.Toolkit<Record<string, Assent.Tool.Any>>
type AnyHandlers = Layer.Layer<Assent.Tool.Handler<string>>

// =============================================================================
// Tools
// =============================================================================

class Disk extends Context.Service<Disk, string>()("test/doors/Disk") {}

const parameters = Schema.Struct({ path: Schema.String })

const base = { parameters, success: Schema.String }

const needsApproval = true

export interface MadeTool {
  readonly tool: Assent.Tool.Any
  /** Whether anything of ours is in it. */
  readonly ours: boolean
}

const of = (ours: boolean) => (tool: unknown): MadeTool => ({ tool: tool as Assent.Tool.Any, ours })

/** Tools of one name that need approval, however they came to. */
export const toolsOf = ({ Tool }: Package): Record<string, MadeTool> => {
  const gated = Tool.make("Delete", { ...base, needsApproval })
  const open = Tool.make("Delete", base)
  const foreign = Upstream.Tool.make("Delete", base)
  const ours = {
    "Tool.make": gated,
    "Tool.make with fields and a function": Tool.make("Delete", {
      ...base,
      parameters: { path: Schema.String },
      needsApproval: ({ path }) => Effect.succeed(path !== "")
    }),
    "Tool.dynamic": Tool.dynamic("Delete", { ...base, needsApproval }),
    "Tool.dynamic of a JSON Schema": Tool.dynamic("Delete", {
      parameters: { type: "object", properties: { path: { type: "string" } } },
      success: Schema.String,
      needsApproval
    }),
    "a clone by setParameters": Tool.make("Delete", { success: Schema.String, needsApproval }).setParameters(
      parameters
    ),
    "a clone by setSuccess": Tool.make("Delete", { parameters, needsApproval }).setSuccess(Schema.String),
    "a clone by addDependency": gated.addDependency(Disk),
    "a clone by annotate": gated.annotate(Tool.Destructive, true),
    "a clone by its own setNeedsApproval": open.setNeedsApproval(true),
    "Tool.setNeedsApproval": Tool.setNeedsApproval(open, true),
    "Tool.setNeedsApproval of effect/ai's": Tool.setNeedsApproval(foreign, true),
    "Tool.present": Tool.present(gated, ({ path }) => Assent.ApprovalPresentation.text(path))
  }
  const theirs = {
    "effect/ai's Tool.make": Upstream.Tool.make("Delete", { ...base, needsApproval }),
    "effect/ai's Tool.dynamic": Upstream.Tool.dynamic("Delete", { ...base, needsApproval }),
    "effect/ai's clone by setNeedsApproval": foreign.setNeedsApproval(true)
  }
  return {
    ...Object.fromEntries(Object.entries(ours).map(([name, tool]) => [name, of(true)(tool)])),
    ...Object.fromEntries(Object.entries(theirs).map(([name, tool]) => [name, of(false)(tool)]))
  }
}

// =============================================================================
// Toolkits
// =============================================================================

export interface MadeKit {
  readonly kit: AnyKit
  readonly ours: boolean
}

/** Toolkits that have the tool; `merges` adds those that are merged of others. */
export const kitsOf = (ours: Package, tool: Assent.Tool.Any, merges = false): Record<string, MadeKit> => {
  const make = ({ Toolkit }: Modules, ...tools: ReadonlyArray<Assent.Tool.Any>) =>
    Toolkit.make(...tools) as unknown as AnyKit
  const Look = ours.Tool.make("Look", { success: Schema.String })
  const made = {
    "Toolkit.make": { kit: make(ours, tool), ours: true },
    "effect/ai's Toolkit.make": { kit: make(upstream, tool), ours: false }
  }
  return !merges ? made : {
    ...made,
    "Toolkit.merge": { kit: ours.Toolkit.merge(make(upstream, tool), make(ours, Look)), ours: true },
    "effect/ai's Toolkit.merge": { kit: upstream.Toolkit.merge(make(ours, tool), make(ours, Look)), ours: false }
  }
}

// =============================================================================
// Ways into a turn
// =============================================================================

export type Mode = "generate" | "stream"

type Parts = Effect.Effect<ReadonlyArray<Assent.Response.AnyPart>, unknown, Assent.LanguageModel.LanguageModel>

export interface Door {
  /** Whether the engine is around: by what was imported, or by what the model was made of. */
  readonly protects: boolean
  readonly open: (mode: Mode, history: Assent.Prompt.Prompt, prompt: Assent.Prompt.RawInput, kit: AnyKit) => Parts
  readonly model: (model: Assent.LanguageModel.LanguageModel) => Assent.LanguageModel.LanguageModel
}

type Turns = Pick<Assent.LanguageModel.LanguageModel, "generateText" | "streamText">

// The services of a kit's handlers are provided around the whole cell.
const turnOf = (
  turns: Turns,
  mode: Mode,
  options: { readonly prompt: Assent.Prompt.RawInput; readonly toolkit: AnyKit }
) =>
  (mode === "generate"
    ? Effect.map(turns.generateText(options), ({ content }) => content)
    : Stream.runCollect(turns.streamText(options))) as Parts

const functionsOf = ({ LanguageModel }: Modules): Door["open"] => (mode, history, prompt, toolkit) =>
  turnOf(LanguageModel as unknown as Turns, mode, { prompt: Assent.Prompt.concat(history, prompt), toolkit })

const yieldedOf = ({ LanguageModel }: Modules): Door["open"] => (mode, history, prompt, toolkit) =>
  Effect.gen(function*() {
    const model = yield* LanguageModel.LanguageModel
    return yield* turnOf(model, mode, { prompt: Assent.Prompt.concat(history, prompt), toolkit })
  })

const chatOf = ({ Chat }: Modules): Door["open"] => (mode, history, prompt, toolkit) =>
  Effect.gen(function*() {
    const chat = yield* Chat.fromPrompt(history)
    return yield* turnOf(chat as unknown as Turns, mode, { prompt, toolkit })
  })

export const doorsOf = (ours: Package): Record<string, Door> => {
  const bare = (model: Assent.LanguageModel.LanguageModel) => model
  const ways = { "LanguageModel's functions": functionsOf, "the service, yielded": yieldedOf, "Chat": chatOf }
  return Object.fromEntries(
    Object.entries(ways).flatMap(([name, way]): ReadonlyArray<readonly [string, Door]> => [
      [name, { protects: true, open: way(ours), model: bare }],
      [`effect/ai's ${name}`, { protects: false, open: way(upstream), model: bare }],
      [`effect/ai's ${name}, over a model with approval`, {
        protects: true,
        open: way(upstream),
        model: (model) => ours.LanguageModel.withApproval(model)
      }]
    ])
  )
}

// =============================================================================
// What comes of it
// =============================================================================

export interface Outcome {
  /** The sentence with which it was refused. */
  readonly refused: string | undefined
  readonly parts: ReadonlyArray<Assent.Response.AnyPart>
}

/** Takes one turn in which the model says this, with handlers that count. */
export const take = (
  { model, open, protects }: Door,
  { history, kit, layer, mode, prompt, ran, says }: {
    readonly mode: Mode
    readonly kit: AnyKit
    /** Whose layer has the handlers. */
    readonly layer: AnyKit
    readonly history: Assent.Prompt.Prompt
    readonly prompt: Assent.Prompt.RawInput
    readonly says: ScriptedModel.Turn
    readonly ran: Array<string>
  }
): Effect.Effect<Outcome> =>
  Effect.gen(function*() {
    // What upstream's engine sends is not ours to judge.
    const script = yield* ScriptedModel.make({ turns: [says], strict: protects })
    const exit = yield* Effect.exit(
      within(open(mode, history, prompt, kit), model(script.model), handlersOf(layer, ran))
    )
    return Exit.isSuccess(exit)
      ? { refused: undefined, parts: exit.value }
      : { refused: sentenceOf(exit.cause), parts: [] }
  })

/** Whatever a turn needs: the services of tools of any type are not in its own. */
export const within = <A, E>(
  effect: Effect.Effect<A, E, unknown>,
  model: Assent.LanguageModel.LanguageModel,
  handlers: AnyHandlers
): Effect.Effect<A, E> =>
  (effect as Effect.Effect<A, E, Assent.LanguageModel.LanguageModel | Assent.Tool.Handler<string> | Disk>).pipe(
    Effect.provideService(Assent.LanguageModel.LanguageModel, model),
    Effect.provide(handlers),
    Effect.provideService(Disk, "c:")
  )

export const handlersOf = (kit: AnyKit, ran: Array<string>): AnyHandlers =>
  kit.toLayer({
    Delete: (params: unknown) => Effect.sync(() => (ran.push(JSON.stringify(params)), "deleted")),
    Look: () => Effect.succeed("nothing")
  } as never) as unknown as AnyHandlers

/** Of a defect alone: a failure might be told to a model, and is no refusal. */
const sentenceOf = (cause: Cause.Cause<unknown>): string => {
  const defect = Option.getOrThrow(Option.fromNullishOr(cause.reasons.find(Cause.isDieReason))).defect
  return defect instanceof Error ? `${defect.name}: ${defect.message}` : String(defect)
}
