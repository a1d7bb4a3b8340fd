/** How often somebody may post: what they post costs model calls. */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type * as Decider from "../Decider.ts"
import * as Logging from "./logging.ts"

export interface Limit {
  readonly limit: number
  readonly window: Duration.Input
}

export interface Limiter {
  /** How many seconds somebody has to wait; `undefined` if not at all. */
  readonly wait: (who: Decider.Who) => Effect.Effect<number | undefined>
}

/** The program's own limiter counts, over all of its servers, or one of this server. */
export const make = Effect.fnUntraced(function*(limit: Limit | undefined): Effect.fn.Return<Limiter> {
  if (limit === undefined) return { wait: () => Effect.undefined }
  const limiter = Option.getOrUndefined(yield* Effect.serviceOption(RateLimiter.RateLimiter)) ??
    (yield* Effect.provide(RateLimiter.make, RateLimiter.layerStoreMemory))
  return {
    wait: (who) =>
      limiter.consume({ ...limit, key: keyOf(who) }).pipe(
        Effect.as(undefined),
        Effect.catch((error) =>
          error.reason._tag === "RateLimitExceeded"
            ? Effect.succeed(Math.max(1, Math.ceil(Duration.toSeconds(error.reason.retryAfter))))
            // Who cannot be counted is let in: a store that is down stops no approval.
            : Effect.as(Logging.error("Assent: what a page posts could not be counted.", error), undefined)
        )
      )
  }
})

const keyOf = ({ person, scope: { principal, tenant } }: Decider.Who): string =>
  `assent/web ${JSON.stringify([tenant ?? null, principal ?? null, person?.id ?? null])}`
