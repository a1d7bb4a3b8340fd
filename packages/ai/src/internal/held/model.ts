/** A turn of a conversation that is kept, as this process has it: where it is kept, how it stands, and what it has said. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import type * as Approver from "../../Approver.ts"
import type * as ConversationStore from "../../ConversationStore.ts"
import type * as SuspensionStore from "../../SuspensionStore.ts"
import type * as Within from "../agent/within.ts"
import type * as Recorder from "../environment/recorder.ts"
import type { RefusedAnswer } from "../posted.ts"
import type * as Saying from "./saying.ts"

/** Where a conversation is kept, and what this process knows of it. */
export interface Place {
  readonly store: ConversationStore.Service
  readonly key: ConversationStore.Key
  readonly busyFor: Duration.Duration
  /** It is an agent's, and goes on within a call. */
  readonly within?: Within.Within | undefined
  /**
   * The record as it was read or written last, so that what did not change are the same objects. Whoever looks at the
   * conversation beside a turn changes it: what a turn writes over is the turn's own `base`.
   */
  known: ConversationStore.Found | undefined
}

export interface Limits {
  readonly steps: number
  readonly tokens: number
}

/** Answers in the history of which nobody knows yet what becomes of them. */
export interface Decided {
  readonly ids: ReadonlyArray<string>
  /** The history without them, where they were given at the beginning of this turn. */
  readonly before: Prompt.Prompt | undefined
  /** Those that have no effect, as the engine says. */
  readonly refusals: Array<RefusedAnswer>
  /** Something else was said in this turn that counts. */
  readonly isAmongOthers: boolean
}

/**
 * How a turn stands in the store: only read yet, and overtaken by another before it was written; entered, so that others
 * wait for it, and lost to another since; left, so that others may go on.
 */
type Standing = "begun" | "overtaken" | "entered" | "lost" | "left"

export interface Turn {
  /** The conversation as this turn has read or written it last. */
  base: ConversationStore.Found | undefined
  standing: Standing
  /** Writes that it is taken, if that is not written yet: before anything else is done than to say something. */
  readonly enter: Effect.Effect<void, ConversationStore.ConversationError>
  /** Nothing is said or run in it but what ends what waits: it is taken in a full conversation too. */
  isEnding: boolean
  /** How many messages there were when it began, with what was said in it: what comes behind is what it says. */
  from: number
  /** Everything that it begins with is said. */
  hasBegun: boolean
  /** What was said along with answers, by where it stands. */
  beside: Beside | undefined
  history: Prompt.Prompt
  /** What the conversation waits for, as the last response said. */
  open: ReadonlyArray<Approval.ApprovalRequest>
  /** What is asked in agents, as the last response said. */
  nested: ReadonlyArray<Approval.ApprovalRequest>
  /** The ids of those that were answered since. */
  answered: ReadonlyArray<string>
  /** Who gave those answers that stand in the history, by the ids of their requests (law L16). */
  deciders: Readonly<Record<string, Approver.DecidedBy>>
  /** What was decided, until it is known what becomes of it. */
  decided: Decided | undefined
  /** Answers of this turn that have no effect, as far as that is known. */
  refused: ReadonlyArray<RefusedAnswer>
  /** Everything the turn has said, over all of its steps. */
  readonly content: Array<Response.AnyPart>
  steps: number
  tokens: number
  /** What was said ends with the assistant, for the model to go on from there. */
  isPrefilled: boolean
  /** What a step that goes on has said so far. */
  step: Array<Response.AnyPart>
  /** What of it is shown to nobody: that it waits for agents. */
  hidden: ReadonlyArray<Response.AnyPart>
  /** Until when it may go on, in milliseconds since 1970. */
  until: number
  /** What of it is on record, and as which messages. */
  record: Recorder.Record | undefined
  written: ReadonlyArray<Prompt.Message>
  readonly suspensions: SuspensionStore.Service
  readonly saying: Saying.Saying
  /** It keeps less of what it has said: a text, and not how it came. */
  isBrief: boolean
  /** It is an agent's. */
  readonly isAgent: boolean
}

interface Beside {
  readonly from: number
  readonly to: number
  /** Behind which messages the engine reads it; `undefined`: where it stands. */
  behind: number | undefined
}
