/**
 * Random trees of agents, and what people do with them: answers one by one, in batches, twice, at once through two processes,
 * with forged and foreign ids and untrusted edits, restarts in between, and one of several ends. What has to come of each step
 * follows from the tree alone.
 */
import { assert } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import { Approval, ApprovalError } from "../../src/index.ts"
import * as Laws from "../laws/support.ts"
import { fewer, shrink } from "../search/shrink.ts"
import { below, list, numbers, pick, type Random } from "./numbers.ts"
import * as Play from "./play.ts"
import * as Tree from "./tree.ts"

// =============================================================================
// Plans
// =============================================================================

export const stepKinds = ["answer", "answer", "answer", "restart", "repeat", "forged", "untrusted", "atOnce"] as const
export const ends = ["finish", "finish", "finish", "supersede", "cancel", "clear"] as const

/** `seed` chooses what is answered, and how. */
export interface Step {
  readonly kind: (typeof stepKinds)[number]
  readonly seed: number
}

export interface Plan {
  readonly way: Play.Way
  readonly tree: Tree.Agent
  readonly steps: ReadonlyArray<Step>
  readonly end: (typeof ends)[number]
}

const randomCall = (random: Random, depth: number): Tree.Call => {
  const kind = below(random, depth > 0 ? 10 : 5)
  if (kind < 3) return Tree.pay
  if (kind === 3) return Tree.look
  if (kind === 4) return Tree.ask
  if (kind === 9) return Tree.team(...list(random, 2, () => randomAgent(random, depth - 1)))
  return {
    _tag: "Agent",
    name: pick(random, ["Agent", "Agent", "Clerk"]),
    isGated: random() < 0.3,
    agent: randomAgent(random, depth - 1)
  }
}

const randomAgent = (random: Random, depth: number): Tree.Agent => ({
  steps: list(random, 2, () => list(random, 3, () => randomCall(random, depth)))
})

/** The plan of a seed. */
export const planOf = (seed: number): Plan => {
  const random = numbers(seed)
  // A second one, as neighbouring seeds begin alike.
  random()
  const agent = randomAgent(random, 1 + below(random, 3))
  return {
    way: pick(random, [...Play.ways, "send"] as const),
    // One agent inside there is.
    tree: { steps: [[...agent.steps[0]!, Tree.inner([Tree.pay])], ...agent.steps.slice(1)] },
    steps: list(random, 8, () => ({ kind: pick(random, stepKinds), seed: below(random, 1_000_000) })),
    end: pick(random, ends)
  }
}

// =============================================================================
// Playing
// =============================================================================

/** What answers fail with that have no effect. */
const isRefused = (error: unknown): boolean =>
  error instanceof ApprovalError.ApprovalError && ["UnknownApproval", "AlreadyDecided"].includes(error.reason._tag)

/** More than any tree of these takes. */
const maxRounds = 200

/** A request of another conversation, deep inside, in the same store. */
const foreign = Effect.fnUntraced(function*(store: Play.Play["store"]) {
  const tree = Tree.agent([Tree.inner([Tree.pay])])
  const play = yield* Play.begin("send", tree, { store, id: "c2" })
  yield* play.begin
  return { play, request: play.seen.get("r.00.00")! }
})

