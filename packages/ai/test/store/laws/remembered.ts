import { assert } from "@effect/vitest"
import { TestClock } from "effect/testing"
import { answer, type Law, minute, plain, texts } from "./support.ts"

const call = { scope: "s", source: "local", toolName: "SendMail", exact: "x" }

export const remembered = (law: Law) => {
  law("an answer may have any number of uses, and is still to be read", function*(store) {
    yield* store.remembered.insert(answer("a", { uses: 2 ** 60 }))
    assert.isAbove((yield* store.remembered.take("a")) ?? 0, 1e9)
    assert.lengthOf(yield* store.remembered.list("s", { limit: 9 }), 1)
  })

  law("candidates are what speaks of more than a call, and what speaks of just this one, yes or no", function*(store) {
    const { candidates, insert } = store.remembered
    const rows = [
      answer("this", { exact: "x" }),
      answer("other", { exact: "y" }),
      answer("more"),
      answer("denies this", { denies: true, exact: "x" }),
      answer("denies other", { denies: true, exact: "y" }),
      answer("denies more", { denies: true }),
      answer("uses", { exact: "x", uses: 2 }),
      answer("scope", { exact: "x", scope: "S" }),
      answer("source", { exact: "x", source: "mcp" }),
      answer("tool", { exact: "x", toolName: "Sendmail" })
    ]
    for (const row of rows) assert.isTrue(yield* insert(row))
    const ids = (yield* candidates(call)).map(({ id }) => id).toSorted()
    assert.deepStrictEqual(ids, ["denies more", "denies this", "more", "this", "uses"])
    const found = (yield* candidates(call)).find(({ id }) => id === "uses")
    assert.deepStrictEqual(plain(found), rows[6])
    assert.deepStrictEqual(yield* candidates({ ...call, scope: "" }), [])
  })

  law("what has an id is remembered once, whatever became of it", function*(store) {
    const { candidates, insert, revoke, take } = store.remembered
    assert.isTrue(yield* insert(answer("a", { uses: 1 })))
    assert.isFalse(yield* insert(answer("a", { scope: "other" })))
    assert.isTrue(yield* insert(answer("b")))
    assert.isTrue(yield* insert(answer("c", { uses: 1 })))
    assert.strictEqual(yield* take("a"), 0)
    assert.isTrue(yield* revoke("s", "b"))
    for (const id of ["a", "b", "c"]) assert.isFalse(yield* insert(answer(id)))
    assert.deepStrictEqual((yield* candidates(call)).map(({ id }) => id), ["c"])
  })

  law("a use is taken as long as there is one; with the last one it is over", function*(store) {
    const { candidates, insert, list, take } = store.remembered
    yield* insert(answer("a", { uses: 2 }))
    yield* insert(answer("endless"))
    assert.isUndefined(yield* take("endless"))
    assert.isUndefined(yield* take("unknown"))
    assert.strictEqual(yield* take("a"), 1)
    assert.deepStrictEqual((yield* list("s", { limit: 10 })).map(({ id, uses }) => [id, uses]), [
      ["a", 1],
      ["endless", undefined]
    ])
    assert.strictEqual(yield* take("a"), 0)
    assert.isUndefined(yield* take("a"))
    assert.deepStrictEqual((yield* list("s", { limit: 10 })).map(({ id }) => id), ["endless"])
    assert.deepStrictEqual((yield* candidates(call)).map(({ id }) => id), ["endless"])
  })

  law("it is taken back in its scope alone, once and for ever", function*(store) {
    const { candidates, insert, list, revoke, take } = store.remembered
    yield* insert(answer("a", { uses: 5, exact: "x" }))
    assert.isFalse(yield* revoke("other", "a"))
    assert.isFalse(yield* revoke("s", "unknown"))
    assert.isTrue(yield* revoke("s", "a"))
    assert.isFalse(yield* revoke("s", "a"))
    assert.isUndefined(yield* take("a"))
    assert.deepStrictEqual(yield* candidates(call), [])
    assert.deepStrictEqual(yield* list("s", { limit: 10 }), [])
  })

  law("it expires", function*(store) {
    const { candidates, insert, list, revoke, take } = store.remembered
    yield* insert(answer("a", { uses: 5, expiresAt: minute }))
    yield* insert(answer("always"))
    yield* TestClock.adjust(minute - 1)
    assert.lengthOf(yield* candidates(call), 2)
    yield* TestClock.adjust(1)
    assert.deepStrictEqual((yield* candidates(call)).map(({ id }) => id), ["always"])
    assert.deepStrictEqual((yield* list("s", { limit: 10 })).map(({ id }) => id), ["always"])
    assert.isUndefined(yield* take("a"))
    assert.isFalse(yield* revoke("s", "a"))
    yield* TestClock.adjust("36500 days")
    assert.lengthOf(yield* candidates(call), 1)
  })

  law("a scope's are listed in pages, each once, while others come and go", function*(store) {
    const { insert, list, revoke } = store.remembered
    const id = (index: number) => `id${String(index).padStart(2, "0")}`
    for (let index = 0; index < 20; index++) yield* insert(answer(id(index * 2)))
    yield* insert(answer("elsewhere", { scope: "t" }))
    const first = yield* list("s", { limit: 7 })
    yield* revoke("s", first[6]!.id)
    yield* revoke("s", id(20))
    yield* insert(answer(id(1)))
    yield* insert(answer(id(15)))
    const second = yield* list("s", { after: first[6]!.id, limit: 7 })
    const third = yield* list("s", { after: second[6]!.id, limit: 7 })
    const numbers = [first, second, third].map((page) => page.map((row) => Number(row.id.slice(2))))
    assert.deepStrictEqual(numbers, [
      [0, 2, 4, 6, 8, 10, 12],
      [14, 15, 16, 18, 22, 24, 26],
      [28, 30, 32, 34, 36, 38]
    ])
  })

  law("scopes and tools are any text, and are not taken for each other", function*(store) {
    const { candidates, insert, list } = store.remembered
    for (const [index, text] of texts.entries()) {
      yield* insert(answer(String(index), { scope: text, source: text, toolName: text, exact: text }))
    }
    for (const [index, text] of texts.entries()) {
      const key = { scope: text, source: text, toolName: text, exact: text }
      assert.deepStrictEqual((yield* candidates(key)).map(({ id }) => id), [String(index)])
      assert.deepStrictEqual((yield* list(text, { limit: 10 })).map(({ id }) => id), [String(index)])
    }
  })
}

