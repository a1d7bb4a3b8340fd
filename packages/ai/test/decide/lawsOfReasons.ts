/**
 * Why each decision is made: exactly when its reason holds. So whoever has a right to a run gets it, whoever can be asked
 * is asked, and nothing is told, kept open or ended for a reason that is not there. The reasons do not lean on an order.
 */
import * as Truth from "./truth.ts"
import { keyOf, type Law, type Moment } from "./walk.ts"

/** When a decision of this kind is made. */
type Reasons = Readonly<Record<string, (truth: Truth.Truth, moment: Moment) => boolean>>

// =============================================================================
// Calls that nobody was asked about
// =============================================================================

const isWhole = (truth: Truth.Truth): boolean => truth.isUnasked && truth.call.finish !== "cut"

const isGated = (truth: Truth.Truth): boolean => isWhole(truth) && truth.call.tool === "gated"

// Neither the policy nor what is remembered is against it.
const isSuffered = (truth: Truth.Truth): boolean =>
  isGated(truth) && truth.call.verdict!.says !== "blocked" && truth.call.recall !== "denied"

const isPermitted = (truth: Truth.Truth): boolean => {
  if (!isSuffered(truth)) return false
  const { recall, verdict } = truth.call
  return verdict!.says !== "failed" &&
    (recall === "approved" || (recall === "nothing" && verdict!.says === "allowed"))
}

const unasked: Reasons = {
  "Tell cut": ({ call, isUnasked }) => isUnasked && call.finish === "cut",
  "Tell unknownTool": (truth) => isWhole(truth) && (truth.call.tool === "gone" || truth.call.tool === "noToolkit"),
  "Tell unfit": (truth) => isWhole(truth) && truth.call.tool === "unfit",
  "Tell blocked": (truth) => isGated(truth) && truth.call.verdict!.says === "blocked",
  "Tell remembered": (truth) =>
    isGated(truth) && truth.call.verdict!.says !== "blocked" && truth.call.recall === "denied",
  "Run free": (truth) => (isWhole(truth) && truth.call.tool === "free") || isPermitted(truth),
  "Tell unfinished": (truth) => isSuffered(truth) && !isPermitted(truth) && truth.call.finish === "missing",
  "Seal": (truth) => isSuffered(truth) && !isPermitted(truth) && truth.call.finish === "complete"
}

// =============================================================================
// Whose requests these are
// =============================================================================

const isForged = (truth: Truth.Truth): boolean => truth.call.questions === "forged" && !truth.isTold

const proof: Reasons = {
  "Tell lost": ({ call, isAsked, own }) =>
    isAsked ? own.length === 0 : call.questions === "none" && call.way === "history",
  "Tell forged": (truth) => isForged(truth) && !truth.call.denied && truth.call.onInvalid === "result",
  "Fail forged": (truth) => isForged(truth) && !truth.call.denied && truth.call.onInvalid === "fail",
  "Tell denied": (truth) => isForged(truth) && truth.call.denied
}

// =============================================================================
// What was decided before
// =============================================================================

// By its decided request, once every other one that was denied has ended.
const isDecidedAs = (
  truth: Truth.Truth,
  as: (state: ReturnType<typeof Truth.stateOf>, at: number) => boolean
): boolean => {
  if (truth.own.length === 0 || truth.isLost || truth.isTold) return false
  if (truth.deniedPlaces.length > 0 || truth.decidedPlace < 0) return false
  return as(Truth.stateOf(truth.questions[truth.decidedPlace]!), truth.decidedPlace)
}

const mayJoin: ReadonlySet<string> = new Set(["running", "unknown", "done", "failed"])

const goesOnAgain = (truth: Truth.Truth): boolean =>
  isDecidedAs(truth, (_, at) => !truth.cannotRun && truth.isAllowedAgain(at))

// A run that waited and of which nothing is known.
const isForgotten = (truth: Truth.Truth): boolean =>
  truth.isForgotten && truth.own.length > 0 && truth.deniedPlaces.length === 0 && truth.decidedPlace < 0

const isGoing = (truth: Truth.Truth): boolean => truth.isJudged && truth.isReady && truth.mayGoOn

const isGoingUnanswered = (truth: Truth.Truth): boolean => truth.isLeft && truth.fits && truth.mayGoOn

const before: Reasons = {
  "Tell recorded": (truth) =>
    isDecidedAs(
      truth,
      (state) => state !== "suspended" && (!mayJoin.has(state) || (state !== "running" && truth.cannotRun))
    ),
  "Wait": (truth) => isDecidedAs(truth, (state) => state === "running" && truth.cannotRun),
  "Run join": (truth) =>
    isDecidedAs(truth, (state, at) => mayJoin.has(state) && !truth.cannotRun && !truth.isAllowedAgain(at)),
  "Run repeat": (truth) => goesOnAgain(truth) && truth.wait === undefined,
  "Run resume": (truth) =>
    truth.wait !== undefined &&
    (goesOnAgain(truth) || (isGoing(truth) && truth.wait.answer === "fits") || isGoingUnanswered(truth)),
  "Add": (truth) => hasEffect(truth, "Add") || (isGoing(truth) && truth.wait?.answer === "more"),
  "Tell gone": (truth) => isForgotten(truth) && truth.call.wait === "gone",
  "Tell over": (truth) => isForgotten(truth) && truth.call.wait === "over"
}

// =============================================================================
// What the history says of the request
// =============================================================================

const isPassedOver = (truth: Truth.Truth): boolean => truth.isUndecided && !truth.isOver && truth.isPassedOver

const isHosted = ({ call }: Truth.Truth): boolean => call.way === "hosted"

