/** Content of a response as parts, the same in a whole response and in a stream. */
import type * as Provider from "@ai-sdk/provider"
import type * as Response from "effect/ai/Response"
import * as Base64 from "effect/encoding/Base64"
import * as Approvals from "./approvals.ts"
import type * as Carrier from "./carrier.ts"
import * as Metadata from "./metadata.ts"
import type { Content } from "./models.ts"
import * as Requirements from "./requirements.ts"
import * as Tools from "./tools.ts"

export type Part =
  | Response.DocumentSourcePartEncoded
  | Response.FilePartEncoded
  | Response.ToolApprovalRequestPartEncoded
  | Response.ToolCallPartEncoded
  | Response.ToolResultPartEncoded
  | Response.UrlSourcePartEncoded

/** Content that neither begins nor ends: everything but text and reasoning. */
export type Whole = Exclude<Content, { readonly type: "text" | "reasoning" }>

export interface Reading {
  readonly provider: string
  readonly directory: Tools.Directory
  readonly history: Approvals.History
  /** Whether a call may be one of a tool that is not in the toolkit: the engine reads each call itself. */
  readonly takesAnyCall: boolean
}

/** Reads the content of one response. */
export interface Reader {
  readonly read: (content: Whole) => void
  /** The sources of a text. */
  readonly citations: (citations: ReadonlyArray<Provider.LanguageModelV4Citation>) => void
  /** Whether the provider asked for approval of a call that it runs. */
  readonly asksApproval: () => boolean
  /** Whether a call is the provider's own, of a tool that is not in the toolkit. */
  readonly isForeign: (name: string, providerExecuted: boolean | undefined) => boolean
  /** The tool's name in the toolkit. */
  readonly nameOf: (name: string, providerExecuted: boolean | undefined) => string
}

/** Where parts go, and what is to be carried because no part could stand for it. */
export interface Sink {
  readonly part: (part: Part) => void
  readonly carried: (carried: Carrier.Carried) => void
}

export const make = ({ directory, history, provider, takesAnyCall }: Reading, sink: Sink): Reader => {
  let asksApproval = false
  // Calls that no part stands for: nor does one for their results.
  const carried = new Map<string, Response.ToolCallPartEncoded>()
  const sources = new Set<string>()
  const stamp = Approvals.stamp(provider)

  const call = (content: Provider.LanguageModelV4ToolCall): void => {
    const { toolCallId, toolName } = content
    const params = parseInput(content.input)
    if (content.providerExecuted !== true) {
      const id = Requirements.inConversation(toolCallId)
      const metadata = Metadata.ofProvider(
        content.providerMetadata,
        id === toolCallId ? undefined : { ...stamp, callId: toolCallId }
      )
      sink.part({
        type: "tool-call",
        id,
        name: toolName,
        params,
        ...(metadata === undefined ? undefined : { metadata })
      })
      return
    }
    // What runs after an approval is the call that waited.
    if (history.askedIds.has(toolCallId)) return
    const tool = directory.ofHosted(toolName)
    if (tool === undefined ? !takesAnyCall : !Tools.fits(tool.parametersSchema, params)) {
      carried.set(toolCallId, {
        type: "tool-call",
        id: toolCallId,
        name: tool?.name ?? toolName,
        params,
        providerExecuted: true
      })
      const options = Metadata.toProvider(Metadata.ofProvider(content.providerMetadata))
      sink.carried({
        type: "tool-call",
        toolCallId,
        toolName,
        input: params,
        providerExecuted: true,
        ...(options === undefined ? undefined : { providerOptions: options })
      })
      return
    }
    const name = tool?.name ?? toolName
    const assent = directory.mcpSource(toolName)
    const metadata = Metadata.ofProvider(
      content.providerMetadata,
      name === toolName ? stamp : { ...stamp, toolName }
    )
    sink.part({
      type: "tool-call",
      id: toolCallId,
      name,
      params,
      providerExecuted: true,
      metadata: {
        ...metadata,
        ...(assent === undefined ? undefined : { assent: { ...assent, params: Metadata.json(params) ?? null } })
      }
    })
  }

  const result = (content: Provider.LanguageModelV4ToolResult): void => {
    const { preliminary, result, toolCallId, toolName } = content
    const tool = carried.has(toolCallId) ? undefined : directory.ofHosted(toolName)
    const isFailure = content.isError === true
    if (tool === undefined || !Tools.fits(isFailure ? tool.failureSchema : tool.successSchema, result)) {
      if (preliminary === true) return
      const options = Metadata.toProvider(Metadata.ofProvider(content.providerMetadata))
      sink.carried({
        type: "tool-result",
        toolCallId,
        toolName,
        output: { type: isFailure ? "error-json" : "json", value: result },
        ...(options === undefined ? undefined : { providerOptions: options })
      })
      return
    }
    const metadata = Metadata.ofProvider(content.providerMetadata, tool.name === toolName ? undefined : { toolName })
    sink.part({
      type: "tool-result",
      id: toolCallId,
      name: tool.name,
      result,
      isFailure,
      providerExecuted: true,
      ...(preliminary === true ? { preliminary } : undefined),
      ...(metadata === undefined ? undefined : { metadata })
    })
  }

  return {
    asksApproval: () => asksApproval,
    isForeign: (name, providerExecuted) => providerExecuted === true && directory.ofHosted(name) === undefined,
    nameOf: (name, providerExecuted) => providerExecuted === true ? directory.ofHosted(name)?.name ?? name : name,
    citations: (citations) => {
      for (const { source: cited, ...place } of citations) {
        if (sources.has(cited.id)) continue
        sources.add(cited.id)
        sink.part(source(cited, place))
      }
    },
    read: (content) => {
      switch (content.type) {
        case "tool-call":
          return call(content)
        case "tool-result":
          return result(content)
        case "tool-approval-request":
          asksApproval = true
          // Nobody could be asked about what is carried: the call fails as one that does not fit its tool.
          if (carried.has(content.toolCallId)) sink.part(carried.get(content.toolCallId)!)
          sink.part({
            type: "tool-approval-request",
            approvalId: content.approvalId,
            toolCallId: content.toolCallId
          })
          return
        case "source":
          sources.add(content.id)
          sink.part(source(content, undefined))
          return
        case "file":
          file(content, sink)
          return
        case "reasoning-file":
        case "custom":
          sink.carried(extra(content))
      }
    }
  }
}

