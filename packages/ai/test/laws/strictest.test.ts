/**
 * Configuration, annotation, the tool's own gate, memory and edits together: nothing runs that the strictest of them
 * forbids, and under `override` the configuration's word is the last.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import type { ApprovalConfig } from "../../src/index.ts"
import {
  Approval,
  ApprovalController,
  ApprovalMatcher,
  ApprovalMemory,
  ApprovalPolicy,
  Chat,
  LanguageModel,
  Prompt,
  Response,
  Store,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { fresh } from "./support.ts"

const numbers = [0, 1, 2] as const
const Number = Schema.Literals(numbers)
const Says = Schema.Literals(["run", "ask", "block", "fail"])
const Said = Schema.Literals(["none", "required", "deny", "default"])

const World = Schema.Struct({
  config: Schema.Struct({ combine: Schema.Literals(["tighten", "override"]), otherwise: Said, one: Said, two: Said }),
  gate: Schema.Tuple([Says, Says, Says]),
  annotation: Schema.Literals(["none", "readonly", "destructive"]),
  remembered: Schema.Array(Schema.Struct({
    decision: Schema.Literals(["approved", "denied"]),
    of: Number,
    wide: Schema.Boolean
  })).check(Schema.isMaxLength(3)),
  person: Schema.Union([Schema.Literals(["yes", "no", "nothing"]), Schema.Struct({ edit: Number })]),
  way: Schema.Literals(["inline", "guarded", "history"]),
  call: Number
})

type World = typeof World.Type

// =============================================================================
// What is forbidden
// =============================================================================

type Verdict = "run" | "ask" | "block"

const severity: Record<Verdict, number> = { run: 0, ask: 1, block: 2 }

const stricter = (left: Verdict, right: Verdict): Verdict => severity[left] >= severity[right] ? left : right

const ofConfig = ({ config }: World, n: number): Verdict | undefined => {
  const said = n === 1 ? config.one : n === 2 ? config.two : config.otherwise
  return said === "none" ? "run" : said === "required" ? "ask" : said === "deny" ? "block" : undefined
}

const ofGate = ({ gate }: World, n: number): Verdict => gate[n] === "fail" ? "ask" : gate[n]! as Verdict

/** The mildest that may become of a call without a person, before anything that was remembered. */
const verdictOf = (world: World, n: number): Verdict => {
  const config = ofConfig(world, n)
  const gate = ofGate(world, n)
  if (world.config.combine === "override") return config ?? gate
  // A tool that is annotated with nothing may destroy something.
  return stricter(stricter(config ?? "run", gate), world.annotation === "readonly" ? "run" : "ask")
}

/** Whether the tool's own gate has a say and fails: then a person is asked, but no approval counts. */
const fails = (world: World, n: number): boolean =>
  world.gate[n] === "fail" && (world.config.combine === "tighten" || ofConfig(world, n) === undefined)

// =============================================================================
// What happens
// =============================================================================

const build = Effect.fnUntraced(function*(world: World) {
  const runs: Array<number> = []
  const asked: Array<number> = []
  const plain = Tool.make("Act", {
    parameters: { n: Schema.Number },
    success: Schema.String,
    needsApproval: ({ n }) => {
      switch (world.gate[n]!) {
        case "run":
          return false
        case "ask":
          return true
        case "block":
          return Approval.blocked("the tool says no")
        case "fail":
          return Effect.fail("down")
      }
    }
  })
  const Act = world.annotation === "none"
    ? plain
    : plain.annotate(world.annotation === "readonly" ? Tool.Readonly : Tool.Destructive, true)
  const toolkit = Toolkit.make(Act)
  const input: ApprovalConfig.Input = {
    combine: world.config.combine,
    tools: {
      Act: {
        rules: [
          { match: { exact: { n: 1 } }, approval: world.config.one },
          { match: { exact: { n: 2 } }, approval: world.config.two }
        ],
        approval: world.config.otherwise,
        editable: true,
        rememberable: true
      }
    }
  }
  const configured = yield* ApprovalPolicy.fromConfig(input)
  const policy = world.config.combine === "override"
    ? configured
    : ApprovalPolicy.tighten(configured, ApprovalPolicy.fromAnnotations())
  const memory = yield* ApprovalMemory.make({ store: yield* Store.makeMemory() })
  return { runs, asked, toolkit, policy, memory }
})

