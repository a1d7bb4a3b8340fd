/**
 * What runs when a real process is stopped, in short: with a beat of 100 milliseconds. `npm run chaos:runs` takes every way,
 * with the beat that programs have, and prints the times.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Stories from "./stories.ts"

const beat = 100

const test = (title: string, stories: ReadonlyArray<Effect.Effect<Stories.Found, Error>>) =>
  it.live(title, () =>
    Effect.gen(function*() {
      const found = yield* Effect.all(stories, { concurrency: "unbounded" })
      assert.strictEqual(found.flatMap(({ problems }) => problems).join("\n"), "")
    }), 60_000)

describe("kill -9", () => {
  test(
    "while an approved call runs, inline or deferred: another process is told that it is unknown, and it is paid once;" +
      " who follows the turn is told that it has ended",
    [Stories.killed("send", beat), Stories.killed("decide", beat), Stories.followed(beat)]
  )
})

describe("a signal", () => {
  test(
    "while an approved call runs: its finalizers complete, so that no child process and no lock outlive the agent",
    [
      Stories.signalled("SIGTERM", "file", "send", beat),
      Stories.signalled("SIGINT", "default", "decide", beat),
      Stories.signalled("SIGTERM", "file", "start", beat)
    ]
  )
})
