import { assert, describe, it } from "@effect/vitest"
import { Clock, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalSeal, Store, SuspensionStore } from "../src/index.ts"

const minute = 60_000

/** A suspension of its own request, which lives for half an hour. */
const makeSuspension = Effect.fnUntraced(function*(id: string, options?: {
  readonly scope?: Approval.ApprovalScope
  readonly dueIn?: number
  readonly expiresIn?: number
}) {
  const seal = yield* ApprovalSeal.ApprovalSeal
  const { approvalId } = yield* seal.seal({
    source: "local",
    toolName: "Tool",
    toolCallId: id,
    schemaFingerprint: "v1",
    params: "{}",
    scope: {}
  })
  const now = yield* Clock.currentTimeMillis
  return new SuspensionStore.Suspension({
    approvalId,
    toolName: "Tool",
    toolCallId: id,
    awaited: new Approval.Awaited({
      name: "it",
      kind: options?.dueIn === undefined ? "external" : "timer",
      answerSchema: {},
      ...(options?.dueIn === undefined ? undefined : { dueAt: now + options.dueIn })
    }),
    state: { secret: 42 },
    stateVersion: 1,
    params: {},
    scope: (options?.scope ?? {}) as SuspensionStore.Suspension["scope"],
    issuedAt: now,
    expiresAt: now + (options?.expiresIn ?? 30 * minute)
  })
})

const idsOf = (suspensions: ReadonlyArray<SuspensionStore.Suspension>) =>
  suspensions.map(({ toolCallId }) => toolCallId)

const layers: ReadonlyArray<readonly [string, Layer.Layer<never, unknown>]> = [
  ["memory", SuspensionStore.layerMemory],
  ["any Store", Layer.provide(SuspensionStore.layerStore, Store.layerMemory)]
]