/** The input of a call as JSON; what does not parse is what the tool's schema will refuse. */
const parseInput = (text: string): unknown => {
  if (typeof text !== "string") return text
  if (text.trim().length === 0) return {}
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const source = (
  content: Provider.LanguageModelV4Source,
  place: { readonly [key: string]: unknown } | undefined
): Part => {
  const metadata = Metadata.ofProvider(content.providerMetadata, place)
  const rest = metadata === undefined ? undefined : { metadata }
  if (content.sourceType === "url" && URL.canParse(content.url)) {
    return { type: "source", sourceType: "url", id: content.id, url: content.url, title: content.title ?? "", ...rest }
  }
  return content.sourceType === "url"
    // An address that is none, as of a page at a provider.
    ? {
      type: "source",
      sourceType: "document",
      id: content.id,
      mediaType: "text/html",
      title: content.title ?? content.url,
      ...rest
    }
    : {
      type: "source",
      sourceType: "document",
      id: content.id,
      mediaType: content.mediaType,
      title: content.title,
      ...(content.filename === undefined ? undefined : { fileName: content.filename }),
      ...rest
    }
}

const file = (content: Provider.LanguageModelV3File | Provider.LanguageModelV4File, sink: Sink): void => {
  const { data, mediaType } = content
  const metadata = Metadata.ofProvider(content.providerMetadata)
  if (typeof data === "object" && "type" in data && data.type === "url") {
    // A part holds the file itself: of one that is elsewhere a program is told where.
    sink.part({
      type: "source",
      sourceType: "url",
      id: data.url.href,
      url: data.url.href,
      title: content.mediaType,
      metadata: { [Metadata.own]: { file: mediaType } }
    })
    const options = Metadata.toProvider(metadata)
    sink.carried({
      type: "file",
      mediaType,
      data,
      ...(options === undefined ? undefined : { providerOptions: options })
    })
    return
  }
  sink.part({
    type: "file",
    mediaType,
    data: base64(typeof data === "object" && "type" in data ? data.data : data),
    ...(metadata === undefined ? undefined : { metadata })
  })
}

const base64 = (data: string | Uint8Array): string => typeof data === "string" ? data : Base64.encode(data)

const extra = (
  content: Provider.LanguageModelV4ReasoningFile | Provider.LanguageModelV4CustomContent
): Carrier.Carried => {
  const options = Metadata.toProvider(Metadata.ofProvider(content.providerMetadata))
  const rest = options === undefined ? undefined : { providerOptions: options }
  if (content.type === "custom") return { type: "custom", kind: content.kind, ...rest }
  const { data, mediaType } = content
  return {
    type: "reasoning-file",
    mediaType,
    // Metadata is JSON, which has no bytes.
    data: data.type === "data" ? { type: "data", data: base64(data.data) } : data,
    ...rest
  }
}
