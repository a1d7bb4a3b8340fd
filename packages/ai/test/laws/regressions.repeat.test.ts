/**
 * L2 and L11: a run of an idempotent tool whose outcome is unknown is repeated only if everything that allowed it still
 * does, and never when somebody stopped it.
 */
import { assert, describe } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Schema, Scope } from "effect"
import { AiError } from "effect/ai"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, ApprovalJournal, ApprovalPolicy, Store, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
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

const openJournal = (store: Store.Store) =>
  Effect.gen(function*() {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const journal = yield* Effect.provideService(ApprovalJournal.make({ store, grace: 0 }), Scope.Scope, scope)
    return { journal, close: Scope.close(scope, Exit.void) }
  })

/** How the first run comes to an end that nobody knows. */
const endings = ["a crash", "a shutdown", "Stop"] as const

type Ending = (typeof endings)[number]

interface Begin {
  readonly mode: Support.Mode
  readonly ending: Ending
  readonly tool?: Tool.Any
  readonly expiresIn?: "1 minute"
  /** Answers inline on the turn that runs the call; without, a plain approval is in its prompt. */
  readonly controller?: ApprovalController.Service
  readonly policy?: ApprovalPolicy.Service
}

/** A payment of 1000 that was asked about, approved, started, and cut off. `retry` takes the turn again. */
const begin = Effect.fnUntraced(function*({ controller, ending, expiresIn, mode, policy, tool = Pay }: Begin) {
  const hold = yield* Support.makeHold
  const tools: Support.Tools = yield* Support.makeTools([tool], {
    Pay: () => Effect.as(tools.runs.length === 1 ? hold.wait : Effect.void, "paid")
  })
  const withPolicy = Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy ?? ApprovalPolicy.toolGate)
  const asked = yield* withPolicy(Support.ask(mode, {
    toolkit: tools.toolkit,
    approval: expiresIn === undefined ? undefined : { expiresIn },
    calls: [Support.call("c1", "Pay", { amount: 1000 })]
  }))
  const request = asked.requests[0]!
  const yes = Support.answers(Approval.approve(request))
  const store = yield* Store.makeMemory()
  const first = yield* openJournal(store)

  // The model fails as well: the turn leaves nothing in the history.
  const failing = yield* ScriptedModel.make({ turns: [overloaded] })
  const turn = Support.takeTurn(mode, {
    model: failing.model,
    toolkit: tools.toolkit,
    history: asked.history,
    prompt: controller === undefined ? yes : []
  }).pipe(
    withPolicy,
    Effect.provideService(ApprovalJournal.ApprovalJournal, first.journal),
    Effect.provideService(ApprovalController.ApprovalController, controller ?? ApprovalController.deferred)
  )
  const fiber = yield* Effect.forkChild(Effect.exit(turn))
  yield* hold.entered
  if (ending === "a shutdown") yield* first.close
  if (ending === "Stop") assert.isTrue(yield* first.journal.interrupt(request.approvalId))
  if (ending !== "a crash") {
    const ended = yield* Fiber.join(fiber)
    assert.isTrue(Exit.isFailure(ended) && !Cause.hasInterruptsOnly(ended.cause), "the turn fails, by its model")
  }
  // Over the same store; a claim of a process that says nothing is one of a dead process.
  const journal = ending === "Stop" ? first.journal : (yield* openJournal(store)).journal
  const script = yield* Support.answering
  const retry = (
    options: {
      readonly toolkit?: Support.AnyToolkit
      readonly prompt?: ReturnType<typeof Support.answers> | readonly []
      readonly policy?: ApprovalPolicy.Service
    } = {}
  ) =>
    Support.takeTurn(mode, {
      model: script.model,
      toolkit: options.toolkit ?? tools.toolkit,
      history: asked.history,
      prompt: options.prompt ?? yes
    }).pipe(
      Effect.provideService(ApprovalPolicy.ApprovalPolicy, options.policy ?? policy ?? ApprovalPolicy.toolGate),
      Effect.provideService(ApprovalJournal.ApprovalJournal, journal)
    )
  return { request, retry, tools, yes }
})

const thousand: Support.Run = { name: "Pay", params: { amount: 1000 } }
const ten: Support.Run = { name: "Pay", params: { amount: 10 } }

/** Nothing ran again; the model goes on and is told that nobody knows. */
const assertUnknown = (turn: Support.Turn) => {
  assert.deepStrictEqual([turn.requests.length, turn.results.length, turn.text], [0, 1, "done"])
  assert.match(Support.failureReason(turn.results[0]), /unknown/i)
}

