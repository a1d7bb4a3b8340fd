/**
 * Whether the history is kept by whoever takes the turn, and ends as it was left. That it ends with the assistant is then
 * nobody's beginning of a message for the model to go on with (law L7).
 */
import * as Context from "effect/Context"

export const KeepsHistory: Context.Reference<boolean> = Context.Reference<boolean>(
  "@assent/ai/internal/KeepsHistory",
  { defaultValue: () => false }
)
