/**
 * The agent's mind: a function from what was done so far to what it says and does next. It knows nothing else, so that a
 * person's "no" changes what it does. `models.ts` plays it, without a network and over the network.
 */
import { Schema } from "effect"
import { ListFiles } from "./tools.ts"
import type * as Transcript from "./transcript.ts"

/** What it says, and its calls of one tool; without one it is done. */
export interface Move {
  readonly text: string
  readonly tool: string
  readonly calls: ReadonlyArray<object>
}

const wanted = 2

type File = Transcript.Exchange

/** What it holds against a file: an ordinary one first, then one that plays tricks, then a long one. */
const doubts: ReadonlyArray<readonly [why: string, applies: (file: File, files: ReadonlyArray<File>) => boolean]> = [
  ["says what another file says.", ({ path, result }, files) => {
    return files.some((other) => other.result === result && other.path.length < path.length)
  }],
  ["is a program, not a picture.", ({ path }) => path.endsWith(".exe")],
  ["is a log from years ago.", ({ path }) => path.endsWith(".log")]
]

export const agent = (done: ReadonlyArray<Transcript.Exchange>): Move => {
  const callsOf = (tool: string) => done.filter((exchange) => exchange.tool === tool)
  const move = (text: string, tool = "", ...calls: ReadonlyArray<object>): Move => ({ text, tool, calls })

  const [listing] = callsOf("ListFiles")
  if (listing === undefined) return move("First I look at what is here.", "ListFiles", {})
  const files = callsOf("ReadFile")
  if (files.length === 0) {
    const paths = Schema.decodeUnknownSync(ListFiles.successSchema)(listing.result)
    return move("I read before I judge.", "ReadFile", ...paths.map((path) => ({ path })))
  }

  const deletes = callsOf("DeleteFile")
  const comment = deletes.slice(-1)
    .map(({ path, refused }) => refused === undefined ? `"${path}" is gone.\n` : `"${path}" stays: "${refused}"\n`)
    .join("")
  if (deletes.filter(({ refused }) => refused === undefined).length === wanted) {
    return move(`${comment}That makes two. Done.`)
  }

  const next = doubts
    .flatMap(([why, applies]) => files.filter((file) => applies(file, files)).map(({ path }) => ({ path, why })))
    .find(({ path }) => !deletes.some((asked) => asked.path === path))
  return next === undefined
    ? move(`${comment}I find nothing else that you could spare. Done.`)
    : move(`${comment}"${next.path}" ${next.why}`, "DeleteFile", { path: next.path })
}
