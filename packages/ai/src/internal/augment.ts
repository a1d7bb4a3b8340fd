/**
 * Where Assent keeps its own data on upstream's parts, typed by module augmentation.
 *
 * The engine writes these fields for people and programs to read. It never trusts a request's or an answer's: what
 * it needs is in the approval id and in the call itself (law L4).
 */
import type * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Schema from "effect/Schema"
import type { DecidedBy } from "../Approver.ts"

/**
 * On a request part: the `ApprovalRequest`, encoded; with `inline: true` where somebody was asked in the turn itself, which
 * has not come to its end: nobody else can answer it.
 */
export type RequestMetadata = Schema.Json

/**
 * On a tool result: which approval it settles, or that it belongs to a call of an earlier message; so a result finds its
 * call even when call ids repeat (law L13). `edits`, as a JSON Patch, lead from the parameters that were proposed, which
 * the call has, to those that ran. `told` is what the model was told in the place of a result that came when it had gone
 * on, and `after` how often it had said something since the call. `unknown` says that nobody knew what became of it: it is
 * looked up again. `decidedBy` is whose decision it is (law L16); of a call
 * that was let run because it was approved before, it is all there is. `leftOut` is how many preliminary results of the call
 * the reader of a stream was too slow for, right before this one.
 */
export type ResultMetadata =
  | {
    readonly approvalId: string
    readonly edits?: Schema.Json
    readonly told?: string
    readonly after?: number
    readonly unknown?: true
    readonly stop?: true
    readonly decidedBy?: typeof DecidedBy.Encoded
    readonly leftOut?: number
    /** Of what an agent within the call says while it goes on: the agents, the outermost first. */
    readonly path?: ReadonlyArray<string>
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

/** On what a sender has named (`TurnOptions.messageId`): what the user said, or the answer that this `text` of theirs was. */
export type NamedMetadata = { readonly messageId: string; readonly text?: string }

/** On the finish of a turn that a person stopped with a denial. */
export type FinishMetadata = { readonly stopped: true }

/**
 * A field beside upstream's index signature. As a mapped type, and not in the interface itself, because there a program
 * without `exactOptionalPropertyTypes` reads the field as one that may be `undefined`, which is no JSON.
 */
type Field<Fields, A> = Flat<Fields & { readonly assent?: A }>

type Flat<Fields> = { readonly [K in keyof Fields]: Fields[K] }

declare module "effect/ai/Response" {
  interface FinishPartMetadata extends Field<Response.ProviderMetadata, FinishMetadata | null> {}
  interface ToolCallPartMetadata extends Field<Response.ProviderMetadata, CallMetadata | null> {}
  interface ToolApprovalRequestPartMetadata extends Field<Response.ProviderMetadata, RequestMetadata | null> {}
  interface ToolResultPartMetadata extends Field<Response.ProviderMetadata, ResultMetadata | null> {}
}

declare module "effect/ai/Prompt" {
  interface AssistantMessageOptions extends Field<Prompt.ProviderOptions, MessageMetadata | null> {}
  interface UserMessageOptions extends Field<Prompt.ProviderOptions, NamedMetadata | null> {}
  interface ToolMessageOptions extends Field<Prompt.ProviderOptions, NamedMetadata | null> {}
  interface ToolCallPartOptions extends Field<Prompt.ProviderOptions, CallMetadata | null> {}
  interface ToolApprovalRequestPartOptions extends Field<Prompt.ProviderOptions, RequestMetadata | null> {}
  interface ToolApprovalResponsePartOptions extends Field<Prompt.ProviderOptions, Schema.Json> {}
  interface ToolResultPartOptions extends Field<Prompt.ProviderOptions, ResultMetadata | null> {}
}

declare module "effect/ai/AiError" {
  interface InvalidRequestErrorMetadata extends Field<AiError.ProviderMetadata, Schema.MutableJson | null> {}
}
