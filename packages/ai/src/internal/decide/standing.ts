/**
 * What is known of one call that stands between its question and its run: plain data, and every field has a few values
 * that are listed here. The types come from the lists, and so does the walk through every standing there is.
 */

/** A fact that is gathered only if a decision turns on it; `undefined` until then. A value that says "none" is a fact. */
export type Later<A> = A | undefined

/**
 * How the call came to be decided: it stands in a history without a result; the model made it in this turn; a guarded
 * toolkit is handling it; or the provider, which runs it, asks about it.
 */
export const ways = ["history", "received", "guarded", "hosted"] as const
export type Way = typeof ways[number]

/**
 * The tool of the call: there is no toolkit; it is not in there, or waits for something else by now; the parameters do
 * not fit it; nobody says anything about its calls; somebody does.
 */
export const tools = ["noToolkit", "gone", "unfit", "free", "gated"] as const
export type Tool = typeof tools[number]

/**
 * What may be done here: only what is written is read; the policy is asked again and what was approved runs; whoever
 * answers for a person may be asked as well.
 */
export const powers = ["reads", "judges", "asks"] as const
export type Powers = typeof powers[number]

export const onInvalids = ["result", "fail"] as const
export type OnInvalid = typeof onInvalids[number]

export const onNewMessages = ["supersede", "keep", "hold", "fail"] as const
export type OnNewMessage = typeof onNewMessages[number]

/** How the response came to its end. */
export const finishes = ["complete", "cut", "missing"] as const
export type Finish = typeof finishes[number]

/** What the policy says. `editable`: an answer of the history may change the parameters. `names`: only some may decide. */
export const verdicts = [
  { says: "failed" },
  { says: "blocked" },
  { says: "allowed" },
  { says: "ask", editable: false, names: false },
  { says: "ask", editable: true, names: false },
  { says: "ask", editable: false, names: true },
  { says: "ask", editable: true, names: true }
] as const
export type Verdict = typeof verdicts[number]

/** What was answered before and is remembered; `unsure` where that cannot be looked up. */
export const recalls = ["nothing", "approved", "denied", "unsure"] as const
export type Recall = typeof recalls[number]

/** Whether whoever was asked has answered; `late`: the time of the request was over before they did. */
export const replies = ["none", "given", "late"] as const
export type Reply = typeof replies[number]

export const endings = ["denied", "expired", "superseded", "void"] as const
export type Ending = typeof endings[number]

/** What became of a request that is not pending any more. */
export const decidedStates = ["running", "unknown", "done", "failed", "suspended", ...endings] as const
export type Decided = typeof decidedStates[number]

/** What the journal says. `written`: it is the answer to a write of ours. */
export type Fate = { readonly state: "pending" } | { readonly state: Decided; readonly written: boolean }

export const pending: Fate = { state: "pending" }

/** Where edited parameters lead: nowhere, to the call as it was proposed, or to another one. */
export const leads = ["unfit", "asProposed", "elsewhere"] as const
export type Leads = typeof leads[number]

/**
 * What somebody's decision is worth where the policy names who may decide: it counts; it is an approver's, and others are
 * needed too; they have approved it before, and others are needed still; or they may not decide. Of a "no" the first counts.
 */
export const whos = ["counts", "more", "already", "stranger"] as const
export type Who = typeof whos[number]

/** One answer, whoever gave it: a message of the history, the controller, or what is remembered. */
export type Answer =
  | { readonly says: "no"; readonly who: Later<Who> }
  | { readonly says: "yes"; readonly who: Later<Who> }
  | {
    readonly says: "edit"
    readonly who: Later<Who>
    readonly leads: Later<Leads>
    /** Of the call it leads to, if that is another one. */
    readonly verdict: Later<Verdict>
    /** Of the same: it was denied before, and that is remembered. */
    readonly deniedBefore: Later<boolean>
  }

export const no: Answer = { says: "no", who: undefined }
export const yes: Answer = { says: "yes", who: undefined }
export const edit: Answer = {
  says: "edit",
  who: undefined,
  leads: undefined,
  verdict: undefined,
  deniedBefore: undefined
}

/** Whether what was shown beside the call is what would be shown now; `nothing` was, where none is sealed. */
export const shows = ["nothing", "same", "changed"] as const
export type Shown = typeof shows[number]

/** A request of ours, or of the provider's, whose seal fits the call. */
export interface Question {
  readonly answers: ReadonlyArray<Answer>
  /** It asks for what a run waits for. */
  readonly suspension: boolean
  /** A suspension may belong to an earlier call of the same id (law L13). */
  readonly own: Later<boolean>
  readonly fate: Later<Fate>
  /** Where it runs or ran, and the policy names who may decide: those on record with that are enough. */
  readonly claimCounts: Later<boolean>
  /** When it was asked, the policy named who may decide: else a "no" needs no policy. */
  readonly named: boolean
  readonly expired: boolean
  /** A new message of the user stands behind it. */
  readonly passedOver: boolean
  readonly shown: Later<Shown>
  /** The tool or the parameters are not what was asked about (law L10). */
  readonly drifted: boolean
}

/** Whom a run that waits is waiting for: a yes or no of a person, other words of a person, or something else. */
export const waitsFor = ["verdict", "person", "other"] as const
export type WaitsFor = typeof waitsFor[number]

/**
 * What was answered to it: nothing, what fits, what does not, or what was taken and cannot be given any more. Where the tool
 * named who may answer: what fits, and others are needed too (`more`) or still (`already`); or what a stranger said.
 */
export const waitAnswers = ["none", "fits", "invalid", "undeliverable", "more", "already", "stranger"] as const
export type WaitAnswer = typeof waitAnswers[number]

/** Whether it can go on from where it waited, by its parameters and by what it remembers. */
export const waitStates = ["fits", "unfitParameters", "unfitState"] as const
export type WaitState = typeof waitStates[number]

/** What becomes of it when nobody has answered in time: it ends, or its tool says how it goes on. */
export const waitExpiries = ["ends", "resumes"] as const
export type WaitExpiry = typeof waitExpiries[number]

/** What a run waits for. `gone`: it is not known any more; `over`: the store knows that it went on. */
export type Wait = "gone" | "over" | {
  readonly for: WaitsFor
  /** Somebody answered something. */
  readonly given: boolean
  readonly expiry: WaitExpiry
  readonly answer: Later<WaitAnswer>
  readonly state: Later<WaitState>
}

/** Its requests: none, some but none of ours, or those of ours. */
export type Questions = "none" | "forged" | ReadonlyArray<Question>

export interface Standing {
  readonly way: Way
  readonly questions: Questions
  /** Somebody said no to any of its requests, ours or not, none of which `named` who may: a denial needs no proof. */
  readonly denied: boolean
  readonly tool: Tool
  readonly powers: Powers
  /** There is somebody who answers for a person. */
  readonly controlled: boolean
  /** Edits count, because whoever wrote the answers is trusted. */
  readonly trusted: boolean
  readonly onInvalid: OnInvalid
  readonly onNewMessage: OnNewMessage
  readonly verdict: Later<Verdict>
  readonly recall: Later<Recall>
  readonly finish: Later<Finish>
  /** Whoever was asked has answered, has not, or not in time; what was answered stands among the answers. */
  readonly reply: Later<Reply>
  readonly wait: Later<Wait>
}
