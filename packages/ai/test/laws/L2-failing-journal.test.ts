/**
 * L2 At most once: a journal that is full, fails, or is not named refuses to claim: nothing runs and nothing is lost.
 */
import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Fiber, Layer, Result } from "effect"
import { Approval, ApprovalError, ApprovalJournal, ApprovalSeal, LanguageModel, Store } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failure } from "../store/intercept.ts"
import * as Support from "./support.ts"

const ask = (mode: Support.Mode, tools: Support.Tools, ...ids: ReadonlyArray<string>) =>
  Support.ask(mode, {
    toolkit: tools.toolkit,
    calls: ids.map((id) => Support.call(id, "DeleteFile", { path: id }))
  })

const paths = (tools: Support.Tools) => tools.runs.map((run) => (run.params as { path: string }).path).toSorted()

type Broken = "get" | "claim" | "record"

/** A request of somebody else's, that takes room for as long as it runs. */
const elsewhere: ApprovalJournal.Claim = {
  approvalId: "elsewhere",
  nonce: "elsewhere",
  expiresAt: 3_600_000,
  toolName: "DeleteFile",
  toolCallId: "elsewhere"
}

/** A store that fails on demand, over one in memory: what is read, the first step of a request, or one that follows. */
const makeFlaky = Effect.gen(function*() {
  const broken = new Set<Broken>()
  const store = yield* Store.makeMemory()
  const flaky: Store.Store = {
    ...store,
    requests: {
      ...store.requests,
      get: (nonce) => broken.has("get") ? Effect.fail(failure("requests.get")) : store.requests.get(nonce),
      decide: (name, version, decided) =>
        broken.has(version === 0 ? "claim" : "record")
          ? Effect.fail(failure("requests.decide"))
          : store.requests.decide(name, version, decided)
    }
  }
  return { broken, store: flaky }
})

describe("L2 a full journal", () => {
  Support.forEachMode(
    "L2 a full journal refuses to claim with a typed error, and loses nothing",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* ask(mode, tools, "c1", "c2")
        const [one, two] = [asked.requests[0]!, asked.requests[1]!]
        const script = yield* Support.answering
        const turn = (...list: ReadonlyArray<Approval.ApprovalAnswer>) =>
          Support.reply(mode, { asked, model: script.model, tools }, Support.answers(...list))
        assert.strictEqual((yield* turn(Approval.approve(one))).results.length, 1)
        const journal = yield* ApprovalJournal.ApprovalJournal
        yield* Effect.forkChild(journal.run(elsewhere, { effect: Effect.never, idempotent: false }), {
          startImmediately: true
        })
        const reason = yield* Support.reasonOf(turn(Approval.approve(one), Approval.approve(two)))
        assert.strictEqual(reason._tag, "JournalUnavailable")
        assert.deepStrictEqual(paths(tools), ["c1"])
        assert.strictEqual(yield* script.calls, 0)
        // What ran is still known.
        const again = yield* turn(Approval.approve(one))
        assert.deepStrictEqual(again.results.map((result) => result.result), [{ deleted: true }])
        assert.deepStrictEqual(again.requests.map((request) => request.toolCallId), ["c2"])
        assert.deepStrictEqual(paths(tools), ["c1"])
      }).pipe(Effect.provide(ApprovalJournal.layerMemory({ capacity: 1, grace: 0 })))
  )

  Support.forEachMode(
    "L2 a batch larger than the journal's room: what is refused did not run",
    (mode) =>
      Effect.gen(function*() {
        const hold = yield* Support.makeHold
        const tools = yield* Support.makeTools([Support.DeleteFile], {
          DeleteFile: () => Effect.as(hold.wait, { deleted: true })
        })
        const asked = yield* ask(mode, tools, "c1", "c2", "c3")
        const { model } = yield* Support.answering
        const turn = Support.approve(mode, { asked, model, tools })
        const refused = yield* Effect.forkChild(Support.reasonOf(turn))
        yield* hold.entered
        yield* Support.idle
        yield* hold.release
        assert.strictEqual((yield* Fiber.join(refused))._tag, "JournalUnavailable")
        assert.strictEqual(tools.runs.length, 2)
        assert.strictEqual(new Set(paths(tools)).size, 2)
        // Those that have ended take no room: now there is some for the third.
        for (let i = 0; i < 2; i++) assert.strictEqual((yield* turn).results.length, 3)
        assert.deepStrictEqual(paths(tools), ["c1", "c2", "c3"])
      }).pipe(Effect.provide(ApprovalJournal.layerMemory({ capacity: 2, grace: 0 })))
  )

  Support.forEachMode(
    "L2 only bodies of results are given up for room, never that a call ran",
    (mode) =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* ask(mode, tools, "c1", "c2")
        const script = yield* Support.answering
        const turn = Support.approve(mode, { asked, model: script.model, tools })
        const first = yield* turn
        assert.deepStrictEqual(first.results.map((result) => result.isFailure), [false, false])
        for (let i = 0; i < 2; i++) {
          const again = yield* turn
          assert.deepStrictEqual([again.requests.length, again.results.length, again.text], [0, 2, "done"])
          for (const result of again.results) Support.failureReason(result)
        }
        assert.deepStrictEqual(paths(tools), ["c1", "c2"])
      }).pipe(Effect.provide(ApprovalJournal.layerMemory({ maxResultBytes: 1, grace: 0 })))
  )
})

