/** Calls that a program makes straight to a guarded toolkit, without a model: each is written down as a turn of its own. */
import { type Context, Effect, Stream } from "effect"
import { Prompt, Response } from "../../src/index.ts"
import * as Behaviour from "./behaviour.ts"
import * as Note from "./note.ts"
import * as Plan from "./plan.ts"
import * as Record from "./record.ts"
import * as Setting from "./setting.ts"
import type * as State from "./state.ts"
import * as Tools from "./tools.ts"
import * as Waiting from "./waiting.ts"

type Step = Extract<Plan.Step, { readonly _tag: "Guarded" }>

/** Makes all calls of a step at once, and waits for them, or leaves. */
export const call = Effect.fnUntraced(function*(world: State.World, { calls, leave }: Step, freshId: () => string) {
  const { process, record } = world
  if (process.isDead()) return
  const toolkit = yield* Tools.toolkitOf(["Wipe"], world.circumstances.drift)
  if (!("Wipe" in toolkit.tools)) return
  const begun = yield* Effect.forEach(calls, (planned) =>
    Effect.gen(function*() {
      const id = freshId()
      const params = Behaviour.paramsOf({ ...planned, tool: "Wipe" })
      const turn = yield* Setting.openTurn(world, {
        within: "guard",
        plan: { ...Plan.simplest.turn, model: { ...Plan.simplest.model, calls: [planned] } },
        process: process.index,
        primary: false,
        prompt: Prompt.empty,
        added: 0,
        sent: [],
        received: [{ id, tool: "Wipe", params: Record.canonical(params) }]
      })
      const context = yield* Setting.contextOf(world, turn, process)
      const handled = (toolkit.handle as any)("Wipe", params, id) as Effect.Effect<Stream.Stream<any, unknown>, unknown>
      const fiber = yield* Stream.unwrap(handled).pipe(
        Stream.runForEach((output) =>
          Effect.sync(() => {
            turn.parts.push(
              Response.toolResultPart({
                id,
                name: "Wipe",
                providerExecuted: false,
                preliminary: output.preliminary,
                isFailure: output.isFailure,
                result: output.result,
                encodedResult: output.encodedResult
              })
            )
          })
        ),
        Effect.onExit((exit) => Effect.andThen(process.alive, Note.conclude(record, turn, exit))),
        Effect.provideContext(context as Context.Context<never>),
        Effect.forkDetach({ startImmediately: true })
      )
      return { fiber, turn }
    }))
  if (leave !== "no") {
    yield* Waiting.hop(leave)
    for (const { fiber, turn } of begun) {
      if (fiber.pollUnsafe() !== undefined) continue
      turn.ending = "left"
      fiber.interruptUnsafe()
    }
  }
  yield* Waiting.wait(begun.map(({ fiber }) => fiber))
})
