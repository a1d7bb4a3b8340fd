/**
 * Upstream's module, as it is: connections to MCP servers. `McpApproval` guards their tools.
 *
 * @since 0.1.0
 */
export * from "effect/ai/McpClient"
