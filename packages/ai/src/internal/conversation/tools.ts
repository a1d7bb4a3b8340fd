/** The tools of a conversation, as its turns find them. */
import type * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type * as Model from "../environment/model.ts"
import * as Logging from "../logging.ts"
import * as Handlers from "../tool/handlers.ts"

type AnyToolkit = Toolkit.WithHandler<Model.AnyTools>

export interface Tools {
  /** As they were found last. */
  readonly known: () => AnyToolkit
  /** Finds them again, as each turn does before anything is decided in it. Where they cannot be had, those are left that are known. */
  readonly find: Effect.Effect<void>
}

const timeLimit = "30 seconds"

/** What gives tools, a server's for example, is asked anew; a toolkit is what it is. */
export const make = <Kit, E, R>(toolkit: Kit | Effect.Effect<Kit, E, R>): Effect.Effect<Tools, E, R> =>
  Effect.gen(function*() {
    // The toolkit's own types are in those of the conversation.
    let known = (yield* Handlers.resolve(toolkit)) as unknown as AnyToolkit
    if (!Effect.isEffect(toolkit) || Predicate.hasProperty(toolkit, "toHandlers")) {
      return { known: () => known, find: Effect.void }
    }
    const context = yield* Effect.context<R>()
    const find = Handlers.resolve(toolkit).pipe(
      Effect.provideContext(context),
      Effect.timeout(timeLimit),
      Effect.matchCauseEffect({
        onFailure: (cause) =>
          Logging.warning(
            "Assent could not find the tools of a conversation anew; the turn has those of before.",
            cause
          ),
        onSuccess: (found) =>
          Effect.sync(() => {
            known = found as unknown as AnyToolkit
          })
      })
    )
    return { known: () => known, find }
  })
