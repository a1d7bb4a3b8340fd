/**
 * The bodies of results that a journal in memory keeps: bounded, the oldest given up first. That a call ran is never
 * given up.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as AtomicStore from "../AtomicStore.ts"

export interface Body {
  readonly key: string
  readonly version: number
  /** Characters. */
  readonly size: number
  readonly expiresAt: number
  /** What the record becomes when its body is given up. */
  readonly withoutBody: string
}

export const make = (store: AtomicStore.AtomicStore, maxSize: number) => {
  const kept = new Map<string, Body>()
  let total = 0
  const forget = (body: Body) => {
    kept.delete(body.key)
    total -= body.size
  }
  return {
    keep: (body: Body): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        kept.set(body.key, body)
        total += body.size
        const given: Array<Effect.Effect<unknown>> = []
        for (const oldest of kept.values()) {
          if (oldest.expiresAt <= now) {
            // The store has forgotten it by itself.
            forget(oldest)
          } else if (total > maxSize) {
            forget(oldest)
            given.push(Effect.ignore(store.compareAndSet(oldest.key, oldest.version, oldest.withoutBody)))
          } else {
            break
          }
        }
        return Effect.all(given, { discard: true })
      })
  }
}
