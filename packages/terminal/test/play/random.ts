/** Chance that can be repeated: the same seed, the same choices. */

export interface Random {
  /** From 0 up to and without `end`. */
  readonly below: (end: number) => number
  readonly oneOf: <A>(all: ReadonlyArray<A>) => A
}

export const make = (seed: number): Random => {
  let state = seed >>> 0
  // Mulberry32.
  const next = () => {
    state = state + 0x6d2b79f5 >>> 0
    let mixed = Math.imul(state ^ state >>> 15, 1 | state)
    mixed = mixed + Math.imul(mixed ^ mixed >>> 7, 61 | mixed) ^ mixed
    return ((mixed ^ mixed >>> 14) >>> 0) / 4_294_967_296
  }
  const below = (end: number) => Math.floor(next() * end)
  return { below, oneOf: (all) => all[below(all.length)]! }
}
