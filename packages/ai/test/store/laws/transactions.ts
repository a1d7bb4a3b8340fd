import { Store } from "@assent/ai"
import { assert } from "@effect/vitest"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { answer, type Law, named, nonces, shown, waits, written } from "./support.ts"

/** Changes something in each group, and what is then there of it. */
const everywhere = (store: Store.Store) =>
  Effect.gen(function*() {
    yield* store.conversations.write("c", undefined, written({ append: ["1"] }))
    const row = yield* store.conversations.get("old")
    yield* store.conversations.write("old", row!.version, written({ keep: 1, append: ["new"], state: "[1]" }))
    yield* store.conversations.remove("gone")
    yield* store.requests.open([shown("opened")])
    yield* store.requests.close(["closed"])
    yield* store.requests.decide(named("asked"), 0, { state: "done", entry: "ran", result: "1" })
    yield* store.requests.suspend(waits("suspended", { webhook: "h", dueAt: 3 }))
    yield* store.requests.deliver("waiting", "1")
    yield* store.requests.advance("answered", ["open"], "over", "less")
    yield* store.requests.told("due")
    yield* store.remembered.insert(answer("r"))
    yield* store.remembered.take("uses")
    yield* store.remembered.revoke("s", "revoked")
    yield* store.owners.beat({ id: "o", beat: 2, every: 1 })
  })

const before = (store: Store.Store) =>
  Effect.gen(function*() {
    yield* store.conversations.write("old", undefined, written({ append: ["1", "2"] }))
    yield* store.conversations.write("gone", undefined, written({ append: ["1"] }))
    yield* store.requests.open([
      shown("closed"),
      shown("asked"),
      shown("in gone", { conversation: "gone", issuedAt: 4 })
    ])
    for (const nonce of ["waiting", "answered", "due"]) yield* store.requests.suspend(waits(nonce, { dueAt: 7 }))
    yield* store.requests.deliver("answered", "1")
    yield* store.remembered.insert(answer("uses", { uses: 1 }))
    yield* store.remembered.insert(answer("revoked", { exact: "x" }))
    yield* store.owners.beat({ id: "o", beat: 1, every: 1 })
  })

const dump = (store: Store.Store) =>
  Effect.gen(function*() {
    const all = [
      "opened",
      "closed",
      "asked",
      "in gone",
      "suspended",
      "waiting",
      "answered",
      "due"
    ]
    const read = ["c", "old", "gone"].map((id) => store.conversations.read(id))
    return JSON.stringify([
      yield* Effect.all(read),
      yield* Effect.forEach(all, store.requests.get),
      nonces((yield* store.requests.page({}, { limit: 100 })).requests),
      nonces((yield* store.requests.page({ toolName: "SendMail", waiting: true }, { limit: 100 })).requests),
      nonces(yield* store.requests.due(100, 100)),
      (yield* store.requests.byWebhook("h"))?.nonce ?? null,
      (yield* store.remembered.candidates({ scope: "s", source: "local", toolName: "SendMail", exact: "x" }))
        .toSorted((left, right) => left.id < right.id ? -1 : 1),
      yield* store.remembered.list("s", { limit: 100 }),
      yield* store.owners.get("o")
    ])
  })

