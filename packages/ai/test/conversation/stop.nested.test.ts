/** A nested run stops with its parent: an agent that runs in a tool, and what was approved there. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber, Stream } from "effect"
import { TestClock } from "effect/testing"
import { LanguageModel, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as W from "../waiting/support.ts"
import * as S from "./stopping.ts"
import * as C from "./support.ts"

type Inner = (run: (step: string) => Effect.Effect<void>) => Effect.Effect<unknown, unknown>

const generating = (how: "generate" | "stream"): Inner => (run) =>
  Effect.gen(function*() {
    const { toolkit } = yield* W.makeWaiting(run)
    const script = yield* ScriptedModel.make({ turns: [[C.remove("inner")]] })
    const options = { prompt: "Go.", toolkit }
    const turn = how === "generate"
      ? LanguageModel.generateText(options)
      : Stream.runDrain(LanguageModel.streamText(options))
    // The tools are any tools, and need nothing.
    yield* Effect.provideService(turn as Effect.Effect<unknown, unknown>, LanguageModel.LanguageModel, script.model)
  })

/** What a tool may do in which a run is approved. */
const agents: Record<string, Inner> = {
  "that generates": generating("generate"),
  "that streams": generating("stream"),
  "that has a conversation of its own": (run) =>
    Effect.scoped(Effect.flatMap(
      C.start({ id: "inner", turns: [[C.remove("inner")]], before: run }),
      ({ conversation }) => conversation.send("Go.")
    )),
  "that uses a guarded toolkit": (run) =>
    Effect.gen(function*() {
      const { toolkit } = yield* W.makeWaiting(run)
      const output = Stream.unwrap(Toolkit.guard(toolkit).handle("DeleteFile", { path: "inner" }))
      yield* Stream.runDrain(output as Stream.Stream<unknown, unknown>)
    }),
  "that is in a fiber of its own": (run) =>
    Effect.andThen(Effect.forkDetach(generating("generate")(run), { startImmediately: true }), Effect.never),
  "whose reader has left": (run) =>
    Effect.gen(function*() {
      const entered = yield* Deferred.make<void>()
      const inner = generating("generate")((step) => Effect.andThen(Deferred.succeed(entered, undefined), run(step)))
      yield* Effect.raceFirst(inner, Deferred.await(entered))
      yield* Effect.never
    })
}

const calls = { "approved": C.remove("a"), "unasked": C.read("a") } as const

const begin = (call: keyof typeof calls, agent: string, outlives: boolean) =>
  Effect.gen(function*() {
    const held = yield* S.makeHeld
    const started = yield* C.start({
      turns: [[calls[call]], "Never."],
      limits: outlives ? { time: "1 minute" } : undefined,
      before: () => Effect.orDie(agents[agent]!(held.run))
    })
    const running = yield* Effect.forkChild(started.conversation.send("Go."), { startImmediately: true })
    yield* held.entered
    return { ...started, running, seen: held.seen }
  })

describe("cancel", () => {
  for (const agent of Object.keys(agents)) {
    for (const call of ["approved", "unasked"] as const) {
      it.effect(`stops what was approved in an agent ${agent}, in a tool that runs ${call}`, () =>
        Effect.gen(function*() {
          const { conversation, running, script, seen } = yield* begin(call, agent, false)
          yield* conversation.cancel()
          assert.deepStrictEqual(seen, ["DeleteFile began", "DeleteFile was stopped"])
          yield* S.assertCancelled(running)
          assert.strictEqual(yield* script.calls, 1)
        }).pipe(Effect.provide(S.yes)))

      it.effect(`stops it, ${agent} in a tool that runs ${call}, when its turn is over`, () =>
        Effect.gen(function*() {
          const { conversation, running, seen } = yield* begin(call, agent, true)
          yield* TestClock.adjust("1 minute")
          assert.strictEqual((yield* Fiber.join(running))._tag, "Limited")
          // A guarded toolkit runs where it is used.
          const isLeft = call === "approved" || agent !== "that uses a guarded toolkit"
          assert.lengthOf(seen, isLeft ? 1 : 2)
          yield* conversation.cancel()
          assert.deepStrictEqual(seen, ["DeleteFile began", "DeleteFile was stopped"])
        }).pipe(Effect.provide(S.yes)))
    }
  }
})
