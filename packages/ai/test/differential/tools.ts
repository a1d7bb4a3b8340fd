/**
 * The tools of the differential tests, and the world their handlers live in: what each call is to do, and what was done.
 *
 * The tools are upstream's own, so that nothing of ours is in what upstream is given; only the gated one is ours, and a
 * toolkit of ours without one is upstream's.
 */
import { AiError, Prompt, Tool } from "effect/ai"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { Tool as AssentTool, Toolkit } from "../../src/index.ts"

// =============================================================================
// Tools
// =============================================================================

/** A service that a handler needs of whoever makes the call. */
export class Clerk extends Context.Service<Clerk, { readonly name: string }>()("@assent/ai/test/Clerk") {}

const Trouble = Schema.Struct({ trouble: Schema.String, code: Schema.FiniteFromString })

/** Fails the turn. */
export const Read = Tool.make("Read", {
  description: "Reads a file",
  parameters: Schema.Struct({ path: Schema.String, lines: Schema.optionalKey(Schema.FiniteFromString) }),
  success: Schema.Struct({ text: Schema.String, size: Schema.FiniteFromString }),
  failure: Trouble
})

/** Returns its failures; parameters and success decode to something else. */
export const Charge = Tool.make("Charge", {
  parameters: Schema.Struct({ amount: Schema.FiniteFromString, note: Schema.optionalKey(Schema.String) }),
  success: Schema.Struct({ at: Schema.DateFromString, total: Schema.BigIntFromString }),
  failure: Trouble,
  failureMode: "return"
})

/** Needs a service of its caller, and maps its result for the model. */
export const Ask = Tool.make("Ask", {
  parameters: Schema.Struct({ question: Schema.String }),
  success: Schema.String,
  failure: Trouble,
  failureMode: "return",
  dependencies: [Clerk],
  toModelOutput: (answer) => [Prompt.makePart("text", { text: `They say: ${answer}` })]
})

/** Without parameters, with nothing to say and no failure of its own: anything it succeeds with is encoded as nothing. */
export const Ping = Tool.make("Ping")

/** Known at run time only, by a JSON Schema: its parameters are not checked. */
export const Search = Tool.dynamic("Search", {
  parameters: { type: "object", properties: { query: { type: "string" } } },
  success: Schema.Struct({ found: Schema.Array(Schema.String) }),
  failure: Trouble
})

/** Known at run time only, by a schema. */
export const Lookup = Tool.dynamic("Lookup", {
  parameters: Schema.Struct({ term: Schema.Trim }),
  success: Schema.Struct({ found: Schema.Array(Schema.String) }),
  failure: Trouble,
  failureMode: "return"
})

/** Run by the provider. */
export const WebSearch = Tool.providerDefined({
  id: "provider.web_search",
  customName: "WebSearch",
  providerName: "web_search",
  args: Schema.Struct({ depth: Schema.Number }),
  parameters: Schema.Struct({ query: Schema.String, top: Schema.optionalKey(Schema.FiniteFromString) }),
  success: Schema.Struct({ hits: Schema.Array(Schema.DateFromString) }),
  failure: Schema.Struct({ reason: Schema.String })
})({ depth: 2 })

/** In the toolkit so that the engine has the turn; the model never calls it. */
export const Wipe = AssentTool.make("Wipe", {
  parameters: { disk: Schema.String },
  success: Schema.String,
  needsApproval: true
})

export const PlainTools = Toolkit.make(Read, Charge, Ask, Ping, Search, Lookup, WebSearch)

export const GatedTools = Toolkit.make(Read, Charge, Ask, Ping, Search, Lookup, WebSearch, Wipe)

export const localNames = ["Read", "Charge", "Ask", "Ping", "Search", "Lookup"] as const

export type LocalName = (typeof localNames)[number]

/** What is not in the toolkit, with the name of what every object has among it. */
export const unknownNames = ["Missing", "toString"] as const

