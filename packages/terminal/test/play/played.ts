/** A scene at a terminal without a process: whoever presses keys, and what became of it. */
import * as TerminalController from "@assent/terminal/TerminalController"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Terminal from "effect/Terminal"
import * as Around from "./around.ts"
import type * as Files from "./files.ts"
import * as Scenes from "./scenes.ts"
import * as Virtual from "./virtual.ts"

export type Scene = (told: Scenes.Told, files: Files.Files) => Effect.Effect<unknown, unknown>

const scenes: Readonly<Record<Scenes.SceneName, Scene>> = Scenes.scenes

export const play = Effect.fnUntraced(function*(
  what: Scenes.SceneName | Scene,
  options: Virtual.Options & { readonly as?: Scenes.SceneName } = {}
) {
  const files = options.files ?? Scenes.files()
  const virtual = yield* Virtual.make({ ...options, files })
  const told = Scenes.nothingTold()
  const [scene, around] = typeof what === "string"
    ? [scenes[what], Around.layer(what)]
    : [what, Around.layer(options.as ?? "mail")]
  const fiber = yield* scene(told, files).pipe(
    TerminalController.untilStopped,
    Effect.provide(around),
    Effect.provide(virtual.services),
    Effect.exit,
    (playing) => Effect.forkScoped(playing, { startImmediately: true })
  )
  const isOver = () => fiber.pollUnsafe() !== undefined
  yield* virtual.until("the question", () => virtual.isReady() || isOver())
  return {
    ...virtual,
    files,
    isOver,
    /** What ran. */
    ran: () => told.ran,
    /** How often the model was called. */
    models: Effect.suspend(() => Effect.map(told.models, ({ length }) => length)),
    /** As when nobody waits for the answer any more. */
    quit: Fiber.interrupt(fiber),
    /** Waits until it is over: how it ended. */
    end: Effect.gen(function*() {
      yield* virtual.until("the end", isOver)
      return yield* Fiber.join(fiber)
    })
  }
})

export type Played = Effect.Success<ReturnType<typeof play>>

/** Whether whoever was asked has left. */
export const isStopped = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof Terminal.QuitError
