/**
 * Conversations as this process has read or written them last, so that one that is there as it was is not read again by
 * whoever asks for it by its name. They are kept as long as memory is not needed for something else.
 */
import type { Found } from "./rows.ts"

export interface Recent {
  readonly get: (id: string) => Found | undefined
  readonly set: (id: string, found: Found) => void
  readonly delete: (id: string) => void
}

/** How many are remembered; those that were used last. */
const most = 1_000

export const make = (): Recent => {
  const all = new Map<string, WeakRef<Found>>()
  return {
    get: (id) => {
      const found = all.get(id)?.deref()
      if (found === undefined) all.delete(id)
      return found
    },
    set: (id, found) => {
      all.delete(id)
      all.set(id, new WeakRef(found))
      if (all.size <= most) return
      const [oldest] = all.keys()
      if (oldest !== undefined) all.delete(oldest)
    },
    delete: (id) => void all.delete(id)
  }
}