const history: Reasons = {
  "End denied, said": (truth) => {
    if (truth.own.length === 0 || truth.isTold) return false
    if (truth.isLost) return truth.deniedPlaces.length > 0
    return truth.deniedPlaces.length > 0 || (truth.decidedPlace < 0 && !truth.isForgotten && truth.call.denied)
  },
  "Leave": (truth) => truth.isTold || (isHosted(truth) && isPassedOver(truth) && truth.call.onNewMessage === "keep"),
  "End expired, expired": (truth) => truth.isOver && !truth.isHandled,
  "End superseded, superseded": (truth) => isPassedOver(truth) && truth.call.onNewMessage === "supersede",
  "Keep": (truth) => isPassedOver(truth) && !isHosted(truth) && truth.call.onNewMessage === "keep",
  "Fail passedOver": (truth) => isPassedOver(truth) && truth.call.onNewMessage === "fail",
  "Tell noToolkit": (truth) => truth.isOpen && !truth.hasToolkit && truth.wait === undefined && truth.isApproved,
  "Open noToolkit": (truth) =>
    !truth.hasToolkit && ((truth.isOpen && truth.wait?.given === true) || (truth.isOver && truth.isHandled)),
  "End void, drifted": (truth) => truth.isOpen && truth.hasToolkit && truth.hasDrifted
}

// =============================================================================
// What was answered
// =============================================================================

const isAnsweredBy = (truth: Truth.Truth, answer: string): boolean => truth.isRead && truth.wait?.answer === answer

const isTaken = (truth: Truth.Truth): boolean => isAnsweredBy(truth, "fits") || isAnsweredBy(truth, "more")

// It would go on, with an answer or because there is none.
const isWilling = (truth: Truth.Truth): boolean => (truth.isJudged && isTaken(truth)) || truth.isLeft

const isPoliced = (truth: Truth.Truth, says: string): boolean =>
  isWilling(truth) && truth.fits && truth.call.tool === "gated" && truth.call.verdict!.says === says

const hasEffect = (truth: Truth.Truth, effect: Truth.Effect): boolean =>
  truth.isJudged && truth.wait === undefined && truth.isApproved &&
  truth.effectOf(truth.chosenPlace)?.effect === effect

// Here it can only be shown.
const isBare = (truth: Truth.Truth): boolean =>
  truth.isOpen && (truth.hasToolkit
    ? truth.isRead && !truth.isJudged && truth.wait?.answer !== "invalid" && truth.wait?.answer !== "undeliverable"
    : truth.wait === undefined
    ? !truth.isApproved
    : !truth.wait.given)

// Whoever only reads lets nothing go on.
const isLeftToOthers = (truth: Truth.Truth): boolean =>
  truth.isOver && truth.isHandled && truth.hasToolkit && truth.call.powers === "reads"

// Nobody is there to be asked, or was not able to decide.
const isLeftOpen = (truth: Truth.Truth, asked: ReadonlySet<string>): boolean =>
  truth.isForPeople && (!truth.isAnswerable || truth.call.reply !== undefined || asked.has("reply"))

const answers: Reasons = {
  "Open invalidAnswer": (truth) => isAnsweredBy(truth, "invalid"),
  "End void, undeliverable": (truth) => isAnsweredBy(truth, "undeliverable"),
  "End void, unfitParameters": (truth) => isWilling(truth) && truth.wait!.state === "unfitParameters",
  "End void, unfitState": (truth) => isWilling(truth) && truth.wait!.state === "unfitState",
  "Open held": (truth) => isPoliced(truth, "failed") || hasEffect(truth, "Open held"),
  "End denied, blocked": (truth) =>
    isPoliced(truth, "blocked") || hasEffect(truth, "End denied, blocked") ||
    // Nobody answered, and the policy would let nobody.
    (truth.isJudged && truth.hasNoAnswer && truth.call.verdict!.says === "blocked"),
  "End denied, editBlocked": (truth) => hasEffect(truth, "End denied, editBlocked"),
  "End denied, editDenied": (truth) => hasEffect(truth, "End denied, editDenied"),
  "End void, shownChanged": (truth) => hasEffect(truth, "End void, shownChanged"),
  "Open unfitEdit": (truth) => hasEffect(truth, "Open unfitEdit"),
  "Open untrustedEdit": (truth) =>
    hasEffect(truth, "Open untrustedEdit") ||
    (truth.isUnanswered && !truth.isHeld && !truth.chosen.answers.every(Truth.isIdle)),
  "Run claim": (truth) =>
    hasEffect(truth, "Run") || (truth.isFree && truth.isHostedAllowed && truth.call.reply === undefined),
  "End denied, remembered": (truth) => truth.isFree && truth.wait === undefined && truth.isRecalledAsDenied,
  "Open asked": (truth, { asked }) =>
    isBare(truth) || isLeftToOthers(truth) || (truth.isUnanswered && truth.isHeld) ||
    (isLeftOpen(truth, asked) && truth.idle === undefined),
  "Open notAnApprover": (truth, { asked }) => isLeftOpen(truth, asked) && truth.idle === "stranger",
  "Open othersNeeded": (truth, { asked }) => isLeftOpen(truth, asked) && truth.idle === "already"
}

// =============================================================================
// Each as a law
// =============================================================================

export const reasons: Reasons = { ...unasked, ...proof, ...before, ...history, ...answers }

const reasonsLaw = ([key, holds]: [string, Reasons[string]]): Law => ({
  name: key,
  title: "is said exactly when its reason holds",
  holds: (moment) => moment.said._tag === "Need" || (keyOf(moment.said) === key) === holds(moment.truth, moment)
})

export const laws: ReadonlyArray<Law> = [
  ...Object.entries(reasons).map(reasonsLaw),
  {
    name: "reasons",
    title: "there is a reason for everything that is said",
    holds: ({ said }) => said._tag === "Need" || keyOf(said) in reasons
  }
]
