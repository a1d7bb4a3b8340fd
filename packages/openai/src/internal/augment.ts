/**
 * What OpenAI says of a part, under `openai` in its metadata; a chat keeps it, and the next request needs it.
 *
 * Most of it names the item of OpenAI's that a part was made of. Read `metadata.ts` for how it is read back: it may come
 * from a history that somebody else wrote.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Schema from "effect/Schema"

/** How much of an image the model sees. */
export type ImageDetail = "auto" | "low" | "high" | "original"

/** The item a part was made of, and where OpenAI keeps it. */
export type ItemMetadata = {
  readonly itemId?: string | null
  /** The response it came in. */
  readonly responseId?: string | null
  /** The conversation of OpenAI's that it belongs to. */
  readonly conversationId?: string | null
  readonly status?: string | null
  /** The item that this one stands before in its response, where it came after it in the stream. */
  readonly before?: string | null
}

/** Of a text, and of the end of a streamed one. */
export type TextMetadata = ItemMetadata & {
  /** Citations, as OpenAI wrote them. */
  readonly annotations?: ReadonlyArray<Schema.Json> | null
  /** How likely each token was, where `top_logprobs` asks for it. */
  readonly logprobs?: ReadonlyArray<Schema.Json> | null
  /** What the model said when it refused; the text is empty then. */
  readonly refusal?: string | null
  /** The whole text at its end, where that is another than what was streamed. */
  readonly corrected?: string | null
  /** Whether a message is a comment on the way or the final answer. */
  readonly phase?: string | null
}

/** Of reasoning, and of a part that stands for an item of another type. */
export type ReasoningMetadata = ItemMetadata & {
  /** The reasoning itself, which only OpenAI can read. */
  readonly encryptedContent?: string | null
  /** True for raw reasoning, which some open models give instead of a summary. */
  readonly raw?: boolean | null
  /** Set on a part without text that stands for an item of another type. */
  readonly itemType?: string | null
  /** Such an item, as it came. */
  readonly item?: Schema.Json
}

/** Of a call. */
export type ToolCallMetadata = ItemMetadata & {
  /** The type of the item, of a call that OpenAI runs. */
  readonly itemType?: string | null
  /** The id of OpenAI's request for approval of this call. */
  readonly approvalRequestId?: string | null
  readonly serverLabel?: string | null
  /** The name of the tool on the MCP server. */
  readonly name?: string | null
  /** The arguments, letter by letter. */
  readonly arguments?: string | null
  /** The group of tools that the called one belongs to, where it was found in one. */
  readonly namespace?: string | null
  /** The program that made the call, where the model did not make it itself. */
  readonly caller?: Schema.Json
}

/** Of the result of a call that OpenAI ran. */
export type ToolResultMetadata = ItemMetadata & {
  readonly itemType?: string | null
  /** The request for approval that this call was run for. */
  readonly approvalRequestId?: string | null
  readonly serverLabel?: string | null
  /** The item as it came, where OpenAI does not keep it (`store: false`). */
  readonly item?: Schema.Json
}

/** Of a source on the web. */
export type UrlCitation = {
  readonly type: "url_citation"
  readonly startIndex: number
  readonly endIndex: number
}

/** Of a source in a file. */
export type FileCitation =
  | { readonly type: "file_citation" | "file_path"; readonly index: number; readonly fileId: string }
  | { readonly type: "container_file_citation"; readonly fileId: string; readonly containerId: string }

/** What the engine is told of a call on an MCP server: which policy and which params it has. */
export type HostedSource = {
  /** `mcp.<server label>` */
  readonly source: string
  /** `mcp.<server label>.<tool name>` */
  readonly toolName: string
  readonly params: Schema.Json
}

/** Of a turn. */
export type FinishMetadata = {
  readonly serviceTier?: string | null
  /** Why the response was cut, as OpenAI says it. */
  readonly incompleteReason?: string | null
  /** What OpenAI's moderation says of the input and the output, where it was asked for. */
  readonly moderation?: Schema.Json
  /** What Azure's content filters say of the prompt and the completion. */
  readonly contentFilters?: Schema.Json
}

/**
 * A field beside upstream's index signature. As a mapped type, and not in the interface itself, because there a program
 * without `exactOptionalPropertyTypes` reads the field as one that may be `undefined`, which is no JSON.
 */
export type Field<Fields, A> = Flat<Fields & { readonly openai?: A | null }>

type Flat<Fields> = { readonly [K in keyof Fields]: Fields[K] }

declare module "effect/ai/Prompt" {
  interface FilePartOptions extends Field<Prompt.ProviderOptions, { readonly imageDetail?: ImageDetail | null }> {}
  interface TextPartOptions extends Field<Prompt.ProviderOptions, TextMetadata> {}
  interface ReasoningPartOptions extends Field<Prompt.ProviderOptions, ReasoningMetadata> {}
  interface ToolCallPartOptions extends Field<Prompt.ProviderOptions, ToolCallMetadata> {}
  interface ToolResultPartOptions extends Field<Prompt.ProviderOptions, ToolResultMetadata> {}
}

declare module "effect/ai/Response" {
  interface TextPartMetadata extends Field<Response.ProviderMetadata, TextMetadata> {}
  interface TextStartPartMetadata extends Field<Response.ProviderMetadata, ItemMetadata> {}
  interface TextEndPartMetadata extends Field<Response.ProviderMetadata, TextMetadata> {}
  interface ReasoningPartMetadata extends Field<Response.ProviderMetadata, ReasoningMetadata> {}
  interface ReasoningStartPartMetadata extends Field<Response.ProviderMetadata, ItemMetadata> {}
  interface ReasoningEndPartMetadata extends Field<Response.ProviderMetadata, ReasoningMetadata> {}
  interface ToolCallPartMetadata extends Field<Response.ProviderMetadata, ToolCallMetadata> {}
  interface ToolResultPartMetadata extends Field<Response.ProviderMetadata, ToolResultMetadata> {}
  interface DocumentSourcePartMetadata extends Field<Response.ProviderMetadata, FileCitation> {}
  interface UrlSourcePartMetadata extends Field<Response.ProviderMetadata, UrlCitation> {}
  interface FinishPartMetadata extends Field<Response.ProviderMetadata, FinishMetadata> {}
}