/** Plays it; fails where anything is otherwise than it has to be. */
export const play = Effect.fnUntraced(function*(plan: Plan) {
  const { tree, way } = plan
  const played = yield* Play.begin(way, tree, { routeText: () => undefined })
  const other = yield* foreign(played.store)
  yield* played.begin

  const open = () => Tree.stand(tree, played.decisions).open
  const decide = (random: Random, { key, kind, toolName }: Tree.Open): readonly [string, Tree.Decision] => {
    const chosen = below(random, 10)
    if (chosen === 0) return [key, Play.no]
    if (kind === "askUser") return [key, Play.text(`text ${below(random, 9)}`)]
    return [key, chosen < 3 && toolName === "Pay" && !Play.isHeld(way) ? Play.edited(`edited ${key}`) : Play.yes]
  }
  const some = (random: Random): Record<string, Tree.Decision> => {
    const all = open().filter(({ key }) => played.seen.has(key))
    const one = pick(random, all)
    const isBatch = random() < 0.4
    const chosen = all.filter((other) => other === one || (isBatch && random() < 0.5))
    return Object.fromEntries(chosen.map((open) => decide(random, open)))
  }
  /** Answers that have no effect: nothing changes. */
  const nothing = Effect.fnUntraced(function*(answers: Play.Answers) {
    const models = yield* prompts
    const exit = yield* Effect.exit(played.take([], answers))
    if (Exit.isFailure(exit) && !isRefused(Cause.squash(exit.cause))) return yield* Effect.failCause(exit.cause)
    if (open().length > 0) yield* played.check()
    assert.strictEqual(yield* prompts, models, "a model was called for an answer that has no effect")
  })
  const prompts = Effect.map(
    Effect.forEach(played.processes, ({ script }) => script.requests),
    (all) => all.flat().length
  )

  const step = Effect.fnUntraced(function*({ kind, seed }: Step) {
    const random = numbers(seed)
    if (open().length === 0) return
    switch (kind) {
      case "answer":
        return yield* played.answer(some(random))
      case "restart":
        yield* played.restart
        return yield* played.check()
      case "repeat": {
        const decided = [...played.decisions.keys()].map((key) => played.seen.get(key)!)
        if (decided.length === 0) return
        return yield* nothing(decided.map((request) => Play.answerTo(request, pick(random, [Play.yes, Play.no]))))
      }
      case "forged": {
        const { approvalId } = played.seen.get(pick(random, open()).key)!
        const forged = `${approvalId.slice(0, -1)}${approvalId.endsWith("A") ? "B" : "A"}`
        return yield* nothing([Approval.approve({ approvalId: forged }), Approval.approve(other.request)])
      }
      case "untrusted": {
        if (!Play.isHeld(way)) return
        const pays = open().filter(({ toolName }) => toolName === "Pay")
        if (pays.length === 0) return
        return yield* nothing([Play.answerTo(played.seen.get(pick(random, pays).key)!, Play.edited("mallory"))])
      }
      case "atOnce": {
        if (Play.isHeld(way)) return
        const answers = played.answersFor(some(random))
        const same = !open().some(({ key }) => played.seen.has(key)) || random() < 0.5
        const others = same ? answers : played.answersFor(some(random))
        const beside = random() < 0.5 ? yield* played.another : undefined
        const both = yield* Effect.forEach(
          [[answers, undefined], [others, beside]] as const,
          ([answers, process = played.process()]) =>
            // How the last turn ended is not told of two at once.
            Effect.forkChild(Effect.exit(Play.takeTurn(process.conversation, "send", [], answers)), {
              startImmediately: true
            })
        )
        for (const fiber of both) {
          assert.isTrue(yield* Laws.advance(fiber, "1 second"), "a turn does not end")
          const exit = yield* Fiber.join(fiber)
          if (Exit.isFailure(exit) && !isRefused(Cause.squash(exit.cause))) return yield* Effect.failCause(exit.cause)
        }
        return yield* played.check()
      }
    }
  })

  for (const one of plan.steps) yield* step(one)

  const random = numbers(plan.steps.length)
  const end = plan.end === "finish" || open().length === 0
    ? "finish"
    : Play.isHeld(way)
    ? "supersede"
    : plan.end
  if (end === "finish") {
    for (let round = 0; open().length > 0; round++) {
      assert.isBelow(round, maxRounds)
      yield* played.answer(some(random))
    }
  } else {
    const asked = open().map(({ key }) => played.seen.get(key)!)
    const before = [...played.did]
    if (end === "supersede") assert.strictEqual((yield* played.say("Leave it.")).text, "Something else.")
    if (end === "cancel") yield* played.conversation().cancel("stop")
    if (end === "clear") {
      const cleared = yield* played.conversation().clear()
      assert.sameMembers(cleared.map(({ approvalId }) => approvalId), asked.map(({ approvalId }) => approvalId))
    }
    if (!Play.isHeld(way)) assert.deepStrictEqual(yield* played.pending, [])
    const models = yield* prompts
    for (const request of asked) {
      const answer = request.interaction === "askUser" ? Play.text("late") : Play.yes
      const exit = yield* Effect.exit(played.take([], [Play.answerTo(request, answer)]))
      if (Exit.isFailure(exit) && !isRefused(Cause.squash(exit.cause))) return yield* Effect.failCause(exit.cause)
    }
    assert.deepStrictEqual(played.did, before, "a late answer has an effect")
    assert.strictEqual(yield* prompts, models, "a late answer calls a model")
  }
  assert.deepStrictEqual(yield* played.refusals, [])
  assert.deepStrictEqual(yield* Effect.map(other.play.pending, (all) => all.map(Play.keyOf)), ["r.00.00"])
})

