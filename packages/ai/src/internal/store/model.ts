/**
 * What a store keeps: rows in groups, and what can be done with them. Each operation is atomic by itself, and `atomically`
 * makes one of several. Bodies are JSON text, which a store keeps and never reads.
 */
import type * as Effect from "effect/Effect"
import type { ApprovalState } from "../states.ts"
import type { Changes } from "./changes.ts"
import type { Ended, Events, Readers } from "./eventModel.ts"
import type { StoreError } from "./storeError.ts"

export type { Changes, Topic } from "./changes.ts"
export * from "./eventModel.ts"
export * from "./storeError.ts"

type Stored<A> = Effect.Effect<A, StoreError>

/**
 * Whose a row is, and for nested agents whose conversation began the one it is of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Belongs {
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  /** The conversation in which this one's was begun, and the first of all of them. */
  readonly parent?: string | undefined
  readonly root?: string | undefined
}

// =============================================================================
// Conversations
// =============================================================================

/**
 * A conversation without its messages. `id` is what `ConversationStore.keyOf` makes, `name` what the program calls it.
 * `version` is raised by each write, `stopped` by each stop; `state` is what is to be known besides the messages.
 *
 * @category models
 * @since 0.1.0
 */
export interface ConversationRow extends Belongs {
  readonly id: string
  readonly name: string
  readonly version: number
  readonly state: string
  /** How often it was stopped. */
  readonly stopped: number
  /** How many messages there are, and how many bytes (of UTF-8) they and the state have. */
  readonly messages: number
  readonly bytes: number
  /** Milliseconds since 1970; from then on it is not there. */
  readonly expiresAt?: number | undefined
}

/**
 * What a write makes of a conversation: the first `keep` messages stay, all others go, and `append` follows them.
 *
 * @category models
 * @since 0.1.0
 */
export interface ConversationWrite extends Belongs {
  readonly name: string
  readonly state: string
  readonly keep: number
  readonly append: ReadonlyArray<string>
  readonly expiresAt?: number | undefined
  /**
   * It begins a turn, for which there has to be room within the quotas that the store has. None is in the way of what ends
   * one, of what was said in it, and of a denial.
   */
  readonly begins?: boolean | undefined
}

/**
 * Conversations and their messages.
 *
 * @category services
 * @since 0.1.0
 */
export interface Conversations {
  /** The row; where only its version is of interest, this reads no message. */
  readonly get: (id: string) => Stored<ConversationRow | undefined>
  /** The row with its messages, as they stood at one moment. */
  readonly read: (
    id: string
  ) => Stored<{ readonly row: ConversationRow; readonly messages: ReadonlyArray<string> } | undefined>
  /**
   * Writes over that version, or anew where it is `undefined`. The new version, or `undefined` if it stood at another. No
   * conversation of that id has a version again that one before it had.
   */
  readonly write: (
    id: string,
    version: number | undefined,
    write: ConversationWrite
  ) => Stored<number | undefined>
  /**
   * Raises `stopped`, and neither its version nor the time it expires: whoever is in a turn of it sees that, and writes the
   * end of the turn. False if there is none of that id.
   */
  readonly stop: (id: string) => Stored<boolean>
  /**
   * Removes it with its messages, and what was asked in it and never decided (which is `pending`). What was decided stays
   * (law L2). Events still tell of its requests, by what names them (`requestOfRemoved`) and without `entry`. One that has
   * expired is reclaimed so.
   */
  readonly remove: (id: string) => Stored<void>
}

// =============================================================================
// Requests
// =============================================================================

/**
 * What names a request. `nonce` is that of its seal. Times are milliseconds since 1970; without `expiresAt` it is kept for
 * ever.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestName extends Belongs {
  readonly nonce: string
  readonly approvalId: string
  readonly toolName: string
  readonly toolCallId: string
  /** `"approval"`, `"hosted"`, or the kind of interaction that a tool waits for. */
  readonly kind: string
  /** The `id` of the conversation it was asked in. */
  readonly conversation?: string | undefined
  readonly issuedAt: number
  readonly expiresAt?: number | undefined
}

/**
 * A request: what became of it, once (`state`, `entry`, `result`), and for one as which a tool waits, how that stands
 * (`waits`). Either may be there without the other. Of one that is settled the bodies may be given up (`result`, `request`,
 * `suspension`, `answer`), the entry never: a tombstone.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestRow extends RequestName {
  readonly state: ApprovalState
  /** Raised by `decide`. 0 while nothing was decided. */
  readonly version: number
  /** The journal's entry, without the result. */
  readonly entry?: string | undefined
  readonly result?: string | undefined
  /** As it is shown to whoever decides. */
  readonly request?: string | undefined
  readonly waits?: "open" | "taken" | "over" | undefined
  readonly suspension?: string | undefined
  readonly answer?: string | undefined
  /** Decisions that were given for it and that no turn of its conversation has taken yet: it is asked no more until then. */
  readonly given?: string | undefined
  readonly dueAt?: number | undefined
  /** The digest of a webhook's token. */
  readonly webhook?: string | undefined
}

