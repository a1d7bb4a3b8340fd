/** What approves nothing: Enter where nothing was chosen, and space, Tab, Esc and leaving anywhere. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as States from "./play/states.ts"
import { keys } from "./play/stories.ts"

describe("Enter alone, 100 times, approves nothing", () => {
  for (const name of States.names.filter((name) => "untouched" in States.states[name])) {
    it.effect(name, () =>
      Effect.gen(function*() {
        const played = yield* States.reach(name)
        for (let count = 0; count < 100 && !played.isOver(); count++) yield* played.type(keys.enter, 3)
        assert.deepStrictEqual(played.ran(), [])
      }), 30_000)
  }
})

describe("approves nothing anywhere:", () => {
  for (const [key, bytes] of [["space", " "], ["Tab", keys.tab], ["Esc", keys.escape]] as const) {
    it.effect(key, () =>
      Effect.gen(function*() {
        for (const name of States.names) {
          const played = yield* States.reach(name)
          const ran = played.ran().length
          for (let count = 0; count < 3 && !played.isOver(); count++) yield* played.type(bytes)
          assert.strictEqual(played.ran().length, ran, name)
          yield* played.quit
        }
      }), 30_000)
  }
})