/** What is wrong with a plan, in words; `undefined` where nothing is. */
export const faultOf = (plan: Plan): Effect.Effect<string | undefined> =>
  Effect.gen(function*() {
    const playing = yield* Effect.forkChild(Effect.exit(Effect.scoped(play(plan))), { startImmediately: true })
    if (!(yield* Laws.advance(playing, "1 second", 90))) {
      // Whatever it waits for does not come.
      playing.interruptUnsafe()
      return "it does not come to an end"
    }
    const exit = yield* Fiber.join(playing)
    return Exit.isSuccess(exit) ? undefined : sentenceOf(exit.cause)
  })

const sentenceOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  const { actual, message = String(error), stack } = error as {
    readonly actual?: unknown
    readonly message?: string
    readonly stack?: string
  }
  return Array.isArray(actual) && actual.length > 0
    ? actual.join("; ")
    : `${message}\n${(stack ?? "").split("\n").slice(1, 8).join("\n")}`
}

// =============================================================================
// Making small
// =============================================================================

/** The smallest plan found that goes wrong in some way. */
export const smallest = (plan: Plan): Effect.Effect<Plan> =>
  shrink(plan, smaller, (candidate) => Effect.map(faultOf(candidate), (fault) => fault !== undefined), 80)

function* smaller(plan: Plan): Generator<Plan> {
  for (const steps of fewer(plan.steps)) yield { ...plan, steps }
  if (plan.end !== "finish") yield { ...plan, end: "finish" }
  if (plan.way !== "send" && !(Play.isHeld(plan.way) && plan.steps.some(({ kind }) => kind === "untrusted"))) {
    yield { ...plan, way: "send" }
  }
  for (const tree of smallerAgents(plan.tree)) yield { ...plan, tree }
  for (const [index, step] of plan.steps.entries()) {
    if (step.seed > 0) yield { ...plan, steps: plan.steps.with(index, { ...step, seed: step.seed >> 1 }) }
  }
}

function* smallerAgents({ steps }: Tree.Agent): Generator<Tree.Agent> {
  for (const [step, calls] of steps.entries()) {
    if (steps.length > 1) yield { steps: steps.toSpliced(step, 1) }
    for (const [index, call] of calls.entries()) {
      if (calls.length > 1) yield { steps: steps.with(step, calls.toSpliced(index, 1)) }
      for (const simpler of smallerCalls(call)) yield { steps: steps.with(step, calls.with(index, simpler)) }
    }
  }
}

function* smallerCalls(call: Tree.Call): Generator<Tree.Call> {
  if (call._tag === "Ask" || call._tag === "Agent") yield Tree.pay
  if (call._tag === "Agent") {
    if (call.isGated) yield { ...call, isGated: false }
    if (call.name !== "Agent") yield { ...call, name: "Agent" }
    for (const agent of smallerAgents(call.agent)) yield { ...call, agent }
  }
  if (call._tag === "Team") {
    yield Tree.inner(...call.agents[0]!.steps)
    for (const [index, agent] of call.agents.entries()) {
      if (call.agents.length > 1) yield { ...call, agents: call.agents.toSpliced(index, 1) }
      for (const simpler of smallerAgents(agent)) yield { ...call, agents: call.agents.with(index, simpler) }
    }
  }
}
