/**
 * Upstream's module, as it is: the errors of AI operations, which are in `E` of everything that calls a model.
 *
 * @since 0.1.0
 */
export * from "effect/ai/AiError"
