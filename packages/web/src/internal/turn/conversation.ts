/** What is used of a `Conversation`, whatever its tools are. */
import type { Approval, ApprovalError, Approver, Prompt, Response } from "@assent/ai"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

export interface Conversation {
  readonly history: Effect.Effect<Prompt.Prompt, unknown>
  readonly pending: () => Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>, unknown>
  readonly stream: (prompt: Prompt.RawInput) => Stream.Stream<Response.AnyPart, unknown>
  readonly decide: (
    answers: ReadonlyArray<Approval.ApprovalAnswer>,
    options: { readonly by: Approver.Person | undefined }
  ) => Effect.Effect<Outcome, unknown>
  readonly cancel: (reason?: string) => Effect.Effect<void, unknown>
}

export interface Outcome {
  readonly content: ReadonlyArray<Response.AnyPart>
  /** The answers that had no effect, where a conversation says so. */
  readonly refused?:
    | ReadonlyArray<{ readonly approvalId: string; readonly error: ApprovalError.ApprovalError }>
    | undefined
}
