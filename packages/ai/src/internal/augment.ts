/**
 * Where Assent keeps its own data on upstream's parts, typed by module augmentation.
 *
 * The engine writes these fields for people and programs to read. It never trusts a request's or an answer's: what
 * it needs is in the approval id and in the call itself (law L4).
 */
import type {} from "effect/ai/AiError"
import type {} from "effect/ai/Prompt"
import type {} from "effect/ai/Response"
import type * as Schema from "effect/Schema"
import type { DecidedBy } from "../Approver.ts"

/** On a request part: the `ApprovalRequest`, encoded. */
export type RequestMetadata = Schema.Json

/**
 * On a tool result: which approval it settles, or that it belongs to a call of an earlier message; so a result finds its
 * call even when call ids repeat (law L13). `edits`, as a JSON Patch, lead from the parameters that were proposed, which
 * the call has, to those that ran. `told` is what the model was told in the place of a result that came when it had gone
 * on, and `after` how often it had said something since the call. `decidedBy` is whose decision it is (law L16); of a call
 * that was let run because it was approved before, it is all there is.
 */
export type ResultMetadata =
  | {
    readonly approvalId: string
    readonly edits?: Schema.Json
    readonly told?: string
    readonly after?: number
    readonly decidedBy?: typeof DecidedBy.Encoded
  }
  | { readonly earlier: true }
  | { readonly decidedBy: typeof DecidedBy.Encoded }

/**
 * On a call that the provider runs itself, by the author of the provider: what it is about, where one tool stands for
 * many. `source` qualifies the name, which is what policies see: `mcp.github` and `mcp.github.create_issue`.
 */
export type CallMetadata = {
  readonly source?: string
  readonly toolName?: string
  readonly params?: Schema.Json
  /** Proves that the provider said so, and asked: `LanguageModel.sealRequest` (laws L4 and L9). */
  readonly seal?: string
}

/** On a message of the assistant that was cut short: the turn that goes on from it says so. */
export type MessageMetadata = { readonly cut: true }

declare module "effect/ai/Response" {
  interface ToolCallPartMetadata {
    readonly assent?: CallMetadata | null
  }
  interface ToolApprovalRequestPartMetadata {
    readonly assent?: RequestMetadata | null
  }
  interface ToolResultPartMetadata {
    readonly assent?: ResultMetadata | null
  }
}

declare module "effect/ai/Prompt" {
  interface AssistantMessageOptions {
    readonly assent?: MessageMetadata | null
  }
  interface ToolCallPartOptions {
    readonly assent?: CallMetadata | null
  }
  interface ToolApprovalRequestPartOptions {
    readonly assent?: RequestMetadata | null
  }
  interface ToolApprovalResponsePartOptions {
    readonly assent?: Schema.Json
  }
  interface ToolResultPartOptions {
    readonly assent?: ResultMetadata | null
  }
}

declare module "effect/ai/AiError" {
  interface InvalidRequestErrorMetadata {
    readonly assent?: Schema.MutableJson | null
  }
}
