/**
 * Somebody who presses Stop before or after any write of a turn, at any level of its agents, here or in another process. Who
 * stops never keeps the writer waiting: a Stop waits for the turn, and the turn for what it writes.
 */
import { Store, SuspensionStore } from "@assent/ai"
import { StrictProvider } from "@assent/ai/testing"
import { Cause, Context, Effect, Exit, Fiber, type Scope } from "effect"
import { TestClock } from "effect/testing"
import { isReading } from "../conversation/support.ts"
import * as Laws from "../laws/support.ts"
import * as Storage from "../search/storage.ts"
import { intercept } from "../store/intercept.ts"
import { answerTo, keyOf, no, text, yes } from "./answers.ts"
import { below, numbers, pick } from "./numbers.ts"
import * as Play from "./play.ts"
import * as Random from "./random.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

export interface Plan {
  readonly way: (typeof Play.conversationWays)[number]
  readonly tree: Tree.Agent
  /** How many turns came before: what is said, and then answers, which `seed` chooses. */
  readonly turns: number
  readonly seed: number
  readonly write: number
  readonly side: "before" | "after"
  readonly from: "here" | "elsewhere"
}

const IsInside = Context.Reference<boolean>("@assent/ai/test/agent/IsInsideWrite", { defaultValue: () => false })

/** A store that does something before or after its nth write from now; a transaction is one write. */
const makeWatched = (store: Store.Store) => {
  let count = 0
  let armed: { readonly at: number; readonly side: Plan["side"]; readonly then: Effect.Effect<void> } | undefined
  const writing = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      count++
      if (armed?.at !== count) return run
      const { side, then } = armed
      armed = undefined
      return side === "before" ? Effect.andThen(then, run) : Effect.tap(run, then)
    })
  const watched = intercept(
    store,
    (operation, _, run) =>
      Effect.flatMap(
        IsInside,
        (isInside) =>
          isInside || isReading(operation) || operation === "owners.beat" || operation === "sweep" ? run : writing(run)
      )
  )
  const atomically: Store.Store["atomically"] = (effect) =>
    Effect.flatMap(IsInside, (isInside) => {
      const run = store.atomically(Effect.provideService(effect, IsInside, true))
      return isInside ? run : writing(run)
    })
  return {
    store: Store.make({ ...watched, atomically, isShared: true }),
    arm: (at: number, side: Plan["side"], then: Effect.Effect<void>) => {
      count = 0
      armed = { at, side, then }
    },
    count: () => count
  }
}

/** Lets others do something, and waits for none of them. */
const others = Effect.repeat(Effect.yieldNow, { times: 30 })

export interface Played {
  /** How many writes the turn has, that was or would have been stopped. */
  readonly writes: number
  readonly problems: ReadonlyArray<string>
}

