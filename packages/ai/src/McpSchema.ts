/**
 * Upstream's module, as it is: the messages of the Model Context Protocol.
 *
 * @since 0.1.0
 */
export * from "effect/ai/McpSchema"
