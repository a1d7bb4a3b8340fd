/**
 * What is true of a call, in the words of the laws. Everything is known here. Nothing of this is taken from the table:
 * what both say is said twice.
 */
import type { Answer, Question, Standing, Verdict, Wait } from "../../src/internal/decide/standing.ts"

export const stateOf = ({ fate }: Question) => fate!.state

export const isPending = (question: Question): boolean => stateOf(question) === "pending"

/** A write of ours found it so. */
export const isWritten = ({ fate }: Question): boolean => fate!.state !== "pending" && fate!.written

const begun = new Set(["running", "unknown", "done", "failed", "suspended"])

/** It was claimed, so that something may have happened. */
export const hasBegun = (question: Question): boolean => begun.has(stateOf(question))

const hasResult = (question: Question): boolean => stateOf(question) === "done" || stateOf(question) === "failed"

export const isUnfinished = (question: Question): boolean =>
  stateOf(question) === "running" || stateOf(question) === "unknown"

/** Whoever gave it may not decide, or has done so already: it is as if it was not there (law L16). */
export const isIdle = ({ who }: Answer): boolean => who === "stranger" || who === "already"

/** The place of the first "no" of somebody who may say it; -1 if there is none. */
export const placeOfNo = ({ answers }: Question): number =>
  answers.findIndex((answer) => answer.says === "no" && !isIdle(answer))

const hasYes = ({ answers }: Question): boolean => answers.some(({ says }) => says === "yes")

export const canEdit = (verdict: Verdict | undefined): boolean => verdict?.says === "ask" && verdict.editable

const allows = ({ says }: Verdict): boolean => says !== "failed" && says !== "blocked"

/** What becomes of the answers that approve. */
export type Effect =
  | "Run"
  | "Add"
  | "Open held"
  | "Open unfitEdit"
  | "Open untrustedEdit"
  | "End denied, blocked"
  | "End denied, editBlocked"
  | "End denied, editDenied"
  | "End void, shownChanged"

export interface Effective {
  readonly effect: Effect
  /** The answer that has it. */
  readonly by: number
}

const none: ReadonlyArray<Question> = []

/** Of one call; what was found out once is kept. */
export class Truth {
  readonly call: Standing
  #own?: ReadonlyArray<number>
  #denied?: ReadonlyArray<number>
  #decided?: number
  #isUndecided?: boolean
  #counting?: Array<ReadonlyArray<number> | undefined>
  #chosen?: number
  #effects?: Array<Effective | "none" | undefined>
  #isPassedOver?: boolean
  #isOpen?: boolean
  #isJudged?: boolean
  #isUnanswered?: boolean
  #isFree?: boolean

  constructor(call: Standing) {
    this.call = call
  }

  get questions(): ReadonlyArray<Question> {
    const { questions } = this.call
    return typeof questions === "string" ? none : questions
  }

  get isAsked(): boolean {
    return typeof this.call.questions !== "string"
  }

  /** A call that nobody was asked about yet, and that is of now. */
  get isUnasked(): boolean {
    return this.call.questions === "none" && (this.call.way === "received" || this.call.way === "guarded")
  }

  /** The places of its own requests. */
  get own(): ReadonlyArray<number> {
    return this.#own ??= this.questions.flatMap(({ own }, at) => own === true ? [at] : [])
  }

  /** What its run waits for, if that is known. */
  get wait(): Exclude<Wait, string> | undefined {
    const { wait } = this.call
    return typeof wait === "object" ? wait : undefined
  }

  get isForgotten(): boolean {
    return this.call.wait === "gone" || this.call.wait === "over"
  }

  /** Its own request belongs to a run that waits, and where that stands was not looked up. */
  get isLost(): boolean {
    return this.call.wait === undefined && this.own.some((at) => this.questions[at]!.suspension)
  }

  get isRunnable(): boolean {
    return this.call.tool === "free" || this.call.tool === "gated"
  }

  /** Nothing can be run for this caller, or of this tool. */
  get cannotRun(): boolean {
    return this.call.powers === "reads" || !this.isRunnable
  }

  /** The provider has its answer from the history. */
  get isTold(): boolean {
    const { call } = this
    return call.way === "hosted" && call.reply !== "given" &&
      (call.denied || (call.powers === "reads"
        ? this.questions.some(({ answers }) => answers.length > 0)
        : this.questions.some((question) => placeOfNo(question) >= 0)))
  }

