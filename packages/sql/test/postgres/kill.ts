/** `kill -9` of a process that plays the story, before a piece of what it says reaches the server, or before the answer does. */
import { Effect } from "effect"
import * as Path from "node:path"
import * as Check from "../chaos/check.ts"
import * as Child from "../chaos/process.ts"
import * as Story from "../chaos/story.ts"
import * as World from "../chaos/world.ts"
import { dump } from "./dump.ts"
import * as Kept from "./kept.ts"
import * as Proxy from "./proxy.ts"

const program = Path.join(import.meta.dirname, "programs/player.ts")

export interface Point {
  /** Which piece of all that the process says. */
  readonly piece: number
  readonly side: "before" | "after"
}

export interface Where {
  readonly url: string
  readonly port: number
  readonly prefix: string
}

const proxied = (port: number, hooks: Proxy.Hooks) =>
  Effect.acquireRelease(Effect.promise(() => Proxy.start(port, hooks)), (proxy) => Effect.promise(proxy.close))

/** How many pieces there are. */
export const pieces = ({ port, prefix }: Where) =>
  Effect.scoped(Effect.gen(function*() {
    let count = 0
    const proxy = yield* proxied(port, { onSaid: () => ++count > 0 })
    const world = yield* World.make
    yield* Story.played(world, { kept: Kept.layer(proxy.url, { prefix }) })
    return count
  }))

/** What is wrong after a process was killed there, and another one has come to the end. */
export const problemsAt = ({ piece, side }: Point, { port, prefix, url }: Where) =>
  Effect.scoped(Effect.gen(function*() {
    const world = yield* World.make
    let said = 0
    let reached: () => void = () => {}
    const isThere = new Promise<void>((resolve) => {
      reached = resolve
    })
    const isBefore = () => said < piece
    const proxy = yield* proxied(port, {
      onSaid: () => {
        said++
        if (isBefore()) return true
        if (side === "before") reached()
        return side === "after" && said === piece
      },
      onAnswered: () => {
        if (isBefore()) return true
        reached()
        return false
      }
    })
    const child = yield* Child.start(program, world.folder, proxy.url, prefix)
    yield* Effect.raceFirst(Effect.promise(() => isThere), child.ended)
    yield* child.kill
    yield* dump(url, prefix, world)
    const before = Check.problemsOf(world)
    yield* Story.played(world, {
      kept: Kept.layer(url, { prefix, heartbeat: "250 millis" }),
      later: Story.tenMinutes
    })
    yield* dump(url, prefix, world)
    return [...before, ...Check.problemsAtEnd(world)].map((problem) => `${side} piece ${piece}: ${problem}`)
  }))
