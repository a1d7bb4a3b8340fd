/**
 * The agent's model, without a network or a key: a function from the conversation, as a provider receives it, to the
 * next turn. It knows nothing but what stands there, so that a person's "no" changes what it does next.
 */
import { ScriptedModel } from "@assent/ai/testing"
import { Schema } from "effect"
import { ListFiles } from "./tools.ts"
import * as Transcript from "./transcript.ts"

const wanted = 2

type File = Transcript.Exchange

/** What it holds against a file, the worst first. */
const doubts: ReadonlyArray<readonly [why: string, applies: (file: File, files: ReadonlyArray<File>) => boolean]> = [
  ["is a program, not a picture.", ({ path }) => path.endsWith(".exe")],
  ["says what another file says.", ({ path, result }, files) => {
    return files.some((other) => other.result === result && other.path.length < path.length)
  }],
  ["is a log from years ago.", ({ path }) => path.endsWith(".log")]
]

export const agent: ScriptedModel.Turn = ({ prompt }) => {
  const done = Transcript.exchanges(prompt)
  const callsOf = (tool: string) => done.filter((exchange) => exchange.tool === tool)
  const say = (text: string, tool: string, ...calls: ReadonlyArray<object>): ScriptedModel.Turn => [
    ScriptedModel.text(text),
    ...calls.map((params, index) =>
      ScriptedModel.toolCall({ id: `call-${done.length + index + 1}`, name: tool, params })
    )
  ]

  const [listing] = callsOf("ListFiles")
  if (listing === undefined) return say("First I look at what is here.", "ListFiles", {})
  const files = callsOf("ReadFile")
  if (files.length === 0) {
    const paths = Schema.decodeUnknownSync(ListFiles.successSchema)(listing.result)
    return say("I read before I judge.", "ReadFile", ...paths.map((path) => ({ path })))
  }

  const deletes = callsOf("DeleteFile")
  const comment = deletes.slice(-1)
    .map(({ path, refused }) => refused === undefined ? `"${path}" is gone.\n` : `"${path}" stays: "${refused}"\n`)
    .join("")
  if (deletes.filter(({ refused }) => refused === undefined).length === wanted) return `${comment}That makes two. Done.`

  const next = doubts
    .flatMap(([why, applies]) => files.filter((file) => applies(file, files)).map(({ path }) => ({ path, why })))
    .find(({ path }) => !deletes.some((asked) => asked.path === path))
  return next === undefined
    ? `${comment}I find nothing else that you could spare. Done.`
    : say(`${comment}"${next.path}" ${next.why}`, "DeleteFile", { path: next.path })
}
