/** A list that is longer than the window, or wider: what is ticked is known, and nothing is ticked by accident. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/testing/TestClock"
import * as List from "../../src/internal/screen/list.ts"
import * as Stage from "../../src/internal/screen/stage.ts"
import * as Keyboard from "../keyboard.ts"

const items = Array.from({ length: 12 }, (_, index) => `item ${index + 1}`)

const choose = Effect.fnUntraced(function*(many: boolean) {
  const keyboard = yield* Keyboard.make
  yield* keyboard.resize(80, 9)
  const chosen = Stage.run((stage) =>
    List.choose(stage, { lines: [], question: "Which?", items, many, back: "goes back" })
  )
  const fiber = yield* Effect.forkChild(Effect.provide(chosen, keyboard.services))
  yield* TestClock.adjust(0)
  yield* keyboard.armed
  return { ...keyboard, answer: Effect.andThen(TestClock.adjust("50 millis"), Fiber.join(fiber)) }
})

describe("a list of more than nine", () => {
  it.effect("says how many are ticked, seen or not; the digits of a number tick none", () =>
    Effect.gen(function*() {
      const { answer, key, name, shown } = yield* choose(true)
      assert.include(shown(), "0 of 12 ticked · 1 to 5 shown · arrows and space tick")
      yield* key("1")
      yield* key("2")
      assert.notInclude(shown(), "1 of 12 ticked")
      yield* name("down")
      yield* name("space")
      for (let count = 0; count < 20; count++) yield* name("down")
      yield* name("space")
      assert.include(shown(), "2 of 12 ticked · 8 to 12 shown")
      yield* name("return")
      assert.deepStrictEqual(yield* answer, { _tag: "Chosen", indexes: [0, 11] })
    }))

  it.effect("is chosen from with arrows alone", () =>
    Effect.gen(function*() {
      const { answer, key, name, shown } = yield* choose(false)
      assert.include(shown(), "1 to 5 shown · arrows and Enter")
      yield* key("1")
      yield* name("return")
      yield* name("down")
      yield* name("down")
      yield* name("return")
      assert.deepStrictEqual(yield* answer, { _tag: "Chosen", indexes: [1] })
    }))

  it.effect("takes nothing where it cannot be read", () =>
    Effect.gen(function*() {
      const { answer, armed, key, name, resize, shown } = yield* choose(true)
      yield* name("down")
      yield* name("space")
      yield* resize(15, 9)
      assert.match(shown(), /Too narrow:[^☐]*$/)
      yield* name("space")
      yield* name("return")
      yield* key("1")
      yield* TestClock.adjust("1 second")
      yield* resize(80, 9)
      assert.match(shown(), /1 of 12 ticked[^☐]*$/)
      yield* armed
      yield* name("tab")
      assert.deepStrictEqual(yield* answer, { _tag: "Back" })
    }))
})
