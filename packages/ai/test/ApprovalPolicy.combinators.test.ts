/**
 * Policies made of policies: whichever part fails, none of them loosens anything (law L1).
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, pipe, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalPolicy, Approver, Tool } from "../src/index.ts"
import * as Support from "./laws/support.ts"

const parts = {
  "nothing": ApprovalPolicy.toolGate,
  "nothing, by function": ApprovalPolicy.make(() => undefined),
  "lets run": ApprovalPolicy.make(() => Approval.preApproved()),
  "false": ApprovalPolicy.make(() => false),
  "asks": ApprovalPolicy.make(() => Approval.needsApproval({ reason: "asked" })),
  "describes": ApprovalPolicy.make(() => ({ description: "how" })),
  "blocks": ApprovalPolicy.make(() => Approval.blocked("no")),
  "fails": ApprovalPolicy.make(() => Effect.fail("secret")),
  "dies": ApprovalPolicy.make(() => Effect.die("secret")),
  "is interrupted": ApprovalPolicy.make(() => Effect.interrupt),
  "throws": ApprovalPolicy.make(() => {
    throw new Error("secret")
  }),
  "says what is no result": ApprovalPolicy.make((() => ({ _tag: "PreApproved", reason: 7 })) as never),
  "says null": ApprovalPolicy.make((() => null) as never),
  "promises": ApprovalPolicy.make((() => Promise.resolve(false)) as never),
  "lacks a service": ApprovalPolicy.make((() => Missing.use(Effect.succeed)) as never)
}

class Missing extends Context.Service<Missing, boolean>()("test/Missing") {}

const gates: Record<string, Tool.NeedsApproval<typeof Schema.Unknown>> = {
  "lets run": false,
  "asks": true,
  "blocks": () => Approval.blocked("own"),
  "fails": () => Effect.fail("secret")
}

type Part = keyof typeof parts

/** What becomes of a call: a rank, where a failure is one that asks, and whose approval would not count. */
const rankOf = (policy: ApprovalPolicy.Service, gate: string) =>
  Effect.gen(function*() {
    const tool = Tool.dynamic("t", { parameters: Schema.Unknown, needsApproval: gates[gate]! })
    const call = yield* ApprovalPolicy.makeCall(tool, { a: 1 })
    const decided = yield* Effect.result(ApprovalPolicy.decide(policy, call, "1 second"))
    const result = Result.isSuccess(decided) ? decided.success : undefined
    const { result: explained } = yield* Effect.provideService(
      ApprovalPolicy.explain(call),
      ApprovalPolicy.ApprovalPolicy,
      policy
    )
    // What is explained is what is decided.
    if (result === undefined) assert.strictEqual(explained._tag, "NeedsApproval")
    else assert.deepStrictEqual(explained, result)
    return result === undefined ? "failed" as const : result._tag
  })

const rank = { PreApproved: 0, NeedsApproval: 1, failed: 2, Blocked: 3 }

const two = {
  one: Schema.Literals(Object.keys(parts) as Array<Part>),
  other: Schema.Literals(Object.keys(parts) as Array<Part>),
  gate: Schema.Literals(Object.keys(gates))
}

