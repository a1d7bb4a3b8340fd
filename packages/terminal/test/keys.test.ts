/** Each key in each state: its meaning, or the sentence that says it has none. */
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import type * as Played from "./play/played.ts"
import * as States from "./play/states.ts"
import { keys as named } from "./play/stories.ts"

/**
 * Where a key leads: to another place; `stays`, with what it moves, turns or ticks; `types` itself; `says` that it has no
 * meaning; `runs` the call; `denied`, and the run goes on.
 */
type Meaning =
  | States.Place
  | "stays"
  | "types"
  | "says"
  | "runs"
  | "denied"
  | ReadonlyArray<States.Place | "stays" | "says">

const { altEnter: _new, backspace: _back, leave: _leave, redraw, stop: _stop, ...others } = named

const keys: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ["y", "s", "e", "n", "w", "d", "?", "x", "a", "o", "b", "z", "1", "2", "5", "9"].map((key) => [key, key])
  ),
  space: " ",
  pageDown: "\u001b[6~",
  f5: "\u001b[15~",
  ctrlT: "\u0014",
  redraw,
  ...others
}

const arrows = { up: "stays", down: "stays" } as const
const anywhere = { redraw: "stays" } as const
const pages = { space: "stays", b: ["stays", "says"], end: "stays", pageDown: ["stays", "says"] } as const
const look = { d: "details", "?": "help" } as const
const letters = ["y", "s", "e", "n", "w", "d", "?", "x", "a", "o", "b", "z", "1", "2", "5", "9", "space"]
const typed = {
  ...Object.fromEntries(letters.map((key) => [key, "types"] as const)),
  ...arrows,
  left: "stays",
  right: "stays",
  end: "stays"
} as const
// Within a text keys may move its cursor, or mean nothing.
const moves = { pageDown: ["stays", "says"] } as const

/** What a state does not name says that it means nothing. */
const table: Record<States.StateName, Readonly<Record<string, Meaning>>> = {
  question: { ...look, ...arrows, y: "runs", s: "session", e: "edit", n: "deny", escape: "denied" },
  paged: { ...look, ...pages, n: "deny", escape: "denied", end: "stays" },
  read: { ...look, ...arrows, b: ["paged", "stays"], y: "runs", s: "session", e: "edit", n: "deny", escape: "denied" },
  pointed: { ...look, ...arrows, y: "runs", s: "session", e: "edit", n: "deny", escape: "denied", enter: "runs" },
  session: { ...look, ...arrows, "1": "runs", "2": "runs", escape: "question" },
  details: { ...pages, "?": "help", d: ["stays", "says"], escape: "paged" },
  edit: { ...look, ...arrows, "1": "text", "2": "text", "5": "text", escape: "question" },
  // Where nothing was changed, back to the list.
  text: { ...typed, ...moves, enter: "edit", escape: "edit" },
  json: { ...typed, ...moves, enter: "edit", escape: "edit" },
  deny: { ...typed, ...moves, enter: "denied", escape: "question" },
  batch: {
    ...look,
    ...arrows,
    "1": "stays",
    "2": "stays",
    "5": "stays",
    a: "stays",
    o: "question",
    n: "deny",
    escape: "deny"
  },
  ticked: {
    ...look,
    ...arrows,
    "1": "stays",
    "2": "stays",
    "5": "stays",
    x: "stays",
    a: "stays",
    o: "question",
    n: "deny",
    enter: "runs",
    escape: "deny"
  },
  one: { ...look, ...arrows, y: "stays", s: "session", e: "edit", n: "deny", escape: "stays" },
  form: { ...typed, ...moves, tab: "stays", enter: "stays", escape: "deny" },
  choice: { ...look, ...arrows, left: "stays", right: "stays", tab: "stays", enter: "stays", escape: "deny" },
  back: { ...look, ...arrows, y: "runs", e: "answer", n: "deny", escape: ["deny", "answer"] },
  verdict: { ...look, ...arrows, y: "runs", w: "text", n: "deny", escape: "deny" },
  // Enter alone says no yes.
  note: { ...typed, ...moves, w: "types", enter: ["stays", "says"], escape: "answer" },
  pick: { ...look, ...arrows, "1": "runs", "2": "runs", escape: "deny" },
  many: { ...look, ...arrows, "1": "stays", "2": "stays", a: "stays", enter: ["back", "says"], escape: "deny" },
  chosen: { ...look, ...arrows, "1": "stays", "2": "stays", x: "stays", a: "stays", enter: "back", escape: "deny" },
  widest: { ...look, ...arrows, y: "runs", n: "session", escape: "session" },
  tool: { ...typed, ...moves, enter: ["stays", "says"], escape: "deny" },
  help: {
    escape: "question",
    ...pages,
    space: ["stays", "says"],
    end: ["stays", "says"],
    d: ["details", "says"],
    "?": ["stays", "says"]
  },
  narrow: { ...Object.fromEntries(Object.keys(keys).map((key) => [key, "stays"])), n: "deny", escape: "denied" }
}

