/** What happens to requests is told as it happens: each once, in order, to whoever it is for. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ConversationStore, OpenRequests, Store } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import * as C from "./conversation/support.ts"
import { logged } from "./laws/logs.ts"

const over = (shared: Store.Store) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.scoped(
    Effect.flatMap(ConversationStore.make({ store: shared }), (store) =>
      Effect.provideService(effect, ConversationStore.ConversationStore, store))
  )

/** What is there by now: a reader that is live never ends. */
const told = (shared: Store.Store, options?: OpenRequests.EventsOptions) =>
  over(shared)(Effect.gen(function*() {
    const { events } = yield* ConversationStore.ConversationStore
    const { isMore, ...page } = yield* events.page(options?.filter ?? {}, { after: options?.after, limit: 1_000 })
    assert.isFalse(isMore)
    return page
  }))

const briefly = (event: OpenRequests.Event): string =>
  event.kind === "missed"
    ? event.kind
    : [event.request.toolName, event.kind === "decided" ? event.decision : event.kind].join(" ")

const listed = (shared: Store.Store) => Effect.map(C.inbox(shared), (ids) => ids.toSorted())

/** What is open, as whoever has read all events knows it. */
const openAfter = (events: ReadonlyArray<OpenRequests.Event>): ReadonlyArray<string> => {
  const open = new Set<string>()
  for (const event of events) {
    if (event.kind === "missed") continue
    if (event.kind === "opened") open.add(event.request.approvalId)
    else open.delete(event.request.approvalId)
  }
  return [...open].toSorted()
}

const begin = (scope?: Approval.ApprovalScope) =>
  Effect.gen(function*() {
    const shared = yield* C.makeShared
    const started = yield* C.start({
      turns: [[C.remove("a"), C.ask("Size?"), C.menu("external")]],
      afterLastTurn: "Well.",
      approval: { expiresIn: "1 hour" },
      shared,
      scope
    })
    const requests = C.requestsOf(yield* started.conversation.send("Go."))
    return { ...started, shared, requests }
  })

describe("what is told", () => {
  type End = (
    conversation: C.Started["conversation"],
    requests: ReadonlyArray<Approval.ApprovalRequest>
  ) => Effect.Effect<unknown, unknown>

  const by = { by: { id: "ada", name: "Ada" } }
  const ends: ReadonlyArray<readonly [name: string, end: End, told: ReadonlyArray<string>]> = [
    ["approved", (conversation, [remove]) => conversation.decide(Approval.approve(remove!), by), [
      "DeleteFile approved"
    ]],
    ["denied", (conversation, [remove]) => conversation.decide(Approval.deny(remove!), by), ["DeleteFile denied"]],
    ["answered", (conversation, [, ask]) => conversation.decide(Approval.answer(ask!, "42"), by), ["Ask answered"]],
    [
      "told by the program",
      (conversation, [, , told]) => conversation.decide(Approval.answer(told!, { paid: "1" })),
      ["Menu answered"]
    ],
    ["cleared", (conversation) => conversation.clear({ kind: "askUser" }), ["Ask cancelled"]],
    [
      "cancelled",
      (conversation) => conversation.cancel(),
      ["Ask cancelled", "DeleteFile cancelled", "Menu cancelled"]
    ],
    [
      "superseded",
      (conversation) => conversation.send([{ role: "user", content: [{ type: "text", text: "No." }] }]),
      ["Ask superseded", "DeleteFile superseded"]
    ],
    ["expired", () => TestClock.adjust("1 hour"), ["Ask expired", "DeleteFile expired", "Menu expired"]],
    [
      "expired, and that is found by a turn",
      (conversation) => Effect.andThen(TestClock.adjust("1 hour"), conversation.send("Hm.")),
      ["Ask expired", "DeleteFile expired", "Menu expired"]
    ],
    [
      "removed with its conversation",
      () => ConversationStore.remove("c1"),
      ["Ask withdrawn", "DeleteFile withdrawn", "Menu withdrawn"]
    ]
  ]
  for (const [name, end, expected] of ends) {
    it.effect(`is what was ${name}, once`, () =>
      Effect.gen(function*() {
        const { conversation, requests, shared } = yield* begin()
        const opened = yield* told(shared)
        assert.deepStrictEqual(opened.events.map(briefly).toSorted(), [
          "Ask opened",
          "DeleteFile opened",
          "Menu opened"
        ])
        yield* over(shared)(end(conversation, requests))
        yield* told(shared)
        yield* over(shared)(Effect.ignore(conversation.cancel()))
        const after = yield* told(shared, { after: opened.next })
        const first = after.events.filter((event) => expected.includes(briefly(event)))
        assert.deepStrictEqual(first.map(briefly).toSorted(), expected)
        assert.lengthOf(after.events, 3)
        const all = yield* told(shared)
        assert.deepStrictEqual(openAfter(all.events), yield* listed(shared))
      }))
  }

  it.effect("has the request as it was shown, whose it was, and who decided it and why", () =>
    Effect.gen(function*() {
      const scope = { tenant: "acme", principal: "bob" }
      const { conversation, requests, shared } = yield* begin(scope)
      const page = yield* over(shared)(OpenRequests.page())
      const at = (yield* told(shared)).events
      yield* conversation.decide(Approval.deny(requests[0]!, "too dear"), by)
      const { events } = yield* told(shared)
      for (const event of at) {
        assert.strictEqual(event.kind, "opened")
        if (event.kind !== "opened") continue
        const shown = page.requests.find(({ request }) => request.approvalId === event.request.approvalId)
        assert.deepStrictEqual({ request: event.request, scope: event.scope }, shown)
      }
      const decided = events.at(-1)
      assert.strictEqual(decided?.kind, "decided")
      if (decided?.kind !== "decided") return
      assert.strictEqual(decided.request.approvalId, requests[0]?.approvalId)
      assert.deepStrictEqual(decided.scope, { ...scope, conversation: "c1" })
      assert.deepStrictEqual([decided.decidedBy?.id, decided.decidedBy?.name, decided.decidedBy?.via], [
        "ada",
        "Ada",
        "conversation"
      ])
      assert.include(decided.reason, "too dear")
    }))
})

