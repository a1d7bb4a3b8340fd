/** The seal of whoever keeps approvals in a database: with the program's key, or else with the one in a file of its own. */
import * as ApprovalError from "@assent/ai/ApprovalError"
import * as ApprovalSeal from "@assent/ai/ApprovalSeal"
import type * as Store from "@assent/ai/Store"
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import type { Database } from "./store/database.ts"
import * as Settings from "./store/settings.ts"

export const make = Effect.fnUntraced(function*(
  database: Database,
  options: ApprovalSeal.Options | undefined
): Effect.fn.Return<ApprovalSeal.Service, ApprovalError.ApprovalError | Store.StoreError> {
  const configured = options === undefined ? yield* fromConfig : Option.none()
  const keys = options ?? {
    key: Option.isSome(configured) ? configured.value : Redacted.make(yield* Settings.sealKey(database))
  }
  // Also where it is not the one that is used: what is wrong with a key is said of that key.
  const seal = yield* ApprovalSeal.make(keys)
  const epoch = yield* Settings.epoch(database)
  return epoch === undefined ? seal : yield* ApprovalSeal.make(since(epoch, keys))
})

/**
 * The same for a database that others can read: with a key of the program's alone. Where the program has given a seal and not
 * its keys, these cannot be made others after the database was restored.
 */
export const makeShared = Effect.fnUntraced(function*(
  database: Database,
  options: ApprovalSeal.Options | undefined
): Effect.fn.Return<ApprovalSeal.Service, ApprovalError.ApprovalError | Store.StoreError> {
  const given = Context.getOrUndefined(yield* Effect.context<never>(), ApprovalSeal.ApprovalSeal)
  if (options !== undefined || given === undefined) {
    const configured = options === undefined ? yield* fromConfig : Option.none()
    const keys = options ?? (Option.isSome(configured) ? { key: configured.value } : undefined)
    if (keys === undefined) return yield* ApprovalError.make(new ApprovalError.InvalidKey({ description: noKey }))
    return yield* make(database, keys)
  }
  if (!(yield* given.configured)) {
    return yield* ApprovalError.make(new ApprovalError.InvalidKey({ description: noKey }))
  }
  if ((yield* Settings.epoch(database)) === undefined) return given
  return yield* ApprovalError.make(new ApprovalError.InvalidKey({ description: cannotChange }))
})

const noKey =
  "There is no key that seals approvals. It cannot be kept in a database that several programs or people read," +
  " because with it they could make up approvals. Set ASSENT_APPROVAL_KEY to 32 random bytes or more, the same for every" +
  " process, or provide ApprovalSeal.layer."

const cannotChange =
  "The database was restored from a backup, and from then on needs another key, which is made of the" +
  " program's and a word in the database. That cannot be done with ApprovalSeal.layer. Give the same keys as the option" +
  " seal, or set ASSENT_APPROVAL_KEY."

const fromConfig = Effect.mapError(
  Config.option(Config.Redacted("ASSENT_APPROVAL_KEY")),
  // Not the cause: it may quote what it could not read.
  () =>
    ApprovalError.make(
      new ApprovalError.InvalidKey({ description: "ASSENT_APPROVAL_KEY cannot be read as a text." })
    )
)

/**
 * Other keys of the same ones: what was sealed before the database was restored is of a key that nobody knows, and is asked
 * again. Their ids are made of them, because one of the program's with the epoch in it would be too long.
 */
const since = (
  epoch: string,
  { keyId: _, previousKeys = [], ...options }: ApprovalSeal.Options
): ApprovalSeal.Options => {
  const mixed = (key: ApprovalSeal.Key) =>
    Redacted.make(`${Redacted.isRedacted(key) ? Redacted.value(key) : key}\n${epoch}`)
  return {
    ...options,
    key: mixed(options.key),
    previousKeys: previousKeys.map(({ keyId: _, ...previous }) => ({ ...previous, key: mixed(previous.key) }))
  }
}
