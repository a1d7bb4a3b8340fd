/** Random choices that a seed repeats. */
export interface Random {
  /** A whole number from 0, below the limit. */
  readonly below: (limit: number) => number
  readonly one: <A>(of: ReadonlyArray<A>) => A
  readonly many: <A>(most: number, make: () => A) => ReadonlyArray<A>
}

export const random = (seed: number): Random => {
  let state = seed
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    one: (of) => of[below(of.length)]!,
    many: (most, make) => Array.from({ length: 1 + below(most) }, make)
  }
}
