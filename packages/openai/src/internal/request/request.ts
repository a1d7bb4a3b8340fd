/** A request: what the program asked, what the configuration says, and what OpenAI knows already. */
import type * as LanguageModel from "effect/ai/LanguageModel"
import type * as Responses from "openai/resources/responses/responses"
import type * as Approvals from "../approvals/approvals.ts"
import type * as Tools from "../tools/tools.ts"
import type * as Config from "./config.ts"
import * as Input from "./input.ts"
import type * as Known from "./known.ts"
import * as Models from "./models.ts"

export interface Subject {
  readonly options: LanguageModel.ProviderOptions
  readonly config: Config.Resolved
  readonly history: Approvals.History
  readonly tools: Tools.RequestTools
  readonly format: Responses.ResponseFormatTextJSONSchemaConfig | undefined
}

/** How a request is made. */
export interface Form {
  /**
   * Whether items are named by their ids. Else every item that can be is sent as a whole: for an OpenAI that keeps nothing, or
   * keeps it no more.
   */
  readonly references: boolean
  /** Whether reasoning is asked for in a form that can be sent back, where OpenAI keeps nothing. */
  readonly encrypted: boolean
}

/** The parameters of a request. */
export const make = (
  { config, format, history, options, tools }: Subject,
  { encrypted, references }: Form
): Responses.ResponseCreateParamsNonStreaming => {
  const {
    conversation: _conversation,
    fileIdPrefixes,
    include,
    previous_response_id: _previous,
    strictJsonSchema: _strict,
    text,
    ...others
  } = config
  const base = baseOf(config, options)
  // What knows only the other role takes this one; OpenAI takes both.
  const systemRole = Models.reasons(config.model) === true ? "developer" : "system"
  const included = [...new Set([...include ?? [], ...includes(config, tools.tools ?? [], encrypted)])]
  return {
    ...defined(others),
    input: Input.make(options.prompt.content, history, {
      base,
      references,
      rebuildsRequests: config.store === false,
      systemRole,
      fileIdPrefixes: fileIdPrefixes ?? ["file-"],
      toolNames: new Set(options.tools.map((tool) => tool.name))
    }),
    ...(base.type === "conversation" ? { conversation: base.id } : undefined),
    ...(base.type === "last" ? { previous_response_id: options.previousResponseId! } : undefined),
    ...(base.type === "response" ? { previous_response_id: base.id } : undefined),
    ...(included.length === 0 ? undefined : { include: included }),
    ...(text === undefined && format === undefined
      ? undefined
      : { text: { ...defined(text ?? {}), ...(format === undefined ? undefined : { format }) } }),
    ...(tools.tools === undefined ? undefined : { tools: tools.tools }),
    ...(tools.toolChoice === undefined ? undefined : { tool_choice: tools.toolChoice })
  }
}

/**
 * What the configuration says comes first: a conversation, or the response to go on from. Else it is the response that a
 * `ResponseIdTracker` found, where OpenAI keeps responses.
 */
export const baseOf = (config: Config.Resolved, options: LanguageModel.ProviderOptions): Known.Base =>
  config.conversation !== undefined && config.conversation !== null
    ? {
      type: "conversation",
      id: typeof config.conversation === "string" ? config.conversation : config.conversation.id
    }
    : typeof config.previous_response_id === "string"
    ? { type: "response", id: config.previous_response_id }
    : options.previousResponseId !== undefined && config.store !== false
    ? { type: "last" }
    : { type: "nothing" }

const includes = (
  config: Config.Resolved,
  tools: ReadonlyArray<Responses.Tool>,
  encrypted: boolean
): ReadonlyArray<Responses.ResponseIncludable> => [
  // What OpenAI does not keep it has to get back from us. Of a model that nobody knows it is asked.
  ...(encrypted && config.store === false && Models.reasons(config.model) !== false ? [encryptedReasoning] : []),
  ...(typeof config.top_logprobs === "number" ? ["message.output_text.logprobs" as const] : []),
  // The results of these tools have it, and OpenAI leaves it out unless it is asked for.
  ...(tools.some((tool) => tool.type === "code_interpreter") ? ["code_interpreter_call.outputs" as const] : []),
  ...(tools.some((tool) => tool.type === "web_search") ? ["web_search_call.action.sources" as const] : [])
]

const encryptedReasoning = "reasoning.encrypted_content" as const

/** Whether the request asks for encrypted reasoning although its model may have none, and the program did not say so. */
export const mayBeRefused = ({ config }: Subject): boolean =>
  config.store === false && Models.reasons(config.model) === undefined &&
  config.include?.includes(encryptedReasoning) !== true

// OpenAI takes null for "nothing", and the SDK leaves out what is undefined; so do we, so that tests see what is sent.
const defined = <A extends object>(fields: A): { [K in keyof A]: Exclude<A[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof A]: Exclude<A[K], undefined>
  }
