/** The laws of how a conversation goes on: L5, L6, L7, L8, L10, L12. */
import { Cause } from "effect"
import type { Prompt } from "../../src/index.ts"
import { StrictProvider } from "../../src/testing/index.ts"
import * as Hosted from "./hosted.ts"
import type * as Justify from "./justify.ts"
import type { Law } from "./laws.ts"
import * as Notes from "./notes.ts"
import * as Record from "./record.ts"
import * as Remembered from "./remembered.ts"
import * as View from "./view.ts"
import * as Waits from "./waits.ts"

const finishOf = (turn: Record.Turn): string | undefined =>
  turn.parts.findLast((part) => part.type === "finish")?.reason

const isRequired = (turn: Record.Turn, approvalId: string): boolean =>
  turn.required?.requests.some((request) => request.approvalId === approvalId) === true

/** Whether a turn says that a request is still open, as its kind of call says it. */
const saysOpen = (turn: Record.Turn, approvalId: string): boolean =>
  turn.ending === "success" ? View.requestIdsOf(turn).includes(approvalId) : isRequired(turn, approvalId)

const resultOf = (turn: Record.Turn, approvalId: string): View.Result | undefined =>
  View.resultsOf(turn).find((result) => View.approvalIdOf(result) === approvalId)

/** Failures that have nothing to do with the requests of the history: a handler's, or an approval that is not good. */
const hasOtherReason = (turn: Record.Turn): boolean => turn.ending === "failure" && turn.required === undefined

/** L5 Partial batch waits. */
export const L5: Law = {
  name: "L5",
  title: "while a request is open the model is not called, and the request is given again with the same id",
  check: ({ predictions, record }) => [
    ...predictions.flatMap(({ fate, request, turn }) => {
      if (fate !== "waits") return []
      if (turn.sent.length > 0) {
        return [`the model was called in turn ${turn.index} while call ${request.call.id} waits`]
      }
      return hasOtherReason(turn) || saysOpen(turn, request.approvalId)
        ? []
        : [`turn ${turn.index} does not give the open request of call ${request.call.id} again`]
    }),
    ...record.turns.flatMap((turn) => {
      const given = View.requestIdsOf(turn)
      const breaches: Array<string> = []
      if (new Set(given).size < given.length) breaches.push(`turn ${turn.index} gives one request twice`)
      // A policy that fails the second time it is asked may hold a hosted call when the turn goes on from inline answers.
      const mayHold = turn.circumstances.policy === "fail later" && turn.sent.length > 0
      const again = given.filter((approvalId) =>
        View.isPrompted(turn, approvalId) &&
        !(mayHold && record.hosted.some((hosted) => hosted.approvalId === approvalId))
      )
      if (again.length > 0 && turn.sent.length > 0) {
        breaches.push(`the model was called in turn ${turn.index}, which ends with requests of the history`)
      }
      if (again.length > 0 && turn.ending === "success" && finishOf(turn) !== "pause") {
        breaches.push(`turn ${turn.index} waits but finishes with ${finishOf(turn)}`)
      }
      return breaches
    })
  ],
  concerns: ({ predictions }) => predictions.some(({ fate }) => fate === "waits")
}

/** L6 A new user message. */
export const L6: Law = {
  name: "L6",
  title: "a new user message supersedes, keeps, holds or fails an open request, as the program wants it",
  check: ({ justified, predictions, record }) => [
    ...predictions.flatMap(({ fate, isWhole, request, turn }) => {
      const others = predictions.filter((other) => other.turn === turn)
      const result = resultOf(turn, request.approvalId)
      switch (fate) {
        case "superseded":
          return turn.ending !== "success" || (result?.isFailure === true && /superseded/i.test(reasonOf(result)))
            ? []
            : [`turn ${turn.index} does not say that call ${request.call.id} is superseded`]
        case "kept": {
          if (turn.ending !== "success" || !isWhole || others.some((other) => other.fate !== "kept")) return []
          const prompt = turn.sent.at(-1)?.prompt
          if (prompt === undefined) {
            return Notes.endsWithModel(turn.prompt)
              ? []
              : [`the model was not called in turn ${turn.index}, which keeps its request`]
          }
          return waitingIn(prompt, request.call.id) ? [] : [`the model does not see that call ${request.call.id} waits`]
        }
        case "fails":
          return turn.sent.length === 0 && turn.ending === "failure"
            ? []
            : [`turn ${turn.index} goes on though call ${request.call.id} is open`]
        default:
          return []
      }
    }),
    ...predictions.flatMap(({ fate, request, turn }) =>
      fate !== "superseded" || turn.ending !== "success" ?
        [] :
        justified.flatMap(({ isDirect, requests, run }) =>
          !isDirect && requests.length === 1 && requests[0] === request && record.turns[run.turn]!.step > turn.step
            ? [`call ${request.call.id} ran in turn ${run.turn} after it was superseded in turn ${turn.index}`]
            : []
        )
    )
  ],
  concerns: ({ predictions, record }) =>
    predictions.some(({ fate, turn }) =>
      fate === "superseded" || fate === "kept" || fate === "fails" ||
      (fate === "waits" && turn.plan.say !== "nothing") || turn.plan.say === "before"
    ) && record.closing > 0
}

