/**
 * Approval of command lines: `ApprovalMatcher` of `@assent/ai`, with `shell`.
 *
 * @since 0.1.0
 */
export * as ApprovalMatcher from "./ApprovalMatcher.ts"
