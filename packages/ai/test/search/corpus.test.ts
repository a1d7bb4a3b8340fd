/**
 * Histories that once broke a law, here or under a mutation of the engine, each made small and kept with a sentence that
 * says why. A file of the corpus is what `npm run laws` prints.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Search from "./search.ts"

const directory = Path.join(import.meta.dirname, "corpus")

describe("histories that once broke a law", () => {
  for (const file of Fs.readdirSync(directory).toSorted()) {
    const { law, plan, why } = Search.decodeKept(Fs.readFileSync(Path.join(directory, file), "utf8"))
    it.effect(`${law} ${why} (${file})`, () =>
      Effect.gen(function*() {
        const { breaches } = yield* Search.examine(plan)
        assert.deepStrictEqual(breaches, [])
      }))
  }
})
