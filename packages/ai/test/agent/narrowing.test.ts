/** What is said outside narrows what agents inside may do, and never widens it. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  AgentTool,
  Approval,
  ApprovalController,
  ApprovalMemory,
  ApprovalPolicy,
  Conversation,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

const { yes } = S

/** A tree in which every payment is one and the same. */
const same = (tree: Tree.Agent) => World.answerWith(Tree.agentsOf(tree), "Pay", { key: "same" })

const remembering = <A, E>(test: Effect.Effect<A, E>) => Effect.provide(test, ApprovalMemory.layerSession())

/** The outermost pays first, and its agents pay the same. */
const outside = Tree.agent([Tree.pay], [Tree.inner([Tree.inner([Tree.pay])])])
/** An agent pays first, and then the outermost, and another agent. */
const inside = Tree.agent([Tree.inner([Tree.pay])], [Tree.pay, Tree.inner([Tree.pay])])

const begin = (tree: Tree.Agent, way: S.Way = "send") => S.begin(way, tree, { model: same(tree) })

describe("what is remembered", () => {
  it.effect("L3 a no outside holds inside: nobody is asked again, and nothing is paid", () =>
    remembering(Effect.scoped(Effect.gen(function*() {
      const play = yield* begin(outside)
      const [request] = (yield* play.take("Task r")).requests
      const taken = yield* play.take([], [Approval.deny(request!, "never", { remember: "session" })])
      assert.deepStrictEqual([taken.tag, taken.requests], ["Completed", []])
      assert.deepStrictEqual(play.did, [])
      assert.strictEqual(taken.text, "[no [[no]]]")
    }))))

  it.effect("L11 a yes outside does not hold inside: it is asked there", () =>
    remembering(Effect.scoped(Effect.gen(function*() {
      const play = yield* begin(outside)
      const [request] = (yield* play.take("Task r")).requests
      const taken = yield* play.take([], [Approval.approve(request!, { remember: "session" })])
      assert.deepStrictEqual(taken.requests.map(({ path }) => path), [["Agent", "Agent"]])
      assert.deepStrictEqual(play.did, ["paid:same"])
    }))))

  it.effect("L11 a yes inside holds in that agent's own conversation", () =>
    remembering(Effect.scoped(Effect.gen(function*() {
      const play = yield* begin(Tree.agent([Tree.inner([Tree.pay], [Tree.pay])]))
      const [request] = (yield* play.take("Task r")).requests
      const taken = yield* play.take([], [Approval.approve(request!, { remember: "session" })])
      assert.deepStrictEqual([taken.tag, play.did], ["Completed", ["paid:same", "paid:same"]])
    }))))

  it.effect("L11 a yes inside does not hold outside, nor in another agent: both are asked", () =>
    remembering(Effect.scoped(Effect.gen(function*() {
      const play = yield* begin(inside)
      const [request] = (yield* play.take("Task r")).requests
      const taken = yield* play.take([], [Approval.approve(request!, { remember: "session" })])
      assert.sameDeepMembers(taken.requests.map(({ path }) => path ?? []), [[], ["Agent"]])
      assert.deepStrictEqual(play.did, ["paid:same"])
    }))))

  it.effect("L3 a no inside says nothing outside", () =>
    remembering(Effect.scoped(Effect.gen(function*() {
      const play = yield* begin(inside)
      const [request] = (yield* play.take("Task r")).requests
      const taken = yield* play.take([], [Approval.deny(request!, "never", { remember: "session" })])
      assert.sameDeepMembers(taken.requests.map(({ path }) => path ?? []), [[], ["Agent"]])
    }))))
})

