/** Points chosen from all there are: the same ones each time, of the same seed. */

/** Numbers from 0 to 1 that look random (mulberry32). */
export const numbers = (seed: number): () => number => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** So many of them, spread evenly: one from each stretch. All of them, if there are no more. */
export const some = <A>(all: ReadonlyArray<A>, count: number, seed: number): ReadonlyArray<A> => {
  if (all.length <= count) return all
  const next = numbers(seed)
  return Array.from({ length: count }, (_, index) => all[Math.floor(((index + next()) * all.length) / count)]!)
}
