/** What OpenAI has to get back of an answer with the next request: each item once, in its place. */
import { type Difference, type Json, objects, parse, stable, string } from "./facts.ts"
import type * as Program from "./program.ts"
import type { Answer } from "./reader.ts"

const outputs: Readonly<Record<string, string>> = {
  function_call: "function_call_output",
  custom_tool_call: "custom_tool_call_output",
  apply_patch_call: "apply_patch_call_output",
  local_shell_call: "local_shell_call_output",
  shell_call: "shell_call_output"
}

/** What is left of the recorded items for the next request, in words that both sides can be said in. */
const expected = ({ items }: Answer, kept: boolean): ReadonlyArray<string> => {
  const inside = new Set(items.filter(({ type }) => type === "shell_call_output").map((item) => item["call_id"]))
  const said: Array<string> = []
  // OpenAI refuses reasoning without what it led to: where that is not said, neither is what led there.
  let leading: Array<string> = []
  for (const item of items) {
    // What nobody answered is withdrawn where OpenAI keeps it, and left out where it does not.
    const words = item["type"] === "mcp_approval_request" ? undefined : wordsOf(item, kept, inside)
    if (item["type"] === "reasoning") {
      if (words !== undefined) leading.push(words)
      continue
    }
    if (words !== undefined) said.push(...leading, words)
    leading = []
  }
  const called = items.filter((item) => Object.hasOwn(outputs, String(item["type"])) && !inside.has(item["call_id"]))
    .map((item) => `${outputs[String(item["type"])]} ${String(item["call_id"])}`)
  return [...said, ...called]
}

const actual = (input: ReadonlyArray<Json>, kept: boolean): ReadonlyArray<string> =>
  input.slice(1, -1).flatMap((item) => {
    const type = string(item["type"]) ?? "message"
    if (type === "item_reference") return [`reference ${String(item["id"])}`]
    if (Object.values(outputs).includes(type) && isOurs(item)) {
      return [`${type} ${String(item["call_id"] ?? item["id"])}`]
    }
    const words = wordsOf({ ...item, type }, kept)
    return words === undefined ? [] : [words]
  })

const isOurs = (item: Json): boolean => !(item["type"] === "shell_call_output" && item["id"] !== undefined)

const wordsOf = (item: Json, kept: boolean, inside: ReadonlySet<unknown> = none): string | undefined => {
  const type = string(item["type"]) ?? ""
  switch (type) {
    case "message": {
      const content = item["content"]
      const text = typeof content === "string"
        ? content
        : objects(content).map(({ refusal, text }) => string(refusal) ?? string(text) ?? "").join("")
      return text === "" ? undefined : `message ${text}`
    }
    case "reasoning":
      if (kept) return `reference ${String(item["id"])}`
      return item["encrypted_content"] || objects(item["content"]).length > 0
        ? `reasoning ${stable([item["id"], item["summary"], item["content"] ?? [], item["encrypted_content"]])}`
        : undefined
    case "function_call":
      return `function_call ${
        stable([
          item["call_id"],
          item["name"],
          parse(item["arguments"]),
          item["namespace"]
        ])
      }`
    case "custom_tool_call":
      return `custom_tool_call ${stable([item["call_id"], item["name"], item["input"]])}`
    case "apply_patch_call":
      return `apply_patch_call ${stable([item["call_id"], item["operation"]])}`
    case "shell_call":
    case "local_shell_call":
      if (!kept || !inside.has(item["call_id"])) return `${type} ${stable([item["call_id"], item["action"]])}`
  }
  if (kept && typeof item["id"] === "string") return `reference ${item["id"]}`
  const { created_by: _, status: __, ...rest } = item
  return `${type} ${stable(rest)}`
}

const none: ReadonlySet<unknown> = new Set()

export const differences = (answer: Answer, { kept, whole }: Program.Seen): ReadonlyArray<Difference> => {
  const found: Array<Difference> = []
  for (const [store, input] of [[true, kept], [false, whole]] as const) {
    const before = joined(expected(answer, store))
    const after = joined(actual(input, store))
    if (stable(before) === stable(after)) continue
    const missing = before.filter((words) => !after.includes(words))
    found.push({
      kind: missing.length > 0 ? "lost" : "wrong",
      fact: `going on, store: ${store}`,
      sent: missing.length > 0 ? missing : before,
      seen: after
    })
  }
  return found
}

// The texts of one message may go back as several, and the other way round.
const joined = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const all: Array<string> = []
  for (const each of words) {
    const last = all.at(-1)
    if (each.startsWith("message ") && last?.startsWith("message ")) all[all.length - 1] = last + each.slice(8)
    else all.push(each)
  }
  return all
}
