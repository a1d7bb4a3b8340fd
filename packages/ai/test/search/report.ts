/** What a search has to tell, as text for people. */
import type * as Searching from "./searching.ts"

/** How many plans met each thing, the rarest last. */
export const coverage = (coverage: Searching.Coverage): string =>
  Array.from(coverage)
    .toSorted(([, left], [, right]) => right - left)
    .map(([name, count]) => `${String(count).padStart(9)}  ${name}`)
    .join("\n")

/** How far a search is: a line that is written over at a terminal, else a line now and then. */
export const makeProgress = ({ isTerminal, runs, startedAt }: {
  readonly runs: number
  readonly startedAt: number
  readonly isTerminal: boolean
}) => {
  let saidAt = startedAt
  return (tried: number, now: number): string => {
    if (now - saidAt < (isTerminal ? 200 : 10_000) && tried < runs) return ""
    saidAt = now
    const perSecond = Math.round(tried / Math.max(1, now - startedAt) * 1_000)
    const memory = Math.round(process.memoryUsage().heapUsed / 1e6)
    const line = `${tried} of ${runs} plans, ${perSecond} a second, ${memory} MB`
    return isTerminal ? `\r${line.padEnd(60)}` : `${line}\n`
  }
}

/** Text in lines of at most 80 columns. */
export const wrap = (text: string): string =>
  text.split(" ").reduce(
    (wrapped, word) =>
      wrapped.length - wrapped.lastIndexOf("\n") + word.length > 80 ? `${wrapped}\n${word}` : `${wrapped} ${word}`
  )

/** A failure, as a test that can be pasted and as a file for the corpus. */
export const failure = ({ folder, law, plan, title, what }: Searching.Failure): string =>
  [
    wrap(`${law}: ${title}`),
    wrap(`broken: ${what}`),
    "",
    `The test, for a file in packages/ai/test/${folder}:`,
    "",
    `it.effect("${law} ${title}", () =>`,
    "  Effect.gen(function*() {",
    "    const { breaches } = yield* Search.examine(",
    JSON.stringify(plan, undefined, 2).replaceAll(/^/gm, "      "),
    "    )",
    "    assert.deepStrictEqual(breaches, [])",
    "  }))",
    "",
    `The file, for packages/ai/test/${folder}/corpus:`,
    "",
    JSON.stringify({ law, why: what, plan }, undefined, 2)
  ].join("\n")
