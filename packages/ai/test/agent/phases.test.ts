/**
 * A tool that has waited for something else before it talks to agents, and whose process dies while it does: what its agents did
 * is known, so what becomes of it is known, too (law L2). What it does without agents is done at most once, as ever.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema, Scope } from "effect"
import {
  AgentTool,
  Approval,
  ApprovalJournal,
  ApprovalSeal,
  Conversation,
  ConversationStore,
  DeferredTool,
  Interaction,
  Store,
  SuspensionStore,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { intercept } from "../store/intercept.ts"
import { mortal, type Point } from "./deaths.ts"
import * as S from "./support.ts"

const Look = Tool.make("Look", { success: Schema.String })
const Pay = Tool.make("Pay", { success: Schema.String, needsApproval: true })
const books = Toolkit.make(Look, Pay)

const Close = DeferredTool.make("Close", {
  success: Schema.String,
  interactions: { month: Interaction.askUser },
  state: Schema.Undefined
})
const kit = Toolkit.make(Close)

/** What the handler does when it is told the month. */
type Closing = "talks to an agent" | "talks to nobody"

const makeProcess = Effect.fnUntraced(function*(store: Store.Store, closing: Closing, did: Array<string>) {
  const tools = yield* Effect.provide(
    books,
    books.toLayer({
      Look: () => Effect.sync(() => (did.push("looked"), "looked")),
      Pay: () => Effect.sync(() => (did.push("paid"), "paid"))
    })
  )
  const talking = Effect.orDie(AgentTool.converse("books", { toolkit: tools })("Pay what is open.")) as Effect.Effect<
    { readonly text: string }
  >
  const toolkit = yield* Effect.provide(
    kit,
    kit.toLayer({
      Close: DeferredTool.handler(Close, {
        start: () => Close.suspend.month({ prompt: "Which month?" }, undefined),
        resume: {
          month: (month) =>
            closing === "talks to nobody"
              ? Effect.sync(() => (did.push(month), month))
              : Effect.map(talking, ({ text }) => `${month}: ${text}`)
        }
      })
    })
  )
  const script = yield* ScriptedModel.make({
    turns: [],
    afterLastTurn: ({ prompt, tools }) => {
      const results = prompt.content.flatMap(({ role, content }) => role === "tool" ? content : [])
        .filter((part) => part.type === "tool-result")
      const isOuter = tools.some(({ name }) => name === "Close")
      if (isOuter) {
        return results.length === 0
          ? [ScriptedModel.toolCall({ id: "c", name: "Close", params: {} })]
          : JSON.stringify(results.at(-1)!.result)
      }
      return results.length < 2
        ? [ScriptedModel.toolCall({ id: `${results.length}`, name: results.length === 0 ? "Look" : "Pay", params: {} })]
        : "All is paid."
    }
  })
  const journal = yield* ApprovalJournal.make({ store, heartbeat: "1 second", grace: 0 })
  const conversations = yield* ConversationStore.make({ store, heartbeat: "1 second" })
  const seal = yield* Effect.orDie(Layer.build(ApprovalSeal.layer({ key: "the key of the tests of phases, 32 byte" })))
  return yield* Conversation.make({ id: "c1", toolkit }).pipe(
    Effect.provideService(S.LanguageModel, script.model),
    Effect.provideService(ConversationStore.ConversationStore, conversations),
    Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store })),
    Effect.provideService(ApprovalJournal.ApprovalJournal, journal),
    Effect.provideContext(seal)
  )
})

type Conversing = Effect.Success<ReturnType<typeof makeProcess>>

/** Answers all that is asked, and gives what the outermost agent says in the end. */
const play = Effect.fnUntraced(function*(conversation: Conversing) {
  const { content } = yield* conversation.history
  yield* conversation.send(content.length === 0 ? "Close the books." : [])
  while (true) {
    const [open] = yield* conversation.pending()
    if (open === undefined) return yield* conversation.send([])
    yield* conversation.decide(open.interaction === "askUser" ? Approval.answer(open, "May") : Approval.approve(open))
  }
})

/**
 * The tool waits for its answer; a process takes it and dies there, and another one goes on: what the tool came to, what was done,
 * whether its agent had begun, and how many writes the one made that died.
 */
const played = Effect.fnUntraced(function*(closing: Closing, point: Point | undefined) {
  const conversations = new Set<string>()
  const shared = Store.make({
    ...intercept(
      yield* Store.makeMemory(),
      (operation, key, run) =>
        operation === "conversations.write" ? Effect.tap(run, () => Effect.sync(() => conversations.add(key))) : run
    ),
    isShared: true
  })
  const did: Array<string> = []
  yield* (yield* makeProcess(shared, closing, did)).send("Close the books.")
  const first = mortal(shared, point)
  const dead = yield* Scope.provide(
    makeProcess(Store.make({ ...first.store, isShared: true }), closing, did),
    yield* Scope.make()
  )
  const playing = yield* Effect.forkDetach(Effect.exit(play(dead)), { startImmediately: true })
  const over = point === undefined ? Fiber.await(playing) : Effect.raceFirst(first.death, Fiber.await(playing))
  assert.isTrue(yield* S.advance(yield* Effect.forkChild(over, { startImmediately: true }), "1 second"))
  const hasBegun = conversations.size > 1
  const next = yield* makeProcess(shared, closing, did)
  const going = yield* Effect.forkChild(play(next), { startImmediately: true })
  assert.isTrue(yield* S.advance(going, "1 second", 120))
  yield* Fiber.join(going)
  const said = (yield* next.history).content.flatMap((message) =>
    message.role === "tool" ? message.content.filter((part) => part.type === "tool-result") : []
  )
  return { did, hasBegun, result: JSON.stringify(said.at(-1)?.result), writes: first.count() }
}, Effect.scoped)

const after = (writes: number): ReadonlyArray<Point> =>
  Array.from({ length: writes }, (_, index): Point => ({ write: index + 1, side: "after" }))

describe("a process that dies while a tool that had waited goes on", () => {
  it.effect(
    "L2 with its agents: it goes on with them, nothing is done twice, and nothing is unknown that is known",
    () =>
      Effect.gen(function*() {
        const whole = yield* played("talks to an agent", undefined)
        assert.deepStrictEqual(whole.did, ["looked", "paid"])
        const wrong: Array<string> = []
        let begun = 0
        // Later it waits for its agent, which is another story.
        for (const point of after(Math.min(12, whole.writes))) {
          const { did, hasBegun, result } = yield* played("talks to an agent", point)
          const where = `${point.side} write ${point.write}`
          if (did.filter((what) => what === "paid").length > 1) wrong.push(`${where}: ${did.join()}`)
          // Before it has begun its agent it may have done anything.
          if (hasBegun) begun++
          if (hasBegun && result !== `"May: All is paid."`) wrong.push(`${where}: ${result}`)
        }
        assert.isAbove(begun, 0)
        assert.deepStrictEqual(wrong, [])
      }),
    30_000
  )

  it.effect(
    "L2 without any: it is done at most once, and what became of it is unknown where it is",
    () =>
      Effect.gen(function*() {
        const { writes } = yield* played("talks to nobody", undefined)
        let unknown = 0
        for (const point of after(writes)) {
          const { did, result } = yield* played("talks to nobody", point)
          assert.isAtMost(did.length, 1)
          if (result !== `"May"`) unknown++
        }
        assert.isAbove(unknown, 0)
      }),
    30_000
  )
})
