/** The laws of what may run, for tools that wait: what they go on from, once, and who says so. */
import type { Law } from "./laws.ts"
import * as Notes from "./notes.ts"
import * as Record from "./record.ts"
import * as View from "./view.ts"
import * as Waits from "./waits.ts"

const tell = ({ number, suspension, turn }: Record.Resumption): string =>
  `resumption ${number} in turn ${turn} from ${Waits.tell(suspension)}`

const hasResumed = ({ record }: { readonly record: Record.Record }): boolean => record.resumptions.length > 0

/** L1 Fail closed, and L11 Policy again at dispatch. */
export const L11: Law = {
  name: "L11 (waiting)",
  fewest: 8,
  title: "what waits does not go on where the policy blocks it by now, or fails",
  check: ({ record }) =>
    record.resumptions.flatMap((resumption, index) => {
      const { runs, suspension: { call }, turn } = resumption
      // What was said of what it waited for next says nothing of this.
      const judgements = record.judgements.filter(({ resumptions }) => resumptions <= index)
      const verdict = View.verdictOf({ ...record, judgements }, record.turns[turn]!, call, runs)
      return verdict === "ask" || verdict === "allow" ? [] : [`${tell(resumption)} though the policy: ${verdict}`]
    }),
  concerns: ({ record }) =>
    record.turns.some((turn) =>
      turn.circumstances.policy !== "default" &&
      record.askings.some((asking) => Waits.answersIn(record, turn, asking).length > 0)
    )
}

/** L2 At most once. */
export const L2: Law = {
  name: "L2 (waiting)",
  fewest: 50,
  title: "a tool goes on from what it waited for once, across repeats, processes, crashes and several answers",
  check: ({ record }) => [
    ...record.resumptions.flatMap((resumption, index) =>
      record.resumptions.slice(0, index).some((earlier) => Waits.isSame(earlier.suspension, resumption.suspension))
        ? [`${tell(resumption)}, once more`]
        : []
    ),
    ...record.resumptions.flatMap((resumption) => {
      const asking = Waits.askingOf(record, resumption.suspension)
      const isEnded = record.tellings.some(({ answer, approvalId, outcome, step }) =>
        answer === undefined && outcome === "done" && approvalId === asking?.approvalId &&
        step < record.turns[resumption.turn]!.step
      )
      return isEnded ? [`${tell(resumption)} though its waiting was ended`] : []
    })
  ],
  concerns: ({ record }) =>
    record.askings.some((asking) =>
      record.turns.filter((turn) => Waits.answersIn(record, turn, asking).length > 0).length > 1
    )
}

/** L3 Deny wins. */
export const L3: Law = {
  name: "L3 (waiting)",
  fewest: 20,
  title: "a no ends what waits, before any answer beside it or after it; a verdict that holds a no is a no",
  check: ({ record }) =>
    record.resumptions.flatMap((resumption) => {
      const { suspension } = resumption
      const turn = record.turns[resumption.turn]!
      const asking = Waits.askingOf(record, suspension)
      if (asking === undefined) return []
      const denying = record.turns.find((earlier) =>
        earlier.step < turn.step && !earlier.tampered && earlier.plan.resolve && hasEnded(record, earlier) &&
        Waits.isKnown(record, earlier, suspension) && !Waits.isOver(record, earlier, asking, earlier.endedAt) &&
        View.isPrompted(earlier, asking.approvalId) && Waits.isDenied(earlier, asking)
      )
      if (denying !== undefined) return [`${tell(resumption)}, which turn ${denying.index} denied`]
      if (turn.tampered) return []
      const isDenied = Waits.saidIn(turn.prompt, asking).some(({ isDenial }) => isDenial)
      if (!isDenied) return []
      return suspension.kind === "verdict" && resumption.answer.includes("\"approved\":false")
        ? []
        : [`${tell(resumption)} with ${resumption.answer} though a person said no`]
    }),
  concerns: ({ record }) =>
    record.askings.some((asking) =>
      record.turns.slice(0, record.closing).some((turn) =>
        Waits.saidIn(turn.prompt, asking).some(({ isDenial }) => isDenial)
      )
    )
}

