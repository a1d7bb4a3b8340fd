/** What the tests of agents inside agents share. */
import { assert, it } from "@effect/vitest"
import { Cause, Effect, Exit, Fiber } from "effect"
import { ApprovalError, Store } from "../../src/index.ts"
import { type Story, tell } from "../laws/story.ts"
import * as Laws from "../laws/support.ts"
import { intercept } from "../store/intercept.ts"
import * as Play from "./play.ts"

export { LanguageModel } from "effect/ai/LanguageModel"
export { advance, idle, makeHold, settles } from "../laws/support.ts"
export * from "./play.ts"

/** One that keeps its history and one whose history is the program's: random trees are played in all. */
export const someWays = ["stream", "generateText"] as const

/** Registers one test for each of some ways of taking a turn. */
export const inWays = (
  title: string,
  story: Story<[way: Play.Way]>,
  only: ReadonlyArray<Play.Way> = someWays
): void => {
  for (const way of only) it.effect(`${title} [${way}]`, () => tell(story, way))
}

/** A turn that goes on beside the test. */
export const turn = <A>(effect: Effect.Effect<A, unknown>) =>
  Effect.forkChild(Effect.exit(effect), { startImmediately: true })

type Turn<A> = Effect.Success<ReturnType<typeof turn<A>>>

/** How it ends, with the clock moved on as long as it waits. */
export const exitOf = <A>(fiber: Turn<A>) =>
  Effect.gen(function*() {
    assert.isTrue(yield* Laws.advance(fiber, "1 second"), "a turn does not end")
    return yield* Fiber.join(fiber)
  })

/** It succeeds. */
export const ended = <A>(fiber: Turn<A>): Effect.Effect<A, unknown> => Effect.flatten(exitOf(fiber))

/** Why an answer has no effect. */
export const refusal = (error: unknown): string | undefined =>
  error instanceof ApprovalError.ApprovalError ? error.reason._tag : undefined

/** It succeeds, or says that its answers were given already. */
export const endedOrRefused = <A>(fiber: Turn<A>): Effect.Effect<void, unknown> =>
  Effect.flatMap(exitOf(fiber), (exit) =>
    Exit.isSuccess(exit) || refusal(Cause.squash(exit.cause)) === "AlreadyDecided"
      ? Effect.void
      : Effect.failCause(exit.cause))

/** Answers that have no effect: by this reason where the way of the turn says so. */
export const refused = (play: Play.Play, answers: Play.Answers, reason: string) =>
  Effect.gen(function*() {
    const before = [...play.did]
    const models = yield* calls(play)
    const exit = yield* Effect.exit(play.take([], answers))
    if (!Play.isHeld(play.way)) {
      assert.isTrue(Exit.isFailure(exit), "an answer that has no effect is taken")
      if (Exit.isFailure(exit)) assert.strictEqual(refusal(Cause.squash(exit.cause)), reason)
    }
    assert.deepStrictEqual(play.did, before)
    assert.strictEqual(yield* calls(play), models, "a model was called for an answer that has no effect")
  })

/** How often models were called, at all levels. */
export const calls = (play: Play.Play): Effect.Effect<number> =>
  Effect.map(Effect.forEach(play.processes, ({ script }) => script.requests), (all) => all.flat().length)

export const makeStore = Store.makeMemory()

/** A store that tells the ids of all conversations that were written. */
export const makeWatched = Effect.map(makeStore, (store) => {
  const ids = new Set<string>()
  const watched = intercept(store, (operation, key, run) => {
    if (operation === "conversations.write") ids.add(key)
    return run
  })
  return { ids, store, watched }
})
