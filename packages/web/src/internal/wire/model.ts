/** The messages and chunks of Vercel's UI message stream, version 1, as far as they are written here. */
import type { Approval, Approver } from "@assent/ai"
import type * as Schema from "effect/Schema"

/** What became of a call that somebody was asked about, and whose decision it was. */
export interface Fate {
  readonly approvalId?: string
  readonly toolCallId: string
  readonly toolName: string
  /** `open` waits for somebody, `answered` was answered and has no result yet. */
  readonly state: "open" | "answered" | "done" | "failed" | "denied" | "unknown"
  /** A sentence for people: why it was denied, did not run, or is asked again. */
  readonly reason?: string
  readonly decidedBy?: typeof Approver.DecidedBy.Encoded
  /** How the parameters that ran differ from those that were proposed, as a JSON Patch. */
  readonly edits?: Schema.Json
}

/** What is asked, without the parameters: they are the `input` of the call. */
export type Descriptor = Omit<typeof Approval.ApprovalRequest.Encoded, "params">

export interface ToolApproval {
  readonly id: string
  readonly approved?: boolean
  /** What the person said with it. */
  readonly reason?: string
  readonly requestReason?: string
  readonly descriptor?: Descriptor
}

export interface TextPart {
  readonly type: "text" | "reasoning"
  readonly text: string
  readonly state: "done"
}

export interface FilePart {
  readonly type: "file"
  readonly mediaType: string
  readonly url: string
  readonly filename?: string
}

export interface ToolPart {
  readonly type: `tool-${string}`
  readonly toolCallId: string
  /** `"input-available"`: what it waits for is asked in agents within it. */
  readonly state:
    | "input-available"
    | "approval-requested"
    | "approval-responded"
    | "output-available"
    | "output-error"
    | "output-denied"
  readonly input: unknown
  readonly output?: unknown
  readonly errorText?: string
  readonly providerExecuted?: true
  readonly approval?: ToolApproval
}

export interface StepPart {
  readonly type: "step-start"
}

export interface FatePart {
  readonly type: "data-approval"
  readonly id: string
  readonly data: Fate
}

export type UiPart = TextPart | FilePart | ToolPart | StepPart | FatePart

export interface UiMessage {
  readonly id: string
  readonly role: "user" | "assistant"
  readonly parts: ReadonlyArray<UiPart>
}

export type FinishReason = "stop" | "length" | "content-filter" | "tool-calls" | "error" | "other"

interface OfCall {
  readonly toolCallId: string
}

interface Named extends OfCall {
  readonly toolName: string
  readonly providerExecuted?: true
}

export interface FateChunk extends FatePart {
  /** It is told to the page (`onData`), and is no part of the message. */
  readonly transient?: true
}

/** A chunk of a stream. What is not in this list ends the whole response at the client, but for `data-*`. */
export type Chunk =
  | { readonly type: "start"; readonly messageId?: string }
  | { readonly type: "start-step" | "finish-step" }
  | { readonly type: "text-start" | "text-end" | "reasoning-start" | "reasoning-end"; readonly id: string }
  | { readonly type: "text-delta" | "reasoning-delta"; readonly id: string; readonly delta: string }
  | (Named & { readonly type: "tool-input-start" })
  | (OfCall & { readonly type: "tool-input-delta"; readonly inputTextDelta: string })
  | (Named & { readonly type: "tool-input-available"; readonly input: unknown })
  | (OfCall & {
    readonly type: "tool-approval-request"
    readonly approvalId: string
    readonly reason?: string
    readonly approvalDescriptor?: Descriptor
  })
  | {
    readonly type: "tool-approval-response"
    readonly approvalId: string
    readonly approved: boolean
    readonly reason?: string
  }
  | (OfCall & {
    readonly type: "tool-output-available"
    readonly output: unknown
    readonly preliminary?: true
    readonly providerExecuted?: true
  })
  | (OfCall & { readonly type: "tool-output-error"; readonly errorText: string; readonly providerExecuted?: true })
  | (OfCall & { readonly type: "tool-output-denied" })
  | { readonly type: "source-url"; readonly sourceId: string; readonly url: string; readonly title?: string }
  | {
    readonly type: "source-document"
    readonly sourceId: string
    readonly mediaType: string
    readonly title: string
    readonly filename?: string
  }
  | { readonly type: "file"; readonly url: string; readonly mediaType: string }
  | FateChunk
  | { readonly type: "data-heartbeat"; readonly data: { readonly at: number }; readonly transient: true }
  | { readonly type: "finish"; readonly finishReason?: FinishReason }
  | { readonly type: "error"; readonly errorText: string }
  | { readonly type: "abort"; readonly reason?: string }
