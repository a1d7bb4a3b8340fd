/** A store in memory. */
import * as Effect from "effect/Effect"
import type * as Model from "./model.ts"

export interface Options {
  readonly capacity?: number | undefined
  readonly maxResultBytes?: number | undefined
}

export const make = <Store>(
  _options: Options | undefined,
  _make: (operations: Model.Operations) => Store
): Effect.Effect<Store> => Effect.die("not built yet")
