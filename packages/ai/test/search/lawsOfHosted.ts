/** The law of calls that the provider runs itself: L9. */
import type { Prompt } from "../../src/index.ts"
import * as Hosted from "./hosted.ts"
import type { Law } from "./laws.ts"
import * as Provider from "./provider.ts"
import * as Record from "./record.ts"
import * as View from "./view.ts"

/** L9 Provider-executed. */
export const L9: Law = {
  name: "L9",
  title:
    "the provider's requests are answered once, in their place, by whom we ask, and its calls are only its own to run",
  check: ({ record }) =>
    record.hosted.length === 0 ? [] : [
      ...record.runs.flatMap((run) =>
        record.hosted.some(({ callId }) => callId === run.call.id) && !record.tampered.includes("host call")
          ? [`run ${run.number} is of ${run.call.id}, which is the provider's to run`]
          : []
      ),
      ...record.turns.flatMap((turn) => [
        ...turn.sent.flatMap(({ prompt }, round) => [
          ...paired(record, turn, prompt),
          ...consented(record, turn, prompt, round),
          ...(round > 0 || turn.tampered ? [] : [...passedOn(record, turn, prompt), ...unchanged(record, turn, prompt)])
        ]),
        ...given(record, turn),
        ...(turn.tampered ? [] : superseded(record, turn)),
        ...(turn.tampered ? [] : held(record, turn)),
        ...askedFor(record, turn)
      ])
    ],
  concerns: ({ record }) =>
    record.turns.some((turn) =>
      turn.sent.some(({ prompt }) => Hosted.partsOf(prompt).responses.length > 0) || waiting(record, turn).length > 0
    )
}

const tell = (turn: Record.Turn, { approvalId }: Record.Hosted): string => `turn ${turn.index}, ${approvalId}:`

/** Each answer once, behind the call; its request with it where the provider is made by us, and nowhere else. */
const paired = (record: Record.Record, turn: Record.Turn, prompt: Prompt.Prompt): ReadonlyArray<string> => {
  const { calls, requests, responses } = Hosted.partsOf(prompt)
  const expected = record.plan.options.provider === "ours" ? 1 : 0
  return record.hosted.flatMap((hosted) => {
    const answers = responses.filter(({ part }) => part.approvalId === hosted.approvalId)
    const asked = requests.filter(({ part }) => part.approvalId === hosted.approvalId)
    const call = calls.find(({ part }) => part.id === hosted.callId)
    if (answers.length > 1) return [`${tell(turn, hosted)} the provider gets ${answers.length} answers`]
    if (asked.length !== answers.length * expected) {
      return [`${tell(turn, hosted)} the provider gets ${asked.length} requests with ${answers.length} answers`]
    }
    if (answers.length === 0 || turn.tampered) return []
    return call !== undefined && call.at < answers[0]!.at && (asked.length === 0 || asked[0]!.at === call.at)
      ? []
      : [`${tell(turn, hosted)} the answer does not stand behind its call`]
  })
}

/** Nobody but a person, the controller or the policy says yes, and a no wins. */
const consented = (
  record: Record.Record,
  turn: Record.Turn,
  prompt: Prompt.Prompt,
  round: number
): ReadonlyArray<string> => {
  const told = Hosted.toldIn(record, turn.prompt)
  return record.hosted.flatMap((hosted) => {
    const sent = Hosted.partsOf(prompt).responses.find(({ part }) => part.approvalId === hosted.approvalId)
    if (sent?.part.approved !== true) return []
    const history = told.find((one) => one.hosted === hosted)
    const replies = Hosted.repliesTo(record, turn, hosted)
    const verdict = Hosted.verdictOf(record, turn, hosted, round)
    const answers = turn.tampered ? Hosted.answersTo(turn.prompt, hosted) : history?.answers ?? []
    const isNew = record.turns[hosted.turn]!.step === turn.step
    const isApproved = answers.some(({ part }) => part.approved) ||
      replies.some(({ said }) => said === "approve") ||
      (verdict === "allow" && (isNew || Hosted.isTrue(turn, hosted)))
    // A no that comes after the provider was told yes comes too late: it may have run.
    const wasTold = turn.tampered &&
      record.turns.slice(0, turn.index).some((before) =>
        before.sent.some(({ prompt }) =>
          Hosted.partsOf(prompt).responses.some(({ part }) => part.approvalId === hosted.approvalId && part.approved)
        )
      )
    const isDenied = !wasTold && answers.some(({ part }) => !part.approved)
    // Its request was hung on another call, where nobody but the provider can tell that it has been answered.
    const isMoved = turn.tampered &&
      Hosted.partsOf(turn.prompt).requests.some(({ part }) =>
        part.approvalId === hosted.approvalId && part.toolCallId !== hosted.callId
      )
    if (!isApproved && !isMoved) return [`${tell(turn, hosted)} the provider gets an approval that nobody gave`]
    if (isDenied) return [`${tell(turn, hosted)} the provider gets an approval though somebody said no`]
    return (verdict === "block" || verdict === "failed") && history?.result === undefined && replies.length === 0
      ? [`${tell(turn, hosted)} the provider gets an approval though the policy ${verdict}`]
      : []
  })
}

