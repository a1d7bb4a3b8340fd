/**
 * What happened while a plan was carried out: what the laws are checked against. Everything has a place in one order
 * (`at`), whichever process it happened in, and the right time (`time`), which no process knows.
 */
import type { Approval, Prompt } from "../../../src/index.ts"
import * as Waiting from "../waiting.ts"
import type * as Plan from "./plan.ts"

export interface Moment {
  readonly at: number
  /** Milliseconds of the right time. */
  readonly time: number
  /** Turns of the event loop. */
  readonly turn: number
}

/** A process, and what became of it. */
export interface Process {
  readonly index: number
  readonly seat: Plan.Seat
  died: Moment | undefined
  closed: Moment | undefined
  /** Each time it stood still; `until` is when it went on. */
  readonly blocks: Array<{ readonly from: Moment; until: Moment | undefined }>
}

/** A turn, or the part of one that was taken before its reader left. */
export interface Op {
  readonly index: number
  readonly process: number
  readonly plan: Plan.Turn
  readonly began: Moment
  /** What was said in it; empty where nothing was. */
  readonly text: string
  /** Whether it is one of those that bring a plan to its end. */
  readonly isLast: boolean
  left: Moment | undefined
  ended: (Moment & { readonly how: "success" | "failure" | "left"; readonly outcome: string }) | undefined
}

/** A call that the model made. */
export interface Call {
  readonly id: string
  readonly plan: Plan.Call
  readonly op: number
  readonly made: Moment
}

/** The start of a handler; of one that waited, also where it goes on. */
export interface Run {
  readonly number: number
  readonly call: Call
  /** Whether it goes on from what it waited for, and what it was told. */
  readonly isResumption: boolean
  readonly isRefused: boolean
  readonly op: number
  readonly process: number
  readonly began: Moment
  /** Whether the call was on record when it began. */
  readonly isOnRecord: boolean
  ended: Moment | undefined
  outcome: "running" | "succeeded" | "failed" | "died" | "interrupted" | "suspended"
}

/** A step of a request in the journal, as it was written. */
export interface Fate extends Moment {
  readonly approvalId: string
  readonly callId: string
  readonly state: Approval.ApprovalState
  readonly process: number
}

/** A request as a person sees it. */
export interface Open {
  readonly approvalId: string
  readonly toolCallId: string
}

/** A person's word. */
export interface Answer extends Moment {
  readonly callId: string
  readonly approvalId: string
  readonly isApproval: boolean
}

/** What the provider received. */
export interface Sent extends Moment {
  readonly op: number
  readonly process: number
  readonly prompt: Prompt.Prompt
}

/** Somebody stopped the conversation. */
export interface Cancel extends Moment {
  readonly process: number
  ended: (Moment & { readonly outcome: string }) | undefined
}

/** Somebody looked at what is open. */
export interface Look extends Moment {
  readonly process: number
  readonly open: ReadonlyArray<Open>
}

export interface Record {
  readonly plan: Plan.Plan
  readonly processes: Array<Process>
  readonly ops: Array<Op>
  readonly calls: Array<Call>
  readonly runs: Array<Run>
  readonly fates: Array<Fate>
  readonly answers: Array<Answer>
  readonly sent: Array<Sent>
  readonly cancels: Array<Cancel>
  readonly looks: Array<Look>
  /** Those that a provider would have refused, and what it would have said. */
  readonly refused: Array<Moment & { readonly op: number; readonly what: string }>
  /** The steps that found something to act upon. */
  readonly steps: Array<{ readonly step: Plan.Step; readonly running: ReadonlyArray<number> }>
  /** Where the processes are closed that live to the end. */
  end: number
  /** This moment. */
  readonly now: () => Moment
}

/** `time` tells the right time. */
export const make = (plan: Plan.Plan, time: () => number): Record => ({
  plan,
  processes: [],
  ops: [],
  calls: [],
  runs: [],
  fates: [],
  answers: [],
  sent: [],
  cancels: [],
  looks: [],
  refused: [],
  steps: [],
  end: Infinity,
  now: counter(time)
})

const counter = (time: () => number): Record["now"] => {
  let next = 0
  return () => ({ at: next++, time: time(), turn: Waiting.turns() })
}

/** What a run says of itself in its result, so that each result can be told from every other. */
export const markOf = (number: number): string => `run:${number};`
