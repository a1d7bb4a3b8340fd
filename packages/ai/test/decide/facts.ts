/**
 * A call in a world: what the table is given of it, as far as it is gathered, and what is true of it. Both are views of
 * the same facts, and choose a value only where one is read.
 */
import type { Need } from "../../src/internal/decide/decision.ts"
import type * as Standing from "../../src/internal/decide/standing.ts"
import type { Fact } from "./world.ts"

export type Says = Standing.Answer["says"]

export interface EditFacts {
  readonly leads: Fact<Standing.Leads>
  readonly verdict: Fact<Standing.Verdict>
  readonly deniedBefore: Fact<boolean>
}

export interface QuestionFacts {
  readonly answers: Fact<ReadonlyArray<Says>>
  readonly suspension: Fact<boolean>
  /** Of a suspension; every other request belongs to its call. */
  readonly own: Fact<boolean>
  readonly fate: Fact<"pending" | Standing.Decided>
  /** Of what has begun: those on record with it are enough where only some may decide. */
  readonly claimCounts: Fact<boolean>
  readonly expired: Fact<boolean>
  readonly passedOver: Fact<boolean>
  /** What was shown beside the call stands in the seal. */
  readonly sealed: Fact<boolean>
  readonly changed: Fact<boolean>
  readonly drifted: Fact<boolean>
  /** When it was asked, the policy named who may decide. */
  readonly named: Fact<boolean>
  /** By the place of the answer: what it is worth where only some may decide. */
  readonly whos: ReadonlyArray<Fact<Standing.Who>>
  /** What a write to the journal finds. */
  readonly written: Fact<Standing.Decided>
  /** By the place of the answer. */
  readonly edits: ReadonlyArray<EditFacts>
}

export interface WaitFacts {
  readonly kind: Fact<"gone" | "over" | Standing.WaitsFor>
  readonly given: Fact<boolean>
  readonly expiry: Fact<Standing.WaitExpiry>
  readonly answer: Fact<Standing.WaitAnswer>
  /** Of what is no person's to answer: it came by itself. */
  readonly came: Fact<boolean>
  readonly state: Fact<Standing.WaitState>
}

export interface CallFacts {
  readonly way: Fact<Standing.Way>
  readonly questions: Fact<"none" | "forged" | "asked">
  readonly asked: ReadonlyArray<QuestionFacts>
  /** Somebody said no to another request of the call, one that is not ours. */
  readonly deniedElsewhere: Fact<boolean>
  readonly tool: Fact<Standing.Tool>
  readonly powers: Fact<Standing.Powers>
  readonly controlled: Fact<boolean>
  readonly trusted: Fact<boolean>
  readonly onInvalid: Fact<Standing.OnInvalid>
  readonly onNewMessage: Fact<Standing.OnNewMessage>
  /** The policy was asked before the walk begins. */
  readonly judged: Fact<boolean>
  readonly verdict: Fact<Standing.Verdict>
  /** There is none, or it was looked up before the walk begins, or not yet. */
  readonly memory: Fact<"none" | "known" | "unknown">
  readonly recall: Fact<Standing.Recall>
  readonly finished: Fact<boolean>
  readonly finish: Fact<Standing.Finish>
  /** Before the walk begins. */
  readonly replied: Fact<Standing.Later<Standing.Reply>>
  readonly reply: Fact<Standing.Reply>
  readonly wait: WaitFacts | undefined
}

/** A new standing begins here: one of those that a walk of this name begins with. */
export type Handover = "answered" | "waits" | "added"

const names = (verdict: Standing.Verdict): boolean => verdict.says === "ask" && verdict.names

const allowed: Standing.Verdict = { says: "allowed" }
const pending: Standing.Fate = { state: "pending" }

/** Where no policy is asked, nobody knows who may decide. */
const isJudged = ({ facts }: Call): boolean =>
  (facts.tool.value === "gated" || facts.tool.value === "free") && facts.powers.value !== "reads"

