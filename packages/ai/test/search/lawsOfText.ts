/** The laws of what is said, of which call and to whom: L13, L14, L15. */
import { Cause } from "effect"
import type { Approval, Prompt } from "../../src/index.ts"
import type { Law } from "./laws.ts"
import * as Notes from "./notes.ts"
import * as Record from "./record.ts"
import * as View from "./view.ts"

/** L13 Ids never cross. */
export const L13: Law = {
  name: "L13",
  title: "each result belongs to the call whose run it tells of, however ids are used again",
  check: ({ record }) => [
    ...record.turns.flatMap((turn) => {
      // A program that resolves calls itself is given them as they are.
      const ids = !turn.plan.resolve ? [] : turn.parts.flatMap((part) => part.type === "tool-call" ? [part.id] : [])
      return new Set(ids).size < ids.length ? [`turn ${turn.index} has two calls of one id`] : []
    }),
    ...record.turns.flatMap((turn) =>
      View.resultsOf(turn).flatMap((result) =>
        View.marksIn(result.encodedResult).flatMap((number) => {
          const { call } = record.runs[number]!
          return call.id === result.id && call.tool === result.name
            ? []
            : [`turn ${turn.index} gives the result of run ${number} (call ${call.id}) to call ${result.id}`]
        })
      )
    ),
    ...record.turns.flatMap((turn) =>
      turn.tampered ?
        [] :
        turn.sent.flatMap(({ prompt }) => [
          ...prompt.content.flatMap((message, index) =>
            message.role === "tool" ? crossed(record, prompt, message, index) : []
          ),
          ...Notes.lateIn(prompt).flatMap((late) =>
            View.marksIn(late).flatMap((number) => {
              const { call } = record.runs[number]!
              return call.id === late.toolCallId && call.tool === late.tool
                ? []
                : [`the model is told the result of run ${number} late for another call, ${late.toolCallId}`]
            })
          )
        ])
    )
  ],
  concerns: ({ record }) => {
    const calls = record.requests.map(({ call }) => call.id)
    return new Set(calls).size < calls.length ||
      record.turns.some(({ received }) => new Set(received.map(({ id }) => id)).size < received.length)
  }
}

/** Results in a prompt that stand at another call than the one that ran. */
const crossed = (
  record: Record.Record,
  prompt: Prompt.Prompt,
  message: Prompt.ToolMessage,
  index: number
): ReadonlyArray<string> =>
  message.content.flatMap((part) => {
    if (part.type !== "tool-result") return []
    const before = prompt.content[index - 1]
    const call = before?.role === "assistant"
      ? before.content.find((other) => other.type === "tool-call" && other.id === part.id)
      : undefined
    if (call?.type !== "tool-call") return []
    return View.marksIn(part.result).flatMap((number) => {
      const run = record.runs[number]!
      const isEdited = record.asked.some((asked) => asked.said === "edit" && asked.params === run.call.params)
      const isSame = call.name === run.call.tool && (isEdited || Record.canonical(call.params) === run.call.params)
      return isSame ? [] : [`the model sees the result of run ${number} at another call, ${call.id} of ${call.name}`]
    })
  })