const play = Effect.fnUntraced(function*(world: World) {
  const { asked, memory, policy, runs, toolkit } = yield* build(world)
  const Handlers = toolkit.toLayer({ Act: ({ n }) => Effect.sync(() => (runs.push(n), "done")) })
  const reply = (request: Approval.ApprovalRequest) =>
    world.person === "yes"
      ? Approval.approve(request)
      : world.person === "no"
      ? Approval.deny(request, "no")
      : world.person === "nothing"
      ? undefined
      : Approval.approve(request, { params: { n: world.person.edit } })
  const controller = ApprovalController.interactive((request) => {
    asked.push((request.params as { readonly n: number }).n)
    return reply(request) ?? new Approval.Info({ note: "later" })
  })
  const scope = { conversation: "one" }
  const turns = [[ScriptedModel.toolCall({ id: "c1", name: "Act", params: { n: world.call } })], "Done.", "Done."]

  return yield* Effect.gen(function*() {
    // What was answered before is of this tool as it is.
    const version = yield* Effect.gen(function*() {
      const seen: Array<string> = []
      const spy: ApprovalMemory.Service = { ...memory, find: (call) => Effect.sync(() => void seen.push(call.version)) }
      // It is guarded under the policy that asks: one that forbids would hold for its calls too (law L11).
      yield* Effect.flatMap(
        Toolkit.guard(toolkit),
        (guarded) => Effect.flatMap(guarded.handle("Act", { n: world.call }), Stream.runDrain)
      ).pipe(
        Effect.provideService(ApprovalMemory.ApprovalMemory, spy),
        Effect.provideService(ApprovalController.ApprovalController, ApprovalController.strict),
        Effect.provideService(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.make(() => true))
      )
      runs.length = 0
      return seen[0]!
    })
    for (const [index, { decision, of, wide }] of world.remembered.entries()) {
      yield* memory.remember({
        id: `${index}`,
        approvalId: `${index}`,
        toolCallId: `${index}`,
        scope,
        source: "local",
        toolName: "Act",
        version,
        params: { n: of },
        decision,
        remember: wide ? { covers: ApprovalMatcher.tool.description } : "session"
      })
    }
    if (world.way === "guarded") {
      const guarded = yield* Toolkit.guard(toolkit)
      yield* Effect.flatMap(guarded.handle("Act", { n: world.call }), Stream.runDrain).pipe(
        Effect.provideService(ApprovalController.ApprovalController, controller)
      )
    } else {
      const chat = yield* Chat.empty
      const inline = world.way === "inline"
      const turn = (prompt: Prompt.RawInput) =>
        chat.generateText({ prompt, toolkit }).pipe(Effect.provideService(
          ApprovalController.ApprovalController,
          inline ? controller : ApprovalController.deferred
        ))
      const response = yield* turn("go")
      const requests = Response.approvalRequests(response)
      for (const request of requests) if (!inline) asked.push((request.params as { readonly n: number }).n)
      const answers = inline ? [] : requests.flatMap((request) => reply(request) ?? [])
      // An edit counts from a history only where the configuration says so; it does here.
      yield* turn(Prompt.approvalResponses(answers))
    }
    return { runs, asked }
  }).pipe(
    Effect.provide([Handlers, ScriptedModel.layer({ turns }).pipe(LanguageModel.approval())]),
    Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy),
    Effect.provideService(ApprovalMemory.ApprovalMemory, memory),
    Effect.provideService(Approval.Scope, scope)
  )
})

describe("the strictest word", () => {
  it.effect.prop(
    "nothing runs that is forbidden, and nothing unasked that is to be asked about",
    { world: World },
    ({ world }) =>
      fresh(Effect.gen(function*() {
        const { asked, runs } = yield* play(world)
        const { call } = world
        const covering = world.remembered.filter(({ of, wide }) => wide || of === call)
        const denied = covering.some(({ decision }) => decision === "denied")
        const approved = !denied && covering.length > 0
        const edited = typeof world.person === "object" ? world.person.edit : undefined
        assert.isAtMost(runs.length, 1)
        assert.isAtMost(new Set(asked).size, 1)
        if (denied) assert.deepStrictEqual([runs, asked], [[], []], "a remembered denial was undone")
        if (verdictOf(world, call) === "block") {
          assert.deepStrictEqual([runs, asked], [[], []], "blocked, and not final")
        }
        for (const n of runs) {
          assert.notStrictEqual(verdictOf(world, n), "block", `${n} is forbidden`)
          assert.isFalse(fails(world, n), `${n} ran although its gate failed`)
          assert.isFalse(world.config.combine === "override" && ofConfig(world, n) === "block")
          if (n !== call) assert.strictEqual(n, edited)
          const deniedBefore = world.remembered.some(({ decision, of, wide }) =>
            decision === "denied" && (wide || of === n)
          )
          assert.isFalse(deniedBefore, "an edit undid a remembered denial")
          if (asked.length === 0) {
            assert.isTrue(verdictOf(world, n) === "run" || approved, "nobody was asked")
          } else {
            assert.isTrue(world.person === "yes" || edited !== undefined, "nobody said yes")
          }
        }
        // And it is not so strict that nothing ever runs.
        if (verdictOf(world, call) === "run" && !denied) assert.deepStrictEqual(runs, [call])
        if (verdictOf(world, call) === "ask" && approved && !fails(world, call)) {
          assert.deepStrictEqual([runs, asked], [[call], []])
        }
      })),
    { timeout: 60_000, arbitrary: { runs: 500, seed: "strictest" } }
  )
})
