/** A memory of a project beside a session's: who shares what, which of the two has the last word, and what taking back takes. */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Layer, Scope } from "effect"
import { TestClock } from "effect/testing"
import { ApprovalMatcher, ApprovalMemory, Store } from "../src/index.ts"
import { denied, said } from "./remembering.ts"
import * as Remembering from "./remembering.ts"

const monday: ApprovalMemory.MemoryScope = { principal: "ada", conversation: "monday" }
const tuesday: ApprovalMemory.MemoryScope = { principal: "ada", conversation: "tuesday" }

const call = (path: string, scope = monday): ApprovalMemory.MemoryCall => Remembering.call(path, scope)
const answered = (path: string, remember: ApprovalMemory.Remember, more?: Partial<ApprovalMemory.Answered>) =>
  Remembering.answered(call(path), remember, more)

/** The memory of a program that begins with this store, until it ends. */
const begin = Effect.fnUntraced(
  function*(store: Store.Store, options?: Parameters<typeof ApprovalMemory.layerProject>[0]) {
    const layer = Layer.provide(
      ApprovalMemory.layerProject({ project: "/site", ...options }),
      Layer.succeed(Store.Store, store)
    )
    const context = yield* Layer.buildWithScope(layer, yield* Effect.scope)
    return Context.get(context, ApprovalMemory.ApprovalMemory)
  }
)

const makeProject = Effect.flatMap(Store.makeMemory(), (store) => begin(store))

describe("ApprovalMemory: a project", () => {
  it.effect("what is said for it holds in every conversation, and after a restart; what is said for the session in neither", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      const memory = yield* begin(store)
      assert.strictEqual(memory.project, "/site")
      yield* memory.remember(answered("a", "project"))
      yield* memory.remember(answered("b", "session"))
      yield* memory.remember(answered("src/c", {
        for: "project",
        covers: ApprovalMatcher.path(["src/**"], { param: "path" }).description
      }))
      const known = (memory: ApprovalMemory.Service, scope: ApprovalMemory.MemoryScope) =>
        Effect.forEach(["a", "b", "src/d"], (path) => said(memory, call(path, scope)))
      const yes = "approved" as const
      assert.deepStrictEqual(yield* known(memory, monday), [yes, yes, yes])
      assert.deepStrictEqual(yield* known(memory, tuesday), [yes, undefined, yes])
      // Where no conversation is named too.
      assert.deepStrictEqual(yield* known(memory, { principal: "ada", call: "1" }), [yes, undefined, yes])
      const later = yield* begin(store)
      assert.deepStrictEqual(yield* known(later, monday), [yes, undefined, yes])
      yield* TestClock.adjust("30 days")
      assert.deepStrictEqual(yield* known(later, monday), [undefined, undefined, undefined])
    }))

  it.effect("no other project, tenant or person shares it", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      const memory = yield* begin(store)
      yield* memory.remember(answered("a", "project"))
      for (const scope of [{}, { principal: "bob" }, { principal: "ada", tenant: "t" }, { conversation: "monday" }]) {
        assert.isUndefined(yield* said(memory, call("a", scope)))
      }
      assert.isUndefined(yield* said(yield* begin(store, { project: "/other" }), call("a")))
      // Nor a conversation of that name.
      const conversations = yield* ApprovalMemory.make({ store })
      assert.isUndefined(yield* said(conversations, call("a", { principal: "ada", conversation: "/site" })))
    }))

  it.effect("a denial has the last word, in whichever of the two it stands", () =>
    Effect.gen(function*() {
      for (const [yes, no] of [["session", "project"], ["project", "session"]] as const) {
        const memory = yield* makeProject
        yield* memory.remember(answered("a", yes))
        yield* memory.remember(answered("a", no, { ...denied, id: "no", note: "not this one" }))
        const found = yield* memory.find(call("a"))
        assert.deepStrictEqual([found?.decision, found?.note], ["denied", "not this one"])
        assert.isTrue(yield* memory.revoke(monday, "no"))
        assert.strictEqual(yield* said(memory, call("a")), "approved")
      }
    }))

  it.effect("a denial that surely covers the call comes before one that may, whichever it stands in", () =>
    Effect.gen(function*() {
      const folder = ApprovalMatcher.path(["src/**"], { param: "path" }).description
      for (const [sure, unsure] of [["session", "project"], ["project", "session"]] as const) {
        const memory = yield* makeProject
        yield* memory.remember(answered("src/a", { for: unsure, covers: folder }, denied))
        assert.strictEqual(yield* said(memory, call("src/../src/b")), "denied")
        // An approval of just this call does not make it sure.
        yield* memory.remember(answered("src/../src/b", sure, { id: "yes" }))
        assert.strictEqual(yield* said(memory, call("src/../src/b")), "denied")
        yield* memory.remember(answered("src/../src/b", sure, { ...denied, id: "sure" }))
        assert.strictEqual((yield* memory.find(call("src/../src/b")))?.id, "sure")
      }
    }))

  it.effect("a use is taken once, and only where nothing without uses says the same", () =>
    Effect.gen(function*() {
      const memory = yield* makeProject
      yield* memory.remember(answered("a", { uses: 1 }))
      yield* memory.remember(answered("a", { for: "project", uses: 2 }))
      assert.strictEqual((yield* memory.find(call("a"), { peek: true }))?.uses, 1)
      assert.deepStrictEqual(
        [(yield* memory.find(call("a")))?.uses, (yield* memory.find(call("a")))?.uses, yield* said(memory, call("a"))],
        [0, 1, "approved"]
      )
      yield* memory.remember(answered("a", "session"))
      assert.isUndefined((yield* memory.find(call("a")))?.uses)
      assert.strictEqual((yield* memory.find(call("a", tuesday)))?.uses, 0)
      assert.isUndefined(yield* memory.find(call("a", tuesday)))
      yield* memory.remember(answered("b", { uses: 3 }))
      yield* memory.remember(answered("b", "project"))
      assert.isUndefined((yield* memory.find(call("b")))?.uses)
      const uses = (yield* memory.list(monday)).map(({ uses }) => uses)
      assert.deepStrictEqual(uses.toSorted(), [3, undefined, undefined])
    }))

  it.effect("it is listed and taken back in any conversation, and what is of one conversation in that one", () =>
    Effect.gen(function*() {
      const memory = yield* makeProject
      yield* memory.remember(answered("a", "project", { id: "shared" }))
      yield* memory.remember(answered("b", "session", { id: "own" }))
      const listed = (scope: ApprovalMemory.MemoryScope) =>
        Effect.map(memory.list(scope), (all) => all.map(({ id }) => id).toSorted())
      assert.deepStrictEqual([yield* listed(monday), yield* listed(tuesday)], [["own", "shared"], ["shared"]])
      const shared = (yield* memory.list(tuesday))[0]!
      assert.deepStrictEqual({ ...shared.scope }, { principal: "ada", project: "/site" })
      assert.isFalse(yield* memory.revoke(tuesday, "own"))
      assert.isFalse(yield* memory.revoke({ principal: "bob" }, "shared"))
      // By the scope it says it is of, as well.
      assert.isTrue(yield* memory.revoke(shared.scope, "shared"))
      assert.isFalse(yield* memory.revoke(tuesday, "shared"))
      assert.isUndefined(yield* said(memory, call("a")))
      assert.isUndefined(yield* memory.remember(answered("a", "project", { id: "shared" })))
    }))

  it.effect("a program that gives it a memory keeps what is of a conversation there", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      const own = yield* ApprovalMemory.make({ store })
      yield* Effect.gen(function*() {
        const memory = yield* ApprovalMemory.ApprovalMemory
        yield* memory.remember(answered("a", "session"))
        yield* memory.remember(answered("b", "project"))
      }).pipe(
        Effect.provide(Layer.provide(ApprovalMemory.layerProject({ project: "/site" }), [
          Layer.succeed(ApprovalMemory.ApprovalMemory, own),
          Store.layerMemory
        ]))
      )
      assert.deepStrictEqual([yield* said(own, call("a")), yield* said(own, call("b"))], ["approved", undefined])
    }))

  it.effect("without a project it is said for the session", () =>
    Effect.gen(function*() {
      const memory = yield* ApprovalMemory.make({ store: yield* Store.makeMemory() })
      yield* memory.remember(answered("a", "project"))
      yield* memory.remember(answered("b", { for: "project" }))
      for (const path of ["a", "b"]) {
        assert.deepStrictEqual(
          [yield* said(memory, call(path)), yield* said(memory, call(path, tuesday))],
          ["approved", undefined]
        )
      }
    }))

  it.effect("its own session ends with the layer, and the project does not", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      const scope = yield* Scope.make()
      const memory = yield* Scope.provide(begin(store), scope)
      yield* memory.remember(answered("a", "session"))
      yield* memory.remember(answered("b", "project"))
      yield* Scope.close(scope, yield* Effect.exit(Effect.void))
      const later = yield* begin(store)
      assert.deepStrictEqual([yield* said(memory, call("a")), yield* said(later, call("b"))], [undefined, "approved"])
    }))
})