export const owners = (law: Law) => {
  law("of a process the last beat is known, whatever the clock of whoever looks says", function*(store) {
    const { beat, get } = store.owners
    assert.isUndefined(yield* get("o"))
    yield* beat({ id: "o", beat: 1, every: 5_000 })
    yield* beat({ id: "p", beat: 7, every: 7_000 })
    yield* beat({ id: "o", beat: 2, every: 6_000 })
    const last = [{ id: "o", beat: 2, every: 6_000 }, { id: "p", beat: 7, every: 7_000 }]
    assert.deepStrictEqual([plain(yield* get("o")), plain(yield* get("p"))], last)
    yield* TestClock.adjust("365 days")
    assert.deepStrictEqual([plain(yield* get("o")), plain(yield* get("p"))], last)
  })

  law(
    "a process that is silent for two days is forgotten by a sweep, and known again with its next beat",
    function*(store) {
      const { beat, get } = store.owners
      yield* beat({ id: "o", beat: 1, every: 1_000 })
      yield* TestClock.adjust("1 days")
      yield* store.sweep(10)
      assert.isDefined(yield* get("o"))
      yield* TestClock.adjust("1 days")
      assert.strictEqual(yield* store.sweep(10), 1)
      assert.isUndefined(yield* get("o"))
      yield* beat({ id: "o", beat: 2, every: 1_000 })
      assert.deepStrictEqual(plain(yield* get("o")), { id: "o", beat: 2, every: 1_000 })
    }
  )

  law("a sweep reclaims no more than it may, all that has expired, and nothing else", function*(store) {
    const count = 12
    const rows = Array.from({ length: count }, (_, index) => `n${index}`)
    for (const id of rows) {
      yield* store.remembered.insert(answer(id, { expiresAt: minute }))
      yield* store.remembered.insert(answer(`kept ${id}`))
      yield* store.conversations.write(id, undefined, { ...conversation, expiresAt: minute })
      yield* store.conversations.write(`kept ${id}`, undefined, conversation)
    }
    yield* store.owners.beat({ id: "o", beat: 1, every: 5_000 })
    assert.strictEqual(yield* store.sweep(100), 0)
    yield* TestClock.adjust(minute)
    let reclaimed = 0
    while (true) {
      const swept = yield* store.sweep(5)
      assert.isAtMost(swept, 5)
      reclaimed += swept
      if (swept === 0) break
    }
    assert.isAtLeast(reclaimed, 2 * count)
    assert.lengthOf(yield* store.remembered.list("s", { limit: 100 }), count)
    for (const id of rows) {
      assert.isUndefined(yield* store.conversations.get(id))
      assert.isDefined(yield* store.conversations.get(`kept ${id}`))
    }
    assert.isDefined(yield* store.owners.get("o"))
  })
}

const conversation = { name: "c", state: "{}", keep: 0, append: ["1"] }
