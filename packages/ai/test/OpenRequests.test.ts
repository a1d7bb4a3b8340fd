/** What waits in all conversations, of all tenants: whatever is open is listed, and nothing else is. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ConversationStore, OpenRequests } from "../src/index.ts"
import * as C from "./conversation/support.ts"
import { intercept } from "./store/intercept.ts"

const page = (shared: C.Shared, filter?: OpenRequests.Filter, options?: OpenRequests.PageOptions) =>
  Effect.scoped(
    Effect.flatMap(ConversationStore.make({ store: shared }), (store) =>
      Effect.provideService(OpenRequests.page(filter, options), ConversationStore.ConversationStore, store))
  )

const idsOf = (requests: ReadonlyArray<{ readonly approvalId: string }>) => requests.map(({ approvalId }) => approvalId)

// Those of one moment are in no order that means anything.
const listed = (shared: C.Shared, filter?: OpenRequests.Filter) =>
  Effect.map(page(shared, filter), ({ requests }) => idsOf(requests.map(({ request }) => request)).toSorted())

/** Twelve conversations of three tenants and two principals, one a second, each with an approval and a question. */
const many = Effect.gen(function*() {
  const shared = yield* C.makeShared
  const asked: Array<{ readonly scope: Approval.ApprovalScope; readonly request: Approval.ApprovalRequest }> = []
  for (let n = 0; n < 12; n++) {
    const scope = { tenant: `t${n % 3}`, principal: `p${n % 2}` }
    const id = `c${Math.floor(n / 6)}`
    const { conversation } = yield* C.start({ turns: [[C.remove("a"), C.ask("Size?")]], shared, scope, id })
    for (const request of C.requestsOf(yield* conversation.send("Go."))) {
      asked.push({ scope: { ...scope, conversation: id }, request })
    }
    yield* TestClock.adjust("1 second")
  }
  return { shared, asked }
})

describe("a page", () => {
  it.effect("lists nothing of a conversation that was kept long enough: nobody can decide it", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation } = yield* C.start({
        turns: [[C.remove("a"), C.ask("Size?")]],
        shared,
        timeToLive: "1 hour"
      })
      const [request] = C.requestsOf(yield* conversation.send("Go."))
      yield* TestClock.adjust("1 hour")
      assert.deepStrictEqual(yield* listed(shared), [])
      yield* Effect.flip(conversation.decide(Approval.approve(request!)))
    }))

  it.effect("lists what waits in all conversations, the oldest first, with whose it is", () =>
    Effect.gen(function*() {
      const { asked, shared } = yield* many
      const { next, requests } = yield* page(shared)
      assert.isUndefined(next)
      assert.sameDeepMembers([...requests], asked)
      const times = requests.map(({ request }) => request.issuedAt ?? 0)
      assert.deepStrictEqual(times, times.toSorted((a, b) => a - b))
    }))

  it.effect("lists what every field of the filter names", () =>
    Effect.gen(function*() {
      const { asked, shared } = yield* many
      const filters: ReadonlyArray<
        readonly [OpenRequests.Filter, (one: OpenRequests.OpenRequest) => boolean, count: number]
      > = [
        [{ tenant: "t1" }, ({ scope }) => scope.tenant === "t1", 8],
        [{ principal: "p1" }, ({ scope }) => scope.principal === "p1", 12],
        [{ tenant: "t2", principal: "p0" }, ({ scope }) => scope.tenant === "t2" && scope.principal === "p0", 4],
        [
          { tenant: "t2", principal: "p0", conversation: "c1" },
          ({ scope }) => scope.tenant === "t2" && scope.principal === "p0" && scope.conversation === "c1",
          2
        ],
        [{ toolName: "DeleteFile" }, ({ request }) => request.toolName === "DeleteFile", 12],
        [{ kind: "askUser", tenant: "t0" }, ({ request, scope }) =>
          request.interaction === "askUser" && scope.tenant === "t0", 4],
        [{ kind: "approval" }, ({ request }) =>
          request.interaction === "approval", 12],
        [{ issuedBefore: 3_000 }, ({ request }) =>
          (request.issuedAt ?? 0) < 3_000, 6],
        [{ tenant: "nobody" }, () => false, 0],
        // Of nobody's own, as it is named where nobody is.
        [{ conversation: "c0" }, () => false, 0]
      ]
      for (const [filter, isNamed, count] of filters) {
        const named = idsOf(asked.filter(isNamed).map(({ request }) => request))
        assert.lengthOf(named, count)
        assert.sameMembers([...yield* listed(shared, filter)], named, JSON.stringify(filter))
      }
    }))

  it.effect("leads to the next, and all of them hold each request once, whatever is decided between", () =>
    Effect.gen(function*() {
      const { asked, shared } = yield* many
      const seen: Array<string> = []
      let after: string | undefined
      let pages = 0
      do {
        const { next, requests } = yield* page(shared, {}, { limit: 5, after })
        assert.isAtMost(requests.length, 5)
        seen.push(...idsOf(requests.map(({ request }) => request)))
        after = next
        pages++
        if (pages !== 2) continue
        const { conversation } = yield* C.start({
          turns: [],
          shared,
          scope: { tenant: "t0", principal: "p0" },
          id: "c0"
        })
        yield* conversation.clear()
      } while (after !== undefined)
      assert.deepStrictEqual(seen.toSorted(), idsOf(asked.map(({ request }) => request)).toSorted())
      assert.strictEqual(pages, 5)
    }))

  it.effect("costs one operation, and none of them is of a conversation", () =>
    Effect.gen(function*() {
      const { shared } = yield* many
      const operations: Array<string> = []
      const noted = intercept(shared, (operation, _, run) => Effect.suspend(() => (operations.push(operation), run)))
      yield* page(noted, { tenant: "t1" })
      assert.deepStrictEqual(operations, ["requests.page"])
    }))

  it.effect("is that of the default store too", () =>
    Effect.gen(function*() {
      const { requests } = yield* OpenRequests.page()
      assert.isArray(requests)
    }))
})

