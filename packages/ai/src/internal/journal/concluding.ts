/**
 * How a run comes on record. Its process may have seemed dead meanwhile, and its claim may have been given up as *unknown*:
 * then what it records replaces that, because nobody else knows. Whoever took the claim up after that has it.
 */
import * as Effect from "effect/Effect"
import type * as ApprovalError from "../../ApprovalError.ts"
import { Entry } from "./entry.ts"
import type { Held } from "./power.ts"
import * as JournalRecords from "./records.ts"
import * as Words from "./words.ts"

/** What becomes of a claim whose process is dead. It says still whose it was: only that process may say more. */
export const givenUp = ({ recorded: _, ...lost }: Entry): Entry =>
  new Entry({ ...lost, state: "unknown", reason: Words.lostReason })

const isGivenUp = ({ entry, version }: JournalRecords.Found, held: Held, owner: string): boolean =>
  entry.state === "unknown" && entry.owner === owner && version === held.version + 1

/** Records how a run ended that this process, the owner, has claimed. False if that is not what stands. */
export const conclude = Effect.fnUntraced(function*(
  records: JournalRecords.JournalRecords,
  owner: string,
  held: Held,
  entry: Entry,
  step: JournalRecords.JournalRecords["write"]
): Effect.fn.Return<boolean, ApprovalError.ApprovalError> {
  const { claim, version } = held
  if (yield* step(claim, { version, state: "running" }, entry)) return true
  const found = yield* records.read(claim)
  if (found === undefined) return false
  // A store may have written it and have failed to say so.
  const { at, state, suspendedAs } = found.entry
  if (at === entry.at && state === entry.state && suspendedAs === entry.suspendedAs) return true
  if (!isGivenUp(found, held, owner)) return false
  // That nothing is known stands there, unless it was stopped: then it is not to be repeated.
  return entry.state === "pending" || (entry.state === "unknown" && entry.stopped !== true)
    ? true
    : yield* step(claim, JournalRecords.from(found), entry)
})
