/** What a store tells of requests: that they were opened, and what ended them; and how far whoever reads that has come. */
import type * as Effect from "effect/Effect"
import type { ApprovalState } from "../states.ts"
import type { StoreError } from "./storeError.ts"

type Stored<A> = Effect.Effect<A, StoreError>

/**
 * What a request came to: a state of the journal, `answered` for what was delivered to a tool that waits, and `withdrawn`
 * where nobody asks it any more and nobody has decided it.
 *
 * @category models
 * @since 0.1.0
 */
export type EndState = ApprovalState | "withdrawn"

/**
 * What became of a request. `entry` is JSON of whose decision it was (`decidedBy`) and why (`reason`), as the journal's is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ended {
  readonly state: EndState
  readonly entry?: string | undefined
}

/**
 * Something that happened to a request, with the request as it was shown last. It was `opened` when the inbox listed it first,
 * or again after it had been decided; `decided` by a step of the journal or an answer that was delivered; and it has `expired`
 * when its time was over before that. `at` is when that was written, by the clock of whoever did, and `cursor` leads to
 * what comes after it.
 *
 * @category models
 * @since 0.1.0
 */
export interface EventRow {
  readonly cursor: string
  readonly event: "opened" | "decided" | "expired"
  readonly at: number
  readonly nonce: string
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  readonly conversation?: string | undefined
  readonly toolName: string
  readonly kind: string
  readonly request: string
  readonly ended?: Ended | undefined
}

/**
 * Which events: those of requests of which every field is as given.
 *
 * @category options
 * @since 0.1.0
 */
export interface EventFilter {
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  readonly conversation?: string | undefined
  readonly toolName?: string | undefined
  readonly kind?: string | undefined
}

/**
 * A page of events, in the order in which they were written. `next` leads to what comes after them, also where there was
 * nothing; with `isMore` there is something already. `from` is the place after which they come: the given one, or with
 * `isMissed` that after which everything is kept, because there were events after the given one that are not, or because it
 * is none that this store gave.
 *
 * @category models
 * @since 0.1.0
 */
export interface EventPage {
  readonly events: ReadonlyArray<EventRow>
  readonly from: string
  readonly next: string
  readonly isMore: boolean
  readonly isMissed: boolean
}

/**
 * What happened to requests, in order, for whoever tells people of it.
 *
 * @category services
 * @since 0.1.0
 */
export interface Events {
  /**
   * The events after a place, or from the first that is kept. Whatever happened to a request is in it from the moment it
   * happened, also what had expired by now and nobody had told. Fails for an `after` that is no place.
   *
   * A place never goes past what somebody else may still be writing, so that reading on from `next` misses nothing. A page
   * may have fewer events than there are, also none.
   */
  readonly page: (
    filter: EventFilter,
    options: { readonly after?: string | undefined; readonly limit: number }
  ) => Stored<EventPage>
  /** The place after all that happened until now. */
  readonly latest: Stored<string>
}

/**
 * How far a reader of a name has come, `cursor`, and who reads under it at the moment, `holder`. `version` is raised by each
 * step: whoever looks remembers since when it has seen that number, and no time stands in it, as of processes.
 *
 * @category models
 * @since 0.1.0
 */
export interface ReaderRow {
  readonly version: number
  readonly cursor?: string | undefined
  readonly holder?: string | undefined
}

/**
 * How far each reader of the events has come, by its name.
 *
 * @category services
 * @since 0.1.0
 */
export interface Readers {
  readonly get: (name: string) => Stored<ReaderRow | undefined>
  /** Writes over that version, or anew where it is `undefined`: the new one, or `undefined` if it stood at another. */
  readonly move: (
    name: string,
    version: number | undefined,
    to: { readonly cursor?: string | undefined; readonly holder?: string | undefined }
  ) => Stored<number | undefined>
}

/** How long events are kept, and how many of them. */
export const eventLife = 7 * 24 * 60 * 60 * 1_000

/** How many events a page looks at, whether the filter names them or not. */
export const maxScanned = 1_000
