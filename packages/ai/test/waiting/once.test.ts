/** L2 At most once, for tools that wait: an answer is gone on from once, whatever histories say and whoever holds them. */
import { assert, describe } from "@effect/vitest"
import { Effect, Exit, Fiber, Scope } from "effect"
import { Approval, ApprovalJournal, DeferredTool, Store, SuspensionStore, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { intercept } from "../store/intercept.ts"
import * as Support from "./support.ts"

/** A process: a journal and a store of its own over what others share, in a scope of its own. */
const startProcess = (store: Store.Store, suspensions: Store.Store = store) =>
  Effect.gen(function*() {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const journal = yield* Effect.provideService(
      ApprovalJournal.make({ store: Store.make(store), grace: 0, heartbeat: "1 second" }),
      Scope.Scope,
      scope
    )
    const within = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      effect.pipe(
        Effect.provideService(ApprovalJournal.ApprovalJournal, journal),
        Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store: suspensions }))
      )
    return { shutDown: Scope.close(scope, Exit.void), within }
  })

describe("L2 the same history again", () => {
  Support.inEachMode("an old history finds the request that is open now, and nothing runs again", function*(mode) {
    const { first, names, script, toolkit } = yield* Support.begin(mode, [Support.submit("c1")])
    const approve = (turn: Support.Turn) => Support.answers(Approval.approve(Support.only(turn)))
    const replay = (history: Support.Turn["history"], prompt: ReturnType<typeof approve>) =>
      Support.takeTurn(mode, { model: script.model, toolkit, history, prompt })
    const second = yield* replay(first.history, approve(first))
    const again = yield* replay(first.history, approve(first))
    assert.deepStrictEqual(again.requests, second.requests)
    assert.deepStrictEqual(names(), ["start", "manager"])
    const last = yield* replay(second.history, approve(second))
    assert.strictEqual(last.text, "done")
    for (const [turn, answered] of [[first, first], [second, second]] as const) {
      const late = yield* replay(turn.history, approve(answered))
      assert.deepStrictEqual(Support.resultsOf(late), Support.resultsOf(last))
      assert.strictEqual(late.text, "done")
    }
    assert.deepStrictEqual(names(), ["start", "manager", "director"])
  })

  Support.inEachMode("an old history of a call that needed consent finds it too", function*(mode) {
    const { first, names, script, toolkit } = yield* Support.begin(mode, [
      Support.call("c1", "Gated", { question: "Size?" })
    ])
    const prompt = Support.answers(Approval.approve(Support.only(first)))
    const replay = Support.takeTurn(mode, { model: script.model, toolkit, history: first.history, prompt })
    const second = yield* replay
    assert.deepStrictEqual((yield* replay).requests, second.requests)
    yield* Support.takeTurn(mode, {
      model: script.model,
      toolkit,
      history: second.history,
      prompt: Support.answers(Approval.answer(Support.only(second), "42"))
    })
    assert.deepStrictEqual(Support.resultsOf(yield* replay), [["c1", "Size? 42"]])
    assert.deepStrictEqual(names(), ["start", "text"])
  })

  Support.inEachMode("of two different answers the first stands, and the other changes nothing", function*(mode) {
    const { first, names, reply } = yield* Support.begin(mode, [Support.ask("c1", "Which?")])
    const answer = (text: string) => reply(Approval.answer(Support.only(first), text))
    assert.deepStrictEqual(Support.resultsOf(yield* answer("one")), [["c1", "one"]])
    assert.deepStrictEqual(Support.resultsOf(yield* answer("two")), [["c1", "one"]])
    const denied = yield* reply(Approval.deny(Support.only(first)))
    assert.deepStrictEqual(Support.resultsOf(denied), [["c1", "one"]])
    assert.deepStrictEqual(names(), ["start", "text"])
  })
})

