/**
 * Approval of command lines: `ApprovalMatcher` of `@assent/ai`, with `shell`, and the rules of other products read in.
 *
 * @since 0.1.0
 */
export * as ApprovalImport from "./ApprovalImport.ts"

export * as ApprovalMatcher from "./ApprovalMatcher.ts"

/**
 * What is known of a command line: why it is not covered, and what may be offered to a person who is asked about it.
 *
 * @since 0.1.0
 */
export * as Shell from "./Shell.ts"
