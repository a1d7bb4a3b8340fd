/** Whoever leaves, wherever: nothing runs, is asked or calls the model any more, and the terminal can be used. */
import { assert, describe, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Runtime from "effect/Runtime"
import * as Terminal from "effect/Terminal"
import type * as Played from "./play/played.ts"
import * as States from "./play/states.ts"
import { keys } from "./play/stories.ts"

const ways: Readonly<Record<string, (played: Played.Played) => Effect.Effect<void>>> = {
  "Ctrl-C": (played) => played.type(keys.stop),
  "Ctrl-D": (played) => played.type(keys.leave),
  "the end of the input": (played) => played.close
}

/** The exit code that a shell gets. */
const codeOf = (exit: Exit.Exit<unknown, unknown>): unknown => {
  if (Exit.isSuccess(exit)) return 0
  const error: unknown = Cause.squash(exit.cause)
  return error instanceof Terminal.QuitError && Runtime.errorExitCode in error ? error[Runtime.errorExitCode] : 1
}

describe.each(Object.keys(ways))("%s stops", (way) => {
  for (const name of States.names) {
    it.effect(`at: ${name}`, () =>
      Effect.gen(function*() {
        const played = yield* States.reach(name)
        const models = yield* played.models
        const asked = played.text().match(/^━━ /gm)?.length
        yield* ways[way]!(played)
        const exit = yield* played.end
        // Nothing comes after it.
        yield* played.settle(4)
        assert.strictEqual(codeOf(exit), 130)
        assert.deepStrictEqual(played.ran(), [])
        assert.strictEqual(yield* played.models, models, "the model was called")
        assert.isFalse(played.isRead(), "keys are still read")
        assert.isTrue(played.isCursorVisible(), "no cursor")
        assert.isAtMost(played.text().match(/^━━ /gm)?.length ?? 0, asked ?? 0, "something was asked")
        assert.include(played.text(), "■ stopped")
      }), 30_000)
  }
})
