import { assert, describe, it } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Fiber, pipe, Schema, Stream } from "effect"
import { LanguageModel as UpstreamModel, type Response, Tool as Upstream } from "effect/ai"
import { TestClock } from "effect/testing"
import * as Approval from "../src/Approval.ts"
import * as Gate from "../src/internal/tool/gate.ts"
import * as LanguageModel from "../src/LanguageModel.ts"
import * as Tool from "../src/Tool.ts"
import * as Toolkit from "../src/Toolkit.ts"
import { context, Ledger, makeCharge, type Needs, parameters, troubled, wrong } from "./tool/gates.ts"

const script = [
  { type: "tool-call", id: "call-1", name: "Charge", params: { amount: "12" } },
  {
    type: "finish",
    reason: "tool-calls",
    usage: { inputTokens: {}, outputTokens: {} }
  }
] satisfies Array<Response.StreamPartEncoded>

/** Calls the tool once, and says whether its handler ran and whether a person was asked. */
const turn = Effect.fnUntraced(function*(tool: Upstream.Any, via: "generateText" | "streamText") {
  let ran = 0
  const toolkit = Toolkit.make(tool as ReturnType<typeof makeCharge>)
  const handlers = toolkit.toLayer({ Charge: ({ amount }) => Effect.sync(() => `charged ${amount}, ${++ran}`) })
  const provider = yield* UpstreamModel.make({
    generateText: () => Effect.succeed([...script]),
    streamText: () => Stream.fromIterable(script)
  })
  const model = LanguageModel.withApproval(provider)
  const program: Effect.Effect<ReadonlyArray<{ readonly type: string }>, unknown, unknown> = via === "generateText"
    ? Effect.map(model.generateText({ prompt: "charge", toolkit }), (response) => response.content)
    : Stream.runCollect(model.streamText({ prompt: "charge", toolkit }))
  // Whether the gate's own service is there as well is what some tests are about.
  const parts = yield* Effect.provide(program as Effect.Effect<Effect.Success<typeof program>>, handlers)
  return { ran, asked: parts.filter((part) => part.type === "tool-approval-request").length }
})

const both = ["generateText", "streamText"] as const

