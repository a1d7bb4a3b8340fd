/**
 * Keys in the order of a number, and of the keys themselves where that is equal: what comes after a place, or first, costs
 * the same however many there are.
 *
 * They are kept in runs of at most 512: to put one into its place moves the rest of its run and nothing else.
 */
export interface Ordered {
  readonly add: (at: number, key: string) => void
  readonly delete: (at: number, key: string) => void
  readonly isEmpty: () => boolean
  /** The first one, if it is not after `until`. */
  readonly firstUntil: (until: number) => string | undefined
  /** Those after a place, or all. */
  readonly after: (place?: { readonly at: number; readonly key: string }) => Generator<string>
}

interface Run {
  readonly ats: Array<number>
  readonly keys: Array<string>
}

const maxRun = 512

export const make = (): Ordered => {
  const runs: Array<Run> = []

  // The run that a key is in, or belongs into: the last that does not begin behind it.
  const runOf = (at: number, key: string): number =>
    Math.max(0, lowerBound(runs.length, (index) => isUpTo(runs[index]!, 0, at, key)) - 1)

  const placeIn = (run: Run, at: number, key: string): number =>
    lowerBound(run.keys.length, (index) => isBefore(run, index, at, key))

  return {
    add: (at, key) => {
      if (runs.length === 0) runs.push({ ats: [], keys: [] })
      const index = runOf(at, key)
      const run = runs[index]!
      const place = placeIn(run, at, key)
      if (run.ats[place] === at && run.keys[place] === key) return
      run.ats.splice(place, 0, at)
      run.keys.splice(place, 0, key)
      if (run.keys.length > maxRun) {
        runs.splice(index + 1, 0, { ats: run.ats.splice(maxRun / 2), keys: run.keys.splice(maxRun / 2) })
      }
    },
    delete: (at, key) => {
      const index = runOf(at, key)
      const run = runs[index]
      const place = run === undefined ? -1 : placeIn(run, at, key)
      if (run === undefined || run.ats[place] !== at || run.keys[place] !== key) return
      run.ats.splice(place, 1)
      run.keys.splice(place, 1)
      if (run.keys.length === 0) runs.splice(index, 1)
    },
    isEmpty: () => runs.length === 0,
    firstUntil: (until) => {
      const first = runs[0]
      return first !== undefined && first.ats[0]! <= until ? first.keys[0] : undefined
    },
    after: function*(place) {
      const first = place === undefined ? 0 : runOf(place.at, place.key)
      for (let index = first; index < runs.length; index++) {
        const run = runs[index]!
        const from = place === undefined || index > first
          ? 0
          : lowerBound(run.keys.length, (at) => isUpTo(run, at, place.at, place.key))
        for (let at = from; at < run.keys.length; at++) yield run.keys[at]!
      }
    }
  }
}

const isBefore = (run: Run, index: number, at: number, key: string): boolean =>
  run.ats[index]! < at || (run.ats[index] === at && run.keys[index]! < key)

const isUpTo = (run: Run, index: number, at: number, key: string): boolean =>
  isBefore(run, index, at, key) || (run.ats[index] === at && run.keys[index] === key)

/** How many of the first `count` are before the place: those that `isBefore`, which are all in front. */
const lowerBound = (count: number, isBefore: (index: number) => boolean): number => {
  let low = 0
  let high = count
  while (low < high) {
    const middle = (low + high) >>> 1
    if (isBefore(middle)) low = middle + 1
    else high = middle
  }
  return low
}
