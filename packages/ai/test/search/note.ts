/** Writing down what was asked, and what is told of it in spans. */
import { Cause, Effect, Exit, Option, Tracer } from "effect"
import { type Approval, ApprovalError } from "../../src/index.ts"
import * as Record from "./record.ts"
import * as View from "./view.ts"

/** Writes down a request that was given out. */
export const note = (record: Record.Record, turn: Record.Turn, shown: Approval.ApprovalRequest): void => {
  const hosted = record.hosted.find(({ approvalId }) => approvalId === shown.approvalId)
  if (hosted !== undefined) hosted.shown ??= shown
  if (shown.providerExecuted) return
  if (shown.awaited !== undefined) return noteAsking(record, turn, shown)
  if (record.requests.some((known) => known.approvalId === shown.approvalId)) return
  const call = { id: shown.toolCallId, tool: shown.toolName, params: Record.canonical(shown.params) }
  // One that was left before anybody was asked has it on record.
  const made = View.isReceived(turn, call)
    ? turn
    : record.turns.findLast((left) => left.ending === "left" && View.isReceived(left, call)) ?? turn
  record.requests.push({
    approvalId: shown.approvalId,
    call,
    turn: made.index,
    scope: made.circumstances.scope,
    key: made.circumstances.key,
    expiresAt: shown.expiresAt ?? Infinity,
    shown
  })
}

/** Writes down a request for what a tool waits for. */
const noteAsking = (record: Record.Record, turn: Record.Turn, shown: Approval.ApprovalRequest): void => {
  const { approvalId } = shown
  if (record.askings.some((known) => known.approvalId === approvalId)) return
  const [, start, index] = /^wait (\d+)\/(\d+):/.exec(shown.awaited?.prompt ?? "") ?? []
  const suspension = record.suspensions.find((one) => one.start === Number(start) && one.index === Number(index))
  if (suspension !== undefined) record.askings.push({ approvalId, suspension, turn: turn.index, shown })
}

/** Writes down how a turn ended. */
export const conclude = (record: Record.Record, turn: Record.Turn, exit: Exit.Exit<unknown, unknown>) =>
  Effect.clockWith((clock) =>
    Effect.map(clock.currentTimeMillis, (now) => {
      turn.endedAt = now
      turn.unfinished = [...record.runs, ...record.resumptions].filter((run) =>
        run.turn === turn.index && run.outcome === "running"
      ).length
      if (turn.ending === "stuck") turn.ending = Exit.isSuccess(exit) ? "success" : "failure"
      if (Exit.isSuccess(exit)) return
      turn.cause = exit.cause
      const error = Cause.findErrorOption(exit.cause).pipe(Option.flatMap(approvalErrorOf))
      if (Option.isNone(error) || error.value.reason._tag !== "ApprovalRequired") return
      const { content, requests } = error.value.reason
      turn.required = { requests }
      for (const shown of requests) note(record, turn, shown)
      if (turn.plan.object) turn.parts.push(...content)
    })
  )

const approvalErrorOf = (error: unknown): Option.Option<ApprovalError.ApprovalError> =>
  ApprovalError.fromAiError(error as never)

/** A tracer that writes down everything that is said in spans. */
export const tracerOf = (record: Record.Record): Tracer.Tracer =>
  Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      const write = (text: unknown) => record.spans.push(typeof text === "string" ? text : Record.canonical(text) ?? "")
      write(options.name)
      const { attribute, event } = span
      span.attribute = (key, value) => {
        write(key)
        write(typeof value === "bigint" ? String(value) : value)
        attribute.call(span, key, value)
      }
      span.event = (name, startTime, attributes) => {
        write(name)
        write(attributes)
        event.call(span, name, startTime, attributes)
      }
      return span
    }
  })
