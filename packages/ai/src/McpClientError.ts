/**
 * Upstream's module, as it is: the errors of `McpClient`.
 *
 * @since 0.1.0
 */
export * from "effect/ai/McpClientError"
