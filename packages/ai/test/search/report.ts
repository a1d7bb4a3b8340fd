/** What a search has to tell, as text for people. */
import type * as Coverage from "./coverage.ts"
import * as Laws from "./laws.ts"
import type * as Search from "./search.ts"

/** How many plans met each thing, the rarest last. */
export const coverage = (coverage: Coverage.Coverage): string =>
  Array.from(coverage)
    .toSorted(([, left], [, right]) => right - left)
    .map(([name, count]) => `${String(count).padStart(9)}  ${name}`)
    .join("\n")

/** A failure, as a test that can be pasted and as a file for the corpus. */
export const failure = ({ law, plan, what }: Search.Failure): string => {
  const title = Laws.laws.find(({ name }) => name === law)?.title ?? "nothing unforeseen happens"
  return [
    `${law}: ${title}`,
    `broken: ${what}`,
    "",
    "The test, for a file in packages/ai/test/search:",
    "",
    `it.effect("${law} ${title}", () =>`,
    "  Effect.gen(function*() {",
    "    const { breaches } = yield* Search.examine(",
    JSON.stringify(plan, undefined, 2).replaceAll(/^/gm, "      "),
    "    )",
    "    assert.deepStrictEqual(breaches, [])",
    "  }))",
    "",
    "The file, for packages/ai/test/search/corpus:",
    "",
    JSON.stringify({ law, why: what, plan }, undefined, 2)
  ].join("\n")
}
