/** Every state a person can be in, how it is reached, and how it is told by what is on the screen. */
import * as Effect from "effect/Effect"
import * as Played from "./played.ts"
import type { SceneName } from "./scenes.ts"
import { keys } from "./stories.ts"

const { down, enter, right, tab } = keys

export interface State {
  readonly scene: SceneName
  readonly keys: ReadonlyArray<string>
  readonly columns?: number
  /** Whether it is reached without an arrow, a tick or text that was typed. */
  readonly untouched?: boolean
}

export const states = {
  question: { scene: "bash", keys: [], untouched: true },
  paged: { scene: "long", keys: [], untouched: true },
  read: { scene: "long", keys: [" ", " ", " "], untouched: true },
  pointed: { scene: "bash", keys: [down] },
  session: { scene: "session", keys: ["s"], untouched: true },
  details: { scene: "long", keys: ["d"], untouched: true },
  edit: { scene: "mail", keys: ["e"], untouched: true },
  text: { scene: "mail", keys: ["e", "4"], untouched: true },
  json: { scene: "mail", keys: ["e", "5"], untouched: true },
  deny: { scene: "push", keys: ["n"], untouched: true },
  batch: { scene: "batch", keys: [], untouched: true },
  ticked: { scene: "batch", keys: [down, "x"] },
  one: { scene: "batch", keys: ["o"], untouched: true },
  form: { scene: "form", keys: [], untouched: true },
  choice: { scene: "form", keys: [tab, tab], untouched: true },
  back: { scene: "form", keys: ["ada", tab, "2", tab, right, right, right, tab, right, right, enter] },
  tool: { scene: "deferred", keys: [], untouched: true },
  verdict: { scene: "verdict", keys: [], untouched: true },
  note: { scene: "verdict", keys: ["w"], untouched: true },
  pick: { scene: "pick", keys: [], untouched: true },
  many: { scene: "many", keys: [], untouched: true },
  chosen: { scene: "many", keys: ["2"] },
  widest: { scene: "session", keys: ["s", down, down, down, enter] },
  help: { scene: "bash", keys: ["?"], untouched: true },
  narrow: { scene: "bash", keys: [], columns: 19, untouched: true }
} as const satisfies Record<string, State>

export type StateName = keyof typeof states

export const names = Object.keys(states) as ReadonlyArray<StateName>

/** A scene, and the keys that lead to the state. */
export const reach = Effect.fnUntraced(function*(name: StateName) {
  const { columns, keys, scene }: State = states[name]
  const played = yield* Played.play(scene)
  if (columns !== undefined) yield* played.resize(columns, 24)
  for (const key of keys) yield* played.type(key)
  return played
})

/** Where somebody is, by the heading on the screen and what tells apart those of one heading. */
export type Place =
  | "question"
  | "paged"
  | "session"
  | "details"
  | "edit"
  | "text"
  | "deny"
  | "batch"
  | "answer"
  | "back"
  | "widest"
  | "help"
  | "narrow"
  | "over"

const headings: ReadonlyArray<readonly [RegExp, Place]> = [
  [/^━━ May this run\? ━━$/, "question"],
  [/^━━ Yes, and not asked again for ━━$/, "session"],
  [/^━━ Details ━━$/, "details"],
  [/^━━ Edit ━━$/, "edit"],
  [/^━━ Edit .+ ━━$/, "text"],
  [/^━━ No\. Why/, "deny"],
  [/^━━ May these \d run\? ━━$/, "batch"],
  [/^━━ This waits for your answer ━━$/, "answer"],
  [/^━━ Send this answer\? ━━$/, "back"],
  [/^━━ Really\? ━━$/, "widest"],
  [/^━━ Yes\. A note\? ━━$/, "text"],
  [/^━━ Keys ━━$/, "help"],
  [/^Too narrow:/, "narrow"]
]

const isHeading = (row: string): boolean => headings.some(([heading]) => heading.test(row))

/** The rows of what is asked now: from its heading, or from where a page goes on. */
export const rowsOf = (played: Played.Played): ReadonlyArray<string> => {
  const rows = played.text().split("\n").map((row) => row.trimEnd())
  const from = rows.findLastIndex((row) => isHeading(row))
  const page = rows.findLastIndex((row, index) => index > from + 1 && row === "    …" && index < rows.length - 4)
  return rows.slice(Math.max(from, page, rows.length - 60, 0))
}

export const placeOf = (played: Played.Played): Place | "nowhere" => {
  if (played.isOver()) return "over"
  const rows = rowsOf(played)
  // The row that says so may be broken.
  if (/(^| )-- [^│⋮]*wait for (?:the last|rows)/.test(rows.join(" "))) return "paged"
  const place = headings.find(([heading]) => heading.test(rows[0] ?? ""))?.[1]
  if (place !== undefined) return place
  return rows.some((row) => /^[ ❯] y {2}Yes, once$/.test(row)) ? "question" : "nowhere"
}

/** The last row, which says what keys do, or that one does nothing. */
export const footOf = (played: Played.Played): string => rowsOf(played).at(-1) ?? ""

export const startOf: Record<StateName, Place> = {
  question: "question",
  paged: "paged",
  read: "question",
  pointed: "question",
  session: "session",
  details: "details",
  edit: "edit",
  text: "text",
  json: "text",
  deny: "deny",
  batch: "batch",
  ticked: "batch",
  one: "question",
  form: "answer",
  choice: "answer",
  back: "back",
  tool: "answer",
  verdict: "answer",
  note: "text",
  pick: "answer",
  many: "answer",
  chosen: "answer",
  widest: "widest",
  help: "help",
  narrow: "narrow"
}
