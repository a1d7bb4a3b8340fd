/**
 * L2 and L11: a run of an idempotent tool whose parameters a person had edited, and whose outcome is unknown, is repeated
 * with those parameters if all that allowed them still does. With the parameters that were proposed it never runs.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Fiber, Schema, Scope } from "effect"
import { AiError } from "effect/ai"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalJournal,
  ApprovalPolicy,
  ApprovalSeal,
  Conversation,
  ConversationStore,
  LanguageModel,
  type Prompt,
  Store,
  SuspensionStore,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { failure, intercept } from "../store/intercept.ts"
import * as Support from "./support.ts"

const Pay = Tool.make("Pay", {
  parameters: { amount: Schema.Number },
  success: Schema.String,
  needsApproval: true
}).annotate(Tool.Idempotent, true)

/** The same tool with one more parameter, which it fills in by itself. */
const PayInCurrency = Tool.make("Pay", {
  parameters: Schema.Struct({
    amount: Schema.Number,
    currency: Schema.String.pipe(Schema.withDecodingDefaultKey(Effect.succeed("BTC")))
  }),
  success: Schema.String,
  needsApproval: true
}).annotate(Tool.Idempotent, true)

const overloaded = AiError.make({
  module: "test",
  method: "test",
  reason: new AiError.UnknownError({ description: "overloaded" })
})

const editable = ApprovalPolicy.make(() => Approval.needsApproval({ editable: true }))

const openJournal = (store: Store.Store) =>
  Effect.gen(function*() {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const journal = yield* Effect.provideService(ApprovalJournal.make({ store, grace: 0 }), Scope.Scope, scope)
    return { journal, close: Scope.close(scope, Exit.void) }
  })

const endings = ["a crash", "a shutdown", "Stop"] as const

interface Begin {
  readonly mode: Support.Mode
  readonly ending: (typeof endings)[number]
  readonly tool?: Tool.Any
  readonly expiresIn?: "1 minute"
  readonly policy?: ApprovalPolicy.Service
}

/** A payment of 1000, approved with an edit to 10, started, and cut off. `retry` takes the turn again. */
const begin = Effect.fnUntraced(function*({ ending, expiresIn, mode, policy = editable, tool = Pay }: Begin) {
  const hold = yield* Support.makeHold
  const tools: Support.Tools = yield* Support.makeTools([tool], {
    Pay: () => Effect.as(tools.runs.length === 1 ? hold.wait : Effect.void, "paid")
  })
  const withPolicy = Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)
  const asked = yield* withPolicy(Support.ask(mode, {
    toolkit: tools.toolkit,
    approval: expiresIn === undefined ? undefined : { expiresIn },
    calls: [Support.call("c1", "Pay", { amount: 1000 })]
  }))
  const request = asked.requests[0]!
  const to = (amount: number) => Approval.approve(request, { params: { amount } })
  const store = yield* Store.makeMemory()
  const first = yield* openJournal(store)
  // The model fails as well: the turn leaves nothing in the history.
  const failing = yield* ScriptedModel.make({ turns: [overloaded] })
  const turn = Support.takeTurn(mode, {
    model: failing.model,
    toolkit: tools.toolkit,
    history: asked.history,
    prompt: Support.answers(to(10))
  }).pipe(withPolicy, Effect.provideService(ApprovalJournal.ApprovalJournal, first.journal))
  const fiber = yield* Effect.forkChild(Effect.exit(turn))
  yield* hold.entered
  if (ending === "a shutdown") yield* first.close
  if (ending === "Stop") assert.isTrue(yield* first.journal.interrupt(request.approvalId))
  if (ending !== "a crash") yield* Fiber.join(fiber)
  assert.deepStrictEqual(tools.runs, [ten])
  // Over the same store; a claim of a process that says nothing is one of a dead process.
  const journal = ending === "Stop" ? first.journal : (yield* openJournal(store)).journal
  const script = yield* Support.answering
  const retry = (
    options: {
      readonly toolkit?: Support.AnyToolkit
      readonly prompt?: Prompt.Prompt
      readonly policy?: ApprovalPolicy.Service
    } = {}
  ) =>
    Support.takeTurn(mode, {
      model: script.model,
      toolkit: options.toolkit ?? tools.toolkit,
      history: asked.history,
      prompt: options.prompt ?? Support.answers(to(10))
    }).pipe(
      Effect.provideService(ApprovalPolicy.ApprovalPolicy, options.policy ?? policy),
      Effect.provideService(ApprovalJournal.ApprovalJournal, journal)
    )
  return { request, retry, script, to, tools }
})

const ten: Support.Run = { name: "Pay", params: { amount: 10 } }

