/**
 * Scenes on a stage, one after the other, until one of them ends with a value.
 */
import * as Prompt from "effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Terminal from "effect/Terminal"
import * as Stage from "../screen/stage.ts"
import * as Safe from "../text/safe.ts"
import * as Dialogue from "./dialogue.ts"
import type * as Editor from "./editor.ts"
import * as Frame from "./frame.ts"

interface Left<A> {
  readonly view: Frame.View<A>
  readonly step: Frame.Leaving<A>
}

type Ended<A> = Extract<Dialogue.After<A>, { readonly _tag: "Ended" }>

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

const onStage = <A>(stage: Stage.Stage, open: Dialogue.Open<A>): Prompt.Prompt<Ended<A>> =>
  Prompt.flatMap(prompt(stage, Dialogue.top(open)), ({ step, view }): Prompt.Prompt<Ended<A>> => {
    const after = Dialogue.follow(open, view, step)
    return after._tag === "On" ? onStage(stage, after.open) : Prompt.succeed(after)
  })

/** What they end with, and those that were open then; fails when the person stops. */
export const perform = Effect.fnUntraced(function*<A>(
  begin: Dialogue.Open<A>,
  editor: Editor.Editor | undefined
): Effect.fn.Return<{ readonly value: A; readonly open: Dialogue.Open<A> }, Terminal.QuitError, Prompt.Environment> {
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
        const view = Dialogue.top(open)
        const { input } = view.scene
        if (input === undefined || editor === undefined) continue
        const written = yield* Effect.result(editor.edit(input.state.before + input.state.after))
        const state = Result.isSuccess(written)
          ? { before: written.success, after: "", problem: undefined }
          : { ...input.state, problem: Safe.problem(written.failure) }
        open = Dialogue.replaced(open, { ...view, scene: input.edited(state) })
      }
    }
  }
})
