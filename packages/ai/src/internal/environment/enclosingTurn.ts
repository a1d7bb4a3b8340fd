/** The turn around a handler, for a guarded toolkit that is used from within it: its policies see the same conversation. */
import type * as Prompt from "effect/ai/Prompt"
import * as Context from "effect/Context"
import type * as Approval from "../../Approval.ts"
import type { Options } from "./environment.ts"

export interface Turn {
  readonly messages: ReadonlyArray<Prompt.Message>
  /** How the engine was told to decide. */
  readonly options: Options
  /** Whose memories hold here, and those around it. */
  readonly memories?: ReadonlyArray<Approval.ApprovalScope>
}

export const EnclosingTurn = Context.Reference<Turn | undefined>("~@assent/ai/internal/EnclosingTurn", {
  defaultValue: () => undefined
})