describe("combinators", () => {
  it.effect.prop(
    "L1 tighten: no call runs that one of them, or the tool where one says nothing, does not let run",
    two,
    ({ gate, one, other }) =>
      Effect.gen(function*() {
        const self = parts[one]
        const that = parts[other]
        const together = yield* rankOf(ApprovalPolicy.tighten(self, that), gate)
        const alone = [yield* rankOf(self, gate), yield* rankOf(that, gate)]
        assert.isAtLeast(
          rank[together === "failed" ? "NeedsApproval" : together],
          Math.max(...alone.map((result) => rank[result === "failed" ? "NeedsApproval" : result]))
        )
        // A failure counts as it does alone, unless the call is forbidden anyhow.
        if (alone.includes("failed")) assert.include(["failed", "Blocked"], together)
        assert.strictEqual(yield* rankOf(pipe(self, ApprovalPolicy.tighten(that)), gate), together)
        assert.strictEqual(yield* rankOf(ApprovalPolicy.tighten(that, self), gate), together, "in any order")
      })
  )

  it.effect.prop(
    "L1 orElse and override: the other's word counts where the first says nothing, and never where it fails",
    two,
    ({ gate, one, other }) =>
      Effect.gen(function*() {
        const self = parts[one]
        const that = parts[other]
        const together = yield* rankOf(ApprovalPolicy.orElse(self, that), gate)
        const first = yield* rankOf(self, gate)
        const second = yield* rankOf(that, gate)
        assert.strictEqual(together, one.startsWith("nothing") ? second : first)
        assert.strictEqual(yield* rankOf(pipe(self, ApprovalPolicy.orElse(that)), gate), together)
        assert.strictEqual(yield* rankOf(ApprovalPolicy.override(that, self), gate), together)
        assert.strictEqual(yield* rankOf(pipe(that, ApprovalPolicy.override(self)), gate), together)
      })
  )

  const conditions: Record<string, unknown> = {
    "holds": () => true,
    "does not hold": () => false,
    "holds, in an effect": () => Effect.succeed(true),
    "fails": () => Effect.fail("secret"),
    "throws": () => {
      throw new Error("secret")
    },
    "says nothing": () => undefined,
    "says a text": () => "false",
    "promises": () => Promise.resolve(false)
  }
  it.effect.prop(
    "L1 when: of other calls it says nothing, and where the condition fails it fails",
    { part: two.one, gate: two.gate, condition: Schema.Literals(Object.keys(conditions)) },
    ({ condition, gate, part }) =>
      Effect.gen(function*() {
        const policy = ApprovalPolicy.when(parts[part], conditions[condition] as never)
        const expected = condition.startsWith("holds")
          ? yield* rankOf(parts[part], gate)
          : condition === "does not hold"
          ? yield* rankOf(ApprovalPolicy.toolGate, gate)
          : "failed"
        assert.strictEqual(yield* rankOf(policy, gate), expected)
        assert.strictEqual(
          yield* rankOf(pipe(parts[part], ApprovalPolicy.when(conditions[condition] as never)), gate),
          expected
        )
      })
  )

  it.effect("a policy whose function was replaced is what its new function says", () =>
    Effect.gen(function*() {
      const config = yield* ApprovalPolicy.fromConfig({ "*": "none" })
      const stricter: ApprovalPolicy.Service = { ...config, decide: () => Effect.succeed(Approval.blocked("mine")) }
      assert.strictEqual(yield* rankOf(ApprovalPolicy.orElse(stricter, config), "lets run"), "Blocked")
      assert.strictEqual(yield* rankOf(ApprovalPolicy.tighten(config, stricter), "lets run"), "Blocked")
    }))

  Support.forEachMode("L1 a part that hangs asks once the time is up, under every combinator", function*(mode) {
    const hanging = ApprovalPolicy.make(() => Effect.never)
    const allowing = parts["lets run"]
    for (
      const policy of [
        ApprovalPolicy.tighten(allowing, hanging),
        ApprovalPolicy.tighten(hanging, allowing),
        ApprovalPolicy.orElse(hanging, allowing),
        ApprovalPolicy.override(allowing, hanging),
        ApprovalPolicy.when(hanging, () => true),
        ApprovalPolicy.when(allowing, () => Effect.never)
      ]
    ) {
      const tools = yield* Support.makeTools()
      const fiber = yield* Effect.forkChild(Effect.provideService(
        Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c1", "ReadFile", { path: "a" })] }),
        ApprovalPolicy.ApprovalPolicy,
        policy
      ))
      assert.isTrue(yield* Support.advance(fiber, "10 seconds"))
      const turn = yield* Fiber.join(fiber)
      assert.deepStrictEqual(turn.requests.map((request) => request.toolCallId), ["c1"])
      assert.deepStrictEqual(tools.runs, [])
    }
  })
})

// =============================================================================
// strictest
// =============================================================================

const Results = Schema.Union([
  Approval.PreApproved,
  Approval.Blocked,
  Approval.NeedsApproval.mapFields(({ presentation: _, remember: __, ...fields }) => ({
    ...fields,
    approvers: Schema.optionalKey(Schema.Array(Schema.Literals(["ada", "bob", "eve"]))),
    expiresIn: Schema.optionalKey(Schema.Finite),
    remember: Schema.optionalKey(Schema.Literals(["session", "tool"]))
  }))
])

/** What a result allows, in which less is stricter. */
const allows = (result: Approval.ApprovalResult) =>
  result._tag === "NeedsApproval"
    ? {
      sets: people.filter((set) => Approver.lists(result.approvers).every((ids) => ids.some((id) => set.includes(id)))),
      expiresIn: result.expiresIn ?? Infinity,
      editable: result.editable,
      rememberable: result.rememberable,
      remember: result.remember
    }
    : undefined

