/**
 * Keeps approvals, conversations, remembered answers and what tools wait for in SQLite or PostgreSQL.
 *
 * @since 0.1.0
 */
export * as SqlApproval from "./SqlApproval.ts"
export * as SqliteClient from "./SqliteClient.ts"
export * as SqlStore from "./SqlStore.ts"