/** L14 A failed result always has a reason. */
export const L14: Law = {
  name: "L14",
  title: "a failed result has a reason, which is true, and says whether it may be asked again",
  check: ({ justified, predictions, record }) => [
    ...record.turns.flatMap((turn) =>
      View.resultsOf(turn).flatMap((result) => {
        if (!result.isFailure) return []
        const { encodedResult } = result
        const type = typeof encodedResult === "object" && encodedResult !== null && "type" in encodedResult
          ? encodedResult.type
          : undefined
        const reason = View.reasonIn(encodedResult)
        if (type === undefined && isOfTheTool(encodedResult)) return []
        if (reason === undefined || reason.trim() === "") {
          return [`turn ${turn.index} gives a failure without a reason: ${JSON.stringify(encodedResult)}`]
        }
        const approvalId = View.approvalIdOf(result)
        const ran = justified.find(({ isDirect, requests, run }) =>
          !isDirect && requests.length === 1 && requests[0]!.approvalId === approvalId &&
          run.number < turn.runsBefore && !turn.tampered &&
          View.isValid(turn, requests[0]!)
        )
        return ran !== undefined && /nothing ran|did not run|has not run/i.test(reason)
          ? [`turn ${turn.index} says that nothing ran of call ${result.id}, but run ${ran.run.number} did: ${reason}`]
          : []
      })
    ),
    ...predictions.flatMap(({ fate, request, turn }) => {
      if (turn.ending !== "success") return []
      const result = View.resultsOf(turn).find((result) => View.approvalIdOf(result) === request.approvalId)
      const reason = View.reasonIn(result?.encodedResult) ?? ""
      switch (fate) {
        case "expired":
        case "superseded":
        case "drifted":
        case "void":
          return /nothing ran/i.test(reason) && /ask(ed)? again/i.test(reason)
            ? []
            : [`turn ${turn.index} does not say that nothing ran and that it may be asked again (${fate}): ${reason}`]
        case "denied":
          return reason.includes("rather not") || reason.includes("over") ||
              reason !== "" && !/asked again/i.test(reason)
            ? []
            : [`turn ${turn.index} does not give the person's reason: ${reason}`]
        case "invalid":
          return result?.isFailure === true ? [] : [`turn ${turn.index} says nothing of an approval that is not good`]
        default:
          return []
      }
    })
  ],
  concerns: ({ record }) => record.turns.some((turn) => View.resultsOf(turn).some((result) => result.isFailure))
}

/** A failure that the tool itself has a schema for, or upstream's own word on parameters that do not decode. */
const isOfTheTool = (result: unknown): boolean =>
  typeof result === "object" && result !== null &&
  ("why" in result || ("_tag" in result && result._tag === "AiError"))

/** L15 Screens are safe. */
export const L15: Law = {
  name: "L15",
  title: "nothing that is shown to a person misleads their screen, and no secret gets out",
  check: ({ record }) => [
    ...[...record.requests, ...record.askings].flatMap(({ shown }) =>
      textsOf(shown).flatMap(([name, text, limit]) => [
        ...(unsafe.test(text.replaceAll(/[\n\t]/g, ""))
          ? [`the ${name} of a request holds what is not to be shown`]
          : []),
        ...(text.length > limit ? [`the ${name} of a request is ${text.length} characters long`] : [])
      ])
    ),
    ...record.turns.flatMap((turn) => [
      ...leaks(turn.parts, `the parts of turn ${turn.index}`, everySecret),
      // What a handler died with is its program's to see; the policy's cause is nobody's.
      ...(turn.cause === undefined
        ? []
        : leaks(Cause.pretty(turn.cause), `the error of turn ${turn.index}`, [
          Record.secrets.policy,
          Record.secrets.key
        ]))
    ]),
    ...messagesOf(record).flatMap((message) => leaks(message, "the prompts", everySecret)),
    ...leaks(record.spans.join("\n"), "the spans", everySecret)
  ],
  concerns: ({ record }) =>
    record.requests.some(({ shown }) => JSON.stringify(shown).includes("reversed")) ||
    record.judgements.some((judgement) => judgement.said === "failed") ||
    record.runs.some((run) => run.outcome === "died")
}

/** The messages that were sent, each once: most are sent again with every turn. */
const messagesOf = (record: Record.Record): ReadonlyArray<Prompt.Message> =>
  Array.from(new Set(record.turns.flatMap((turn) => turn.sent.flatMap(({ prompt }) => prompt.content))))

const everySecret: ReadonlyArray<string> = Object.values(Record.secrets)

const unsafe = /[\p{Cc}\p{Cf}\u2028\u2029]/u

const textsOf = (
  shown: Approval.ApprovalRequest
): ReadonlyArray<readonly [name: string, text: string, limit: number]> => [
  ["description", shown.description, 600],
  ["reason", shown.reason ?? "", 1_100],
  ["prompt", shown.awaited?.prompt ?? "", 10_100],
  ["presentation", shown.presentation?.content ?? "", 110_000]
]

const leaks = (value: unknown, where: string, secrets: ReadonlyArray<string>): ReadonlyArray<string> => {
  const text = typeof value === "string" ? value : JSON.stringify(value)
  return secrets.filter((secret) => text.includes(secret)).map((secret) => `${where} hold ${secret}`)
}
