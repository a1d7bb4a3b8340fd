/** What a run may do, and the claim that it has. */
import type { Claim } from "./entry.ts"

/** A claim that this process has, and the version of its record. */
export interface Held {
  readonly claim: Claim
  readonly version: number
}

/** What a run may do if nobody else has. */
export type Power = typeof Power[keyof typeof Power]

export const Power = { joins: 0, begins: 1, repeats: 2 } as const

export const powerOf = (
  { idempotent, joinOnly }: { readonly idempotent: boolean; readonly joinOnly?: boolean | undefined }
): Power => joinOnly === true ? Power.joins : idempotent ? Power.repeats : Power.begins
