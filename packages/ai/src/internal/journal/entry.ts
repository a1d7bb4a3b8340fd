/** A journal's record of one request: what names it, what it says, and how it is written. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as Approver from "../../Approver.ts"

/**
 * Which request a journal operation is about. `nonce`, `issuedAt` and `expiresAt` (milliseconds) come from its verified
 * seal; `issuedAt` only says in events how long the answer took. Where `expiresAt` is `Infinity`, because nobody set an
 * expiry, the record is never given up: as long as the seal may be shown again, what became of it is known.
 *
 * @category models
 * @since 0.1.0
 */
export interface Claim {
  readonly approvalId: string
  readonly nonce: string
  readonly issuedAt?: number | undefined
  readonly expiresAt: number
  readonly toolName: string
  readonly toolCallId: string
  /**
   * `"hosted"` for what a provider asks about its own call, `"call"` of a call that nobody was asked about, which is no news
   * (default `"approval"`).
   */
  readonly kind?: "approval" | "hosted" | "call" | undefined
  /**
   * A digest of the parameters that are to run, where a person edited them; those that were proposed are in the nonce's
   * seal. Only a run of the same ones is ever repeated.
   */
  readonly params?: string | undefined
  /** Whose decision is carried out. */
  readonly decidedBy?: Approver.DecidedBy | undefined
  /**
   * The nonce of the first claim of a call that may have agents within it: what is asked there ends with the request, in the
   * same step.
   */
  readonly within?: string | undefined
  /** Who approved it before, where several have to. */
  readonly approvals?: ReadonlyArray<Kept> | undefined
}

/**
 * What a finished run left behind: the encoded result, as the model and the history see it, and as a JSON Patch what a
 * person changed about the parameters before it ran. `stop` means that a person stopped the agent that it was, and with it the
 * turn (`Approval.Denied`).
 *
 * @category models
 * @since 0.1.0
 */
export class Recorded extends Schema.Class<Recorded>("@assent/ai/ApprovalJournal/Recorded")({
  isFailure: Schema.Boolean,
  encodedResult: Schema.Json,
  modelOutput: Schema.optionalKey(Schema.Json),
  edits: Schema.optionalKey(Schema.Json),
  stop: Schema.optionalKey(Schema.Literal(true))
}) {}

/**
 * An approval that is not the last one needed: whose, and of which parameters, as in {@link Claim}.
 *
 * @category models
 * @since 0.1.0
 */
export class Kept extends Schema.Class<Kept>("@assent/ai/ApprovalJournal/Approval")({
  decidedBy: Approver.DecidedBy,
  params: Schema.optionalKey(Schema.String)
}) {}

/**
 * One request's fate. `at` is in milliseconds since 1970. `params` are those that were claimed, as canonical JSON's
 * digest, where a person edited them; `stopped` means that somebody stopped the run, so that it is not repeated by
 * itself. `recorded` may be missing from a finished run: only bodies of results are ever given up for room, never the
 * fact that it ran. `owner` names the process that runs it, or that had the claim when it was given up as *unknown*.
 * `suspendedAs` is the id of the request as which a run that is `suspended` waits. `decidedBy` is whose
 * decision it is (law L16): of a run, the last approval it needed, and `approvals` are those before it. Of a request that is
 * still `pending` these are all it has.
 *
 * @category models
 * @since 0.1.0
 */
export class Entry extends Schema.Class<Entry>("@assent/ai/ApprovalJournal/Entry")({
  state: Approval.ApprovalState,
  toolName: Schema.String,
  toolCallId: Schema.String,
  at: Schema.Number,
  reason: Schema.optionalKey(Schema.String),
  owner: Schema.optionalKey(Schema.String),
  params: Schema.optionalKey(Schema.String),
  decidedBy: Schema.optionalKey(Approver.DecidedBy),
  approvals: Schema.optionalKey(Schema.Array(Kept)),
  stopped: Schema.optionalKey(Schema.Boolean),
  recorded: Schema.optionalKey(Recorded),
  suspendedAs: Schema.optionalKey(Schema.String)
}) {}

const { recorded: _, ...said } = Entry.fields

const decodeSaid = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.toCodecJson(Schema.Struct(said))))

const decodeRecorded = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.toCodecJson(Recorded)))

/** How an entry is kept: what it left behind stands beside it, where it may be given up for room. */
export interface Encoded {
  readonly entry?: string | undefined
  readonly result?: string | undefined
}

// All of an entry is JSON as it is: nothing has to be encoded before it is written.
export const encodeEntry = (
  { recorded, ...said }: Entry
): { readonly entry: string; readonly result?: string } => {
  const entry = JSON.stringify(said)
  return recorded === undefined ? { entry } : { entry, result: JSON.stringify(recorded) }
}

export const decodeEntry = ({ entry, result }: Encoded): Result.Result<Entry, Schema.SchemaError> =>
  Result.flatMap(decodeSaid(entry), (rest) =>
    result === undefined
      ? Result.succeed(new Entry(rest))
      : Result.map(decodeRecorded(result), (recorded) => new Entry({ ...rest, recorded })))

/** A pending request with one approval more; `undefined` where that is there. Those of other parameters count no more. */
export const withApproval = (
  entry: Entry,
  { decidedBy, params }: Claim,
  found: Entry | undefined
): Entry | undefined => {
  if (decidedBy === undefined) return undefined
  const same = (found?.approvals ?? []).filter((one) => one.params === params)
  if (same.some((one) => one.decidedBy.id === decidedBy.id)) return undefined
  const { decidedBy: _, ...pending } = entry
  const kept = new Kept({ decidedBy, ...(params === undefined ? undefined : { params }) })
  return new Entry({ ...pending, approvals: [...same, kept] })
}
