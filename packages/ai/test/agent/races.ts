/**
 * Somebody ends everything, with a new message or Stop, at any write of a turn that is being taken, in the same process or in
 * another: when that has ended nothing happens any more, nothing is open, and no late yes has an effect.
 */
import { Approval, Store } from "@assent/ai"
import { StrictProvider } from "@assent/ai/testing"
import { Effect, Exit, Fiber } from "effect"
import { isReading } from "../conversation/support.ts"
import * as Laws from "../laws/support.ts"
import { intercept } from "../store/intercept.ts"
import * as Person from "./person.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

export const ends = ["cancel", "message"] as const
export const places = ["here", "elsewhere"] as const

export interface Point {
  readonly write: number
  readonly end: (typeof ends)[number]
  readonly place: (typeof places)[number]
}

const played = Effect.fnUntraced(function*(point: Point | undefined) {
  const shared = yield* Store.makeMemory()
  const notes = Person.makeNotes()
  let count = 0
  let begin = () => {}
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const counting = intercept(shared, (operation, _, run) => {
    if (isReading(operation) || operation === "owners.beat" || operation === "sweep") return run
    return Effect.andThen(
      run,
      Effect.suspend(() => {
        if (++count !== point?.write) return Effect.void
        begin()
        return Effect.void
      })
    ) as typeof run
  })
  const process = (store: Store.Store) =>
    World.makeProcess({
      store: Store.make({ ...store, isShared: true }),
      agents: Tree.agentsOf(Person.tree),
      does: (what) => notes.note("did", what),
      before: () => Effect.repeat(Effect.yieldNow, { times: 10 }),
      model: Person.answer(notes),
      routeText: () => undefined
    })
  const one = yield* process(counting)
  const other = yield* process(shared)
  const ending = point?.place === "here" ? yield* one.again : other.conversation
  const playing = yield* Effect.forkChild(Effect.exit(Person.play(one.conversation, notes)), { startImmediately: true })
  const stopping = yield* Effect.forkChild(
    Effect.exit(
      point === undefined ? Effect.asVoid(Fiber.await(playing)) : Effect.andThen(
        Effect.promise(() => begun),
        point.end === "cancel" ? ending.cancel("enough") : Effect.asVoid(ending.send("Leave it."))
      )
    ),
    { startImmediately: true }
  )
  const problems: Array<string> = []
  const wrong = (is: boolean, what: string) => is && problems.push(what)
  const modelCalls = Effect.map(
    Effect.all([one.script.requests, other.script.requests]),
    (all) => all.flat()
  )
  wrong(!(yield* Laws.advance(stopping, "1 second", 120)), "it does not end")
  const stopped = stopping.pollUnsafe()
  if (stopped?._tag === "Success" && Exit.isFailure(stopped.value)) problems.push(`it fails: ${stopped.value.cause}`)
  const did = notes.read("did")
  const calls = (yield* modelCalls).length
  wrong(!(yield* Laws.advance(playing, "1 second", 120)), "the turn does not end")
  if (point === undefined) return { writes: count, problems }
  wrong(notes.read("did").length > did.length, `it goes on: ${notes.read("did").slice(did.length).join()}`)
  wrong((yield* modelCalls).length > calls, "a model is called after the end")
  const open = yield* other.conversation.pending()
  wrong(open.length > 0, `${open.map(({ description }) => description).join()} is open`)
  for (const { approvalId, key } of notes.read("asked")) {
    yield* Effect.exit(other.conversation.decide(Approval.approve({ approvalId })))
    wrong(notes.read("did").length > did.length, `a late yes to ${key} has an effect`)
  }
  const said = yield* Effect.exit(other.conversation.send("Well?"))
  wrong(Exit.isFailure(said), `nothing can be said any more: ${said}`)
  const requests = yield* modelCalls
  for (const what of new Set(did)) {
    wrong(did.filter((one) => one === what).length > 1, `${what} has happened more than once`)
  }
  for (const { prompt } of requests) {
    problems.push(...StrictProvider.check(prompt).map(({ message }) => `refused: ${message}`))
  }
  return { writes: count, problems }
}, Effect.scoped)

/** Each write of the story, with each way to end it. */
export const points = Effect.map(played(undefined), ({ problems, writes }) => ({
  problems,
  points: Array.from({ length: writes }, (_, index) => index + 1).flatMap((write) =>
    ends.flatMap((end) => places.map((place): Point => ({ write, end, place })))
  )
}))

/** What is wrong after it was ended there. */
export const problemsAt = (point: Point) =>
  Effect.map(
    played(point),
    ({ problems }) => problems.map((problem) => `${point.end} ${point.place} at write ${point.write}: ${problem}`)
  )