class PlainView {
  whoKnown = false
  readonly says: "no" | "yes"
  readonly call: Call
  readonly question: QuestionFacts
  readonly fact: Fact<Standing.Who>
  readonly all: boolean
  constructor(says: "no" | "yes", call: Call, question: QuestionFacts, fact: Fact<Standing.Who>, all: boolean) {
    this.says = says
    this.call = call
    this.question = question
    this.fact = fact
    this.all = all
  }
  get who(): Standing.Later<Standing.Who> {
    if (!this.whoKnown && !(this.all && this.#isLookedAt)) return undefined
    const who = this.fact.value
    // Of a "no" the first counts.
    return this.says === "yes" ? who : who === "more" ? "counts" : who === "already" ? "stranger" : who
  }
  get #isLookedAt(): boolean {
    const { facts } = this.call
    if (!isJudged(this.call)) return false
    if (this.says === "no" && (facts.tool.value !== "gated" || !this.question.named.value)) return false
    return names(facts.verdict.value)
  }
  reset(): void {
    this.whoKnown = false
  }
}

class EditView implements Extract<Standing.Answer, { says: "edit" }> {
  readonly says = "edit"
  leadsKnown = false
  verdictKnown = false
  deniedKnown = false
  whoKnown = false
  readonly call: Call
  readonly question: QuestionFacts
  readonly facts: EditFacts
  readonly fact: Fact<Standing.Who>
  readonly all: boolean
  constructor(call: Call, question: QuestionFacts, facts: EditFacts, fact: Fact<Standing.Who>, all: boolean) {
    this.call = call
    this.question = question
    this.facts = facts
    this.fact = fact
    this.all = all
  }
  get who(): Standing.Later<Standing.Who> {
    return this.whoKnown || (this.all && this.#isLookedAt) ? this.fact.value : undefined
  }
  // Who may not decide on the call does not by making it another one.
  get #isLookedAt(): boolean {
    const { facts } = this.call
    if (!isJudged(this.call)) return false
    if (facts.way.value === "hosted" ? this.facts.leads.value !== "asProposed" : this.facts.leads.value === "unfit") {
      return false
    }
    // Where its edit does not count, nobody asks whose it is.
    if (!facts.trusted.value && !(facts.verdict.value.says === "ask" && facts.verdict.value.editable)) return false
    if (this.facts.leads.value === "asProposed") return names(facts.verdict.value)
    if (this.facts.verdict.value.says === "failed") return false
    if (!this.question.named.value) return names(this.facts.verdict.value)
    return facts.verdict.value.says !== "failed" && (names(this.facts.verdict.value) || names(facts.verdict.value))
  }
  get leads(): Standing.Later<Standing.Leads> {
    if (!this.all && !this.leadsKnown) return undefined
    const leads = this.facts.leads.value
    // The provider runs what it asked about: other parameters cannot reach it.
    return leads === "elsewhere" && this.call.facts.way.value === "hosted" ? "unfit" : leads
  }
  get verdict(): Standing.Later<Standing.Verdict> {
    return this.all || this.verdictKnown ? this.facts.verdict.value : undefined
  }
  get deniedBefore(): Standing.Later<boolean> {
    return this.all || this.deniedKnown ? this.facts.deniedBefore.value : undefined
  }
  reset(): void {
    this.whoKnown = false
    this.leadsKnown = false
    this.verdictKnown = false
    this.deniedKnown = false
  }
}

class QuestionView implements Standing.Question {
  readonly facts: QuestionFacts
  readonly all: boolean
  readonly edits: ReadonlyArray<EditView>
  readonly plain: ReadonlyArray<{ readonly no: PlainView; readonly yes: PlainView }>
  readonly said: Fact<ReadonlyArray<Standing.Answer>>
  readonly fateOf: Fact<Standing.Fate>
  ownKnown = false
  fateKnown = false
  claimKnown = false
  shownKnown = false
  found: Standing.Fate | undefined
  constructor(call: Call, facts: QuestionFacts, all: boolean) {
    this.facts = facts
    this.all = all
    this.edits = facts.edits.map((edit, by) => new EditView(call, facts, edit, facts.whos[by]!, all))
    this.plain = facts.whos.map((who) => ({
      no: new PlainView("no", call, facts, who, all),
      yes: new PlainView("yes", call, facts, who, all)
    }))
    this.said = facts.answers.map((sequence) =>
      sequence.map((says, by) => says === "edit" ? this.edits[by]! : this.plain[by]![says])
    )
    this.fateOf = facts.fate.map((state) => state === "pending" ? pending : { state, written: false })
  }
  get answers(): ReadonlyArray<Standing.Answer> {
    return this.said.value
  }
  get suspension(): boolean {
    return this.facts.suspension.value
  }
  get own(): Standing.Later<boolean> {
    return this.all || this.ownKnown ? !this.facts.suspension.value || this.facts.own.value : undefined
  }
  get fate(): Standing.Later<Standing.Fate> {
    return this.found ?? (this.all || this.fateKnown ? this.fateOf.value : undefined)
  }
  get claimCounts(): Standing.Later<boolean> {
    return this.all || this.claimKnown ? this.facts.claimCounts.value : undefined
  }
  get expired(): boolean {
    return this.facts.expired.value
  }
  get named(): boolean {
    return !this.facts.suspension.value && this.facts.named.value
  }
  get passedOver(): boolean {
    return this.facts.passedOver.value
  }
  get shown(): Standing.Later<Standing.Shown> {
    if (!this.facts.sealed.value) return "nothing"
    return this.all || this.shownKnown ? (this.facts.changed.value ? "changed" : "same") : undefined
  }
  get drifted(): boolean {
    return this.facts.drifted.value
  }
  reset(): void {
    this.ownKnown = false
    this.fateKnown = false
    this.claimKnown = false
    this.shownKnown = false
    this.found = undefined
    for (const edit of this.edits) edit.reset()
    for (const { no, yes } of this.plain) {
      no.reset()
      yes.reset()
    }
  }
}

class WaitView {
  readonly call: Call
  readonly facts: WaitFacts
  readonly all: boolean
  answerKnown = false
  stateKnown = false
  constructor(call: Call, facts: WaitFacts, all: boolean) {
    this.call = call
    this.facts = facts
    this.all = all
  }
  get for(): Standing.WaitsFor {
    return this.facts.kind.value as Standing.WaitsFor // What is gone or over has no such view.
  }
  get given(): boolean {
    return this.facts.given.value
  }
  get expiry(): Standing.WaitExpiry {
    return this.facts.expiry.value
  }
  get answer(): Standing.Later<Standing.WaitAnswer> {
    if (!this.all && !this.answerKnown) return undefined
    const tool = this.call.facts.tool.value
    // It is not read without its tool.
    if (tool === "gone" || tool === "noToolkit") return "none"
    if (this.facts.given.value) return this.facts.answer.value
    return this.facts.kind.value === "other" && this.facts.came.value ? "fits" : "none"
  }
  get state(): Standing.Later<Standing.WaitState> {
    return this.all || this.stateKnown ? this.facts.state.value : undefined
  }
  reset(): void {
    this.answerKnown = false
    this.stateKnown = false
  }
}

class CallView implements Standing.Standing {
  readonly call: Call
  readonly all: boolean
  readonly asked: ReadonlyArray<QuestionView>
  readonly waits: WaitView | undefined
  constructor(call: Call, all: boolean) {
    this.call = call
    this.all = all
    this.asked = call.facts.asked.map((question) => new QuestionView(call, question, all))
    this.waits = call.facts.wait === undefined ? undefined : new WaitView(call, call.facts.wait, all)
  }
  get way(): Standing.Way {
    return this.call.facts.way.value
  }
  get questions(): Standing.Questions {
    if (this.call.isSealed) return this.asked
    const questions = this.call.facts.questions.value
    return questions === "asked" ? this.asked : questions
  }
  get denied(): boolean {
    const { deniedElsewhere, wait, way } = this.call.facts
    const questions = this.questions
    if (questions === "none") return false
    if (questions === "forged") return deniedElsewhere.value
    // A no to a request for a yes or no is an answer to it.
    if (wait !== undefined) return wait.kind.value !== "verdict" && deniedElsewhere.value
    if (this.asked.some(({ named }) => named)) return false
    if (this.asked.some(({ answers }) => answers.some(({ says }) => says === "no"))) return true
    return way.value === "history" && this.call.facts.replied.value !== "given" && deniedElsewhere.value
  }
  get tool(): Standing.Tool {
    return this.call.facts.tool.value
  }
  get powers(): Standing.Powers {
    return this.call.facts.powers.value
  }
  get controlled(): boolean {
    return this.call.facts.controlled.value
  }
  get trusted(): boolean {
    return this.call.facts.trusted.value
  }
  get onInvalid(): Standing.OnInvalid {
    return this.call.facts.onInvalid.value
  }
  get onNewMessage(): Standing.OnNewMessage {
    return this.call.facts.onNewMessage.value
  }
  get verdict(): Standing.Later<Standing.Verdict> {
    const { facts } = this.call
    if (!this.all && !this.call.isJudged && !facts.judged.value) return undefined
    // No policy is asked about what nobody says anything about.
    return this.waits !== undefined && facts.tool.value === "free" ? allowed : facts.verdict.value
  }
  get recall(): Standing.Later<Standing.Recall> {
    const { memory, recall } = this.call.facts
    if (memory.value === "none") return "nothing"
    if (this.call.isRecalled || memory.value === "known") return recall.value
    if (!this.all) return undefined
    // An approval that is remembered is an answer: with it a new standing begins.
    return recall.value === "approved" && typeof this.questions !== "string" ? undefined : recall.value
  }
  get finish(): Standing.Later<Standing.Finish> {
    const { finish, finished } = this.call.facts
    return this.call.isFinished || finished.value ? finish.value : undefined
  }
  get reply(): Standing.Later<Standing.Reply> {
    return this.call.unanswered ?? this.call.facts.replied.value
  }
  get wait(): Standing.Later<Standing.Wait> {
    if (this.waits === undefined) return undefined
    const kind = this.waits.facts.kind.value
    return kind === "gone" || kind === "over" ? kind : this.waits
  }
  reset(): void {
    for (const question of this.asked) question.reset()
    this.waits?.reset()
  }
}

/** A call on its way: gathers facts and writes, as the engine does. */
export class Call {
  readonly facts: CallFacts
  isSealed = false
  isJudged = false
  isRecalled = false
  isFinished = false
  /** Somebody was asked, and did not answer, or not in time. */
  unanswered: Exclude<Standing.Reply, "given"> | undefined
  readonly #known: CallView
  readonly #truth: CallView