/**
 * A state that is reached. `result` is what a run left behind; `owner` is whose run it is, while it is running.
 *
 * @category models
 * @since 0.1.0
 */
export interface Decided {
  readonly state: ApprovalState
  readonly entry: string
  readonly result?: string | undefined
  readonly owner?: string | undefined
}

/**
 * A request as which a tool begins to wait.
 *
 * @category models
 * @since 0.1.0
 */
export interface Suspended extends RequestName {
  readonly suspension: string
  readonly dueAt?: number | undefined
  readonly webhook?: string | undefined
}

/**
 * Which open requests: those of which every field is as given. `kind` and `toolName` are exact; `issuedBefore` is a time.
 *
 * @category options
 * @since 0.1.0
 */
export interface RequestFilter {
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  readonly conversation?: string | undefined
  readonly root?: string | undefined
  readonly toolName?: string | undefined
  readonly kind?: string | undefined
  readonly issuedBefore?: number | undefined
  /** Only those as which a tool waits. */
  readonly waiting?: boolean | undefined
}

/**
 * A page, the oldest first. `next` leads to the one after it; `undefined` on the last.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestPage {
  readonly requests: ReadonlyArray<RequestRow>
  readonly next: string | undefined
}

/**
 * Requests: what is asked, what became of it, and what tools wait for.
 *
 * @category services
 * @since 0.1.0
 */
export interface Requests {
  readonly get: (nonce: string) => Stored<RequestRow | undefined>
  /** Keeps requests that wait for a decision, as they are shown. Those that are there stay as they are, but are shown so. */
  readonly open: (requests: ReadonlyArray<RequestName & { readonly request: string }>) => Stored<void>
  /**
   * They are asked no more: forgets those of them that were never decided and that no tool waits for. One that was approved
   * by some, who are not enough, or as which a tool waits, is only shown no more. What became of them, if it is given, is
   * told; without it they were answered, and that is told when they are decided.
   */
  readonly close: (nonces: ReadonlyArray<string>, ended?: Ended) => Stored<void>
  /**
   * A step over that version (0: nothing was decided). False if it stands at another: exactly one of several gets true. What has
   * expired is not there, whether it was reclaimed yet or not.
   * Nothing begins (`running`, `pending`) over version 0 of a request that may have been decided and given up: that fails
   * with `Forgotten`, also where a clock ran ahead, gave it up, and came back.
   */
  readonly decide: (name: RequestName, version: number, decided: Decided) => Stored<boolean>
  /** Keeps what a tool waits for. Says what was there before where it cannot: such a request, or one open with this webhook. */
  readonly suspend: (suspended: Suspended) => Stored<"suspended" | "known" | "webhook">
  /**
   * From `open` to `taken` and back, or from either to `over`; `over` gives up the answer. `suspension`, if it is given, stands
   * in the place of what was remembered. Exactly one of several who race gets true. It is due no more.
   */
  readonly advance: (
    nonce: string,
    from: ReadonlyArray<"open" | "taken">,
    to: "open" | "taken" | "over",
    suspension?: string
  ) => Stored<boolean>
  /**
   * Keeps the answer of one that is open and has none, and makes it due at once. Exactly one of several gets true. `entry`
   * says whose it is, as {@link Ended} does.
   */
  readonly deliver: (nonce: string, answer: string, entry?: string) => Stored<boolean>
  /**
   * Keeps decisions with one that waits for them, over those that were kept before (`known`; `undefined`: none). Exactly one
   * of several gets true. `wakes` is due at once, if it is open: the request as which a tool waits that is to go on with them.
   * Nothing is told of it: that is when it is decided. `close` forgets them.
   */
  readonly give: (
    nonce: string,
    known: string | undefined,
    given: string | undefined,
    wakes?: string
  ) => Stored<boolean>
  /** Whether its run goes on, and stands at that version; it does so until the end of the transaction. */
  readonly holds: (nonce: string, version: number) => Stored<boolean>
  /** Whether a call has begun conversations of its own (`parent`), as far as is known still. */
  readonly hasWithin: (parent: string) => Stored<boolean>
  /** Those that a call has within it (`parent`), asked in conversations that it has begun, and that are not settled. */
  readonly within: (parent: string) => Stored<ReadonlyArray<RequestRow>>
  /** It is due no more, because whoever waits was told. */
  readonly told: (nonce: string) => Stored<void>
  /** The one that is open, or else the latest that was. */
  readonly byWebhook: (webhook: string) => Stored<RequestRow | undefined>
  /**
   * Those that wait for a decision, as they were opened or a tool waits for them without an answer, and have not expired, nor
   * has the conversation they were asked in. What a later version of this library wrote is left out, with a warning. What a
   * page costs does not depend on how many there are. Fails for an `after` that no page gave as `next`.
   */
  readonly page: (
    filter: RequestFilter,
    options: { readonly after?: string | undefined; readonly limit: number }
  ) => Stored<RequestPage>
  /**
   * Those that are open and due by `now`, expired or not: the answered ones first, then the earliest; none of the nonces
   * that are left out. A row of another version of this library is left out too, and keeps no other from being listed.
   */
  readonly due: (now: number, limit: number, without?: ReadonlySet<string>) => Stored<ReadonlyArray<RequestRow>>
}

