/** How the rows of a store say whose they are. */
import * as Effect from "effect/Effect"
import * as Cryptography from "../seal/cryptography.ts"

/** In whose name something was asked: names of the program's, which may be any text. */
export interface Scope {
  readonly tenant?: string | undefined
  readonly principal?: string | undefined
  readonly conversation?: string | undefined
}

/**
 * The id of a conversation, with the tenant and the principal it belongs to, so that no two of them ever share one; outside
 * any conversation one that stands for all that is theirs.
 */
export const make = ({ conversation, principal, tenant }: Scope): Effect.Effect<string> =>
  Effect.map(
    Cryptography.sha256(JSON.stringify([tenant ?? null, principal ?? null, conversation ?? null])),
    (digest) => conversation === undefined ? `scope/${digest}` : `conversation/${digest}`
  )
