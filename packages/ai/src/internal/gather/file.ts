/**
 * A call on its way: its standing, which the table reads, and the file of the values behind those facts, which nothing but
 * gathering fills and carrying out uses.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import type * as Effect from "effect/Effect"
import type * as JsonPatch from "effect/JsonPatch"
import type * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"
import type * as ApprovalMemory from "../../ApprovalMemory.ts"
import type * as ApprovalSeal from "../../ApprovalSeal.ts"
import type { DecidedBy } from "../../Approver.ts"
import type * as Interaction from "../../Interaction.ts"
import type * as SuspensionStore from "../../SuspensionStore.ts"
import * as Standing from "../decide/standing.ts"
import type * as Environment from "../environment/environment.ts"
import type * as Late from "../history/late.ts"
import type * as Transcript from "../history/transcript.ts"
import type * as Deferral from "../tool/deferral.ts"
import type * as Prepare from "../tool/prepare.ts"
import * as Order from "./order.ts"
import type * as Remembering from "./remembering.ts"
import type * as Request from "./request.ts"
import type { Tools } from "./tools.ts"

/** What the policy said, or that it failed. */
export type Judged = Result.Result<Approval.ApprovalResult, ApprovalError.ApprovalError>

/** What an answer says besides yes or no, and whose it is. */
export interface Given {
  readonly by: DecidedBy
  /** The program's own word, as a policy's: nobody has to be allowed to say it. */
  readonly isProgram?: boolean | undefined
  /** It was kept with the request in this turn. */
  isAdded?: boolean
  /** It was told that it settles nothing, when it came. */
  isRefused?: boolean
  readonly note?: string | undefined
  readonly params?: Schema.Json | undefined
  readonly remember?: Schema.Json | undefined
  /** It stood in the history before anybody was asked here. */
  readonly response?: Prompt.ToolApprovalResponsePart | undefined
  /** Where edited parameters lead, and what the policy says of them. */
  target?: { readonly prepared: Prepare.Prepared; judged?: Judged | undefined; denied?: string | undefined }
}

/** The values behind a question. */
export interface Asked {
  /** For a request that is not ours, as much of it as there is. */
  readonly sealed: ApprovalSeal.Sealed
  /** The parameters that were sealed. */
  readonly canonical: string
  readonly request?: Transcript.TranscriptRequest | undefined
  readonly given: ReadonlyArray<Given>
  /** What the journal holds of it. */
  entry?: ApprovalJournal.Entry | undefined
  /** Why it cannot be answered any more. */
  readonly expired?: string | undefined
  /** What is not as it was when the person was asked. */
  readonly drift?: string | undefined
  /** With what it ended, where no journal knows. */
  ended?: string | undefined
  /** Why what was shown counts no more. */
  changed?: string | undefined
}

/** The values behind what a run waits for. */
export interface Tip {
  readonly suspension: SuspensionStore.Suspension
  readonly delivered: Schema.Json | undefined
  readonly deliveredBy: DecidedBy | undefined
  readonly responses: ReadonlyArray<Prompt.ToolApprovalResponsePart>
  /** The tool, if it still waits for that. */
  readonly waiting: WaitingTool | undefined
  /** What was answered just now, by whoever was asked. */
  readonly replied?: { readonly json: Schema.Json | undefined; readonly by: DecidedBy } | undefined
  answer?: { readonly json: Schema.Json; readonly decoded: unknown; readonly by: DecidedBy } | undefined
  /** What is wrong with what was answered. */
  problems?: ReadonlyArray<string> | undefined
  state?: unknown
  prepared?: Prepare.Prepared | undefined
}

export interface WaitingTool {
  readonly tool: Tool.Any
  readonly deferral: Deferral.Deferral
  readonly interaction: Interaction.Any
}

/** A call that was approved, and what of it is to run. */
export interface Approved {
  readonly claim: ApprovalJournal.Claim
  readonly prepared: Prepare.Prepared
  /** From what was proposed to what runs, if the person changed it; the model must be told what ran. */
  readonly edits?: JsonPatch.JsonPatch | undefined
  /** The call as it was proposed, where the person changed it. */
  readonly asked?: Prepare.Prepared | undefined
  /** What is to be remembered of the approval, once it has its effect. */
  readonly answered?: ApprovalMemory.Answered | undefined
  /** Nothing may be run again: only a run that is going on is joined, and one that ended is given. */
  readonly joinOnly: boolean
  /** The journal had nothing of it when it was decided. */
  readonly isNew?: boolean | undefined
}

/** Where a call of a history stands in it. */
export interface Place {
  readonly transcript: Transcript.Transcript
  readonly call: Transcript.TranscriptCall
}

