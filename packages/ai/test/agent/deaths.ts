/**
 * A process that dies before or after any write of its store, at any level of its agents, and another that goes on. Nothing is
 * killed for real here, so that every point can be tried: from its death on the process never comes back from its store.
 * `packages/sql/test/agent` kills real ones.
 */
import { Store } from "@assent/ai"
import { StrictProvider } from "@assent/ai/testing"
import { Context, Effect, Fiber, Scope } from "effect"
import { isReading } from "../conversation/support.ts"
import * as Laws from "../laws/support.ts"
import { intercept } from "../store/intercept.ts"
import * as Person from "./person.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

export interface Point {
  readonly write: number
  readonly side: "before" | "after"
}

const IsInside = Context.Reference<boolean>("@assent/ai/test/agent/IsInside", { defaultValue: () => false })

/** A store whose process dies at a point; a transaction is one write. Says how many writes there were, and when it died. */
export const mortal = (store: Store.Store, point: Point | undefined) => {
  let count = 0
  let isDead = false
  let die = () => {}
  const death = new Promise<void>((resolve) => (die = resolve))
  const dying = Effect.suspend(() => {
    isDead = true
    die()
    return Effect.never
  })
  const writing = <A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      if (isDead) return Effect.never
      const isIt = ++count === point?.write
      if (isIt && point?.side === "before") return dying
      return isIt ? Effect.andThen(run, dying) : run
    })
  const watched = intercept(store, (operation, _, run) =>
    Effect.flatMap(IsInside, (isInside) =>
      // What others would have to wait for comes to its end.
      isInside
        ? run
        : isDead
        ? Effect.never
        : isReading(operation) || operation === "owners.beat" || operation === "sweep"
        ? run
        : writing(run)))
  const atomically: Store.Store["atomically"] = (effect) =>
    Effect.flatMap(IsInside, (isInside) => {
      const run = store.atomically(Effect.provideService(effect, IsInside, true))
      return isInside ? run : writing(run)
    })
  return { store: Store.make({ ...watched, atomically }), count: () => count, death: Effect.promise(() => death) }
}

/** Plays the story in a process that dies there, and then in another one. */
const played = Effect.fnUntraced(function*(point: Point | undefined) {
  const shared = yield* Store.makeMemory()
  const nonces = new Set<string>()
  const kept = intercept(shared, (operation, key, run) => {
    if (operation.startsWith("requests.") && key !== "") nonces.add(key)
    return run
  })
  const notes = Person.makeNotes()
  const process = (store: Store.Store) =>
    World.makeProcess({
      store,
      agents: Tree.agentsOf(Person.tree),
      does: (what) => notes.note("did", what),
      model: Person.answer(notes)
    })
  // Another process may use it too: then each says that it lives.
  const first = mortal(Store.make({ ...kept, isShared: true }), point)
  // Nothing of it is ever closed.
  const dead = yield* Scope.provide(process(first.store), yield* Scope.make())
  const playing = yield* Effect.forkDetach(Effect.exit(Person.play(dead.conversation, notes)), {
    startImmediately: true
  })
  const ended = yield* Effect.forkChild(
    point === undefined ? Fiber.await(playing) : Effect.raceFirst(first.death, Fiber.await(playing)),
    { startImmediately: true }
  )
  const isOver = yield* Laws.advance(ended, "1 second")
  const next = yield* process(Store.make({ ...kept, isShared: true }))
  const going = yield* Effect.forkChild(Effect.exit(Person.play(next.conversation, notes)), { startImmediately: true })
  const isDone = yield* Laws.advance(going, "1 second", 120)
  const rows: Array<Person.Row> = []
  for (const nonce of nonces) {
    const row = yield* shared.requests.get(nonce)
    if (row === undefined) continue
    rows.push({ ...row, hasWithin: yield* shared.requests.hasWithin(nonce) })
  }
  const requests = yield* next.script.requests
  const problems = [
    ...(isOver ? [] : ["it does not die"]),
    ...requests.flatMap(({ prompt }) => StrictProvider.check(prompt).map(({ message }) => `refused: ${message}`))
  ]
  if (!isDone) return { writes: first.count(), problems: [...problems, "the next one does not come to its end"] }
  const exit = yield* Fiber.join(going)
  return {
    writes: first.count(),
    problems: exit._tag === "Failure"
      ? [...problems, `the next one fails: ${exit.cause}`]
      : [...problems, ...Person.problemsAtEnd(notes, rows, exit.value)]
  }
}, Effect.scoped)

/** Before and after each write of the story. */
export const points = Effect.map(
  played(undefined),
  ({ problems, writes }) => ({
    problems,
    points: Array.from({ length: writes }, (_, index) => index + 1).flatMap((write): ReadonlyArray<Point> => [
      { write, side: "before" },
      { write, side: "after" }
    ])
  })
)

/** What is wrong after a process has died there, and another one has come to the end. */
export const problemsAt = (point: Point): Effect.Effect<ReadonlyArray<string>, Store.StoreError> =>
  Effect.map(
    played(point),
    ({ problems }) => problems.map((problem) => `${point.side} write ${point.write}: ${problem}`)
  )
