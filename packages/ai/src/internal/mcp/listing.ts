/**
 * A server's list of tools, of which one that is malformed would make the whole unreadable: it is left out instead.
 */
import type * as McpClient from "effect/ai/McpClient"
import * as McpSchema from "effect/ai/McpSchema"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Text from "../text.ts"

/** The same connection, over which only tools are listed that are such. */
export const readable = (transport: McpClient.Transport): McpClient.Transport => {
  // Each turn lists the tools; only what is new is told.
  const told = new Set<string>()
  return {
    ...transport,
    request: (message) =>
      message.method === "tools/list"
        ? Effect.flatMap(transport.request(message), (response) => withoutMalformed(response, told))
        : transport.request(message)
  }
}

const isTool = Schema.is(Schema.toEncoded(McpSchema.Tool))

const withoutMalformed = (
  response: McpSchema.JsonRpcResponse,
  told: Set<string>
): Effect.Effect<McpSchema.JsonRpcResponse> => {
  if (response.error !== undefined) return Effect.succeed(response)
  const { result } = response
  if (!Predicate.isObject(result) || !("tools" in result) || !Array.isArray(result.tools)) {
    return Effect.succeed(response)
  }
  const tools: ReadonlyArray<unknown> = result.tools
  const good = tools.filter((tool) => isTool(tool))
  if (good.length === tools.length) return Effect.succeed(response)
  const names = tools.flatMap((tool) => isTool(tool) ? [] : [nameOf(tool)]).filter((name) => !told.has(name))
  // A server may make up new ones without end.
  for (const name of names) if (told.size < 1_000) told.add(name)
  const left = { ...response, result: { ...result, tools: good } }
  return names.length === 0 ? Effect.succeed(left) : Effect.as(
    Effect.logWarning(
      `Assent: An MCP server offers tools that are left out, because they are not written as the protocol has it: ${
        names.slice(0, 3).join(", ")
      }${names.length > 3 ? `; and ${names.length - 3} more` : ""}.`
    ),
    left
  )
}

const nameOf = (tool: unknown): string =>
  Predicate.isObject(tool) && "name" in tool && Predicate.isString(tool.name)
    ? Text.quote(tool.name)
    : "one without a name"