describe("Tool.make", () => {
  for (const via of both) {
    describe(via, () => {
      for (const [name, gate] of Object.entries(troubled)) {
        it.effect(`B1, B21: a gate that ${name} is asked, and its tool does not run`, () =>
          Effect.gen(function*() {
            assert.deepStrictEqual(yield* turn(makeCharge(gate as never), via), { ran: 0, asked: 1 })
          }))
      }

      for (const [name, gate] of Object.entries(wrong)) {
        it.effect(`a gate that returns ${name} is asked`, () =>
          Effect.gen(function*() {
            assert.deepStrictEqual(yield* turn(makeCharge(gate as never), via), { ran: 0, asked: 1 })
          }))
      }

      for (
        const [name, gate] of Object.entries({ "a string": "yes", "null": null, "an effect": Effect.succeed(false) })
      ) {
        it.effect(`${name} in place of a gate is asked`, () =>
          Effect.gen(function*() {
            assert.deepStrictEqual(yield* turn(makeCharge(gate as never), via), { ran: 0, asked: 1 })
          }))
      }

      it.effect("a gate that wants a person is asked, and one that blocks neither asks nor runs", () =>
        Effect.gen(function*() {
          const gates: ReadonlyArray<Needs> = [
            true,
            () => true,
            () => Effect.succeed(true),
            () => Approval.needsApproval({ reason: "money" }),
            () => Effect.succeed(Approval.needsApproval()),
            ({ amount }) => amount === 12
          ]
          for (const gate of gates) {
            assert.deepStrictEqual(yield* turn(makeCharge(gate), via), { ran: 0, asked: 1 })
          }
          const blocked = makeCharge(() => Approval.blocked("never"))
          assert.deepStrictEqual(yield* turn(blocked, via), { ran: 0, asked: 0 })
        }))

      it.effect("a gate that needs nobody lets the tool run", () =>
        Effect.gen(function*() {
          const gates: ReadonlyArray<Needs> = [
            false,
            () => false,
            () => Effect.succeed(false),
            () => Approval.preApproved(),
            () => Effect.succeed(Approval.preApproved("small")),
            ({ amount }, { messages, toolCallId }) => amount !== 12 || toolCallId !== "call-1" || messages.length !== 1
          ]
          for (const gate of gates) {
            assert.deepStrictEqual(yield* turn(makeCharge(gate), via), { ran: 1, asked: 0 })
          }
        }))

      it.effect("a tool without a gate runs", () =>
        Effect.gen(function*() {
          const tool = Tool.make("Charge", { parameters, success: Schema.String })
          assert.deepStrictEqual(yield* turn(tool, via), { ran: 1, asked: 0 })
        }))

      it.effect("B21: a gate uses a service that is there", () =>
        Effect.gen(function*() {
          const tool = makeCharge(({ amount }) => Ledger.use((ledger) => ledger.isLarge(amount)))
          const over = (limit: number) =>
            Effect.provideService(turn(tool, via), Ledger, { isLarge: (amount) => Effect.succeed(amount > limit) })
          assert.deepStrictEqual(yield* over(100), { ran: 1, asked: 0 })
          assert.deepStrictEqual(yield* over(10), { ran: 0, asked: 1 })
          const offline = Effect.provideService(turn(tool, via), Ledger, { isLarge: () => Effect.fail("offline") })
          assert.deepStrictEqual(yield* offline, { ran: 0, asked: 1 })
        }))

      for (
        const [name, hang] of [
          ["", Effect.never],
          [", and cannot be interrupted,", Effect.uninterruptible(Effect.never)]
        ] as const
      ) {
        it.effect(`B1: a gate that says nothing${name} is asked after 30 seconds`, () =>
          Effect.gen(function*() {
            const started = yield* Deferred.make<void>()
            const gate = () => Effect.andThen(Deferred.succeed(started, void 0), hang)
            const fiber = yield* Effect.forkChild(turn(makeCharge(gate), via))
            yield* Deferred.await(started)
            yield* TestClock.adjust("29 seconds")
            assert.isUndefined(fiber.pollUnsafe())
            yield* TestClock.adjust("1 second")
            assert.deepStrictEqual(yield* Fiber.join(fiber), { ran: 0, asked: 1 })
          }))
      }

      it.effect("a turn that is interrupted while its gate waits is interrupted, and so is the gate", () =>
        Effect.gen(function*() {
          const started = yield* Deferred.make<void>()
          const stopped = yield* Deferred.make<void>()
          const gate = () =>
            Deferred.succeed(started, void 0).pipe(
              Effect.andThen(Effect.never),
              Effect.onInterrupt(() => Deferred.succeed(stopped, void 0))
            )
          const fiber = yield* Effect.forkChild(turn(makeCharge(gate), via))
          yield* Deferred.await(started)
          yield* Fiber.interrupt(fiber)
          yield* Deferred.await(stopped)
          const exit = yield* Fiber.await(fiber)
          assert.isTrue(Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause))
        }))
    })
  }
})

describe("make", () => {
  it("turns plain fields into a struct, and leaves schemas alone", () => {
    const Fields = Tool.make("A", { parameters: { path: Schema.String, constructor: Schema.Number } })
    assert.deepStrictEqual(Object.keys(Fields.parametersSchema.fields), ["path", "constructor"])
    const schema = Schema.Struct({ path: Schema.String })
    assert.strictEqual(Tool.make("B", { parameters: schema }).parametersSchema, schema)
    class Target extends Schema.Class<Target>("Target")({ path: Schema.String }) {}
    assert.strictEqual(Tool.make("C", { parameters: Target }).parametersSchema, Target)
  })

  it("takes no fields for no parameters", () => {
    for (const tool of [Tool.make("A", { parameters: {} }), Tool.make("A", {}), Tool.make("A")]) {
      assert.strictEqual(tool.parametersSchema, Tool.EmptyParams)
      assert.deepStrictEqual(Tool.getJsonSchema(tool), { type: "object", additionalProperties: false })
    }
  })

  it("makes what upstream makes, but for the gate", () => {
    const options = {
      description: "d",
      parameters: Schema.Struct(parameters),
      success: Schema.String,
      failure: Schema.Number,
      failureMode: "return",
      toModelOutput: () => []
    } as const
    assert.deepStrictEqual({ ...Tool.make("A", options) }, { ...Upstream.make("A", options) })
    assert.deepStrictEqual({ ...Tool.dynamic("A", options) }, { ...Upstream.dynamic("A", options) })
    assert.isTrue(Tool.isUserDefined(Tool.make("A")))
  })

  it("keeps the gate through upstream's methods, and replaces it when asked to", () => {
    const gate = () => Approval.blocked("never")
    const tool = makeCharge(gate)
    const copies: ReadonlyArray<Upstream.Any> = [
      tool.annotate(Tool.Destructive, true),
      tool.annotateMerge(Context.make(Tool.Title, "Charge")),
      tool.setSuccess(Schema.Number),
      tool.setFailure(Schema.Number),
      tool.setParameters(Schema.Struct({ amount: Schema.Number })),
      tool.addDependency(Tool.Title)
    ]
    for (const copy of copies) assert.strictEqual(Gate.gateOf(copy), gate)
    const foreign = () => true
    assert.strictEqual(Gate.gateOf(tool.setNeedsApproval(foreign)), foreign)
    assert.strictEqual(Gate.gateOf(tool.setNeedsApproval(false)), false)
  })
})