export const played = Effect.fnUntraced(function*(plan: Plan): Effect.fn.Return<Played, unknown, Scope.Scope> {
  const shared = yield* yield* Storage.MakeStore
  const nonces = new Set<string>()
  const kept = intercept(shared, (operation, key, run) => {
    if (operation.startsWith("requests.") && key !== "") nonces.add(key)
    return run
  })
  const did: Array<string> = []
  const agents = Tree.agentsOf(plan.tree)
  const answer = World.answerAs(agents)
  const process = (store: Store.Store) =>
    World.makeProcess({
      store,
      agents,
      does: (what) => did.push(what),
      model: (request) => World.agentOf(request.prompt) === "nobody" ? "Something else." : answer(request)
    })
  const watched = makeWatched(Store.make({ ...kept, isShared: true }))
  const here = yield* process(watched.store)
  const elsewhere = yield* process(Store.make({ ...kept, isShared: true }))
  const prompts = Effect.map(
    Effect.forEach([here, elsewhere], ({ script }) => script.requests),
    (all) => all.flat().map(({ prompt }) => prompt)
  )

  const random = numbers(plan.seed)
  const decisions = new Map<string, Tree.Decision>()
  const seen = new Map<string, { readonly approvalId: string; readonly interaction: string }>()
  const denied = new Set<string>()
  const next = Effect.gen(function*() {
    const open = yield* here.conversation.pending()
    for (const request of open) seen.set(request.approvalId, request)
    const some = open.filter(() => random() < 0.4)
    return (some.length > 0 ? some : open.slice(0, 1)).map((request) => {
      const key = keyOf(request)
      const decision = random() < 0.15 ? no : request.interaction === "askUser" ? text("so") : yes
      decisions.set(key, decision)
      if (decision === no) denied.add(request.approvalId)
      return answerTo(request, decision)
    })
  })
  const turn = (index: number) =>
    index === 0
      ? Effect.asVoid(Play.takeTurn(here.conversation, plan.way, World.promptOf(Tree.rootKey)))
      : Effect.flatMap(next, (answers) =>
        answers.length === 0 ? Effect.void : Effect.asVoid(Play.takeTurn(here.conversation, plan.way, [], answers)))

  for (let index = 0; index < plan.turns; index++) yield* turn(index)
  const before = yield* here.conversation.pending()
  if (plan.turns > 0 && before.length === 0) return { writes: 0, problems: [] }

  let stopping: Fiber.Fiber<Exit.Exit<void, unknown>> | undefined
  let promptsAtStop = 0
  watched.arm(
    plan.write,
    plan.side,
    Effect.gen(function*() {
      const { conversation } = plan.from === "here" ? here : elsewhere
      stopping = yield* Effect.forkDetach(
        Effect.tap(
          Effect.exit(conversation.cancel("enough")),
          () => Effect.map(prompts, (all) => (promptsAtStop = all.length))
        ),
        { startImmediately: true }
      )
      yield* others
    })
  )
  const problems: Array<string> = []
  const wrong = (is: boolean, what: string) => is && problems.push(what)
  const going = yield* Effect.forkChild(Effect.exit(turn(plan.turns)), { startImmediately: true })
  wrong(!(yield* Laws.advance(going, "1 second", 90)), "the turn does not end")
  const writes = watched.count()
  if (stopping === undefined) return { writes, problems }
  // Before its first write nobody elsewhere can know of the turn: the Stop comes before it, and it is taken.
  const isBeforeAll = plan.turns === 0 && plan.write === 1 && plan.side === "before" && plan.from === "elsewhere"
  if (isBeforeAll) return { writes, problems }
  wrong(!(yield* Laws.advance(stopping, "1 second", 90)), "the Stop does not end")
  if (problems.length > 0) return { writes, problems }
  const stopped = yield* Fiber.join(stopping)
  wrong(Exit.isFailure(stopped), `the Stop fails: ${Exit.isFailure(stopped) ? Cause.pretty(stopped.cause) : ""}`)

  // Nothing goes on.
  const asked = yield* prompts
  const called = asked.slice(promptsAtStop).map(World.agentOf)
  wrong(called.length > 0, `${called.join(", ")} was called after the Stop`)
  const done = [...did]
  for (let seconds = 0; seconds < 30; seconds++) yield* Effect.andThen(Laws.idle, TestClock.adjust("1 second"))
  wrong((yield* prompts).length > asked.length, "a model is called when all is over")
  yield* elsewhere.serving(SuspensionStore.wakeDue(() => elsewhere.conversation.wake))
  wrong((yield* prompts).length > asked.length, "whoever looks for what is due calls a model")
  wrong(did.length > done.length, `${did.slice(done.length).join(", ")} has happened when all was over`)

  // Everything has ended, and none of it as somebody's no.
  for (const { conversation } of [here, elsewhere]) {
    wrong((yield* conversation.pending()).length > 0, "something is open")
  }
  for (const nonce of nonces) {
    const row = yield* shared.requests.get(nonce)
    if (row === undefined) continue
    const { approvalId, dueAt, kind, state, toolName, waits } = row
    wrong(state === "pending" || state === "running", `${toolName} (${kind}) is ${state}`)
    wrong(waits === "open" && dueAt !== undefined, `${toolName} (${kind}) is ${state} and due still`)
    wrong(state === "denied" && !denied.has(approvalId), `${toolName} (${kind}) was denied by nobody`)
  }
  const meant = Tree.stand(plan.tree, decisions).did
  for (const what of new Set(did)) {
    wrong(!meant.includes(what), `${what} has happened`)
    wrong(did.filter((one) => one === what).length > 1, `${what} has happened twice`)
  }

  // What comes late has no effect, and whoever goes on is understood by any provider.
  for (const request of seen.values()) {
    const answer = answerTo(request, request.interaction === "askUser" ? text("late") : yes)
    const late = yield* Effect.exit(elsewhere.conversation.decide(answer))
    wrong(Exit.isSuccess(late), "a late answer is taken")
  }
  wrong(did.length > done.length, `${did.slice(done.length).join(", ")} has happened after a late answer`)
  const well = yield* Effect.forkChild(Effect.exit(elsewhere.conversation.send("Well?")), { startImmediately: true })
  wrong(!(yield* Laws.advance(well, "1 second", 90)), "the next turn does not end")
  const exit = yield* Fiber.join(well)
  wrong(Exit.isFailure(exit), `the next turn fails: ${Exit.isFailure(exit) ? Cause.pretty(exit.cause) : ""}`)
  if (Exit.isSuccess(exit)) {
    wrong(exit.value.text !== "Something else.", `it says ${JSON.stringify(exit.value.text)}, ${exit.value._tag}`)
  }
  const all = yield* prompts
  const since = all.slice(asked.length).map(World.agentOf)
  wrong(since.some((key) => key !== Tree.rootKey && key !== "nobody"), `${since.join(", ")} was called by a next turn`)
  for (const prompt of all) problems.push(...StrictProvider.check(prompt).map(({ message }) => `refused: ${message}`))
  return { writes, problems }
}, Effect.scoped)

