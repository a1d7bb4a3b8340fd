/** A standing that looks the same in all but one field. What is not looked at of it is not looked at below either. */
import type {
  Answer,
  Later,
  Leads,
  OnInvalid,
  OnNewMessage,
  Powers,
  Question,
  Questions,
  Standing,
  Tool,
  Verdict,
  Wait,
  WaitAnswer,
  WaitExpiry,
  WaitsFor,
  WaitState,
  Way,
  Who
} from "../../src/internal/decide/standing.ts"

/** Of a call, or with its owner before it: `wait's given`, `question's own`, `edit's leads`. */
export type Field = string

export interface Change {
  readonly field: Field
  readonly value: unknown
}

type Edit = Extract<Answer, { readonly says: "edit" }>
type Waiting = Exclude<Wait, string>

// The lists of the fields have values of their own type alone.
class Overlay<Of extends object> {
  of!: Of
  readonly field: Field
  readonly value: unknown
  constructor({ field, value }: Change) {
    this.field = field
    this.value = value
  }
  on(of: Of): this {
    this.of = of
    return this
  }
}

class EditOverlay extends Overlay<Edit> implements Edit {
  readonly says = "edit"
  get who(): Later<Who> {
    return this.field === "edit's who" ? this.value as Later<Who> : this.of.who
  }
  get leads(): Later<Leads> {
    return this.field === "edit's leads" ? this.value as Later<Leads> : this.of.leads
  }
  get verdict(): Later<Verdict> {
    return this.field === "edit's verdict" ? this.value as Later<Verdict> : this.of.verdict
  }
  get deniedBefore(): Later<boolean> {
    return this.field === "edit's deniedBefore" ? this.value as Later<boolean> : this.of.deniedBefore
  }
}

class QuestionOverlay extends Overlay<Question> implements Question {
  readonly change: Change
  constructor(change: Change) {
    super(change)
    this.change = change
  }
  get answers(): ReadonlyArray<Answer> {
    if (this.field === "question's answers") return this.value as ReadonlyArray<Answer>
    if (!this.field.startsWith("edit's ")) return this.of.answers
    return this.of.answers.map((answer) =>
      answer.says === "edit"
        ? new EditOverlay(this.change).on(answer)
        : this.field === "edit's who"
        ? { says: answer.says, who: this.value as Later<Who> }
        : answer
    )
  }
  get suspension(): boolean {
    return this.field === "question's suspension" ? this.value as boolean : this.of.suspension
  }
  get own(): Later<boolean> {
    return this.field === "question's own" ? this.value as Later<boolean> : this.of.own
  }
  get fate(): Question["fate"] {
    return this.field === "question's fate" ? this.value as Question["fate"] : this.of.fate
  }
  get claimCounts(): Later<boolean> {
    return this.field === "question's claimCounts" ? this.value as Later<boolean> : this.of.claimCounts
  }
  get expired(): boolean {
    return this.field === "question's expired" ? this.value as boolean : this.of.expired
  }
  get passedOver(): boolean {
    return this.field === "question's passedOver" ? this.value as boolean : this.of.passedOver
  }
  get shown(): Question["shown"] {
    return this.field === "question's shown" ? this.value as Question["shown"] : this.of.shown
  }
  get named(): boolean {
    return this.field === "question's named" ? this.value as boolean : this.of.named
  }
  get drifted(): boolean {
    return this.field === "question's drifted" ? this.value as boolean : this.of.drifted
  }
}

class WaitOverlay extends Overlay<Waiting> implements Waiting {
  get for(): WaitsFor {
    return this.field === "wait's for" ? this.value as WaitsFor : this.of.for
  }
  get given(): boolean {
    return this.field === "wait's given" ? this.value as boolean : this.of.given
  }
  get expiry(): WaitExpiry {
    return this.field === "wait's expiry" ? this.value as WaitExpiry : this.of.expiry
  }
  get answer(): Later<WaitAnswer> {
    return this.field === "wait's answer" ? this.value as Later<WaitAnswer> : this.of.answer
  }
  get state(): Later<WaitState> {
    return this.field === "wait's state" ? this.value as Later<WaitState> : this.of.state
  }
}

/** One for each change; it is laid over one standing after the other. */
export class StandingOverlay extends Overlay<Standing> implements Standing {
  readonly isOfQuestions: boolean
  readonly overWait: WaitOverlay | undefined
  readonly overQuestions: ReadonlyArray<QuestionOverlay>
  constructor(change: Change) {
    super(change)
    this.isOfQuestions = change.field.startsWith("question's ") || change.field.startsWith("edit's ")
    this.overWait = change.field.startsWith("wait's ") ? new WaitOverlay(change) : undefined
    this.overQuestions = [new QuestionOverlay(change), new QuestionOverlay(change)]
  }
  get way(): Way {
    return this.field === "way" ? this.value as Way : this.of.way
  }
  get questions(): Questions {
    if (this.field === "questions") return this.value as Questions
    const { questions } = this.of
    if (!this.isOfQuestions || typeof questions === "string") return questions
    return questions.map((question, at) => this.overQuestions[at]!.on(question))
  }
  get denied(): boolean {
    return this.field === "denied" ? this.value as boolean : this.of.denied
  }
  get tool(): Tool {
    return this.field === "tool" ? this.value as Tool : this.of.tool
  }
  get powers(): Powers {
    return this.field === "powers" ? this.value as Powers : this.of.powers
  }
  get controlled(): boolean {
    return this.field === "controlled" ? this.value as boolean : this.of.controlled
  }
  get trusted(): boolean {
    return this.field === "trusted" ? this.value as boolean : this.of.trusted
  }
  get onInvalid(): OnInvalid {
    return this.field === "onInvalid" ? this.value as OnInvalid : this.of.onInvalid
  }
  get onNewMessage(): OnNewMessage {
    return this.field === "onNewMessage" ? this.value as OnNewMessage : this.of.onNewMessage
  }
  get verdict(): Standing["verdict"] {
    return this.field === "verdict" ? this.value as Standing["verdict"] : this.of.verdict
  }
  get recall(): Standing["recall"] {
    return this.field === "recall" ? this.value as Standing["recall"] : this.of.recall
  }
  get finish(): Standing["finish"] {
    return this.field === "finish" ? this.value as Standing["finish"] : this.of.finish
  }
  get reply(): Standing["reply"] {
    return this.field === "reply" ? this.value as Standing["reply"] : this.of.reply
  }
  get wait(): Later<Wait> {
    if (this.field === "wait") return this.value as Later<Wait>
    const { wait } = this.of
    return this.overWait !== undefined && typeof wait === "object" ? this.overWait.on(wait) : wait
  }
}