export interface File {
  readonly environment: Environment.Environment
  readonly call: Request.Named
  readonly tools: Tools | undefined
  /** What policies are shown of the conversation. */
  readonly messages: ReadonlyArray<Prompt.Message>
  readonly history: Place | undefined
  /** What the policy says of the call with these parameters: those that a person changed are what a run waits with. */
  readonly judge: (prepared: Prepare.Prepared | undefined) => Effect.Effect<
    Approval.ApprovalResult,
    ApprovalError.ApprovalError
  >
  /** What a memory is asked about it. */
  readonly subject: Effect.Effect<Remembering.Subject>
  /** How it is shown to a person. */
  readonly request: (asked: Asked, shown: Request.Shown) => Approval.ApprovalRequest
  /** What is approved here is judged once more before anything comes of it, by the turn that goes on from it. */
  readonly judgedAgain: boolean
  /** What the journal has of those who approved it, where it is asked for that alone. */
  readonly kept?:
    | ((file: File) => Effect.Effect<ApprovalJournal.Entry | undefined, ApprovalError.ApprovalError>)
    | undefined
  /** Its request is news when somebody is asked, and not when it is made. */
  readonly announces: boolean
  /** Its turn to be looked up in what is remembered. */
  readonly recalling: Order.Turn
  /** Its turn to be asked about. */
  asking: Order.Turn
  readonly prepared: Prepare.Prepared | undefined
  /** Why its parameters cannot be used, or why no request of it is ours. */
  readonly failure: ApprovalError.ApprovalError | undefined
  /** The request that its results name: the first (law L13). */
  root: string | undefined
  /** What the model was told in the place of its result, if it has gone on beside it (law L6). */
  readonly late?: Late.Told | undefined
  questions: ReadonlyArray<Asked>
  /** The "no", whichever request it answers. */
  denial?: Given | undefined
  judged?: Judged | undefined
  recalled?: Remembering.Recalled | undefined
  /** Why nobody knows what was answered before. */
  doubt?: string | undefined
  /** As it was asked, or asked again, in this turn. */
  needs?: Approval.NeedsApproval | undefined
  /** What whoever was asked said without deciding. */
  note?: string | undefined
  /** Whoever denied it ended the turn with it. */
  stops?: boolean | undefined
  /** Why what was decided settles nothing. */
  refusal?: ApprovalError.NotAnApprover | undefined
  /** What is to run of it, once it is approved. */
  approval?: Approved | undefined
  /** By which of the answers. */
  approvedBy?: number | undefined
  /** Its turn to run, if it was approved by what was shown of it. */
  running?: Order.Turn | undefined
  /** The line it is to stand in then. */
  readonly runs?: Order.Line | undefined
  /** Why the response was cut. */
  cut?: string | undefined
  /** Its run has begun, and waits or has waited; as this request, if it began to in this turn. */
  waits: boolean
  waitsAs?: string | undefined
  tip?: Tip | undefined
  /** What the history answers of what is asked in its agents was given to them in this turn. */
  hasAnsweredAgents?: boolean
}

export interface Case {
  readonly file: File
  standing: Standing.Standing
}

/** A file with what is known of a call from the beginning. */
export const make = (
  known:
    & Omit<
      File,
      "recalling" | "asking" | "questions" | "waits" | "announces" | "judgedAgain" | "root" | "history" | "failure"
    >
    & Partial<File>
): File => ({
  recalling: Order.none,
  asking: Order.none,
  questions: [],
  waits: false,
  announces: false,
  judgedAgain: false,
  root: undefined,
  history: undefined,
  failure: undefined,
  ...known
})

/** A standing of which nothing has been gathered. */
export const standing = (
  { controller, memory, options, trustsAnswers }: Environment.Environment,
  known: Pick<Standing.Standing, "way" | "tool"> & Partial<Standing.Standing>
): Standing.Standing => ({
  questions: "none",
  denied: false,
  powers: "asks",
  controlled: controller.ask !== undefined,
  trusted: trustsAnswers,
  onInvalid: options.onInvalid,
  onNewMessage: options.onNewMessage,
  verdict: undefined,
  recall: memory.remembers ? undefined : "nothing",
  finish: undefined,
  reply: undefined,
  wait: undefined,
  ...known
})

/** The standing with something more known of one of its questions. */
export const withQuestion = (
  standing: Standing.Standing,
  at: number,
  known: Partial<Standing.Question>
): Standing.Standing =>
  typeof standing.questions === "string"
    ? standing
    : { ...standing, questions: standing.questions.with(at, { ...standing.questions[at]!, ...known }) }

/** The standing with something more known of the edit that is one of its answers. */
export const withEdit = (
  standing: Standing.Standing,
  at: number,
  by: number,
  known: Partial<Extract<Standing.Answer, { says: "edit" }>>
): Standing.Standing => {
  const question = typeof standing.questions === "string" ? undefined : standing.questions[at]
  const answer = question?.answers[by]
  return question === undefined || answer?.says !== "edit"
    ? standing
    : withQuestion(standing, at, { answers: question.answers.with(by, { ...answer, ...known }) })
}

/** The standing with what one of its answers is worth. */
export const withAnswer = (
  standing: Standing.Standing,
  at: number,
  by: number,
  { who }: { readonly who: Standing.Later<Standing.Who> }
): Standing.Standing => {
  const question = typeof standing.questions === "string" ? undefined : standing.questions[at]
  const answer = question?.answers[by]
  return question === undefined || answer === undefined
    ? standing
    : withQuestion(standing, at, { answers: question.answers.with(by, { ...answer, who }) })
}

/** What answers to this question are worth is to be found out again. */
export const forgetWho = (standing: Standing.Standing, at: number): Standing.Standing =>
  typeof standing.questions === "string"
    ? standing
    : withQuestion(standing, at, {
      answers: standing.questions[at]!.answers.map((answer) => ({ ...answer, who: undefined }))
    })

/** A question that nobody has answered, and that belongs to this call. */
export const question = (known: Partial<Standing.Question>): Standing.Question => ({
  answers: [],
  suspension: false,
  own: true,
  fate: Standing.pending,
  claimCounts: undefined,
  named: false,
  expired: false,
  passedOver: false,
  shown: "nothing",
  drifted: false,
  ...known
})

/** What people were shown, or what the policy says, may have changed: it is to be gathered again. */
export const forget = (standing: Standing.Standing): Standing.Standing => ({
  ...standing,
  verdict: undefined,
  questions: typeof standing.questions === "string" ? standing.questions : standing.questions.map((question) => ({
    ...question,
    claimCounts: undefined,
    shown: undefined,
    answers: question.answers.map(({ says }) =>
      says === "edit" ? Standing.edit : says === "yes" ? Standing.yes : Standing.no
    )
  }))
})
