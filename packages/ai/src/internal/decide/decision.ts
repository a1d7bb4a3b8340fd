/** What can be decided about a call: data, made into parts, writes and runs by the hand that carries it out. */
import type { Ending } from "./standing.ts"

/** A fact is missing. `at` is the place of the question, `by` that of its answer. */
export type Need =
  | { readonly _tag: "Need"; readonly fact: "verdict" | "recall" | "finish" | "reply" | "answer" | "state" }
  | { readonly _tag: "Need"; readonly fact: "own" | "fate" | "claim" | "shown" | "wait"; readonly at: number }
  | {
    readonly _tag: "Need"
    readonly fact: "leads" | "editVerdict" | "editDenied" | "who"
    readonly at: number
    readonly by: number
  }

export type Fact = Need["fact"]

/** Something is to be written. What stands then is the next fact. */
export type Write =
  /** A request of our own is to be made for it. */
  | { readonly _tag: "Seal" }
  /** An approval is kept with the request, which needs others too: nothing is claimed. */
  | { readonly _tag: "Add"; readonly at: number; readonly by: number }
  | { readonly _tag: "End"; readonly at: number; readonly state: Ending; readonly why: EndWhy; readonly by: number }

/** Why a request ends; `by` is the place of the answer that says so, where one does. */
export type EndWhy =
  | "said"
  | "blocked"
  | "editBlocked"
  | "remembered"
  | "editDenied"
  | "expired"
  | "superseded"
  | "drifted"
  | "shownChanged"
  | "undeliverable"
  | "unfitParameters"
  | "unfitState"

export type Decision =
  /** A result without any run, and without a write. */
  | { readonly _tag: "Tell"; readonly at: number; readonly why: TellWhy }
  /** It stays open, and is asked about again. */
  | { readonly _tag: "Open"; readonly at: number; readonly why: OpenWhy }
  /** It stays open; the model goes on and sees that it waits. */
  | { readonly _tag: "Keep"; readonly at: number }
  /** What the provider has been told stands: there is nothing to add. */
  | { readonly _tag: "Leave" }
  /** It runs elsewhere, or cannot be run here: its end is waited for. */
  | { readonly _tag: "Wait"; readonly at: number }
  | { readonly _tag: "Run"; readonly at: number; readonly as: RunAs; readonly by: number }
  /** The turn fails. */
  | { readonly _tag: "Fail"; readonly at: number; readonly why: "forged" | "passedOver" }

export type Said = Decision | Need | Write

export type TellWhy =
  | "cut"
  | "unknownTool"
  | "unfit"
  | "lost"
  | "forged"
  | "denied"
  | "noToolkit"
  | "blocked"
  | "remembered"
  | "unfinished"
  /** What the journal holds. */
  | "recorded"
  | "gone"
  | "over"

export type OpenWhy =
  | "asked"
  | "held"
  | "untrustedEdit"
  | "unfitEdit"
  | "noToolkit"
  | "invalidAnswer"
  | "notAnApprover"
  | "othersNeeded"

/**
 * `free`: nobody's word is needed. `claim`: by the answer. `join`: a run that goes on is joined, the result of one that
 * ended is given, and nothing begins. `repeat`: as `join`, and what ended unknown is run again, by the answer, or where no
 * message has one that counts, because it was claimed. `resume`: it goes on from where it waited.
 */
export type RunAs = "free" | "claim" | "join" | "repeat" | "resume"

/** The place of no answer: nobody's word was needed, or it is not an answer that counts. */
export const nobody = -1