describe("ApprovalMemory: by key", () => {
  it.effect("of 2,000 answers, only those are looked at that speak of the call or of more than one", () =>
    Effect.gen(function*() {
      const store = yield* Store.makeMemory()
      let looked = 0
      const candidates: Store.RememberedAnswers["candidates"] = (call) =>
        Effect.tap(store.remembered.candidates(call), (rows) =>
          Effect.sync(() => {
            looked += rows.length
          }))
      const memory = yield* ApprovalMemory.make({
        store: Store.make({ ...store, remembered: { ...store.remembered, candidates } })
      })
      for (let index = 0; index < 1_000; index++) {
        yield* memory.remember(answered(`yes${index}`, "session"))
        yield* memory.remember(answered(`no${index}`, "session", denied))
      }
      yield* memory.remember(answered("src/a", {
        covers: ApprovalMatcher.path(["src/**"], { param: "path" }).description
      }))
      const cases = [["yes7", "approved"], ["no7", "denied"], ["src/b", "approved"], ["new", undefined]] as const
      for (const [path, decision] of cases) assert.strictEqual(yield* said(memory, call(path)), decision)
      assert.strictEqual(looked, 6)
      // A denial of just this call stands whatever became of the tool's parameters, and leaves it to a person.
      assert.strictEqual(yield* said(memory, { ...call("no7"), version: "v2" }), "denied")
      assert.isUndefined(yield* said(memory, { ...call("yes7"), version: "v2" }))
    }))

  it.effect("of parameters that have no canonical form any denial may speak", () =>
    Effect.gen(function*() {
      const memory = yield* ApprovalMemory.make({ store: yield* Store.makeMemory() })
      const strange = { ...call(""), params: { path: "\ud800" } }
      yield* memory.remember(answered("a", "session"))
      assert.isUndefined(yield* said(memory, strange))
      yield* memory.remember(answered("a", "session", denied))
      assert.strictEqual(yield* said(memory, strange), "denied")
      assert.isUndefined(yield* said(memory, { ...strange, toolName: "DeleteFile" }))
    }))
})
