import { Store } from "@assent/ai"
import { assert, it } from "@effect/vitest"
import { Effect, Exit, Schema, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { read } from "./events.ts"
import * as Reference from "./reference.ts"
import { answer, minute, named, nonces, plain, waits } from "./support.ts"

const Nonce = Schema.Literals(["a", "b", "c"])
const Talk = Schema.Literals(["talk", "other"])
const Answer = Schema.Literals(["x", "y", "z"])
// Minutes; each is another moment than those that are reached by waiting.
const Life = Schema.UndefinedOr(Schema.Literals([1.5, 90.5]))
const Tenant = Schema.UndefinedOr(Schema.Literals(["", "t"]))
const Name = Schema.Struct({
  nonce: Nonce,
  tenant: Tenant,
  conversation: Schema.UndefinedOr(Talk),
  issuedAt: Schema.Literals([0, 5]),
  life: Life
})

const Operation = Schema.Union([
  Schema.TaggedStruct("open", { name: Name, request: Schema.Literals(["1", "2"]) }),
  Schema.TaggedStruct("close", { nonce: Nonce, isWithdrawn: Schema.Boolean }),
  Schema.TaggedStruct("decide", {
    name: Name,
    version: Schema.Literals([0, 0, 1, 2]),
    state: Schema.Literals(["pending", "running", "done", "denied"])
  }),
  Schema.TaggedStruct("suspend", {
    name: Name,
    dueAt: Schema.UndefinedOr(Schema.Literals([3, 4])),
    webhook: Schema.UndefinedOr(Schema.Literals(["h"]))
  }),
  Schema.TaggedStruct("advance", {
    nonce: Nonce,
    from: Schema.Literals(["open", "taken", "either"]),
    to: Schema.Literals(["taken", "over"])
  }),
  Schema.TaggedStruct("deliver", { nonce: Nonce, answer: Schema.Literals(["1", "2"]) }),
  Schema.TaggedStruct("told", { nonce: Nonce }),
  Schema.TaggedStruct("due", {}),
  Schema.TaggedStruct("page", {
    limit: Schema.Literals([1, 2]),
    tenant: Tenant,
    waiting: Schema.Boolean,
    issuedBefore: Schema.UndefinedOr(Schema.Literals([5]))
  }),
  Schema.TaggedStruct("write", {
    // No request is asked in one that expires: when these are reclaimed is the store's.
    id: Schema.Literals(["talk", "other", "brief"]),
    isThere: Schema.Boolean,
    keep: Schema.Literals([0, 1, 9]),
    append: Schema.Array(Schema.Literals(["1", "\"é\""]))
  }),
  Schema.TaggedStruct("remove", { id: Talk }),
  Schema.TaggedStruct("insert", {
    id: Answer,
    denies: Schema.Boolean,
    exact: Schema.UndefinedOr(Answer),
    uses: Schema.UndefinedOr(Schema.Literals([1, 2])),
    life: Life
  }),
  Schema.TaggedStruct("take", { id: Answer }),
  Schema.TaggedStruct("revoke", { id: Answer }),
  Schema.TaggedStruct("sweep", {})
])
type Operation = typeof Operation.Type

/** What is done at once: one operation; or several, of which the last ones are within another, and either may fail. */
const Unit = Schema.Struct({
  operations: Schema.NonEmptyArray(Operation),
  nested: Schema.Array(Operation),
  ends: Schema.Literals(["well", "well", "failing", "nested failing"])
})
type Unit = typeof Unit.Type

const few = <A>(units: ReadonlyArray<A>): ReadonlyArray<A> => units.slice(0, 3)

const nameOf = ({ life, ...name }: typeof Name.Type): Store.RequestName =>
  named(name.nonce, { ...name, expiresAt: life === undefined ? undefined : life * minute })

const suspendedOf = ({ dueAt, name, webhook }: Extract<Operation, { readonly _tag: "suspend" }>): Store.Suspended =>
  waits(name.nonce, { ...nameOf(name), dueAt, webhook })

const decidedOf = ({ state, version }: Extract<Operation, { readonly _tag: "decide" }>): Store.Decided => ({
  state,
  entry: `${state} ${version}`,
  result: state === "done" ? "1" : undefined
})

const statusesOf = (from: "open" | "taken" | "either") => from === "either" ? ["open", "taken"] as const : [from]

const expiryOf = (life: number | undefined) => life === undefined ? undefined : life * minute

const rememberedOf = ({ _tag, life, ...fields }: Extract<Operation, { readonly _tag: "insert" }>) =>
  answer(fields.id, { ...fields, expiresAt: expiryOf(life) })

const allPages = (store: Store.Store, filter: Store.RequestFilter, limit: number) =>
  Effect.gen(function*() {
    const found: Array<string> = []
    let after: string | undefined
    do {
      const page: Store.RequestPage = yield* store.requests.page(filter, { after, limit })
      found.push(...nonces(page.requests))
      after = page.next
    } while (after !== undefined)
    return found
  })

const orForgotten = <A>(effect: Effect.Effect<A, Store.StoreError>) =>
  Effect.catchIf(effect, ({ reason }) => reason === "Forgotten", ({ reason }) => Effect.succeed(reason))

const perform = (store: Store.Store, operation: Operation): Effect.Effect<unknown, Store.StoreError> => {
  switch (operation._tag) {
    case "open":
      return store.requests.open([{ ...nameOf(operation.name), request: operation.request }])
    case "close":
      return store.requests.close([operation.nonce], operation.isWithdrawn ? { state: "withdrawn" } : undefined)
    case "decide":
      return orForgotten(store.requests.decide(nameOf(operation.name), operation.version, decidedOf(operation)))
    case "suspend":
      return orForgotten(store.requests.suspend(suspendedOf(operation)))
    case "advance":
      return store.requests.advance(operation.nonce, statusesOf(operation.from), operation.to)
    case "deliver":
      return store.requests.deliver(operation.nonce, operation.answer)
    case "told":
      return store.requests.told(operation.nonce)
    case "due":
      return Effect.map(
        Effect.flatMap(Effect.clockWith((clock) => clock.currentTimeMillis), (now) => store.requests.due(now, 10)),
        nonces
      )
    case "page":
      return store.atomically(allPages(store, operation, operation.limit))
    case "write":
      return store.atomically(Effect.gen(function*() {
        const { append, id, isThere, keep } = operation
        const version = isThere ? (yield* store.conversations.get(id))?.version ?? -1 : undefined
        const expiresAt = id === "brief" ? 90.5 * minute : undefined
        const write = { name: id, state: "{}", keep, append, expiresAt }
        return (yield* store.conversations.write(id, version, write)) !== undefined
      }))
    case "remove":
      return store.conversations.remove(operation.id)
    case "insert":
      return store.remembered.insert(rememberedOf(operation))
    case "take":
      return store.remembered.take(operation.id)
    case "revoke":
      return store.remembered.revoke("s", operation.id)
    case "sweep":
      return Effect.asVoid(store.sweep(1))
  }
}

const expect = (reference: Reference.Reference, operation: Operation): unknown => {
  const store = Reference.make(reference)
  switch (operation._tag) {
    case "open":
      return store.open(nameOf(operation.name), operation.request)
    case "close":
      return store.close(operation.nonce, operation.isWithdrawn)
    case "decide":
      return store.decide(nameOf(operation.name), operation.version, decidedOf(operation))
    case "suspend":
      return store.suspend(suspendedOf(operation))
    case "advance":
      return store.advance(operation.nonce, statusesOf(operation.from), operation.to)
    case "deliver":
      return store.deliver(operation.nonce, operation.answer)
    case "told":
      return store.told(operation.nonce)
    case "due":
      return store.due()
    case "page":
      return store.page(operation)
    case "write": {
      const { append, id, isThere, keep } = operation
      return store.write(id, isThere, keep, append, id === "brief" ? 90.5 * minute : undefined)
    }
    case "remove":
      return store.remove(operation.id)
    case "insert":
      return store.insert(rememberedOf(operation))
    case "take":
      return store.take(operation.id)
    case "revoke":
      return store.revoke(operation.id)
    case "sweep":
      return undefined
  }
}

const performUnit = (store: Store.Store, unit: Unit): Effect.Effect<unknown, Store.StoreError> => {
  const results: Array<unknown> = []
  const all = (operations: ReadonlyArray<Operation>) =>
    Effect.forEach(operations, (operation) =>
      Effect.flatMap(perform(store, operation), (result) => {
        results.push(result)
        return Effect.yieldNow
      }), { discard: true })
  const { ends, nested, operations } = unit
  if (nested.length === 0 && operations.length === 1 && ends === "well") {
    return Effect.map(all(operations), () => results)
  }
  const inner = store.atomically(
    Effect.andThen(all(nested), ends === "nested failing" ? Effect.fail("no") : Effect.void)
  )
  const outer = Effect.andThen(all(operations), Effect.andThen(Effect.exit(inner), Effect.exit(Effect.void)))
  const whole = ends === "failing" ? Effect.andThen(outer, Effect.fail("no")) : outer
  return Effect.map(Effect.exit(store.atomically(whole)), (exit) => {
    if (Exit.isFailure(exit) && ends !== "failing") return exit
    return results
  })
}

/** What the unit gives, and what is there after it. */
const expectUnit = (
  before: Reference.Reference,
  { ends, nested, operations }: Unit
): readonly [ReadonlyArray<unknown>, Reference.Reference] => {
  const outer = Reference.copy(before)
  const results = operations.map((operation) => expect(outer, operation))
  const inner = Reference.copy(outer)
  const all = [...results, ...nested.map((operation) => expect(inner, operation))]
  return [all, ends === "failing" ? before : ends === "nested failing" ? outer : inner]
}

/** Every order in which two do what they do, each in its own order. */
function* interleavings<A>(
  left: ReadonlyArray<A>,
  right: ReadonlyArray<A>
): Generator<ReadonlyArray<["left" | "right", A]>> {
  if (left.length === 0 && right.length === 0) yield []
  if (left.length > 0) { for (const rest of interleavings(left.slice(1), right)) yield [["left", left[0]!], ...rest] }
  if (right.length > 0) {
    for (const rest of interleavings(left, right.slice(1))) {
      yield [["right", right[0]!], ...rest]
    }
  }
}

const told = (store: Store.Store) =>
  Effect.gen(function*() {
    const { said } = yield* read(store, {}, undefined, 2)
    return (yield* Effect.clockWith((clock) => clock.currentTimeMillis)) < Store.eventLife ? said : []
  })

/** Everything that can be seen of a store, but what may be given up of what is settled. */
const seen = (store: Store.Store) =>
  store.atomically(Effect.gen(function*() {
    return [
      (yield* Effect.forEach(Nonce.literals, store.requests.get)).map(withoutBodies),
      yield* allPages(store, {}, 1),
      nonces(yield* store.requests.due(yield* Effect.clockWith((clock) => clock.currentTimeMillis), 10)),
      (yield* store.requests.byWebhook("h"))?.nonce,
      (yield* Effect.forEach(["talk", "other", "brief"], store.conversations.read)).map((found) => found?.messages),
      yield* Effect.forEach(Answer.literals, (exact) =>
        Effect.map(
          store.remembered.candidates({ scope: "s", source: "local", toolName: "SendMail", exact }),
          (rows) => rows.map(({ id, uses }) => `${id} ${uses}`).toSorted()
        )),
      (yield* store.remembered.list("s", { limit: 10 })).map(({ id }) => id),
      yield* told(store)
    ]
  }))

const expectSeen = (reference: Reference.Reference): unknown => {
  const store = Reference.make(reference)
  return [
    Nonce.literals.map(store.get).map(withoutBodies),
    store.page({}),
    store.due(),
    store.byWebhook("h"),
    ["talk", "other", "brief"].map(store.read),
    Answer.literals.map(store.candidates),
    store.list(),
    store.events()
  ]
}

const withoutBodies = (row: Store.RequestRow | undefined) => {
  if (row === undefined) return undefined
  const { answer: _, dueAt: _a, request: _b, result: _c, suspension: _d, ...rest } = row
  const isSettled = row.state === "done" || row.state === "denied" || row.waits === "over"
  return plain(isSettled ? rest : row)
}

const isSame = (left: unknown, right: unknown): boolean => JSON.stringify(left) === JSON.stringify(right)

const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).toSorted().map(([key, one]) => [key, sorted(one)]))
    : value