const reasonOf = (result: View.Result): string => View.reasonIn(result.encodedResult) ?? ""

const waitingIn = (prompt: Prompt.Prompt, callId: string): boolean =>
  prompt.content.some((message) =>
    message.role === "tool" &&
    message.content.some((part) =>
      part.type === "tool-result" && part.id === callId && /waiting/i.test(View.reasonIn(part.result) ?? "")
    )
  )

/** L7 Well-formed always. */
export const L7: Law = {
  name: "L7",
  title: "what the provider receives is well-formed, and what did not change is the same object",
  check: ({ record }) => [
    ...record.turns.flatMap((turn) =>
      turn.sent.flatMap(({ incremental, prompt }) => [
        ...StrictProvider.check(prompt, allowedIn(record, turn)).map((problem) =>
          `turn ${turn.index} sends [${problem.rule}] ${problem.message}`
        ),
        ...(incremental === undefined ?
          [] :
          StrictProvider.check(incremental, { ...allowedIn(record, turn), incremental: true }).map((problem) =>
            `turn ${turn.index} adds [${problem.rule}] ${problem.message}`
          )),
        ...(!turn.tampered && toldTwice(prompt) ? [`turn ${turn.index} tells one late result twice`] : []),
        ...(saysEverything(turn.prompt, prompt) ? [] : [`turn ${turn.index} loses or rewrites what a user said`])
      ])
    ),
    ...record.turns.flatMap(callsForNothing),
    ...pairsOf(record).flatMap(([before, after]) => {
      const changed = before.prompt.content.findIndex((message, index) => {
        const now = after.prompt.content[index]
        // A result that the engine added may stand in the history by now, as a message nobody touched.
        // What a provider of ours is given back of its own requests is written anew each time.
        return message !== now && !after.turn.prompt.content.includes(now!) && !Hosted.holdsRequest(message)
      })
      return changed < 0 ? [] : [`message ${changed} of turn ${after.turn.index} is not the object it was before`]
    })
  ],
  concerns: ({ record }) => record.turns.some((turn) => turn.sent.length > 0 && turn.prompt.content.some(isApproval))
}

// A program that sends what the model said at the end lets it go on from there.
const allowedIn = (record: Record.Record, turn: Record.Turn) => ({
  allowProviderApprovals: Hosted.allowedIn(record, turn),
  allowPrefill: Notes.isPrefilled(turn.prompt)
})

// Where nobody said anything to the model, and nothing came of what was answered.
const callsForNothing = (turn: Record.Turn): ReadonlyArray<string> =>
  turn.ending === "success" && finishOf(turn) === "stop" && turn.sent.length === 0 &&
    !Notes.endsWithModel(turn.prompt)
    ? [`turn ${turn.index} does not call the model, which was not the last to say something`]
    : []

// Some providers use ids again: of as many calls as many may be told of.
// A late denial is told apart from a result that said the call may be asked again.
const toldTwice = (prompt: Prompt.Prompt): boolean => {
  const late = Notes.lateIn(prompt)
  return late.some(({ outcome, toolCallId }) =>
    late.filter((other) => other.toolCallId === toolCallId && (other.outcome === "denied") === (outcome === "denied"))
      .length >
      prompt.content.filter((message) =>
        message.role === "assistant" &&
        message.content.some((part) => part.type === "tool-call" && part.id === toolCallId)
      ).length
  )
}

const isApproval = (message: Prompt.Message): boolean =>
  (message.role === "assistant" || message.role === "tool") &&
  message.content.some((part) => part.type === "tool-approval-request" || part.type === "tool-approval-response")

