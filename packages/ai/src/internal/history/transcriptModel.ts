/** What is known of a history that was read: its calls, what was asked about them, and what has to be written otherwise. */
import type * as Prompt from "effect/ai/Prompt"

/** A local tool call of a history, with everything the history says of it. */
export interface TranscriptCall {
  readonly part: Prompt.ToolCallPart
  readonly messageIndex: number
  /** The id the provider sees: its own, unless another call of the same message has it (law L13). */
  sentId: string
  /** What was asked about it, distinct by approval id, in order. */
  requests: Array<TranscriptRequest>
  /** The first result; later ones are dropped, but for one that came late in the place of one that nobody knew. */
  result: Prompt.ToolResultPart | undefined
  /** Where the result stands. */
  resultAt: number | undefined
  /** What the result has replaced, which said that nobody knew. */
  replaced?: Pick<TranscriptCall, "result" | "resultAt"> | undefined
}

/** A call of a history that the provider runs itself. */
export interface ProviderCall {
  readonly part: Prompt.ToolCallPart
  readonly messageIndex: number
  result: Prompt.ToolResultPart | undefined
  /** Where the result stands. */
  resultAt: number | undefined
  /** A local call has taken its id: what is asked from here on is about that one. */
  isHidden: boolean
}

/** A request of a history; a request repeated by polling is one request, at its first place. */
export interface TranscriptRequest {
  readonly part: Prompt.ToolApprovalRequestPart
  readonly messageIndex: number
  /** The local call it asks about. */
  readonly call: TranscriptCall | undefined
  /** The call of the provider's it asks about. */
  readonly providerCall: ProviderCall | undefined
  /** The call it asks about, local or the provider's; `undefined` when it was trimmed from the history (law L10). */
  readonly toolCall: Prompt.ToolCallPart | undefined
  /** The answers that count. */
  responses: Array<Prompt.ToolApprovalResponsePart>
  /** Answers that do not: they came after the call's result, or would edit a call that the provider runs as it is. */
  ignored: Array<Prompt.ToolApprovalResponsePart>
  /** Where the first answer that counts stands. */
  answeredAt: number | undefined
}

/** A person said no when the call had its result already. */
export interface LateDenial {
  readonly call: TranscriptCall
  /** The message it stands in. */
  readonly at: number
  readonly denial: Prompt.ToolApprovalResponsePart
}

export interface Transcript {
  readonly messages: ReadonlyArray<Prompt.Message>
  /** Local calls that are not in a settled exchange, in order. */
  readonly calls: ReadonlyArray<TranscriptCall>
  /** Whether there is a local call at all, those in settled exchanges included. */
  readonly hasCalls: boolean
  /** Those that are not in a settled exchange, distinct by approval id, in order. */
  readonly allRequests: ReadonlyArray<TranscriptRequest>
  /** Of these, those of local calls that have no result, and those of other calls. */
  readonly requests: ReadonlyArray<TranscriptRequest>
  /** Of local calls, those in settled exchanges included. */
  readonly lateDenials: ReadonlyArray<LateDenial>
  readonly lastUserIndex: number
  /** Results of provider-executed calls that stand in tool messages, by the assistant message they belong into. */
  readonly movedResults: ReadonlyMap<number, ReadonlyArray<Prompt.ToolResultPart>>
  /** Results of provider-executed calls that the provider did not give: they were told here, perhaps once more. */
  readonly toldResults: ReadonlySet<Prompt.AssistantMessagePart>
  /**
   * By the index of a message: what becomes of it. `undefined` where every message stands as it is: every local call has
   * its one result in the tool message directly after it, and there is no approval part.
   */
  readonly changes: Uint8Array | undefined
}