/** What a history answers reaches the provider, with its reason and in its place. */
const passedOn = (record: Record.Record, turn: Record.Turn, prompt: Prompt.Prompt): ReadonlyArray<string> =>
  Hosted.toldIn(record, turn.prompt).flatMap(({ hosted, passedOver, result, standing }) => {
    const sent = Hosted.partsOf(prompt).responses.find(({ part }) => part.approvalId === hosted.approvalId)
    const isSuperseded = passedOver && record.plan.options.onNewMessage === "supersede"
    if (standing === undefined || isSuperseded) {
      const isInline = Hosted.isAnsweredInline(record, turn, hosted)
      return sent === undefined || isInline ? [] : [`${tell(turn, hosted)} an answer that nobody gave in time`]
    }
    if (Hosted.mayBeRefused(record, turn, hosted) && sent?.part.approved === false) return []
    if (sent === undefined) return [`${tell(turn, hosted)} the answer does not reach the provider`]
    const isBlocked = standing.part.approved &&
      (Hosted.verdictOf(record, turn, hosted, 0) === "block" || result?.part.isFailure)
    if (isBlocked && !sent.part.approved) return []
    if (sent.part.approved !== standing.part.approved || sent.part.reason !== standing.part.reason) {
      return [`${tell(turn, hosted)} the provider gets ${sent.part.approved}, ${sent.part.reason}`]
    }
    return sent.users === standing.users ? [] : [`${tell(turn, hosted)} the answer is not in its place`]
  })

/** The calls and their results are what they were. */
const unchanged = (record: Record.Record, turn: Record.Turn, prompt: Prompt.Prompt): ReadonlyArray<string> => {
  const before = Hosted.partsOf(turn.prompt)
  const now = Hosted.partsOf(prompt)
  return record.hosted.flatMap(({ callId }) => {
    const had = before.calls.filter(({ part }) => part.id === callId).map(({ part }) => part)
    const has = now.calls.filter(({ part }) => part.id === callId).map(({ part }) => part)
    const hadResults = before.results.filter(({ part }) => part.id === callId && !Hosted.isSuperseded(part))
    const hasResults = now.results.filter(({ part }) => part.id === callId)
    if (Record.canonical(had) !== Record.canonical(has)) return [`turn ${turn.index} changes the call ${callId}`]
    if (hadResults.length > 0 && hasResults.length === 0) return [`turn ${turn.index} loses the result of ${callId}`]
    return []
  })
}

/** What comes out of a turn: calls as the provider made them, and no result but the provider's or a denial. */
const given = (record: Record.Record, turn: Record.Turn): ReadonlyArray<string> =>
  turn.parts.flatMap((part) => {
    if (part.type !== "tool-call" && part.type !== "tool-result") return []
    const hosted = record.hosted.find(({ callId }) => callId === part.id)
    if (hosted === undefined) {
      return part.providerExecuted && !turn.tampered
        ? [`turn ${turn.index} makes up ${part.id}, a ${part.type} of the provider's`]
        : []
    }
    if (turn.tampered && !part.providerExecuted) return []
    // A denial has the name that the history gives the call.
    const isRenamed = part.name !== hosted.plan.tool && !(turn.tampered && part.type === "tool-result")
    if (!part.providerExecuted || isRenamed) {
      return [`turn ${turn.index} makes ${part.id} another's ${part.type}`]
    }
    if (part.type === "tool-call" || JSON.stringify(part.encodedResult).includes(Provider.markOf(part.id))) return []
    const isDenied = Hosted.verdictOf(record, turn, hosted) === "block" || Hosted.mayBeRefused(record, turn, hosted) ||
      Hosted.repliesTo(record, turn, hosted).some(({ said }) => said === "deny")
    const said = Hosted.toldIn(record, turn.prompt).find((told) => told.hosted === hosted)
    // Whoever answers what has its result is told that again.
    if (
      said?.result !== undefined && Record.canonical(said.result.part.result) === Record.canonical(part.encodedResult)
    ) {
      return turn.sent.length === 0 ? [] : [`${tell(turn, hosted)} is told again, and the model is called`]
    }
    if (Hosted.isSuperseded({ ...part, result: part.encodedResult })) {
      return turn.tampered || (said !== undefined && isPassedOver(record, turn, said))
        ? []
        : [`${tell(turn, hosted)} is superseded by nothing`]
    }
    return part.isFailure && isDenied && View.reasonIn(part.encodedResult) !== undefined
      ? []
      : [`turn ${turn.index} answers for the provider: ${JSON.stringify(part.encodedResult)}`]
  })

