/**
 * Upstream's module, as it is: schemas in the part of JSON Schema that Anthropic takes for structured output.
 *
 * @since 0.1.0
 */
export * from "effect/ai/AnthropicStructuredOutput"