/** Three levels, two tools that wait side by side, and two agents of one tool. */
export const tree = Tree.agent([
  Tree.inner([Tree.inner([Tree.pay, Tree.look, Tree.ask], [Tree.pay]), Tree.pay]),
  Tree.pay,
  Tree.team(Tree.agent([Tree.pay]), Tree.agent([Tree.look]))
])

/** One whose turn is not stopped says how many writes it has. */
const unstopped = 0

/** The plan of a seed: any write of one of its turns. `undefined` where its tree came to its end before. */
export const planOf = (seed: number): Effect.Effect<Plan | undefined, unknown> => {
  const random = numbers(seed)
  // A first one, as neighbouring seeds begin alike.
  random()
  const plan: Plan = {
    way: pick(random, Play.conversationWays),
    tree: Random.planOf(seed).tree,
    turns: below(random, 4),
    seed,
    write: unstopped,
    side: pick(random, ["before", "after"]),
    from: pick(random, ["here", "elsewhere"])
  }
  return Effect.map(
    played(plan),
    ({ writes }) => writes === 0 ? undefined : { ...plan, write: 1 + below(random, writes) }
  )
}

/** Every plan of a tree: each write of its first so many turns, taken in each way, from here and from elsewhere. */
export const plansOf = Effect.fnUntraced(function*(tree: Tree.Agent, turns: number, seed: number) {
  const plans: Array<Plan> = []
  for (const way of Play.conversationWays) {
    for (let before = 0; before < turns; before++) {
      const plan: Plan = { way, tree, turns: before, seed, write: unstopped, side: "before", from: "here" }
      const { writes } = yield* played(plan)
      for (let write = 1; write <= writes; write++) {
        for (const side of ["before", "after"] as const) {
          for (const from of ["here", "elsewhere"] as const) plans.push({ ...plan, write, side, from })
        }
      }
    }
  }
  return plans
})

/** What is wrong with a plan. */
export const problemsOf = (plan: Plan): Effect.Effect<ReadonlyArray<string>, unknown> =>
  Effect.map(played(plan), ({ problems }) => problems)
