/** What can be said of a request besides its prompt and its tools. */
import type * as Responses from "openai/resources/responses/responses"
import type { ResponsesModel } from "openai/resources/shared"

/** What the prompt, the tools and the way of the call say. */
type Ours = "model" | "input" | "tools" | "tool_choice" | "stream" | "stream_options" | "text" | "background"

/** The SDK's fields, with its own doc comments, and a few of ours. */
export interface Fields extends SdkFields {
  readonly model?: ResponsesModel | undefined
  /** How much the model says. The format of an answer comes from `generateObject`. */
  readonly text?: { readonly verbosity?: "low" | "medium" | "high" | null | undefined } | undefined
  /** How ids of files at OpenAI begin, in the data of a file part; `["file-"]` unless said otherwise. */
  readonly fileIdPrefixes?: ReadonlyArray<string> | undefined
  /** Whether functions and objects are held to their schemas (default), which needs a form of them that OpenAI takes. */
  readonly strictJsonSchema?: boolean | undefined
}

type SdkFields = {
  readonly [K in keyof Omit<Responses.ResponseCreateParamsBase, Ours>]?:
    | Responses.ResponseCreateParamsBase[K]
    | undefined
}

/** With the model that a request is for. */
export interface Resolved extends Fields {
  readonly model: ResponsesModel
}
