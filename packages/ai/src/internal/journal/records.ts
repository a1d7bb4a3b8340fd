/**
 * A journal's records in a store: one for each request, each step over the version before it. Whoever wrote a state
 * publishes it, and nobody else: each is published once, as it is written once (law L2).
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as Store from "../../Store.ts"
import * as Within from "../agent/within.ts"
import * as ScopeId from "../store/scopeId.ts"
import { Above, type Running } from "./above.ts"
import * as Ending from "./ending.ts"
import { type Claim, decodeEntry, encodeEntry, Entry } from "./entry.ts"
import * as Words from "./words.ts"

type Failure = ApprovalError.ApprovalError

export const keyOf = (claim: Claim): string => claim.nonce

export const journalUnavailable = (description: string): Failure =>
  ApprovalError.make(new ApprovalError.JournalUnavailable({ description }))

export const unavailable = (error: Store.StoreError): Failure => {
  const failure = journalUnavailable(error.description)
  if (error.reason === "Full") full.add(failure)
  return failure
}

const asFailure = (error: Failure | Store.StoreError): Failure =>
  error._tag === "ApprovalError" ? error : unavailable(error)

const claimOf = (row: Store.RequestRow): Claim => ({ ...row, kind: undefined, expiresAt: row.expiresAt ?? Infinity })

// Of errors that do not say so to a program.
const full = new WeakSet<Failure>()

// That it ran is kept where there is no room for more.
const withoutBody = ({ recorded: _, ...rest }: Entry): Entry => new Entry(rest)

/** What stands, or where a step began. */
export interface Found {
  readonly version: number
  readonly entry: Entry
}

/** Where a step begins: the version of the record, and its state. */
export interface From {
  readonly version: number
  readonly state: Entry["state"]
}

/** Nothing was decided, and nobody has approved it. */
export const nothing: From = { version: 0, state: "pending" }

export const from = (found: Found | undefined): From =>
  found === undefined ? nothing : { version: found.version, state: found.entry.state }

export interface JournalRecords {
  readonly read: (claim: Claim) => Effect.Effect<Found | undefined, Failure>
  /**
   * A step, which is published. False when the record is not the one of that version any more. Where there is no room for
   * what a run left behind, it is written without that.
   */
  readonly write: (claim: Claim, from: From, entry: Entry) => Effect.Effect<boolean, Failure>
  /**
   * Begins a request of which nothing is on record. What it gives, if it is not begun, where the store may have forgotten
   * what became of it.
   */
  readonly begin: (claim: Claim, entry: Entry) => Effect.Effect<boolean | Entry, Failure>
  /** A step that is not published yet. */
  readonly decide: (claim: Claim, from: From, entry: Entry) => Effect.Effect<boolean, Failure>
  /** Publishes a step that was written. A request that stays in its state is no news. */
  readonly publish: (claim: Claim, from: Entry["state"], entry: Entry) => Effect.Effect<void>
}

