/** L16 for what waits, what is remembered, and what the provider runs: who decided is known there too, and counts. */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  Approval,
  ApprovalJournal,
  ApprovalMemory,
  DeferredTool,
  Interaction,
  Prompt,
  Store,
  SuspensionStore,
  Toolkit
} from "../../src/index.ts"
import { Refusals } from "../../src/internal/environment/trust.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as A from "./approvers.ts"
import * as C from "./conversation.ts"
import * as H from "./hosted.ts"
import * as Support from "./support.ts"

const Expense = DeferredTool.make("Expense", {
  success: Schema.String,
  interactions: { manager: Interaction.getApproval, word: Interaction.askUser }
})

const waiting = Effect.fnUntraced(function*(kind: "manager" | "word", approvers: Approval.Question["approvers"]) {
  const kit = Toolkit.make(Expense)
  const ask = { prompt: "$9,000?", ...(approvers === undefined ? undefined : { approvers }) }
  const handled = yield* Effect.provide(
    kit,
    kit.toLayer({
      Expense: DeferredTool.handler(Expense, {
        start: () => kind === "manager" ? Expense.suspend.manager(ask) : Expense.suspend.word(ask),
        resume: {
          manager: ({ approved }, _, { decidedBy: { id, via } }) => Effect.succeed(`${approved} by ${id} via ${via}`),
          word: (word, _, { decidedBy: { id, via } }) => Effect.succeed(`${word} by ${id} via ${via}`)
        }
      })
    })
  )
  const toolkit = handled as unknown as Support.AnyToolkit
  const mode = "generateText"
  const asked = yield* Support.ask(mode, { toolkit, calls: [Support.call("c1", "Expense", {})] })
  const { model } = yield* Support.answering
  let { history } = asked
  const answer = Effect.fnUntraced(function*(...list: ReadonlyArray<Approval.ApprovalAnswer>) {
    const turn = yield* Support.takeTurn(mode, { model, toolkit, history, prompt: Prompt.approvalResponses(list) })
    history = turn.history
    return turn
  })
  return { answer, request: asked.requests[0]! }
})

const resultsOf = ({ results }: Support.Turn) => results.map(({ result }) => result)

describe("L16 what a tool waits for", () => {
  Support.single("L16 its handler is told who answered, by which channel", () =>
    Effect.gen(function*() {
      const message = yield* waiting("manager", undefined)
      assert.deepStrictEqual(resultsOf(yield* message.answer(Approval.approve(message.request))), [
        "true by undefined via message"
      ])
      const trusted = yield* waiting("manager", undefined)
      assert.deepStrictEqual(resultsOf(yield* A.by(A.ada)(trusted.answer(Approval.deny(trusted.request)))), [
        "false by ada via conversation"
      ])
      const inline = yield* waiting("word", undefined)
      const asking = A.asking((request) => Approval.answer(request, "yes"), A.bob)
      assert.deepStrictEqual(resultsOf(yield* asking(inline.answer())), ["yes by bob via controller"])
      const delivered = yield* waiting("word", undefined)
      yield* DeferredTool.deliver(Expense, "word", delivered.request, "ok", { by: A.eve, via: "page" })
      assert.deepStrictEqual(resultsOf(yield* delivered.answer()), ["ok by eve via page"])
    }).pipe(Effect.provide(SuspensionStore.layerMemory)))

  Support.single("L16 the tool says who may answer: nobody else's yes or no counts", () =>
    Effect.gen(function*() {
      const { answer, request } = yield* waiting("manager", ["ada"])
      assert.deepStrictEqual(request.approvers, ["ada"])
      for (const said of [Approval.approve(request), Approval.deny(request, "no")]) {
        const [turn, events] = yield* A.published(A.by(A.eve)(answer(said)))
        assert.match(turn.requests[0]!.reason ?? "", /Eve may not decide this/)
        assert.include(A.refusals(events), "not named")
      }
      assert.deepStrictEqual(resultsOf(yield* A.asking(() => false)(answer())), [])
      assert.deepStrictEqual(resultsOf(yield* A.by(A.ada)(answer(Approval.approve(request)))), [
        "true by ada via conversation"
      ])
    }).pipe(Effect.provide(SuspensionStore.layerMemory)))

  Support.single("L16 two managers are two people, and a denial by one is the answer", () =>
    Effect.gen(function*() {
      const first = yield* waiting("manager", [["ada"], ["bob"]])
      const open = yield* A.by(A.ada)(first.answer(Approval.approve(first.request, { note: "fine" })))
      assert.match(open.requests[0]!.reason ?? "", /Approved already by Ada\. Still needed: bob\./)
      const again = yield* A.by(A.ada)(first.answer(Approval.approve(first.request)))
      assert.strictEqual(again.results.length, 0)
      assert.deepStrictEqual(resultsOf(yield* A.by(A.bob)(first.answer(Approval.approve(first.request)))), [
        "true by bob via conversation"
      ])
      const other = yield* waiting("manager", [["ada"], ["bob"]])
      yield* A.by(A.ada)(other.answer(Approval.approve(other.request)))
      assert.deepStrictEqual(resultsOf(yield* A.by(A.bob)(other.answer(Approval.deny(other.request)))), [
        "false by bob via conversation"
      ])
    }).pipe(Effect.provide(SuspensionStore.layerMemory)))

  Support.single(
    "L16 what is delivered by somebody who may not is refused, and takes no place",
    () =>
      Effect.gen(function*() {
        const { answer, request } = yield* waiting("word", ["ada"])
        const deliver = (by?: typeof A.ada) => DeferredTool.deliver(Expense, "word", request, "ok", { by })
        assert.strictEqual((yield* Effect.flip(deliver())).reason._tag, "NotAnApprover")
        assert.strictEqual((yield* Effect.flip(deliver(A.eve))).reason._tag, "NotAnApprover")
        yield* deliver(A.ada)
        assert.deepStrictEqual(resultsOf(yield* answer()), ["ok by ada via program"])
      }).pipe(Effect.provide(SuspensionStore.layerMemory))
  )
})

