/** Looks at every row of every screen of a request whose texts want to be ours. */
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as Effect from "effect/Effect"
import * as Hostile from "./hostile.ts"
import * as Played from "./played.ts"
import { keys } from "./stories.ts"
import type { Table } from "./widths.ts"

/** Ours, in Unicode and in ASCII: what goes on with a text, or begins one. */
const mark = /^( *[│⋮:]| {2,}[=≡|~]) ?/

/** Rows that say what follows is not ours, and the name of a parameter, which stands where no word of ours stands. */
const label = /^ {2}[A-Z][A-Za-z ]{0,11} |^[❯> ] {3}\S/

/** Words of ours begin so; the texts of the requests do not. */
const ours = /^[ ❯>]{0,5}([A-Za-z0-9?"!([]|--|━━|==|✔|✖|■|\+ |x |# |○|●|↑|·|\.|›|:$)/

/** The key that was pressed, which a person knows. */
const key = /^\S+ means nothing/

const isOurs = (row: string): boolean =>
  row.trim() === "" || key.test(row) || mark.test(row) || label.test(row) || ours.test(row)

/** What may stand on a screen once. */
const forgeable = [/^(━━|==) May this run\? /, /^ {2}y {2}/, /^ {2}n {2}/, /^ {2}Tool /]

/** And this once for each call. */
const said = /^[✔✖■] /

const faultsOf = (played: Played.Played, calls: number): ReadonlyArray<string> => {
  const buffer = played.screen().buffer.normal
  const rows = Array.from({ length: buffer.length }, (_, index) => buffer.getLine(index)!)
  const texts = rows.map((row) => row.translateToString(true))
  return [
    ...rows.flatMap((row, index) => row.isWrapped ? [`the terminal broke: ${texts[index - 1]} / ${texts[index]}`] : []),
    ...texts.filter((row) => !isOurs(row)).map((row) => `no mark: ${row}`),
    ...[...forgeable, said].flatMap((forged) => {
      const found = texts.filter((row) => forged.test(row))
      return found.length > (forged === said ? calls : 1) ? [`more than once: ${found.join(" / ")}`] : []
    })
  ]
}

const ask = (request: Parameters<NonNullable<ApprovalController.Service["ask"]>>[0]) =>
  Effect.flatMap(ApprovalController.ApprovalController, (controller) => controller.ask!(request)).pipe(
    Effect.provideService(ApprovalController.Remembers, "toolkit")
  )

const pages = Array.from({ length: 12 }, () => " ")

/** Each leads to a screen that is looked at. */
const ways: ReadonlyArray<ReadonlyArray<string>> = [
  [
    ...pages,
    keys.end,
    "d",
    ...pages,
    keys.escape,
    "s",
    keys.escape,
    "e",
    "1",
    keys.escape,
    keys.escape,
    "e",
    "2",
    "Ж漢",
    keys.escape
  ],
  [keys.end, "n", "漢Ж", keys.enter],
  [...pages, "y"]
]

const awaited: ReadonlyArray<ReadonlyArray<string>> = [
  [...pages, keys.end, keys.tab, keys.right, keys.tab, keys.down, "Ж", "1", keys.enter, keys.escape, "漢", keys.enter]
]

const batch: ReadonlyArray<string> = [...pages, keys.end, keys.down, "x", "d", ...pages, keys.escape, keys.enter]

const askBoth = (seed: number) =>
  Effect.all([ask(Hostile.requestOf(seed)), ask(Hostile.requestOf(seed + 1_000_000))], { concurrency: 2 })

const walk = Effect.fnUntraced(function*(
  scene: Played.Scene,
  pressed: ReadonlyArray<string>,
  columns: number,
  table: Table,
  as: "mail" | "batch" = "mail"
) {
  const played = yield* Played.play(scene, { columns, table, as })
  const calls = as === "batch" ? 2 : 1
  const found = [...faultsOf(played, calls)]
  let seen = ""
  for (const key of pressed) {
    if (played.isOver() || found.length > 0) break
    if (key === " " && seen === played.text()) continue
    seen = played.text()
    yield* played.type(key)
    found.push(...faultsOf(played, calls))
  }
  return found
})

export const faults = Effect.fnUntraced(function*(seed: number, columns: number, table: Table) {
  const found: Array<string> = []
  for (const pressed of ways) found.push(...(yield* walk(() => ask(Hostile.requestOf(seed)), pressed, columns, table)))
  for (const pressed of awaited) {
    found.push(...(yield* walk(() => ask(Hostile.awaitedOf(seed)), pressed, columns, table)))
  }
  found.push(...(yield* walk(() => askBoth(seed), batch, columns, table, "batch")))
  return found.slice(0, 5).map((fault) => `seed ${seed}: ${fault}`)
}, Effect.scoped)
