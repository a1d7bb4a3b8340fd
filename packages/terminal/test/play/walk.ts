/**
 * Somebody who presses any keys, in any state, in windows of any size: a call runs only after `y` with its last row on the
 * screen, after `s` and a choice, or after Enter at what was pointed at, ticked or typed; and what runs is what was shown.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Terminal from "effect/Terminal"
import * as Played from "./played.ts"
import * as Random from "./random.ts"
import type { SceneName } from "./scenes.ts"
import * as States from "./states.ts"
import { keys } from "./stories.ts"

const scenes: ReadonlyArray<SceneName> = [
  "bash",
  "edit",
  "page",
  "mail",
  "batch",
  "form",
  "deferred",
  "session",
  "hostile",
  "plain"
]

const single: ReadonlyArray<string> = [
  ..."ysenwdxaob?129zjK",
  " ",
  "\u001b[6~",
  "\u001b[15~",
  "漢",
  keys.enter,
  keys.enter,
  keys.up,
  keys.down,
  keys.down,
  keys.left,
  keys.right,
  keys.end,
  keys.tab,
  keys.backspace,
  keys.altEnter,
  keys.redraw,
  keys.editor
]

const rare: ReadonlyArray<string> = [keys.escape, keys.stop, keys.leave]

/** Several keys at once: of a paste, with or without its brackets. */
const pastes: ReadonlyArray<string> = ["y\r", "yyy", "a\r", "1\r", "\u001b[200~y\r\u001b[201~", "sy\r1"]

const name = (key: string): string =>
  Object.entries(keys).find(([, bytes]) => bytes === key)?.[0] ?? JSON.stringify(key)

interface Seen {
  readonly place: ReturnType<typeof States.placeOf>
  readonly rows: ReadonlyArray<string>
}

const isPointed = (rows: ReadonlyArray<string>): boolean => rows.some((row) => /^ *❯/.test(row))

/** Whether the text in which the cursor stands has any words. */
const isTyped = (rows: ReadonlyArray<string>): boolean => {
  const typed = rows.filter((row) => /^ {2}[│⋮]/.test(row)).map((row) => row.slice(3).replace("▏", ""))
  return typed.join("").trim() !== ""
}

const ticked = (rows: ReadonlyArray<string>): ReadonlyArray<string> =>
  rows.flatMap((row) => /^. \d \[x\] │ (\S+ \S+)/.exec(row)?.[1] ?? [])

/** Why this key, on this screen, lets nothing run; `undefined` where it may. */
const refused = (
  scene: SceneName,
  { place, rows }: Seen,
  key: string,
  ran: ReadonlyArray<string>
): string | undefined => {
  if (pastes.includes(key)) return "a paste"
  switch (place) {
    case "question": {
      if (scene === "long" && !rows.some((row) => row.endsWith(" = 60"))) return "its last row was not on the screen"
      const pointedAtYes = rows.some((row) => /^❯ y {2}Yes/.test(row))
      return key === "y" || (key === keys.enter && pointedAtYes) ? undefined : "no yes"
    }
    case "back":
      return key === "y" || (key === keys.enter && rows.some((row) => /^❯ y {2}Yes/.test(row))) ? undefined : "no yes"
    case "session": {
      const digit = /^[1-9]$/.test(key) &&
        rows.some((row) => row.startsWith(`  ${key}  `) || row.startsWith(`❯ ${key}  `))
      const isAsked = key === "y" && rows.some((row) => /^. y {2}Yes/.test(row))
      return digit || isAsked || (key === keys.enter && isPointed(rows)) ? undefined : "nothing was chosen"
    }
    case "batch": {
      if (key !== keys.enter) return "no Enter"
      const chosen = ticked(rows)
      const others = ran.filter((call) => !chosen.some((words) => call.includes(words)))
      return others.length === 0 ? undefined : `not ticked: ${others.join(", ")}`
    }
    case "widest":
      return key === "y" || (key === keys.enter && rows.some((row) => /^❯ y {2}Yes/.test(row))) ? undefined : "no yes"
    case "text":
      // Of a yes with a note.
      return scene === "verdict" && key === keys.enter && isTyped(rows)
        ? undefined
        : "no note"
    case "answer":
      if (scene === "verdict") {
        return key === "y" || (key === keys.enter && rows.some((row) => /^❯ y {2}Yes/.test(row))) ? undefined : "no yes"
      }
      if (scene === "pick") {
        return /^[12]$/.test(key) || (key === keys.enter && isPointed(rows))
          ? undefined
          : "no choice"
      }
      return scene === "deferred" && key === keys.enter && isTyped(rows)
        ? undefined
        : "nothing was typed"
    default:
      return `nothing runs from ${place}`
  }
}

/** What ran has to have stood in the last question. */
const isShown = (scene: SceneName, call: string, question: ReadonlyArray<string>): boolean => {
  if (scene !== "bash" && scene !== "session" && scene !== "plain" && scene !== "mail") return true
  const shown = question.map((row) => row.replace(/^ *\S* *[│⋮=] ?/, "")).join(" ").replace(/\s+/g, "")
  const params: Record<string, unknown> = JSON.parse(call.slice(call.indexOf(" ") + 1))
  return Object.values(params).every((value) => {
    const text = typeof value === "string" ? value : JSON.stringify(value)
    return /[^ -~\n]/.test(text) || shown.includes(text.replace(/\s+/g, ""))
  })
}

/** How many calls ran in the walks so far: of walks in which nothing ever runs nothing is learned. */
export let runs = 0

export const walk = Effect.fnUntraced(function*(seed: number, steps: number) {
  const random = Random.make(seed)
  const scene = random.oneOf(scenes)
  const played = yield* Played.play(scene)
  const pressed: Array<string> = []
  let question: ReadonlyArray<string> = []
  const fault = (why: string, seen: Seen) => [
    `seed ${seed}, ${scene}: ${why}\n  after ${pressed.join(" ")}\n${seen.rows.join("\n")}`
  ]
  for (let step = 0; step < steps && !played.isOver(); step++) {
    const seen: Seen = { place: States.placeOf(played), rows: States.rowsOf(played) }
    if (seen.place === "nowhere") return fault("this is no place", seen)
    if (seen.place === "question") question = seen.rows
    const before = played.ran().length
    const chance = random.below(80)
    if (chance === 0) {
      const columns = random.oneOf([19, 40, 80, 120])
      const rows = random.oneOf([10, 24, 50])
      pressed.push(`${columns}x${rows}`)
      yield* played.resize(columns, rows)
      if (played.ran().length > before) return fault("a window that is resized lets it run", seen)
      continue
    }
    const key = random.oneOf(chance < 3 ? pastes : chance < 5 ? rare : single)
    pressed.push(name(key))
    // Now and then the next key comes soon.
    yield* played.type(key, random.oneOf([1, 3, 8, 8, 8]))
    if (played.ran().length === before) continue
    const ran = played.ran().slice(before)
    runs += ran.length
    const why = refused(scene, seen, key, ran)
    if (why !== undefined) return fault(`it runs: ${why}`, seen)
    const hidden = ran.filter((call) => !isShown(scene, call, question))
    if (hidden.length > 0) return fault(`not as shown: ${hidden.join(", ")}`, { ...seen, rows: question })
  }
  if (played.isOver()) {
    const exit = yield* played.end
    const isFine = Exit.isSuccess(exit) || Cause.squash(exit.cause) instanceof Terminal.QuitError
    if (!isFine) return [`seed ${seed}, ${scene}: ${Cause.pretty(exit.cause)}\n  after ${pressed.join(" ")}`]
  }
  return []
}, Effect.scoped)
