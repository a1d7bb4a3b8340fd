/**
 * Upstream's module, as it is: which messages a provider keeps already, so that they are not sent again.
 *
 * @since 0.1.0
 */
export * from "effect/ai/ResponseIdTracker"
