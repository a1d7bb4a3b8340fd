/** The laws of what is asked for on the way, and of the places that a decision names. */
import type { Need } from "../../src/internal/decide/decision.ts"
import * as Truth from "./truth.ts"
import { isSame, type Law, type Moment } from "./walk.ts"

const law = (name: string, title: string, holds: (moment: Moment) => boolean): Law => ({ name, title, holds })

/** What takes anybody's time, code or patience. */
const costly: ReadonlySet<string> = new Set([
  "verdict",
  "shown",
  "leads",
  "editVerdict",
  "editDenied",
  "recall",
  "reply",
  "answer",
  "state",
  "finish"
])

const asksAny = (asks: ReadonlyArray<Need>, facts: ReadonlySet<string>): boolean =>
  asks.some(({ fact }) => facts.has(fact))

const isCostly = (asks: ReadonlyArray<Need>, truth: Truth.Truth): boolean =>
  asks.some(({ fact }) => costly.has(fact) && !(fact === "verdict" && truth.isDenialJudged))

// Nothing that anybody says now changes what became of it.
const wasDecided = ({ decidedPlace, questions }: Truth.Truth): boolean => {
  const question = questions[decidedPlace]
  return question !== undefined && !Truth.isWritten(question) && !Truth.isUnfinished(question)
}

const keyOfNeed = (need: Need): string => `${need.fact} ${"at" in need ? need.at : ""} ${"by" in need ? need.by : ""}`

const isRepeated = (asks: ReadonlyArray<Need>): boolean => new Set(asks.map(keyOfNeed)).size < asks.length

/** What is looked at only where the call can run. */
const ofRuns: ReadonlySet<string> = new Set(["leads", "editVerdict", "editDenied", "shown", "state", "recall", "reply"])

export const laws: ReadonlyArray<Law> = [
  law("facts", "a decision stays when more is known", ({ knowingAll, said }) => isSame(said, knowingAll)),

  law("facts", "no fact is asked for twice", ({ asks }) => asks.length < 2 || !isRepeated(asks)),

  law(
    "facts",
    "a fact is asked for only of a request, an answer or a wait that is there",
    ({ asks, truth }) =>
      asks.every((need) => {
        if (need.fact === "answer" || need.fact === "state") return truth.wait !== undefined
        if (!("at" in need)) return true
        const question = truth.questions[need.at]
        if (question === undefined) return false
        if (need.fact === "own") return true
        if (question.own !== true) return false
        if (need.fact === "who") return question.answers[need.by] !== undefined
        return !("by" in need) || question.answers[need.by]?.says === "edit"
      })
  ),

  law(
    "costly",
    "a denial asks no policy, no memory and no person",
    ({ asks, call }) => !asksAny(asks, costly) || !call.denied
  ),

  law(
    "costly",
    "nobody is asked about a call that was decided before, but its policy about a denial",
    ({ asks, truth }) => !isCostly(asks, truth) || !wasDecided(truth)
  ),

  law(
    "costly",
    "a caller who only reads asks nobody",
    ({ asks, call }) => asks.every(({ fact }) => fact === "answer" || !costly.has(fact)) || call.powers !== "reads"
  ),

  law(
    "costly",
    "without a person to be asked neither a person nor memory is",
    ({ asked, call }) => (!asked.has("recall") && !asked.has("reply")) || call.powers !== "judges"
  ),

  law(
    "costly",
    "what a call leads to is looked at only where it can run",
    ({ asks, truth }) => !asksAny(asks, ofRuns) || truth.isRunnable
  ),

  law(
    "costly",
    "no policy is asked whether a run goes on of whose tool nobody says anything",
    ({ asked, call, truth }) => !asked.has("verdict") || truth.wait === undefined || call.tool === "gated"
  ),

  law(
    "costly",
    "memory is asked only where it decides: an approval uses up a use",
    ({ asked, call, truth, writes }) =>
      !asked.has("recall") || writes.length > 0 ||
      // Until their time was over it could.
      (call.reply === "late" && !truth.chosen.expired) ||
      (truth.isUnasked ? call.verdict!.says !== "blocked" : truth.isFree && call.wait === undefined)
  ),

  law(
    "L6",
    "nobody is asked who cannot be answered, nor about what is passed over",
    ({ asked, call, truth, writes }) =>
      !asked.has("reply") || writes.some(({ _tag }) => _tag === "End") ||
      (call.reply === "late" && !truth.chosen.expired) || truth.isAnswerable
  ),

  law(
    "L1",
    "whoever can be asked is asked, and then nobody answers",
    ({ asked, call, said, truth }) =>
      said._tag !== "Open" || asked.has("reply") || call.reply !== undefined || !truth.isAnswerable
  ),

  law(
    "L2",
    "where a run waits is looked up once, by the last of its steps, before anything that is costly but a policy about a denial",
    (moment) => {
      const { asks, call, said, truth, writes } = moment
      if (said._tag !== "Need" || said.fact !== "wait") return true
      const question = truth.questions[said.at]!
      if (question.own !== true || (writes.length === 0 && isCostly(asks, truth))) return false
      // What became of the steps before the last one may be forgotten by now.
      const last = truth.own.findLast((at) => truth.questions[at]!.suspension)
      return call.wait === undefined && last !== undefined ? said.at === last : Truth.stateOf(question) === "suspended"
    }
  ),

  law(
    "L2",
    "the journal is not asked about the steps before the one that waits, but for those that somebody denied",
    ({ asked, truth }) =>
      !asked.has("fate") || !truth.isLost || truth.own.some((at) => truth.isDenied(at) || truth.isContested(at))
  ),

  law(
    "walks",
    "who answers finds a call that another walk begins with",
    ({ call, handover, truth }) =>
      handover !== "answered" || (truth.isRunnable && call.powers === "asks" && truth.isUndecided)
  ),

  law("places", "a decision names the request that it is made by", ({ said, truth }) => {
    if (said._tag === "Need" || !("at" in said)) return true
    if (said._tag === "Run" && said.as === "free") return said.at === -1
    return said.at === (truth.own.length === 0 ? 0 : truth.placeInForce)
  }),

  law("places", "a decision names the answer that it is made by", ({ said, truth }) => {
    if (said._tag === "Run") {
      return said.by === (said.as === "claim" || said.as === "repeat" ? truth.effectOf(said.at)?.by ?? -1 : -1)
    }
    if (said._tag === "Add") return said.by === (truth.wait === undefined ? truth.effectOf(said.at)?.by ?? -1 : -1)
    if (said._tag !== "End" || said.why === "said") return true
    const isByAnswer = said.why === "editBlocked" || said.why === "editDenied" ||
      (said.why === "blocked" && truth.wait === undefined)
    return said.by === (isByAnswer ? truth.effectOf(said.at)?.by ?? -1 : -1)
  })
]
