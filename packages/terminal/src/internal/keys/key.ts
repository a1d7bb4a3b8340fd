/**
 * Which key was pressed, of those that mean something somewhere; and how one is called that means nothing.
 */
import type * as Stage from "../screen/stage.ts"
import * as Safe from "../text/safe.ts"

export type Key =
  | "y"
  | "s"
  | "e"
  | "n"
  | "w"
  | "d"
  | "?"
  | "x"
  | "a"
  | "o"
  | "b"
  | "1-9"
  | "↑↓"
  | "←→"
  | "Enter"
  | "Alt-Enter"
  | "Tab"
  | "space"
  | "End"
  | "Esc"
  | "Ctrl-G"
  | "Ctrl-C"

/** A key, and which one of those that it stands for. */
export interface Pressed {
  readonly key: Key
  /** Of `1-9`, counted from 0; of arrows and `Tab`, in which direction. */
  readonly at: number
}

type Event = Extract<Stage.Happening, { readonly _tag: "Key" }>

const letters: ReadonlySet<string> = new Set<Key>(["y", "s", "e", "n", "w", "d", "?", "x", "a", "o", "b"])

const isLetter = (text: string): text is Key => letters.has(text)

const names: { readonly [name: string]: Pressed } = {
  up: { key: "↑↓", at: -1 },
  down: { key: "↑↓", at: 1 },
  left: { key: "←→", at: -1 },
  right: { key: "←→", at: 1 },
  return: { key: "Enter", at: 0 },
  tab: { key: "Tab", at: 1 },
  space: { key: "space", at: 0 },
  pagedown: { key: "space", at: 0 },
  pageup: { key: "b", at: 0 },
  end: { key: "End", at: 0 },
  escape: { key: "Esc", at: 0 }
}

export const pressed = ({ ctrl, meta, name, text }: Event): Pressed | undefined => {
  if (ctrl) {
    return name === "g"
      ? { key: "Ctrl-G", at: 0 }
      : name === "c" || name === "d"
      ? { key: "Ctrl-C", at: 0 }
      : undefined
  }
  if (name === "enter" || (name === "return" && meta)) return { key: "Alt-Enter", at: 0 }
  // A lone Esc that comes twice at once is one with Alt.
  if (name === "escape") return names["escape"]
  if (meta) return undefined
  if (/^[1-9]$/.test(text)) return { key: "1-9", at: Number(text) - 1 }
  return isLetter(text) ? { key: text, at: 0 } : Object.hasOwn(names, name) ? names[name] : undefined
}

const called: { readonly [name: string]: string } = {
  up: "Up",
  down: "Down",
  left: "Left",
  right: "Right",
  return: "Enter",
  enter: "Ctrl-J",
  tab: "Tab",
  space: "space",
  pagedown: "Page Down",
  pageup: "Page Up",
  home: "Home",
  end: "End",
  delete: "Del",
  backspace: "Backspace",
  escape: "Esc"
}

/** How a person calls it. */
export const nameOf = ({ ctrl, meta, name, text }: Event): string => {
  const known = Object.hasOwn(called, name) ? called[name]! : undefined
  if (known !== undefined) return meta && name !== "escape" ? `Alt-${known}` : known
  if (ctrl) return /^[a-z]$/.test(name) ? `Ctrl-${name.toUpperCase()}` : "This key"
  if (/^f\d+$/.test(name)) return name.toUpperCase()
  return text === "" || /^\p{Cc}/u.test(text) ? "This key" : `${meta ? "Alt-" : ""}${Safe.line(text)}`
}