describe("L2 at once", () => {
  Support.inEachMode("readers at the same time join the one that goes on", function*(mode) {
    const hold = yield* Support.makeHold
    const before = (step: string) => step === "manager" ? hold.wait : Effect.void
    const { first, names, reply } = yield* Support.begin(mode, [Support.submit("c1")], { before })
    const turn = reply(Approval.approve(Support.only(first)))
    const readers = yield* Effect.forEach([1, 2, 3], () => Effect.forkChild(turn))
    yield* hold.entered
    yield* Fiber.interrupt(readers[0]!)
    yield* hold.release
    const [one, other] = yield* Fiber.joinAll(readers.slice(1))
    assert.deepStrictEqual(one!.requests, other!.requests)
    assert.strictEqual(Support.only(one!).awaited?.name, "director")
    assert.deepStrictEqual((yield* turn).requests, one!.requests)
    assert.deepStrictEqual(names(), ["start", "manager"])
  })
})

describe("L2 restarts", () => {
  const gone = (turn: Support.Turn) => {
    assert.deepStrictEqual([turn.requests.length, turn.results.length, turn.text], [0, 1, "done"])
    return Support.failureReason(turn.results[0])
  }

  Support.inEachMode("another process goes on from where the first one waited", function*(mode) {
    const store = yield* Store.makeMemory()
    const first = yield* startProcess(store)
    const begun = yield* first.within(Support.begin(mode, [Support.submit("c1")]))
    yield* first.shutDown
    const second = yield* startProcess(store)
    const other = yield* Support.makeWaiting()
    const take = (history: Support.Turn["history"], answer: Approval.ApprovalAnswer) =>
      second.within(Support.takeTurn(mode, {
        model: begun.script.model,
        toolkit: other.toolkit,
        history: Support.throughJson(history),
        prompt: Support.answers(answer)
      }))
    const turn = yield* take(begun.first.history, Approval.approve(Support.only(begun.first)))
    const last = yield* take(turn.history, Approval.approve(Support.only(turn)))
    assert.strictEqual((last.results[0]!.result as any).said, "chairs approved by manager, director")
    assert.deepStrictEqual([begun.names(), other.steps.map(([name]) => name)], [["start"], ["manager", "director"]])
  })

  /** A tool that has asked, and is held where it goes on with the answer for the first time. */
  const beginHeld = Effect.fnUntraced(function*(mode: Support.Mode, idempotent: boolean) {
    const store = yield* Store.makeMemory()
    const hold = yield* Support.makeHold
    const resumed: Array<string> = []
    const { interactions } = Support.Ask
    const tool = DeferredTool.from(Support.Ask.annotate(Tool.Idempotent, idempotent), { interactions })
    const kit = Toolkit.make(tool)
    const handled = yield* Effect.provide(
      kit,
      kit.toLayer({
        Ask: DeferredTool.handler(tool, {
          start: ({ question }) => tool.suspend.text({ prompt: question }),
          resume: {
            text: (text) =>
              Effect.suspend(() => {
                resumed.push(text)
                return Effect.as(resumed.length === 1 ? hold.wait : Effect.void, text)
              })
          }
        })
      })
    )
    const toolkit = handled as unknown as Support.AnyToolkit
    const script = yield* ScriptedModel.make({ turns: [[Support.ask("c1", "Which?")]], afterLastTurn: "done" })
    let isCut = false
    const process = yield* startProcess(intercept(
      store,
      (operation, _, run) =>
        Effect.suspend(() =>
          isCut
            ? Effect.fail(new Store.StoreError({ operation, description: "It is dead.", reason: "Unavailable" }))
            : run
        )
    ))
    const first = yield* process.within(Support.takeTurn(mode, { model: script.model, toolkit, prompt: "Go" }))
    const answer = (text: string) =>
      Support.takeTurn(mode, {
        model: script.model,
        toolkit,
        history: first.history,
        prompt: Support.answers(Approval.answer(Support.only(first), text))
      })
    const reader = yield* Effect.forkChild(process.within(answer("x")))
    yield* hold.entered
    return { answer, kill: Effect.sync(() => isCut = true), process, reader, resumed, store }
  })

  for (const idempotent of [false, true]) {
    const then = idempotent ? "a tool that is idempotent goes on again" : "the tool does not go on again"
    Support.inEachMode(
      `a process that is killed while the tool goes on: ${then}, and nobody joins the dead`,
      function*(mode) {
        const { answer, kill, resumed, store } = yield* beginHeld(mode, idempotent)
        yield* kill
        const next = yield* startProcess(store)
        const asking = yield* Effect.forkChild(next.within(answer("x")))
        assert.isTrue(yield* Support.advance(asking, "1 second", 40))
        const told = yield* Fiber.join(asking)
        if (idempotent) assert.deepStrictEqual(Support.resultsOf(told), [["c1", "x"]])
        else assert.match(gone(told), /unknown/)
        assert.deepStrictEqual(resumed, idempotent ? ["x", "x"] : ["x"])
      }
    )

    Support.inEachMode(
      `a process that ends while the tool goes on: the outcome is unknown, and ${then}`,
      function*(mode) {
        const { answer, process, reader, resumed, store } = yield* beginHeld(mode, idempotent)
        const closing = yield* Effect.forkChild(process.shutDown)
        assert.isTrue(yield* Support.advance(closing, "10 seconds", 2))
        assert.match(gone(yield* Fiber.join(reader)), /unknown/)
        const next = yield* startProcess(store)
        // A run is only ever repeated with the same answer.
        assert.match(gone(yield* next.within(answer("y"))), /unknown/)
        for (let i = 0; i < 2; i++) {
          const again = yield* next.within(answer("x"))
          if (idempotent) assert.deepStrictEqual(Support.resultsOf(again), [["c1", "x"]])
          else assert.match(gone(again), /unknown/)
        }
        assert.deepStrictEqual(resumed, idempotent ? ["x", "x"] : ["x"])
      }
    )
  }

  Support.inEachMode("the store knows what was gone on from, even where the journal has forgotten", function*(mode) {
    const suspensions = yield* Store.makeMemory()
    const first = yield* startProcess(yield* Store.makeMemory(), suspensions)
    const begun = yield* first.within(Support.begin(mode, [Support.ask("c1", "Which?")]))
    const turn = Support.takeTurn(mode, {
      model: begun.script.model,
      toolkit: begun.toolkit,
      history: begun.first.history,
      prompt: Support.answers(Approval.answer(Support.only(begun.first), "x"))
    })
    assert.deepStrictEqual(Support.resultsOf(yield* first.within(turn)), [["c1", "x"]])
    const second = yield* startProcess(yield* Store.makeMemory(), suspensions)
    assert.match(gone(yield* second.within(turn)), /went on before/)
    assert.deepStrictEqual(begun.names(), ["start", "text"])
  })

  Support.inEachMode("so it does while nobody knows how that ended", function*(mode) {
    const suspensions = yield* Store.makeMemory()
    const hold = yield* Support.makeHold
    const before = (step: string) => step === "text" ? hold.wait : Effect.void
    const first = yield* startProcess(yield* Store.makeMemory(), suspensions)
    const begun = yield* first.within(Support.begin(mode, [Support.ask("c1", "Which?")], { before }))
    const turn = Support.takeTurn(mode, {
      model: begun.script.model,
      toolkit: begun.toolkit,
      history: begun.first.history,
      prompt: Support.answers(Approval.answer(Support.only(begun.first), "x"))
    })
    yield* Effect.forkChild(first.within(turn))
    yield* hold.entered
    const second = yield* startProcess(yield* Store.makeMemory(), suspensions)
    assert.match(gone(yield* second.within(turn)), /went on before/)
    assert.deepStrictEqual(begun.names(), ["start", "text"])
  })

  Support.inEachMode("what the tool remembered is gone: a failed result that says so", function*(mode) {
    const store = yield* Store.makeMemory()
    const first = yield* startProcess(store)
    const begun = yield* first.within(Support.begin(mode, [Support.ask("c1", "Which?")]))
    const second = yield* startProcess(store, yield* Store.makeMemory())
    const turn = yield* second.within(Support.takeTurn(mode, {
      model: begun.script.model,
      toolkit: begun.toolkit,
      history: begun.first.history,
      prompt: Support.answers(Approval.answer(Support.only(begun.first), "x"))
    }))
    assert.match(gone(turn), /not known here any more/)
    assert.deepStrictEqual(begun.names(), ["start"])
  })
})

