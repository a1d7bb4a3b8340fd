/** Plans in which somebody leaves that once broke a law, made small; a file is what `npm run laws` prints. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Search from "./search.ts"

const directory = Path.join(import.meta.dirname, "corpus")

describe("plans that once broke a law where somebody leaves", () => {
  for (const file of Fs.readdirSync(directory).toSorted()) {
    const { law, plan, why } = Search.decodeKept(Fs.readFileSync(Path.join(directory, file), "utf8"))
    it.effect(`${law} ${why} (${file})`, () =>
      Effect.gen(function*() {
        const { breaches } = yield* Search.examine(plan)
        assert.deepStrictEqual(breaches, [])
      }))
  }
})
