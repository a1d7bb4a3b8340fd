/**
 * What happened while a plan was carried out: what the laws are checked against. Only what can be seen from outside is
 * in here: handlers that started, parts that came out, prompts the provider received, errors, spans.
 */
import type { Cause } from "effect"
import type { Approval, Prompt, Response } from "../../src/index.ts"
import type * as Plan from "./plan.ts"

/** How a turn came to its end. `stuck`: not even after much time. */
export type Ending = "success" | "failure" | "left" | "crashed" | "stuck"

/** What was in force when a turn began. */
export interface Circumstances {
  readonly policy: "default" | Plan.Verdict
  readonly gate: Plan.Verdict
  readonly controller: string
  readonly revision: number
  readonly drift: { readonly [tool: string]: string }
  readonly scope: number
  /** Whether answers are remembered. */
  readonly memory: boolean
  /** The keys that are accepted, with the time until which they are. */
  readonly keys: ReadonlyArray<{ readonly key: number; readonly until: number }>
  /** The key new requests are sealed with. */
  readonly key: number
}

export interface Turn {
  readonly index: number
  /** The step of the plan; those that bring a plan to its end come after it. */
  readonly step: number
  /** Where calls are made: in the conversation, straight to a guarded toolkit, or by a handler's own model. */
  readonly within: "conversation" | "guard" | "handler"
  readonly plan: Plan.Turn
  readonly process: number
  /** Whether the conversation goes on from this turn, rather than from its twin. */
  readonly primary: boolean
  /** Whether anybody had written to the history by then. */
  readonly tampered: boolean
  readonly startedAt: number
  /** How many runs had started by then. */
  readonly runsBefore: number
  readonly circumstances: Circumstances
  /** The whole prompt, as the engine is given it. */
  readonly prompt: Prompt.Prompt
  /** How many messages of the prompt came with this turn. */
  readonly added: number
  readonly parts: Array<Response.AnyPart>
  /** What the provider received in this turn, and its incremental form. */
  readonly sent: Array<{ readonly prompt: Prompt.Prompt; readonly incremental: Prompt.Prompt | undefined }>
  /** The calls the provider made in this turn, as far as it came. */
  readonly received: ReadonlyArray<Received>
  ending: Ending
  endedAt: number
  /** Runs of this turn that were still going on when it ended. */
  unfinished: number
  cause: Cause.Cause<unknown> | undefined
  /** The requests and parts carried by an `ApprovalRequired`. */
  required: { readonly requests: ReadonlyArray<Approval.ApprovalRequest> } | undefined
}

export interface Received {
  readonly id: string
  readonly tool: string
  /** Canonical, in the encoded form. */
  readonly params: string
}

/** A request that the engine itself gave out: in a part, in an error, or to the controller. */
export interface Request {
  readonly approvalId: string
  readonly call: Received
  readonly turn: number
  readonly scope: number
  readonly key: number
  readonly expiresAt: number
  readonly shown: Approval.ApprovalRequest
}

/** A call that the provider runs itself. */
export interface Hosted {
  readonly callId: string
  /** The provider's own id of its request, which is made if the plan says that it asks. */
  readonly approvalId: string
  readonly plan: Plan.HostedCall
  readonly turn: number
  /** What it is said to be about: the call itself, or what its metadata say. */
  readonly about: { readonly toolName: string; readonly params: string }
  /** The request as it was first given out. */
  shown: Approval.ApprovalRequest | undefined
}

/** The provider runs such a call. */
export interface HostedRun {
  readonly callId: string
  readonly turn: number
}

/** The start of a handler. */
export interface Run {
  readonly number: number
  readonly turn: number
  readonly process: number
  readonly call: Received
  readonly startedAt: number
  endedAt: number
  outcome: "running" | "succeeded" | "failed" | "died" | "interrupted" | "suspended"
}

/** A handler ended with the wish to wait. `start` is the number of the run with which its call began. */
export interface Suspension {
  readonly start: number
  /** How often the call had waited before. */
  readonly index: number
  readonly kind: Plan.Awaited
  readonly call: Received
  readonly turn: number
  readonly process: number
  readonly at: number
  /** For a timer, when it is due. */
  readonly dueAt: number
}

/** A request for what a tool waits for, as it was first given out. */
export interface Asking {
  readonly approvalId: string
  readonly suspension: Suspension
  readonly turn: number
  readonly shown: Approval.ApprovalRequest
}

