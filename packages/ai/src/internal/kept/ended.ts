/** What became of a request, as a store keeps it beside what happened: whose decision it was, and why. */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approver from "../../Approver.ts"
import type * as Store from "../../Store.ts"

/** What the journal's entry says of it too. */
export interface Said {
  readonly decidedBy?: Approver.DecidedBy
  readonly reason?: string
}

const entry = Schema.fromJsonString(Schema.toCodecJson(Schema.Struct({
  decidedBy: Schema.optionalKey(Approver.DecidedBy),
  reason: Schema.optionalKey(Schema.String)
})))

const decodeEntry = Schema.decodeUnknownResult(entry)
const encodeEntry = Schema.encodeSync(entry)

export const encode = (state: Store.EndState, said: Said): Store.Ended => ({ state, entry: encodeEntry(said) })

/** Nothing, where it cannot be read. */
export const decode = (entry: string): Said => Result.getOrElse(decodeEntry(entry), () => ({}))
