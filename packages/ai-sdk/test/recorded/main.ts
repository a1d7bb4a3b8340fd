/**
 * Replays every listed recording through the bridge and counts: right, wrong, lost. Then goes on from it, and counts the
 * requests that are the same, and other, than where the AI SDK would go on: once with the provider's tools in the toolkit and
 * once without.
 *
 *     npm run replay -- --clone vercel/ai=DIRECTORY --clone pydantic/pydantic-ai=DIRECTORY
 *
 * The directories are clones of the two repositories, with the commits that `exchange.ts` names. `--format NAME` replays
 * one format alone; `--differences` prints each thing that was seen otherwise.
 */
import * as Util from "node:util"
import * as Exchange from "./exchange.ts"
import type { WentOn } from "./goOn.ts"
import { goOn } from "./goOn.ts"
import type { Replayed } from "./replay.ts"
import { replay } from "./replay.ts"

const { values } = Util.parseArgs({
  options: {
    clone: { type: "string", multiple: true, default: [] },
    format: { type: "string" },
    differences: { type: "boolean", default: false }
  }
})

const clones = Object.fromEntries(values.clone.map((clone) => clone.split("=", 2)))
const files = Exchange.listed().filter((file) => values.format === undefined || file.format === values.format)
const texts = Exchange.texts(files, clones)

interface Count {
  answers: number
  right: number
  wrong: number
  lost: number
  refused: number
  wentOnTheSame: number
  wentOnOtherwise: number
}

const table = new Map<string, Count>()
const counted = new Map<string, Array<string>>()

const count = (line: string, name: string) => {
  counted.set(line, [...counted.get(line) ?? [], name])
}

const kind = (fact: string) =>
  fact.replace(/(source|approval|hosted call|hosted result) .*/u, "$1").replace(/ \d+/u, "")

const none: Count = { answers: 0, right: 0, wrong: 0, lost: 0, refused: 0, wentOnTheSame: 0, wentOnOtherwise: 0 }

const add = (exchange: Exchange.Exchange, replayed: Replayed, ways: ReadonlyArray<WentOn | undefined>) => {
  const row = table.get(exchange.format) ?? { ...none }
  row.answers++
  if (replayed.refused !== undefined && replayed.verdict === "right") row.refused++
  else row[replayed.verdict]++
  table.set(exchange.format, row)
  for (const wentOn of ways) {
    if (wentOn === undefined) continue
    if (Util.isDeepStrictEqual(wentOn.bridge, wentOn.package)) {
      row.wentOnTheSame++
      continue
    }
    row.wentOnOtherwise++
    count(`${exchange.format}: THE BRIDGE: goes on otherwise`, exchange.name)
    if (values.differences) console.log(exchange.name, "goes on otherwise", JSON.stringify(wentOn, undefined, 1))
  }
  for (const fact of new Set(replayed.ofPackage.map((each) => `${each.kind} ${kind(each.fact)}`))) {
    count(`${exchange.format}: the package itself: ${fact}`, exchange.name)
  }
  if (replayed.refused !== undefined) count(`${exchange.format}: ${replayed.refused}`, exchange.name)
  for (const each of replayed.differences) {
    count(`${exchange.format}: THE BRIDGE: ${each.kind} ${kind(each.fact)}`, exchange.name)
    if (!values.differences) continue
    console.log(exchange.name, each.kind, each.fact)
    console.log("  recorded", JSON.stringify(each.recorded)?.slice(0, 400))
    console.log("  seen    ", JSON.stringify(each.seen)?.slice(0, 400))
  }
}

let missing = 0
for (const file of files) {
  const text = texts.get(file)
  if (text === undefined) {
    missing++
    continue
  }
  for (const exchange of Exchange.exchanges(file, text)) {
    const ways = [await goOn(exchange, "declared"), await goOn(exchange, "unknown")]
    add(exchange, await replay(exchange), ways)
  }
}

console.table(Object.fromEntries(table))
for (const [line, names] of [...counted].toSorted(([left], [right]) => left < right ? -1 : 1)) {
  console.log(`${names.length}\t${line}\t(${names[0]})`)
}
const failed = [...table.values()].reduce((sum, row) => sum + row.wrong + row.lost + row.wentOnOtherwise, 0)
console.log(
  `${
    files.length - missing
  } of ${files.length} listed files were read; ${failed} answers are wrong, lost or lead elsewhere.`
)
if (failed > 0 || missing > 0) process.exitCode = 1