/** Whether a new message came before anybody answered, and nothing has been said of that. */
const isPassedOver = (
  { plan }: Record.Record,
  { prompt }: Record.Turn,
  { answers, request, result }: Hosted.Told
): boolean =>
  plan.options.onNewMessage === "supersede" && answers.length === 0 && result === undefined &&
  View.hasMessageAfter(prompt, request.part.approvalId)

/** What was passed over is said, once, in the turn that does so, and the provider hears nothing of it. */
const superseded = (record: Record.Record, turn: Record.Turn): ReadonlyArray<string> =>
  turn.ending !== "success" ? [] : Hosted.toldIn(record, turn.prompt).flatMap((told) => {
    const { hosted } = told
    if (!isPassedOver(record, turn, told)) return []
    const times = View.resultsOf(turn).filter(({ id }) => id === hosted.callId).length
    if (times !== 1) return [`${tell(turn, hosted)} that it was passed over is said ${times} times`]
    const isHeard = turn.sent.some(({ prompt }) =>
      Hosted.partsOf(prompt).results.some(({ part }) => part.id === hosted.callId)
    )
    return isHeard ? [`${tell(turn, hosted)} the provider is told a result that it did not give`] : []
  })

/** Requests of a history that are open, and that nobody here can answer. */
const waiting = (record: Record.Record, turn: Record.Turn): ReadonlyArray<Hosted.Told> => {
  const { circumstances: { controller, policy }, ending } = turn
  if (turn.tampered || controller !== "defer" || (ending !== "success" && ending !== "failure")) return []
  return Hosted.toldIn(record, turn.prompt).filter(({ answers, hosted, request, result }) =>
    answers.length === 0 && result === undefined && !policy.startsWith("block") && policy !== "allow" &&
    !Hosted.mayBeRefused(record, turn, hosted) &&
    (record.plan.options.onNewMessage === "hold" || !View.hasMessageAfter(turn.prompt, request.part.approvalId))
  )
}

/** While a request is open the model is not called; nor when the policy cannot say that an approval still holds. */
const held = (record: Record.Record, turn: Record.Turn): ReadonlyArray<string> => [
  ...waiting(record, turn).flatMap(({ hosted }) => {
    if (turn.sent.length > 0) return [`${tell(turn, hosted)} the model is called while it waits`]
    const isGiven = turn.ending === "success"
      ? View.requestIdsOf(turn).includes(hosted.approvalId)
      : turn.required === undefined || turn.required.requests.some((one) => one.approvalId === hosted.approvalId)
    return isGiven ? [] : [`${tell(turn, hosted)} is open and not given again`]
  }),
  ...Hosted.toldIn(record, turn.prompt).flatMap(({ hosted, result, standing }) =>
    standing?.part.approved === true && result === undefined && turn.sent.length > 0 &&
      Hosted.verdictOf(record, turn, hosted, 0) === "failed" && Hosted.repliesTo(record, turn, hosted).length === 0
      ? [`${tell(turn, hosted)} the model is called though the policy failed`]
      : []
  )
]

/** A request of a response is either given to the program, as what it is, or answered inline. */
const askedFor = (record: Record.Record, turn: Record.Turn): ReadonlyArray<string> =>
  record.hosted.flatMap((hosted) => {
    const { about, approvalId, callId, plan, shown } = hosted
    if (shown !== undefined && hosted.turn === turn.index) {
      const isSame = shown.toolCallId === callId && shown.toolName === about.toolName && shown.providerExecuted &&
        Record.canonical(shown.params) === about.params
      if (!isSame) return [`${tell(turn, hosted)} is shown as ${shown.description}`]
    }
    if (!plan.asks || hosted.turn !== turn.index || turn.plan.model.finish !== "complete") return []
    const isOver = turn.ending === "success" || (turn.ending === "failure" && turn.required !== undefined)
    if (!isOver || turn.sent.length === 0) return []
    const times = turn.ending === "success"
      ? View.requestIdsOf(turn).filter((id) => id === approvalId).length
      : turn.required!.requests.filter((request) => request.approvalId === approvalId).length
    // A denial is in the history as the call's result, even if the model is not called again.
    const isDenied = View.resultsOf(turn).some((result) => result.id === callId && result.isFailure)
    const isAnswered = isDenied ||
      turn.sent.slice(1).some(({ prompt }) =>
        Hosted.partsOf(prompt).responses.some(({ part }) => part.approvalId === approvalId)
      )
    return times + (isAnswered ? 1 : 0) === 1 ? [] : [
      `${tell(turn, hosted)} is given ${times} times and ${isAnswered ? "" : "not "}answered inline`
    ]
  })
