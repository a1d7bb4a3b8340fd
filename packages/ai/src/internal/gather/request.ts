/** A call, its request, and its claim: how a call that was asked about is named to people, events and the journal. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import type * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"
import type { DecidedBy } from "../../Approver.ts"
import type * as Within from "../agent/within.ts"
import type * as Environment from "../environment/environment.ts"
import { definedFields } from "../fields.ts"
import * as Server from "../policy/server.ts"
import * as Text from "../text.ts"
import * as Covers from "../tool/covers.ts"
import * as Said from "./said.ts"

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

/** What the journal is asked about: a request by its seal. */
export const claimOf = (
  sealed: Omit<ApprovalJournal.Claim, keyof Named>,
  call: Named,
  decidedBy?: DecidedBy
): ApprovalJournal.Claim => ({
  decidedBy,
  approvalId: sealed.approvalId,
  nonce: sealed.nonce,
  issuedAt: sealed.issuedAt,
  expiresAt: sealed.expiresAt,
  toolCallId: call.toolCallId,
  toolName: call.toolName
})

export const named = (part: Prompt.ToolCallPart): Named => ({ toolCallId: part.id, toolName: part.name })

/** Where it is asked: whose conversation it is, in which agents, and what may be remembered there. */
export type Where = Pick<Environment.Environment, "scope"> & Partial<Pick<Environment.Environment, "memory" | "within">>

/** What a person is shown beside the call itself. */
export type Shown = { readonly [K in keyof Approval.NeedsApproval]?: Approval.NeedsApproval[K] | undefined } & {
  readonly providerExecuted?: boolean
  readonly source?: string | undefined
  readonly awaited?: Approval.Awaited | undefined
}

/** A call as it is shown; with its tool, if there is one. */
export interface Proposed extends Named {
  readonly encoded: Schema.Json
  readonly tool?: Tool.Any
}

export const makeRequest = (
  { memory, scope, within }: Where,
  sealed: { readonly approvalId: string; readonly issuedAt?: number | undefined; readonly expiresAt?: number },
  call: Proposed,
  shown: Shown
): Approval.ApprovalRequest => {
  // Of a prepared call it is a new value each time.
  const params = call.encoded
  const source = shown.source ?? (call.tool === undefined ? undefined : Server.sourceOf(call.tool))
  return new Approval.ApprovalRequest({
    approvalId: sealed.approvalId,
    toolCallId: call.toolCallId,
    toolName: call.toolName,
    params,
    description: shown.description === undefined
      ? Approval.describe(call.toolName, params)
      : Text.escape(shown.description, { maxLength: 500 }),
    ...Said.fields(call.tool, params),
    interaction: shown.awaited?.kind ?? "approval",
    providerExecuted: shown.providerExecuted === true,
    ...(shown.awaited === undefined ? undefined : { awaited: shown.awaited }),
    ...(shown.presentation === undefined ? undefined : { presentation: Covers.onlyProved(shown.presentation) }),
    ...(shown.reason === undefined ? undefined : { reason: Text.escape(shown.reason, { maxLength: 1_000 }) }),
    ...(source === undefined ? undefined : { source }),
    ...(within === undefined ? whereOf(scope) : insideOf(scope, within)),
    ...(shown.approvers === undefined ? undefined : { approvers: shown.approvers }),
    ...(shown.selfApproval === false ? { selfApproval: false } : undefined),
    ...(shown.editable === undefined ? undefined : { editable: shown.editable }),
    ...(shown.rememberable === undefined ? undefined : { rememberable: shown.rememberable }),
    ...sessionOf(memory, shown, call.toolName),
    ...(sealed.issuedAt === undefined ? undefined : { issuedAt: sealed.issuedAt }),
    ...(sealed.expiresAt === undefined || sealed.expiresAt === Infinity ? undefined : { expiresAt: sealed.expiresAt })
  })
}

/** Whom a request is for, so that it can be shown to them: names of the program's, as they are. */
export const whereOf = ({ conversation, principal }: Approval.ApprovalScope) =>
  definedFields({ conversation, principal })

// Nobody outside knows the conversation of an agent.
const insideOf = ({ principal }: Approval.ApprovalScope, { conversation, path }: Within.Within) => ({
  ...definedFields({ conversation, principal }),
  path
})

// Which calls are approved for the session, in words: whoever says so has to know.
const sessionOf = (
  memory: Where["memory"],
  { session }: Shown,
  toolName: string
): { readonly session?: string } => {
  if (session === undefined || memory?.remembers !== true) return {}
  const remember = memory.matching.read(session)
  if (typeof remember !== "object" || remember.covers === undefined) return {}
  return { session: memory.matching.toWholeSentence(remember.covers, toolName) }
}