const saysEverything = (given: Prompt.Prompt, sent: Prompt.Prompt): boolean => {
  const said = sent.content.filter((message) =>
    (message.role === "user" && !Notes.isNote(message)) || message.role === "system"
  )
  return given.content.filter((message) => message.role === "user" || message.role === "system")
    .every((message, index) => message === said[index])
}

/** Prompts that follow one another in one process, with nothing in between that would change what was sent. */
const pairsOf = (record: Record.Record) => {
  const sent = record.turns.flatMap((turn) =>
    // What is answered inline is in the prompts of that turn only.
    turn.primary && turn.sent.length > 0 ? [{ turn, prompt: turn.sent[0]!.prompt }] : []
  )
  return sent.flatMap((after, index) => {
    const before = sent[index - 1]
    if (before === undefined || after.turn.tampered || before.turn.ending !== "success") return []
    if (Waits.holdsPlace(record, before.turn)) return []
    // What was to be approved has begun since, and waits for something else: the place of its result says so.
    if (record.askings.some(({ turn }) => turn > before.turn.index && turn <= after.turn.index)) return []
    // Of a model that said nothing, the history cannot tell what it was told: of what waits, or that it was cut.
    const isNoted = before.prompt.content.slice(-1).some(Notes.isNote)
    if ((isNoted || record.plan.options.onNewMessage === "keep") && !before.turn.parts.some(isSaid)) return []
    const isInline = ({ turn }: { readonly turn: Record.Turn }) =>
      record.hosted.some((hosted) => Hosted.isAnsweredInline(record, turn, hosted))
    if (isInline(before) || isInline(after) || Hosted.isContradicted(after.turn.prompt)) return []
    // Of two turns that say different things at once, the last one's words are kept.
    if (before.turn.plan.delivery._tag === "Twice" && before.turn.plan.delivery.rival) return []
    const steps = record.plan.steps.slice(before.turn.step, after.turn.step)
    // A provider of ours that is given back its requests gets a prompt that is written anew each time.
    if (before.prompt.content.some(Hosted.holdsRequest) || after.prompt.content.some(Hosted.holdsRequest)) return []
    const isReloaded = before.turn.process !== after.turn.process || steps.some((step) => step._tag === "Restart")
    return isReloaded ? [] : [[before, after] as const]
  })
}

const isSaid = ({ type }: Record.Turn["parts"][number]): boolean =>
  type === "text" || type === "text-delta" || type === "tool-call"

/** L8 Isolation. */
export const L8: Law = {
  name: "L8",
  title: "what one call does is neither lost, interrupted nor repeated because of another",
  check: ({ justified, record }) => [
    ...record.turns.flatMap((turn) =>
      turn.unfinished > 0 && turn.ending === "success"
        ? [`turn ${turn.index} ended while ${turn.unfinished} of its runs went on`]
        : []
    ),
    ...justified.flatMap(({ isDirect: isUnasked, run }) => {
      const turn = record.turns[run.turn]!
      // What a guard has asked about is its caller's too.
      const isDirect = isUnasked || View.isGuarded(run.call)
      const breaches: Array<string> = []
      const closed = record.closed.find(({ process }) => process === run.process)
      const isInterrupted = !isDirect && run.outcome === "interrupted" &&
        (closed === undefined || run.endedAt < closed.at)
      if (isInterrupted && !isEnded(record, run) && !isStopped(record, run)) {
        breaches.push(`run ${run.number} was interrupted`)
      }
      if (!isDirect && closed !== undefined && isCut(run, closed.at) && !isStopped(record, run)) {
        breaches.push(`run ${run.number} was interrupted when its process was closed, without its grace`)
      }
      if (!isDirect && turn.ending === "failure" && turn.unfinished > 0) {
        breaches.push(`turn ${turn.index} failed while ${turn.unfinished} of its runs went on`)
      }
      // What is stopped just when it is done is unknown.
      if (turn.ending === "success" && !isStopped(record, run) && isDone(run)) {
        const given = View.resultsOf(turn).filter((result) => View.marksIn(result.encodedResult).includes(run.number))
        if (given.length !== 1) {
          breaches.push(`turn ${turn.index} gives the result of run ${run.number} ${given.length} times`)
        }
      }
      return breaches
    }),
    ...lostAtTheEnd(record, justified)
  ],
  concerns: ({ record }) =>
    record.turns.some((turn) => {
      const runs = record.runs.filter((run) => run.turn === turn.index)
      return runs.length > 1 || (runs.length > 0 && View.requestIdsOf(turn).length > 0)
    })
}

