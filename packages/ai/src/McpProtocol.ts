/**
 * Upstream's module, as it is: the versions of the protocol that an `McpServer` can speak.
 *
 * @since 0.1.0
 */
export * from "effect/ai/McpProtocol"
