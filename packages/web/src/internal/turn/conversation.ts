/** What is used of a `Conversation`, whatever its tools are. */
import type { Approval, Approver, Prompt, Response } from "@assent/ai"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

export interface Conversation {
  readonly history: Effect.Effect<Prompt.Prompt, unknown>
  readonly pending: () => Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>, unknown>
  readonly stream: (prompt: Prompt.RawInput) => Stream.Stream<Response.AnyPart, unknown>
  readonly decide: (
    answers: ReadonlyArray<Approval.ApprovalAnswer>,
    options: { readonly by: Approver.Person | undefined }
  ) => Effect.Effect<{ readonly content: ReadonlyArray<Response.AnyPart> }, unknown>
}
