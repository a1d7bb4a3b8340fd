/** Nothing is dropped in silence: preliminary results all arrive, and an answer that is stale takes no other with it. */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, LanguageModel, Prompt, type Response, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as R from "./support.ts"

const Render = Tool.make("Render", { success: Schema.Number, needsApproval: true })
const render = ScriptedModel.toolCall({ id: "render-1", name: "Render", params: {} })

/** A tool that tells of so many steps, without waiting for anybody. */
const rendering = (steps: number): R.Handler => (_, context) =>
  Effect.gen(function*() {
    for (let step = 1; step <= steps; step++) yield* context.preliminary(step)
    return 0
  }) as Effect.Effect<number>

const preliminaryOf = (parts: R.Parts) =>
  parts.flatMap((part) => part.type === "tool-result" && part.preliminary === true ? [part.result] : [])

const all = Array.from({ length: 300 }, (_, index) => index + 1)

describe("300 preliminary results of an approved tool", () => {
  const options = { turns: [[render], "Done."], more: [Render], handlers: { Render: rendering(300) } }

  /** Reads part by part, and does something between two. */
  const read = (stream: Stream.Stream<Response.AnyPart, unknown>, between: Effect.Effect<void>) =>
    Effect.gen(function*() {
      const parts: Array<Response.AnyPart> = []
      yield* Stream.runForEach(stream, (part) => Effect.andThen(Effect.sync(() => parts.push(part)), between))
      return parts
    })

  const readers = {
    "to a reader that is quick": Effect.void,
    "to a reader that is slow": Effect.sleep("100 millis")
  }
  for (const [reader, between] of Object.entries(readers)) {
    R.inWays(`all arrive, in their order, ${reader}: approved inline`, function*(way) {
      const world = yield* R.make(way, options)
      const reading = yield* Effect.forkChild(read(world.stream("Render it."), between))
      yield* R.endsWithin(reading, 60)
      assert.deepStrictEqual(preliminaryOf(yield* Fiber.join(reading)), all)
      assert.strictEqual(world.count("Render"), 1)
    }, [...R.streamWays, "streamText"])

    R.inWays(`all arrive, in their order, ${reader}: approved by an answer`, function*(way) {
      const world = yield* R.make(way, { ...options, controller: ApprovalController.deferred })
      yield* world.begin
      const [open] = LanguageModel.collectToolApprovals((yield* world.history).content).pending
      const yes = Prompt.approvalResponses([Approval.approve({ approvalId: open!.approvalId })])
      const reading = yield* Effect.forkChild(read(world.stream(yes), between))
      yield* R.endsWithin(reading, 60)
      assert.deepStrictEqual(preliminaryOf(yield* Fiber.join(reading)), all)
      assert.strictEqual(world.count("Render"), 1)
    }, ["Chat.streamText", "streamText"])
  }
})

describe("answers in one batch stand alone", () => {
  const stales = {
    "one that was approved before": (_, request) => Approval.approve(request),
    "a \"no\" to one that ran": (_, request) => Approval.deny(request),
    "one that was never asked": () => Approval.approve({ approvalId: "never-asked" }),
    "one that cannot be read": (_, { approvalId }) => ({ approvalId, approved: "perhaps" }) as never
  } satisfies Record<string, (world: R.World, ran: { readonly approvalId: string }) => Approval.AnswerInput>

  for (const [what, stale] of Object.entries(stales)) {
    for (const order of ["first", "last"] as const) {
      R.inWays(`${what}, said ${order}, voids no other: what is open counts`, function*(way) {
        const world = yield* R.make(way, { turns: [[R.pay, R.ship]], controller: ApprovalController.deferred })
        yield* world.begin
        const { decide, pending } = world.conversation!
        const [paying, shipping] = yield* pending()
        yield* world.serving(decide(Approval.approve(paying!)))
        const answers = [stale(world, paying!), Approval.approve(shipping!)]
        yield* Effect.exit(world.serving(decide(order === "first" ? answers : answers.toReversed())))
        assert.deepStrictEqual([world.count("Pay"), world.count("Ship")], [1, 1])
        assert.deepStrictEqual(yield* pending(), [])
        yield* R.assertToldResult(world, "ship-1", "shipped to Ada")
      }, ["send", "stream"])
    }
  }

  R.inWays("one that has expired voids no other", function*(way) {
    const world = yield* R.make(way, {
      turns: [[R.pay, R.ship]],
      controller: ApprovalController.deferred,
      approval: { expiresIn: "1 hour" }
    })
    yield* world.begin
    const { decide, pending } = world.conversation!
    const [paying] = yield* pending()
    yield* TestClock.adjust("2 hours")
    const again = yield* R.make("send", {
      turns: [[{ ...R.ship, id: "ship-2" }]],
      store: world.store,
      controller: ApprovalController.deferred
    })
    yield* again.say("Ship it.")
    const shipping = (yield* pending()).find(({ toolCallId }) => toolCallId === "ship-2")
    yield* Effect.exit(world.serving(decide([Approval.approve(paying!), Approval.approve(shipping!)])))
    assert.deepStrictEqual([world.count("Pay"), world.count("Ship")], [0, 1])
  }, ["send", "stream"])

  R.inWays("nor does one in a message history", function*(way) {
    const world = yield* R.make(way, { turns: [[R.pay, R.ship]], controller: ApprovalController.deferred })
    yield* world.begin
    const [paying, shipping] = LanguageModel.collectToolApprovals((yield* world.history).content).pending
    yield* world.say(Prompt.approvalResponses([Approval.approve({ approvalId: paying!.approvalId })]))
    yield* world.say(Prompt.approvalResponses([
      Approval.deny({ approvalId: paying!.approvalId }),
      Approval.approve({ approvalId: "never-asked" }),
      Approval.approve({ approvalId: shipping!.approvalId })
    ]))
    assert.deepStrictEqual([world.count("Pay"), world.count("Ship")], [1, 1])
    yield* R.assertToldResult(world, "ship-1", "shipped to Ada")
  }, [...R.chatWays, ...R.plainWays])
})
