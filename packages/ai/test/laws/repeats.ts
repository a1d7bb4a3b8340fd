/** Runs of an idempotent tool that end in a way nobody knows, and the turn that is taken again after each. */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber, Schema, Scope } from "effect"
import { AiError } from "effect/ai"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalJournal,
  ApprovalPolicy,
  type Prompt,
  Store,
  Tool
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

export const Pay = Tool.make("Pay", {
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

/** How the first run comes to an end that nobody knows; without `"Stop"`, which is final. */
export const accidents = ["a crash", "a shutdown"] as const

export interface Begin {
  readonly mode: Support.Mode
  readonly ending: (typeof accidents)[number] | "Stop"
  readonly tool?: Tool.Any
  readonly expiresIn?: "1 minute"
  readonly policy?: ApprovalPolicy.Service
  /** Answers inline on the turn that runs the call; without, the answer is in its prompt. */
  readonly controller?: ApprovalController.Service
  /** The amount that the answer in the prompt edits it to; without, a plain approval. */
  readonly edited?: number
}

export const ran = (amount: number): Support.Run => ({ name: "Pay", params: { amount } })

/** A payment of 1000 that was asked about, approved, started, and cut off. `retry` takes the turn again. */
export const begin = Effect.fnUntraced(function*(
  { controller, edited, ending, expiresIn, mode, policy = ApprovalPolicy.toolGate, tool = Pay }: Begin
) {
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
  const approval = edited === undefined ? Approval.approve(request) : to(edited)
  const yes = Support.answers(approval)
  const store = yield* Store.makeMemory()
  const first = yield* openJournal(store)

  // The model fails as well: the turn leaves nothing in the history.
  const failing = yield* ScriptedModel.make({ turns: [overloaded] })
  const turn = Support.reply(mode, { asked, model: failing.model, tools }, controller === undefined ? yes : []).pipe(
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
  if (controller === undefined) assert.deepStrictEqual(tools.runs, [ran(edited ?? 1000)])
  // Over the same store; a claim of a process that says nothing is one of a dead process.
  const journal = ending === "Stop" ? first.journal : (yield* openJournal(store)).journal
  const script = yield* Support.answering
  const retry = (
    options: {
      readonly toolkit?: Support.AnyToolkit
      readonly prompt?: Prompt.RawInput
      readonly policy?: ApprovalPolicy.Service
    } = {}
  ) =>
    Support.reply(mode, {
      asked,
      model: script.model,
      tools: options.toolkit === undefined ? tools : { toolkit: options.toolkit }
    }, options.prompt ?? yes).pipe(
      Effect.provideService(ApprovalPolicy.ApprovalPolicy, options.policy ?? policy),
      Effect.provideService(ApprovalJournal.ApprovalJournal, journal)
    )
  return { approval, request, retry, script, to, tools, yes }
})

/** Nothing ran again; the model goes on and is told that nobody knows. */
export const assertUnknown = (turn: Support.Turn) => {
  assert.deepStrictEqual([turn.requests.length, turn.results.length, turn.text], [0, 1, "done"])
  assert.match(Support.failureReason(turn.results[0]), /unknown/i)
}

export const assertPaid = (turn: Support.Turn) => {
  assert.deepStrictEqual(turn.results.map((result) => result.result), ["paid"])
  assert.deepStrictEqual([turn.requests, turn.text], [[], "done"])
}

/** What keeps a call from running again, however it was approved and whatever is approved now. */
export const staysAway = (options: Omit<Begin, "mode">): void => {
  const { edited = 1000, ending } = options

  Support.forEachMode(`L2 after ${ending} of a tool that is not idempotent it does not run again`, function*(mode) {
    const { retry, tools } = yield* begin({ ...options, mode, tool: Pay.annotate(Tool.Idempotent, false) })
    assertUnknown(yield* retry())
    assert.deepStrictEqual(tools.runs, [ran(edited)])
  })

  Support.forEachMode(`L2 L3 after ${ending} it does not run again once a denial was added`, function*(mode) {
    const { approval, request, retry, tools } = yield* begin({ ...options, mode })
    const no = Approval.deny(request, "no!")
    for (const list of [[approval, no], [no, approval], [no]]) {
      assertUnknown(yield* retry({ prompt: Support.answers(...list) }))
    }
    assert.deepStrictEqual(tools.runs, [ran(edited)])
  })

  Support.forEachMode(`L2 after ${ending} it does not run again once its request has expired`, function*(mode) {
    const { retry, tools } = yield* begin({ ...options, mode, expiresIn: "1 minute" })
    yield* TestClock.adjust("61 seconds")
    assertUnknown(yield* retry())
    assert.deepStrictEqual(tools.runs, [ran(edited)])
  })

  Support.forEachMode(`L2 L10 after ${ending} it does not run again with another schema`, function*(mode) {
    const { retry, tools } = yield* begin({ ...options, mode })
    const changed = yield* Support.makeTools([PayInCurrency], { Pay: () => Effect.succeed("paid") })
    assertUnknown(yield* retry({ toolkit: changed.toolkit }))
    assert.deepStrictEqual([tools.runs, changed.runs], [[ran(edited)], []])
  })
}

/** Tells what happens where the person would be shown something else by now, and then the same again. */
export const shownOtherwise = Effect.fnUntraced(function*(options: Begin) {
  const { edited = 1000 } = options
  let content = "balance: 2000"
  const policy = ApprovalPolicy.make(() =>
    Approval.needsApproval({
      ...(options.edited === undefined ? undefined : { editable: true }),
      presentation: new Approval.ApprovalPresentation({ type: "text", content })
    })
  )
  const { retry, tools } = yield* begin({ ...options, policy })
  content = "balance: 1000"
  assertUnknown(yield* retry())
  assert.deepStrictEqual(tools.runs, [ran(edited)])
  content = "balance: 2000"
  assertPaid(yield* retry())
  assert.deepStrictEqual(tools.runs, [ran(edited), ran(edited)])
})
