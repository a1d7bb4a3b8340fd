/** What is sealed in passing: a question that no restart can leave without its answer. */
import * as Context from "effect/Context"

/**
 * Where a controller answers before the turn is over, or everything that is kept of the question ends with this process,
 * nobody misses its approval after a restart: a key of this process will do.
 */
export const InPassing: Context.Reference<boolean> = Context.Reference<boolean>("@assent/ai/internal/SealedInPassing", {
  defaultValue: () => false
})
