/**
 * What can be decided about a call, and the parts of a decision that calls of this turn and of the history share.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as JsonPatch from "effect/JsonPatch"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Approval from "../Approval.ts"
import type * as ApprovalError from "../ApprovalError.ts"
import type * as ApprovalJournal from "../ApprovalJournal.ts"
import * as ApprovalMatcher from "../ApprovalMatcher.ts"
import * as ApprovalMemory from "../ApprovalMemory.ts"
import type * as ApprovalSeal from "../ApprovalSeal.ts"
import type * as Deferral from "./deferral.ts"
import type * as Environment from "./environment.ts"
import * as Annotations from "./policyAnnotations.ts"
import * as Prepare from "./prepare.ts"
import type * as Remembering from "./remembering.ts"
import * as Results from "./results.ts"
import * as Text from "./text.ts"

export type Tools = Readonly<Record<string, Tool.Any>>

/** What is to be done about a call. */
export type Decision =
  | { readonly _tag: "Result"; readonly part: Results.ResultPart }
  | {
    readonly _tag: "Run"
    readonly claim: ApprovalJournal.Claim
    readonly prepared: Prepare.Prepared
    /** What the person changed about the parameters; the model must be told what ran. */
    readonly edits?: JsonPatch.JsonPatch | undefined
    /** The call as it was proposed, where the person changed it. */
    readonly asked?: Prepare.Prepared | undefined
    /** What is to be remembered of the approval, once it has its effect. */
    readonly answered?: ApprovalMemory.Answered | undefined
    /**
     * What is decided if what was shown, or what the policy says, has changed by now; `undefined` if nothing has. To be
     * asked once another call that was shown has run, since that may be what changed it.
     */
    readonly again?: Effect.Effect<Concluded | undefined, ApprovalError.ApprovalError> | undefined
    /** Nothing may be run again: only a run that is going on is joined, and one that ended is given. */
    readonly joinOnly?: boolean
  }
  | { readonly _tag: "Open"; readonly request: Approval.ApprovalRequest }
  /** Sealed; the controller is to be asked. */
  | Consultation
  /** Open, but the model goes on and sees that it waits, and for what (`onNewMessage: "keep"`). */
  | {
    readonly _tag: "Keep"
    readonly call: Results.CallName
    readonly approvalId: string
    readonly reason?: string | undefined
  }
  /** Its run waits as another request. */
  | Suspended
  /** What its run waited for is there: it is to go on. */
  | Resume
  /** Its run waits for a person, and the controller is to be asked. */
  | {
    readonly _tag: "Inquire"
    readonly request: Approval.ApprovalRequest
    /** What is wrong with an answer, if it does not fit. */
    readonly check: (answer: Schema.Json) => Effect.Effect<string | undefined>
    readonly answered: (decision: Approval.ApprovalDecision) => Effect.Effect<Decision, ApprovalError.ApprovalError>
  }

export interface Suspended {
  readonly _tag: "Suspended"
  /** The request as which it waits. */
  readonly approvalId: string
  readonly call: SuspendedCall
}

/** A call whose run waits, as it stands in the history. */
export interface SuspendedCall extends Named {
  /** The first of its requests, which its results name (law L13). */
  readonly root: string
  /** The parameters that its requests are sealed with. */
  readonly canonical: string
  /** `undefined` where it cannot go on: without the tool, or with parameters that do not fit it any more. */
  readonly prepared: Prepare.Prepared | undefined
}

export interface Resume {
  readonly _tag: "Resume"
  readonly claim: ApprovalJournal.Claim
  readonly call: SuspendedCall
  /** The call as its handler gets it. */
  readonly prepared: Prepare.Prepared
  readonly edits: Schema.Json | undefined
  /** `undefined`: nothing may be resumed; only a run that is going on is joined, and one that ended is given. */
  readonly resumption: Deferral.Resumption | undefined
}

export interface Consultation {
  readonly _tag: "Consult"
  readonly prepared: Prepare.Prepared
  readonly sealed: ApprovalSeal.Sealed
  readonly needs: Approval.NeedsApproval
}

/** What the policy said about a call of this turn, before anybody is asked. */
export type Judgement =
  | { readonly _tag: "Result"; readonly part: Results.ResultPart }
  /** Runs like any call: the policy wants nobody. */
  | { readonly _tag: "Direct" }
  | Question

export interface Question {
  readonly _tag: "Ask"
  readonly prepared: Prepare.Prepared
  readonly needs: Approval.NeedsApproval
}

/** A decision after the controller has been asked, or need not be. */
export type Concluded = Exclude<Decision, Consultation>

// =============================================================================
// Making decisions
// =============================================================================

export const claimOf = (sealed: ApprovalSeal.Sealed, call: Named): ApprovalJournal.Claim => ({
  approvalId: sealed.approvalId,
  nonce: sealed.nonce,
  issuedAt: sealed.issuedAt,
  expiresAt: sealed.expiresAt,
  toolCallId: call.toolCallId,
  toolName: call.toolName
})

export const result = (part: Results.ResultPart): Extract<Decision, { readonly _tag: "Result" }> => ({
  _tag: "Result",
  part
})

/** What is to be done when the journal says that a request is not pending any more. */
export interface Standing {
  /** The call, if it may be run here: then whoever executes it joins the run or gets its recorded result. */
  readonly runnable: Prepare.Prepared | undefined
  readonly whileRunning: () => Concluded
}

