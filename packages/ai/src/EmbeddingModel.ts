/**
 * Upstream's module, as it is: the service that makes vectors of texts.
 *
 * @since 0.1.0
 */
export * from "effect/ai/EmbeddingModel"
