/**
 * Upstream's module, as it is: OpenTelemetry's attributes for calls of models.
 *
 * @since 0.1.0
 */
export * from "effect/ai/Telemetry"
