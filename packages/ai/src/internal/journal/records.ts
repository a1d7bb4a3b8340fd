/**
 * A journal's records in a store: read, written once, and replaced by compare and set. Whoever wrote a state publishes
 * it, and nobody else: each is published once, as it is written once (law L2).
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as AtomicStore from "../../AtomicStore.ts"
import { decodeEntry, encodeEntry } from "./entry.ts"
import type { Claim, Entry } from "./entry.ts"

type Failure = ApprovalError.ApprovalError

/** How long a record outlives its seal, so that clocks that differ cannot open a gap. */
export const margin = Duration.toMillis(Duration.days(1))

export const keyOf = (claim: Claim): string => `approval/${claim.nonce}`

export const journalUnavailable = (description: string): Failure =>
  ApprovalError.make(new ApprovalError.JournalUnavailable({ description }))

export const unavailable = (error: AtomicStore.AtomicStoreError): Failure => journalUnavailable(error.description)

export interface JournalRecords {
  readonly read: (
    claim: Claim
  ) => Effect.Effect<{ readonly version: number; readonly entry: Entry } | undefined, Failure>
  /** False when there was one before. */
  readonly putIfAbsent: (claim: Claim, entry: Entry) => Effect.Effect<boolean, Failure>
  /** A pending request that stays so, with other approvals; false when it is not the one of that version any more. */
  readonly keep: (claim: Claim, version: number, entry: Entry) => Effect.Effect<boolean, Failure>
  /** False when it is not the one of that version any more. */
  readonly replace: (
    claim: Claim,
    version: number,
    from: Entry["state"],
    entry: Entry,
    encoded?: string
  ) => Effect.Effect<boolean, Failure>
}

export const make = (store: AtomicStore.AtomicStore): JournalRecords => {
  const publishing = (
    claim: Claim,
    from: Approval.ApprovalState,
    entry: Entry,
    write: Effect.Effect<boolean, AtomicStore.AtomicStoreError>
  ): Effect.Effect<boolean, Failure> =>
    Effect.tap(
      Effect.mapError(write, unavailable),
      (written) =>
        written && from !== entry.state
          ? ApprovalEvents.publish((occasion) => changed(occasion, claim, from, entry))
          : Effect.void
    )
  return {
    read: (claim) =>
      Effect.flatMap(Effect.mapError(store.get(keyOf(claim)), unavailable), (stored) => {
        if (stored === undefined) return Effect.undefined
        const decoded = decodeEntry(stored.value)
        return Result.isSuccess(decoded)
          ? Effect.succeed({ version: stored.version, entry: decoded.success })
          : Effect.fail(journalUnavailable(`The record "${keyOf(claim)}" cannot be read.`))
      }),
    putIfAbsent: (claim, entry) =>
      publishing(
        claim,
        "pending",
        entry,
        store.putIfAbsent(keyOf(claim), encodeEntry(entry), {
          expiresAt: Math.min(claim.expiresAt + margin, Number.MAX_SAFE_INTEGER)
        })
      ),
    keep: (claim, version, entry) =>
      Effect.mapError(store.compareAndSet(keyOf(claim), version, encodeEntry(entry)), unavailable),
    replace: (claim, version, from, entry, encoded = encodeEntry(entry)) =>
      Approval.isLegalStep(from, entry.state)
        ? publishing(claim, from, entry, store.compareAndSet(keyOf(claim), version, encoded))
        : ApprovalError.make(
          new ApprovalError.IllegalStep({ approvalId: claim.approvalId, from, to: entry.state })
        )
  }
}

const changed = (
  occasion: ApprovalEvents.Occasion,
  claim: Claim,
  from: Approval.ApprovalState,
  entry: Entry
): ApprovalEvents.ApprovalEvent => {
  const { approvalId, issuedAt, toolCallId, toolName } = claim
  const { decidedBy, reason, state } = entry
  const waited = from === "pending" && issuedAt !== undefined ? occasion.at - issuedAt : undefined
  return { _tag: "Changed", ...occasion, approvalId, toolName, toolCallId, state, reason, waited, decidedBy }
}

/** Writes what is to become of a pending request; gives the entry that stands, that one or what was decided before. */
export const change = Effect.fnUntraced(function*(
  records: JournalRecords,
  claim: Claim,
  next: (found: Entry | undefined) => Entry | undefined
): Effect.fn.Return<Entry, Failure> {
  let found: { readonly version: number; readonly entry: Entry } | undefined
  while (true) {
    const entry = next(found?.entry)
    if (entry === undefined) return found!.entry
    if (found === undefined) {
      if (yield* records.putIfAbsent(claim, entry)) return entry
    } else if (
      entry.state === "pending"
        ? yield* records.keep(claim, found.version, entry)
        : yield* records.replace(claim, found.version, "pending", entry)
    ) return entry
    found = yield* records.read(claim)
    if (found === undefined) return yield* journalUnavailable("A record vanished while it was being written.")
    if (found.entry.state !== "pending") return found.entry
  }
})