/** What the engine says of a call of one of them beside these tools (law L8). */
export const unknownResult = (name: string, tools: ReadonlyArray<Tool.Any>) => ({
  type: "execution-interrupted",
  reason: `The tool "${name}" is not in the toolkit. Nothing ran. Call one of the available tools: ${
    tools.map(({ name }) => name).join(", ")
  }.`
})

/** In upstream's toolkit in place of what is missing: each answers at once, and as the engine does. */
const standIns: ReadonlyArray<Tool.Any> = unknownNames.map((name) =>
  Tool.make(name, {
    parameters: Schema.Unknown,
    failure: Schema.Struct({ type: Schema.String, reason: Schema.String }),
    failureMode: "return"
  })
)

export const withStandIns = (toolkit: Toolkit.Any): Toolkit.Any =>
  Toolkit.make(...Object.values(toolkit.tools as Record<string, Tool.Any>), ...standIns)

// =============================================================================
// What a model writes as parameters
// =============================================================================

export const paramsKinds = ["plain", "other", "excess", "invalid"] as const

export type ParamsKind = (typeof paramsKinds)[number]

/** `excess` is what the schema would write in another way: more keys, more zeros, more spaces. */
const params: Record<LocalName, Record<ParamsKind, unknown>> = {
  Read: {
    plain: { path: "a.txt" },
    other: { path: "b.txt", lines: "10" },
    excess: { path: "a.txt", lines: "010", more: true },
    invalid: { path: 1 }
  },
  Charge: {
    plain: { amount: "5" },
    other: { note: "tip", amount: "7.5" },
    excess: { amount: "7.50", note: "tip", more: [1] },
    invalid: { amount: "a lot" }
  },
  Ask: {
    plain: { question: "Who?" },
    other: { question: "" },
    excess: { question: "Who?", __proto__of: {} },
    invalid: { question: null }
  },
  Ping: { plain: {}, other: {}, excess: {}, invalid: { more: 1 } },
  Search: {
    plain: { query: "cats" },
    other: { b: [{ z: 1, a: null }], a: 1.5 },
    excess: "not even an object",
    // A JSON Schema is not checked, so these run.
    invalid: [1, "two", { three: 3 }]
  },
  Lookup: {
    plain: { term: "cats" },
    other: { term: "dogs" },
    excess: { term: "  cats ", more: null },
    invalid: "cats"
  }
}

export const paramsOf = (name: string, kind: ParamsKind): unknown =>
  Object.hasOwn(params, name) ? params[name as LocalName][kind] : { any: "thing" }

/** What a handler of this tool succeeds with, decoded. */
export const successOf = (name: string, word: string): unknown => {
  switch (name) {
    case "Read":
      return { text: `text ${word}`, size: word.length }
    case "Charge":
      return { at: new Date(1_700_000_000_000 + word.length), total: BigInt(word.length) }
    case "Ask":
      return `answer ${word}`
    case "Ping":
      return undefined
    default:
      return { found: [word] }
  }
}

// =============================================================================
// The world
// =============================================================================

export const endings = ["succeed", "fail", "reason", "unencodable", "invalid", "die"] as const

/** What a handler does when it is called; times are milliseconds. */
export interface Behaviour {
  readonly duration: number
  readonly preliminary: number
  readonly ending: (typeof endings)[number]
}

/** When the call of a case began. */
export const Start = Context.Reference<number>("@assent/ai/test/Start", { defaultValue: () => 0 })

/** Milliseconds since the call began. */
export const now: Effect.Effect<number> = Effect.flatMap(
  Start,
  (start) => Effect.map(Clock.currentTimeMillis, (millis) => millis - start)
)

export interface Run {
  readonly name: string
  readonly toolCallId: string | undefined
  readonly params: unknown
  readonly clerk: string | undefined
  readonly startedAt: number
  endedAt: number | undefined
  ended: "succeeded" | "failed" | "interrupted" | undefined
}

