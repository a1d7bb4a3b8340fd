/** What stands in place, and which keys count after it was drawn again. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Terminal from "effect/Terminal"
import * as TestClock from "effect/testing/TestClock"
import { makeScreen } from "../pty.ts"
import * as Question from "./question.ts"

/** One that takes keys already. */
const ask = (options?: Parameters<typeof Question.put>[0]) => Effect.tap(Question.put(options), ({ armed }) => armed)

/** What a screen shows of what was written. */
const seen = (text: string, columns = 80, rows = 24): Effect.Effect<ReadonlyArray<string>> =>
  Effect.callback((resume) => {
    const screen = makeScreen(columns, rows)
    screen.write(text.replaceAll("\n", "\r\n"), () => {
      const buffer = screen.buffer.normal
      const shown = Array.from({ length: buffer.length }, (_, index) => buffer.getLine(index)!.translateToString(true))
      resume(Effect.succeed(shown.map((row) => row.trimEnd()).join("\n").trimEnd().split("\n")))
    })
  })

describe("a question that stands in place", () => {
  it.effect("is there once, however often it is drawn, and is one row in the end", () =>
    Effect.gen(function*() {
      const { answer, key, shown } = yield* ask()
      for (const one of ["a", "b", "c"]) {
        yield* key(one)
        yield* TestClock.adjust("50 millis")
      }
      assert.deepStrictEqual(yield* seen(shown()), ["  │ row 0", "  │ row 1", "  │ row 2", "Run it? ›"])
      yield* key("y")
      yield* answer
      assert.deepStrictEqual(yield* seen(shown()), ["said y"])
    }))

  it.effect("is never taller than the window, so that nothing above it is lost", () =>
    Effect.gen(function*() {
      const { answer, key, shown } = yield* ask({ height: 100 })
      yield* key("a")
      const rows = yield* seen(`before\n${shown()}`)
      assert.strictEqual(rows.length, 25)
      assert.deepStrictEqual([rows[0], rows[1], rows.at(-1)], ["before", "  │ row 77", "Run it? ›"])
      yield* key("y")
      yield* answer
    }))

  it.effect("is never wider: what does not fit goes on behind a mark", () =>
    Effect.gen(function*() {
      const { answer, key, shown } = yield* ask({ height: 1, row: () => `  │ ${"漢".repeat(60)}` })
      const rows = yield* seen(shown())
      assert.deepStrictEqual(rows.map((row) => row.slice(0, 4)), ["  │ ", "  ⋮ ", "Run "])
      yield* key("y")
      yield* answer
    }))

  it.effect("begins at the left, below a row that a program left open", () =>
    Effect.gen(function*() {
      for (const open of ["", "a", "x".repeat(79)]) {
        const { answer, key, shown } = yield* ask({ height: 1 })
        const rows = yield* seen(`${open}${shown()}`)
        assert.deepStrictEqual(rows, [...(open === "" ? [] : [open]), "  │ row 0", "Run it? ›"])
        yield* key("n")
        yield* answer
      }
    }))

  it.effect("is of the letters that it has, whatever a program has made of letters before", () =>
    Effect.gen(function*() {
      // Line drawing in place of letters, what is written pushes what is there, and all of it invisible.
      const { answer, key, shown } = yield* ask({ height: 1 })
      const rows = yield* seen(`\u001b(0\u001b[4h\u001b[8m${shown()}`)
      assert.deepStrictEqual(rows, ["  │ row 0", "Run it? ›"])
      yield* key("n")
      yield* answer
    }))

  it.effect("is drawn anew by Ctrl-L; what was on the screen goes up, and Ctrl-Z is the process's alone", () =>
    Effect.gen(function*() {
      const { answer, control, given, key, shown } = yield* ask({ height: 1 })
      yield* control("l")
      const rows = yield* seen(`before\n${shown()}`)
      assert.deepStrictEqual(rows.filter((row) => row !== ""), ["before", "  │ row 0", "Run it? ›"])
      assert.strictEqual(rows.findLastIndex((row) => row === ""), rows.length - 3)
      yield* control("z")
      assert.isTrue(shown().endsWith("\u0007"))
      assert.deepStrictEqual(given, [])
      yield* TestClock.adjust("50 millis")
      yield* key("y")
      assert.strictEqual(yield* answer, "y")
    }))
})

describe("Esc", () => {
  it.effect("is a key, and more keys come after it", () =>
    Effect.gen(function*() {
      const { answer, name } = yield* ask()
      yield* name("escape")
      assert.strictEqual(yield* answer, "escape")
    }))

  it.effect("is the end where a question does not take it", () =>
    Effect.gen(function*() {
      const { answer, name } = yield* ask({ escape: false })
      yield* name("escape")
      assert.isTrue(Terminal.isQuitError(yield* Effect.flip(answer)))
    }))
})

describe("a key", () => {
  it.effect("that came in one read with others before it is no answer; arrows are pressed fast", () =>
    Effect.gen(function*() {
      const { answer, armed, given, isOpen, shown, together } = yield* ask()
      yield* together(["a", "y"])
      yield* TestClock.adjust("1 second")
      assert.isTrue(yield* isOpen)
      assert.deepStrictEqual(given, ["a", "y"])
      assert.match(shown(), /›[^›]*$/)
      yield* armed
      yield* together(["down", "down", "y"])
      assert.strictEqual(yield* answer, "y")
    }))

  it.effect("that was pressed before a window had settled does not count", () =>
    Effect.gen(function*() {
      const { answer, armed, given, key, resizing } = yield* ask()
      yield* resizing(60, 24)
      yield* key("y")
      yield* TestClock.adjust("150 millis")
      yield* key("y")
      assert.deepStrictEqual(given, [])
      yield* armed
      yield* key("n")
      assert.strictEqual(yield* answer, "n")
    }))

  it.effect("finds its question on a new page where rows were broken, and only there", () =>
    Effect.gen(function*() {
      const newPage = "\x1b[999B"
      const { resize, shown } = yield* ask({ row: (index) => `row ${index} ${"-".repeat(40)}` })
      for (const [columns, isNew] of [[120, false], [60, false], [30, true], [60, false]] as const) {
        const before = shown().length
        yield* resize(columns, 24)
        assert.strictEqual(shown().slice(before).includes(newPage), isNew, `${columns} columns`)
      }
    }))

  it.effect("counts below 20 columns if it is no yes", () =>
    Effect.gen(function*() {
      const { answer, armed, given, key, name, resize, shown } = yield* ask()
      const before = shown().length
      yield* resize(19, 24)
      yield* armed
      assert.include(shown().slice(before), "Too narrow: needs")
      assert.notInclude(shown().slice(before), "row 0")
      for (const one of ["y", "s", "a"]) yield* key(one)
      yield* name("return")
      assert.deepStrictEqual(given, [])
      yield* TestClock.adjust("50 millis")
      yield* key("n")
      assert.strictEqual(yield* answer, "n")
    }))
})