// =============================================================================
// Remembered answers
// =============================================================================

/**
 * An answer that is remembered. `scope` says whose it is; `exact` is the digest of the one call's parameters that it
 * speaks of, and is missing where it speaks of more; `denies` says what it is, `uses` how many are left.
 *
 * @category models
 * @since 0.1.0
 */
export interface RememberedRow {
  readonly id: string
  readonly scope: string
  readonly source: string
  readonly toolName: string
  readonly exact?: string | undefined
  readonly denies: boolean
  readonly uses?: number | undefined
  readonly body: string
  readonly expiresAt?: number | undefined
}

/**
 * Answers that are remembered.
 *
 * @category services
 * @since 0.1.0
 */
export interface RememberedAnswers {
  /** Those of the tool that speak of more than one call, or of just the one of these parameters. */
  readonly candidates: (
    call: { readonly scope: string; readonly source: string; readonly toolName: string; readonly exact: string }
  ) => Stored<ReadonlyArray<RememberedRow>>
  /** False if one of this id is or was there. */
  readonly insert: (row: RememberedRow) => Stored<boolean>
  /**
   * Takes a use, where there is one left: how many are left then. `undefined` if there was none, or no such answer, or one
   * whose uses are not counted. With the last it is over, as if it were taken back.
   */
  readonly take: (id: string) => Stored<number | undefined>
  /** Takes it back for ever; false if there is none of the id in that scope that stands. */
  readonly revoke: (scope: string, id: string) => Stored<boolean>
  /** Those that stand, in the order of their ids; `after` is one of these. */
  readonly list: (
    scope: string,
    options: { readonly after?: string | undefined; readonly limit: number }
  ) => Stored<ReadonlyArray<RememberedRow>>
}

// =============================================================================
// Processes
// =============================================================================

/**
 * What a process has said of being alive: the number of its last beat, and how long it is to the next, in milliseconds. No
 * time stands in it, because two clocks are never compared: whoever looks remembers since when it has seen that number.
 *
 * @category models
 * @since 0.1.0
 */
export interface OwnerRow {
  readonly id: string
  readonly beat: number
  readonly every: number
  /** Whether the database knows that the process had a connection, and that it has none. It may be about to make another. */
  readonly isGone?: boolean | undefined
}

/**
 * The processes that use the store, and whether they live.
 *
 * @category services
 * @since 0.1.0
 */
export interface Owners {
  readonly beat: (owner: OwnerRow) => Stored<void>
  /** The last beat, whatever the time is; `undefined` too where what is kept cannot be read. */
  readonly get: (id: string) => Stored<OwnerRow | undefined>
}

// =============================================================================
// Store
// =============================================================================

/**
 * The operations of a store.
 *
 * @category services
 * @since 0.1.0
 */
export interface Operations {
  /** Whether other processes may use it too: then each of them says from time to time that it lives. */
  readonly isShared: boolean
  /** Where it is missing, whoever waits looks again from time to time. */
  readonly changes?: Changes | undefined
  /**
   * Carries out an effect whose store operations all happen, or none: where it fails or is interrupted, nothing was
   * changed. Within another it is a part of that one, and where it fails and the other goes on, undone alone. A fiber that
   * was forked inside and outlives it is outside. Nothing but operations of the store belongs into it: others wait.
   */
  readonly atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StoreError, R>
  readonly conversations: Conversations
  readonly requests: Requests
  readonly remembered: RememberedAnswers
  readonly owners: Owners
  readonly events: Events
  readonly readers: Readers
  /** Reclaims at most `limit` rows that have expired, or whose bodies nobody needs any more; how many it did. */
  readonly sweep: (limit: number) => Stored<number>
}

/**
 * What a journal needs, and what tools need to wait: a process that keeps no conversations has no more.
 *
 * @category services
 * @since 0.1.0
 */
export type RequestOperations = Pick<Operations, "isShared" | "changes" | "atomically" | "requests" | "owners">

/** How long what became of a request outlives its seal, so that clocks that differ cannot open a gap. */
export const margin = 24 * 60 * 60 * 1_000

/**
 * The same for what a tool waits for: its expiry is an outcome, and whoever is to be told of it may not be there for days.
 */
export const waitingMargin = 30 * margin