export const make = (store: Store.RequestOperations): JournalRecords => {
  // Nothing begins within a run that was given up.
  const whileAbove = <E>(above: ReadonlyArray<Running>, begun: Effect.Effect<boolean, E>) => {
    const own = above.filter((one) => one.store === store)
    return own.length === 0 ? begun : store.atomically(Effect.gen(function*() {
      for (const { nonce, version } of own) {
        if (!(yield* store.requests.holds(nonce, version))) return yield* journalUnavailable(Words.endedAboveReason)
      }
      return yield* begun
    }))
  }

  // What waits in the agents of a call ends with it.
  const endingWithin = (
    { within }: Claim,
    entry: Entry,
    decided: Effect.Effect<boolean, Store.StoreError>
  ): Effect.Effect<boolean, Store.StoreError> => {
    const ending = within === undefined ? undefined : Ending.endingOf(entry)
    if (within === undefined || ending === undefined) return decided
    return Effect.flatMap(
      store.atomically(Effect.gen(function*() {
        return (yield* decided) ? yield* Ending.endWithin(store.requests, within, ending) : undefined
      })),
      (ended) =>
        ended === undefined ? Effect.succeed(false) : Effect.as(
          Effect.forEach(ended, ({ entry, row }) =>
            ApprovalEvents.publish((occasion) => changed(occasion, claimOf(row), "pending", entry)), { discard: true }),
          true
        )
    )
  }

  const step = (claim: Claim, version: number, entry: Entry): Effect.Effect<boolean, Failure | Store.StoreError> => {
    const encoded = encodeEntry(entry)
    const { owner, state } = entry
    const stepped = Effect.flatMapEager(nameOf(claim, version), (name) =>
      store.requests.decide(name, version, {
        state,
        owner: state === "running" ? owner : undefined,
        ...encoded
      }))
    if (state !== "running") return endingWithin(claim, entry, stepped)
    const decided = Effect.withFiber((fiber) => whileAbove(fiber.getRef(Above), stepped))
    // A store may have written it and have failed to say so, and a claim that nobody knows of is nobody's to run. What stands
    // names its owner, so it is this very claim.
    return Effect.catch(
      decided,
      (error) =>
        error.reason === "Forgotten" || error._tag === "ApprovalError" ? Effect.fail(error) : Effect.matchEffect(
          Effect.retry(store.requests.get(claim.nonce), { times: 3 }),
          {
            onFailure: () => Effect.fail(error),
            onSuccess: (row) =>
              row?.version === version + 1 && row.entry === encoded.entry ? Effect.succeed(true) : Effect.fail(error)
          }
        )
    )
  }
  const decide: JournalRecords["decide"] = (claim, { state, version }, entry) =>
    saysMore(state, entry) || Approval.isLegalStep(state, entry.state)
      ? Effect.mapError(step(claim, version, entry), asFailure)
      : ApprovalError.make(
        new ApprovalError.IllegalStep({ approvalId: claim.approvalId, from: state, to: entry.state })
      )
  const publish: JournalRecords["publish"] = (claim, from, entry) =>
    claim.kind === "call" || saysMore(from, entry)
      ? Effect.void
      : ApprovalEvents.publish((occasion) => changed(occasion, claim, from, entry))
  const published = (claim: Claim, from: Entry["state"], entry: Entry) => (written: boolean): Effect.Effect<boolean> =>
    written ? Effect.as(publish(claim, from, entry), true) : Effect.succeed(false)
  const write: JournalRecords["write"] = (claim, from, entry) =>
    Effect.flatMap(decide(claim, from, entry), published(claim, from.state, entry))
  return {
    read: (claim) =>
      Effect.matchEffect(store.requests.get(claim.nonce), {
        onFailure: (error) => Effect.fail(unavailable(error)),
        onSuccess: (row) => {
          if (row === undefined || row.version === 0) return Effect.undefined
          const decoded = decodeEntry(row)
          return Result.isSuccess(decoded)
            ? Effect.succeed({ version: row.version, entry: decoded.success })
            : Effect.fail(
              journalUnavailable(`What became of the request "${claim.approvalId.slice(0, 64)}" cannot be read.`)
            )
        }
      }),
    decide,
    publish,
    begin: (claim, entry) =>
      Effect.matchEffect(step(claim, nothing.version, entry), {
        onFailure: (error) =>
          error.reason === "Forgotten" ? Effect.succeed(forgotten(entry)) : Effect.fail(asFailure(error)),
        onSuccess: published(claim, nothing.state, entry)
      }),
    write: (claim, from, entry) =>
      Effect.catchIf(
        write(claim, from, entry),
        (error) => entry.recorded !== undefined && full.has(error),
        () => write(claim, from, withoutBody(entry))
      )
  }
}

const forgotten = ({ at, toolCallId, toolName }: Entry): Entry =>
  new Entry({ state: "unknown", toolName, toolCallId, at, reason: Words.forgottenReason })

// In the same state: one approval more, or that somebody had stopped what was given up.
const saysMore = (from: Entry["state"], { state, stopped }: Entry): boolean =>
  from === state && (state === "pending" || (state === "unknown" && stopped === true))

// Only the first step of a request that was never kept before needs all of it.
const nameOf = (
  { approvalId, expiresAt, issuedAt, kind = "approval", nonce, toolCallId, toolName }: Claim,
  version: number
): Effect.Effect<Store.RequestName> => {
  const name = {
    nonce,
    approvalId,
    toolName,
    toolCallId,
    kind,
    issuedAt: issuedAt ?? 0,
    expiresAt: expiresAt < Number.MAX_SAFE_INTEGER ? expiresAt : undefined
  }
  return version > 0 ? Effect.succeed(name) : Effect.withFiber((fiber) => {
    const scope = fiber.getRef(Approval.Scope)
    const within = fiber.getRef(Within.Within)
    const { conversation, principal, tenant } = scope
    const now = fiber.getRef(Clock.Clock).currentTimeMillisUnsafe()
    const first = { ...name, issuedAt: issuedAt ?? now, tenant, principal }
    return conversation === undefined
      ? Effect.succeed({ ...first, ...Within.belongs(within, undefined) })
      : Effect.map(ScopeId.make(scope), (id) => ({ ...first, conversation: id, ...Within.belongs(within, id) }))
  })
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
  let found: Found | undefined
  while (true) {
    const entry = next(found?.entry)
    if (entry === undefined) return found!.entry
    if (yield* records.write(claim, from(found), entry)) return entry
    found = yield* records.read(claim)
    if (found === undefined) return yield* journalUnavailable("A record vanished while it was being written.")
    if (found.entry.state !== "pending") return found.entry
  }
})
