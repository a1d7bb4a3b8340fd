/** The handlers of a group as a layer, with the middleware that is ours. */
import * as Effect from "effect/Effect"
import type * as HttpApi from "effect/http-api/HttpApi"
import * as HttpApiBuilder from "effect/http-api/HttpApiBuilder"
import type * as HttpApiGroup from "effect/http-api/HttpApiGroup"
import * as Layer from "effect/Layer"
import * as Decider from "../../Decider.ts"
import * as Limiting from "../limiting.ts"
import * as Guard from "./guard.ts"
import * as Handlers from "./handlers.ts"

export interface Settings<E, R> extends Omit<Handlers.Settings<E, R>, "context" | "limiter"> {
  readonly rateLimit: Limiting.Limit | undefined
}

/** The requirements are those that the public module states: a group whose type is unknown here says nothing of them. */
export const layer = <
  ApiId extends string,
  Groups extends HttpApiGroup.Constraint,
  Identifier extends HttpApiGroup.Identifier<Groups>,
  E,
  R,
  Needs
>(
  api: HttpApi.HttpApi<ApiId, Groups>,
  identifier: Identifier,
  settings: Settings<E, R>
): Layer.Layer<HttpApiGroup.Service<ApiId, Identifier>, never, Needs> => {
  const group = api.groups[identifier] as unknown as HttpApiGroup.Top
  const usesDecider = Object.values(group.endpoints).some(({ middlewares }) => middlewares.has(Decider.Middleware))
  const handled = HttpApiBuilder.group(
    api,
    identifier,
    Effect.fnUntraced(function*(handlers: any) {
      const context = yield* Effect.context<R>()
      const limiter = yield* Limiting.make(settings.rateLimit)
      const made = Handlers.make({ ...settings, context, limiter })
      return handlers
        .handleRaw("send", made.send)
        .handleRaw("decide", made.decide)
        .handleRaw("answer", made.answer)
        .handleRaw("cancel", made.cancel)
        .handle("pending", made.pending)
        .handle("history", made.history)
        .handle("follow", made.follow)
        .handle("state", made.state)
    })
  )
  return handled.pipe(
    Layer.provide(usesDecider ? Layer.merge(Guard.layer, Decider.layerMiddleware) : Guard.layer)
  ) as any
}
