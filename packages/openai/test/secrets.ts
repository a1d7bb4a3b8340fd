/** Secrets that can be found again, and every way in which a program may come to print what holds them. */
import { assert } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Formatter from "effect/Formatter"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as References from "effect/References"
import * as Tracer from "effect/Tracer"
import { inspect } from "node:util"

/** Every way a program may come to print a value. */
export const printed = (value: unknown): ReadonlyArray<readonly [string, string]> => [
  ["String", String(value)],
  ["JSON", JSON.stringify(value, withoutBigInt) ?? ""],
  ["inspect", inspect(value, { depth: 10, maxStringLength: null, maxArrayLength: null })],
  ["inspect with what is hidden", inspect(value, { depth: 10, showHidden: true, getters: true })],
  ["Formatter", Formatter.format(value)],
  ["Formatter.formatJson", Formatter.formatJson(value)],
  ["fields", JSON.stringify(fieldsOf(value, 6), withoutBigInt)],
  ["stack", value instanceof Error ? `${value.stack}` : ""]
]

const withoutBigInt = (_: string, value: unknown) => typeof value === "bigint" ? `${value}` : value

/** Own fields, also those that are not enumerable, as a thorough printer would walk them. */
const fieldsOf = (value: unknown, depth: number): unknown =>
  typeof value !== "object" || value === null || depth === 0
    ? typeof value === "function" || typeof value === "object" ? typeof value : value
    : Reflect.ownKeys(value).map((name) => [String(name), fieldsOf(Reflect.get(value, name), depth - 1)])

/** Asserts of values that no print of them shows one of these texts. */
export const silence = (secrets: ReadonlyArray<string>) => (what: string, value: unknown): void => {
  for (const [way, text] of printed(value)) {
    assert.deepStrictEqual(secrets.filter((secret) => text.includes(secret)), [], `${what}, ${way}`)
  }
}

/** Runs an effect and tells what it logged, to the console too, and what its spans say. */
export const watch = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const logs: Array<string> = []
    const spans: Array<Tracer.Span> = []
    const logger = Logger.make((options) => {
      logs.push(inspect(options, { depth: 10 }), Formatter.format(options.message), Cause.pretty(options.cause))
    })
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    const console_ = captureConsole()
    const exit = yield* effect.pipe(
      Effect.tapCause((cause) => Effect.logError("failed", cause)),
      Effect.withSpan("call"),
      Effect.exit,
      Effect.provide(Layer.mergeAll(Logger.layer([logger]), Layer.succeed(Tracer.Tracer, tracer))),
      Effect.provideService(References.MinimumLogLevel, "All"),
      Effect.ensuring(Effect.sync(() => console_.restore()))
    )
    return {
      exit,
      logs,
      spans: spans.map((span) => ({
        name: span.name,
        attributes: [...span.attributes],
        events: span instanceof Tracer.NativeSpan ? span.events : [],
        status: span.status
      })),
      written: console_.written
    }
  })

/** What is written to the console, which the SDK does by default. */
const captureConsole = () => {
  const written: Array<unknown> = []
  const names = ["log", "info", "warn", "error", "debug", "trace"] as const
  const originals = names.map((name) => console[name])
  for (const name of names) console[name] = (...args: ReadonlyArray<unknown>) => void written.push(args)
  return {
    written,
    restore: () => {
      names.forEach((name, index) => {
        console[name] = originals[index]!
      })
    }
  }
}