// Whatever stands between two operations, others may do.
const apart = ({ nested, operations: [first, ...rest] }: Unit): ReadonlyArray<Unit> =>
  [first, ...rest, ...nested].map((operation) => ({ operations: [operation], nested: [], ends: "well" }))

export const random = (
  make: Effect.Effect<Store.Store, unknown, Scope.Scope>,
  runs: number,
  seesOthers: boolean
) => {
  it.effect.prop(
    "it does what a list of rows does, whatever is done, waited for and undone",
    { steps: Schema.Array(Schema.Union([Unit, Schema.Literals([1, 60, 30 * 60])])) },
    ({ steps }) =>
      Effect.scoped(Effect.gen(function*() {
        const store = yield* make
        let reference = Reference.empty
        for (const step of steps) {
          if (typeof step === "number") {
            yield* TestClock.adjust(step * minute)
            reference = { ...reference, now: reference.now + step * minute }
          } else {
            const [results, after] = expectUnit(reference, step)
            assert.deepStrictEqual(yield* performUnit(store, step), results)
            reference = after
          }
          assert.deepStrictEqual(sorted(yield* seen(store)), sorted(expectSeen(reference)))
        }
      })),
    { arbitrary: { runs: runs * 2, seed: "rows" } }
  )

  it.effect.prop(
    "two who use it at once do so in some order, each of what they do at once",
    { before: Schema.Array(Operation), left: Schema.Array(Unit), right: Schema.Array(Unit) },
    ({ before, ...both }) =>
      Effect.scoped(Effect.gen(function*() {
        const store = yield* make
        const reference = Reference.copy(Reference.empty)
        for (const operation of before) {
          yield* perform(store, operation)
          expect(reference, operation)
        }
        const [left, right] = [both.left, both.right].map((units) => few(seesOthers ? units.flatMap(apart) : units))
        const one = (units: ReadonlyArray<Unit> = []) => Effect.forEach(units, (unit) => performUnit(store, unit))
        const results = yield* Effect.all({ left: one(left), right: one(right) }, { concurrency: "unbounded" })
        const found = sorted([results, yield* seen(store)])
        for (const order of interleavings(left ?? [], right ?? [])) {
          const expected = { left: [] as Array<unknown>, right: [] as Array<unknown> }
          let state = reference
          for (const [side, unit] of order) {
            const [given, after] = expectUnit(state, unit)
            expected[side].push(given)
            state = after
          }
          if (isSame(found, sorted([expected, expectSeen(state)]))) return
        }
        assert.fail(`No order of the two gives ${JSON.stringify(found)}`)
      })),
    { arbitrary: { runs, seed: "two" } }
  )
}
