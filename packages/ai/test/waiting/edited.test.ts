/**
 * L11 for tools that wait: the policy is asked about the call that goes on, with the parameters that a person changed
 * before it began, whether it goes on in the turn that asked or in a later one.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, ApprovalController, ApprovalPolicy } from "../../src/index.ts"
import * as Support from "./support.ts"

const edited = { question: "Colour?" }

/** A policy that notes what it is asked about each call of the tool, and blocks this one once it has begun. */
const begin = Effect.fnUntraced(function*(blocked: string | undefined) {
  const judged: Array<string> = []
  let began = false
  const { steps, toolkit } = yield* Support.makeWaiting(() => Effect.sync(() => void (began = true)))
  const policy = ApprovalPolicy.make(({ encodedParams }) => {
    const { question } = encodedParams as { readonly question: string }
    if (!began) return undefined
    judged.push(question)
    return question === blocked ? Approval.blocked("not that") : undefined
  })
  const controller = ApprovalController.interactive((request) =>
    request.interaction === "approval"
      ? Approval.approve(request, { params: edited })
      : Approval.answer(request, "42")
  )
  const within = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy),
      Effect.provideService(ApprovalController.ApprovalController, controller)
    )
  return { judged, names: () => steps.map(([name]) => name), toolkit, within }
})

const calls = [Support.call("c1", "Gated", { question: "Size?" })]

describe("L11 a tool that waits, whose parameters a person changed", () => {
  Support.inEachMode("L11 in the turn that asked, what it became is judged before it goes on", function*(mode) {
    const { judged, names, toolkit, within } = yield* begin("Colour?")
    const turn = yield* within(Support.firstTurn(mode, toolkit, calls))
    assert.deepStrictEqual([[...new Set(judged)], names()], [["Colour?"], ["start"]])
    assert.match(Support.failureReason(turn.results[0]), /not that/)
  })

  Support.inEachMode("L11 in the turn that asked, what was proposed is not judged again", function*(mode) {
    const { names, toolkit, within } = yield* begin("Size?")
    const turn = yield* within(Support.firstTurn(mode, toolkit, calls))
    assert.deepStrictEqual(names(), ["start", "text"])
    assert.deepStrictEqual(Support.resultsOf(turn), [["c1", "Colour? 42"]])
  })

  Support.inEachMode("L11 in a later turn, what it became is judged before it goes on", function*(mode) {
    const { names, toolkit, within } = yield* begin("Colour?")
    const asked = yield* Support.firstTurn(mode, toolkit, calls)
    const { model } = yield* Support.answering
    const turn = yield* within(Support.takeTurn(mode, { model, toolkit, history: asked.history }))
    assert.match(Support.failureReason(turn.results[0]), /not that/)
    assert.deepStrictEqual(names(), ["start"])
  })
})
