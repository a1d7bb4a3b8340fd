/**
 * What a program says of an MCP server that keeps its tools from being a toolkit, told so that the line that fixes it is in
 * the message.
 */
import * as Schema from "effect/Schema"
import * as Text from "../text.ts"

/**
 * The tools of an MCP server cannot be made a toolkit. `problem` says why:
 *
 * - `InvalidName`: the name that the program gave the server cannot stand before the names of its tools.
 * - `NameMissing`: the program gave none, and the server does not call itself anything that could.
 * - `SelfNamedTrust`: what is trusted is what the server calls itself, which any server may.
 *
 * @category errors
 * @since 0.1.0
 */
export class McpGuardError extends Schema.TaggedError<McpGuardError>()("McpGuardError", {
  problem: Schema.Literals(["InvalidName", "NameMissing", "SelfNamedTrust"]),
  /** The server, as the program calls it; else as it calls itself. */
  server: Schema.String
}) {
  override get message(): string {
    const server = Text.quote(this.server)
    switch (this.problem) {
      case "InvalidName":
        return `The MCP server cannot be called ${server}: a name is 1 to 32 letters, digits, "-" and single "_", and does not` +
          " begin or end with \"_\", because \"__\" separates it from the name of a tool. Give it another:" +
          " McpApproval.guard(client, { name: \"files\" })."
      case "NameMissing":
        return "The MCP server was given no name, and the name it gives itself cannot be put before the names of its" +
          " tools. Give it one: McpApproval.guard(client, { name: \"files\" })."
      case "SelfNamedTrust":
        return `The MCP server calls itself ${server}, and that name is trusted. But any server may call itself so, so` +
          " only a name that the program gives can be trusted. Name it yourself, and trust that name:" +
          " McpApproval.guard(client, { name: \"files\", trust: [\"files\"] })."
    }
  }
}
