/** When a question takes keys: after the terminal's word that it is on the screen, and a moment without any. */
import { assert, describe, it } from "@effect/vitest"
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as FileSystem from "effect/FileSystem"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Path from "effect/Path"
import * as Queue from "effect/Queue"
import * as Terminal from "effect/Terminal"
import * as TestClock from "effect/testing/TestClock"
import * as Reader from "../src/internal/reader.ts"
import * as Stage from "../src/internal/stage.ts"
import * as Style from "../src/internal/style.ts"

/** A terminal of 80 columns, and a question that is put there. */
const ask = Effect.gen(function*() {
  const input = yield* Queue.make<Terminal.UserInput, Cause.Done>()
  const sizes = yield* Queue.make<Terminal.Size, Cause.Done>()
  let shown = ""
  const terminal = Terminal.make({
    columns: Effect.succeed(80),
    rows: Effect.succeed(24),
    size: Effect.succeed(sizes),
    readInput: Effect.succeed(input),
    readLine: Effect.never,
    display: (text) => Effect.sync(() => void (shown += text))
  })
  const asked = Stage.run((stage) =>
    Reader.read(stage, {
      lines: [Style.prose("what will run")],
      question: "Run it?",
      choices: [{ key: "y", label: "yes", value: "yes" }, { key: "n", label: "no", value: "no" }]
    })
  )
  const fiber = yield* Effect.forkChild(Effect.provide(
    asked,
    Layer.mergeAll(Layer.succeed(Terminal.Terminal, terminal), FileSystem.layerNoop({}), Path.layer)
  ))
  const press = (name: string, text: string | undefined, modifiers = false) =>
    Effect.andThen(
      Queue.offer(input, {
        input: Option.fromUndefinedOr(text),
        key: { name, ctrl: modifiers, meta: modifiers, shift: modifiers }
      }),
      TestClock.adjust(0)
    )
  yield* TestClock.adjust(0)
  return {
    key: (text: string) => press(text, text),
    pasteStart: press("paste-start", undefined),
    pasteEnd: press("paste-end", undefined),
    /** What the terminal answers to a question for its status. */
    status: press("undefined", undefined, true),
    shown: () => shown,
    answer: Fiber.join(fiber),
    isOpen: Effect.sync(() => fiber.pollUnsafe() === undefined),
    leave: Queue.end(input)
  }
})

describe("a question", () => {
  it.effect("is on the screen whole, and then asks the terminal for its status", () =>
    Effect.gen(function*() {
      const { shown } = yield* ask
      assert.match(shown(), /what will run.*Run it\?.*…/s)
      assert.isTrue(shown().endsWith("\u001b[5n"))
    }))

  it.effect("takes no key that comes before the terminal's answer", () =>
    Effect.gen(function*() {
      const { answer, isOpen, key, status } = yield* ask
      for (let count = 0; count < 9; count++) {
        yield* key("y")
        yield* TestClock.adjust("100 millis")
      }
      assert.isTrue(yield* isOpen)
      yield* status
      yield* TestClock.adjust("100 millis")
      yield* key("n")
      assert.strictEqual(yield* answer, "no")
    }))

  it.effect("takes no key that follows another without a moment between, however long that goes on", () =>
    Effect.gen(function*() {
      const { answer, isOpen, key, shown, status } = yield* ask
      yield* status
      for (let count = 0; count < 50; count++) {
        yield* TestClock.adjust("99 millis")
        yield* key("y")
      }
      assert.isTrue(yield* isOpen)
      assert.notInclude(shown(), "›")
      yield* TestClock.adjust("100 millis")
      assert.include(shown(), "›")
      yield* key("n")
      assert.strictEqual(yield* answer, "no")
    }))

  it.effect("waits a second for a terminal that answers nothing", () =>
    Effect.gen(function*() {
      const { answer, isOpen, key } = yield* ask
      yield* TestClock.adjust("1 second")
      yield* key("y")
      assert.isTrue(yield* isOpen)
      yield* TestClock.adjust("100 millis")
      yield* key("n")
      assert.strictEqual(yield* answer, "no")
    }))

  it.effect("is not answered by a paste that goes on, nor by what follows it at once", () =>
    Effect.gen(function*() {
      const { answer, isOpen, key, pasteEnd, pasteStart, status } = yield* ask
      yield* pasteStart
      yield* key("y")
      yield* status
      yield* TestClock.adjust("1 minute")
      yield* key("y")
      assert.isTrue(yield* isOpen)
      yield* pasteEnd
      yield* key("y")
      yield* TestClock.adjust("99 millis")
      yield* key("y")
      assert.isTrue(yield* isOpen)
      yield* TestClock.adjust("100 millis")
      yield* key("n")
      assert.strictEqual(yield* answer, "no")
    }))

  it.effect("fails when the person leaves, before it takes keys too", () =>
    Effect.gen(function*() {
      const { answer, key, leave, shown } = yield* ask
      yield* key("y")
      yield* leave
      assert.isTrue(Terminal.isQuitError(yield* Effect.flip(answer)))
      // The rows that lived are gone, and pastes are the shell's again.
      assert.match(shown().replaceAll("\u001b", "ESC"), /ESC\[J.*ESC\[\?2004l$/s)
    }))
})