/** Every set of people who may have approved it. */
const people = [[], ["ada"], ["bob"], ["eve"], ["ada", "bob"], ["ada", "eve"], ["bob", "eve"], ["ada", "bob", "eve"]]

const order = { PreApproved: 0, NeedsApproval: 1, Blocked: 2 }

describe("strictest", () => {
  it.effect.prop(
    "allows nothing that either of the two does not",
    { one: Results, other: Results },
    ({ one, other }) =>
      Effect.sync(() => {
        const self = asResult(one)
        const that = asResult(other)
        const both = ApprovalPolicy.strictest(self, that)
        assert.isTrue(Approval.isApprovalResult(both))
        assert.isAtLeast(order[both._tag], Math.max(order[self._tag], order[that._tag]))
        const result = allows(both)
        for (const part of [allows(self), allows(that)]) {
          if (result === undefined || part === undefined) continue
          assert.isAtMost(result.expiresIn, part.expiresIn)
          assert.isTrue(result.sets.every((set) => part.sets.includes(set)))
          if (part.editable === false) assert.isFalse(result.editable)
          if (part.rememberable === false) {
            assert.isFalse(result.rememberable)
            // One alone is as it was, whatever it says twice.
            if (self._tag === that._tag) assert.isUndefined(result.remember)
          }
          if (result.remember !== undefined && part.remember !== undefined) {
            assert.deepStrictEqual(result.remember, part.remember)
          }
        }
        // The other way round only the order of words differs.
        const back = ApprovalPolicy.strictest(that, self)
        assert.deepStrictEqual([back._tag, allows(back)?.expiresIn, allows(back)?.editable, allows(back)?.remember], [
          both._tag,
          result?.expiresIn,
          result?.editable,
          result?.remember
        ])
        assert.deepStrictEqual(pipe(self, ApprovalPolicy.strictest(that)), both)
      })
  )

  it("what two leave behind differently is not left behind, and nothing that was is used", () => {
    const leaving = (remember: string) => Approval.needsApproval({ rememberable: true, remember })
    assert.deepStrictEqual(
      ApprovalPolicy.strictest(leaving("session"), leaving("tool")),
      Approval.needsApproval({ rememberable: false })
    )
    assert.deepStrictEqual(ApprovalPolicy.strictest(leaving("session"), leaving("session")), leaving("session"))
  })

  it("of different lists of approvers one of each is needed, in whatever order, and a list without anybody blocks", () => {
    const by = (...approvers: ReadonlyArray<string>) => Approval.needsApproval({ approvers })
    const { strictest } = ApprovalPolicy
    const both = strictest(by("ada"), by("eve"))
    assert.deepStrictEqual(both, Approval.needsApproval({ approvers: [["ada"], ["eve"]] }))
    // Who is on two lists counts for both, and bob, whom one of them names, may still deny.
    const wider = Approval.needsApproval({ approvers: [["ada"], ["eve", "bob"], ["eve"]] })
    assert.deepStrictEqual(strictest(both, by("eve", "bob")), wider)
    assert.deepStrictEqual(strictest(by("eve", "bob"), both), wider)
    assert.deepStrictEqual(strictest(both, by("eve")), both)
    const nobody = Approval.blocked("Nobody may approve it: its list of approvers is empty.")
    for (const other of [by(), by("ada"), both, Approval.needsApproval()]) {
      assert.deepStrictEqual(strictest(other, by()), nobody)
      assert.deepStrictEqual(strictest(by(), other), nobody)
    }
  })

  it.effect.prop(
    "what two leave behind differently, a third cannot bring back",
    { results: Schema.Tuple([Results, Results, Results]) },
    ({ results: [a, b, c] }) =>
      Effect.sync(() => {
        const { strictest } = ApprovalPolicy
        const left = strictest(strictest(asResult(a), asResult(b)), asResult(c))
        const right = strictest(asResult(a), strictest(asResult(b), asResult(c)))
        assert.deepStrictEqual([left._tag, allows(left)?.remember], [right._tag, allows(right)?.remember])
      }),
    { arbitrary: { runs: 500, seed: "three" } }
  )
})