const isDone = ({ outcome }: Record.Run): boolean => outcome === "succeeded" || outcome === "failed"

/** Whether a run was interrupted before its process's grace was over. */
const isCut = (run: Record.Run, closedAt: number): boolean =>
  run.outcome === "interrupted" && run.endedAt >= closedAt && run.endedAt < closedAt + View.grace

const isStopped = (record: Record.Record, { call }: Record.Run): boolean =>
  View.isStopped(record, record.requests.filter((request) => request.call.id === call.id))

/** Whether the process of a run ended, as a shutdown or a crash ends it. */
const isEnded = (record: Record.Record, run: Record.Run): boolean =>
  record.steps.includes("Restart") || record.steps.includes("Time") ||
  record.crashed.includes(run.process) ||
  record.turns.slice(record.closing).filter(({ primary }) => primary).every((turn) => turn.ending !== "success")

/** Results of approved calls that the model still does not see when everything is over. */
const lostAtTheEnd = (record: Record.Record, justified: ReadonlyArray<Justify.Justified>): ReadonlyArray<string> => {
  const last = record.turns.findLast(({ primary }) => primary)
  const prompt = last?.sent.at(-1)?.prompt
  if (last === undefined || prompt === undefined || last.tampered) return []
  const calls = prompt.content.flatMap((message) =>
    message.role === "assistant" ? message.content.filter((part) => part.type === "tool-call") : []
  )
  const results = prompt.content.flatMap((message) =>
    message.role === "tool" ? message.content.filter((part) => part.type === "tool-result") : []
  )
  return justified.flatMap(({ isDirect, requests, run }) => {
    if (isDirect || run.outcome !== "succeeded" || requests.length !== 1) return []
    if (View.isUnwritten(record, run) || isStopped(record, run)) return []
    if (View.isTroubledSince(record, record.turns[run.turn]!.step)) return []
    // A turn that cannot read the approval says so in the place of the result.
    if (record.turns.slice(run.turn).some((turn) => !View.isValid(turn, requests[0]!))) return []
    const siblings = justified.filter((other) => other.requests.includes(requests[0]!))
    const called = calls.filter((call) => call.id === run.call.id)
    const isThere = called.length === 1 && called[0]!.name === run.call.tool &&
      Record.canonical(called[0]!.params) === run.call.params
    if (!isThere || siblings.length !== 1) return []
    // An answer inline is a matter of the turn: if that failed, its request went with it.
    if (!View.isPrompted(last, requests[0]!.approvalId)) return []
    const given = [...results, ...Notes.lateIn(prompt)].filter((told) => View.marksIn(told).includes(run.number))
    return given.length === 1 ? [] : [`in the end the model sees the result of run ${run.number} ${given.length} times`]
  })
}

