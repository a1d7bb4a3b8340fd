/**
 * Plays a tree of agents: takes turns, in any way in which turns are taken, answers what is asked, restarts, and sees after each
 * step that what is asked and what has run is exactly what has to be.
 */
import { assert } from "@effect/vitest"
import { Effect, Exit, Scope, Stream } from "effect"
import { type Approval, type Conversation, Prompt, Response, type Store } from "../../src/index.ts"
import { StrictProvider } from "../../src/testing/index.ts"
import * as Laws from "../laws/support.ts"
import * as Storage from "../search/storage.ts"
import { answerTo, keyOf } from "./answers.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

export * from "./answers.ts"

export const conversationWays = ["send", "stream", "start"] as const
export const ways = [...conversationWays, ...Laws.modes] as const

export type Way = (typeof ways)[number]

export const isHeld = (way: Way): way is Laws.Mode => way.endsWith("Text")

/** How a turn ended. */
export interface Taken {
  readonly text: string
  readonly requests: ReadonlyArray<Approval.ApprovalRequest>
  readonly refused: Conversation.Completed<any>["refused"]
  readonly tag: string
}

export type Answers = ReadonlyArray<Approval.ApprovalAnswer>

/** One turn of a conversation: what is said, or the answers. */
export const takeTurn = (
  conversation: World.Conversing,
  way: Exclude<Way, Laws.Mode>,
  prompt: Prompt.RawInput,
  answers?: Answers
): Effect.Effect<Taken, unknown> =>
  Effect.map(
    answers !== undefined && way === "send"
      ? conversation.decide(answers)
      : way === "send"
      ? conversation.send(prompt)
      : way === "start"
      ? Effect.flatMap(conversation.start(prompt, { answers }), ({ outcome }) => outcome)
      : Effect.gen(function*() {
        const parts = yield* Stream.runCollect(conversation.stream(prompt, { answers }))
        const outcome = yield* conversation.outcome
        if (outcome?._tag === "Waiting") {
          assert.sameMembers(
            Response.approvalRequests(parts).map(({ approvalId }) => approvalId),
            outcome.requests.map(({ approvalId }) => approvalId),
            "the stream asks for something else than its outcome"
          )
        }
        return outcome!
      }),
    (outcome): Taken => ({
      text: outcome.text,
      requests: outcome._tag === "Waiting" ? outcome.requests : [],
      refused: outcome.refused,
      tag: outcome._tag
    })
  )

export interface Options extends Partial<Omit<World.ProcessOptions, "agents" | "does" | "store">> {
  readonly store?: Store.Store | undefined
}

export type Play = Effect.Success<ReturnType<typeof begin>>