/** A handler went on from where it waited. */
export interface Resumption {
  readonly number: number
  readonly turn: number
  readonly process: number
  readonly suspension: Suspension
  /** Canonical: what it was given. */
  readonly answer: string
  readonly startedAt: number
  /** How many runs had started by then. */
  readonly runs: number
  endedAt: number
  outcome: Run["outcome"]
}

/** The program told a tool what it waits for, or ended its waiting. */
export interface Telling {
  readonly step: number
  readonly at: number
  readonly approvalId: string
  /** Canonical; `undefined` where it ended the waiting. */
  readonly answer: string | undefined
  /** `"done"`, or the name of the error's reason. */
  readonly outcome: string
}

/** Somebody stopped the run of a request, or tried to. */
export interface Stop {
  readonly step: number
  readonly approvalId: string
  /** How many runs had started by then. */
  readonly runs: number
  /** What the journal said: whether there was a live run. */
  readonly said: boolean
  /** Runs of its call in that process that went on all the same. */
  readonly left: ReadonlyArray<number>
}

/** Answers that were put into the history between two turns. */
export interface Answering {
  readonly step: number
  readonly tampered: boolean
  readonly approvalIds: ReadonlyArray<string>
  readonly before: Prompt.Prompt
  readonly after: Prompt.Prompt
  /** `"done"`, or the name of the error's reason. */
  readonly outcome: string
  /** Those that have no effect, beside others that have one. */
  readonly refused: ReadonlyArray<{ readonly approvalId: string; readonly why: string }>
}

/** An operation of the store that failed. */
export interface Trouble {
  readonly step: number
  readonly how: Plan.Store["how"]
  readonly method: string
}

/** What the policy or a gate said about a call, in the order they said it. `own` leaves it to the tool. */
export interface Judgement {
  readonly turn: number
  readonly call: Received
  readonly by: "policy" | "gate"
  readonly said: "ask" | "allow" | "block" | "failed" | "own"
  /** How many runs had started by then. */
  readonly runs: number
  /** How many of those had gone on from where they waited by then. */
  readonly resumptions: number
  /** How often the model had been called in that turn by then. */
  readonly round: number
}

/** A question to the controller, about a call of ours or of the provider's, and its reply. */
export interface Asked {
  readonly turn: number
  readonly approvalId: string
  readonly said: string
  /** Canonical: those it approved, where it did. */
  readonly params: string | undefined
}

export interface Record {
  readonly plan: Plan.Plan
  readonly turns: Array<Turn>
  readonly runs: Array<Run>
  readonly requests: Array<Request>
  readonly judgements: Array<Judgement>
  readonly asked: Array<Asked>
  /** The kinds of tampering that changed something. */
  readonly tampered: Array<Plan.Tamper["how"]>
  /** Kinds of other steps that were carried out. */
  readonly steps: Array<string>
  /** Processes that crashed. */
  readonly crashed: Array<number>
  /** Processes that were closed, and when. */
  readonly closed: Array<{ readonly process: number; readonly at: number }>
  readonly hosted: Array<Hosted>
  readonly hostedRuns: Array<HostedRun>
  readonly stops: Array<Stop>
  readonly answerings: Array<Answering>
  readonly troubles: Array<Trouble>
  readonly suspensions: Array<Suspension>
  readonly askings: Array<Asking>
  readonly resumptions: Array<Resumption>
  readonly tellings: Array<Telling>
  /** Names, attributes and events of spans, as text. */
  readonly spans: Array<string>
  /** Where the turns begin that bring the plan to its end, with everything healed. */
  closing: number
}

export const make = (plan: Plan.Plan): Record => ({
  plan,
  turns: [],
  runs: [],
  requests: [],
  judgements: [],
  asked: [],
  tampered: [],
  steps: [],
  crashed: [],
  closed: [],
  hosted: [],
  hostedRuns: [],
  stops: [],
  answerings: [],
  troubles: [],
  suspensions: [],
  askings: [],
  resumptions: [],
  tellings: [],
  spans: [],
  closing: 0
})

/** JSON with sorted keys, so that two values can be compared. */
export const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([left], [right]) => left < right ? -1 : 1))
      : inner)

export const isSameCall = (left: Received, right: Received): boolean =>
  left.id === right.id && left.tool === right.tool && left.params === right.params

/** What no model, client or span may ever see. */
export const secrets = {
  policy: "SECRET-OF-THE-POLICY",
  handler: "SECRET-OF-THE-HANDLER",
  key: "SECRET-KEY-OF-THE-PROGRAM-NUMBER"
} as const

/** Text that would mislead whoever reads it: a bidirectional override, a zero-width space, an escape, a bell. */
export const nasty = "a\u202Ereversed\u200B\u001B[2J\u0007end"
