/**
 * The engine's spans: how long a turn took to settle, how long a person took to answer, and how a run ended. No
 * parameters are in them, unless the program asked for them, and never a cause or a secret (law L15).
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Tracer from "effect/Tracer"
import type * as ApprovalError from "../../ApprovalError.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"

// Where nobody traces, nobody reads a span.
const whereTraced = <A, E, R>(effect: Effect.Effect<A, E, R>, traced: () => Effect.Effect<A, E, R>) =>
  Effect.withFiber<A, E, R>((fiber) => fiber.getRef(Tracer.Tracer) === Tracer.nativeTracer ? effect : traced())

/** Around settling calls that stand in a history without a result. How it failed is in the error, and not in the span. */
export const settle = <A>(
  effect: Effect.Effect<A, ApprovalError.ApprovalError>,
  calls: number
): Effect.Effect<A, ApprovalError.ApprovalError> =>
  whereTraced(effect, () =>
    effect.pipe(
      Effect.tapError((error) => Effect.annotateCurrentSpan("approval.error", error.reason._tag)),
      Effect.exit,
      Effect.withSpan("approval.settle", { attributes: { "approval.calls": calls } }, { captureStackTrace: false }),
      Effect.flatten
    ))

/** Around running an approved call. */
export const run = <Ended extends ApprovalJournal.Ran | ApprovalJournal.Suspended | ApprovalJournal.Again>(
  effect: Effect.Effect<Ended>,
  claim: ApprovalJournal.Claim
): Effect.Effect<Ended> =>
  whereTraced(effect, () =>
    Effect.flatMap(Clock.currentTimeMillis, (now) =>
      effect.pipe(
        Effect.tap((ran) =>
          Effect.annotateCurrentSpan(
            "approval.state",
            "recorded" in ran ? ran.recorded.isFailure ? "failed" : "done" : "suspended"
          )
        ),
        Effect.withSpan("approval.run", {
          attributes: {
            "gen_ai.tool.name": claim.toolName,
            "gen_ai.tool.call.id": claim.toolCallId,
            ...(claim.issuedAt === undefined ? undefined : { "approval.waited_ms": now - claim.issuedAt })
          }
        }, { captureStackTrace: false })
      )))

/**
 * The same span, with some of its methods replaced. Not an object that inherits from it: a span may make its id when that
 * is first read, and keep to itself what others cannot reach.
 */
export const instead = (span: Tracer.Span, methods: Partial<Pick<Tracer.Span, "attribute" | "end">>): Tracer.Span =>
  new Proxy(span, {
    get: (span, key) => {
      const own: unknown = Reflect.get(methods, key)
      if (own !== undefined) return own
      const value: unknown = Reflect.get(span, key, span)
      return typeof value === "function" ? value.bind(span) : value
    }
  })

/**
 * Upstream's toolkit writes the tool and the parameters of a call into the span it is called in, as it begins: that of
 * its own model, but here the span of an approved call or one of the program's. That span does not take them; what the
 * handler itself writes, later, it takes.
 */
export const withoutParameters = <A, E, R>(handle: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.withFiber<A, E, R>((fiber) => {
    const { span } = fiber.cache
    if (span?._tag !== "Span") return handle
    let beginning = true
    const quiet = instead(span, {
      attribute: (key, value) => {
        if (!beginning || (key !== "parameters" && key !== "tool")) span.attribute(key, value)
      }
    })
    return Effect.provideService(handle, Tracer.ParentSpan, quiet).pipe(
      Effect.ensuring(Effect.sync(() => beginning = false))
    )
  })
