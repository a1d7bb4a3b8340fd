/**
 * What `@assent/ai` weighs for who uses little of it: the simplest program with a tool, bundled, and what Node loads for
 * one import; both beside the same on effect's own modules.
 */
import { Effect, Schema } from "effect"
import { type Bundle, bundle } from "./bundle.ts"
import { expectNone, run } from "./run.ts"

/** More than effect's own modules: bytes of gzip, and modules and bytes that Node loads. */
const bounds = { gzip: 99_000, modules: 55, bytes: 850_000 }

/** What it is to become. */
const goal = { gzip: 25_000 }

/** The simplest program with a tool. */
const program = (library: "@assent/ai" | "effect/ai") => `
  import * as LanguageModel from "${library}/LanguageModel"
  import * as Tool from "${library}/Tool"
  import * as Toolkit from "${library}/Toolkit"
  import * as Effect from "effect/Effect"
  import * as Schema from "effect/Schema"
  import * as Stream from "effect/Stream"

  const Weather = Tool.make("Weather", {
    parameters: Schema.Struct({ city: Schema.String }),
    success: Schema.String,
    needsApproval: true
  })
  const toolkit = Toolkit.make(Weather)

  const model = LanguageModel.make({
    generateText: () => Effect.succeed([{ type: "text", text: "It is sunny." }]),
    streamText: () => Stream.empty
  })

  export const answer = LanguageModel.generateText({ prompt: "What is the weather in Vienna?", toolkit }).pipe(
    Effect.provide(toolkit.toLayer({ Weather: ({ city }) => Effect.succeed(city) })),
    Effect.provideServiceEffect(LanguageModel.LanguageModel, model),
    Effect.runPromise
  )`

/** Prints what Node loads for an import: how many modules, of how many bytes. */
const counting = `
  import { registerHooks } from "node:module"
  let modules = 0
  let bytes = 0
  registerHooks({
    load: (url, context, next) => {
      const loaded = next(url, context)
      modules++
      bytes += loaded.source?.length ?? 0
      return loaded
    }
  })
  await import(process.argv[1])
  console.log(JSON.stringify({ modules, bytes }))`

const Loaded = Schema.fromJsonString(Schema.Struct({ modules: Schema.Finite, bytes: Schema.Finite }))

const largest = (ours: Bundle, upstream: Bundle) => {
  const known = new Set(upstream.parts.map(({ module }) => module))
  return ours.parts.filter(({ module }) => !known.has(module))
}

const kB = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`

/** Fails where they weigh more than the bounds; gives what they weigh. */
export const check = Effect.fnUntraced(function*(folder: string) {
  const ours = yield* Effect.promise(() => bundle(folder, program("@assent/ai")))
  const upstream = yield* Effect.promise(() => bundle(folder, program("effect/ai")))
  const load = (specifier: string) =>
    Effect.flatMap(
      run(folder, process.execPath, ["--input-type=module", "--eval", counting, specifier]),
      Schema.decodeEffect(Loaded)
    )
  const oursLoaded = yield* load("@assent/ai/LanguageModel")
  const upstreamLoaded = yield* load("effect/ai/LanguageModel")
  const more = {
    gzip: ours.gzip - upstream.gzip,
    modules: oursLoaded.modules - upstreamLoaded.modules,
    bytes: oursLoaded.bytes - upstreamLoaded.bytes
  }
  const own = largest(ours, upstream)
  yield* expectNone([
    ...more.gzip <= bounds.gzip ? [] : [
      `The simplest program has ${kB(more.gzip)} of gzip more than on effect alone, which are to be no more than ` +
      `${kB(bounds.gzip)} (the goal: ${kB(goal.gzip)}). Its largest modules, minified:`,
      ...own.slice(0, 10).map(({ bytes, module }) => `  ${kB(bytes).padStart(8)}  ${module}`)
    ],
    ...more.modules <= bounds.modules ? [] : [
      `To import @assent/ai/LanguageModel loads ${more.modules} modules more than effect's, and not ${bounds.modules}.`
    ],
    ...more.bytes <= bounds.bytes ? [] : [
      `To import @assent/ai/LanguageModel loads ${kB(more.bytes)} more than effect's, and not ${kB(bounds.bytes)}.`
    ]
  ])
  return { ...more, own }
})
