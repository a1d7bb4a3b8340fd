/**
 * Upstream's module, as it is: the service that counts and cuts by tokens.
 *
 * @since 0.1.0
 */
export * from "effect/ai/Tokenizer"
