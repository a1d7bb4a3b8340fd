/**
 * Compares two ways of doing the same on a machine that others use too: both run in turns (A B, B A, …), and what is
 * compared is the median of the ratios of many short rounds, each of two measurements taken one right after the other,
 * so that what else the machine does meets both or spoils a round that does not count. (The time a thread had of a
 * processor would be better, but it is known to 4 ms only.)
 */
import * as Effect from "effect/Effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

setFlagsFromString("--expose-gc")
export const collect: (options: { readonly type: "minor" | "major" }) => void = runInNewContext("gc")

/** How long something took, in microseconds. */
export const timed = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    const start = performance.now()
    return Effect.map(effect, () => (performance.now() - start) * 1_000)
  })

/** As {@link timed}, but what was prepared for it is not collected at its expense. */
export const timedAfresh = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<number, E, R> =>
  Effect.suspend(() => {
    // Twice, so that what stays is out of the way; a full collection would throw compiled code away too.
    collect({ type: "minor" })
    collect({ type: "minor" })
    return timed(effect)
  })

/** One way of doing it. `measure` gives the microseconds of one round; what it prepares does not count. */
export interface Contestant<R> {
  readonly name: string
  readonly measure: Effect.Effect<number, unknown, R>
}

export interface Options {
  readonly title: string
  readonly rounds: number
  /** How many operations one round is, to print the time of one. */
  readonly operations: number
  readonly bound?: number | undefined
  /** What a row that may be over for now waits for; it fails nothing. */
  readonly issue?: string | undefined
}

let failed = false

/** Whether a row was over its bound. */
export const isOver = (): boolean => failed

/** Measures both and prints their row; a bound that is exceeded is measured once more before it counts. */
export const compare = <R>(
  options: Options,
  ours: Contestant<R>,
  theirs: Contestant<R>
): Effect.Effect<void, unknown, R> =>
  Effect.gen(function*() {
    const { bound, issue, operations, title } = options
    process.stdout.write(`${title} `)
    let row = yield* race(options.rounds, ours, theirs)
    if (bound !== undefined && issue === undefined && row.ratio > bound) {
      process.stdout.write(` ${row.ratio.toFixed(2)}×, again `)
      row = yield* race(options.rounds * 2, ours, theirs)
    }
    const over = bound !== undefined && row.ratio > bound
    if (over && issue === undefined) failed = true
    const verdict = bound === undefined ? "" : ` (bound ${bound}×) ${over ? "OVER" : "ok"}`
    const figures = `${ours.name} ${show(row.ours / operations)}, ${theirs.name} ${show(row.theirs / operations)}`
    console.log(`\n  ${figures}: ${row.ratio.toFixed(2)}×${verdict}${issue === undefined ? "" : ` [${issue}]`}`)
  })

/** Measures one and prints its row. */
export const alone = <R>(options: Options, contestant: Contestant<R>): Effect.Effect<void, unknown, R> =>
  Effect.gen(function*() {
    process.stdout.write(`${options.title} `)
    const times: Array<number> = []
    yield* contestant.measure
    for (let round = 0; round < options.rounds; round++) times.push(yield* measure(contestant))
    console.log(`\n  ${contestant.name} ${show(median(times) / options.operations)}`)
  })

/** Prints the row of a figure that has a bound of its own. */
export const atMost = (
  { bound, title, unit }: { readonly title: string; readonly unit: string; readonly bound: number },
  figure: number
): void => {
  const over = figure > bound
  if (over) failed = true
  console.log(`${title}\n  ${figure.toFixed(2)} ${unit} (bound ${bound} ${unit}) ${over ? "OVER" : "ok"}`)
}

export interface MemoryOptions {
  readonly title: string
  readonly marks: readonly [first: number, ...rest: ReadonlyArray<number>]
  readonly bound: number
}

/** Does so much, looks at the heap at each mark, and prints the row: it must not grow from the first to the last. */
export const flat = <R>(
  options: MemoryOptions,
  step: (count: number) => Effect.Effect<unknown, unknown, R>
): Effect.Effect<void, unknown, R> => {
  let done = 0
  return compareHeaps(options, (mark) =>
    Effect.suspend(() => {
      const count = mark - done
      done = mark
      return Effect.andThen(step(count), heapUsed)
    }))
}

/** Does each mark afresh; its heap is the highest of those that `step` looks at on the way. */
export const flatWithin = <R>(
  options: MemoryOptions,
  step: (count: number, look: Effect.Effect<void>) => Effect.Effect<unknown, unknown, R>
): Effect.Effect<void, unknown, R> =>
  compareHeaps(options, (mark) =>
    Effect.suspend(() => {
      let highest = 0
      const look = Effect.map(heapUsed, (heap) => {
        highest = Math.max(highest, heap)
      })
      return Effect.map(step(mark, look), () => highest)
    }))

const compareHeaps = Effect.fnUntraced(function*<R>(
  { bound, marks, title }: MemoryOptions,
  heapAt: (mark: number) => Effect.Effect<number, unknown, R>
) {
  process.stdout.write(`${title} `)
  const started = performance.now()
  const heaps: Array<number> = []
  for (const mark of marks) {
    heaps.push(yield* heapAt(mark))
    process.stdout.write(".")
  }
  const ratio = heaps[heaps.length - 1]! / heaps[0]!
  const over = ratio > bound
  if (over) failed = true
  const figures = marks.map((mark, i) => `${(heaps[i]! / 1_048_576).toFixed(1)} MiB at ${mark.toLocaleString("en")}`)
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  console.log(
    `\n  ${figures.join(", ")}: ${ratio.toFixed(2)}× (bound ${bound}×) ${over ? "OVER" : "ok"}, ${seconds} s`
  )
})

// What is collected late (weak maps, finished fibers) needs more than one collection.
export const heapUsed = Effect.promise(async () => {
  for (let i = 0; i < 4; i++) {
    collect({ type: "major" })
    await new Promise((resolve) => setImmediate(resolve))
  }
  return process.memoryUsage().heapUsed
})

const race = Effect.fnUntraced(function*<R>(rounds: number, ours: Contestant<R>, theirs: Contestant<R>) {
  const times = { ours: new Array<number>(), theirs: new Array<number>(), ratios: new Array<number>() }
  // The first round is not counted: it is the one that compiles.
  for (let round = 0; round <= rounds; round++) {
    const first = yield* measure(round % 2 === 0 ? ours : theirs)
    const second = yield* measure(round % 2 === 0 ? theirs : ours)
    const [mine, others] = round % 2 === 0 ? [first, second] : [second, first]
    if (round === 0) continue
    times.ours.push(mine)
    times.theirs.push(others)
    times.ratios.push(mine / others)
  }
  return { ours: median(times.ours), theirs: median(times.theirs), ratio: median(times.ratios) }
})

const measure = <R>(contestant: Contestant<R>) =>
  Effect.tap(contestant.measure, () => Effect.sync(() => measured++ % 10 === 0 && process.stdout.write(".")))

let measured = 0

const median = (values: ReadonlyArray<number>): number => {
  const sorted = values.toSorted((a, b) => a - b)
  const half = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2
}

const show = (microseconds: number): string =>
  microseconds < 1_000 ? `${microseconds.toFixed(1)} µs` : `${(microseconds / 1_000).toFixed(2)} ms`
