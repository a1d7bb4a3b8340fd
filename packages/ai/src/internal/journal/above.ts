/**
 * The runs in which something runs, as their journal has them. What is claimed within them is claimed only while they run: in
 * one transaction, so that nothing begins within what was given up (law L2).
 */
import * as Context from "effect/Context"
import type * as Store from "../../Store.ts"

export interface Running {
  readonly store: Store.RequestOperations
  readonly nonce: string
  readonly version: number
}

export const Above: Context.Reference<ReadonlyArray<Running>> = Context.Reference<ReadonlyArray<Running>>(
  "~@assent/ai/internal/Above",
  { defaultValue: () => [] }
)
