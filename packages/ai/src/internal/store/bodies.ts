/** How large the bodies are that may be given up, and which is the oldest. */
import * as Ordered from "./ordered.ts"

export interface Bodies {
  /** How large the body of that key is now; 0 where there is none. */
  readonly set: (key: string, size: number) => void
  /** The oldest one, where all together are larger than that. */
  readonly beyond: (most: number) => string | undefined
}

export const make = (): Bodies => {
  const known = new Map<string, { readonly at: number; readonly size: number }>()
  // The first keys of a map cost more to find the more were deleted before them.
  const oldest = Ordered.make()
  let total = 0
  let next = 0
  return {
    set: (key, size) => {
      const before = known.get(key)
      if (before !== undefined) {
        known.delete(key)
        oldest.delete(before.at, key)
        total -= before.size
      }
      if (size === 0) return
      const at = next++
      known.set(key, { at, size })
      oldest.add(at, key)
      total += size
    },
    beyond: (most) => total > most ? oldest.firstUntil(Infinity) : undefined
  }
}
