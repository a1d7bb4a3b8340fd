/**
 * What a terminal takes: its encoding, by what the locale says, and whether our signs, and all characters that are narrow or
 * wide as a terminal is set, take one cell. The terminal is asked once: it draws them, and says where its cursor is. One
 * that does not answer in time is taken to be the less friendly one.
 */
import * as Config from "effect/Config"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import type * as Terminal from "effect/Terminal"
import type { Place } from "../text/cells.ts"
import * as Signs from "../text/signs.ts"
import type { Input } from "./input.ts"

export interface Measured extends Omit<Place, "columns"> {
  readonly signs: Signs.Signs
}

export const narrow: Measured = { signs: Signs.unicode, ambiguous: 1, ascii: false }
const unknown: Measured = { ...narrow, ambiguous: 2 }
const wide: Measured = { ...unknown, signs: Signs.ascii }
const asciiOnly: Measured = { ...wide, ascii: true }

/** For a terminal that is not to be asked. */
export const Known: Context.Reference<Measured | undefined> = Context.Reference<Measured | undefined>(
  "@assent/terminal/measure/Known",
  { defaultValue: () => undefined }
)

const environment = Config.all(
  ["TERM", "LC_ALL", "LC_CTYPE", "LANG"].map((name) => Config.withDefault(Config.String(name), ""))
)

/** Whether a terminal takes nothing but ASCII. No locale at all is no word against Unicode. */
const takesAscii = Effect.map(
  Effect.orElseSucceed(environment, () => []),
  ([term, ...locales]) => {
    const locale = locales.find((one) => one !== "")
    return term === "dumb" || (locale !== undefined && !/utf-?8/i.test(locale))
  }
)

const group = 8

/** A letter and a mark that are as wide as our signs are, or as those were in old terminals. */
const drawn = Array.from(`${Signs.all}я§`)

/** Eight in a row: the cursor is in column 9 after them where each takes a cell, and further where one takes two. */
const groups = Array.from(
  { length: Math.ceil(drawn.length / group) },
  (_, index) => drawn.slice(index * group, (index + 1) * group).join("").padEnd(group)
)

const probe = groups.map((text) => `\r${text}\x1b[6n`).join("") + "\r\x1b[K"

export const minColumns = group * 2 + 1

const patience = "1 second"

const known = new WeakMap<Terminal.Terminal, Measured>()

const ask = Effect.fnUntraced(function*(
  display: (text: string) => Effect.Effect<void>,
  input: Input
): Effect.fn.Return<Measured> {
  input.expect(groups.length)
  yield* display(probe)
  const columns = yield* Effect.timeoutOption(
    Effect.forEach(groups, () => Queue.take(input.columns)),
    patience
  )
  if (Option.isNone(columns)) return unknown
  return columns.value.every((column) => column === group + 1) ? narrow : wide
})

/** What is known of a terminal, which is asked the first time. */
export const measure = Effect.fnUntraced(function*(
  terminal: Terminal.Terminal,
  columns: number,
  display: (text: string) => Effect.Effect<void>,
  input: Input
): Effect.fn.Return<Measured> {
  const given = yield* Known
  if (given !== undefined) return given
  const before = known.get(terminal)
  if (before !== undefined) return before
  if (columns < minColumns) return (yield* takesAscii) ? asciiOnly : unknown
  const measured = (yield* takesAscii) ? asciiOnly : yield* ask(display, input)
  known.set(terminal, measured)
  return measured
})

/** What is known of it by now, without asking. */
export const knownOf = Effect.fnUntraced(function*(terminal: Terminal.Terminal): Effect.fn.Return<Measured> {
  return (yield* Known) ?? known.get(terminal) ?? ((yield* takesAscii) ? asciiOnly : unknown)
})
