/** What is used of a `Conversation`, whatever its tools are. */
import type { Approval, ApprovalError, Approver, Conversation as Engine, Prompt, Response } from "@assent/ai"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

/**
 * What the routes need of a conversation: one that `Conversation.make` of `@assent/ai` has made, whatever its tools are.
 *
 * @category models
 * @since 0.1.0
 */
export interface Conversation {
  readonly read: Effect.Effect<Engine.Reading, unknown>
  readonly stateOf: (approvalId: string) => Effect.Effect<Engine.RequestState | undefined, unknown>
  readonly turn: Effect.Effect<Turn | undefined, unknown>
  readonly start: (
    prompt: Prompt.RawInput,
    options: {
      readonly answers: ReadonlyArray<Approval.ApprovalAnswer>
      readonly by: Approver.Person | undefined
      readonly messageId: string | undefined
    }
  ) => Effect.Effect<Turn, unknown>
  readonly cancel: (reason?: string) => Effect.Effect<void, unknown>
}

export interface Turn {
  /** Where in the history what it says begins. */
  readonly messageId: string
  readonly parts: Stream.Stream<Response.AnyPart, unknown>
  readonly outcome: Effect.Effect<{
    /** The answers that had no effect. */
    readonly refused: ReadonlyArray<{ readonly approvalId: string; readonly error: ApprovalError.ApprovalError }>
  }, unknown>
}
