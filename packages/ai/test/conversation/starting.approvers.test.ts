/** L16 Turns that are begun with the answers of two approvers, in any order, at once, twice, beside a text, and by others. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { Approval, ApprovalError, ApprovalPolicy, type Approver, type Conversation } from "../../src/index.ts"
import * as W from "./who.ts"

const ada = { id: "ada", name: "Ada" }
const bob = { id: "bob", name: "Bob" }

const policy = ApprovalPolicy.make(() => Effect.succeed(Approval.needsApproval({ approvers: [["ada"], ["bob"]] })))

type Answer = Approval.AnswerInput | ReadonlyArray<Approval.AnswerInput>

const asking = Effect.gen(function*() {
  const world = yield* W.makeWorld({ turns: [[W.pay(20)]], policy })
  const request = W.only(yield* world.conversation.send("Pay."))
  const other = yield* W.makeWorld({ turns: [], store: world.store, policy })
  return { world, other, request }
})

/** How a turn ends that is begun with answers: with its outcome, or why nothing of them counts. */
const start = (
  { conversation }: Pick<W.World, "conversation">,
  answers: Answer,
  person: Approver.Person | undefined,
  text = ""
) =>
  Effect.gen(function*() {
    const options: Conversation.TurnOptions = { answers: [answers].flat(), ...(person && { by: person }) }
    const turn = yield* conversation.start(text === "" ? [] : text, options)
    const { _tag, refused } = yield* turn.outcome
    return [_tag, ...refused.map(({ error }) => error.reason._tag)].join(" ")
  }).pipe(
    Effect.catch((error) =>
      Effect.succeed(error instanceof ApprovalError.ApprovalError ? error.reason._tag : String(error))
    )
  )

const atOnce = <A>(...effects: ReadonlyArray<Effect.Effect<A, unknown>>) =>
  Effect.flatMap(
    Effect.forEach(effects, (effect) => Effect.forkChild(effect, { startImmediately: true })),
    (fibers) => Effect.forEach(fibers, (fiber) => Fiber.join(fiber))
  )

describe("L16 a turn that is begun with an answer where two have to approve", () => {
  it.effect("at once by both runs the call once, and one of them after the other", () =>
    Effect.gen(function*() {
      const { request, world } = yield* asking
      const yes = Approval.approve(request)
      const ends = yield* atOnce(start(world, yes, ada), start(world, yes, bob))
      assert.deepStrictEqual(ends, ["Waiting", "Completed"])
      assert.deepStrictEqual(world.ran, ["paid 20"])
      assert.strictEqual(yield* world.script.calls, 2)
    }))

  it.effect("again and again by the same one counts once: at once, in one turn, and in another process", () =>
    Effect.gen(function*() {
      const { other, request, world } = yield* asking
      const yes = Approval.approve(request)
      const ends = yield* atOnce(start(world, [yes, yes], ada), start(world, yes, ada), start(world, yes, ada))
      assert.deepStrictEqual(ends.slice(1), ["NotAnApprover", "NotAnApprover"])
      assert.strictEqual(yield* start(other, yes, { id: "ada", name: "Bob" }), "NotAnApprover")
      assert.deepStrictEqual([world.ran, other.ran], [[], []])
      assert.lengthOf(yield* world.conversation.pending(), 1)
      assert.strictEqual(yield* world.script.calls, 1)
    }))

  it.effect("by somebody else, by nobody known, or with an id that only looks like one, changes nothing", () =>
    Effect.gen(function*() {
      const { request, world } = yield* asking
      yield* start(world, Approval.approve(request), ada)
      const before = yield* world.conversation.read
      const people = [undefined, { id: "eve" }, { id: "Bob" }, { id: "bob " }, { id: "b\u043eb" }, { id: "" }]
      for (const person of people) {
        for (
          const answer of [Approval.approve(request), Approval.deny(request), Approval.approve(request, { params: {} })]
        ) {
          assert.notInclude(["Completed", "Waiting"], yield* start(world, answer, person))
        }
      }
      assert.deepStrictEqual(yield* world.conversation.read, before)
      assert.deepStrictEqual([world.ran, yield* world.script.calls], [[], 1])
    }))

  it.effect("L3 by one who says yes and one who says no, in either order, runs nothing", () =>
    Effect.gen(function*() {
      for (const yesFirst of [true, false]) {
        const { request, world } = yield* asking
        const yes = start(world, Approval.approve(request), ada)
        const no = start(world, Approval.deny(request, "no"), bob)
        yield* atOnce(...yesFirst ? [yes, no] : [no, yes])
        assert.deepStrictEqual(world.ran, [])
        assert.strictEqual((yield* world.entry(request))?.state, "denied")
        assert.deepStrictEqual(yield* world.conversation.pending(), [])
        assert.strictEqual(yield* start(world, Approval.approve(request), ada), "AlreadyDecided")
      }
    }))

  it.effect("beside a text that goes on without it: what was approved by one of two runs no more", () =>
    Effect.gen(function*() {
      const { request, world } = yield* asking
      assert.include(yield* start(world, Approval.approve(request), ada, "And be quick."), "Completed")
      assert.strictEqual(yield* start(world, Approval.approve(request), bob), "AlreadyDecided")
      assert.deepStrictEqual(world.ran, [])
      const { content } = yield* world.conversation.history
      assert.strictEqual(content.filter(({ role }) => role === "user").length, 2)
    }))

  it.effect("of parameters that the other one did not see runs neither", () =>
    Effect.gen(function*() {
      const { request, world } = yield* asking
      yield* start(world, Approval.approve(request), ada)
      yield* start(world, Approval.approve(request, { params: { amount: 2_000 } }), bob)
      assert.notInclude(world.ran, "paid 2000")
    }))
})
