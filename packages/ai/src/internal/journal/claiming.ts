/** How a run gets its claim: by the first step of a record, or by one over a record that lets it begin. */
import * as Effect from "effect/Effect"
import type * as ApprovalError from "../../ApprovalError.ts"
import { definedFields } from "../fields.ts"
import * as Concluding from "./concluding.ts"
import { type Claim, Entry } from "./entry.ts"
import type * as Liveness from "./liveness.ts"
import { type Held, Power } from "./power.ts"
import * as JournalRecords from "./records.ts"
import * as Words from "./words.ts"

type Failure = ApprovalError.ApprovalError

/** Gives the version under which this process holds the claim, or the entry that stands in its way. */
export const acquire = Effect.fnUntraced(function*({ claim, claimed, isNew, liveness, power, read, records, waiting }: {
  readonly claim: Claim
  /** What is on record once it has the claim. */
  readonly claimed: Entry
  readonly power: Power
  /** Whether nothing was on record a moment ago. */
  readonly isNew: boolean
  readonly records: JournalRecords.JournalRecords
  readonly read: JournalRecords.JournalRecords["read"]
  readonly liveness: Liveness.Liveness
  /** A moment's wait for another process that has it. */
  readonly waiting: Effect.Effect<void>
}): Effect.fn.Return<Held | Entry, Failure> {
  for (let reads = !isNew; true; reads = true) {
    // Read first: what is on record can be had from a store that is full.
    const found = reads ? yield* read(claim) : undefined
    if (found === undefined) {
      if (power === Power.joins) return yield* JournalRecords.journalUnavailable(Words.notBegunReason)
      yield* Effect.mapErrorEager(liveness.beating, JournalRecords.unavailable)
      const begun = yield* records.begin(claim, claimed)
      if (begun === true) return { claim, version: 1 }
      if (begun === false) continue
      return begun
    }
    const { entry } = found
    const from = JournalRecords.from(found)
    const isPending = entry.state === "pending"
    if (isPending && power === Power.joins) return yield* JournalRecords.journalUnavailable(Words.notBegunReason)
    const repeatable = power === Power.repeats && entry.stopped !== true && entry.params === claim.params
    if (isPending || (entry.state === "unknown" && repeatable)) {
      yield* Effect.mapError(liveness.beating, JournalRecords.unavailable)
      // Whoever asks again is not who let it run.
      const { approvals, decidedBy = claim.decidedBy } = entry
      const begun = new Entry({ ...claimed, ...definedFields({ approvals, decidedBy }) })
      if (yield* records.write(claim, from, begun)) {
        return { claim: { ...claim, approvals, decidedBy }, version: from.version + 1 }
      }
    } else if (entry.state !== "running") {
      return entry
    } else if (yield* Effect.mapError(liveness.isAlive(entry.owner), JournalRecords.unavailable)) {
      yield* waiting
    } else {
      yield* records.write(claim, from, Concluding.givenUp(entry))
    }
  }
})
