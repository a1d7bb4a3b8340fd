/**
 * Scenes on a stage, one after the other, until one of them ends with a value.
 */
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Terminal from "effect/Terminal"
import * as Stage from "../screen/stage.ts"
import * as Safe from "../text/safe.ts"
import type * as Editor from "./editor.ts"
import * as Frame from "./frame.ts"
import type * as Scene from "./scene.ts"

/** The scenes that are open, the first at the bottom. */
export type Open<A> = readonly [...ReadonlyArray<Frame.View<A>>, Frame.View<A>]

interface Left<A> {
  readonly view: Frame.View<A>
  readonly step: Frame.Leaving<A>
}

interface Ended<A> {
  readonly open: Open<A>
  readonly step: Extract<Frame.Leaving<A>, { readonly _tag: "Open" | "Done" | "Stop" }>
}

const prompt = <A>(stage: Stage.Stage, view: Frame.View<A>): Prompt.Prompt<Left<A>> =>
  Stage.prompt<Frame.View<A>, Left<A>>(stage, {
    guarded: view.scene.guarded,
    refusesPaste: !view.scene.takesPaste,
    takesEscape: true,
    begin: () => ({ state: view }),
    draw: (view, window) => Frame.frame(view, window).rows,
    on: (view, happening, window) => {
      const next = Frame.on(view, happening, window)
      return next._tag === "Next"
        ? { _tag: "Next", state: next.view, guard: next.guard }
        : { _tag: "Done", value: next }
    }
  })

const onStage = <A>(stage: Stage.Stage, open: Open<A>): Prompt.Prompt<Ended<A>> =>
  Prompt.flatMap(prompt(stage, top(open)), ({ step, view }): Prompt.Prompt<Ended<A>> => {
    switch (step._tag) {
      case "Go":
        return onStage(stage, [...replaced(open, view), Frame.view(step.scene)])
      case "Details": {
        const about = open.findLast(({ scene }) => scene.details !== undefined)?.scene.details
        return onStage(
          stage,
          about === undefined ? replaced(open, view) : [...replaced(open, view), Frame.view(Frame.details(about))]
        )
      }
      case "Back":
        return onStage(stage, below(open) ?? replaced(open, view))
      default:
        return Prompt.succeed({ open: replaced(open, view), step })
    }
  })

export const top = <A>(open: Open<A>): Frame.View<A> => open[open.length - 1]!

export const replaced = <A>(open: Open<A>, view: Frame.View<A>): Open<A> => [...open.slice(0, -1), view]

/** Without the topmost scene. */
export const below = <A>(open: Open<A>): Open<A> | undefined => {
  const rest = open.slice(0, -1)
  const last = rest.pop()
  return last === undefined ? undefined : [...rest, last]
}

export const opened = <A>(scene: Scene.Scene<A>): Open<A> => [Frame.view(scene)]

/** The topmost scene says what is wrong with its text. */
export const refused = <A>(open: Open<A>, problem: string): Open<A> => {
  const { input } = top(open).scene
  return input === undefined
    ? open
    : replaced(open, { ...top(open), scene: input.edited({ ...input.state, problem: Safe.problem(problem) }) })
}

/** What they end with, and those that were open then; fails when the person stops. */
export const perform = Effect.fnUntraced(function*<A>(
  begin: Open<A>,
  editor: Editor.Editor | undefined
): Effect.fn.Return<{ readonly value: A; readonly open: Open<A> }, Terminal.QuitError, Prompt.Environment> {
  let open = begin
  while (true) {
    const now = open
    const ended: Ended<A> = yield* Stage.run((stage) => onStage(stage, now))
    switch (ended.step._tag) {
      case "Done":
        return { value: ended.step.value, open: ended.open }
      case "Stop":
        return yield* Effect.fail(new Terminal.QuitError({}))
      case "Open": {
        open = ended.open
        const { input } = top(open).scene
        if (input === undefined || editor === undefined) continue
        const text = input.state.before + input.state.after
        const written = yield* Effect.result(editor.edit(text))
        const scene = input.edited(
          Result.isSuccess(written)
            ? { before: written.success, after: "", problem: undefined }
            : { ...input.state, problem: Safe.problem(written.failure) }
        )
        open = replaced(open, { ...top(open), scene })
      }
    }
  }
})
