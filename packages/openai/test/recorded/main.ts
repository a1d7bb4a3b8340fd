/**
 * Replays every listed answer of the Responses API, and every edge, through `OpenAiLanguageModel`, and counts: right, wrong,
 * lost.
 *
 *     npm run replay:openai -- --clone vercel/ai=DIRECTORY --clone pydantic/pydantic-ai=DIRECTORY
 *
 * The directories are clones of the two repositories. `--differences` prints each thing that was seen otherwise.
 */
import * as Util from "node:util"
import * as Exchange from "../../../ai-sdk/test/recorded/exchange.ts"
import { edges } from "../edges/index.ts"
import * as Program from "./program.ts"
import { replay, type Replayed } from "./replay.ts"

const { values } = Util.parseArgs({
  options: {
    clone: { type: "string", multiple: true, default: [] },
    only: { type: "string" },
    differences: { type: "boolean", default: false }
  }
})

interface Count {
  answers: number
  right: number
  wrong: number
  lost: number
  refused: number
}

const table = new Map<string, Count>()

const count = (row: string, name: string, replayed: Replayed) => {
  const known = table.get(row) ?? { answers: 0, right: 0, wrong: 0, lost: 0, refused: 0 }
  known.answers++
  known[replayed.verdict]++
  table.set(row, known)
  if (!values.differences || (replayed.verdict === "right")) return
  console.log(`${replayed.verdict}\t${name}${replayed.error === undefined ? "" : `\t${replayed.error.slice(0, 200)}`}`)
  for (const { fact, kind, seen, sent } of replayed.differences) {
    console.log(`  ${kind} ${fact}`)
    console.log(`    sent ${JSON.stringify(sent)?.slice(0, Number(process.env["WIDTH"] ?? 600))}`)
    console.log(`    seen ${JSON.stringify(seen)?.slice(0, Number(process.env["WIDTH"] ?? 600))}`)
  }
}

const clones = Object.fromEntries(values.clone.map((clone) => clone.split("=", 2)))
const files = Exchange.listed().filter(({ format }) => format === "openai-responses")
const texts = Exchange.texts(files, clones)

/** A recording of a stream may have the answers to several requests, one behind the other. */
const split = (exchange: Exchange.Exchange): ReadonlyArray<Exchange.Exchange> => {
  const { body } = exchange
  if (!Exchange.streamed(exchange) || typeof body !== "string") return [exchange]
  const bodies = body.split(/(?=^(?:event: response\.created\r?\n)?data: ?\{[^\n]*"type":"response\.created")/mu)
    .filter((text) => text.includes("data:"))
  return bodies.length < 2
    ? [exchange]
    : bodies.map((text, index) => ({ ...exchange, name: `${exchange.name} ${index}`, body: text }))
}

for (const file of files) {
  const text = texts.get(file)
  if (text === undefined) continue
  for (const exchange of Exchange.exchanges(file, text).flatMap(split)) {
    if (values.only !== undefined && !exchange.name.includes(values.only)) continue
    const way = Exchange.streamed(exchange) ? "streamed" : "whole"
    count(`${file.repository}, ${way}`, exchange.name, await replay(exchange))
  }
}

for (const { name, wire } of edges) {
  if (values.only === undefined) {
    count(`edges, ${Program.isStream(wire) ? "streamed" : "whole"}`, name, await replay(wire))
  }
}

console.table(Object.fromEntries(table))
const missing = files.length - texts.size
console.log(
  missing > 0
    ? `${missing} of ${files.length} listed files are not at hand: give their clones with --clone.`
    : `All ${files.length} listed files were read.`
)
if ([...table.values()].some(({ lost, wrong }) => lost + wrong > 0)) process.exitCode = 1