  constructor(facts: CallFacts) {
    this.facts = facts
    this.#known = new CallView(this, false)
    this.#truth = new CallView(this, true)
  }

  /** As far as it is gathered. */
  get known(): Standing.Standing {
    return this.#known
  }

  /** As it is, but for what can only be known when it has come to that: the finish, and who answers. */
  get truth(): Standing.Standing {
    return this.#truth
  }

  reset(): void {
    this.isSealed = false
    this.isJudged = false
    this.isRecalled = false
    this.isFinished = false
    this.unanswered = undefined
    this.#known.reset()
    this.#truth.reset()
  }

  gather(need: Need): Handover | undefined {
    const { asked, waits } = this.#known
    switch (need.fact) {
      case "own":
        asked[need.at]!.ownKnown = true
        return undefined
      case "fate":
        asked[need.at]!.fateKnown = true
        return undefined
      case "claim":
        asked[need.at]!.claimKnown = true
        return undefined
      case "shown":
        asked[need.at]!.shownKnown = true
        return undefined
      case "who": {
        const answer = asked[need.at]!.answers[need.by] as PlainView | EditView
        answer.whoKnown = true
        return undefined
      }
      case "leads":
        asked[need.at]!.edits[need.by]!.leadsKnown = true
        return undefined
      case "editVerdict":
        asked[need.at]!.edits[need.by]!.verdictKnown = true
        return undefined
      case "editDenied":
        asked[need.at]!.edits[need.by]!.deniedKnown = true
        return undefined
      case "verdict":
        this.isJudged = true
        return undefined
      case "finish":
        this.isFinished = true
        return undefined
      case "answer":
        waits!.answerKnown = true
        return undefined
      case "state":
        waits!.stateKnown = true
        return undefined
      case "recall":
        this.isRecalled = true
        return this.facts.recall.value === "approved" && typeof this.#known.questions !== "string"
          ? "answered"
          : undefined
      case "reply":
        if (this.facts.reply.value === "given") return waits === undefined ? "answered" : "waits"
        // A run that waits is one then whose time is over.
        if (this.facts.reply.value === "late" && waits !== undefined) return "waits"
        this.unanswered = this.facts.reply.value
        return undefined
      case "wait":
        return "waits"
    }
  }

  /** What the journal says then; the provider and a guarded toolkit have none. */
  end(at: number, state: Standing.Ending): void {
    const way = this.facts.way.value
    const found = way === "hosted" || way === "guarded" ? state : this.facts.asked[at]!.written.value
    const fate: Standing.Fate = { state: found, written: true }
    this.#known.asked[at]!.found = fate
    this.#truth.asked[at]!.found = fate
  }

  seal(): void {
    this.isSealed = true
  }
}
