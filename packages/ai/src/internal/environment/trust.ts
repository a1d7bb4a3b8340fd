/**
 * Whether the answers of a history come from the program itself. A `Conversation` keeps its history where nobody else
 * writes, so what its answers change or want remembered counts as a controller's does (law L4). It holds for that one
 * history: the engine takes it away from everything that runs in the turn.
 */
import * as Context from "effect/Context"

export const TrustsAnswers: Context.Reference<boolean> = Context.Reference<boolean>(
  "@assent/ai/internal/TrustsAnswers",
  { defaultValue: () => false }
)