  // ===========================================================================
  // What was decided before
  // ===========================================================================

  /** Requests that somebody said no to, and that are still pending. */
  get deniedPlaces(): ReadonlyArray<number> {
    return this.#denied ??= this.own.filter((at) => isPending(this.questions[at]!) && this.isDenied(at))
  }

  /** Somebody said no to it. Of what a run waits for, that is read where it is known what it is. */
  isDenied(at: number): boolean {
    const question = this.questions[at]!
    // Whoever only reads cannot find out whether somebody may say it.
    return placeOfNo(question) >= 0 && !question.suspension && !(question.named && this.call.powers === "reads")
  }

  /** Somebody said no to it, and the policy has to say whether they may. */
  isContested(at: number): boolean {
    const { answers, named, suspension } = this.questions[at]!
    return named && !suspension && this.call.powers !== "reads" && this.call.tool === "gated" &&
      answers.some(({ says }) => says === "no")
  }

  /** The policy is asked about a denial, because nothing else has ended that request. */
  get isDenialJudged(): boolean {
    return this.own.some((at) =>
      this.isContested(at) && (isPending(this.questions[at]!) || isWritten(this.questions[at]!))
    )
  }

  /** By which it was decided: with a result, before one that began, before one that ended; -1 if it was not. */
  get decidedPlace(): number {
    if (this.#decided !== undefined) return this.#decided
    const decided = this.own.filter((at) => !isPending(this.questions[at]!))
    return this.#decided = decided.find((at) => hasResult(this.questions[at]!)) ??
      decided.find((at) => hasBegun(this.questions[at]!)) ?? decided[0] ?? -1
  }

  /** The journal has a denial of it. */
  get wasDenied(): boolean {
    return this.own.some((at) => stateOf(this.questions[at]!) === "denied")
  }

  /** Its own requests are pending, where it waits is known, and nobody said no. */
  get isUndecided(): boolean {
    return this.#isUndecided ??= this.own.length > 0 && !this.isLost && this.decidedPlace < 0 && !this.isForgotten &&
      !this.call.denied && this.deniedPlaces.length === 0 && !this.isTold
  }

  // ===========================================================================
  // Answers
  // ===========================================================================

  // Parameters of a history count only if somebody vouches for them; a reader leaves that open (law L4).
  #counts({ named }: Question, answer: Answer): boolean {
    const { powers, trusted } = this.call
    const { says } = answer
    if (says === "yes" && named && isIdle(answer)) return false
    return says === "yes" ||
      (says === "edit" && (trusted || powers === "reads" || (this.isRunnable && canEdit(this.call.verdict))))
  }

