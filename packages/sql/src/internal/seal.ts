/** The seal of whoever keeps approvals in a database: with the program's key, or else with the database's own. */
import * as ApprovalError from "@assent/ai/ApprovalError"
import * as ApprovalSeal from "@assent/ai/ApprovalSeal"
import type * as Store from "@assent/ai/Store"
import * as Config from "effect/Config"
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
