/**
 * Measures several libraries that do the same, in rounds: each library has its turn in each round, and who begins changes, so
 * that what else the machine does meets all of them.
 */
import { collect } from "../packages/bench/src/harness.ts"
import type { Time } from "./results.ts"

export interface Contestant {
  readonly library: string
  readonly version: string
  /** Makes ready so many operations, and gives what does them: only that is measured. It fails where it was not done right. */
  readonly prepare: (operations: number) => Promise<() => Promise<unknown>>
  readonly close?: () => Promise<unknown>
}

export interface Options {
  readonly rounds: number
  /** How long each library goes on before it is measured, in milliseconds. */
  readonly warmMs: number
  /** How long one library's turn in a round should be, in milliseconds, as long as this many operations are enough. */
  readonly turnMs: number
  readonly mostOperations: number
  /** Called once each round. */
  readonly onRound: () => void
}

const timed = async ({ prepare }: Contestant, operations: number): Promise<number> => {
  const go = await prepare(operations)
  // What was prepared is not collected at its expense.
  collect({ type: "minor" })
  collect({ type: "minor" })
  const start = performance.now()
  await go()
  return (performance.now() - start) / operations
}

/** The milliseconds of one operation. */
export const measure = async (
  contestants: ReadonlyArray<Contestant>,
  { mostOperations, onRound, rounds, turnMs, warmMs }: Options
): Promise<ReadonlyArray<Time>> => {
  const counts: Array<number> = []
  for (const contestant of contestants) {
    const until = performance.now() + warmMs
    let operations = 1
    let once = await timed(contestant, operations)
    // What is compiled becomes faster, so it is looked at again and again how many make a turn long enough.
    do {
      operations = Math.max(1, Math.min(mostOperations, Math.ceil(turnMs / once)))
      once = await timed(contestant, operations)
    } while (performance.now() < until)
    counts.push(operations)
  }
  const times = contestants.map(() => new Array<number>())
  for (let round = 0; round < rounds; round++) {
    for (let turn = 0; turn < contestants.length; turn++) {
      const which = (round + turn) % contestants.length
      times[which]!.push(await timed(contestants[which]!, counts[which]!))
    }
    onRound()
  }
  for (const { close } of contestants) await close?.()
  return contestants.map(({ library, version }, which) => ({
    library,
    version,
    medianMs: median(times[which]!),
    minMs: Math.min(...times[which]!),
    maxMs: Math.max(...times[which]!)
  }))
}

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}