  /** The places of the answers that may have an effect. */
  countingOf(at: number): ReadonlyArray<number> {
    this.#counting ??= []
    return this.#counting[at] ??= this.questions[at]!.answers.flatMap((answer, by) =>
      this.#counts(this.questions[at]!, answer) ? [by] : []
    )
  }

  /** The request that was approved, or the first. */
  get chosenPlace(): number {
    return this.#chosen ??= this.own.find((at) => this.countingOf(at).length > 0) ?? this.own[0]!
  }

  get chosen(): Question {
    return this.questions[this.chosenPlace]!
  }

  get isApproved(): boolean {
    return this.countingOf(this.chosenPlace).length > 0
  }

  /** What is said of the call that an answer approves. */
  verdictOf(answer: Answer): Verdict {
    return answer.says === "edit" && answer.leads === "elsewhere" ? answer.verdict! : this.call.verdict!
  }

  // Why an approving answer has no effect, so that the next one counts.
  #ignoredFor(answer: Answer): Effect | undefined {
    if (answer.says !== "edit") return undefined
    const verdict = this.verdictOf(answer)
    return answer.leads === "asProposed" || this.call.trusted || verdict.says !== "ask" || verdict.editable
      ? undefined
      : "Open untrustedEdit"
  }

  // Why an answer that fits does not let the call run after all (laws L1, L11).
  #stoppedBy({ named, shown }: Question, answer: Answer): Effect | undefined {
    const isElsewhere = answer.says === "edit" && answer.leads === "elsewhere"
    const { says } = this.verdictOf(answer)
    if (says === "failed") return "Open held"
    if (isElsewhere && named && this.call.verdict!.says === "failed") return "Open held"
    if (says === "blocked") return isElsewhere ? "End denied, editBlocked" : "End denied, blocked"
    // What was shown is the call as it was proposed.
    if (shown !== "nothing" && this.call.verdict!.says === "failed") return "Open held"
    if (shown === "changed") return "End void, shownChanged"
    return isElsewhere && answer.deniedBefore === true ? "End denied, editDenied" : undefined
  }

  /** What becomes of a request that was approved: the first answer that has an effect counts (law L3). */
  effectOf(at: number): Effective | undefined {
    this.#effects ??= []
    const effective = this.#effects[at] ??= this.#findEffect(at)
    return effective === "none" ? undefined : effective
  }

  #findEffect(at: number): Effective | "none" {
    const question = this.questions[at]!
    let ignored: Effect | undefined
    for (const by of this.countingOf(at)) {
      const answer = question.answers[by]!
      if (isIdle(answer)) continue
      if (answer.says === "edit" && answer.leads === "unfit") {
        ignored ??= "Open unfitEdit"
        continue
      }
      const stopped = this.#stoppedBy(question, answer)
      if (stopped !== undefined) return { effect: stopped, by }
      const reason = this.#ignoredFor(answer)
      if (reason === undefined) return { effect: answer.who === "more" ? "Add" : "Run", by }
      ignored ??= reason
    }
    return ignored === undefined ? "none" : { effect: ignored, by: -1 }
  }

  // ===========================================================================
  // On the way to a run
  // ===========================================================================

  /** Something stands behind it, and nothing that counts was said to it. */
  get isPassedOver(): boolean {
    if (this.#isPassedOver !== undefined) return this.#isPassedOver
    if (!this.chosen.passedOver || this.isApproved || this.isDoubtful) return this.#isPassedOver = false
    const answer = this.wait?.answer
    return this.#isPassedOver = answer !== "fits" && answer !== "more" && answer !== "undeliverable"
  }

  /** Only the policy could say whether its edit counts, and it failed (law L11). */
  get isDoubtful(): boolean {
    const { powers, trusted, verdict } = this.call
    return !trusted && powers !== "reads" && this.isRunnable &&
      this.chosen.answers.some(({ says }) => says === "edit") &&
      verdict?.says === "failed"
  }

  /** Its time is over, and nobody answered before it was. */
  get isOver(): boolean {
    return this.isUndecided && (this.chosen.expired || this.call.reply === "late")
  }

  /** Its tool says how it goes on when nobody has answered, and is what it was. */
  get isHandled(): boolean {
    return this.wait?.expiry === "resumes" && !this.hasDrifted
  }

  /** It goes on without an answer, if nothing keeps it from that. */
  get isLeft(): boolean {
    return this.isOver && this.isHandled && this.hasToolkit && this.call.powers !== "reads"
  }

  /** It has neither ended by itself nor by what came behind it. */
  get isOpen(): boolean {
    return this.#isOpen ??= this.isUndecided && !this.isOver &&
      !(this.isPassedOver && this.call.onNewMessage !== "hold")
  }

  get hasToolkit(): boolean {
    return this.call.tool !== "noToolkit"
  }

  /** It is not what was asked about any more (law L10). */
  get hasDrifted(): boolean {
    const { tool, way } = this.call
    return way !== "hosted" && (tool === "gone" || tool === "unfit" || this.chosen.drifted)
  }

  /** What was answered to it is looked at. */
  get isRead(): boolean {
    return this.isOpen && this.hasToolkit && !this.hasDrifted
  }

  /** Whoever may decide here looks at it: at an approval, or at a request that nobody has answered. */
  get isJudged(): boolean {
    const { powers } = this.call
    return this.#isJudged ??= this.isRead && (powers === "asks" || (powers === "judges" && !this.isIdle))
  }

  /** Whatever was said to it is as if it was not. */
  get isIdle(): boolean {
    return this.countingOf(this.chosenPlace).every((by) => isIdle(this.chosen.answers[by]!))
  }

  /** There is an answer to what it waits for, with which the tool can go on; the policy may be against it. */
  get isReady(): boolean {
    return (this.wait?.answer === "fits" || this.wait?.answer === "more") && this.fits
  }

  /** The tool can go on by what it began with and what it remembers. */
  get fits(): boolean {
    return this.wait?.state === "fits"
  }

  /** The policy lets it go on, if it has a say in that. */
  get mayGoOn(): boolean {
    return this.call.tool !== "gated" || allows(this.call.verdict!)
  }

  get hasNoAnswer(): boolean {
    const { answer = "none" } = this.wait ?? {}
    return this.isIdle && (answer === "none" || answer === "already" || answer === "stranger")
  }

  /** Nothing was answered that counts, and the policy has nothing against the call. */
  get isUnanswered(): boolean {
    return this.#isUnanswered ??= this.isJudged && this.hasNoAnswer && this.call.verdict!.says !== "blocked"
  }

  /** Nobody said anything about it, and somebody may be asked. */
  get isFree(): boolean {
    return this.#isFree ??= this.isUnanswered && !this.isHeld && this.chosen.answers.every(isIdle)
  }

  /** A new message stands behind it, so nobody is asked; what the provider asks may be answered all the same. */
  get isHeld(): boolean {
    return this.chosen.passedOver && this.call.way !== "hosted"
  }

  /** The provider's, which wants nobody. */
  get isHostedAllowed(): boolean {
    const { recall, verdict, way } = this.call
    return way === "hosted" && verdict!.says === "allowed" && recall === "nothing"
  }

  /** It is remembered that such calls are denied; of one that somebody has answered that is not looked up. */
  get isRecalledAsDenied(): boolean {
    return this.call.recall === "denied" && this.call.reply !== "given"
  }

  /** Only a person can say what becomes of it. */
  get isForPeople(): boolean {
    return this.isFree && (this.wait !== undefined || (!this.isHostedAllowed && !this.isRecalledAsDenied))
  }

  /** What was said to it settles nothing: it was said before, or by somebody who may not. */
  get idle(): "already" | "stranger" | undefined {
    const { answer } = this.wait ?? {}
    if (answer === "already" || this.chosen.answers.some(({ who }) => who === "already")) return "already"
    return answer === "stranger" || this.chosen.answers.some(isIdle) ? "stranger" : undefined
  }

  /** There is a person whose word can have an effect. */
  get isAnswerable(): boolean {
    return this.isForPeople && this.call.controlled &&
      (this.wait === undefined || (this.wait.for !== "other" && this.call.verdict!.says !== "failed"))
  }

  /** What goes on, or ended unknown, was allowed by what still holds. */
  isAllowedAgain(at: number): boolean {
    const question = this.questions[at]!
    return isUnfinished(question) && !isWritten(question) && !this.call.denied && !this.wasDenied &&
      !this.own.some((place) => this.isDenied(place)) &&
      !question.drifted &&
      (this.wait === undefined
        ? !question.expired &&
          (this.countingOf(at).length > 0 ? this.effectOf(at)?.effect === "Run" : this.#isAllowedByClaim(question))
        // With an answer that went on with it, or with none, where it goes on without. One that goes on may be found dead,
        // and an idempotent tool goes on again then (law L2).
        : this.mayGoOn &&
          (question.expired ? this.isHandled && this.fits : this.isReady && this.wait.answer === "fits"))
  }

  // Whoever let it run said so where it ran: their yes holds as one in a message would.
  #isAllowedByClaim({ claimCounts, shown }: Question): boolean {
    const { verdict } = this.call
    if (this.isForgotten || !allows(verdict!) || shown === "changed") return false
    return verdict!.says !== "ask" || !verdict!.names || claimCounts === true
  }

  /** The request that a decision is made by: denied, decided before, approved as it was proposed, or the first. */
  get placeInForce(): number {
    if (this.isTold || this.isForgotten) return this.deniedPlaces[0] ?? Math.max(this.decidedPlace, this.own[0]!)
    if (this.deniedPlaces.length > 0) return this.deniedPlaces[0]!
    if (this.decidedPlace >= 0) return this.decidedPlace
    if (!this.call.denied) return this.chosenPlace
    // Nobody said no to a request of ours: the one that was approved is not to run.
    return this.own.find((at) => hasYes(this.questions[at]!)) ?? this.own[0]!
  }
}
