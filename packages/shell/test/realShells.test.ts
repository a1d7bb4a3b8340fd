/**
 * What is covered, carried out by real shells: only `git` is called, once per command and with just the words that the
 * pattern was compared with, and nothing else happens. `npm run fuzz:shell` does the same with a million lines.
 *
 * bash is part of what a contributor needs, since `.ci/run` is written for it.
 */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Shells from "./fuzz/shells.ts"
import * as Soup from "./fuzz/soup.ts"
import * as Lines from "./lines.ts"

const covered = Effect.runSync(Effect.cached(Effect.gen(function*() {
  const lines = yield* Soup.lines("bash", 7_000)
  const covered = [...new Set(lines.filter(Soup.isCovered))]
  assert.isAtLeast(covered.length, 100)
  assert.isAtLeast(lines.length - covered.length, 5_000)
  return covered.slice(0, 100)
})))

// `sh` is whatever the system has: dash, busybox, zsh or bash itself.
describe.each(["bash", "sh"])("in a real %s", (shell) => {
  it.effect(
    "every harmless line calls git and does nothing else",
    () =>
      Effect.map(Shells.run([shell], Lines.harmless), (surprises) => {
        assert.deepStrictEqual(surprises, [])
      }),
    30_000
  )

  it.effect("so does every random line that is covered", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* Shells.run([shell], yield* covered), [])
    }), 30_000)

  it.effect(
    "what a shell does besides is noticed",
    () =>
      Effect.map(Shells.run([shell], ["git a", "echo hi", "git b && exit 0 && git c"]), (surprises) => {
        assert.deepStrictEqual(surprises, [
          { line: "echo hi", what: "it printed \"hi\"" },
          {
            line: "git b && exit 0 && git c",
            what: "it called [\"git\",\"b\"], not [\"exit\",\"0\"]\n[\"git\",\"b\"]\n[\"git\",\"c\"]"
          }
        ])
      }),
    30_000
  )
})
