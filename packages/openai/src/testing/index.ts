/**
 * What tests of programs on `@assent/openai` need: a local server that plays OpenAI's Responses API, and refuses what
 * the real one refuses.
 *
 * @since 0.1.0
 */
export * as ResponsesServer from "./ResponsesServer.ts"
