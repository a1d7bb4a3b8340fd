/**
 * Upstream's module, as it is: the service that makes the ids of calls.
 *
 * @since 0.1.0
 */
export * from "effect/ai/IdGenerator"