export interface World {
  readonly runs: Array<Run>
  readonly behaviourOf: (toolCallId: string | undefined) => Behaviour
}

const quiet: Behaviour = { duration: 0, preliminary: 0, ending: "succeed" }

export const makeWorld = (behaviours: ReadonlyMap<string, Behaviour>): World => ({
  runs: [],
  behaviourOf: (toolCallId) => behaviours.get(toolCallId ?? "") ?? quiet
})

type Handler = (params: unknown, context: Toolkit.HandlerContext<any>) => Effect.Effect<unknown, unknown>

const handlerOf = (world: World, name: string): Handler => (params, context) =>
  Effect.gen(function*() {
    const { duration, ending, preliminary } = world.behaviourOf(context.toolCallId)
    const clerk = yield* Effect.serviceOption(Clerk)
    const run: Run = {
      name,
      toolCallId: context.toolCallId,
      params,
      clerk: clerk._tag === "Some" ? clerk.value.name : undefined,
      startedAt: yield* now,
      endedAt: undefined,
      ended: undefined
    }
    world.runs.push(run)
    const word = context.toolCallId ?? ""
    const end = (ended: Run["ended"]) =>
      Effect.map(now, (now) => {
        run.endedAt = now
        run.ended = ended
      })
    return yield* Effect.gen(function*() {
      for (let index = 0; index < preliminary; index++) {
        yield* context.preliminary(successOf(name, `${word} step ${index}`))
        yield* Effect.sleep(duration)
      }
      yield* Effect.sleep(duration)
      return yield* finish(name, word, ending)
    }).pipe(
      Effect.tapCause(() => end("failed")),
      Effect.tap(() => end("succeeded")),
      Effect.onInterrupt(() => end("interrupted"))
    )
  })

const finish = (name: string, word: string, ending: Behaviour["ending"]): Effect.Effect<unknown, unknown> => {
  switch (ending) {
    case "succeed":
      return Effect.succeed(successOf(name, word))
    case "fail":
      return Effect.fail({ trouble: word, code: 7 })
    case "reason":
      return Effect.fail(new AiError.RateLimitError({}))
    case "unencodable":
      return Effect.succeed(name === "Ping" ? "pong" : { not: "a success" })
    case "invalid":
      return Effect.flatMap(Schema.decodeUnknownEffect(Schema.Number)(word), Effect.succeed)
    case "die":
      return Effect.die(new Error(`defect ${word}`))
  }
}

const handlersOf = (toolkit: Toolkit.Any, world: World) =>
  Object.fromEntries(
    Object.values(toolkit.tools as Record<string, Tool.Any>).map((tool) => [
      tool.name,
      standIns.includes(tool)
        ? () => Effect.fail(unknownResult(tool.name, calledHere(toolkit)))
        : handlerOf(world, tool.name)
    ])
  )

const calledHere = (toolkit: Toolkit.Any): ReadonlyArray<Tool.Any> =>
  Object.values(toolkit.tools as Record<string, Tool.Any>)
    .filter((tool) => tool !== WebSearch && !standIns.includes(tool))

/** A toolkit with its handlers in this world. */
export const resolve = (
  toolkit: Toolkit.Any,
  world: World
): Effect.Effect<Toolkit.WithHandler<Record<string, Tool.Any>>> => {
  const kit = toolkit as typeof PlainTools
  return Effect.provide(kit, kit.toLayer(handlersOf(toolkit, world) as never)) as never
}

/** The same handlers as a layer, for a toolkit that is passed as it is. */
export const layerOf = (toolkit: Toolkit.Any, world: World) =>
  (toolkit as typeof PlainTools).toLayer(handlersOf(toolkit, world) as never)

/** What a handler of a toolkit made by hand may give: any number of final results. */
export const finals = (count: number) =>
  Stream.fromIterable(Array.from({ length: count }, (_, index) => ({
    result: `final ${index}`,
    encodedResult: `final ${index}`,
    isFailure: false,
    preliminary: false
  })))