const asResult = (result: typeof Results.Type): Approval.ApprovalResult => {
  if (result._tag !== "NeedsApproval") return result
  const { _tag: _, ...fields } = result
  return Approval.needsApproval(fields)
}

// =============================================================================
// On the engine
// =============================================================================

const strict = { none: 0, default: 0, once_per_session: 1, required: 1, deny: 2 }
const Value = Schema.Literals(["required", "none", "deny", "once_per_session", "default"])

describe("on the engine", () => {
  it.effect.prop(
    "L1 tighten: no combination of configuration, annotation and gate runs a call that the strictest forbids",
    {
      name: Value,
      rule: Value,
      destructive: Value,
      gate: Schema.Literals(Object.keys(gates)),
      readonly: Schema.Boolean,
      path: Schema.Literals(["src/a", "src/../a", "b"]),
      mode: Schema.Literals(Support.modes)
    },
    ({ destructive, gate, mode, name, path, readonly, rule }) =>
      Support.fresh(Effect.gen(function*() {
        const Write = Tool.make("Write", { parameters: { path: Schema.String }, success: Schema.String })
          .annotate(Tool.Readonly, readonly)
        const tools = yield* Support.makeTools([Tool.setNeedsApproval(Write, gates[gate] as never)])
        const config = yield* ApprovalPolicy.fromConfig({
          combine: "tighten",
          tools: { Write: { approval: name, rules: [{ path: "src/**", approval: rule }] } }
        })
        const policy = ApprovalPolicy.tighten(config, ApprovalPolicy.fromAnnotations({ destructive }))
        const turn = yield* Support.ask(mode, {
          toolkit: tools.toolkit,
          calls: [Support.call("c1", "Write", { path })]
        }).pipe(Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy))
        const said = path === "src/a"
          ? strict[rule]
          : path === "b"
          ? strict[name]
          : Math.max(strict[name], strict[rule])
        const annotated = readonly ? 0 : strict[destructive]
        const own = { "lets run": 0, "asks": 1, "blocks": 2, "fails": 1 }[gate]!
        const strictest = Math.max(said, annotated, own)
        assert.strictEqual(tools.count("Write"), strictest === 0 ? 1 : 0)
        assert.lengthOf(turn.requests, strictest === 1 ? 1 : 0)
      }))
  )
})

// =============================================================================
// At dispatch
// =============================================================================

describe("at dispatch", () => {
  Support.forEachMode("L11 an approval does not outlive a configuration that now denies", function*(mode) {
    const tools = yield* Support.makeTools()
    const script = yield* Support.answering
    const asked = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "DeleteFile", { path: "a" })]
    }).pipe(Effect.provide(ApprovalPolicy.layerConfig({ DeleteFile: "required" })))
    const turn = yield* Support.approve(mode, { asked, model: script.model, tools }).pipe(
      Effect.provide(ApprovalPolicy.layerConfig({ DeleteFile: { approval: "deny", reason: "switched off" } }))
    )
    assert.deepStrictEqual(tools.runs, [])
    assert.include(Support.failureReason(turn.results[0]), "switched off")
  })

  Support.forEachMode("an approved call runs once under a configuration that asks", function*(mode) {
    const tools = yield* Support.makeTools()
    const script = yield* Support.answering
    const policy = ApprovalPolicy.layerConfig({ ReadFile: { approval: "required", expires_in: "1 hour" } })
    const asked = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "ReadFile", { path: "a" })]
    }).pipe(Effect.provide(policy))
    const [request] = asked.requests
    assert.strictEqual(request!.expiresAt! - request!.issuedAt!, 3_600_000)
    yield* Support.reply(mode, { asked, model: script.model, tools }, Support.answers(Approval.approve(request!))).pipe(
      Effect.provide(policy)
    )
    assert.strictEqual(tools.count("ReadFile"), 1)
  })

  Support.forEachMode("L11 a question of a configuration expires when it says", function*(mode) {
    const tools = yield* Support.makeTools()
    const script = yield* Support.answering
    const policy = ApprovalPolicy.layerConfig({ ReadFile: { approval: "required", expires_in: "10m" } })
    const asked = yield* Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "ReadFile", { path: "a" })]
    }).pipe(Effect.provide(policy))
    yield* TestClock.adjust("11 minutes")
    yield* Support.approve(mode, { asked, model: script.model, tools }).pipe(Effect.provide(policy))
    assert.deepStrictEqual(tools.runs, [])
  })
})
