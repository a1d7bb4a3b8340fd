/**
 * Upstream's module, as it is: a client in memory, for tests of an `McpServer`.
 *
 * @since 0.1.0
 */
export * from "effect/ai/McpTest"
