/** Why not? With or without words, the call does not run. */
import * as Scene from "../scene/scene.ts"
import * as TextInput from "../screen/textInput.ts"
import * as Style from "../text/style.ts"

export const scene = <A>(
  editor: string | undefined,
  denied: (note: string) => Scene.Step<A>,
  state: TextInput.State = TextInput.empty
): Scene.Scene<A> => ({
  place: "reason",
  now: { editor },
  guarded: false,
  takesPaste: true,
  fitsNarrow: true,
  input: { state, edited: (state) => scene(editor, denied, state) },
  draw: (window) => ({
    block: [Style.heading("No. Why not? The model is told.", window.signs)],
    below: TextInput.rows(state, window)
  }),
  press: (_, key) =>
    key === "Enter"
      ? denied(state.before + state.after)
      : key === "Ctrl-G"
      ? Scene.open
      : Scene.back
})
