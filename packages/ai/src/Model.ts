/**
 * Upstream's module, as it is: the layer of a model, with its name and its provider's.
 *
 * @since 0.1.0
 */
export * from "effect/ai/Model"