describe("dynamic", () => {
  it.effect("is closed, with a schema and with a JSON Schema", () =>
    Effect.gen(function*() {
      const jsonSchema = { type: "object", properties: { amount: { type: "string" } } }
      const gate = () => Effect.fail("offline")
      const Json = Tool.dynamic("Charge", { parameters: jsonSchema, success: Schema.String, needsApproval: gate })
      assert.strictEqual(Tool.getJsonSchema(Json), jsonSchema)
      const Typed = Tool.dynamic("Charge", {
        parameters: Schema.Struct(parameters),
        success: Schema.String,
        needsApproval: ({ amount }) => amount === 12 ? Effect.die("boom") : false
      })
      for (const tool of [Json, Typed]) {
        assert.isTrue(Tool.isDynamic(tool))
        assert.deepStrictEqual(yield* turn(tool, "generateText"), { ran: 0, asked: 1 })
      }
    }))
})

describe("setNeedsApproval", () => {
  const options = { parameters: Schema.Struct(parameters), success: Schema.String }

  it.effect("closes the gates of tools made by others, and changes a copy", () =>
    Effect.gen(function*() {
      for (const tool of [Upstream.make("Charge", options), Upstream.dynamic("Charge", options)]) {
        const failing = Tool.setNeedsApproval(tool, () => Effect.fail("offline"))
        const piped = pipe(tool, Tool.setNeedsApproval(({ amount }) => Effect.succeed(amount > 10)))
        const always = pipe(tool, Tool.setNeedsApproval(true))
        for (const gated of [failing, piped, always]) {
          assert.deepStrictEqual(yield* turn(gated, "generateText"), { ran: 0, asked: 1 })
          assert.strictEqual(Tool.isDynamic(gated), Tool.isDynamic(tool))
        }
        assert.deepStrictEqual(yield* turn(tool, "generateText"), { ran: 1, asked: 0 })
      }
    }))

  it.effect("replaces a gate that was there", () =>
    Effect.gen(function*() {
      const tool = Tool.setNeedsApproval(makeCharge(true), () => Approval.preApproved())
      assert.deepStrictEqual(yield* turn(tool, "generateText"), { ran: 1, asked: 0 })
      assert.deepStrictEqual(yield* Gate.evaluate(tool, {}, context), Approval.preApproved())
      const back = Tool.setNeedsApproval(tool, () => Effect.die("boom"))
      assert.deepStrictEqual(yield* turn(back, "generateText"), { ran: 0, asked: 1 })
    }))

  it("keeps a provider's tool one", () => {
    const Shell = Tool.providerDefined({ id: "acme.shell", customName: "Shell", providerName: "shell" })
    const gated = Tool.setNeedsApproval(Shell(undefined), true)
    assert.isTrue(Tool.isProviderDefined(gated))
    assert.strictEqual(gated.providerName, "shell")
    assert.strictEqual(Gate.gateOf(gated), true)
  })

  it("takes another tool's slot over, gate and all", () => {
    const gate = () => Approval.blocked("never")
    const tool = Tool.setNeedsApproval(Upstream.make("Charge", options), makeCharge(gate).needsApproval as never)
    assert.strictEqual(Gate.gateOf(tool), gate)
  })

  it("asks, given nothing by an untyped program", () => {
    assert.strictEqual(Gate.gateOf(Tool.setNeedsApproval(makeCharge(false), undefined as never)), true)
  })
})

describe("the module", () => {
  it("has everything upstream's has, and wins where it differs", () => {
    const own = ["make", "dynamic", "setNeedsApproval"]
    for (const [name, value] of Object.entries(Upstream)) {
      if (!own.includes(name)) assert.strictEqual(Reflect.get(Tool, name), value, name)
    }
    assert.notStrictEqual<unknown>(Tool.make, Upstream.make)
    assert.notStrictEqual<unknown>(Tool.dynamic, Upstream.dynamic)
    assert.deepStrictEqual(Object.keys(Tool).filter((name) => !(name in Upstream)), ["present", "setNeedsApproval"])
  })
})