/** A tree whose first turn is about to be taken. */
export const begin = Effect.fnUntraced(function*(way: Way, tree: Tree.Agent, options: Options = {}) {
  const store = options.store ?? (yield* yield* Storage.MakeStore)
  const did: Array<string> = []
  const agents = Tree.agentsOf(tree)
  const processes: Array<World.Process> = []
  const make = Effect.gen(function*() {
    const scope = yield* Scope.fork(yield* Effect.scope)
    const process = yield* Scope.provide(
      World.makeProcess({ ...options, agents, store, does: (what) => did.push(what) }),
      scope
    )
    processes.push(process)
    return { process, scope }
  })
  let current = yield* make
  let history = Prompt.empty
  const decisions = new Map<string, Tree.Decision>()
  /** Everything that was ever asked, by its key. */
  const seen = new Map<string, Approval.ApprovalRequest>()

  const take = (
    prompt: Prompt.RawInput,
    answers?: Answers,
    process: World.Process = current.process
  ): Effect.Effect<Taken, unknown> => {
    if (!isHeld(way)) return takeTurn(process.conversation, way, prompt, answers)
    const { script, serving, toolkit } = process
    const once = (prompt: Prompt.RawInput): Effect.Effect<Taken, unknown> =>
      Effect.flatMap(
        serving(Laws.takeTurn(way, { model: script.model, toolkit, history, prompt })),
        (turn) => {
          // As a page or a database gives it back.
          history = Laws.throughJson(turn.history)
          // The program goes on as long as there are results to be told.
          if (turn.finish === "tool-calls") return once([])
          return Effect.succeed({
            text: turn.text,
            requests: turn.requests,
            refused: [],
            tag: turn.waiting ? "Waiting" : "Completed"
          })
        }
      )
    return once(answers === undefined ? prompt : Prompt.approvalResponses(answers))
  }

  /** What is asked now, as whoever looks at the outermost conversation sees it. */
  const pending = Effect.suspend(() =>
    isHeld(way) ? Effect.map(take([]), ({ requests }) => requests) : current.process.conversation.pending()
  )

  /** What is wrong with what is asked, and what has run. */
  const problems = (requests: ReadonlyArray<Approval.ApprovalRequest>): ReadonlyArray<string> => {
    const expected = Tree.stand(tree, decisions)
    const found: Array<string> = []
    const wrong = (is: boolean, what: string) => is && found.push(what)
    for (const what of expected.did) wrong(!did.includes(what), `${what} has not happened`)
    for (const what of new Set(did)) {
      wrong(!expected.did.includes(what), `${what} has happened`)
      const times = did.filter((one) => one === what).length
      wrong(times > 1, `${what} has happened ${times} times`)
    }
    for (const open of expected.open) {
      const times = requests.filter((request) => keyOf(request) === open.key).length
      wrong(times !== 1, `${open.key} is asked ${times} times`)
    }
    for (const request of requests) {
      const key = keyOf(request)
      const open = expected.open.find((open) => open.key === key)
      const before = seen.get(key)
      seen.set(key, before ?? request)
      if (open === undefined) {
        found.push(`${key} is asked: ${request.description}`)
        continue
      }
      const is = (name: string, value: unknown, wanted: unknown) =>
        wrong(
          JSON.stringify(value) !== JSON.stringify(wanted),
          `${key}: ${name} is ${JSON.stringify(value)}, not ${JSON.stringify(wanted)}`
        )
      is("approvalId", request.approvalId, (before ?? request).approvalId)
      is("interaction", request.interaction, open.kind)
      is("toolName", request.toolName, open.toolName)
      is("path", request.path ?? [], open.path)
      is("toolCallId", request.toolCallId, open.callIds.join("/"))
      if (open.toolName === "Pay") is("presentation", request.presentation?.content, World.presentationOf(key).content)
      wrong(request.approvalId.length > 512, `${key}: its id has ${request.approvalId.length} characters`)
    }
    return found
  }

  /** What a provider would refuse of all that the models were sent. */
  const refusals = Effect.map(
    Effect.forEach(processes, ({ script }) => script.requests),
    (all) => all.flat().flatMap(({ prompt }) => StrictProvider.check(prompt).map(({ message }) => message))
  )

  /** Sees that everything is as it has to be. */
  const check = (taken?: Taken) =>
    Effect.gen(function*() {
      const { text } = Tree.stand(tree, decisions)
      assert.deepStrictEqual(problems(taken?.requests ?? (yield* pending)), [])
      if (taken !== undefined) {
        assert.strictEqual(taken.tag, text === undefined ? "Waiting" : "Completed")
        if (text !== undefined) assert.strictEqual(taken.text, text)
        if (!isHeld(way)) assert.deepStrictEqual(problems(yield* pending), [])
      }
      assert.deepStrictEqual(yield* refusals, [])
    })

  /** The answers that say so; what is decided from now on. */
  const answersFor = (decided: Record<string, Tree.Decision>): Answers =>
    Object.entries(decided).map(([key, decision]) => {
      const request = seen.get(key)
      if (request === undefined) throw new Error(`${key} was never asked`)
      if (!decisions.has(key)) decisions.set(key, decision)
      return answerTo(request, decision)
    })

  return {
    way,
    store,
    did,
    seen,
    decisions,
    take,
    pending,
    problems,
    refusals,
    check,
    answersFor,
    process: () => current.process,
    processes,
    conversation: () => current.process.conversation,
    history: () => history,
    /** Another process beside this one. */
    another: Effect.map(make, ({ process }) => process),
    restart: Effect.gen(function*() {
      yield* Scope.close(current.scope, Exit.void)
      current = yield* make
    }),
    begin: Effect.suspend(() => Effect.tap(take(World.promptOf(Tree.rootKey)), check)),
    answer: (decided: Record<string, Tree.Decision>) =>
      Effect.suspend(() => Effect.tap(take([], answersFor(decided)), check)),
    say: (words: string) => take(words)
  }
})