describe("L2 a journal that fails", () => {
  for (const methods of [["claim"], ["get"], ["get", "claim"]] as const) {
    Support.forEachMode(
      `L2 a journal whose ${methods.join(" and ")} fails: typed error, not run, answers good`,
      function*(mode) {
        const flaky = yield* makeFlaky
        const journal = yield* ApprovalJournal.make({ store: flaky.store, grace: 0 })
        const tools = yield* Support.makeTools()
        yield* Effect.gen(function*() {
          const asked = yield* ask(mode, tools, "c1", "c2")
          const script = yield* Support.answering
          const turn = Support.reply(
            mode,
            { asked, model: script.model, tools },
            Support.answers(Approval.approve(asked.requests[0]!), Approval.deny(asked.requests[1]!, "no"))
          )
          for (const method of methods) flaky.broken.add(method)
          for (let i = 0; i < 2; i++) {
            const reason = yield* Support.reasonOf(turn)
            assert.strictEqual(reason._tag, "JournalUnavailable")
            assert.deepStrictEqual([tools.runs, yield* script.calls], [[], 0])
          }
          flaky.broken.clear()
          const settled = yield* turn
          assert.deepStrictEqual(
            settled.results.map((result) => [result.id, result.isFailure]).toSorted(),
            [["c1", false], ["c2", true]]
          )
          assert.deepStrictEqual(paths(tools), ["c1"])
        }).pipe(Effect.provideService(ApprovalJournal.ApprovalJournal, journal))
      }
    )
  }

  Support.forEachMode("L2 a run that cannot be put on record counts as run: never again", function*(mode) {
    const flaky = yield* makeFlaky
    const journal = yield* ApprovalJournal.make({ store: flaky.store, grace: 0 })
    const tools = yield* Support.makeTools()
    yield* Effect.gen(function*() {
      const asked = yield* ask(mode, tools, "c1")
      const { model } = yield* Support.answering
      const turn = Support.approve(mode, { asked, model, tools })
      flaky.broken.add("record")
      const first = yield* Effect.forkChild(turn)
      yield* Support.advance(first, "1 minute")
      assert.deepStrictEqual(paths(tools), ["c1"])
      flaky.broken.clear()
      assert.isTrue(yield* Support.advance(first, "1 minute"))
      for (let i = 0; i < 2; i++) {
        const again = yield* Effect.forkChild(turn)
        assert.isTrue(yield* Support.advance(again, "1 minute"))
        assert.deepStrictEqual(paths(tools), ["c1"])
      }
    }).pipe(Effect.provideService(ApprovalJournal.ApprovalJournal, journal))
  })

  Support.forEachMode(
    "L2 L14 a result that a store has no room for is told of as one of a call that ran",
    function*(mode) {
      const store = yield* Store.makeMemory()
      const tight: Store.Store = {
        ...store,
        requests: {
          ...store.requests,
          decide: (name, version, decided) =>
            decided.result !== undefined
              ? Effect.fail(
                new Store.StoreError({ operation: "requests.decide", description: "No room.", reason: "Full" })
              )
              : store.requests.decide(name, version, decided)
        }
      }
      const journal = yield* ApprovalJournal.make({ store: tight, grace: 0 })
      const tools = yield* Support.makeTools()
      yield* Effect.gen(function*() {
        const asked = yield* ask(mode, tools, "c1")
        const { model } = yield* Support.answering
        const turn = Support.approve(mode, { asked, model, tools })
        assert.deepStrictEqual((yield* turn).results.map(({ result }) => result), [{ deleted: true }])
        const again = yield* turn
        assert.match(Support.failureReason(again.results[0]), /^This call ran before; its result is no longer kept/)
        assert.deepStrictEqual(paths(tools), ["c1"])
      }).pipe(Effect.provideService(ApprovalJournal.ApprovalJournal, journal))
    },
    ["generateText", "streamText"]
  )

  Support.forEachMode("L2 a journal that fails is handled with ApprovalError.catchReason", function*(mode) {
    const flaky = yield* makeFlaky
    const journal = yield* ApprovalJournal.make({ store: flaky.store, grace: 0 })
    const tools = yield* Support.makeTools()
    const caught = yield* Effect.gen(function*() {
      const asked = yield* ask(mode, tools, "c1")
      flaky.broken.add("claim")
      const { model } = yield* Support.answering
      return yield* Support.approve(mode, { asked, model, tools })
        .pipe(ApprovalError.catchReason("JournalUnavailable", (reason) => Effect.succeed(reason._tag)))
    }).pipe(Effect.provideService(ApprovalJournal.ApprovalJournal, journal))
    assert.strictEqual(caught, "JournalUnavailable")
  })
})

