/**
 * Conversations with approvals for pages: the wire that `useChat` speaks, and who is at its other end.
 *
 * @since 0.1.0
 */
export * as Decider from "./Decider.ts"
export * as UiMessageStream from "./UiMessageStream.ts"
