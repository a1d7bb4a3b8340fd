/**
 * L11 deeper than two levels, and beside the turns: what a handler asks of its own, what a guarded handler does further in,
 * what stands over a tool twice, and whose model a conversation's turns are.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schema, Stream } from "effect"
import { ApprovalController, ApprovalPolicy, Conversation, LanguageModel, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as L from "./levels.ts"
import { fresh } from "./support.ts"

const Levels = Schema.Struct({
  gated: Schema.Boolean,
  stream: Schema.Boolean,
  // From the inside to the outside.
  levels: Schema.Array(Schema.Struct({ policy: Schema.Literals(L.words), who: Schema.Literals(L.controllers) })).check(
    Schema.isMinLength(1),
    Schema.isMaxLength(5)
  )
})

describe("L11 turns within turns", () => {
  it.effect.prop(
    "L11 nothing runs that one of them alone would not let run, and another level never makes it milder",
    { world: Levels },
    ({ world: { gated, levels, stream } }) =>
      fresh(Effect.gen(function*() {
        const { asked, end } = yield* L.nest({ stream, gated, levels })
        const said = levels.map(({ policy }) => policy).filter((policy) => policy !== "none")
        const alone = (said.length === 0 ? ["none" as const] : said).map((word) => L.alone(word, gated))
        const named = levels.map(({ who }) => who).filter((who) => who !== "none")
        // Whoever approves everything is nobody, and answers where nobody else is named.
        const people = named.filter((who) => who !== "approveAll")
        const at = levels.findIndex(({ who }) => who === people[0])
        if (alone.includes("refused")) return assert.deepStrictEqual({ end, asked }, { end: "refused", asked: [] })
        if (!alone.includes("open")) return assert.deepStrictEqual({ end, asked }, { end: "ran", asked: [] })
        if (named.includes("strict")) return assert.deepStrictEqual({ end, asked }, { end: "refused", asked: [] })
        const [who = named.length > 0 ? "approveAll" : "deferred"] = people
        assert.strictEqual(end, who === "deferred" ? "open" : who === "deny" ? "refused" : "ran")
        assert.deepStrictEqual(asked, who === "approve" || who === "deny" ? [at] : [])
      })),
    { timeout: 30_000, arbitrary: { runs: 150, seed: "levels" } }
  )
})

const Target = Tool.make("Target", { success: Schema.String, needsApproval: true })

const counting = Effect.gen(function*() {
  const runs: Array<string> = []
  const kit = Toolkit.make(Target)
  const toolkit = yield* Effect.provide(
    kit,
    kit.toLayer({ Target: () => Effect.sync(() => (runs.push("ran"), "ran")) })
  )
  return { runs, toolkit }
})

const named = (controller: ApprovalController.Service) =>
  Effect.provideService(ApprovalController.ApprovalController, controller)

const judged = (policy: ApprovalPolicy.Service) => Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy)

const handled = <Tools extends Record<string, Tool.Any>>(toolkit: Toolkit.WithHandler<Tools>) =>
  Stream.runCollect(Stream.unwrap(toolkit.handle("Target", {} as never)))

const modelOf = (...names: ReadonlyArray<string>) =>
  Effect.map(
    ScriptedModel.make({
      turns: names.map((name, index) => [ScriptedModel.toolCall({ id: `call-${index}`, name, params: {} })]),
      afterLastTurn: "Done."
    }),
    ({ model }) => model
  )

const allow = ApprovalPolicy.make(() => false)

describe("L11 in a handler", () => {
  const Delegate = Tool.make("Delegate", { success: Schema.String })
  const delegating = Toolkit.make(Delegate)

  it.effect("L11 a program's own question goes to the innermost person, not to whoever approves everything around", () =>
    fresh(Effect.gen(function*() {
      const seen: Array<string> = []
      const handlers = delegating.toLayer({
        Delegate: () =>
          ApprovalController.request({ name: "really" }).pipe(Effect.map(({ _tag }) => _tag), Effect.orDie)
      })
      const conversation = yield* Conversation.make({ id: "asks", toolkit: delegating }).pipe(
        Effect.provide(handlers),
        Effect.provideService(LanguageModel.LanguageModel, yield* modelOf("Delegate")),
        named(ApprovalController.interactive(({ toolName }) => (seen.push(toolName), false)))
      )
      yield* named(ApprovalController.approveAll)(conversation.send("Go."))
      assert.deepStrictEqual(seen, ["really"])
      assert.include(JSON.stringify(yield* conversation.history), "Denied")
    })))

  it.effect("L11 whether a call needs approval is told as it would be decided there", () =>
    fresh(Effect.gen(function*() {
      const told: Array<unknown> = []
      const handlers = delegating.toLayer({
        Delegate: () =>
          Effect.gen(function*() {
            told.push(yield* LanguageModel.isApprovalNeeded(Target, { id: "c1", name: "Target", params: {} }, []))
            const call = yield* Effect.orDie(ApprovalPolicy.makeCall(Target, {}))
            told.push((yield* ApprovalPolicy.explain(call)).result._tag)
            return "told"
          }).pipe(judged(allow))
      })
      const turn = LanguageModel.generateText({ prompt: "Go.", toolkit: delegating }).pipe(
        Effect.provide(handlers),
        Effect.provideService(LanguageModel.LanguageModel, yield* modelOf("Delegate", "Delegate"))
      )
      yield* judged(allow)(turn)
      yield* judged(L.policyOf("deny"))(turn)
      assert.deepStrictEqual(told, [false, "PreApproved", true, "Blocked"])
    })))

  it.effect("L11 what a guarded handler does further in stands within what holds for the toolkit", () =>
    fresh(Effect.gen(function*() {
      const { runs, toolkit } = yield* counting
      const inner = Toolkit.guard(toolkit)
      const handlers = delegating.toLayer({
        Delegate: () => Effect.as(Effect.orDie(judged(allow)(handled(inner))), "done")
      })
      const guarded = Effect.provide(Toolkit.guard(delegating), handlers)
      for (const policy of [L.policyOf("deny"), allow]) {
        const outer = yield* judged(policy)(guarded)
        yield* Stream.runDrain(Stream.unwrap(outer.handle("Delegate", {})))
      }
      assert.deepStrictEqual(runs, ["ran"])
    })))
})

describe("L11 what a level does not say", () => {
  const Delegate = Tool.make("Delegate", { success: Schema.String })
  const delegating = Toolkit.make(Delegate)
  const doing = (what: Effect.Effect<unknown, unknown>) =>
    delegating.toLayer({ Delegate: () => Effect.as(Effect.orDie(what), "done") })

  /** Forbids by itself, and calls these tools in turn. */
  const forbidding = Effect.fnUntraced(function*(...names: ReadonlyArray<string>) {
    const given = Layer.succeed(LanguageModel.LanguageModel, yield* modelOf(...names)).pipe(
      LanguageModel.approval(),
      Layer.provide(Layer.succeed(ApprovalPolicy.ApprovalPolicy, L.policyOf("deny")))
    )
    return yield* Effect.provide(LanguageModel.LanguageModel, given)
  })

  const goes = <Tools extends Record<string, Tool.Any>>(
    toolkit: Toolkit.WithHandler<Tools>,
    model: LanguageModel.LanguageModel
  ) =>
    Effect.provideService(
      LanguageModel.generateText({ prompt: "Go.", toolkit }) as Effect.Effect<unknown, unknown>,
      LanguageModel.LanguageModel,
      model
    )

  it.effect("L11 what a call said in the place of its model's policy holds for turns of that model further in", () =>
    fresh(Effect.gen(function*() {
      const { runs, toolkit } = yield* counting
      const model = yield* forbidding("Delegate", "Target")
      const outer = yield* Effect.provide(delegating, doing(goes(toolkit, model)))
      yield* judged(allow)(goes(outer, model))
      assert.deepStrictEqual(runs, ["ran"])
    })))

  it.effect("L11 and what was said where a conversation was made stands in the place of its model's, also in a handler", () =>
    fresh(Effect.gen(function*() {
      const { runs, toolkit } = yield* counting
      const conversation = yield* Conversation.make({ id: "overruled", toolkit }).pipe(
        Effect.provideService(LanguageModel.LanguageModel, yield* forbidding("Target")),
        judged(allow)
      )
      const outer = yield* Effect.provide(delegating, doing(conversation.send("Go.")))
      yield* judged(ApprovalPolicy.make(() => false))(goes(outer, yield* modelOf("Delegate")))
      assert.deepStrictEqual(runs, ["ran"])
    })))

  it.effect("L11 who is named in a turn further in comes before who is named in the conversation around it", () =>
    fresh(Effect.gen(function*() {
      const { toolkit } = yield* counting
      const seen: Array<string> = []
      const person = (name: string) => named(ApprovalController.interactive(() => (seen.push(name), true)))
      const inner = person("inner")(goes(toolkit, yield* modelOf("Target")))
      const conversation = yield* Conversation.make({ id: "people", toolkit: delegating }).pipe(
        Effect.provide(doing(inner)),
        Effect.provideService(LanguageModel.LanguageModel, yield* modelOf("Delegate")),
        person("outer")
      )
      yield* conversation.send("Go.")
      assert.deepStrictEqual(seen, ["inner"])
    })))
})

