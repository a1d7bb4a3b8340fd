/** What happened to the requests that conversations wait for, as whoever is to be told reads it. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Approver from "../../Approver.ts"
import type * as Store from "../../Store.ts"
import { definedFields } from "../fields.ts"
import * as ScopeId from "../store/scopeId.ts"
import * as Ended from "./ended.ts"
import type * as Inbox from "./inbox.ts"
import * as Rows from "./rows.ts"

/**
 * What became of a request. `approved` and `answered` say that somebody let the call go on, also where it failed since;
 * `withdrawn`, that nobody asks it any more, because its conversation was removed or has gone on without it.
 *
 * @category models
 * @since 0.1.0
 */
export type Decision = "approved" | "answered" | "denied" | "cancelled" | "superseded" | "void" | "withdrawn"

/**
 * Something that happened to a request: with it as it was shown last, and whose conversation asked it. `cursor` leads to what
 * comes after it; `at` is when it was written down, in milliseconds since 1970-01-01T00:00Z.
 *
 * @category models
 * @since 0.1.0
 */
export interface Happened extends Inbox.OpenRequest {
  readonly cursor: string
  readonly at: number
}

/**
 * A request waits: `page` lists it from then on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Opened extends Happened {
  readonly kind: "opened"
}

/**
 * A request is decided. `decidedBy` is whose decision it was and `reason` why, where that is known.
 *
 * @category models
 * @since 0.1.0
 */
export interface Decided extends Happened {
  readonly kind: "decided"
  readonly decision: Decision
  readonly decidedBy?: Approver.DecidedBy
  readonly reason?: string
}

/**
 * The time of a request was over before anybody decided it: its own (`request.expiresAt`), or its conversation's. It may
 * have been noticed later. Where another clock says that it was in time, its decision may still follow.
 *
 * @category models
 * @since 0.1.0
 */
export interface Expired extends Happened {
  readonly kind: "expired"
}

/**
 * What comes next does not follow on the cursor: what came between is not kept any more, or the cursor is of another store, or
 * of one that was restored from a backup since. Whoever keeps what is open has to read it again.
 *
 * @category models
 * @since 0.1.0
 */
export interface Missed {
  readonly kind: "missed"
  readonly cursor: string
  readonly at: number
}

/**
 * What happened, and whether a reader was not told something.
 *
 * @category models
 * @since 0.1.0
 */
export type Event = Opened | Decided | Expired | Missed

/**
 * Which events: those of requests of which every field is as given, as in {@link Inbox.Filter}.
 *
 * @category options
 * @since 0.1.0
 */
export type EventFilter = Omit<Inbox.Filter, "issuedBefore">

/** Events, and what comes after them. */
export interface EventPage {
  readonly events: ReadonlyArray<Event>
  readonly next: string
  readonly isMore: boolean
}

export interface Service<E> {
  readonly page: (
    filter: EventFilter,
    options: { readonly after?: string | undefined; readonly limit: number }
  ) => Effect.Effect<EventPage, E>
  readonly latest: Effect.Effect<string, E>
  /** How far those who read under a name have come. */
  readonly reader: (name: string) => Effect.Effect<Store.ReaderRow | undefined, E>
  readonly move: (
    name: string,
    version: number | undefined,
    to: { readonly cursor?: string | undefined; readonly holder?: string | undefined }
  ) => Effect.Effect<number | undefined, E>
}

export const make = <E>(
  { events, readers }: Pick<Store.Store, "events" | "readers">,
  failed: (error: Store.StoreError) => E
): Service<E> => ({
  page: Effect.fnUntraced(function*({ conversation, ...filter }, options): Effect.fn.Return<EventPage, E> {
    const id = conversation === undefined ? undefined : yield* ScopeId.make({ ...filter, conversation })
    const page = yield* Effect.mapError(events.page({ ...filter, conversation: id }, options), failed)
    const known = page.events.flatMap((row) => read(row) ?? [])
    const unknown = page.events.length - known.length
    if (unknown > 0) {
      yield* Effect.logWarning(
        `Assent left ${
          unknown === 1 ? "an event" : `${unknown} events`
        } of requests out: what they are about cannot be` +
          " read. A later version of it wrote them, or something else changed them."
      )
    }
    if (!page.isMissed) return { events: known, next: page.next, isMore: page.isMore }
    const at = yield* Clock.currentTimeMillis
    return { events: [{ kind: "missed", cursor: page.from, at }, ...known], next: page.next, isMore: page.isMore }
  }),
  latest: Effect.mapError(events.latest, failed),
  reader: (name) => Effect.mapError(readers.get(name), failed),
  move: (name, version, to) => Effect.mapError(readers.move(name, version, to), failed)
})

const read = ({ at, cursor, ended, event, kind, principal, request: shown, tenant }: Store.EventRow):
  | Event
  | undefined =>
{
  const request = Rows.readRequest(shown)
  if (request === undefined) return undefined
  const { conversation } = request
  const happened = { cursor, at, request, scope: definedFields({ tenant, principal, conversation }) }
  if (event !== "decided") return { kind: event, ...happened }
  const state = ended?.state ?? "withdrawn"
  const { decidedBy, reason } = ended?.entry === undefined ? nothing : Ended.decode(ended.entry)
  const isApproval = kind === "approval" || kind === "hosted"
  return {
    kind: event,
    ...happened,
    decision: isDecision(state) ? state : isApproval ? "approved" : "answered",
    ...definedFields({ decidedBy, reason })
  }
}

const nothing: Ended.Said = {}

// Every other state is that of a call that somebody has let go on.
const isDecision = (state: Store.EndState): state is Decision & Store.EndState =>
  ["denied", "cancelled", "superseded", "void", "withdrawn", "answered"].includes(state)