describe("a store that cannot be used", () => {
  const broken = (store: Store.Store, isBroken: () => boolean) =>
    intercept(
      store,
      (operation, _, run) =>
        Effect.suspend(() =>
          isBroken()
            ? Effect.fail(
              new Store.StoreError({ operation, description: "the disk at /srv/kept is gone.", reason: "Unavailable" })
            )
            : run
        )
    )

  Support.inEachMode(
    "when a tool is to wait: a failed result that says so, and nothing of the store's own words (law L15)",
    function*(mode) {
      const store = broken(yield* Store.makeMemory(), () => true)
      const { first } = yield* Effect.provideService(
        Support.begin(mode, [Support.ask("c1", "Which?")]),
        SuspensionStore.SuspensionStore,
        SuspensionStore.make({ store })
      )
      assert.deepStrictEqual(first.requests, [])
      assert.match(Support.failureReason(first.results[0]), /what it waits for could not be kept.*Check/)
      assert.notMatch(JSON.stringify(first), /disk|srv/)
    }
  )

  Support.inEachMode("when an answer comes: the turn fails, and nothing is lost", function*(mode) {
    let isBroken = false
    const store = SuspensionStore.make({ store: broken(yield* Store.makeMemory(), () => isBroken) })
    const within = Effect.provideService(SuspensionStore.SuspensionStore, store)
    const { first, names, script, toolkit } = yield* within(Support.begin(mode, [Support.ask("c1", "Which?")]))
    const turn = within(Support.takeTurn(mode, {
      model: script.model,
      toolkit,
      history: first.history,
      prompt: Support.answers(Approval.answer(Support.only(first), "x"))
    }))
    isBroken = true
    assert.strictEqual((yield* Support.reasonOf(turn))._tag, "SuspensionsUnavailable")
    assert.deepStrictEqual(names(), ["start"])
    isBroken = false
    assert.deepStrictEqual(Support.resultsOf(yield* turn), [["c1", "x"]])
  })

  Support.inEachMode(
    "when the tool is to go on: the turn fails with why, the model reads nothing of it, and it can be tried again",
    function*(mode) {
      let isBroken = false
      const memory = yield* Store.makeMemory()
      const store = SuspensionStore.make({
        store: intercept(memory, (operation, key, run) =>
          isBroken && operation === "requests.advance"
            ? Effect.fail(
              new Store.StoreError({ operation, description: `/srv/kept: ${key} is locked.`, reason: "Busy" })
            )
            : run)
      })
      const within = Effect.provideService(SuspensionStore.SuspensionStore, store)
      const { first, names, script, toolkit } = yield* within(Support.begin(mode, [Support.ask("c1", "Which?")]))
      isBroken = true
      const turn = within(Support.takeTurn(mode, {
        model: script.model,
        toolkit,
        history: first.history,
        prompt: Support.answers(Approval.answer(Support.only(first), "x"))
      }))
      for (let time = 0; time < 2; time++) {
        assert.strictEqual((yield* Support.reasonOf(turn))._tag, "SuspensionsUnavailable")
      }
      assert.notMatch(JSON.stringify(yield* script.requests), /srv|locked/)
      assert.deepStrictEqual(names(), ["start"])
      isBroken = false
      assert.deepStrictEqual(Support.resultsOf(yield* turn), [["c1", "x"]])
      assert.deepStrictEqual(names(), ["start", "text"])
      assert.deepStrictEqual(Support.resultsOf(yield* turn), [["c1", "x"]])
      assert.deepStrictEqual(names(), ["start", "text"])
    }
  )

  Support.inEachMode("with a configured key it has to be named", function*(mode) {
    const reason = yield* Support.reasonOf(Effect.provideService(
      Effect.map(Support.begin(mode, [Support.ask("c1", "Which?")]), ({ first }) => first),
      SuspensionStore.SuspensionStore,
      SuspensionStore.make({ store: yield* Store.makeMemory(), named: false })
    ))
    assert.strictEqual(reason._tag, "SuspensionStoreRequired")
  })
})
