/** What is used of a `Conversation`, whatever its tools are. */
import type { Approval, ApprovalError, Approver, Prompt, Response } from "@assent/ai"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"

export interface TurnOptions {
  readonly by?: Approver.Person | undefined
  readonly answers?: ReadonlyArray<Approval.AnswerInput> | undefined
  readonly messageId?: string | undefined
}

export interface Outcome {
  readonly _tag: "Completed" | "Waiting" | "Limited" | "Stopped"
  readonly text: string
  readonly refused: ReadonlyArray<{ readonly approvalId: string; readonly error: ApprovalError.ApprovalError }>
}

export interface Turn {
  readonly messageId: string
  readonly parts: Stream.Stream<Response.AnyPart, unknown>
  readonly outcome: Effect.Effect<Outcome, unknown>
}

export interface Reading {
  readonly messages: ReadonlyArray<{ readonly id: string; readonly message: Prompt.Message }>
  readonly pending: ReadonlyArray<Approval.ApprovalRequest>
  readonly isTurnTaken: boolean
}

export interface RequestState {
  readonly state:
    | "open"
    | "answered"
    | "running"
    | "done"
    | "failed"
    | "denied"
    | "expired"
    | "cancelled"
    | "superseded"
    | "unknown"
  readonly request?: Approval.ApprovalRequest
  readonly decidedBy?: Approver.DecidedBy
  readonly result?: unknown
  readonly isFailure?: boolean
  readonly reason?: string
}

export interface Conversation {
  readonly start: (prompt: Prompt.RawInput, options?: TurnOptions) => Effect.Effect<Turn, unknown>
  readonly turn: Effect.Effect<Turn | undefined, unknown>
  readonly stateOf: (approvalId: string) => Effect.Effect<RequestState | undefined, unknown>
  readonly read: Effect.Effect<Reading, unknown>
  readonly pending: () => Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>, unknown>
  readonly cancel: (reason?: string) => Effect.Effect<void, unknown>
}
