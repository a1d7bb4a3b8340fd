/** Chance, seeded: mulberry32, which is small and good enough. */
export interface Random {
  readonly below: (end: number) => number
  readonly chance: (probability: number) => boolean
  readonly one: <A>(some: ReadonlyArray<A>) => A
}

export const randomOf = (seed: number): Random => {
  let state = seed
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0
    let value = Math.imul(state ^ (state >>> 15), 1 | state)
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    below: (end) => Math.floor(next() * end),
    chance: (probability) => next() < probability,
    one: (some) => some[Math.floor(next() * some.length)]!
  }
}