describe("what is listed", () => {
  const begin = Effect.gen(function*() {
    const shared = yield* C.makeShared
    const started = yield* C.start({
      turns: [[C.remove("a"), C.ask("Size?"), C.menu("external")]],
      afterLastTurn: "Well.",
      approval: { expiresIn: "1 hour" },
      shared
    })
    const requests = C.requestsOf(yield* started.conversation.send("Go."))
    assert.deepStrictEqual(yield* listed(shared), idsOf(requests).toSorted())
    return { ...started, shared, requests }
  })

  const ends: ReadonlyArray<
    readonly [
      name: string,
      (
        conversation: C.Started["conversation"],
        requests: ReadonlyArray<Approval.ApprovalRequest>
      ) => Effect.Effect<unknown, unknown>,
      left: number
    ]
  > = [
    ["approved", (conversation, [remove]) => conversation.decide(Approval.approve(remove!)), 2],
    ["denied", (conversation, [remove]) => conversation.decide(Approval.deny(remove!)), 2],
    ["answered", (conversation, [, ask]) => conversation.decide(Approval.answer(ask!, "42")), 2],
    [
      "told by the program",
      (conversation, [, , told]) => conversation.decide(Approval.answer(told!, { paid: "1" })),
      2
    ],
    ["cleared", (conversation) => conversation.clear({ kind: "askUser" }), 2],
    ["cancelled", (conversation) => conversation.cancel(), 0],
    [
      "superseded",
      (conversation) => conversation.send(Array.of({ role: "user", content: [{ type: "text", text: "No." }] })),
      // A tool that has begun waits on for what the program tells.
      1
    ],
    ["expired", () => TestClock.adjust("1 hour"), 0],
    ["removed with its conversation", () => ConversationStore.remove("c1"), 0]
  ]
  for (const [name, end, left] of ends) {
    it.effect(`is not what was ${name}`, () =>
      Effect.gen(function*() {
        const { conversation, requests, shared } = yield* begin
        const store = yield* ConversationStore.make({ store: shared })
        yield* Effect.provideService(end(conversation, requests), ConversationStore.ConversationStore, store)
        const pending = idsOf(yield* conversation.pending())
        if (name !== "expired") assert.deepStrictEqual(yield* listed(shared), pending.toSorted())
        assert.lengthOf(yield* listed(shared), left)
      }))
  }

  it.effect("is not what was answered in a turn that failed", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation } = yield* C.start({ turns: [[C.remove("a"), C.ask("Size?")]], shared })
      const [remove, ask] = C.requestsOf(yield* conversation.send("Go."))
      yield* conversation.decide(Approval.answer(ask!, "42"))
      yield* Effect.flip(conversation.decide(Approval.deny(remove!)))
      assert.deepStrictEqual(yield* conversation.pending(), [])
      assert.deepStrictEqual(yield* listed(shared), [])
    }))

  it.effect("is shown with the note that was left on it", () =>
    Effect.gen(function*() {
      const { conversation, requests, shared } = yield* begin
      const decision = new Approval.Info({ note: "who asks?" })
      yield* conversation.decide(new Approval.ApprovalAnswer({ approvalId: requests[0]!.approvalId, decision }))
      const { requests: shown } = yield* page(shared, { kind: "approval" })
      assert.deepStrictEqual(shown.map(({ request }) => request.reason), ["who asks?"])
    }))
})