describe.each(layers)("SuspensionStore over %s", (_, layer) => {
  const test = <E>(name: string, effect: (store: SuspensionStore.Service) => Effect.Effect<unknown, E>) =>
    it.effect(name, () =>
      Effect.flatMap(SuspensionStore.SuspensionStore, effect).pipe(
        Effect.provide(layer),
        Effect.provide(ApprovalSeal.layer({ key: "a key for tests only, of 32 bytes or more" }))
      ))

  test("keeps, gives, takes once, and forgets what was remembered when it is over", (store) =>
    Effect.gen(function*() {
      const suspension = yield* makeSuspension("c1")
      const { approvalId } = suspension
      assert.isUndefined(yield* store.find(approvalId))
      assert.isFalse(yield* store.take(approvalId))
      yield* store.put(suspension)
      assert.deepStrictEqual(yield* store.find(approvalId), { status: "open", suspension, delivered: undefined })
      const taken = yield* Effect.all([1, 2, 3].map(() => store.take(approvalId)), { concurrency: "unbounded" })
      assert.deepStrictEqual(taken.filter((one) => one).length, 1)
      assert.deepStrictEqual((yield* store.find(approvalId))?.status, "taken")
      assert.deepStrictEqual((yield* store.list()).suspensions, [])
      yield* store.end(approvalId)
      yield* store.end(approvalId)
      const over = yield* store.find(approvalId)
      assert.deepStrictEqual([over?.status, over?.suspension.state], ["over", null])
      assert.isFalse(yield* store.take(approvalId))
      assert.deepStrictEqual(
        yield* Effect.flip(store.put(suspension)).pipe(Effect.map((error) => error.reason._tag)),
        "SuspensionsUnavailable"
      )
    }))

  test("keeps one answer for what is open", (store) =>
    Effect.gen(function*() {
      const suspension = yield* makeSuspension("c1")
      const { approvalId } = suspension
      assert.isFalse(yield* store.deliver(approvalId, "early"))
      yield* store.put(suspension)
      const accepted = yield* Effect.all(["a", "b", "c"].map((one) => store.deliver(approvalId, one)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(accepted.filter((one) => one).length, 1)
      assert.strictEqual((yield* store.find(approvalId))?.delivered, ["a", "b", "c"][accepted.indexOf(true)])
      yield* store.end(approvalId)
      assert.isFalse(yield* store.deliver(approvalId, "late"))
      assert.isUndefined((yield* store.find(approvalId))?.delivered)
    }))

  test("leads from a webhook's token to the one that waits for it now", (store) =>
    Effect.gen(function*() {
      const [one, two] = [yield* makeSuspension("c1"), yield* makeSuspension("c2")]
      yield* store.put(one!, { webhook: "digest" })
      assert.strictEqual((yield* store.findWebhook("digest"))?.suspension.toolCallId, "c1")
      assert.isUndefined(yield* store.findWebhook("other"))
      assert.strictEqual(
        (yield* Effect.flip(store.put(two!, { webhook: "digest" }))).reason._tag,
        "SuspensionsUnavailable"
      )
      yield* store.end(one!.approvalId)
      yield* store.put(two!, { webhook: "digest" })
      assert.strictEqual((yield* store.findWebhook("digest"))?.suspension.toolCallId, "c2")
    }))

  test("lists those that wait, in order, page by page, by scope", (store) =>
    Effect.gen(function*() {
      for (let index = 0; index < 7; index++) {
        const scope = index % 2 === 0 ? { conversation: "even" } : { tenant: "odd" }
        yield* store.put(yield* makeSuspension(`c${index}`, { scope }))
        yield* TestClock.adjust(1)
      }
      const even = yield* store.list({ scope: { conversation: "even" } })
      assert.deepStrictEqual([idsOf(even.suspensions), even.next], [["c0", "c2", "c4", "c6"], undefined])
      const pages: Array<ReadonlyArray<string>> = []
      let after: string | undefined
      do {
        const page: SuspensionStore.Page = yield* store.list({ scope: { conversation: "even" }, limit: 3, after })
        pages.push(idsOf(page.suspensions))
        after = page.next
      } while (after !== undefined)
      assert.deepStrictEqual(pages, [["c0", "c2", "c4"], ["c6"]])
      assert.deepStrictEqual(idsOf((yield* store.list()).suspensions).toSorted(), [
        "c0",
        "c1",
        "c2",
        "c3",
        "c4",
        "c5",
        "c6"
      ])
      yield* store.end(even.suspensions[1]!.approvalId)
      yield* store.take(even.suspensions[2]!.approvalId)
      assert.deepStrictEqual(
        idsOf((yield* store.list({ scope: { conversation: "even" } })).suspensions),
        ["c0", "c6"]
      )
      yield* TestClock.adjust("31 minutes")
      assert.deepStrictEqual((yield* store.list()).suspensions, [])
    }))

  test("tells of timers once, the earliest first, however late", (store) =>
    Effect.gen(function*() {
      for (const [id, dueIn] of [["c1", 20], ["c2", 10], ["c3", 90 * minute]] as const) {
        yield* store.put(yield* makeSuspension(id, { dueIn: dueIn }))
      }
      yield* store.put(yield* makeSuspension("c4"))
      const woken: Array<string> = []
      const look = SuspensionStore.wakeDue((suspension) =>
        suspension.toolCallId === "c1" && woken.length < 2
          ? Effect.andThen(Effect.sync(() => woken.push("failed c1")), Effect.fail("not now"))
          : Effect.sync(() => woken.push(suspension.toolCallId))
      ).pipe(Effect.provideService(SuspensionStore.SuspensionStore, store))
      yield* look
      assert.deepStrictEqual(woken, [])
      yield* TestClock.adjust(10)
      yield* look
      assert.deepStrictEqual(woken, ["c2"])
      yield* TestClock.adjust("1 minute")
      yield* look
      assert.deepStrictEqual(woken, ["c2", "failed c1"])
      yield* look
      yield* look
      assert.deepStrictEqual(woken, ["c2", "failed c1", "c1"])
    }))

  test("gives up what expired, after a while in which it still says so", (store) =>
    Effect.gen(function*() {
      const suspension = yield* makeSuspension("c1")
      yield* store.put(suspension)
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* store.find(suspension.approvalId))?.status, "open")
      const reason = yield* Effect.flip(SuspensionStore.deliver(suspension.approvalId, 1)).pipe(
        Effect.provideService(SuspensionStore.SuspensionStore, store)
      )
      assert.strictEqual(reason.reason._tag, "Expired")
      yield* TestClock.adjust("29 days")
      assert.strictEqual((yield* store.find(suspension.approvalId))?.status, "open")
      yield* TestClock.adjust("1 day")
      assert.isUndefined(yield* store.find(suspension.approvalId))
    }))

  test("keeps what has no expiry until it is over, and lists it, however long that takes", (store) =>
    Effect.gen(function*() {
      const suspension = yield* makeSuspension("c1", { expiresIn: Infinity, dueIn: minute })
      yield* store.put(suspension)
      yield* TestClock.adjust("36500 days")
      const now = yield* Clock.currentTimeMillis
      assert.deepStrictEqual(yield* store.find(suspension.approvalId), {
        status: "open",
        suspension,
        delivered: undefined
      })
      assert.deepStrictEqual([(yield* store.list()).suspensions, yield* store.due({ now })], [[suspension], [
        suspension
      ]])
      assert.isTrue(yield* store.deliver(suspension.approvalId, 1))
      assert.isTrue(yield* store.take(suspension.approvalId))
    }))
})

describe("the default store", () => {
  it.effect("is one for the process, and is not named", () =>
    Effect.gen(function*() {
      const one = yield* SuspensionStore.SuspensionStore
      assert.strictEqual(one, yield* SuspensionStore.SuspensionStore)
      assert.isFalse(one.named)
      assert.isTrue(
        (yield* Effect.provide(Effect.service(SuspensionStore.SuspensionStore), SuspensionStore.layerMemory)).named
      )
    }))
})