describe("L11 over a tool", () => {
  it.effect("L11 of two policies put over a toolkit the stricter holds, whichever was first, and none around opens it", () =>
    fresh(Effect.gen(function*() {
      const { runs, toolkit } = yield* counting
      for (const [first, second] of [["deny", "allow"], ["allow", "deny"], ["allow", "allow"]] as const) {
        const over = Toolkit.withPolicy(Toolkit.withPolicy(toolkit, L.policyOf(first)), L.policyOf(second))
        yield* handled(Toolkit.guard(over)).pipe(judged(allow), named(ApprovalController.approveAll))
      }
      assert.deepStrictEqual(runs, ["ran"], "only where both let it")
    })))

  it.effect("L11 the tool's own gate is no level: the nearest policy overrides it, and one that is set later counts", () =>
    fresh(Effect.gen(function*() {
      const { runs, toolkit } = yield* counting
      yield* handled(Toolkit.guard(Toolkit.withPolicy(toolkit, allow)))
      yield* judged(allow)(handled(Toolkit.guard(toolkit)))
      assert.lengthOf(runs, 2)
      const over = Toolkit.withPolicy(toolkit, allow)
      const gated = { ...over, tools: { Target: Tool.setNeedsApproval(over.tools.Target, true) } }
      yield* handled(Toolkit.guard(gated as unknown as typeof over))
      assert.lengthOf(runs, 2)
    })))
})

