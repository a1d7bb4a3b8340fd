/** A tool's own handler that talks to agents: with `converse` it waits for them, and without it nothing is swallowed. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { AgentTool, Approval, Conversation, DeferredTool, Tool, Toolkit } from "../../src/index.ts"
import * as Within from "../../src/internal/agent/within.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { intercept } from "../store/intercept.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"

const { no, yes } = S

const twoMembers = Tree.agent([
  Tree.team(Tree.agent([Tree.pay, Tree.look], [Tree.pay]), Tree.agent([Tree.inner([Tree.pay])])),
  Tree.pay
])
const members = ["r.00#0.00", "r.00#1.00.00"] as const

describe("several conversations side by side", () => {
  S.inWays("L5 ask together, and each goes on with its own answer", function*(way) {
    const play = yield* S.begin(way, twoMembers)
    yield* play.begin
    yield* play.answer({ [members[1]]: yes })
    yield* play.restart
    yield* play.answer({ [members[0]]: yes, "r.01": no })
    yield* play.answer({ "r.00#0.10": yes })
  })

  it.effect("L17 make one suspension, and an answer to one of them makes no other", () =>
    Effect.gen(function*() {
      const suspended: Array<string> = []
      const store = intercept(yield* S.makeStore, (operation, key, run) => {
        if (operation === "requests.suspend") suspended.push(key)
        return run
      })
      const two = Tree.team(Tree.agent([Tree.pay]), Tree.agent([Tree.pay]))
      const play = yield* S.begin("send", Tree.agent([two]), { store })
      yield* play.begin
      assert.lengthOf(suspended, 1)
      yield* play.answer({ "r.00#0.00": yes })
      yield* play.answer({ "r.00#1.00": yes })
      assert.lengthOf(suspended, 1)
    }))

  it.effect("L6 end together with a new message, and a late yes pays nothing", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", twoMembers)
      yield* play.begin
      yield* play.say("Leave it.")
      assert.deepStrictEqual(yield* play.pending, [])
      for (const key of members) yield* S.refused(play, [Approval.approve(play.seen.get(key)!)], "AlreadyDecided")
      assert.deepStrictEqual(play.did, ["saw:r.00#0.01"])
    }))
})

// =============================================================================
// Handlers by hand
// =============================================================================

const Pay = Tool.make("Pay", { parameters: { to: Schema.String }, success: Schema.String, needsApproval: true })
const Audit = DeferredTool.make("Audit", { success: Schema.String, interactions: {} })

// The store of the process, which all tests here share.
let audits = 0

/** What an agent needs its caller has. */
const nothing = (effect: Effect.Effect<string, never, any>) => effect as Effect.Effect<string>

/** An outer agent whose one call is of a tool with this handler, in which a second one may pay. */
const begin = Effect.fnUntraced(function*(
  handler: (toolkit: Toolkit.WithHandler<Toolkit.Tools<typeof innerKit>>) => Effect.Effect<string, any, any>
) {
  const paid: Array<string> = []
  const inner = yield* Effect.provide(
    innerKit,
    innerKit.toLayer({ Pay: ({ to }) => Effect.sync(() => (paid.push(to), `paid ${to}`)) })
  )
  const kit = Toolkit.make(Audit)
  const toolkit = yield* Effect.provide(
    kit,
    kit.toLayer({
      Audit: DeferredTool.handler(Audit, { start: () => nothing(Effect.orDie(handler(inner))), resume: {} })
    })
  )
  const script = yield* ScriptedModel.make({
    turns: [],
    afterLastTurn: ({ prompt, tools }) => {
      const results = prompt.content.flatMap((message) => message.role === "tool" ? message.content : [])
        .filter((part) => part.type === "tool-result")
      if (tools.some(({ name }) => name === "Audit")) {
        return results.length === 0
          ? [ScriptedModel.toolCall({ id: "c1", name: "Audit", params: {} })]
          : JSON.stringify(results.map(({ isFailure, result }) => ({ isFailure, result })))
      }
      return results.length === 0
        ? [ScriptedModel.toolCall({ id: "c1", name: "Pay", params: { to: "ann" } })]
        : "All is in order."
    }
  })
  const conversation = yield* Conversation.make({ id: `audit ${++audits}`, toolkit }).pipe(
    Effect.provideService(S.LanguageModel, script.model)
  )
  return { conversation, paid, script }
})

const innerKit = Toolkit.make(Pay)

describe("converse", () => {
  it.effect("L2 repeats the code around it from its first line, and no tool inside", () =>
    Effect.gen(function*() {
      let times = 0
      const { conversation, paid } = yield* begin((toolkit) =>
        Effect.gen(function*() {
          times++
          const ended = yield* AgentTool.converse("books", { toolkit })("Pay Ann.")
          return `${ended._tag}: ${ended.text}`
        })
      )
      const asked = yield* conversation.send("Go.")
      assert.strictEqual(asked._tag, "Waiting")
      const [request] = yield* conversation.pending()
      assert.deepStrictEqual([request?.toolName, request?.path], ["Pay", ["Audit", "books"]])
      const done = yield* conversation.decide(Approval.approve(request!))
      assert.include(done.text, "Completed: All is in order.")
      assert.deepStrictEqual(paid, ["ann"])
      assert.strictEqual(times, 2)
    }))

  it("L2 an agent is found under the name that stands in databases: its call's first claim, and its own where it has one", () => {
    assert.strictEqual(Within.conversationName("claim", ""), "agent/claim")
    assert.strictEqual(Within.conversationName("claim", "books"), "agent/claim/books")
  })

  it.effect("L2 twice, one after the other, each under its name: what the first did stays done", () =>
    Effect.gen(function*() {
      const { conversation, paid } = yield* begin((toolkit) =>
        Effect.gen(function*() {
          const one = yield* AgentTool.converse("one", { toolkit })("Pay Ann.")
          const two = yield* AgentTool.converse("two", { toolkit })("Pay Ann.")
          return `${one.text} ${two.text}`
        })
      )
      yield* conversation.send("Go.")
      for (const name of ["one", "two"]) {
        const [request, ...others] = yield* conversation.pending()
        assert.deepStrictEqual([request?.path, others], [["Audit", name], []])
        yield* conversation.decide(Approval.approve(request!))
      }
      assert.deepStrictEqual(paid, ["ann", "ann"])
      assert.deepStrictEqual(yield* conversation.pending(), [])
    }))
})

describe("a handler that opens a conversation of its own without it", () => {
  it.effect("L14 fails where that waits, and says what to write; nothing is paid, and no request is swallowed", () =>
    Effect.gen(function*() {
      const { conversation, paid } = yield* begin((toolkit) =>
        Effect.gen(function*() {
          const inner = yield* Conversation.make({ id: "by-hand", toolkit })
          const ended = yield* inner.send("Pay Ann.")
          return `it says: ${ended.text}`
        })
      )
      const outcome = yield* conversation.send("Go.")
      assert.strictEqual(outcome._tag, "Completed")
      const [{ isFailure, result }] = JSON.parse(outcome.text)
      assert.isTrue(isFailure)
      assert.match(JSON.stringify(result), /converse/)
      assert.deepStrictEqual(paid, [])
    }))
})