export const transactions = (law: Law, seesOthers: boolean) => {
  law("all of what is done atomically happens, and its value is given", function*(store) {
    yield* before(store)
    const inside = yield* store.atomically(Effect.andThen(everywhere(store), dump(store)))
    assert.strictEqual(yield* dump(store), inside)
    assert.include(inside, "\"new\"")
  })

  const ends: ReadonlyArray<[string, Effect.Effect<never, string>, (exit: Exit.Exit<unknown, unknown>) => boolean]> = [
    ["fails", Effect.fail("no"), (exit) => Exit.isFailure(exit) && Cause.hasFails(exit.cause)],
    ["dies", Effect.die("no"), (exit) => Exit.isFailure(exit) && Cause.hasDies(exit.cause)],
    ["interrupts itself", Effect.interrupt, (exit) => Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)]
  ]
  for (const [title, end, isSo] of ends) {
    law(`nothing of what is done atomically happened where it ${title}, at any step`, function*(store) {
      yield* before(store)
      const known = yield* dump(store)
      for (let steps = 1; steps <= 17; steps += 4) {
        let left = steps
        const counted = countingDown(store, Effect.suspend(() => left-- > 0 ? Effect.void : end))
        const exit = yield* Effect.exit(store.atomically(Effect.andThen(everywhere(counted), end)))
        assert.isTrue(isSo(exit), String(steps))
        assert.strictEqual(yield* dump(store), known, String(steps))
      }
      yield* everywhere(store)
      assert.notStrictEqual(yield* dump(store), known)
    })
  }

  law("nothing of it happened where it is interrupted from outside", function*(store) {
    yield* before(store)
    const known = yield* dump(store)
    const done = yield* Deferred.make<void>()
    const inside = yield* Effect.forkChild(
      store.atomically(
        Effect.andThen(everywhere(store), Effect.andThen(Deferred.succeed(done, undefined), Effect.never))
      )
    )
    yield* Deferred.await(done)
    yield* Fiber.interrupt(inside)
    assert.strictEqual(yield* dump(store), known)
  })

  law("one within another is a part of it: it happens with the other, or not at all", function*(store) {
    yield* before(store)
    const known = yield* dump(store)
    const nested = store.atomically(
      Effect.andThen(store.atomically(everywhere(store)), store.requests.get("asked"))
    )
    yield* Effect.flip(store.atomically(Effect.andThen(nested, Effect.fail("no"))))
    assert.strictEqual(yield* dump(store), known)
    const found = yield* store.atomically(nested)
    assert.strictEqual(found?.state, "done")
    assert.strictEqual((yield* store.requests.get("asked"))?.state, "done")
  })

  law("one within another that fails is undone alone, if the other goes on", function*(store) {
    yield* store.atomically(Effect.gen(function*() {
      yield* store.requests.open([shown("first")])
      const failing = Effect.andThen(
        store.requests.open([shown("second")]),
        Effect.andThen(store.requests.decide(named("first"), 0, { state: "denied", entry: "no" }), Effect.fail("no"))
      )
      assert.strictEqual(yield* Effect.flip(store.atomically(failing)), "no")
      assert.strictEqual((yield* store.requests.get("first"))?.state, "pending")
      yield* store.requests.open([shown("third")])
    }))
    assert.deepStrictEqual(nonces((yield* store.requests.page({}, { limit: 10 })).requests), ["first", "third"])
  })

  law("of two within one another, at once, one that fails does not undo the other", function*(store) {
    const failing = Effect.gen(function*() {
      yield* store.requests.open([shown("first")])
      for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow
      yield* Effect.fail("no")
    })
    const other = Effect.andThen(Effect.yieldNow, store.requests.open([shown("second")]))
    yield* store.atomically(
      Effect.all([Effect.ignore(store.atomically(failing)), store.atomically(other)], { concurrency: 2 })
    )
    assert.deepStrictEqual(nonces((yield* store.requests.page({}, { limit: 10 })).requests), ["second"])
  })

  for (const how of ["one operation", "several atomically"]) {
    law(`what was forked inside and outlives it is no part of another's (${how})`, function*(store) {
      const goOn = yield* Deferred.make<void>()
      const open = store.requests.open([shown("late")])
      const late = how === "one operation" ? open : store.atomically(Effect.andThen(open, Effect.yieldNow))
      const fiber = yield* store.atomically(Effect.forkDetach(Effect.andThen(Deferred.await(goOn), late)))
      const half = yield* Deferred.make<void>()
      const end = yield* Deferred.make<void>()
      const undone = Effect.gen(function*() {
        yield* store.requests.open([shown("undone")])
        yield* Deferred.succeed(half, undefined)
        yield* Deferred.await(end)
        yield* Effect.fail("no")
      })
      const other = yield* Effect.forkChild(Effect.exit(store.atomically(undone)))
      yield* Deferred.await(half)
      yield* Deferred.succeed(goOn, undefined)
      for (let turn = 0; turn < 20; turn++) yield* Effect.yieldNow
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(other)
      yield* Fiber.join(fiber)
      assert.deepStrictEqual(nonces((yield* store.requests.page({}, { limit: 10 })).requests), ["late"])
    })
  }

  law("an operation that is refused changes nothing of what goes on", function*(store) {
    yield* store.atomically(Effect.gen(function*() {
      yield* store.requests.open([shown("a")])
      yield* Effect.flip(store.requests.page({}, { after: "nowhere", limit: 1 }))
      yield* store.requests.open([shown("b")])
    }))
    assert.lengthOf((yield* store.requests.page({}, { limit: 10 })).requests, 2)
  })

  law("nobody outside sees what is half done, nor what is undone", function*(store) {
    for (const end of [Effect.void, Effect.fail("no")]) {
      yield* store.conversations.remove("c")
      yield* store.requests.close(["a"])
      const half = yield* Deferred.make<void>()
      const inside = yield* Effect.forkChild(Effect.exit(store.atomically(Effect.gen(function*() {
        yield* store.conversations.write("c", undefined, written({ append: ["1"] }))
        yield* Deferred.succeed(half, undefined)
        for (let turn = 0; turn < 5; turn++) yield* Effect.yieldNow
        yield* store.requests.open([shown("a")])
        yield* end
      }))))
      yield* Deferred.await(half)
      const first = yield* Effect.forkChild(store.conversations.get("c"), { startImmediately: true })
      const both = yield* Effect.forkChild(
        store.atomically(Effect.all([store.conversations.get("c"), store.requests.get("a")])),
        { startImmediately: true }
      )
      const [conversation, request] = yield* Fiber.join(both)
      // The conversation is written, and read, first: whoever sees it sees the request too.
      if (conversation !== undefined || !seesOthers) {
        assert.strictEqual(conversation === undefined, request === undefined)
      }
      const exit = yield* Fiber.join(inside)
      const seen = yield* Fiber.join(first)
      if (Exit.isFailure(exit)) assert.deepStrictEqual([seen, conversation], [undefined, undefined])
      assert.strictEqual((yield* store.requests.get("a")) === undefined, Exit.isFailure(exit))
    }
  })

  law("of those that read, think and write atomically, none loses what another wrote", function*(store) {
    const add = (word: string) =>
      store.atomically(Effect.gen(function*() {
        const found = yield* store.conversations.read("c")
        yield* Effect.yieldNow
        const messages = found?.messages ?? []
        const write = written({ keep: messages.length, append: [word] })
        const version = yield* store.conversations.write("c", found?.row.version, write)
        assert.isDefined(version)
      }))
    const words = Array.from({ length: 20 }, (_, index) => String(index))
    yield* Effect.forEach(words, add, { concurrency: "unbounded" })
    const found = yield* store.conversations.read("c")
    assert.deepStrictEqual(found?.messages.toSorted((left, right) => Number(left) - Number(right)), words)
  })

  law("whoever waits for another and is interrupted leaves nothing behind, and others go on", function*(store) {
    const begun = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    const inside = yield* Effect.forkChild(
      store.atomically(Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(goOn)))
    )
    yield* Deferred.await(begun)
    const waiters = yield* Effect.forEach(
      ["a", "b", "c"],
      (nonce) => Effect.forkChild(store.atomically(store.requests.open([shown(nonce)])), { startImmediately: true })
    )
    yield* Fiber.interrupt(waiters[1]!)
    yield* Deferred.succeed(goOn, undefined)
    yield* Effect.forEach([inside, waiters[0]!, waiters[2]!], Fiber.await)
    assert.deepStrictEqual(nonces((yield* store.requests.page({}, { limit: 10 })).requests), ["a", "c"])
  })
}

/** The store, which does something before each operation that changes anything. */
const countingDown = (store: Store.Store, first: Effect.Effect<void, unknown>): Store.Store => {
  const group = <Group extends object>(operations: Group): Group =>
    Object.fromEntries(
      Object.entries(operations).map(([name, run]) => [
        name,
        (...args: ReadonlyArray<unknown>) => Effect.andThen(first, run(...args))
      ])
    ) as Group
  return Store.make({
    ...store,
    conversations: group(store.conversations),
    requests: group(store.requests),
    remembered: group(store.remembered),
    owners: group(store.owners)
  })
}
