/** For each drawing the scene and the keys that lead to it. */
import type { SceneName } from "./scenes.ts"

export interface Story {
  readonly drawing: string
  readonly scene: SceneName
  /** Each is pressed once the screen takes keys. */
  readonly keys: ReadonlyArray<string>
  /** Rows of the window, where it is not of 24. */
  readonly rows?: { readonly 40?: number; readonly 80?: number }
  readonly columns?: number
  /** How many rows of the end are drawn. */
  readonly last?: number
  /** In which window alone. */
  readonly only?: 40 | 80
}

export const keys = {
  enter: "\r",
  altEnter: "\u001b\r",
  escape: "\u001b",
  up: "\u001b[A",
  down: "\u001b[B",
  right: "\u001b[C",
  left: "\u001b[D",
  end: "\u001b[F",
  tab: "\t",
  backspace: "\u007f",
  stop: "\u0003",
  leave: "\u0004",
  editor: "\u0007",
  redraw: "\u000c"
} as const

const { backspace, down, enter, right, tab, up } = keys

const full = [right, right, right]

const cut = "by Friday, or tell us what is missing so that we can help.\n\nKind regards\nAda"

export const stories: ReadonlyArray<Story> = [
  { drawing: "bash", scene: "bash", keys: [] },
  { drawing: "unknown", scene: "bash", keys: ["x"], last: 1 },
  { drawing: "help", scene: "bash", keys: ["?"] },
  { drawing: "narrow", scene: "bash", keys: [], columns: 19 },
  { drawing: "edit", scene: "edit", keys: [], rows: { 40: 40 } },
  { drawing: "page", scene: "edit", keys: [], only: 40 },
  { drawing: "page", scene: "page", keys: [], only: 80 },
  { drawing: "details", scene: "details", keys: ["d"] },
  { drawing: "mail", scene: "mail", keys: [] },
  { drawing: "edit-field", scene: "mail", keys: ["e", down, down, down, down] },
  { drawing: "edit-text", scene: "mail", keys: ["e", "4", backspace.repeat(cut.length), "today."] },
  { drawing: "mcp", scene: "mcp", keys: [], rows: { 40: 40 } },
  { drawing: "batch", scene: "batch", keys: [] },
  { drawing: "batch-ticked", scene: "batch", keys: [down, "x", down, "x"] },
  { drawing: "form", scene: "form", keys: ["ada", tab, tab, ...full, up, "x"] },
  { drawing: "form-back", scene: "form", keys: ["ada", tab, "2", tab, ...full, tab, right, right, enter] },
  { drawing: "deferred", scene: "deferred", keys: ["staging"] },
  { drawing: "session", scene: "session", keys: ["s"] },
  { drawing: "deny", scene: "push", keys: ["n", "Not on a Friday."] },
  { drawing: "hostile", scene: "hostile", keys: [] }
]

/** What the terminal says of the answers, one after the other. */
export const after: ReadonlyArray<{ readonly scene: SceneName; readonly keys: ReadonlyArray<string> }> = [
  { scene: "bash", keys: ["y"] },
  { scene: "mail", keys: ["e", "4", `${backspace.repeat(cut.length)}today.`, enter, "y"] },
  { scene: "push", keys: ["n", "Not on a Friday.", enter] },
  { scene: "session", keys: ["s", "2"] },
  { scene: "push", keys: [keys.stop] }
]

/** In a terminal that has no signs but ASCII. */
export const ascii: Story = { drawing: "nocolour", scene: "plain", keys: [down] }
