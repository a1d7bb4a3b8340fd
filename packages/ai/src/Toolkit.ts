/**
 * Upstream's `Toolkit`.
 *
 * @since 0.1.0
 */
export * from "effect/ai/Toolkit"