/** Nothing ran again; the model goes on and is told that nobody knows. */
const assertUnknown = (turn: Support.Turn) => {
  assert.deepStrictEqual([turn.requests.length, turn.results.length, turn.text], [0, 1, "done"])
  assert.match(Support.failureReason(turn.results[0]), /unknown/i)
}

const assertPaid = (turn: Support.Turn) => {
  assert.deepStrictEqual(turn.results.map((result) => result.result), ["paid"])
  assert.deepStrictEqual([turn.requests, turn.text], [[], "done"])
}

const judging = (judge: (amount: number) => ReturnType<Parameters<typeof ApprovalPolicy.make>[0]>) =>
  ApprovalPolicy.make((call) => judge((call.encodedParams as { readonly amount: number }).amount))

for (const ending of ["a crash", "a shutdown"] as const) {
  describe(`L2 an edited call of an idempotent tool whose run ended in ${ending}`, () => {
    Support.forEachMode(
      `L2 after ${ending} it runs again, once, with the edited parameters, and the model is told of them`,
      function*(mode) {
        const { retry, script, tools } = yield* begin({ mode, ending })
        for (let i = 0; i < 3; i++) {
          assertPaid(yield* retry())
          const [sent] = yield* Support.sentResults(script)
          assert.include(JSON.stringify(sent!.modelOutput), "{\\\"amount\\\":10}")
        }
        assert.deepStrictEqual(tools.runs, [ten, ten])
      }
    )

    Support.forEachMode(`L2 after ${ending} of a tool that is not idempotent it does not run again`, function*(mode) {
      const { retry, tools } = yield* begin({ mode, ending, tool: Pay.annotate(Tool.Idempotent, false) })
      assertUnknown(yield* retry())
      assert.deepStrictEqual(tools.runs, [ten])
    })

    const policies: Record<string, ApprovalPolicy.Service> = {
      "lets nobody edit it": ApprovalPolicy.make(() => Approval.needsApproval({ editable: false })),
      "lets nobody edit what it was edited to": judging((amount) => Approval.needsApproval({ editable: amount > 100 })),
      "blocks the edited parameters": judging((amount) =>
        amount === 10 ? Approval.blocked("too little") : Approval.needsApproval({ editable: true })
      ),
      "fails for the edited parameters": judging((amount) =>
        amount === 10 ? Effect.fail("the database is down") : Approval.needsApproval({ editable: true })
      ),
      "blocks the tool": ApprovalPolicy.make(() => Approval.blocked("paying is off")),
      "fails": ApprovalPolicy.make(() => Effect.fail("the database is down"))
    }
    for (const [how, policy] of Object.entries(policies)) {
      Support.forEachMode(
        `L11 after ${ending} it does not run again under a policy that ${how} by now`,
        function*(mode) {
          const { retry, tools } = yield* begin({ mode, ending })
          assertUnknown(yield* retry({ policy }))
          assert.deepStrictEqual(tools.runs, [ten])
          assertPaid(yield* retry())
          assert.deepStrictEqual(tools.runs, [ten, ten], "nothing was used up")
        }
      )
    }

    Support.forEachMode(
      `L2 after ${ending} it never runs with other parameters, whatever is approved now`,
      function*(mode) {
        const { request, retry, to, tools } = yield* begin({ mode, ending })
        const plain = Approval.approve(request)
        const lists = [[], [plain], [to(1000)], [to(20)], [plain, to(20)], [to(20), plain]]
        for (const list of lists) assertUnknown(yield* retry({ prompt: Support.answers(...list) }))
        for (const list of [[plain, to(10)], [to(10), plain]]) yield* retry({ prompt: Support.answers(...list) })
        for (const run of tools.runs) assert.deepStrictEqual(run, ten)
      }
    )

    Support.forEachMode(`L2 L3 after ${ending} it does not run again once a denial was added`, function*(mode) {
      const { request, retry, to, tools } = yield* begin({ mode, ending })
      const no = Approval.deny(request, "no!")
      for (const list of [[to(10), no], [no, to(10)], [no]]) {
        assertUnknown(yield* retry({ prompt: Support.answers(...list) }))
      }
      assert.deepStrictEqual(tools.runs, [ten])
    })

    Support.forEachMode(`L2 after ${ending} it does not run again once its request has expired`, function*(mode) {
      const { retry, tools } = yield* begin({ mode, ending, expiresIn: "1 minute" })
      yield* TestClock.adjust("61 seconds")
      assertUnknown(yield* retry())
      assert.deepStrictEqual(tools.runs, [ten])
    })

    Support.forEachMode(`L2 L10 after ${ending} it does not run again with another schema`, function*(mode) {
      const { retry, tools } = yield* begin({ mode, ending })
      const changed = yield* Support.makeTools([PayInCurrency], { Pay: () => Effect.succeed("paid") })
      assertUnknown(yield* retry({ toolkit: changed.toolkit }))
      assert.deepStrictEqual([tools.runs, changed.runs], [[ten], []])
    })

    Support.forEachMode(`L2 L11 after ${ending} it does not run again if what was shown has changed`, function*(mode) {
      let content = "balance: 2000"
      const policy = ApprovalPolicy.make(() =>
        Approval.needsApproval({
          editable: true,
          presentation: new Approval.ApprovalPresentation({ type: "text", content })
        })
      )
      const { retry, tools } = yield* begin({ mode, ending, policy })
      content = "balance: 1000"
      assertUnknown(yield* retry())
      assert.deepStrictEqual(tools.runs, [ten])
      content = "balance: 2000"
      assertPaid(yield* retry())
      assert.deepStrictEqual(tools.runs, [ten, ten])
    })
  })
}