describe("L11 the model of a conversation", () => {
  const speaking = (text: string) =>
    Effect.map(ScriptedModel.make({ turns: [], afterLastTurn: text }), ({ model }) => model)

  it.effect("L11 is the one it was made with, whichever is there where a turn is taken, unless a turn names another", () =>
    fresh(Effect.gen(function*() {
      const { toolkit } = yield* counting
      const own = yield* speaking("own")
      const conversation = yield* Effect.provideService(
        Conversation.make({ id: "models", toolkit }),
        LanguageModel.LanguageModel,
        own
      )
      const around = Effect.provideService(LanguageModel.LanguageModel, yield* speaking("around"))
      assert.strictEqual((yield* around(conversation.send("Who?"))).text, "own")
      const other = conversation.withModel(yield* speaking("other"))
      assert.strictEqual((yield* around(other.send("Who?"))).text, "other")
      assert.strictEqual((yield* conversation.outcome)?._tag, "Completed")
      assert.strictEqual((yield* conversation.send("Who?")).text, "own")
      assert.lengthOf((yield* conversation.history).content, 6)
    })))

  it.effect("L11 another one may be stricter and not milder", () =>
    fresh(Effect.gen(function*() {
      const { runs, toolkit } = yield* counting
      for (const [made, other] of [["deny", "allow"], ["allow", "deny"], ["allow", "allow"]] as const) {
        const conversation = yield* Conversation.make({ id: `${made}-${other}`, toolkit }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, yield* speaking("own")),
          judged(L.policyOf(made))
        )
        const given = Layer.succeed(LanguageModel.LanguageModel, yield* modelOf("Target")).pipe(
          LanguageModel.approval(),
          Layer.provide(Layer.succeed(ApprovalPolicy.ApprovalPolicy, L.policyOf(other)))
        )
        const model = yield* Effect.provide(LanguageModel.LanguageModel, given)
        yield* judged(allow)(conversation.withModel(model).send("Go."))
      }
      assert.deepStrictEqual(runs, ["ran"])
    })))
})
