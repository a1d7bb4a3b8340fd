/** A process that handles events is killed between an event and its place: the next one goes on, and leaves none out. */
import * as Conversation from "@assent/ai/Conversation"
import * as OpenRequests from "@assent/ai/OpenRequests"
import { Effect, Fiber, Stream } from "effect"
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Child from "./process.ts"
import * as Story from "./story.ts"
import * as World from "./world.ts"

const file = ({ folder }: World.World) => Path.join(folder, "handled.log")

const handled = (world: World.World) => Fs.readFileSync(file(world), "utf8").split("\n").slice(0, -1)

/** Writes down the cursor of each event, which no kill loses. */
export const following = (world: World.World) =>
  Story.within(world)(OpenRequests.follow(
    "lines",
    ({ cursor }) => Effect.sync(() => Fs.appendFileSync(file(world), cursor + "\n")),
    { lease: "300 millis", every: "20 millis" }
  ))

export interface Point {
  /** Of which event the place is about to be kept. */
  readonly event: number
  readonly side: "before" | "after"
}

export const points: ReadonlyArray<Point> = [1, 2, 3].flatMap((event) => [
  { event, side: "before" as const },
  { event, side: "after" as const }
])

/** Three requests wait. */
const happens = Effect.gen(function*() {
  const conversation = yield* Conversation.make({ id: "story", toolkit: Story.toolkit })
  yield* conversation.send(Story.firstWords)
  return yield* Stream.runCollect(Stream.take(OpenRequests.events(), 3))
})

export const problemsAt = ({ event, side }: Point) =>
  Effect.scoped(Effect.gen(function*() {
    const world = yield* World.make
    const cursors = (yield* Story.within(world)(happens)).map(({ cursor }) => cursor)
    const child = yield* Child.start("follower.ts", world.folder, String(event), side)
    yield* child.said("stopped")
    yield* child.kill
    const first = handled(world)
    const next = yield* Effect.forkChild(following(world))
    const expected = [...cursors.slice(0, event), ...cursors.slice(side === "before" ? event - 1 : event)]
    const isDone = Effect.sync(() => handled(world).length >= expected.length)
    yield* Effect.sleep("10 millis").pipe(
      Effect.andThen(isDone),
      Effect.repeat({ until: (isDone) => isDone }),
      Effect.timeoutOption("10 seconds")
    )
    // Nothing comes after that.
    yield* Effect.sleep("50 millis")
    yield* Fiber.interrupt(next)
    const problems: Array<string> = []
    if (first.join() !== cursors.slice(0, event).join()) problems.push(`the first handled ${first}`)
    if (handled(world).join() !== expected.join()) problems.push(`${handled(world)} were handled, not ${expected}`)
    return problems.map((problem) => `${side} the place after event ${event}: ${problem}`)
  }))
