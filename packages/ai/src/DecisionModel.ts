/**
 * Upstream's module, as it is: the service that answers decisions.
 *
 * @since 0.1.0
 */
export * from "effect/ai/DecisionModel"
