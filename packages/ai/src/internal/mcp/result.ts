/**
 * What an MCP server answers, as text for a model; and what keeps a call from having an answer, as a failed result that
 * says so (laws L8, L14), with the server's words escaped and bounded (law L15).
 */
import type * as McpClientError from "effect/ai/McpClientError"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Bounds from "../bounds.ts"
import * as Text from "../text.ts"
import * as Definition from "./definition.ts"

/**
 * Why a call of a tool of an MCP server has no result. After `execution-interrupted` nothing ran; after `tool-failed` it
 * did, or may have. `server` is the name that stands before those of its tools.
 *
 * @category models
 * @since 0.1.0
 */
export const Failure = Schema.Struct({
  type: Schema.Literals(["execution-interrupted", "tool-failed"]),
  server: Schema.String,
  reason: Schema.String
})

/**
 * Why a call of a tool of an MCP server has no result.
 *
 * @category models
 * @since 0.1.0
 */
export type Failure = typeof Failure.Type

const maxReasonLength = 4_000

const show = (text: string): string => Text.escape(text, { maxLength: maxReasonLength, multiline: true })

const capitalized = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`

const notRun = ({ name }: Definition.Server, why: string, when = ""): Failure => ({
  type: "execution-interrupted",
  server: name,
  reason: `${why} Nothing ran; it may be asked again${when}.`
})

/** The tool is not what it was when it was listed. Who asks about that one again asks in vain. */
export const changed = (server: Definition.Server, how: string): Failure =>
  notRun(server, how, " after the tools are listed again")

/** The tools could not be listed, so that nobody knows whether this one still is what was agreed to. */
export const notListed = (server: Definition.Server, { message }: McpClientError.McpClientError): Failure =>
  notRun(
    server,
    `${
      capitalized(Definition.spoken(server))
    } could not be asked right before the call whether its tool is still the same` +
      ` (${Text.quote(message, 500)}).`
  )

/** The call was sent, and what came back is no result of it. */
export const failed = (server: Definition.Server, { reason }: McpClientError.McpClientError): Failure => ({
  type: "tool-failed",
  server: server.name,
  reason: reason._tag === "ProtocolError" && refusals.includes(reason.code)
    ? `${capitalized(Definition.spoken(server))} refused the call: ${Text.quote(reason.message, 2_000)}`
    : `${capitalized(Definition.spoken(server))} gave no result (${
      Text.quote(reason.message, 2_000)
    }). Whether the tool` +
      " ran is unknown. Check before calling it again."
})

// No such request, no such method, no such tool or parameters. Behind any other error the tool may have done its work.
const refusals: ReadonlyArray<number | undefined> = [
  McpSchema.INVALID_REQUEST_ERROR_CODE,
  McpSchema.METHOD_NOT_FOUND_ERROR_CODE,
  McpSchema.INVALID_PARAMS_ERROR_CODE
]

/** What the server answered: its text, or as a failure that which it calls an error. */
export const read = (
  server: Definition.Server,
  result: McpSchema.CallToolResult
): Effect.Effect<string, Failure> => {
  const excess = Bounds.check(result.structuredContent, Bounds.params)
  if (excess === "depth" || excess === "unwritable") {
    return Effect.fail({
      type: "tool-failed",
      server: server.name,
      reason: `The tool ran, but what ${Definition.spoken(server)} answered is ${
        Bounds.describe(excess, Bounds.params)
      }, so it is left out. Do not repeat it as it was: ask for less, or for one part at a time.`
    })
  }
  const text = toText(result)
  return result.isError !== true ? Effect.succeed(text) : Effect.fail({
    type: "tool-failed",
    server: server.name,
    reason: `${capitalized(Definition.spoken(server))} says that the tool failed${
      text === "" ? ", and nothing else." : `: ${show(text)}`
    }`
  })
}

// As upstream's `McpClient.toolkit` has it, but what is no text is named and not a failure: the tool has run, and a
// model that is told that it failed would run it again.
const toText = ({ content, structuredContent }: McpSchema.CallToolResult): string =>
  content.length === 0
    ? structuredContent === undefined ? "" : JSON.stringify(structuredContent)
    : content.map(blockToText).join("\n")

const blockToText = (block: McpSchema.ContentBlock): string => {
  switch (block.type) {
    case "text":
      return block.text
    case "resource_link":
      return `${block.title ?? block.name}: ${block.uri}${
        block.description === undefined ? "" : `\n${block.description}`
      }`
    case "resource":
      return "text" in block.resource
        ? block.resource.text
        : omitted("resource", block.resource.mimeType, block.resource.blob)
    default:
      return omitted(block.type, block.mimeType, block.data)
  }
}

const omitted = (kind: string, mimeType: string | undefined, { length }: Uint8Array): string =>
  `[${kind}${mimeType === undefined ? "" : ` of type ${mimeType}`}, ${length} bytes, not shown]`