/** L10 Drift. */
export const L10: Law = {
  name: "L10",
  title: "whatever was taken away or changed: a result that says so, no defect, and the conversation goes on",
  check: ({ justified, predictions, record }) => [
    ...record.turns.flatMap((turn) => {
      if (turn.ending === "stuck") return [`turn ${turn.index} never ends`]
      const defects = turn.cause === undefined ?
        [] :
        turn.cause.reasons.filter(Cause.isDieReason).filter(({ defect }) =>
          !String(defect).includes(Record.secrets.handler)
        )
      return defects.map(({ defect }) => `turn ${turn.index} dies with ${String(defect)}`)
    }),
    ...record.turns.slice(record.closing).filter(({ primary }) => primary).flatMap((turn, index, closing) => {
      if (turn.ending === "success" && turn.sent.length === 1) return []
      // The first may join a run that a reader left behind, and fail as that does. It, or the one after that failure, may
      // wait for what such a run came to ask.
      const isJoined = index === 0 &&
        [...record.runs, ...record.resumptions].some((run) => run.outcome === "died" || run.outcome === "failed")
      const isFirst = index === 0 || (index === 1 && closing[0]!.ending === "failure")
      const isAsked = isFirst && turn.sent.length === 0 &&
        record.askings.some(({ approvalId }) =>
          View.requestIdsOf(turn).includes(approvalId) && !View.isPrompted(turn, approvalId)
        )
      // A forged call has taken the id of one that waits, or a waiting request of another call was hung on it, as if its run
      // had gone on to ask that: a program cannot tell what it asks for, so it is not denied, and holds what waits for it.
      const isHidden = turn.ending === "failure" &&
        (record.tampered.includes("forge call") || record.tampered.includes("launder approval")) &&
        record.plan.options.onNewMessage === "fail" && turn.required !== undefined &&
        turn.required.requests.every(({ approvalId, awaited }) =>
          awaited !== undefined &&
          record.turns.slice(0, turn.index).some((before) => View.requestIdsOf(before).includes(approvalId))
        )
      return (isJoined && turn.ending === "failure") || (isAsked && turn.ending === "success") || isHidden
        ? []
        : [`with everything healed, turn ${turn.index} is a ${turn.ending} with ${turn.sent.length} calls of the model`]
    }),
    ...justified.flatMap(({ isDirect, requests, run }) => {
      if (isDirect || requests.length === 0) return []
      const { drift } = record.turns[run.turn]!.circumstances
      const { tool } = run.call
      return requests.every((request) =>
          (record.turns[request.turn]!.circumstances.drift[tool] ?? "none") !== (drift[tool] ?? "none")
        )
        ? [`run ${run.number} of ${tool}, which is not what it was when the person was asked`]
        : []
    }),
    ...predictions.flatMap(({ fate, request, turn }) => {
      if (turn.ending !== "success" || (fate !== "drifted" && fate !== "no tools")) return []
      return resultOf(turn, request.approvalId)?.isFailure === true
        ? []
        : [`turn ${turn.index} does not say why call ${request.call.id} cannot run (${fate})`]
    })
  ],
  concerns: ({ predictions, record }) =>
    predictions.some(({ fate }) => fate === "drifted" || fate === "no tools") ||
    record.tampered.some((how) => how.startsWith("drop") || how === "trim" || how === "swap messages")
}

/** L12 generateObject. */
export const L12: Law = {
  name: "L12",
  title: "a finished value cannot wait: with an open request generateObject fails, and nothing runs",
  check: ({ justified, record }) =>
    record.turns.flatMap((turn) => {
      if (!isObject(record, turn) || !(turn.ending === "success" || turn.ending === "failure")) return []
      const breaches: Array<string> = []
      // Who resolves calls themselves is given everything as it is.
      if (turn.ending === "success" && turn.plan.resolve && View.requestIdsOf(turn).length > 0) {
        breaches.push(`turn ${turn.index} gives a finished value with an open request`)
      }
      if (turn.ending === "success") {
        breaches.push(...unaskedOf(record, turn).map((call) => `turn ${turn.index} does not wait for call ${call.id}`))
      }
      if (turn.required !== undefined) {
        // A call of the history may come again, just as it was: what its request lets run is the one of the history.
        const ran = justified.filter(({ requests, run }) =>
          run.turn === turn.index && View.isReceived(turn, run.call) &&
          !requests.some(({ approvalId }) => View.isPrompted(turn, approvalId))
        )
        // What has begun and waits is no reason for its siblings not to run.
        const waits = turn.required.requests.some((request) =>
          request.awaited === undefined && !View.isPrompted(turn, request.approvalId)
        )
        if (waits) {
          breaches.push(...ran.map(({ run }) => `run ${run.number} of ${run.call.tool}, while another call waits`))
        }
      }
      return breaches
    }),
  concerns: ({ record }) => record.turns.some((turn) => isObject(record, turn) && turn.required !== undefined)
}

/** Calls a person should be asked about, in a turn that can ask. */
const unaskedOf = (record: Record.Record, turn: Record.Turn): ReadonlyArray<Record.Received> => {
  const { circumstances: { controller }, plan: { model, resolve, toolkit } } = turn
  if (controller !== "defer" || !resolve || toolkit !== "full" || model.finish !== "complete") return []
  if (turn.sent.length === 0) return []
  // Parameters that cannot run are nobody's to decide: such a call has failed.
  const failed = View.resultsOf(turn).filter(({ isFailure }) => isFailure)
  return turn.received.filter((call) =>
    !failed.some(({ id, name }) => View.isReceived(turn, { ...call, id }) && name === call.tool) &&
    View.verdictOf(record, turn, call) === "ask" && !Remembered.hasSay(record, turn, call)
  )
}

const isObject = (record: Record.Record, turn: Record.Turn): boolean =>
  turn.plan.object && !record.plan.options.way.endsWith("streamText")
