/**
 * Keys in order, so that a page of those with a prefix costs what the page is long, however many there are.
 *
 * They are kept in runs of at most 512: to put one into its place moves the rest of its run and nothing else.
 */
export interface OrderedKeys {
  readonly add: (key: string) => void
  readonly delete: (key: string) => void
  /** Those that start with the prefix and come after `after`, in order. */
  readonly from: (prefix: string, after: string | undefined) => Generator<string>
}

const maxRun = 512

export const make = (keys: Iterable<string>): OrderedKeys => {
  const sorted = Array.from(keys).toSorted(compare)
  const runs: Array<Array<string>> = []
  for (let start = 0; start < sorted.length; start += maxRun / 2) runs.push(sorted.slice(start, start + maxRun / 2))

  // The run that a key is in, or belongs into: the last that does not begin behind it.
  const runOf = (key: string): number => Math.max(0, lowerBound(runs.length, (index) => runs[index]![0]! <= key) - 1)

  const placeIn = (run: ReadonlyArray<string>, key: string): number =>
    lowerBound(run.length, (index) => run[index]! < key)

  return {
    add: (key) => {
      if (runs.length === 0) runs.push([])
      const index = runOf(key)
      const run = runs[index]!
      const place = placeIn(run, key)
      if (run[place] === key) return
      run.splice(place, 0, key)
      if (run.length > maxRun) runs.splice(index + 1, 0, run.splice(maxRun / 2))
    },
    delete: (key) => {
      const index = runOf(key)
      const run = runs[index]
      const place = run === undefined ? -1 : placeIn(run, key)
      if (run === undefined || run[place] !== key) return
      run.splice(place, 1)
      if (run.length === 0) runs.splice(index, 1)
    },
    from: function*(prefix, after) {
      const first = after !== undefined && after > prefix ? after : prefix
      for (let index = runOf(first); index < runs.length; index++) {
        const run = runs[index]!
        for (let place = placeIn(run, first); place < run.length; place++) {
          const key = run[place]!
          if (!key.startsWith(prefix)) return
          if (key !== after) yield key
        }
      }
    }
  }
}

const compare = (left: string, right: string): number => left < right ? -1 : left > right ? 1 : 0

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
