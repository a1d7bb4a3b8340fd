/**
 * What is remembered of an answer: nothing unless it says so, this very call unless it says more, for whom, for how
 * long, how often, and until it is taken back. Denials are stronger than approvals.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalMatcher, ApprovalMemory, Store } from "../src/index.ts"
import { denied, said } from "./remembering.ts"
import * as Remembering from "./remembering.ts"

type Options = Partial<Parameters<typeof ApprovalMemory.make>[0]>

const makeMemory = (options?: Options) =>
  Effect.flatMap(Store.makeMemory(), (store) => ApprovalMemory.make({ store, ...options }))

const scope: ApprovalMemory.MemoryScope = { conversation: "talk" }

const call = (path: string, more?: Partial<ApprovalMemory.MemoryCall>) => Remembering.call(path, scope, more)
const answered = (path: string, remember: ApprovalMemory.Remember, more?: Partial<ApprovalMemory.Answered>) =>
  Remembering.answered(call(path), remember, more)

const everyFile = { covers: ApprovalMatcher.tool.description }

describe("ApprovalMemory by default", () => {
  it.effect("nothing is remembered, whatever an answer says, and nobody need look", () =>
    Effect.gen(function*() {
      const memory = yield* ApprovalMemory.ApprovalMemory
      assert.isFalse(memory.remembers)
      assert.isUndefined(yield* memory.remember(answered("a", "session")))
      assert.isUndefined(yield* memory.find(call("a")))
      assert.deepStrictEqual(yield* memory.list(scope), [])
      assert.isFalse(yield* memory.revoke(scope, "answer-1"))
    }))

  it.effect("nothing is remembered of an answer that says \"none\"", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      assert.isUndefined(yield* memory.remember(answered("a", "none")))
      assert.isUndefined(yield* said(memory, call("a")))
    }))
})

describe("ApprovalMemory: what is covered", () => {
  it.effect("\"session\" is this very call; the order of its parameters means nothing", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      yield* memory.remember(answered("a", "session", { params: { path: "a", mode: 1 } }))
      assert.strictEqual(yield* said(memory, call("a", { params: { mode: 1, path: "a" } })), "approved")
      for (const params of [{ path: "a" }, { path: "a", mode: 2 }, { path: "a", mode: 1, force: true }, {}, null]) {
        assert.isUndefined(yield* said(memory, call("a", { params })), JSON.stringify(params))
      }
    }))

  it.effect("an approval of no parameters is one of no parameters, and not of any", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      for (const remember of ["session", {}] as const) {
        yield* memory.remember(answered("", remember, { params: {} }))
        assert.strictEqual(yield* said(memory, call("", { params: {} })), "approved")
        assert.isUndefined(yield* said(memory, call("a")))
        assert.isUndefined(yield* said(memory, call("", { params: null })))
      }
    }))

  it.effect("more where the answer says so: the whole tool, paths, a key", () =>
    Effect.gen(function*() {
      const path = ApprovalMatcher.path(["src/**"], { param: "path" })
      const key = ApprovalMatcher.key((params) => params.path, { name: "file" })({ path: "src/a", content: "one" })
      const cases: ReadonlyArray<readonly [ApprovalMatcher.Description, yes: string, no: string | undefined]> = [
        [ApprovalMatcher.tool.description, "anything", undefined],
        [path.description, "src/b", "src/../b"],
        [key.description, "src/a", "src/b"]
      ]
      for (const [covers, yes, no] of cases) {
        const memory = yield* makeMemory()
        const params = { path: "src/a", content: "one" }
        const remembered = yield* memory.remember(answered("", { covers }, { params }))
        assert.deepStrictEqual(remembered?.covers, covers)
        assert.strictEqual(yield* said(memory, call("", { params: { path: yes, content: "two" } })), "approved")
        if (no !== undefined) {
          assert.isUndefined(yield* said(memory, call("", { params: { path: no, content: "one" } })))
        }
        // Whatever it covers, it is one tool's.
        assert.isUndefined(yield* said(memory, call("", { params, toolName: "DeleteFile" })))
        assert.isUndefined(yield* said(memory, call("", { params, source: "mcp.files" })))
      }
    }).pipe(Effect.provide(ApprovalMatcher.layer({ keys: { file: (params) => params.path } }))))

  it.effect("a key whose function the program no longer has covers nothing", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      const keys = ApprovalMatcher.layer({ keys: { file: (params) => params.path } })
      const { description } = ApprovalMatcher.key((params) => params.path, { name: "file" })({ path: "a" })
      yield* Effect.provide(memory.remember(answered("a", { covers: description })), keys)
      assert.strictEqual(yield* Effect.provide(said(memory, call("a")), keys), "approved")
      assert.isUndefined(yield* said(memory, call("a")))
    }))

  it.effect("what does not cover the call that was answered is not remembered at all", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      const elsewhere = ApprovalMatcher.path(["src/**"], { param: "path" }).description
      for (const decision of ["approved", "denied"] as const) {
        assert.isUndefined(yield* memory.remember(answered("etc/passwd", { covers: elsewhere }, { decision })))
      }
      assert.deepStrictEqual(yield* memory.list(scope), [])
    }))

  it.effect("a tool whose parameters changed is asked again", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      yield* memory.remember(answered("a", everyFile))
      assert.isUndefined(yield* said(memory, call("a", { version: "v2" })))
      assert.strictEqual(yield* said(memory, call("a")), "approved")
    }))
})

describe("ApprovalMemory: denials", () => {
  for (const order of ["before", "after"] as const) {
    it.effect(`a denial given ${order} a wider approval wins, and keeps its note`, () =>
      Effect.gen(function*() {
        const memory = yield* makeMemory()
        const no = answered("a", "session", { ...denied, note: "a is kept" })
        const yes = answered("a", everyFile)
        for (const one of order === "before" ? [no, yes] : [yes, no]) yield* memory.remember(one)
        assert.strictEqual(yield* said(memory, call("b")), "approved")
        const found = yield* memory.find(call("a"))
        assert.deepStrictEqual([found?.decision, found?.note], ["denied", "a is kept"])
      }))
  }

  it.effect("a denial has no uses, and takes none of an approval's", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      yield* memory.remember(answered("a", { ...everyFile, uses: 1 }))
      yield* memory.remember(answered("a", { uses: 1 }, denied))
      for (let i = 0; i < 3; i++) assert.strictEqual((yield* memory.find(call("a")))?.decision, "denied")
      assert.strictEqual((yield* memory.find(call("b")))?.decision, "approved")
      assert.isUndefined(yield* memory.find(call("b")))
    }))
})

describe("ApprovalMemory: for how long, and how often", () => {
  it.effect("an answer says how long it is remembered, or the memory does", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ timeToLive: "1 hour" })
      yield* memory.remember(answered("a", { expiresIn: 1000 }))
      yield* memory.remember(answered("b", "session"))
      yield* memory.remember(answered("c", "session", denied))
      yield* TestClock.adjust(999)
      assert.strictEqual(yield* said(memory, call("a")), "approved")
      yield* TestClock.adjust(1)
      assert.isUndefined(yield* said(memory, call("a")))
      yield* TestClock.adjust("59 minutes")
      assert.deepStrictEqual([yield* said(memory, call("b")), yield* said(memory, call("c"))], ["approved", "denied"])
      yield* TestClock.adjust("1 minute")
      assert.deepStrictEqual([yield* said(memory, call("b")), yield* said(memory, call("c"))], [undefined, undefined])
      assert.deepStrictEqual(yield* memory.list(scope), [])
    }))

  it.effect("uses are counted down to the last, and looking takes none", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      yield* memory.remember(answered("a", { uses: 2 }))
      assert.deepStrictEqual((yield* memory.find(call("a"), { peek: true }))?.uses, 2)
      assert.strictEqual((yield* memory.find(call("a")))?.uses, 1)
      assert.strictEqual((yield* memory.find(call("a")))?.uses, 0)
      assert.isUndefined(yield* memory.find(call("a")))
      assert.isUndefined(yield* memory.find(call("a"), { peek: true }))
    }))

  it.effect("of many who want the last use at once, exactly one gets it", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      yield* memory.remember(answered("a", { ...everyFile, uses: 3 }))
      const found = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => call(`f${index}`)),
        (one) => memory.find(one),
        { concurrency: "unbounded" }
      )
      assert.lengthOf(found.filter((one) => one !== undefined), 3)
      assert.deepStrictEqual(
        found.flatMap((one) => one?.uses ?? []).toSorted(),
        [0, 1, 2]
      )
    }))

  it.effect("a use is taken from what covers the call, and from one approval only", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      yield* memory.remember(answered("a", { uses: 1 }))
      yield* memory.remember(answered("b", { uses: 1 }))
      yield* memory.remember(answered("c", { ...everyFile, uses: 1 }))
      assert.isDefined(yield* memory.find(call("b")))
      assert.isDefined(yield* memory.find(call("b")))
      assert.isUndefined(yield* memory.find(call("b")))
      assert.isDefined(yield* memory.find(call("a")))
      assert.isUndefined(yield* memory.find(call("a")))
    }))

  it.effect("a use is taken only where nothing without uses covers the call", () =>
    Effect.gen(function*() {
      for (let i = 0; i < 10; i++) {
        const memory = yield* makeMemory()
        yield* memory.remember(answered("a", { ...everyFile, uses: 1 }))
        yield* memory.remember(answered("a", "session"))
        for (let j = 0; j < 3; j++) assert.isDefined(yield* memory.find(call("a")))
        assert.isDefined(yield* memory.find(call("b")))
        assert.isUndefined(yield* memory.find(call("b")))
      }
    }))
})

describe("ApprovalMemory: what is remembered, to look at and to take back", () => {
  it.effect("it says of what it is, when it was given, and to which question", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory({ timeToLive: "1 day" })
      yield* TestClock.setTime(5000)
      const remembered = yield* memory.remember(answered("a", { uses: 3 }, {
        id: "one",
        approvalId: "apr-1",
        toolCallId: "call-1",
        note: "for today"
      }))
      assert.deepStrictEqual({ ...remembered! }, {
        id: "one",
        source: "local",
        toolName: "WriteFile",
        version: "v1",
        decision: "approved",
        covers: ApprovalMatcher.exact({ path: "a" }).description,
        note: "for today",
        scope,
        approvalId: "apr-1",
        toolCallId: "call-1",
        rememberedAt: 5000,
        expiresAt: 5000 + 24 * 60 * 60 * 1000,
        uses: 3
      })
      assert.deepStrictEqual(yield* memory.list(scope), [remembered!])
    }))

  it.effect("what is said with one id is remembered once, however often it is said", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      const one = answered("a", { uses: 1 }, { id: "same" })
      assert.isDefined(yield* memory.remember(one))
      assert.isUndefined(yield* memory.remember(one))
      assert.isUndefined(yield* memory.remember({ ...one, remember: everyFile }))
      assert.lengthOf(yield* memory.list(scope), 1)
      yield* memory.find(call("a"))
      // Nor does it come back when it is used up.
      assert.isUndefined(yield* memory.remember(one))
      assert.isUndefined(yield* memory.find(call("a")))
    }))

  it.effect("what was taken back is gone for good, and only in its own scope can it be taken back", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      const one = answered("a", "session", { id: "one" })
      yield* memory.remember(one)
      assert.isFalse(yield* memory.revoke({ conversation: "another" }, "one"))
      assert.isFalse(yield* memory.revoke(scope, "no such"))
      assert.isTrue(yield* memory.revoke(scope, "one"))
      assert.isFalse(yield* memory.revoke(scope, "one"))
      assert.isUndefined(yield* said(memory, call("a")))
      assert.deepStrictEqual(yield* memory.list(scope), [])
      assert.isUndefined(yield* memory.remember(one))
      assert.isUndefined(yield* said(memory, call("a")))
      // Another answer is another matter.
      yield* memory.remember(answered("a", "session"))
      assert.strictEqual(yield* said(memory, call("a")), "approved")
    }))

  it.effect("a denial that is taken back leaves the approval it stood before", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      yield* memory.remember(answered("a", everyFile))
      yield* memory.remember(answered("a", "session", { ...denied, id: "no" }))
      assert.isTrue(yield* memory.revoke(scope, "no"))
      assert.strictEqual(yield* said(memory, call("a")), "approved")
    }))

  it.effect("all of many are found, listed and taken back", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      const paths = Array.from({ length: 250 }, (_, index) => `f${index}`)
      yield* Effect.forEach(paths, (path) => memory.remember(answered(path, "session", { id: path })))
      assert.deepStrictEqual((yield* memory.list(scope)).map(({ id }) => id).toSorted(), paths.toSorted())
      for (const path of ["f0", "f99", "f100", "f249"]) {
        assert.strictEqual(yield* said(memory, call(path)), "approved")
        assert.isTrue(yield* memory.revoke(scope, path))
        assert.isUndefined(yield* said(memory, call(path)))
      }
    }))
})

describe("ApprovalMemory: whose it is", () => {
  it.effect("no two tenants, principals, conversations or calls share anything, however they are named", () =>
    Effect.gen(function*() {
      const memory = yield* makeMemory()
      const scopes: ReadonlyArray<ApprovalMemory.MemoryScope> = [
        {},
        { tenant: "x" },
        { principal: "x" },
        { conversation: "x" },
        { call: "x" },
        { tenant: "x", principal: "x" },
        { tenant: "x", conversation: "x" },
        { tenant: "x", principal: "x", conversation: "x" },
        { tenant: "x/x" },
        { conversation: "null" },
        { conversation: "" },
        { conversation: "x\u0000x" },
        { tenant: "\"x\",\"x\"" }
      ]
      for (const [index, own] of scopes.entries()) {
        yield* memory.remember(answered("a", everyFile, { scope: own, id: `of ${index}` }))
        for (const [other, another] of scopes.entries()) {
          const expected = other <= index ? "approved" : undefined
          assert.strictEqual(yield* said(memory, call("a", { scope: another })), expected, JSON.stringify(another))
        }
        assert.deepStrictEqual((yield* memory.list(own)).map(({ id }) => id), [`of ${index}`])
      }
    }))
})
