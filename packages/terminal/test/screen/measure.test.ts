/** What a terminal is asked, and what comes of its answers: signs, widths, and never a key. */
import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import * as Terminal from "effect/Terminal"
import * as TestClock from "effect/testing/TestClock"
import * as Stage from "../../src/internal/screen/stage.ts"
import * as Signs from "../../src/internal/text/signs.ts"

type Answer = "narrow" | "wide" | "none"

const key = (name: string, modifiers = false) => ({ name, ctrl: modifiers, meta: modifiers, shift: modifiers })

/** A terminal that answers to questions of where its cursor is, as Node reads it, and to those of its status. */
const terminalOf = Effect.fnUntraced(function*(answers: ReadonlyArray<Answer>) {
  const input = yield* Queue.make<Terminal.UserInput, Cause.Done>()
  let shown = ""
  const answer = (text: string) => {
    const asked = text.split("\u001b[6n").length - 1
    for (const one of answers.slice(0, asked)) {
      if (one !== "none") Queue.offerUnsafe(input, { input: Option.none(), key: key("undefined") })
      if (one === "wide") Queue.offerUnsafe(input, { input: Option.some("R"), key: { ...key("r"), shift: true } })
    }
    if (text.includes("\u001b[5n")) Queue.offerUnsafe(input, { input: Option.none(), key: key("undefined", true) })
  }
  const terminal = Terminal.make({
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    size: Queue.make<Terminal.Size, Cause.Done>(),
    readInput: Effect.succeed(input),
    readLine: Effect.never,
    display: (text) =>
      Effect.sync(() => {
        shown += text
        answer(text)
      })
  })
  return {
    press: (name: string) => Queue.offer(input, { input: Option.some(name), key: key(name) }),
    undefinedKey: Queue.offer(input, { input: Option.none(), key: key("undefined") }),
    shown: () => shown,
    services: Layer.mergeAll(Layer.succeed(Terminal.Terminal, terminal), FileSystem.layerNoop({}), Path.layer)
  }
})

/** Until the fibers have done what they can at this time. */
const settled = Effect.forEach([1, 2, 3, 4, 5], () => TestClock.adjust(0), { discard: true })

/** Until a question takes keys, and what is typed then. */
const typed = Effect.fnUntraced(function*({ press }: { press: (name: string) => Effect.Effect<unknown> }) {
  yield* settled
  yield* TestClock.adjust("100 millis")
  yield* press("y")
  yield* settled
  yield* TestClock.adjust("50 millis")
})

/** The screen that a question is drawn for, and the keys that it got until one was y. */
const asking = Stage.run((stage) =>
  Stage.prompt<ReadonlyArray<string>, { readonly keys: ReadonlyArray<string>; readonly screen: Stage.Screen }>(stage, {
    guarded: true,
    refusesPaste: true,
    begin: () => ({ state: [] }),
    draw: (_, screen) => Stage.asking("Run it?", screen),
    on: (state, happening, screen) => {
      const keys = happening._tag === "Key" ? [...state, happening.name] : state
      return keys.at(-1) === "y"
        ? { _tag: "Done", value: { keys, screen } }
        : { _tag: "Next", state: keys }
    }
  })
)

const unicode = ConfigProvider.layer(ConfigProvider.fromEnv({ env: { LANG: "C.UTF-8" } }))

describe("a terminal", () => {
  const answered = Effect.fnUntraced(function*(answers: ReadonlyArray<Answer>, env: Record<string, string>) {
    const terminal = yield* terminalOf(answers)
    const services = Layer.mergeAll(terminal.services, ConfigProvider.layer(ConfigProvider.fromEnv({ env })))
    const fiber = yield* Effect.forkChild(Effect.provide(asking, services))
    yield* typed(terminal)
    return { ...yield* Fiber.join(fiber), shown: terminal.shown() }
  })

  it.effect("that draws our signs in one cell gets them, and rows to its right side", () =>
    Effect.gen(function*() {
      const { keys, screen } = yield* answered(["narrow", "narrow", "narrow"], { LANG: "de_DE.UTF-8" })
      assert.deepStrictEqual(keys, ["y"])
      assert.strictEqual(screen.signs, Signs.unicode)
      assert.strictEqual(screen.ambiguous, 1)
    }))

  it.effect("that draws one of them in two gets ASCII, and the text of others as it is", () =>
    Effect.gen(function*() {
      const { keys, screen, shown } = yield* answered(["narrow", "wide", "narrow"], {})
      assert.deepStrictEqual(keys, ["y"])
      assert.strictEqual(screen.signs, Signs.ascii)
      assert.deepStrictEqual([screen.ambiguous, screen.ascii], [2, false])
      assert.include(shown, "Run it? :")
    }))

  it.effect("of another encoding, or a dumb one, gets ASCII alone, and is not asked", () =>
    Effect.gen(function*() {
      for (const env of [{ LANG: "C" }, { LC_ALL: "de_DE@euro", LANG: "C.UTF-8" }, { TERM: "dumb" }]) {
        const { screen, shown } = yield* answered([], env as unknown as Record<string, string>)
        assert.deepStrictEqual([screen.signs, screen.ascii], [Signs.ascii, true])
        assert.notMatch(shown, /[^\0-\u007e]/)
        assert.notInclude(shown, "\u001b[6n")
      }
    }))

  it.effect("that does not answer is waited for a second, and drawn for with care; its late answers are no keys", () =>
    Effect.gen(function*() {
      const terminal = yield* terminalOf(["narrow"])
      const fiber = yield* Effect.forkChild(Effect.provide(asking, Layer.mergeAll(terminal.services, unicode)))
      yield* TestClock.adjust(0)
      yield* TestClock.adjust("999 millis")
      assert.notInclude(terminal.shown(), "Run it?")
      yield* TestClock.adjust("1 millis")
      yield* TestClock.adjust(0)
      assert.include(terminal.shown(), "Run it?")
      yield* terminal.undefinedKey
      yield* typed(terminal)
      const { keys, screen } = yield* Fiber.join(fiber)
      assert.deepStrictEqual(keys, ["y"])
      assert.strictEqual(screen.signs, Signs.unicode)
      assert.strictEqual(screen.ambiguous, 2)
    }))

  it.effect("is asked once", () =>
    Effect.gen(function*() {
      const terminal = yield* terminalOf(["narrow", "narrow", "narrow"])
      const services = Layer.mergeAll(terminal.services, unicode)
      for (let count = 0; count < 3; count++) {
        const fiber = yield* Effect.forkChild(Effect.provide(asking, services))
        yield* typed(terminal)
        yield* Fiber.join(fiber)
      }
      assert.strictEqual(terminal.shown().split("\u001b[6n").length, 4)
    }))
})
