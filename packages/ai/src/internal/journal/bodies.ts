/**
 * The bodies of results that a journal in memory keeps: bounded, the oldest given up first. That a call ran is never
 * given up.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as AtomicStore from "../../AtomicStore.ts"
import * as Expiries from "../store/expiries.ts"

export interface Body {
  readonly key: string
  readonly version: number
  /** Characters. */
  readonly size: number
  readonly expiresAt: number
  /** What the record becomes when its body is given up. */
  readonly withoutBody: () => string
}

export const make = (store: AtomicStore.AtomicStore, maxSize: number) => {
  // The oldest first.
  const kept = new Map<string, Body>()
  const expiries = Expiries.make()
  let total = 0
  const forget = (body: Body | undefined) => {
    if (body === undefined) return
    kept.delete(body.key)
    expiries.delete(body.key)
    total -= body.size
  }
  return {
    keep: (body: Body): Effect.Effect<void> =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        // The store forgets these by itself. However long an older one lives, it does not keep them.
        for (let key = expiries.takeUntil(now); key !== undefined; key = expiries.takeUntil(now)) forget(kept.get(key))
        kept.set(body.key, body)
        expiries.set(body.key, body.expiresAt)
        total += body.size
        const given: Array<Effect.Effect<unknown>> = []
        for (const oldest of kept.values()) {
          if (total <= maxSize) break
          forget(oldest)
          given.push(Effect.ignore(store.compareAndSet(oldest.key, oldest.version, oldest.withoutBody())))
        }
        return Effect.all(given, { discard: true })
      })
  }
}