describe("what a provider asks about its own call", () => {
  const asking = (id: string) => [
    ScriptedModel.toolCall({ id, name: "Search", params: { query: id }, providerExecuted: true }),
    { type: "tool-approval-request" as const, approvalId: `mcpr_${id}`, toolCallId: id }
  ]
  const ends: ReadonlyArray<
    readonly [string, (conversation: C.Started["conversation"]) => Effect.Effect<unknown, unknown>, string | undefined]
  > = [
    ["approved", (one) => one.decide(Approval.approve({ approvalId: "mcpr_p1" }), { by: { id: "ada" } }), "ada"],
    ["denied", (one) => one.decide(Approval.deny({ approvalId: "mcpr_p1" }, "no"), { by: { id: "bob" } }), "bob"],
    ["withdrawn", (one) => one.cancel(), undefined]
  ]
  for (const [decision, end, by] of ends) {
    it.effect(`is told as ${decision}`, () =>
      Effect.gen(function*() {
        const shared = yield* C.makeShared
        const { conversation } = yield* C.start({
          turns: [asking("p1")],
          afterLastTurn: "Done.",
          shared,
          strict: { allowProviderApprovals: ["mcpr_p1"] }
        })
        C.requestsOf(yield* conversation.send("Go."))
        yield* end(conversation)
        const { events } = yield* told(shared)
        assert.deepStrictEqual(events.map(briefly), ["Search opened", `Search ${decision}`])
        const [, decided] = events
        assert.strictEqual(decided?.kind === "decided" ? decided.decidedBy?.id : "", by)
        assert.deepStrictEqual(yield* listed(shared), [])
      }))
  }

  it.effect("is told as it was answered, each by itself, though several answers came together", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const ids = ["p1", "p2", "p3"]
      const { conversation } = yield* C.start({
        turns: [ids.flatMap(asking)],
        afterLastTurn: "Done.",
        shared,
        strict: { allowProviderApprovals: ids.map((id) => `mcpr_${id}`) }
      })
      const [first, second, third] = C.requestsOf(yield* conversation.send("Go."))
      yield* conversation.decide([
        Approval.deny(first!, "no"),
        Approval.approve(second!),
        Approval.deny(third!, "never")
      ])
      const { events } = yield* told(shared)
      assert.sameDeepMembers(
        events.flatMap((event) =>
          event.kind === "decided" ? [[event.request.toolCallId, event.decision, event.reason]] : []
        ),
        [["p1", "denied", "no"], ["p2", "approved", undefined], ["p3", "denied", "never"]]
      )
    }))

  it.effect("is told with where it is asked, each by itself, though another conversation has the same ids", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      for (const id of ["one", "two"]) {
        const { conversation } = yield* C.start({
          turns: [[...asking("p1"), ...asking("p2")]],
          afterLastTurn: "Done.",
          shared,
          id,
          scope: { principal: "ada" },
          strict: { allowProviderApprovals: ["mcpr_p1", "mcpr_p2"] }
        })
        C.requestsOf(yield* conversation.send("Go."))
      }
      const { events } = yield* told(shared)
      assert.sameDeepMembers(
        events.map((event) =>
          event.kind === "opened"
            ? [event.request.approvalId, event.request.conversation, event.request.principal, event.scope]
            : []
        ),
        ["one", "two"].flatMap((conversation) =>
          ["mcpr_p1", "mcpr_p2"].map((id) => [id, conversation, "ada", { principal: "ada", conversation }])
        )
      )
    }))
})

