/** That a tool waits for what is asked in its agents: by which name, and as which interaction. */
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { DecidedBy } from "../../Approver.ts"
import * as Interaction from "../../Interaction.ts"

/** No author can declare it: names of interactions are those of fields. */
export const name = "~agents"

export const nested: Interaction.Any = {
  ...Interaction.external(Schema.Null),
  kind: "nested",
  onNewMessage: "supersede"
}

/** What such a run must remember: from where it has begun, which is where it begins again. */
export const stateOf = (kept: Schema.Json | undefined): Schema.Json => kept === undefined ? {} : { from: kept }

/** A run that went on from an interaction of its tool, as that is kept. */
export interface Kept {
  readonly interaction: string
  readonly state: Schema.Json
  readonly stateVersion: number
  readonly answer?: Schema.Json
  readonly decidedBy?: DecidedBy
  readonly expiredAt?: number
  readonly description?: string
}

const State = Schema.toCodecJson(Schema.Struct({
  from: Schema.optionalKey(Schema.Struct({
    interaction: Schema.String,
    state: Schema.Json,
    stateVersion: Schema.Number,
    answer: Schema.optionalKey(Schema.Json),
    decidedBy: Schema.optionalKey(DecidedBy),
    expiredAt: Schema.optionalKey(Schema.Number),
    description: Schema.optionalKey(Schema.String)
  }))
}))

/** Fails where it is not what {@link stateOf} made. */
export const decodeState: (state: Schema.Json) => Effect.Effect<{ readonly from?: Kept }, Schema.SchemaError> = Schema
  .decodeUnknownEffect(State)
