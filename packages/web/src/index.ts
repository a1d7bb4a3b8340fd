/**
 * Conversations with approvals for pages and other programs: the wire that `useChat` speaks, a group of a program's own
 * `HttpApi`, and who is at the other end.
 *
 * @since 0.1.0
 */
export * as ConversationProxy from "./ConversationProxy.ts"
export * as ConversationProxyServer from "./ConversationProxyServer.ts"
export * as Decider from "./Decider.ts"
export * as UiMessageStream from "./UiMessageStream.ts"