for (const ending of ["a crash", "a shutdown"] as const) {
  describe(`L2 L11 a run of an idempotent tool that ended in ${ending}`, () => {
    Support.forEachMode(`L2 after ${ending} it runs again, once, while all that allowed it holds`, function*(mode) {
      const { retry, tools } = yield* begin({ mode, ending })
      for (let i = 0; i < 3; i++) {
        const turn = yield* retry()
        assert.deepStrictEqual(turn.results.map((result) => result.result), ["paid"])
        assert.strictEqual(turn.text, "done")
      }
      assert.deepStrictEqual(tools.runs, [thousand, thousand])
    })

    Support.forEachMode(`L2 after ${ending} of a tool that is not idempotent it does not run again`, function*(mode) {
      const { retry, tools } = yield* begin({ mode, ending, tool: Pay.annotate(Tool.Idempotent, false) })
      assertUnknown(yield* retry())
      assert.deepStrictEqual(tools.runs, [thousand])
    })

    const edit = ApprovalController.interactive((request) => Approval.approve(request, { params: { amount: 10 } }))

    Support.forEachMode(
      `L2 L11 after ${ending} of an edited call the original parameters never run, whoever answers now`,
      function*(mode) {
        const { retry, tools, yes } = yield* begin({ mode, ending, controller: edit })
        assert.deepStrictEqual(tools.runs, [ten])
        assertUnknown(yield* retry({ prompt: [] }))
        assertUnknown(yield* retry({ prompt: yes }))
        for (const controller of [edit, ApprovalController.approveAll]) {
          assertUnknown(
            yield* Effect.provideService(
              retry({ prompt: [] }),
              ApprovalController.ApprovalController,
              controller
            )
          )
        }
        assert.deepStrictEqual(tools.runs, [ten])
      }
    )

    Support.forEachMode(
      `L2 after ${ending} it runs again, once, where nobody's approval is in the history: what was claimed was approved`,
      function*(mode) {
        const { retry, tools } = yield* begin({ mode, ending })
        for (let i = 0; i < 2; i++) {
          const turn = yield* retry({ prompt: [] })
          assert.deepStrictEqual(turn.results.map((result) => result.result), ["paid"])
        }
        assert.deepStrictEqual(tools.runs, [thousand, thousand])
      }
    )

    Support.forEachMode(`L3 after ${ending} it does not run again where somebody says no to it`, function*(mode) {
      const { request, retry, tools } = yield* begin({ mode, ending })
      assertUnknown(yield* retry({ prompt: Support.answers(Approval.deny(request)) }))
      assert.deepStrictEqual(tools.runs, [thousand])
    })

    const policies: Record<string, () => ApprovalPolicy.Service> = {
      "blocks": () => ApprovalPolicy.make(() => Approval.blocked("paying is off")),
      "fails": () => ApprovalPolicy.make(() => Effect.fail("the database is down")),
      "dies": () =>
        ApprovalPolicy.make(() => {
          throw new Error("a mistake in the policy")
        })
    }
    for (const [how, policy] of Object.entries(policies)) {
      Support.forEachMode(
        `L11 after ${ending} it does not run again under a policy that ${how} by now`,
        function*(mode) {
          const { retry, tools } = yield* begin({ mode, ending })
          assertUnknown(yield* retry({ policy: policy() }))
          assert.deepStrictEqual(tools.runs, [thousand])
        }
      )
    }

    Support.forEachMode(`L2 L3 after ${ending} it does not run again once a denial was added`, function*(mode) {
      const { request, retry, tools } = yield* begin({ mode, ending })
      const [yes, no] = [Approval.approve(request), Approval.deny(request, "no!")]
      for (const prompt of [Support.answers(yes, no), Support.answers(no, yes), Support.answers(no)]) {
        assertUnknown(yield* retry({ prompt }))
      }
      assert.deepStrictEqual(tools.runs, [thousand])
    })

    Support.forEachMode(`L2 after ${ending} it does not run again once its request has expired`, function*(mode) {
      const { retry, tools } = yield* begin({ mode, ending, expiresIn: "1 minute" })
      yield* TestClock.adjust("61 seconds")
      assertUnknown(yield* retry())
      assert.deepStrictEqual(tools.runs, [thousand])
    })

    Support.forEachMode(`L2 L10 after ${ending} it does not run again with another schema`, function*(mode) {
      const { retry, tools } = yield* begin({ mode, ending })
      const changed = yield* Support.makeTools([PayInCurrency], { Pay: () => Effect.succeed("paid") })
      assertUnknown(yield* retry({ toolkit: changed.toolkit }))
      assert.deepStrictEqual([tools.runs, changed.runs], [[thousand], []])
    })

    Support.forEachMode(
      `L2 L11 after ${ending} it does not run again if the person would be shown something else`,
      function*(mode) {
        let content = "balance: 2000"
        const policy = ApprovalPolicy.make(() =>
          Approval.needsApproval({ presentation: new Approval.ApprovalPresentation({ type: "text", content }) })
        )
        const { retry, tools } = yield* begin({ mode, ending, policy })
        content = "balance: 1000"
        assertUnknown(yield* retry())
        assert.deepStrictEqual(tools.runs, [thousand])
        content = "balance: 2000"
        assert.deepStrictEqual((yield* retry()).results.map((result) => result.result), ["paid"])
        assert.deepStrictEqual(tools.runs, [thousand, thousand])
      }
    )
  })
}

describe("L2 a run of an idempotent tool that somebody stopped", () => {
  Support.forEachMode("L2 Stop is final: an approved call is not run again by a retry of the turn", function*(mode) {
    const { retry, tools } = yield* begin({ mode, ending: "Stop" })
    for (let i = 0; i < 3; i++) assertUnknown(yield* retry())
    assertUnknown(yield* retry({ prompt: [] }))
    assert.deepStrictEqual(tools.runs, [thousand])
  })

  Support.forEachMode(
    "L2 Stop is final: an edited call is not run again, as it was edited or as it was proposed",
    function*(mode) {
      const edit = ApprovalController.interactive((request) => Approval.approve(request, { params: { amount: 10 } }))
      const { retry, tools, yes } = yield* begin({ mode, ending: "Stop", controller: edit })
      assertUnknown(yield* retry({ prompt: [] }))
      assertUnknown(yield* retry({ prompt: yes }))
      assertUnknown(
        yield* Effect.provideService(retry({ prompt: [] }), ApprovalController.ApprovalController, edit)
      )
      assert.deepStrictEqual(tools.runs, [ten])
    }
  )
})