describe("L2 an edited call of an idempotent tool that somebody stopped", () => {
  Support.forEachMode(
    "L2 Stop is final: an edit of a history is not run again by a retry of the turn",
    function*(mode) {
      const { request, retry, tools } = yield* begin({ mode, ending: "Stop" })
      assertUnknown(yield* retry())
      assertUnknown(yield* retry({ prompt: Support.answers(Approval.approve(request)) }))
      assert.deepStrictEqual(tools.runs, [ten])
    }
  )
})

/** A store whose process can be cut off from it, as by a crash: nothing it writes arrives any more. */
const cuttable = (store: Store.Store) => {
  let isCut = false
  return {
    cut: () => void (isCut = true),
    store: intercept(store, (operation, _, run) => Effect.suspend(() => isCut ? Effect.fail(failure(operation)) : run))
  }
}

describe("L2 an edit that the program vouches for", () => {
  const startProcess = Effect.fnUntraced(function*(
    tool: typeof Pay,
    store: Store.Store,
    turns: ReadonlyArray<ScriptedModel.Turn>,
    pay: (params: { readonly amount: number }) => Effect.Effect<string>
  ) {
    const kit = Toolkit.make(tool)
    const { model } = yield* ScriptedModel.make({ turns, afterLastTurn: "done" })
    return yield* Conversation.make({ id: "c1", toolkit: kit }).pipe(
      Effect.provideService(LanguageModel.LanguageModel, model),
      Effect.provideService(
        ConversationStore.ConversationStore,
        yield* ConversationStore.make({ store, heartbeat: "1 second" })
      ),
      Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store })),
      Effect.provideService(
        ApprovalJournal.ApprovalJournal,
        yield* ApprovalJournal.make({ store, heartbeat: "1 second", grace: 0 })
      ),
      Effect.provide(ApprovalSeal.layer({ key: Support.key })),
      Effect.provide(kit.toLayer({ Pay: pay }))
    )
  })

  for (const idempotent of [true, false]) {
    const then = idempotent ? "it runs again in the next, as it was edited" : "one that is not idempotent does not"
    it.effect(`L2 decided in a conversation whose process dies, ${then}`, () =>
      Effect.gen(function*() {
        const shared = yield* Store.makeMemory()
        const { cut, store } = cuttable(shared)
        const runs: Array<unknown> = []
        const hold = yield* Support.makeHold
        const pay = (params: { readonly amount: number }) =>
          Effect.suspend(() => {
            runs.push(params)
            return Effect.as(runs.length === 1 ? hold.wait : Effect.void, "paid")
          })
        const tool = Pay.annotate(Tool.Idempotent, idempotent)
        const first = yield* startProcess(tool, store, [[Support.call("c1", "Pay", { amount: 1000 })]], pay)
        const asked = yield* first.send("Go.")
        if (asked._tag !== "Waiting") return assert.fail("it was not asked about")
        const edited = Approval.approve(asked.requests[0]!, { params: { amount: 10 } })
        yield* Effect.forkChild(first.decide(edited), { startImmediately: true })
        yield* hold.entered
        cut()
        yield* TestClock.adjust("5 minutes")
        const second = yield* startProcess(tool, shared, [], pay)
        const fiber = yield* Effect.forkChild(second.send([]), { startImmediately: true })
        assert.isTrue(yield* Support.advance(fiber, "1 second"), "it came to its end")
        const outcome = yield* Fiber.join(fiber)
        assert.deepStrictEqual([outcome._tag, outcome.text], ["Completed", "done"])
        const results = Support.partsOf(yield* second.history).filter((part) => part.type === "tool-result")
        if (idempotent) {
          assert.deepStrictEqual(results.map(({ result }) => result), ["paid"])
        } else assert.match(Support.failureReason(results[0]), /unknown/i)
        assert.deepStrictEqual(runs, idempotent ? [{ amount: 10 }, { amount: 10 }] : [{ amount: 10 }])
      }).pipe(Effect.scoped))
  }
})
