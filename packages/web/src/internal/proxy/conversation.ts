/** What is used of a `Conversation`, whatever its tools are. */
import type { Approval, Conversation as Conversations, Prompt, Response } from "@assent/ai"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

export type RequestState = Conversations.RequestState

export interface Outcome {
  readonly _tag: Conversations.Outcome<{}>["_tag"]
  readonly text: string
  readonly refused: ReadonlyArray<Conversations.RefusedAnswer>
}

export interface Turn {
  readonly messageId: string
  readonly parts: Stream.Stream<Response.AnyPart, unknown>
  readonly outcome: Effect.Effect<Outcome, unknown>
}

export interface Conversation {
  readonly start: (prompt: Prompt.RawInput, options?: Conversations.TurnOptions) => Effect.Effect<Turn, unknown>
  readonly turn: Effect.Effect<Turn | undefined, unknown>
  readonly stateOf: (approvalId: string) => Effect.Effect<RequestState | undefined, unknown>
  readonly read: Effect.Effect<Conversations.Reading, unknown>
  readonly pending: () => Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>, unknown>
  readonly cancel: (reason?: string) => Effect.Effect<void, unknown>
}