const isOneOf = (meaning: Meaning, what: string): boolean =>
  typeof meaning === "string" ? meaning === what : (meaning as ReadonlyArray<string>).includes(what)

/** Says that it has no meaning, or that nothing is chosen, or what is waited for. */
const isSaying = (foot: string): boolean =>
  /means nothing here|[Nn]othing is (chosen|ticked)|does nothing yet|wait/.test(foot)

const observe = Effect.fnUntraced(
  function*(state: States.StateName, key: string, bytes: string, played: Played.Played) {
    const begin = States.startOf[state]
    const before = played.ran().length
    const models = yield* played.models
    const was = States.rowsOf(played).join("\n")
    yield* played.type(bytes)
    const meaning = table[state][key] ?? anywhere[key as keyof typeof anywhere] ?? "says"
    if (meaning === "runs" || meaning === "denied") yield* played.until(`the end after ${key}`, played.isOver)
    const place = States.placeOf(played)
    const foot = States.footOf(played)
    const ran = played.ran().length - before
    const fault = (why: string) =>
      `${state}, ${key}: ${why}; should be ${String(meaning)}, is ${place}, ${ran} ran\n${
        States.rowsOf(played).slice(-5).join("\n")
      }`
    if (meaning === "runs") return ran >= 1 ? [] : [fault("does not run")]
    if (ran > 0) return [fault("runs")]
    if (meaning === "denied") {
      // Each agent goes on, also that which is around it.
      const calls = (yield* played.models) - models
      return place === "over" && calls === models ? [] : [fault(`${calls} calls of the model after ${models}`)]
    }
    const seen = place === begin ? isSaying(foot) && foot !== was.split("\n").at(-1) ? "says" : "stays" : place
    if (meaning === "types") {
      const text = bytes === " " ? " ▏" : `${bytes}▏`
      return place === begin && States.rowsOf(played).join("\n").includes(text) ? [] : [fault("is not typed")]
    }
    if (seen === "stays" && isOneOf(meaning, "says") && isSaying(foot)) return []
    // What says what it cannot do yet stays.
    if (seen === "says" && isOneOf(meaning, "stays") && key === "enter") return []
    return isOneOf(meaning, seen) ? [] : [fault(`it ${seen}: ${foot}`)]
  }
)

describe("each key has its meaning, or says that it has none", () => {
  for (const state of States.names) {
    it.effect(state, () =>
      Effect.gen(function*() {
        const faults: Array<string> = []
        let played = yield* States.reach(state)
        let begun = States.rowsOf(played).slice(0, -1).join("\n")
        assert.strictEqual(States.placeOf(played), States.startOf[state], begun)
        for (const [key, bytes] of Object.entries(keys)) {
          faults.push(...(yield* observe(state, key, bytes, played)))
          if (!played.isOver() && States.rowsOf(played).slice(0, -1).join("\n") !== begun) {
            yield* played.type(named.escape)
          }
          if (played.isOver() || States.rowsOf(played).slice(0, -1).join("\n") !== begun) {
            yield* played.quit
            played = yield* States.reach(state)
            begun = States.rowsOf(played).slice(0, -1).join("\n")
          }
        }
        assert.deepStrictEqual(faults, [])
      }), 30_000)
  }
})