export const fromEntry = (
  entry: ApprovalJournal.Entry,
  claim: ApprovalJournal.Claim,
  standing: Standing
): Concluded => {
  const call = { id: claim.toolCallId, name: claim.toolName }
  const ended = Results.ofEnding(call, entry, claim.approvalId)
  if (ended !== undefined) return result(ended)
  if (entry.state === "suspended") return suspended(entry, claim, standing.runnable)
  if (standing.runnable !== undefined) return { _tag: "Run", claim, prepared: standing.runnable, joinOnly: true }
  return entry.state === "running" ? standing.whileRunning() : result(Results.ofRecorded(call, entry, claim.approvalId))
}

/** The entry of a run that waits says as which request. */
export const suspended = (
  entry: ApprovalJournal.Entry,
  { approvalId, toolCallId, toolName }: ApprovalJournal.Claim,
  prepared: Prepare.Prepared | undefined
): Suspended => ({
  _tag: "Suspended",
  approvalId: entry.suspendedAs ?? "",
  call: { toolCallId, toolName, root: approvalId, canonical: prepared?.canonical ?? "null", prepared }
})

/** Ends a request without running it, unless it was decided before; `ended` is done only if it ends so. */
export const end = (
  environment: Environment.Environment,
  claim: ApprovalJournal.Claim,
  state: ApprovalJournal.Ending,
  reason: string | undefined,
  standing: Standing,
  ended: Effect.Effect<void> = Effect.void
): Effect.Effect<Concluded, ApprovalError.ApprovalError> =>
  Effect.flatMap(
    environment.journal.end(claim, state, Results.reasonOr(reason)),
    (entry) => Effect.as(entry.state === state ? ended : Effect.void, fromEntry(entry, claim, standing))
  )

// =============================================================================
// Requests
// =============================================================================

export interface Named {
  readonly toolCallId: string
  readonly toolName: string
}

/** What an event says of the call it is about, and of its request. */
export function about(call: Named): Named
export function about(call: Named, request: { readonly approvalId: string }): Named & { readonly approvalId: string }
export function about({ toolCallId, toolName }: Named, request?: { readonly approvalId: string }): Named {
  return { toolCallId, toolName, ...(request === undefined ? undefined : { approvalId: request.approvalId }) }
}

/** What a memory is asked about a call. */
export const subjectOf = (prepared: Prepare.Prepared): Effect.Effect<Remembering.Subject> =>
  Effect.map(Prepare.versionOf(prepared.tool), (version) => ({
    source: "local",
    toolName: prepared.toolName,
    version,
    params: prepared.encoded
  }))

export const named = (part: Prompt.ToolCallPart): Named => ({ toolCallId: part.id, toolName: part.name })

/** What a person is shown beside the call itself. */
export type Shown = { readonly [K in keyof Approval.NeedsApproval]?: Approval.NeedsApproval[K] | undefined } & {
  readonly providerExecuted?: boolean
  readonly source?: string | undefined
  readonly awaited?: Approval.Awaited | undefined
}

/** A call as it is shown; with its tool, if there is one. */
interface Proposed extends Named {
  readonly encoded: Schema.Json
  readonly tool?: Tool.Any
}

export const makeRequest = (
  sealed: { readonly approvalId: string; readonly issuedAt?: number | undefined; readonly expiresAt?: number },
  call: Proposed,
  shown: Shown
): Approval.ApprovalRequest => {
  // Of a prepared call it is a new value each time.
  const params = call.encoded
  const source = shown.source ?? (call.tool === undefined ? undefined : Annotations.sourceOf(call.tool))
  return new Approval.ApprovalRequest({
    approvalId: sealed.approvalId,
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    params,
    description: shown.description === undefined
      ? Approval.describe(call.toolName, params)
      : Text.escape(shown.description, { maxLength: 500 }),
    interaction: shown.awaited?.kind ?? "approval",
    providerExecuted: shown.providerExecuted === true,
    ...(shown.awaited === undefined ? undefined : { awaited: shown.awaited }),
    ...(shown.presentation === undefined ? undefined : { presentation: shown.presentation }),
    ...(shown.reason === undefined ? undefined : { reason: Text.escape(shown.reason, { maxLength: 1_000 }) }),
    ...(source === undefined ? undefined : { source }),
    ...(shown.approvers === undefined ? undefined : { approvers: shown.approvers }),
    ...(shown.editable === undefined ? undefined : { editable: shown.editable }),
    ...(shown.rememberable === undefined ? undefined : { rememberable: shown.rememberable }),
    ...sessionOf(shown, call.toolName),
    ...(sealed.issuedAt === undefined ? undefined : { issuedAt: sealed.issuedAt }),
    ...(sealed.expiresAt === undefined ? undefined : { expiresAt: sealed.expiresAt })
  })
}

const decodeRemember = Schema.decodeUnknownOption(ApprovalMemory.Remember)

// Which calls are approved for the session, in words: whoever says so has to know.
const sessionOf = ({ session }: Shown, toolName: string): { readonly session?: string } => {
  const remember = session === undefined ? undefined : Option.getOrUndefined(decodeRemember(session))
  if (typeof remember !== "object" || remember.covers === undefined) return {}
  return { session: Text.escape(ApprovalMatcher.toSentence(remember.covers, toolName), { maxLength: 500 }) }
}

export const open = (
  sealed: Parameters<typeof makeRequest>[0],
  call: Proposed,
  shown: Shown
): Concluded => ({ _tag: "Open", request: makeRequest(sealed, call, shown) })
