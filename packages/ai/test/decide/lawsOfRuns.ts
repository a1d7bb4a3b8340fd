/** The laws of DESIGN §5 that are about what runs and what is written, whatever the reason that is given for it. */
import * as Truth from "./truth.ts"
import type { Law, Moment } from "./walk.ts"

type Run = Extract<Moment["said"], { _tag: "Run" }>

// Something may happen that did not happen yet.
const runOf = ({ said }: Moment): Run | undefined => said._tag === "Run" && said.as !== "join" ? said : undefined

const questionOf = ({ truth }: Moment, run: Run) => truth.questions[run.at]

const answerOf = (moment: Moment, run: Run) => questionOf(moment, run)?.answers[run.by]

// By an answer that approves, and not because nobody's word is needed.
const isByAnswer = ({ as, by }: Run): boolean => (as === "claim" || as === "repeat") && by >= 0

// No message says yes to it, but it began, and what began was approved.
const isByClaim = ({ as, by }: Run): boolean => as === "repeat" && by < 0

const isApproved = (run: Run): boolean => isByAnswer(run) || isByClaim(run)

const law = (name: string, title: string, holds: (moment: Moment) => boolean): Law => ({ name, title, holds })

const ofRuns = (name: string, title: string, holds: (run: Run, moment: Moment) => boolean): Law =>
  law(name, title, (moment) => {
    const run = runOf(moment)
    return run === undefined || holds(run, moment)
  })

// Nobody says anything about the calls of this tool, so no policy is asked.
const isUnpoliced = (run: Run, { call }: Moment): boolean =>
  call.tool === "free" && (run.as === "free" || run.as === "resume")

const verdictOf = (run: Run, moment: Moment) => {
  const answer = answerOf(moment, run)
  return answer === undefined ? moment.call.verdict! : moment.truth.verdictOf(answer)
}

const namesOf = (run: Run, moment: Moment): boolean => {
  const verdict = verdictOf(run, moment)
  const proposed = moment.call.verdict!
  return (verdict.says === "ask" && verdict.names) ||
    (questionOf(moment, run)?.named === true && proposed.says === "ask" && proposed.names)
}

const isOver = (run: Run, moment: Moment): boolean =>
  questionOf(moment, run)?.expired === true || moment.call.reply === "late"

// A run that has begun goes on because nobody answered it, as its tool says.
const isUnanswered = (run: Run, moment: Moment): boolean =>
  run.as === "resume" && isOver(run, moment) && moment.truth.wait?.expiry === "resumes"

