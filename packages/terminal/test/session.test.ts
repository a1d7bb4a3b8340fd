/** What is not asked again after a choice for the session: what its sentence says, and nothing beside it. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Played from "./play/played.ts"
import * as Scenes from "./play/scenes.ts"
import * as States from "./play/states.ts"
import { keys } from "./play/stories.ts"

const first = { command: "git log --oneline", background: false }

/** After the choice this is called: whether it is asked about. */
const isAsked = Effect.fnUntraced(function*(chosen: ReadonlyArray<string>, then: object) {
  const played = yield* Played.play(Scenes.shell([first], [then]))
  for (const key of ["s", ...chosen]) yield* played.type(key)
  yield* played.until("the next call", () => played.isOver() || (played.ran().length === 1 && played.isReady()))
  assert.strictEqual(played.ran()[0], `Bash ${JSON.stringify(first)}`)
  return !played.isOver()
}, Effect.scoped)

const calls = {
  same: first,
  pattern: { command: "git log -p", background: false },
  otherParameter: { command: "git log -p", background: true },
  parameterMore: { command: "git log -p", background: false, timeoutMs: 1 },
  other: { command: "git push", background: false }
}

const widest = [keys.down, keys.down, keys.down, keys.enter]

describe("for the session", () => {
  it.effect("the narrowest is first: this very call", () =>
    Effect.gen(function*() {
      assert.isFalse(yield* isAsked(["1"], calls.same))
      for (const name of ["pattern", "otherParameter", "other"] as const) {
        assert.isTrue(yield* isAsked(["1"], calls[name]), name)
      }
    }), 30_000)

  it.effect("a pattern of the command leaves the other parameters as they were approved", () =>
    Effect.gen(function*() {
      for (const name of ["same", "pattern"] as const) assert.isFalse(yield* isAsked(["2"], calls[name]), name)
      for (const name of ["otherParameter", "parameterMore", "other"] as const) {
        assert.isTrue(yield* isAsked(["2"], calls[name]), name)
      }
    }), 30_000)

  it.effect("the widest has no digit, and is asked once more", () =>
    Effect.gen(function*() {
      const played = yield* Played.play("session")
      yield* played.type("s")
      yield* played.type("3")
      assert.strictEqual(States.placeOf(played), "session")
      for (const key of widest) yield* played.type(key)
      assert.isFalse(played.isOver())
      for (let count = 0; count < 5; count++) yield* played.type(keys.enter)
      assert.deepStrictEqual(played.ran(), [])
      yield* played.type("y")
      yield* played.end
      assert.strictEqual(played.ran().length, 1)
      assert.isFalse(yield* isAsked([...widest, "y"], calls.other))
    }), 30_000)
})
