/** What a tenant may have, where many of its turns begin at one moment: of every database there is. */
import type { Store } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import { Effect, type Scope } from "effect"
import { written } from "../../ai/test/store/laws/support.ts"

const size = 1_000
const limit = 5_500

const turn = (fields?: Partial<Store.ConversationWrite>) =>
  written({ tenant: "t", append: ["x".repeat(size - 2)], begins: true, ...fields })

/** Processes with one database, of which a tenant may have `tenantBytes`. */
type MakeStores = (tenantBytes: number) => Effect.Effect<ReadonlyArray<Store.Store>, unknown, Scope.Scope>

export const describeQuotas = (name: string, makeStores: MakeStores) =>
  describe(`the bytes of a tenant in ${name}`, () => {
    it.live("are not passed by turns that begin at one moment, in several processes: those begin that fit together", () =>
      Effect.gen(function*() {
        const stores = yield* makeStores(limit)
        const all = Array.from({ length: 24 }, (_, index) => index)
        const begun = (begin: (store: Store.Store, index: number) => Effect.Effect<unknown, Store.StoreError>) =>
          Effect.forEach(all, (index) =>
            begin(stores[index % stores.length]!, index).pipe(
              Effect.as("begun"),
              Effect.catch(({ reason }) => Effect.succeed(reason))
            ), { concurrency: "unbounded" }).pipe(
              Effect.map((found) => [found.filter((one) => one === "begun").length, new Set(found).size])
            )
        // Of new conversations five fit, and all others are told the one reason there is.
        assert.deepStrictEqual(
          yield* begun(({ conversations }, index) => conversations.write(`new${index}`, undefined, turn())),
          [5, 2]
        )
        const other = stores[0]!.conversations
        for (const index of all) yield* other.remove(`new${index}`)
        const first = yield* Effect.forEach(
          all,
          (index) => other.write(`old${index}`, undefined, turn({ append: [], begins: false }))
        )
        // Of turns that follow too; each conversation has two bytes by now.
        assert.deepStrictEqual(
          yield* begun((store, index) =>
            store.atomically(Effect.andThen(
              store.conversations.read(`old${index}`),
              store.conversations.write(`old${index}`, first[index], turn())
            ))
          ),
          [5, 2]
        )
        // Another tenant is in nobody's way.
        assert.isDefined(yield* other.write("other", undefined, turn({ tenant: "u" })))
      }).pipe(Effect.scoped))
  })
