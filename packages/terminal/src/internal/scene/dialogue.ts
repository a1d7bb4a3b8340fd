/**
 * Scenes that lead to each other: which are open, the first at the bottom, and what comes of a key that leaves one.
 */
import * as Safe from "../text/safe.ts"
import * as Frame from "./frame.ts"
import type * as Scene from "./scene.ts"

/** The scenes that are open. */
export type Open<A> = readonly [...ReadonlyArray<Frame.View<A>>, Frame.View<A>]

export type Ending<A> = Extract<Frame.Leaving<A>, { readonly _tag: "Open" | "Done" | "Stop" }>

export type After<A> =
  | { readonly _tag: "On"; readonly open: Open<A> }
  | { readonly _tag: "Ended"; readonly open: Open<A>; readonly step: Ending<A> }

export const opened = <A>(scene: Scene.Scene<A>): Open<A> => [Frame.view(scene)]

export const top = <A>(open: Open<A>): Frame.View<A> => open[open.length - 1]!

/** With the topmost in another state. */
export const replaced = <A>(open: Open<A>, view: Frame.View<A>): Open<A> => [...open.slice(0, -1), view]

const below = <A>(open: Open<A>): Open<A> => {
  const rest = open.slice(0, -1)
  const last = rest.pop()
  return last === undefined ? open : [...rest, last]
}

/** What comes of a key that leaves the topmost scene. */
export const follow = <A>(before: Open<A>, view: Frame.View<A>, step: Frame.Leaving<A>): After<A> => {
  const open = replaced(before, view)
  const on = (open: Open<A>): After<A> => ({ _tag: "On", open })
  switch (step._tag) {
    case "Go":
      return on([...open, Frame.view(step.scene)])
    case "Back":
      return on(below(open))
    case "Details": {
      const about = open.findLast(({ scene }) => scene.details !== undefined)?.scene.details
      return on(about === undefined ? open : [...open, Frame.view(Frame.details(about))])
    }
    default:
      return { _tag: "Ended", open, step }
  }
}

const refusing = <A>({ input, refused }: Scene.Scene<A>, problem: string): Scene.Scene<A> | undefined =>
  refused?.(problem) ?? input?.edited({ ...input.state, problem: Safe.problem(problem) })

/** Back to the scene whose answer could not be taken, which says why. */
export const refused = <A>(open: Open<A>, problem: string): Open<A> => {
  for (let at = open.length - 1; at >= 0; at--) {
    const view = open[at]!
    const scene = refusing(view.scene, problem)
    if (scene !== undefined) return [...open.slice(0, at), { ...view, scene }]
  }
  return open
}
