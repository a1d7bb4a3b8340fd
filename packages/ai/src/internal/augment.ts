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

/** On a request part: the `ApprovalRequest`, encoded. */
export type RequestMetadata = Schema.Json

/** On a tool result: which approval it settles, so that a result finds its call even when call ids repeat (law L13). */
export interface ResultMetadata {
  readonly approvalId: string
}

declare module "effect/ai/Response" {
  interface ToolApprovalRequestPartMetadata {
    readonly assent?: RequestMetadata | null
  }
  interface ToolResultPartMetadata {
    readonly assent?: { readonly approvalId: string } | null
  }
}

declare module "effect/ai/Prompt" {
  interface ToolApprovalRequestPartOptions {
    readonly assent?: RequestMetadata | null
  }
  interface ToolApprovalResponsePartOptions {
    readonly assent?: Schema.Json
  }
  interface ToolResultPartOptions {
    readonly assent?: { readonly approvalId: string } | null
  }
}

declare module "effect/ai/AiError" {
  interface InvalidRequestErrorMetadata {
    readonly assent?: Schema.MutableJson | null
  }
}
