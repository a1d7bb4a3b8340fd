/** When a question takes keys: after the terminal's word that it is on the screen, and a moment without any. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Terminal from "effect/Terminal"
import * as TestClock from "effect/testing/TestClock"
import * as Question from "./question.ts"

const askIn = (columns: number) => Question.put({ columns })

const ask = askIn(80)

describe("a question", () => {
  it.effect("is on the screen whole, and then asks the terminal for its status", () =>
    Effect.gen(function*() {
      const { shown } = yield* ask
      assert.match(shown(), /row 0.*Run it\?.*…/s)
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
      assert.strictEqual(yield* answer, "n")
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
      assert.strictEqual(yield* answer, "n")
    }))

  it.effect("waits a second for a terminal that answers nothing", () =>
    Effect.gen(function*() {
      const { answer, isOpen, key } = yield* ask
      yield* TestClock.adjust("1 second")
      yield* key("y")
      assert.isTrue(yield* isOpen)
      yield* TestClock.adjust("100 millis")
      yield* key("n")
      assert.strictEqual(yield* answer, "n")
    }))

  it.effect("is not answered by a paste that goes on, nor by what follows it at once", () =>
    Effect.gen(function*() {
      const { answer, isOpen, key, pasteEnd, pasteStart, shown, status } = yield* ask
      yield* pasteStart
      yield* key("y")
      yield* status
      yield* TestClock.adjust("1 minute")
      yield* key("y")
      assert.isTrue(yield* isOpen)
      assert.notInclude(shown(), "›")
      yield* pasteEnd
      yield* key("y")
      yield* TestClock.adjust("99 millis")
      yield* key("y")
      assert.isTrue(yield* isOpen)
      yield* TestClock.adjust("100 millis")
      yield* key("n")
      assert.strictEqual(yield* answer, "n")
    }))

  it.effect("that takes pastes gets each with its own text alone", () =>
    Effect.gen(function*() {
      const { answer, armed, given, key, pasteEnd, pasteStart } = yield* Question.put({ pastes: true })
      yield* armed
      for (const text of ["ab", "n"]) {
        yield* pasteStart
        for (const letter of text) yield* key(letter)
        yield* pasteEnd
      }
      yield* key("y")
      assert.strictEqual(yield* answer, "y")
      assert.deepStrictEqual(given, ["ab", "n", "y"])
    }))

  it.effect("at somebody else's terminal keeps nothing of what the program writes at its own", () => {
    const { stdout } = process
    const { isTTY, write } = stdout
    const written: Array<unknown> = []
    return Effect.gen(function*() {
      stdout.isTTY = true
      stdout.write = (chunk: unknown) => written.push(chunk) > 0
      const { answer, armed, key } = yield* ask
      stdout.write("a row of the program\n")
      assert.deepStrictEqual(written, ["a row of the program\n"])
      yield* armed
      yield* key("y")
      yield* answer
    }).pipe(Effect.ensuring(Effect.sync(() => Object.assign(stdout, { isTTY, write }))))
  })

  it.effect("is not answered by a key that others follow at once: a paste of a terminal that does not say so", () =>
    Effect.gen(function*() {
      const { answer, armed, isOpen, key, shown } = yield* ask
      yield* armed
      for (const text of "yes, please") yield* key(text)
      yield* TestClock.adjust("99 millis")
      assert.isTrue(yield* isOpen)
      assert.match(shown(), /…[^›]*$/)
      yield* TestClock.adjust("1 millis")
      assert.match(shown(), /›[^…]*$/)
      yield* key("y")
      yield* TestClock.adjust("29 millis")
      assert.isTrue(yield* isOpen)
      yield* TestClock.adjust("1 millis")
      assert.isFalse(yield* isOpen)
      assert.strictEqual(yield* answer, "y")
    }))

  it.effect("that was put where nothing could be read is put again, whole, where it can", () =>
    Effect.gen(function*() {
      const { answer, armed, isOpen, key, resize, shown } = yield* askIn(10)
      yield* armed
      yield* key("y")
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* isOpen)
      const before = shown().length
      yield* resize(80, 24)
      assert.include(shown().slice(before), "row 0")
      yield* armed
      yield* key("y")
      assert.strictEqual(yield* answer, "y")
    }))

  it.effect("that is put again waits again: what the terminal said of the first time counts for that alone", () =>
    Effect.gen(function*() {
      for (const [before, resized] of [["0 millis", "50 millis"], ["700 millis", "0 millis"]] as const) {
        const { answer, isOpen, key, leave, resizing, shown, status } = yield* ask
        if (before !== "0 millis") yield* status
        yield* TestClock.adjust(before)
        yield* resizing(40, 24)
        yield* TestClock.adjust("100 millis")
        if (before === "0 millis") yield* status
        yield* TestClock.adjust(resized)
        yield* TestClock.adjust("50 millis")
        yield* TestClock.adjust("400 millis")
        yield* key("y")
        yield* TestClock.adjust("50 millis")
        assert.isTrue(yield* isOpen)
        assert.match(shown(), /…[^›]*$/)
        yield* leave
        yield* Effect.flip(answer)
      }
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

  it.effect("leaves a terminal that can be used when the program crashes, and nothing behind when it is answered", () =>
    Effect.gen(function*() {
      const before = process.listeners("exit")
      const { answer, armed, key, shown } = yield* ask
      yield* armed
      const atExit = process.listeners("exit").filter((listener) => !before.includes(listener))
      assert.strictEqual(atExit.length, 1)
      for (const listener of atExit) listener(1)
      assert.isTrue(shown().replaceAll("\u001b", "ESC").endsWith("ESC[JESC[?25hESC[?2004l"))
      yield* key("y")
      yield* answer
      assert.deepStrictEqual(process.listeners("exit"), before)
    }))
})
