/**
 * The agent's model, without a network or a key: a function from the conversation, as a provider receives it, to the
 * next turn. It knows nothing but what stands there, so a person's "no" really changes what it does next.
 */
import type { Prompt } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { Schema } from "effect"
import { exchanges } from "./transcript.ts"

const wanted = 2

export const agent: ScriptedModel.Turn = ({ prompt }) => {
  const say = (text: string, ...calls: ReadonlyArray<readonly [tool: string, params: object]>) => [
    ScriptedModel.text(text),
    ...calls.map(([name, params], index) =>
      ScriptedModel.toolCall({ id: `call-${prompt.content.length}-${index}`, name, params })
    )
  ]
  const { deletes, names, texts } = recall(prompt)
  if (names === undefined) return say("First I look at what is here.", ["ListFiles", {}])
  if (texts.size === 0) {
    return say("I read before I judge.", ...names.map((name) => ["ReadFile", { name }] as const))
  }

  const last = deletes.at(-1)
  const comment = last === undefined
    ? ""
    : last.denied === undefined
    ? `"${last.name}" is gone. `
    : `I leave "${last.name}" where it is: ${last.denied} `
  if (deletes.filter(({ denied }) => denied === undefined).length === wanted) return `${comment}That makes two. Done.`

  const next = suspects(texts).find(({ name }) => !deletes.some((asked) => asked.name === name))
  return next === undefined
    ? `${comment}Nothing else here looks useless to me. Done.`
    : say(`${comment}"${next.name}" ${next.why}`, ["DeleteFile", { name: next.name }])
}

const Named = Schema.Struct({ name: Schema.String })

/** What the conversation says so far. */
const recall = (prompt: Prompt.Prompt) => {
  let names: ReadonlyArray<string> | undefined
  const texts = new Map<string, string>()
  const deletes: Array<{ readonly name: string; readonly denied: string | undefined }> = []
  for (const { denied, params, result, tool } of exchanges(prompt)) {
    if (tool === "ListFiles") names = Schema.decodeUnknownSync(Schema.Array(Schema.String))(result)
    else if (tool === "ReadFile") texts.set(Schema.decodeUnknownSync(Named)(params).name, String(result))
    else deletes.push({ name: Schema.decodeUnknownSync(Named)(params).name, denied })
  }
  return { deletes, names, texts }
}

/** The files it would rather not have, the worst first. */
const suspects = (texts: ReadonlyMap<string, string>) => {
  const files = Array.from(texts, ([name, text]) => ({ name, text }))
  return [
    ...files.filter(({ name }) => name.endsWith(".exe")).map(({ name }) => ({ name, why: "is no holiday picture." })),
    ...files.filter(({ name, text }) => files.some((other) => other.text === text && other.name.length < name.length))
      .map(({ name }) => ({ name, why: "says word for word what another file says." })),
    ...files.filter(({ name }) => name.endsWith(".log")).map(({ name }) => ({ name, why: "is a log from years ago." }))
  ]
}
