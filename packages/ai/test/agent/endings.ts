/**
 * A process that dies while it ends what waits at every level: by Stop, by taking it back, or by a new message. Whoever goes
 * on in another one finds all of an agent's call ended, or none of it, and can end the rest.
 */
import { Approval, Store } from "@assent/ai"
import { StrictProvider } from "@assent/ai/testing"
import { Effect, Exit, Fiber, Scope } from "effect"
import * as Laws from "../laws/support.ts"
import { intercept } from "../store/intercept.ts"
import { keyOf } from "./answers.ts"
import { mortal, type Point } from "./deaths.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

export const kinds = ["cancel", "clear", "supersede"] as const

export type Kind = (typeof kinds)[number]

const tree = Tree.agent([
  Tree.inner([Tree.inner([Tree.pay, Tree.pay]), Tree.pay]),
  Tree.pay,
  Tree.team(Tree.agent([Tree.pay]), Tree.agent([Tree.pay]))
])

const end = (kind: Kind, { cancel, clear, send }: World.Conversing): Effect.Effect<unknown, unknown> =>
  kind === "cancel" ? cancel("enough") : kind === "clear" ? clear() : send("Leave it.")

/** Ends everything in a process that dies there, and goes on in another one. */
const played = Effect.fnUntraced(function*(kind: Kind, point: Point | undefined) {
  const shared = yield* Store.makeMemory()
  const nonces = new Set<string>()
  const kept = intercept(shared, (operation, key, run) => {
    if (operation.startsWith("requests.") && key !== "") nonces.add(key)
    return run
  })
  const did: Array<string> = []
  const agents = Tree.agentsOf(tree)
  const process = (store: Store.Store) => World.makeProcess({ store, agents, does: (what) => did.push(what) })
  const begins = yield* process(Store.make({ ...kept, isShared: true }))
  yield* begins.conversation.send(World.promptOf(Tree.rootKey))
  const asked = yield* begins.conversation.pending()
  const before = (yield* begins.script.requests).length

  const mortals = mortal(Store.make({ ...kept, isShared: true }), point)
  // Nothing of it is ever closed.
  const dead = yield* Scope.provide(process(mortals.store), yield* Scope.make())
  const ending = yield* Effect.forkDetach(Effect.exit(end(kind, dead.conversation)), { startImmediately: true })
  const ended = yield* Effect.forkChild(
    point === undefined ? Fiber.await(ending) : Effect.raceFirst(mortals.death, Fiber.await(ending)),
    { startImmediately: true }
  )
  const isOver = yield* Laws.advance(ended, "1 second")
  const writes = mortals.count()

  const problems: Array<string> = []
  const wrong = (is: boolean, what: string) => is && problems.push(what)
  wrong(!isOver, "it does not die")
  const next = yield* process(Store.make({ ...kept, isShared: true }))
  const { conversation } = next
  // Of an agent's call, all that was asked within it is open, or nothing.
  const open = (yield* conversation.pending()).map(keyOf)
  for (const call of ["r.00.", "r.02#"]) {
    const meant = asked.map(keyOf).filter((key) => key.startsWith(call))
    const left = open.filter((key) => key.startsWith(call))
    wrong(left.length > 0 && left.length < meant.length, `of ${meant.join(", ")} there is ${left.join(", ")}`)
  }
  const going = yield* Effect.forkChild(
    Effect.exit(Effect.andThen(end(kind, conversation), conversation.send("And now?"))),
    { startImmediately: true }
  )
  wrong(!(yield* Laws.advance(going, "1 second", 120)), "the next one does not come to its end")
  if (problems.length > 0) return { writes, problems }
  const exit = yield* Fiber.join(going)
  wrong(Exit.isFailure(exit) || exit.value.text !== "Something else.", "the next one does not go on")
  for (const nonce of nonces) {
    const row = yield* shared.requests.get(nonce)
    const { kind = "", state = "done", toolName = "" } = row ?? {}
    wrong(["pending", "running", "denied"].includes(state), `${toolName} (${kind}) is ${state}`)
  }
  for (const request of asked) {
    const late = yield* Effect.exit(conversation.decide(Approval.approve(request)))
    wrong(Exit.isSuccess(late), `a late yes to ${keyOf(request)} is taken`)
  }
  const meant = Tree.stand(tree, new Map()).did
  wrong(did.some((what) => !meant.includes(what)), `it did ${did.join(", ")}`)
  const prompts = (yield* Effect.forEach([begins, dead, next], ({ script }) => script.requests)).flat()
  const since = prompts.slice(before).map(({ prompt }) => World.agentOf(prompt))
  wrong(since.some((key) => key !== Tree.rootKey), `${since.join(", ")} was called`)
  for (const { prompt } of prompts) {
    problems.push(...StrictProvider.check(prompt).map(({ message }) => `refused: ${message}`))
  }
  return { writes, problems }
}, Effect.scoped)

/** Before and after each write of the ending. */
export const points = (kind: Kind) =>
  Effect.map(played(kind, undefined), ({ problems, writes }) => ({
    problems,
    points: Array.from({ length: writes }, (_, index) => index + 1).flatMap((write): ReadonlyArray<Point> => [
      { write, side: "before" },
      { write, side: "after" }
    ])
  }))

/** What is wrong after a process has died there while it ended everything, and another one has gone on. */
export const problemsAt = (kind: Kind, point: Point) =>
  Effect.map(
    played(kind, point),
    ({ problems }) => problems.map((problem) => `${kind}, ${point.side} write ${point.write}: ${problem}`)
  )
