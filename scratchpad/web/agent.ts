/**
 * The agent's mind: from what was said and done to what it says and does next, by words that it listens for. Any provider's
 * model stands in its place; this one needs no key.
 */
import { LanguageModel, type Prompt } from "@assent/ai"
import { ScriptedModel } from "@assent/ai/testing"
import { type Duration, Effect, Layer, Stream } from "effect"

type Call = readonly [tool: string, params: object]

interface Move {
  readonly says: string
  readonly calls?: ReadonlyArray<Call>
}

const change: Call = ["ChangeFile", {
  path: "poem.txt",
  content: "Roses are red,\nviolets are blue,\nsugar is sweet,\nand so are you.\n"
}]

const script = `#!/bin/sh
# Says hello to everybody in the list.
set -eu
while read -r name; do
  printf 'Hello, %s!\\n' "$name"
done < "\${1:-names.txt}"
`

const rows = ["March", "April", "May", "June"].map((month, index) => ({ month, rent: 900, food: 280 + 15 * index }))

const long = "Here is what I think, and it takes a while. ".concat(
  Array.from({ length: 40 }, (_, index) => `Sentence ${index + 1} of a long answer.`).join(" ")
)

const pay = (amount: number): Call => ["Pay", { to: "Bakery", amount, currency: "EUR", reference: "R-2026-117" }]

/** The first whose words are in what was said is done. */
const moves: ReadonlyArray<readonly [words: RegExp, move: (said: RegExpExecArray) => Move]> = [
  [/\bclean\b/i, () => ({
    says: "I would delete two logs that nobody reads, and correct the poem.",
    calls: [["DeleteFile", { path: "debug.log" }], ["DeleteFile", { path: "trace.log" }], change]
  })],
  [/\bslow delete\b|\bcloud\b/i, () => ({
    says: "Before I delete anything, I back it up.",
    calls: [["BackUp", { to: "the cloud" }]]
  })],
  [/\bslow\b|\bback ?up\b/i, () => ({ says: "This takes a moment.", calls: [["BackUp", { to: "this computer" }]] })],
  [/\btricks\b/i, () => ({
    says: "<b>Not bold</b> and <script>alert(1)</script>, and \u202eback to front\u202c, and\u200b nothing.",
    calls: [["DeleteFile", { path: "holiday\u202egpj.exe" }], ["Pay", {
      to: "Bakery\u200b\" onclick=\"alert(1)",
      amount: 1,
      currency: "<img src=x onerror=alert(1)>",
      reference: "Approved by Ada\u2028\nApprove all"
    }]]
  })],
  [/\bdelete\b(?:\s+(?:the\s+(?:file\s+)?)?(\S+\.\w+))?/i, ([, path = "debug.log"]) => ({
    says: `I can delete ${path}. It cannot be undone.`,
    calls: [["DeleteFile", { path }]]
  })],
  [/\bpoem\b/i, () => ({ says: "Violets are blue, I believe.", calls: [change] })],
  [/\bscript\b/i, () => ({
    says: "A small script will do.",
    calls: [["WriteFile", { path: "hello.sh", content: script }]]
  })],
  [/\bpay\b(?:\D*(\d+))?/i, ([, amount = "40"]) => ({
    says: "The bakery has sent an invoice.",
    calls: [pay(Number(amount))]
  })],
  [/\bimport\b/i, () => ({
    says: "These rows are missing in the budget.",
    calls: [["ImportRows", { table: "budget", rows }]]
  })],
  [/\bfail|\bmail\b/i, () => ({
    says: "I write to them.",
    calls: [["SendMail", { to: "nobody@example.com", subject: "Hello", body: "Dear all,\n\nsee you on Monday.\n" }]]
  })],
  [/\bseveral options\b/i, () => ({ says: "Then choose.", calls: [["PlanTrip", { ask: "choices" }]] })],
  [/\bchoose\b/i, () => ({ says: "Then choose.", calls: [["PlanTrip", { ask: "choice" }]] })],
  [/\bquestion\b/i, () => ({ says: "I have one.", calls: [["PlanTrip", { ask: "text" }]] })],
  [/\bconsent\b/i, () => ({ says: "There is one thing.", calls: [["PlanTrip", { ask: "consent" }]] })],
  [/\bask\b|\btrip\b/i, () => ({ says: "Gladly. I need to know a little.", calls: [["PlanTrip", { ask: "form" }]] })],
  [/\blong\b/i, () => ({ says: long })]
]

const help: Move = {
  says:
    "I can delete a file, correct the poem, write a script, pay the bakery, import rows, plan a trip (I ask), back up" +
    " (that is slow), write a mail (it fails), and clean up, which asks for three things at once."
}

const ended = (result: Prompt.ToolResultPart): string => {
  const told = typeof result.result === "string" ? result.result : JSON.stringify(result.result)
  if (!result.isFailure) return typeof result.result === "string" ? told : `${result.name} is done: ${told}.`
  const reason = /"reason":"((?:[^"\\]|\\.)*)"/.exec(told)?.[1]
  return told.includes("execution-denied")
    ? `${result.name} did not run${reason === undefined ? "" : `: ${reason}`}.`
    : `${result.name} failed: ${told}`
}

const next = ({ content }: Prompt.Prompt): Move => {
  const last = content.findLastIndex(({ role }) => role === "user")
  const user = content[last]
  const since = content.slice(last + 1)
  const results = since.flatMap((message) =>
    message.role === "tool" || message.role === "assistant"
      ? [...message.content].filter((part) => part.type === "tool-result")
      : []
  )
  if (results.length > 0) return { says: results.map(ended).join(" ") }
  if (user?.role !== "user") return help
  const said = user.content.flatMap((part) => part.type === "text" ? [part.text] : []).join(" ")
  for (const [words, move] of moves) {
    const found = words.exec(said)
    if (found !== null) return move(found)
  }
  return help
}

const countOf = ({ content }: Prompt.Prompt): number =>
  content.flatMap((message) =>
    message.role === "assistant" ? [...message.content].filter((part) => part.type === "tool-call") : []
  ).length

/** `pace` is how long it takes for a word, or about that. */
export const layer = (pace: Duration.Duration) =>
  Layer.effect(
    LanguageModel.LanguageModel,
    Effect.gen(function*() {
      const { params } = yield* ScriptedModel.make({
        turns: [({ prompt }) => {
          const { calls = [], says } = next(prompt)
          const count = countOf(prompt)
          return [
            ScriptedModel.text(says),
            ...calls.map(([name, params], index) =>
              ScriptedModel.toolCall({ id: `call-${count + index + 1}`, name, params })
            )
          ]
        }],
        afterLastTurn: "repeat"
      })
      return yield* LanguageModel.make({
        ...params,
        streamText: (options) =>
          Stream.tap(params.streamText(options), ({ type }) => type === "text-delta" ? Effect.sleep(pace) : Effect.void)
      })
    })
  )
