/** The tools of a conversation that something gives, a server for example: what could not be had, and who is told why. */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Logger, Tracer } from "effect"
import { TestClock } from "effect/testing"
import { Conversation, LanguageModel, SuspensionStore, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./support.ts"
import * as Ticket from "./ticket.ts"

const secret = "https://tools.example/?token=hunter2"

/** What the log of a program says, and what everything says that its spans could tell. */
const heard = <A, E, R>(effect: Effect.Effect<A, E, R>) => {
  const logged: Array<string> = []
  const spans: Array<Tracer.NativeSpan> = []
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const logger = Logger.make(({ cause, message }) => {
    logged.push(`${String(message)} ${Cause.pretty(cause)}`)
  })
  return effect.pipe(
    Effect.withSpan("the program's own"),
    Effect.provideService(Tracer.Tracer, tracer),
    Effect.provide(Logger.layer([logger, Logger.tracerLogger])),
    Effect.as({
      logged,
      told: () => spans.flatMap(({ events }) => events.map(([name, , more]) => JSON.stringify([name, more]))).join("\n")
    })
  )
}

describe("L15 a cause that may have a secret in it is told to the log of the program, and to no span", () => {
  it.effect("of tools that could not be found anew; the turn has those of before", () =>
    Effect.gen(function*() {
      const Say = Tool.make("Say")
      const kit = Toolkit.make(Say)
      const handled = yield* Effect.provide(kit, kit.toLayer({ Say: () => Effect.void }))
      let isThere = true
      const found = Effect.suspend(() => isThere ? Effect.succeed(handled) : Effect.fail(new Error(secret)))
      const { model } = yield* ScriptedModel.make({
        turns: [[ScriptedModel.toolCall({ id: "c1", name: "Say", params: {} })], "Said."]
      })
      const { logged, told } = yield* heard(Effect.gen(function*() {
        const conversation = yield* Conversation.make({ id: "tools", toolkit: found })
        isThere = false
        assert.strictEqual(C.finished(yield* conversation.send("Say it.")), "Said.")
      })).pipe(Effect.provideService(LanguageModel.LanguageModel, model))
      assert.lengthOf(logged, 1)
      assert.include(logged[0], "could not find the tools of a conversation anew")
      assert.include(logged[0], secret)
      assert.notInclude(told(), secret)
    }))

  it.effect("of a conversation that could not be woken", () =>
    Effect.gen(function*() {
      const shared = yield* C.makeShared
      const { conversation } = yield* Ticket.start({ turns: [[Ticket.call]], shared })
      yield* conversation.send("Help.")
      yield* TestClock.adjust("1 hour")
      const { logged, told } = yield* heard(
        SuspensionStore.wakeDue(() => Effect.fail(new Error(secret))).pipe(
          Effect.provideService(SuspensionStore.SuspensionStore, SuspensionStore.make({ store: shared }))
        )
      )
      assert.include(logged.join(), secret)
      assert.notInclude(told(), secret)
    }))
})
