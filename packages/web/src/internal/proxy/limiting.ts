/** How often somebody may post. */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import * as RateLimiter from "effect/persistence/RateLimiter"
import type * as Decider from "../../Decider.ts"
import * as Logging from "../logging.ts"
import * as Errors from "./errors.ts"

export interface Limit {
  readonly limit: number
  readonly window: Duration.Input
  readonly algorithm?: "fixed-window" | "token-bucket" | undefined
}

/** Takes one of the posts that somebody has. */
export type Limiter = (
  who: Decider.Who
) => Effect.Effect<void, Errors.TooManyRequests | Errors.Unavailable, HttpServerRequest.HttpServerRequest>

const unlimited: Limiter = () => Effect.void

/** By the limiter of the program, where there is one; else by one of this process. */
export const make = (name: string, limit: Limit | undefined): Effect.Effect<Limiter> => {
  if (limit === undefined) return Effect.succeed(unlimited)
  return Effect.map(
    limiter,
    ({ consume }): Limiter => (who) =>
      Effect.asVoid(
        Effect.catch(consume({ ...limit, key: keyOf(name, who), onExceeded: "fail" }), (error): ReturnType<Limiter> => {
          if (error.reason._tag !== "RateLimitExceeded") {
            return Effect.andThen(
              Logging.error("Assent: it could not be found out how often somebody has posted.", Cause.fail(error)),
              Effect.fail(new Errors.Unavailable({ message: unknown }))
            )
          }
          const retryAfter = Math.max(1, Math.ceil(Duration.toSeconds(error.reason.retryAfter)))
          return Effect.andThen(
            HttpEffect.appendPreResponseHandler((_, response) =>
              Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retryAfter)))
            ),
            Effect.fail(new Errors.TooManyRequests({ retryAfter, message: tooOften(retryAfter) }))
          )
        })
      )
  )
}

const limiter = Effect.flatMap(
  Effect.serviceOption(RateLimiter.RateLimiter),
  Option.match({
    onSome: Effect.succeed,
    onNone: () => Effect.provide(RateLimiter.make, RateLimiter.layerStoreMemory)
  })
)

// All of whom nothing is known are one.
const keyOf = (name: string, { person, scope: { principal, tenant } }: Decider.Who): string =>
  `@assent/web/${JSON.stringify([name, tenant ?? null, principal ?? null, person?.id ?? null])}`

const tooOften = (seconds: number) => `You have sent too much in a short time. Try again in ${seconds} s.`

const unknown = "It could not be found out how often you have sent something. Nothing was done; try again."
