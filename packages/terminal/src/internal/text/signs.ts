/**
 * Our own signs. Each takes one cell, unless it is said otherwise; where a terminal draws them wider, or has another
 * encoding, they are ASCII.
 */

export interface Signs {
  /** Twice on both sides of a title. */
  readonly heading: string
  /** Before a row of text that is not ours. */
  readonly bar: string
  /** Before what goes on with a row. */
  readonly more: string
  /** Stands for a parameter that is shown in another way. */
  readonly folded: string
  readonly pointer: string
  /** Between two keys. */
  readonly dot: string
  /** At the end of a question that takes keys. */
  readonly ready: string
  /** At the end of one that takes none yet. */
  readonly wait: string
  /** For what is left out. */
  readonly cut: string
  readonly cursor: string
  /** Of any width. */
  readonly on: string
  /** As wide as `on`. */
  readonly off: string
  readonly yes: string
  readonly no: string
  readonly stopped: string
  /** In words, of any width. */
  readonly upDown: string
  /** In words, of any width. */
  readonly leftRight: string
  /** Between an agent and one that it runs. */
  readonly path: string
  /** For a tab, with blanks after it. */
  readonly tab: string
}

export const unicode: Signs = {
  heading: "━",
  bar: "│",
  more: "⋮",
  folded: "≡",
  pointer: "❯",
  dot: "·",
  ready: "›",
  wait: "…",
  cut: "…",
  cursor: "▏",
  on: "●",
  off: "○",
  yes: "✔",
  no: "✖",
  stopped: "■",
  upDown: "↑↓",
  leftRight: "←→",
  path: "›",
  tab: "→"
}

export const ascii: Signs = {
  heading: "=",
  bar: "|",
  more: ":",
  folded: "~",
  pointer: ">",
  dot: ".",
  ready: ":",
  wait: "...",
  cut: "...",
  cursor: "_",
  on: "(x)",
  off: "( )",
  yes: "+",
  no: "x",
  stopped: "#",
  upDown: "Up Down",
  leftRight: "Left Right",
  path: ">",
  tab: ">"
}

/** All that is not ASCII, each once. */
export const all: string = [...new Set(Object.values(unicode).join(""))].join("")
