/**
 * A screen of a dialogue with what it knows: what it shows, and what a key makes of it. It is a value, so that a key gives
 * another one, a decision, or a sentence; who draws it and reads keys is not its business.
 */
import type { Key, Pressed } from "../keys/key.ts"
import type * as Table from "../keys/table.ts"
import type * as Stage from "../screen/stage.ts"
import type * as TextInput from "../screen/textInput.ts"
import type { Line, Row } from "../text/style.ts"

export type Window = Stage.Screen

export interface Drawing {
  /** What is to be read, page after page where it is taller than the window. */
  readonly block: ReadonlyArray<Line>
  /** Which line of it is to be seen once it was read. */
  readonly focus?: number | undefined
  /** What stands below it once it was read. */
  readonly below?: ReadonlyArray<Row> | undefined
}

export type Step<A> =
  /** The same screen in another state. */
  | { readonly _tag: "Stay"; readonly scene: Scene<A> }
  /** Another screen, from which `Back` leads here. */
  | { readonly _tag: "Go"; readonly scene: Scene<A> }
  | { readonly _tag: "Back" }
  | { readonly _tag: "Say"; readonly says: string }
  /** The text is to be changed in the person's own editor. */
  | { readonly _tag: "Open" }
  | { readonly _tag: "Done"; readonly value: A }

export interface Scene<A> {
  readonly place: Table.Place
  readonly now: Table.Now
  /** Which keys mean something before all of it was read. Default: `pages`. */
  readonly pagedAs?: "page" | "pages" | "details" | undefined
  /** What waits until every row was on the screen, in words. */
  readonly waits?: { readonly wide: string; readonly narrow: string } | undefined
  /** Takes no key that was pressed before it was on the screen. */
  readonly guarded: boolean
  readonly takesPaste: boolean
  /** Says nothing that could be mistaken where there is no room for marks. */
  readonly fitsNarrow?: boolean | undefined
  readonly draw: (window: Window) => Drawing
  /** What a key of the table does; the others mean nothing. */
  readonly press: (pressed: Pressed, key: Key) => Step<A>
  /** The text that is being typed. */
  readonly input?: {
    readonly state: TextInput.State
    readonly edited: (state: TextInput.State) => Scene<A>
  } | undefined
  /** The same with what is wrong with what it ended with; where it is a text, that says so itself. */
  readonly refused?: ((problem: string) => Scene<A>) | undefined
  /** What `d` shows. */
  readonly details?: ((window: Window) => ReadonlyArray<Line>) | undefined
}

export const stay = <A>(scene: Scene<A>): Step<A> => ({ _tag: "Stay", scene })
export const go = <A>(scene: Scene<A>): Step<A> => ({ _tag: "Go", scene })
export const done = <A>(value: A): Step<A> => ({ _tag: "Done", value })
export const say = (says: string): Step<never> => ({ _tag: "Say", says })
export const back: Step<never> = { _tag: "Back" }
export const open: Step<never> = { _tag: "Open" }

/** Where an arrow leads in a list of so many; at first nothing is pointed at. */
export const moved = (at: number | undefined, by: number, items: number): number =>
  at === undefined ? (by > 0 ? 0 : items - 1) : Math.max(0, Math.min(items - 1, at + by))