describe("L2 a configured key demands a named journal", () => {
  const configured: ReadonlyArray<readonly [string, Layer.Layer<never, ApprovalError.ApprovalError>]> = [
    ["ApprovalSeal.layer", ApprovalSeal.layer({ key: Support.key })],
    [
      "ASSENT_APPROVAL_KEY",
      Layer.succeed(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({ ASSENT_APPROVAL_KEY: Support.key }))
    ]
  ]
  for (const mode of Support.modes) {
    for (const [how, layer] of configured) {
      it.effect(`L2 a key from ${how} without a named journal is JournalRequired, and nothing runs [${mode}]`, () =>
        Effect.gen(function*() {
          const tools = yield* Support.makeTools()
          const reason = yield* Support.reasonOf(ask(mode, tools, "c1"))
          assert.strictEqual(reason._tag, "JournalRequired")
          assert.include(reason.message, "ApprovalJournal")
          assert.deepStrictEqual(tools.runs, [])
        }).pipe(Effect.provide(layer)))

      it.effect(`L2 L8 a key from ${how} without a named journal: a tool that needs nobody runs [${mode}]`, () =>
        Effect.gen(function*() {
          const tools = yield* Support.makeTools([Support.ReadFile])
          yield* Support.ask(mode, {
            toolkit: tools.toolkit,
            calls: [Support.call("r1", "ReadFile", { path: "a" }), ScriptedModel.text(`{"count":2}`)]
          })
          assert.strictEqual(tools.count("ReadFile"), 1)
        }).pipe(Effect.provide(layer)))

      it.effect(`L2 a key from ${how}, asked with a journal and answered without: JournalRequired [${mode}]`, () =>
        Effect.gen(function*() {
          const tools = yield* Support.makeTools()
          const asked = yield* ask(mode, tools, "c1").pipe(Effect.provide(ApprovalJournal.layerMemory({ grace: 0 })))
          const { model } = yield* Support.answering
          const turn = Support.approve(mode, { asked, model, tools })
          assert.strictEqual((yield* Support.reasonOf(turn))._tag, "JournalRequired")
          assert.deepStrictEqual(tools.runs, [])
          // The answer is still good.
          yield* Effect.provide(turn, ApprovalJournal.layerMemory({ grace: 0 }))
          assert.deepStrictEqual(paths(tools), ["c1"])
        }).pipe(Effect.provide(layer)))
    }

    it.effect(`L2 without a key and without a journal, the defaults serve: once [${mode}]`, () =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const asked = yield* ask(mode, tools, "c1")
        const { model } = yield* Support.answering
        const turn = Support.approve(mode, { asked, model, tools })
        for (let i = 0; i < 2; i++) assert.deepStrictEqual((yield* turn).results.map((one) => one.isFailure), [false])
        assert.deepStrictEqual(paths(tools), ["c1"])
      }).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown({}))))

    it.effect(`L2 seal and journal given to the model's layer are kept for its calls [${mode}]`, () =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const script = yield* ScriptedModel.make({
          turns: [[Support.call("c1", "DeleteFile", { path: "c1" })], "done"]
        })
        const layer = Layer.succeed(LanguageModel.LanguageModel, script.model).pipe(
          LanguageModel.approval(),
          Layer.provide(
            Layer.merge(ApprovalJournal.layerMemory({ grace: 0 }), ApprovalSeal.layer({ key: Support.key }))
          )
        )
        const model = Context.get(yield* Layer.build(layer), LanguageModel.LanguageModel)
        const asked = yield* Support.takeTurn(mode, { model, toolkit: tools.toolkit, prompt: "Go on." })
        const turn = yield* Support.approve(mode, { asked, model, tools })
        assert.strictEqual(turn.text, "done")
        // The id is of this key and no other.
        const seal = yield* ApprovalSeal.make({ key: Support.key })
        const other = yield* seal.seal({
          source: "local",
          toolName: "x",
          toolCallId: "x",
          schemaFingerprint: "x",
          params: "{}",
          scope: {}
        })
        const keyId = (id: string) => Result.getOrThrow(seal.parse(id)).keyId
        assert.strictEqual(keyId(asked.requests[0]!.approvalId), other.keyId)
      }))
  }
})
