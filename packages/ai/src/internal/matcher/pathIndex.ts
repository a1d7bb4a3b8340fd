/**
 * Which of many globs a path may match, by the names that they begin with and the letters that they end in.
 *
 * It leaves out only what {@link LooseGlobs.mayMatch} would refuse, and that refuses nothing that is covered.
 */
import * as LooseGlobs from "./looseGlobs.ts"
import type * as Reading from "./reading.ts"

export interface PathIndex {
  /** The places of the rules that are to be looked at, each once, in no order; `undefined` is all of them. */
  readonly candidates: (path: Reading.Reading) => ReadonlySet<number> | undefined
}

/** Of rules with their places, their globs, and whether it counts where they only may cover a path. */
export const make = (
  rules: ReadonlyArray<{ readonly place: number; readonly globs: ReadonlyArray<string>; readonly may: boolean }>
): PathIndex => {
  // By the names that a glob begins with, of relative and of absolute ones.
  const kinds: readonly [Index, Index] = [new Map(), new Map()]
  let deepest = 0
  for (const { globs, may, place } of rules) {
    for (const { absolute, prefix, suffix } of globs.flatMap(LooseGlobs.make)) {
      deepest = Math.max(deepest, prefix.length)
      for (const [index, kind] of kinds.entries()) {
        if (absolute === (index === 1)) add(kind, keyOf(prefix), { place, suffix })
        // A relative path may be the same file as an absolute one, and one glob may be of both kinds.
        else if (may || absolute === undefined) add(kind, "", { place, suffix: "" })
      }
    }
  }
  return {
    candidates: (path) => {
      // A bracket may be any of several names.
      if (!path.plain || path.bracketed) return undefined
      const kind = kinds[path.absolute ? 1 : 0]
      const found = new Set<number>()
      for (const names of path.folded) {
        const last = names[names.length - 1]!
        let key = ""
        for (let depth = 0;; depth++) {
          for (const { place, suffix } of kind.get(key) ?? []) if (last.endsWith(suffix)) found.add(place)
          if (depth === names.length || depth === deepest) break
          key += `/${names[depth]!}`
        }
      }
      return found
    }
  }
}

type Index = Map<string, Array<{ readonly place: number; readonly suffix: string }>>

const add = (index: Index, key: string, entry: { readonly place: number; readonly suffix: string }): void => {
  const entries = index.get(key)
  if (entries === undefined) index.set(key, [entry])
  else entries.push(entry)
}

const keyOf = (names: ReadonlyArray<string>): string => names.map((name) => `/${name}`).join("")