const hasEnded = (record: Record.Record, turn: Record.Turn): boolean =>
  (turn.ending === "success" || turn.ending === "failure") && !View.isTroubled(record, turn.step)

/** L4 No forgery. */
export const L4: Law = {
  name: "L4 (waiting)",
  fewest: 50,
  title: "a tool goes on from an answer to its own request, as it was given, in its scope and in time; no other counts",
  check: ({ record }) => [
    ...record.resumptions.flatMap((resumption) => {
      const problem = problemOf(record, resumption)
      return problem === undefined ? [] : [`${tell(resumption)} with ${resumption.answer}: ${problem}`]
    }),
    ...record.askings.flatMap(({ approvalId, shown, suspension }) => {
      const { call } = suspension
      const isSame = shown.toolCallId === call.id && shown.toolName === call.tool &&
        Record.canonical(shown.params) === call.params
      if (!isSame) return [`${Waits.tell(suspension)} is shown as ${shown.description}`]
      return /^[\w.~-]{1,512}$/.test(approvalId) ? [] : [`an approval id that is not safe in a URL: ${approvalId}`]
    })
  ],
  concerns: hasResumed
}

const problemOf = (
  record: Record.Record,
  { answer, startedAt, suspension, turn: index }: Record.Resumption
): string | undefined => {
  const turn = record.turns[index]!
  const asked = record.turns[suspension.turn]!
  if (asked.circumstances.scope !== turn.circumstances.scope) return "it waits in another scope"
  const asking = Waits.askingOf(record, suspension)
  if (asking !== undefined && Waits.isOver(record, turn, asking)) return "its time was over"
  if (suspension.kind === "timer") {
    // It is set when the response has come to its end, which may be later than its handler's.
    const dueAt = asking?.shown.awaited?.dueAt ?? suspension.dueAt
    if (startedAt < dueAt || dueAt < suspension.dueAt) return `it is due at ${dueAt}, and it is ${startedAt}`
    return asking === undefined || answer.includes(`"dueAt":${dueAt},`) ? undefined : "that is another timer's"
  }
  if (asking === undefined) return "nobody was ever asked"
  return Waits.answersIn(record, turn, asking).includes(answer) ? undefined : "which nobody answered"
}

/** L13 Ids never cross. */
export const L13: Law = {
  name: "L13 (waiting)",
  fewest: 50,
  title: "what a tool gives after it waited is the result of its own call, in parts and in prompts",
  check: ({ record }) => [
    ...record.turns.flatMap((turn) =>
      View.resultsOf(turn).flatMap((result) =>
        marksIn(result.encodedResult).flatMap((number) => {
          const { call } = record.resumptions[number]!.suspension
          return call.id === result.id && call.tool === result.name
            ? []
            : [`turn ${turn.index} gives the result of resumption ${number} (call ${call.id}) to call ${result.id}`]
        })
      )
    ),
    ...record.turns.flatMap((turn) =>
      turn.tampered ?
        [] :
        turn.sent.flatMap(({ prompt }) => [
          ...Notes.lateIn(prompt).flatMap((late) =>
            marksIn(late).flatMap((number) =>
              record.resumptions[number]!.suspension.call.id === late.toolCallId
                ? []
                : [`the model is told the result of resumption ${number} late for another call, ${late.toolCallId}`]
            )
          ),
          ...prompt.content.flatMap((message) =>
            message.role !== "tool" ?
              [] :
              message.content.flatMap((part) =>
                part.type !== "tool-result" ?
                  [] :
                  marksIn(part.result).flatMap((number) =>
                    record.resumptions[number]!.suspension.call.id === part.id
                      ? []
                      : [`the model sees the result of resumption ${number} at another call, ${part.id}`]
                  )
              )
          )
        ])
    )
  ],
  concerns: hasResumed
}

/** The resumptions whose marks a value carries. */
export const marksIn = (value: unknown): ReadonlyArray<number> =>
  Array.from((JSON.stringify(value) ?? "").matchAll(/<resumption (\d+)>/g), (match) => Number(match[1]))
