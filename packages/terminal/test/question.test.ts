/** What else a question says, and when a key is too early or too late for it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/testing/TestClock"
import * as Played from "./play/played.ts"
import * as Scenes from "./play/scenes.ts"
import * as States from "./play/states.ts"

const minutes = (count: number) => count * 60_000

const writing = (expiresIn?: number) =>
  Scenes.write("src/values.ts", Scenes.after, expiresIn === undefined ? {} : { expiresIn })

describe("a question", () => {
  it.effect("says when it expires, if that is within an hour", () =>
    Effect.gen(function*() {
      for (const [expiresIn, isSaid] of [[undefined, false], [minutes(90), false], [minutes(30), true]] as const) {
        const played = yield* Played.play(writing(expiresIn))
        assert.strictEqual(/^ {2}Expires /m.test(played.text()), isSaid, String(expiresIn))
        yield* played.quit
      }
    }), 30_000)

  it.effect("that has expired lets nothing run", () =>
    Effect.gen(function*() {
      const played = yield* Played.play(writing(minutes(30)))
      yield* TestClock.adjust("31 minutes")
      yield* played.type("y")
      yield* played.settle(10)
      assert.deepStrictEqual(played.ran(), [])
      assert.strictEqual(played.files.get("/src/values.ts"), Scenes.before)
    }), 30_000)

  it.effect("is not answered by a key that comes with another size of the window", () =>
    Effect.gen(function*() {
      const played = yield* Played.play("mail")
      yield* played.resize(60, 30, 0)
      yield* played.type("y", 1)
      yield* played.settle(10)
      assert.deepStrictEqual(played.ran(), [])
      assert.strictEqual(States.placeOf(played), "question")
      yield* played.type("y")
      yield* played.end
      assert.strictEqual(played.ran().length, 1)
    }), 30_000)
})

describe("options that are called the same", () => {
  it.effect("show what they stand for, and that is what is answered", () =>
    Effect.gen(function*() {
      const trains = [{ value: "ice-1", label: "9:00" }, { value: "re-7", label: "9:00" }]
      const played = yield* Played.play(Scenes.pick(false, trains))
      const rows = States.rowsOf(played).filter((row) => row.includes("9:00"))
      assert.deepStrictEqual(rows.map((row) => /ice-1|re-7/.exec(row)?.[0]), ["ice-1", "re-7"])
      yield* played.type("2")
      yield* played.end
      assert.deepStrictEqual(played.ran(), [`Pick {"train":"re-7"}`])
    }), 30_000)
})