describe("a reader", () => {
  const collect = (stream: Stream.Stream<OpenRequests.Event, ConversationStore.ConversationError>) =>
    Effect.gen(function*() {
      const seen: Array<OpenRequests.Event> = []
      const fiber = yield* Effect.forkChild(
        Stream.runForEach(stream, (event) => Effect.sync(() => seen.push(event))),
        { startImmediately: true }
      )
      return { seen, fiber }
    })

  it.effect("is told what is kept, then what comes, within the time it looks after; and goes on from its cursor", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const request = (name: string) => C.start({ turns: [[C.remove(name)]], afterLastTurn: "Well.", shared, id: name })
      const one = yield* request("one")
      const [first] = C.requestsOf(yield* one.conversation.send("Go."))
      yield* over(shared)(Effect.gen(function*() {
        const { fiber, seen } = yield* collect(OpenRequests.events())
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(seen.map(briefly), ["DeleteFile opened"])
        yield* one.conversation.decide(Approval.approve(first!))
        yield* TestClock.adjust(998)
        assert.lengthOf(seen, 1)
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(seen.map(briefly), ["DeleteFile opened", "DeleteFile approved"])
        yield* Fiber.interrupt(fiber)
        const two = yield* request("two")
        yield* two.conversation.send("Go.")
        const after = seen[0]!.cursor
        const again = yield* collect(OpenRequests.events({ after, every: "10 seconds" }))
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(again.seen.map(briefly), ["DeleteFile approved", "DeleteFile opened"])
        const live = yield* collect(OpenRequests.events({ after: yield* OpenRequests.latest }))
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(live.seen, [])
      }))
    }))

  for (const unreadable of [0, 1, 2]) {
    it.effect(`is told what can be read, and the program's log how many cannot: ${unreadable} of 3`, () =>
      Effect.gen(function*() {
        const { shared } = yield* begin()
        const page: Store.Events["page"] = (filter, options) =>
          Effect.map(shared.events.page(filter, options), ({ events, ...page }) => ({
            ...page,
            events: events.map((row, index) => index < unreadable ? { ...row, request: "{}" } : row)
          }))
        const changed = Store.make({ ...shared, events: { ...shared.events, page } })
        const [{ events }, lines] = yield* logged(told(changed))
        assert.lengthOf(events, 3 - unreadable)
        assert.deepStrictEqual(
          lines.map(({ text }) => /left (an event|\d+ events) of/.exec(text)?.[1]),
          [
            [],
            ["an event"],
            ["2 events"]
          ][unreadable]
        )
      }))
  }

  it.effect("of a tenant is told nothing of another, also of what was missed", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const tenants = ["acme", "", undefined, "other"]
      for (const tenant of tenants) {
        const { conversation } = yield* C.start({
          turns: [[C.remove("a"), C.ask("Size?")]],
          shared,
          scope: tenant === undefined ? {} : { tenant, principal: "bob" }
        })
        yield* conversation.send("Go.")
        yield* conversation.cancel()
      }
      for (const tenant of ["acme", "", "other"]) {
        const { events } = yield* told(shared, { filter: { tenant } })
        assert.lengthOf(events, 4)
        for (const event of events) assert.strictEqual(event.kind === "missed" ? "" : event.scope.tenant, tenant)
      }
      assert.lengthOf((yield* told(shared)).events, 16)
      const mine = { tenant: "acme", principal: "bob", conversation: "c1" }
      assert.lengthOf((yield* told(shared, { filter: mine })).events, 4)
      // As it is called there where nobody is.
      assert.lengthOf((yield* told(shared, { filter: { conversation: "c1" } })).events, 4)
      assert.lengthOf((yield* told(shared, { filter: { tenant: "nobody" } })).events, 0)
      const { events } = yield* told(shared, { filter: { tenant: "nobody" }, after: "1000000" })
      assert.deepStrictEqual(events.map(({ kind }) => kind), ["missed"])
    }))

  it.effect("that comes back too late is told so once, and all that is kept", () =>
    Effect.gen(function*() {
      const shared = yield* Store.makeMemory({ maxEvents: 4 })
      const names = ["a", "b", "c", "d", "e", "f"]
      const { conversation } = yield* C.start({ turns: [names.map((name) => C.remove(name))], shared })
      const after = yield* shared.events.latest
      yield* conversation.send("Go.")
      yield* over(shared)(Effect.gen(function*() {
        const { seen } = yield* collect(OpenRequests.events({ after }))
        yield* TestClock.adjust("1 minute")
        assert.deepStrictEqual(seen.map(({ kind }) => kind), ["missed", ...names.slice(2).map(() => "opened")])
        const again = yield* collect(OpenRequests.events({ after: seen[0]!.cursor }))
        yield* TestClock.adjust(1)
        assert.deepStrictEqual(again.seen, seen.slice(1))
        const all = yield* Stream.runCollect(OpenRequests.stream())
        assert.lengthOf(all, 6)
      }))
    }))

  it.effect("of all that is open is given each, page by page", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const names = Array.from({ length: 130 }, (_, index) => String(index))
      const { conversation } = yield* C.start({ turns: [names.map((name) => C.remove(name))], shared })
      const requests = C.requestsOf(yield* conversation.send("Go."))
      const all = yield* over(shared)(Stream.runCollect(OpenRequests.stream({ toolName: "DeleteFile" })))
      assert.deepStrictEqual(
        all.map(({ request }) => request.approvalId).toSorted(),
        requests.map(({ approvalId }) => approvalId).toSorted()
      )
      const few = yield* over(shared)(Stream.runCollect(Stream.take(OpenRequests.stream(), 3)))
      assert.lengthOf(few, 3)
    }))
})
