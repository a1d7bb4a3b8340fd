/**
 * What a record means of tools that wait: what a history answers to them, and what lets one go on. Written from the laws
 * (DESIGN §5 and §7), not from the engine.
 */
import type { Prompt } from "../../src/index.ts"
import * as Record from "./record.ts"
import * as Stage from "./stage.ts"
import * as View from "./view.ts"

// =============================================================================
// What belongs together
// =============================================================================

export const isSame = (left: Record.Suspension, right: Record.Suspension): boolean =>
  left.start === right.start && left.index === right.index

/** The request that asks for what a call waits for, if it was ever given out. */
export const askingOf = (record: Record.Record, suspension: Record.Suspension): Record.Asking | undefined =>
  record.askings.find((asking) => isSame(asking.suspension, suspension))

export const tell = ({ call, index, start }: Record.Suspension): string =>
  `wait ${index} of run ${start} (${call.tool}, call ${call.id})`

/** What the program told before a turn, and was taken. */
export const toldBefore = (
  record: Record.Record,
  turn: Record.Turn,
  { approvalId }: Record.Asking
): ReadonlyArray<string> =>
  record.tellings.flatMap((telling) =>
    telling.approvalId === approvalId && telling.outcome === "done" && telling.step < turn.step &&
      telling.answer !== undefined
      ? [telling.answer]
      : []
  )

/** Whether the model went on while something waits that no message supersedes: its place is held, and then taken. */
export const holdsPlace = (record: Record.Record, { prompt }: Record.Turn): boolean =>
  record.askings.some(({ approvalId, suspension: { kind } }) =>
    (kind === "timer" || kind === "event") && View.indexOfRequest(prompt.content, approvalId) >= 0 &&
    View.hasMessageAfter(prompt, approvalId)
  )

/** Whether a call of a history waits, for all that the history says. */
export const mayWait = (record: Record.Record, { prompt }: Record.Turn): boolean =>
  record.askings.some(({ approvalId, suspension }) =>
    View.indexOfRequest(prompt.content, approvalId) >= 0 && !hasResult(prompt, suspension.call.id)
  )

const hasResult = ({ content }: Prompt.Prompt, callId: string): boolean =>
  content.some((message) =>
    message.role === "tool" && message.content.some((part) => part.type === "tool-result" && part.id === callId)
  )

// =============================================================================
// Answers
// =============================================================================

/** An answer of a history: what it says, as the tool would get it. */
export interface Said {
  readonly isDenial: boolean
  /** Canonical; `undefined` where it is no answer to what is waited for. */
  readonly answer: string | undefined
}

/** What a prompt answers to a request for what a tool waits for, in its order. */
export const saidIn = (prompt: Prompt.Prompt, { approvalId, suspension }: Record.Asking): ReadonlyArray<Said> =>
  prompt.content.flatMap((message) =>
    message.role !== "tool" ? [] : message.content.flatMap((part): ReadonlyArray<Said> => {
      if (part.type !== "tool-approval-response" || part.approvalId !== approvalId) return []
      return [{ isDenial: !part.approved, answer: answerIn(part, suspension.kind) }]
    })
  )

const answerIn = (part: Prompt.ToolApprovalResponsePart, kind: Record.Suspension["kind"]): string | undefined => {
  const assent: unknown = part.options.assent
  const given = typeof assent === "object" && assent !== null && "answer" in assent ? assent.answer : undefined
  if (kind === "words") return part.approved && typeof given === "string" ? Record.canonical(given) : undefined
  if (kind !== "verdict" || given !== undefined) return undefined
  return Record.canonical({
    approved: part.approved,
    ...(part.reason === undefined ? undefined : { note: part.reason })
  })
}

/** The answers that let a wait end in a turn: those of its history, of its controller, and of the program. */
export const answersIn = (
  record: Record.Record,
  turn: Record.Turn,
  asking: Record.Asking
): ReadonlyArray<string> => {
  const { kind } = asking.suspension
  if (kind === "timer") return []
  if (kind === "event") return toldBefore(record, turn, asking)
  const said = saidIn(turn.prompt, asking).flatMap(({ answer }) => answer ?? [])
  const inline = record.asked.flatMap((asked) => {
    if (asked.turn !== turn.index || asked.approvalId !== asking.approvalId) return []
    if (kind === "words") return asked.said === "approve" ? [Record.canonical(Stage.controllerWords)] : []
    return asked.said === "approve"
      ? [Record.canonical({ approved: true })]
      : asked.said === "deny"
      ? [Record.canonical({ approved: false, note: "no, thank you" })]
      : []
  })
  return [...said, ...inline]
}

/** Whether a wait was ended by a no, so that it goes on from nothing: a verdict goes on from a no as from a yes. */
export const isDenied = (turn: Record.Turn, asking: Record.Asking): boolean =>
  asking.suspension.kind !== "verdict" && saidIn(turn.prompt, asking).some(({ isDenial }) => isDenial)

/** Whether a request of a call that waits can be answered in a turn, but for its time. */
export const isKnown = (record: Record.Record, turn: Record.Turn, suspension: Record.Suspension): boolean =>
  circumstancesOf(record, suspension).every(({ key, scope }) =>
    scope === turn.circumstances.scope && View.isKeyAccepted(turn, key)
  )

/** Whether no request of such a call can be answered in a turn. */
export const isUnknown = (record: Record.Record, turn: Record.Turn, suspension: Record.Suspension): boolean =>
  circumstancesOf(record, suspension).every(({ key, scope }) =>
    scope !== turn.circumstances.scope || !View.isKeyAccepted(turn, key)
  )

/** What was in force whenever the call was asked about. */
const circumstancesOf = (record: Record.Record, { call, index, start }: Record.Suspension) =>
  [
    ...record.requests.filter((request) => request.call.id === call.id).map(({ turn }) => turn),
    ...record.suspensions.filter((one) => one.start === start && one.index <= index).map(({ turn }) => turn)
  ].map((turn) => record.turns[turn]!.circumstances)

/** Whether the time of a request is over when a turn begins, and nothing was told before. */
export const isOver = (record: Record.Record, turn: Record.Turn, asking: Record.Asking, at = turn.startedAt): boolean =>
  at >= (asking.shown.expiresAt ?? Infinity) && toldBefore(record, turn, asking).length === 0
