/** What pages have posted ahead of the clicks that it goes with: for a while, and of so many. */
import type { Approver } from "@assent/ai"
import type { Details } from "../wire/body.ts"

export interface Ahead {
  readonly put: (owner: Owner, details: ReadonlyMap<string, Details>) => void
  readonly get: (owner: Owner, approvalId: string) => Details | undefined
}

/** Whose it is: what one person has changed goes with nobody else's click. */
export interface Owner {
  readonly key: string
  readonly person: Approver.Person | undefined
}

/** Keeps about as many bytes, and drops the oldest first. */
export const make = (maxBytes: number): Ahead => {
  const kept = new Map<string, { readonly details: Details; readonly bytes: number }>()
  let bytes = 0

  const drop = (name: string) => {
    bytes -= kept.get(name)?.bytes ?? 0
    kept.delete(name)
  }

  return {
    put: (owner, details) => {
      for (const [approvalId, one] of details) {
        const name = nameOf(owner, approvalId)
        drop(name)
        const size = name.length + JSON.stringify(one).length
        kept.set(name, { details: one, bytes: size })
        bytes += size
      }
      for (const name of kept.keys()) {
        if (bytes <= maxBytes) break
        drop(name)
      }
    },
    get: (owner, approvalId) => kept.get(nameOf(owner, approvalId))?.details
  }
}

const nameOf = ({ key, person }: Owner, approvalId: string): string =>
  JSON.stringify([key, person?.id ?? null, approvalId])
