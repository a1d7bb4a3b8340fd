/**
 * Upstream's module, as it is: decisions about one input, as a `DecisionModel` answers them.
 *
 * @since 0.1.0
 */
export * from "effect/ai/Decision"