describe("L16 what is remembered", () => {
  Support.single(
    "L16 a run by a remembered answer says who gave it; of one who may not any more it does not count",
    () =>
      Effect.gen(function*() {
        const tools = yield* Support.makeTools()
        const turn = (id: string) =>
          Support.ask("generateText", {
            toolkit: tools.toolkit,
            calls: [Support.call(id, "DeleteFile", { path: "a" })]
          })
        const remembering = A.asking(() => new Approval.Approved({ remember: "session" }), A.ada)
        yield* A.naming(A.alone)(remembering(turn("c1")))
        const again = yield* A.naming(A.alone)(turn("c2"))
        assert.deepStrictEqual(again.results.map(({ metadata }) => metadata.assent), [
          { decidedBy: { id: "ada", name: "Ada", via: "memory" } }
        ])
        const other = yield* A.naming({ approvers: ["bob"] })(turn("c3"))
        assert.deepStrictEqual([other.results.length, other.requests.length], [0, 1])
        assert.strictEqual(tools.count("DeleteFile"), 2)
      }).pipe(
        Effect.provide(ApprovalMemory.layerSession()),
        Effect.provideService(Approval.Scope, { conversation: "talk" })
      )
  )
})

describe("L16 what is remembered of a denial", () => {
  Support.single(
    "L16 it holds while whoever gave it may decide, and settles nothing after that",
    () =>
      Effect.gen(function*() {
        const { toolkit } = yield* Support.makeTools()
        const turn = (id: string) =>
          Support.ask("generateText", { toolkit, calls: [Support.call(id, "DeleteFile", { path: "a" })] })
        const denying = A.asking(() => new Approval.Denied({ note: "keep a", remember: "session" }), A.ada)
        yield* A.naming(A.alone)(denying(turn("c1")))
        const again = yield* A.naming(A.alone)(turn("c2"))
        assert.deepStrictEqual([again.results.map(Support.failureReason), again.requests.length], [["keep a"], 0])
        const other = yield* A.naming({ approvers: ["bob"] })(turn("c3"))
        assert.deepStrictEqual([other.results.length, other.requests.length], [0, 1])
      }).pipe(
        Effect.provide(ApprovalMemory.layerSession()),
        Effect.provideService(Approval.Scope, { conversation: "talk" })
      )
  )
})

describe("L16 what the provider runs", () => {
  const answersOf = (prompt: Prompt.Prompt) => H.approvals(prompt).filter((one) => !one.startsWith("request"))

  C.everyWay("L16 it is not told what a stranger said, yes or no", function*(way) {
    const { chat } = yield* H.begin(way, [H.asking(1), [H.done(1), ScriptedModel.text("Done.")]])
    const told = A.naming(A.alone)
    const asked = yield* told(chat.send("go"))
    const [request] = asked.requests
    const refused: Array<string> = []
    const hearing = Effect.provideService(Refusals, (_, reason) => {
      refused.push(reason._tag === "NotAnApprover" ? reason.problem : reason._tag)
    })
    for (const said of [Approval.approve(request!), Approval.deny(request!, "no")]) {
      const open = yield* told(hearing(A.by(A.eve)(chat.send(Prompt.approvalResponses([said])))))
      assert.strictEqual(open.requests.length, 1)
      assert.match(open.requests[0]!.reason ?? "", /Eve may not decide this/)
    }
    assert.strictEqual(yield* chat.calls, 1)
    assert.include(refused, "not named")
    yield* told(A.by(A.ada)(chat.send(Prompt.approvalResponses([Approval.approve(request!, { note: "go" })]))))
    assert.strictEqual(yield* chat.calls, 2)
    assert.deepStrictEqual(answersOf(yield* chat.lastPrompt), ["approve mcpr_1 go"])
  })

  C.everyWay("L16 it is told when both have approved", function*(way) {
    const { chat } = yield* H.begin(way, [H.asking(1), [H.done(1), ScriptedModel.text("Done.")]])
    const memory = yield* Store.makeMemory()
    const kinds: Array<string> = []
    const decide: Store.Requests["decide"] = (name, ...step) => {
      kinds.push(name.kind)
      return memory.requests.decide(name, ...step)
    }
    const store = Store.make({ ...memory, requests: { ...memory.requests, decide } })
    const journal = yield* ApprovalJournal.make({ store })
    const told = <A, E, R>(turn: Effect.Effect<A, E, R>) =>
      Effect.provideService(A.naming(A.both)(turn), ApprovalJournal.ApprovalJournal, journal)
    const [request] = (yield* told(chat.send("go"))).requests
    const approve = () => Prompt.approvalResponses([Approval.approve(request!)])
    for (const person of [A.ada, A.ada]) {
      const open = yield* told(A.by(person)(chat.send(approve())))
      assert.match(open.requests[0]!.reason ?? "", /Approved already by Ada\. Still needed: bob\./)
    }
    assert.strictEqual(yield* chat.calls, 1)
    yield* told(A.by(A.bob)(chat.send(approve())))
    assert.strictEqual(yield* chat.calls, 2)
    assert.deepStrictEqual(answersOf(yield* chat.lastPrompt), ["approve mcpr_1"])
    // What is kept of it meanwhile is kept as what it is.
    assert.deepStrictEqual([...new Set(kinds)], ["hosted"])
  })
})
