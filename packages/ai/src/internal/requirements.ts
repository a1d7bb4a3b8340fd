/** What a program has to provide so that approvals outlive its process, and the lines that do: in one place, for every text. */

/** The layer that keeps everything, by the name a text calls it. */
export const everything = "SqlApproval.layer of @assent/sql"

const lines = `    import { SqlApproval } from "@assent/sql" // npm install @assent/sql
    Effect.provide(program, SqlApproval.layer({ filename: "approvals.db" }))`

export const journal =
  "An approval key is configured, so approvals outlive this process, but no journal is configured that" +
  " remembers which of them ran. Nothing ran. Provide one:" +
  `\n\n${lines}\n\n` +
  "or ApprovalJournal.layerMemory(), which says that a restart may forget."

export const suspensions =
  "An approval key is configured, so requests outlive this process, but no store is configured" +
  " that remembers what waiting tools need to go on. Nothing ran. Provide one:" +
  `\n\n${lines}\n\n` +
  "or SuspensionStore.layerMemory, which says that a restart may forget."

export const knownKey = (keyId: string): string =>
  `The approval was issued with the key "${keyId}", which this process does not have; it was issued before a restart or by` +
  " another process. Nothing ran. Ask again, and set ASSENT_APPROVAL_KEY (or provide ApprovalSeal.layer({ key })) so that" +
  " approvals outlive a process."
