/**
 * Which of many globs a path may match, by the names that they begin with.
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
  const kinds = [new Map<string, Array<number>>(), new Map<string, Array<number>>()] as const
  let deepest = 0
  for (const { globs, may, place } of rules) {
    for (const { absolute, prefix } of globs.flatMap(LooseGlobs.make)) {
      deepest = Math.max(deepest, prefix.length)
      for (const [index, kind] of kinds.entries()) {
        if (absolute === (index === 1)) add(kind, keyOf(prefix), place)
        // A relative path may be the same file as an absolute one, and one glob may be of both kinds.
        else if (may || absolute === undefined) add(kind, "", place)
      }
    }
  }
  return {
    candidates: (path) => {
      // A bracket may be any of several names.
      if (!path.plain || path.bracketed) return undefined
      const kind = kinds[path.absolute ? 1 : 0]
      const found = new Set<number>(kind.get(""))
      for (const names of path.folded) {
        let key = ""
        for (let depth = 0; depth < names.length && depth < deepest; depth++) {
          key += `/${names[depth]!}`
          for (const place of kind.get(key) ?? []) found.add(place)
        }
      }
      return found
    }
  }
}

const add = (index: Map<string, Array<number>>, key: string, place: number): void => {
  const places = index.get(key)
  if (places === undefined) index.set(key, [place])
  else if (places[places.length - 1] !== place) places.push(place)
}

const keyOf = (names: ReadonlyArray<string>): string => names.map((name) => `/${name}`).join("")
