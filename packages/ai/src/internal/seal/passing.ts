/** What is sealed in passing: a question that a controller answers before its turn is over. */
import * as Context from "effect/Context"

/** Where a question is not left open, nobody misses its approval after a restart: a key of this process will do. */
export const InPassing: Context.Reference<boolean> = Context.Reference<boolean>("@assent/ai/internal/SealedInPassing", {
  defaultValue: () => false
})