describe("a policy outside", () => {
  S.inWays("L11 that forbids a call forbids it three levels deep, also where it was asked before", function*(way) {
    const forbids = Effect.provideService(
      ApprovalPolicy.ApprovalPolicy,
      ApprovalPolicy.make((call) =>
        call.toolName === "Pay" ? Approval.blocked("not this month") : Approval.preApproved()
      )
    )
    const play = yield* S.begin(way, Tree.threeLevels)
    yield* play.begin
    const answers = play.answersFor({ "r.00.00.00": yes, "r.00.01": yes, "r.01": yes })
    const taken = yield* forbids(play.take([], answers))
    assert.deepStrictEqual([taken.tag, taken.requests], ["Completed", []])
    assert.deepStrictEqual(play.did, ["saw:r.00.00.01"])

    const anew = yield* S.begin(way, Tree.threeLevels)
    const denied = yield* forbids(anew.take("Task r"))
    assert.deepStrictEqual([denied.tag, denied.requests], ["Completed", []])
    assert.deepStrictEqual(anew.did, ["saw:r.00.00.01"])
  })
})

describe("a controller", () => {
  it.effect("L11 that denies everything outside is not loosened by anybody inside", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.threeLevels)
      yield* Effect.provide(play.take("Task r"), ApprovalController.layerStrict)
      assert.deepStrictEqual(yield* play.pending, [])
      assert.deepStrictEqual(play.did, ["saw:r.00.00.01"])
    }))
})

// =============================================================================
// Namesakes
// =============================================================================

const OuterPay = Tool.make("Pay", {
  parameters: { amount: Schema.Number },
  success: Schema.String,
  needsApproval: true
})
const InnerPay = Tool.make("Pay", {
  parameters: { to: Schema.String, cents: Schema.FiniteFromString },
  success: Schema.String,
  needsApproval: true
})

describe("an edit of what an agent inside asks", () => {
  it.effect("L4 is checked against the schema of its own tool, and not of a namesake outside", () =>
    Effect.gen(function*() {
      const did: Array<unknown> = []
      const innerKit = Toolkit.make(InnerPay)
      const inner = yield* Effect.provide(
        innerKit,
        innerKit.toLayer({ Pay: (params) => Effect.sync(() => (did.push(params), "paid")) })
      )
      const Agent = AgentTool.make("Agent", { description: "Pays.", parameters: { task: Schema.String } })
      const innerModel = yield* ScriptedModel.make({
        turns: [[ScriptedModel.toolCall({ id: "c1", name: "Pay", params: { to: "ann", cents: "10" } })]],
        afterLastTurn: "Paid."
      })
      const kit = Toolkit.make(Agent, OuterPay)
      const toolkit = yield* Effect.provide(
        kit,
        kit.toLayer({
          Agent: AgentTool.handler(Agent, { toolkit: inner, model: innerModel.model, prompt: ({ task }) => task }),
          Pay: ({ amount }) => Effect.sync(() => (did.push({ amount }), "paid"))
        })
      )
      const outerModel = yield* ScriptedModel.make({
        turns: [[
          ScriptedModel.toolCall({ id: "c1", name: "Agent", params: { task: "Pay Ann." } }),
          ScriptedModel.toolCall({ id: "c2", name: "Pay", params: { amount: 1 } })
        ]],
        afterLastTurn: "Done."
      })
      const conversation = yield* Conversation.make({ id: "namesakes", toolkit }).pipe(
        Effect.provideService(S.LanguageModel, outerModel.model)
      )
      const asked = yield* conversation.send("Go.")
      assert.strictEqual(asked._tag, "Waiting")
      const open = yield* conversation.pending()
      const deep = open.find(({ path }) => path !== undefined)!
      assert.deepStrictEqual([deep.toolCallId, deep.params], ["c1/c1", { to: "ann", cents: "10" }])
      const wrong = yield* conversation.decide(Approval.approve(deep, { params: { amount: 5 } })).pipe(
        Effect.map(({ refused }) => refused[0]?.error),
        Effect.catch((error) => Effect.succeed(error))
      )
      assert.strictEqual(S.refusal(wrong), "InvalidEdit")
      assert.lengthOf(yield* conversation.pending(), 2)
      yield* conversation.decide(Approval.approve(deep, { params: { to: "bob", cents: "5" } }))
      assert.deepStrictEqual(did, [{ to: "bob", cents: 5 }])
      yield* conversation.decide(Approval.approve(open.find(({ path }) => path === undefined)!))
      assert.deepStrictEqual(did, [{ to: "bob", cents: 5 }, { amount: 1 }])
      assert.deepStrictEqual(yield* conversation.pending(), [])
    }))
})
