/**
 * What a record says must, or may, be remembered: every answer that was given to be, by a controller, or in a history
 * where the policy lets a history say so. Written from the laws (DESIGN §5 and §6), not from the engine.
 */
import type { Prompt } from "../../src/index.ts"
import type * as Record from "./record.ts"
import * as View from "./view.ts"

/** An answer that may be remembered. */
export interface Grant {
  readonly id: string
  readonly decision: "approved" | "denied"
  readonly tool: string
  /** Canonical; `undefined` where it is of every call of the tool. */
  readonly params: string | undefined
  readonly uses: number
  readonly turn: number
  readonly approvalId: string
  readonly isInline: boolean
}

const known = new WeakMap<Record.Record, ReadonlyArray<Grant>>()

/** Every answer that may be remembered, whatever became of it. */
export const grantsOf = (record: Record.Record): ReadonlyArray<Grant> => {
  let grants = known.get(record)
  if (grants === undefined) {
    grants = [...inlineIn(record), ...writtenIn(record)]
    known.set(record, grants)
  }
  return grants
}

/** How an answer says what is to be remembered of it. */
export type Lasting = "no" | "call" | "tool" | "once"

/** What the controller wants remembered. */
export const lastingOf = (said: string): Lasting =>
  said.endsWith("for good") ? "call" : said.endsWith("once more") ? "once" : "no"

const grantOf = (
  fields: Pick<Grant, "id" | "decision" | "tool" | "turn" | "approvalId" | "isInline">,
  params: string,
  lasting: Lasting,
  { circumstances: { memory, policy } }: Record.Turn
): ReadonlyArray<Grant> => {
  const isOnce = policy === "ask once" && fields.decision === "approved"
  if (!memory || (lasting === "no" && !isOnce)) return []
  const isOfTool = lasting === "no" || lasting === "tool" || lasting === "once"
  const uses = lasting === "once" && fields.decision === "approved" ? 1 : Infinity
  return [{ ...fields, params: isOfTool ? undefined : params, uses }]
}

const inlineIn = (record: Record.Record): ReadonlyArray<Grant> =>
  record.asked.flatMap(({ approvalId, params, said, turn }, index) => {
    const request = record.requests.find((request) => request.approvalId === approvalId)
    const isDenied = said.startsWith("deny")
    if (request === undefined || (!isDenied && params === undefined)) return []
    return grantOf(
      {
        id: `asked ${index}`,
        decision: isDenied ? "denied" : "approved",
        tool: request.call.tool,
        turn,
        approvalId,
        isInline: true
      },
      params ?? request.call.params,
      lastingOf(said),
      record.turns[turn]!
    )
  })

const writtenIn = (record: Record.Record): ReadonlyArray<Grant> =>
  record.turns.flatMap((turn) => {
    const { memory, policy } = turn.circumstances
    if (!memory || (policy !== "ask once" && policy !== "ask rememberable")) return []
    return record.requests.flatMap(({ approvalId, call }) =>
      responsesTo(turn.prompt, approvalId).flatMap((response) =>
        grantOf(
          {
            // The same answer again is the same grant.
            id: `written ${approvalId}`,
            decision: response.approved ? "approved" : "denied",
            tool: call.tool,
            turn: turn.index,
            approvalId,
            isInline: false
          },
          call.params,
          policy === "ask rememberable" ? writtenLasting(response) : "no",
          turn
        )
      )
    )
  })

const responsesTo = ({ content }: Prompt.Prompt, approvalId: string): ReadonlyArray<Prompt.ToolApprovalResponsePart> =>
  content.flatMap((message) =>
    message.role !== "tool" ?
      [] :
      message.content.flatMap((part) =>
        part.type === "tool-approval-response" && part.approvalId === approvalId ? [part] : []
      )
  )

const writtenLasting = ({ options: { assent } }: Prompt.ToolApprovalResponsePart): Lasting => {
  const remember = typeof assent === "object" && assent !== null && "remember" in assent ? assent.remember : undefined
  if (remember === undefined || remember === null) return "no"
  if (remember === "session") return "call"
  return typeof remember === "object" && "uses" in remember ? "once" : "tool"
}

// =============================================================================
// Reading
// =============================================================================

/** Whether a grant, if it was made, is about a call: of the same tool as it was, in the same scope. */
const isAbout = (record: Record.Record, turn: Record.Turn, grant: Grant, call: Record.Received): boolean => {
  const before = record.turns[grant.turn]!.circumstances
  const now = turn.circumstances
  return grant.tool === call.tool && (grant.params === undefined || grant.params === call.params) &&
    before.scope === now.scope && (before.drift[call.tool] ?? "none") === (now.drift[call.tool] ?? "none")
}

/** Whether it may have been made by then: of two turns at once, either may have been the first. */
const isBy = (record: Record.Record, turn: Record.Turn, grant: Grant): boolean =>
  record.turns[grant.turn]!.step <= turn.step

/** What may be remembered of a call in a turn. */
export const covering = (
  record: Record.Record,
  turn: Record.Turn,
  call: Record.Received,
  decision: Grant["decision"]
): ReadonlyArray<Grant> =>
  turn.circumstances.memory
    ? grantsOf(record).filter((grant) =>
      grant.decision === decision && isBy(record, turn, grant) && isAbout(record, turn, grant, call)
    )
    : []

/** Whether anything may be remembered that has a say in what becomes of a call. */
export const hasSay = (record: Record.Record, turn: Record.Turn, call: Record.Received): boolean =>
  turn.circumstances.memory &&
  grantsOf(record).some((grant) =>
    isBy(record, turn, grant) && grant.tool === call.tool &&
    (grant.params === undefined || grant.params === call.params || grant.decision === "denied")
  )

/** Whether a grant was surely made before a turn, and can be read in it: its answer had its effect, and nothing failed. */
export const isSure = (record: Record.Record, turn: Record.Turn, grant: Grant): boolean => {
  const given = record.turns[grant.turn]!
  const request = record.requests.find(({ approvalId }) => approvalId === grant.approvalId)
  if (request === undefined || given.ending !== "success") return false
  if (given.step >= turn.step || View.isTroubledSince(record, given.step, turn.step)) return false
  // What the policy failed to judge is not remembered.
  if (View.verdictOf(record, given, request.call) !== "ask") return false
  if (grant.isInline) {
    return request.turn === grant.turn && (grant.decision === "denied" ||
      record.runs.some((run) =>
        run.turn === grant.turn && run.call.id === request.call.id && run.outcome === "succeeded"
      ))
  }
  return grant.decision === "denied" && isFirstAnswered(record, given, request)
}

/** Whether a history answers, for the first time, to a request that the turn before gave out, in the same circumstances. */
const isFirstAnswered = (
  record: Record.Record,
  turn: Record.Turn,
  { approvalId, call, turn: asking }: Record.Request
) => {
  const before = record.turns.findLast(({ index, primary }) => primary && index < turn.index)
  return turn.primary && !turn.tampered && before?.index === asking && before.plan.delivery._tag === "Once" &&
    turn.plan.delivery._tag === "Once" && turn.plan.resolve && turn.plan.toolkit === "full" && !turn.plan.object &&
    View.isPrompted(turn, approvalId) && before.circumstances.scope === turn.circumstances.scope &&
    before.circumstances.key === turn.circumstances.key &&
    (before.circumstances.drift[call.tool] ?? "none") === (turn.circumstances.drift[call.tool] ?? "none") &&
    record.requests.every((request) => request.approvalId !== approvalId || turn.endedAt < request.expiresAt)
}
