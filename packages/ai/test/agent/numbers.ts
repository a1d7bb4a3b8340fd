/** Random choices that a seed repeats. */

export type Random = () => number

/** Numbers from 0 to 1 that look random (mulberry32). */
export const numbers = (seed: number): Random => {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const below = (random: Random, limit: number): number => Math.floor(random() * limit)

export const pick = <A>(random: Random, all: ReadonlyArray<A>): A => all[below(random, all.length)]!

export const list = <A>(random: Random, most: number, make: () => A): ReadonlyArray<A> =>
  Array.from({ length: 1 + below(random, most) }, make)