export const laws: ReadonlyArray<Law> = [
  ofRuns(
    "L1",
    "nothing runs where the policy failed",
    (run, moment) => isUnpoliced(run, moment) || verdictOf(run, moment).says !== "failed"
  ),

  ofRuns("L1", "without anybody's word runs only what nobody wants to be asked about", (run, moment) => {
    if (isApproved(run) || run.as === "resume" || isUnpoliced(run, moment)) return true
    const { recall, verdict } = moment.call
    return recall === "approved" || (recall === "nothing" && verdict!.says === "allowed")
  }),

  law(
    "L2",
    "what the journal has decided is not written again",
    ({ said, truth }) => said._tag !== "End" || Truth.isPending(truth.questions[said.at]!)
  ),

  ofRuns(
    "L2",
    "nothing is claimed of a call that was decided before",
    (run, { truth }) =>
      run.as === "repeat" || run.as === "resume" || truth.own.every((at) => Truth.isPending(truth.questions[at]!))
  ),

  ofRuns(
    "L2",
    "only an unfinished run is repeated",
    (run, moment) => run.as !== "repeat" || Truth.isUnfinished(questionOf(moment, run)!)
  ),

  ofRuns("L2", "what waits goes on from where it waits, once", (run, moment) =>
    run.as === "resume"
      ? moment.truth.wait !== undefined &&
        (Truth.isPending(questionOf(moment, run)!) || Truth.isUnfinished(questionOf(moment, run)!))
      : moment.call.wait === undefined),

  ofRuns(
    "L2",
    "nothing runs of a call that has a result",
    (_, { truth }) => !truth.own.some((at) => ["done", "failed"].includes(Truth.stateOf(truth.questions[at]!)))
  ),

  law(
    "L14",
    "that nothing ran is told only where nothing ran",
    ({ said, truth }) =>
      said._tag !== "Tell" || said.why !== "recorded" || Truth.hasBegun(truth.questions[said.at]!) ||
      !truth.own.some((at) => Truth.hasBegun(truth.questions[at]!))
  ),

  ofRuns(
    "L2",
    "what another write decided in between is not run again",
    (_, { truth }) => !truth.own.some((at) => Truth.isWritten(truth.questions[at]!))
  ),

  law("L2", "only what was claimed is joined or waited for", ({ said, truth }) => {
    if (said._tag !== "Wait" && (said._tag !== "Run" || said.as !== "join")) return true
    const question = truth.questions[said.at]!
    return Truth.hasBegun(question) && (said._tag === "Run" || Truth.stateOf(question) === "running")
  }),

  ofRuns(
    "L3",
    "a denial wins over any approval",
    (_, { call, truth }) => !call.denied && !truth.wasDenied && !truth.own.some((at) => truth.isDenied(at))
  ),

  law(
    "L3",
    "each request that was denied is ended before anything is told",
    ({ said, truth }) =>
      said._tag === "Need" || truth.isTold || truth.deniedPlaces.length === 0 ||
      (said._tag === "End" && said.state === "denied" && truth.deniedPlaces.includes(said.at))
  ),

  law("L3", "a request ends as denied by the answer that says so", ({ call, said, truth }) => {
    if (said._tag !== "End" || said.why !== "said") return true
    return said.by === Truth.placeOfNo(truth.questions[said.at]!) && (call.denied || truth.isDenied(said.at))
  }),

  ofRuns("L16", "nothing runs by somebody who may not decide, nor while others are needed", (run, moment) => {
    if (run.as === "resume") return moment.truth.wait?.answer === "fits" || isUnanswered(run, moment)
    if (isByClaim(run)) return !namesOf(run, moment) || questionOf(moment, run)!.claimCounts === true
    const answer = answerOf(moment, run)
    const { verdict } = moment.call
    return answer === undefined || verdict === undefined || !namesOf(run, moment) || answer.who === "counts"
  }),

  law(
    "L16",
    "what somebody approves who is not the last one needed is kept, and nothing else is",
    ({ said, truth }) => {
      if (said._tag !== "Add") return true
      return truth.wait === undefined
        ? truth.questions[said.at]!.answers[said.by]?.who === "more"
        : truth.wait.answer === "more" && said.by < 0
    }
  ),

  ofRuns("L4", "nothing runs by a message without a yes to a request of ours, of this very call", (run, moment) => {
    if (!isApproved(run)) return run.as !== "claim" || moment.call.way === "hosted"
    const question = questionOf(moment, run)
    if (question?.own !== true) return false
    // That it was claimed is a yes to that very run, where no message has one, and to nothing else.
    return isByClaim(run)
      ? Truth.isUnfinished(question) && moment.truth.countingOf(run.at).length === 0
      : question.answers[run.by]!.says !== "no"
  }),

  ofRuns("L4", "parameters of a message run only where somebody vouches for them", (run, moment) => {
    const answer = answerOf(moment, run)
    if (answer?.says !== "edit") return true
    if (answer.leads === "unfit") return false
    return moment.call.trusted || (Truth.canEdit(moment.call.verdict) &&
      (answer.leads === "asProposed" || answer.verdict!.says !== "ask" || answer.verdict!.editable))
  }),

  ofRuns(
    "L4",
    "nothing runs whose time is over, but what its tool does then",
    (run, moment) => !isOver(run, moment) || isUnanswered(run, moment)
  ),

  ofRuns(
    "L4",
    "what waits goes on only with what it asked for, or because nobody answered in time",
    (run, moment) => run.as !== "resume" || (isOver(run, moment) ? moment.truth.fits : moment.truth.isReady)
  ),

  law(
    "L4",
    "a request is made only for a call of this turn whose response is complete",
    ({ call, said }) =>
      said._tag !== "Seal" || (call.questions === "none" && call.way !== "history" && call.finish === "complete")
  ),

  law(
    "L8",
    "a call that needs nobody waits for nothing, and one whose tool needs nobody asks for nothing",
    ({ asked, call, said }) =>
      said._tag !== "Run" || said.as !== "free" || (!asked.has("finish") && (call.tool !== "free" || asked.size === 0))
  ),

  law(
    "L9",
    "a call of the provider is never made, kept, joined or waited for as one of ours",
    ({ call, said }) =>
      call.way !== "hosted" ||
      (said._tag !== "Seal" && said._tag !== "Keep" && said._tag !== "Wait" &&
        (said._tag !== "Run" || said.as === "claim"))
  ),

  law(
    "L9",
    "what the provider was told is not told again",
    ({ said, truth }) => !truth.isTold || said._tag === "Leave"
  ),

  ofRuns("L9", "what the provider runs is what it asked about", (run, moment) => {
    const answer = answerOf(moment, run)
    return moment.call.way !== "hosted" || answer?.says !== "edit" || answer.leads === "asProposed"
  }),

  ofRuns(
    "L10",
    "nothing that drifted runs",
    (run, moment) =>
      moment.truth.isRunnable && (moment.call.way === "hosted" || questionOf(moment, run)?.drifted !== true)
  ),

  law(
    "L10",
    "without a toolkit an approval uses up nothing, and a denial is a denial",
    ({ call, said }) => call.tool !== "noToolkit" || said._tag !== "End" || said.state !== "void"
  ),

  ofRuns(
    "L11",
    "nothing runs that the policy blocks now",
    (run, moment) => isUnpoliced(run, moment) || verdictOf(run, moment).says !== "blocked"
  ),

  ofRuns("L11", "an edit runs only if it was not denied before", (run, moment) => {
    const answer = answerOf(moment, run)
    return answer?.says !== "edit" || answer.leads !== "elsewhere" || answer.deniedBefore === false
  }),

  ofRuns("L11", "what was shown is shown still", (run, moment) => {
    if (!isApproved(run)) return true
    const { shown } = questionOf(moment, run)!
    return shown === "nothing" || (shown === "same" && moment.call.verdict!.says !== "failed")
  }),

  law("L13", "whatever is said of a request is said of one of this very call", ({ said, truth }) => {
    if (!truth.isAsked || said._tag === "Need" || !("at" in said)) return true
    const { own } = truth
    return own.length === 0 ? said._tag === "Tell" : own.includes(said.at)
  }),

  ofRuns("reads", "nothing runs for a caller who only reads", (_, { call }) => call.powers !== "reads"),

  law(
    "reads",
    "nothing is joined for a caller who only reads",
    ({ call, said }) => said._tag !== "Run" || call.powers !== "reads"
  ),

  ofRuns(
    "judges",
    "without a person to be asked, only what was approved runs",
    (run, moment) => moment.call.powers !== "judges" || isApproved(run)
  )
]
