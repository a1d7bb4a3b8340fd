/** A call that the provider runs and asks about, as one that is to be decided. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"
import * as Standing from "../decide/standing.ts"
import * as Environment from "../environment/environment.ts"
import { definedFields } from "../fields.ts"
import * as Answering from "../gather/answering.ts"
import { type Case, type File, make as makeFile, question, standing } from "../gather/file.ts"
import type * as Remembering from "../gather/remembering.ts"
import * as Request from "../gather/request.ts"
import * as Tools from "../gather/tools.ts"
import * as Policies from "../policy/service.ts"
import * as Cryptography from "../seal/cryptography.ts"
import * as Gate from "../tool/gate.ts"
import * as GatedTool from "../tool/gatedTool.ts"
import * as Call from "../tool/hostedCall.ts"

export interface Subject {
  readonly environment: Environment.Environment
  readonly tools: Tools.Tools | undefined
  readonly messages: ReadonlyArray<Prompt.Message>
}

export interface HostedCase extends Case {
  readonly approvalId: string
  readonly request: Approval.ApprovalRequest
}

export const make = (
  subject: Subject,
  { approvalId, call }: { readonly approvalId: string; readonly call: Call.Call },
  known: {
    readonly powers: Standing.Powers
    readonly responses?: ReadonlyArray<Prompt.ToolApprovalResponsePart> | undefined
    /** Only some may decide, for all that is known without asking the policy. */
    readonly named: boolean
    /** Why no answer counts any more. */
    readonly expired?: string | undefined
    /** Why this is not the call that the provider asked about. */
    readonly failure?: ApprovalError.ApprovalError | undefined
    /** Why it is asked about again. */
    readonly reason?: string | undefined
    readonly passedOver?: boolean
    /** The turn goes on from the answer, and then judges it. */
    readonly judgedAgain?: boolean
  }
): HostedCase => {
  const { environment, messages, tools } = subject
  const { expired, failure, judgedAgain = false, named, passedOver = false, powers, reason, responses = [] } = known
  const request = requestOf(environment, approvalId, call, reason)
  const given = responses.map(Answering.givenOf(environment, messages))
  const denial = given.find(({ response }) => response?.approved === false)
  return {
    approvalId,
    request,
    file: makeFile({
      environment,
      call: { toolCallId: request.toolCallId, toolName: request.toolName },
      tools,
      messages,
      judge: () => judge(subject, request, call),
      subject: Effect.succeed(memoryOf(request)),
      request: () => request,
      judgedAgain,
      prepared: undefined,
      failure,
      root: approvalId,
      denial,
      kept: named ? kept : undefined,
      questions: [{
        // The provider's id stands for a seal: no journal knows of it, and it has no time limit of its own.
        sealed: {
          approvalId,
          keyId: "",
          nonce: `provider:${approvalId}`,
          issuedAt: undefined,
          expiresAt: Infinity,
          schemaFingerprint: "",
          presentationDigest: undefined
        },
        canonical: JSON.stringify(request.params),
        given,
        expired
      }]
    }),
    standing: standing(environment, {
      way: "hosted",
      tool: "gated",
      powers,
      denied: denial !== undefined && (!named || failure !== undefined),
      questions: failure !== undefined ? "forged" : [question({
        answers: responses.map(({ approved }) => approved ? Standing.yes : Standing.no),
        named,
        expired: expired !== undefined,
        passedOver
      })]
    })
  }
}

// The provider's id is the provider's alone: what is kept of it is kept for this scope.
export const claimOf = ({ call, environment: { scope }, questions }: File): Effect.Effect<ApprovalJournal.Claim> => {
  const { canonical, sealed } = questions[0]!
  const { conversation = null, principal = null, tenant = null } = scope
  const { toolCallId, toolName } = call
  // Both ids may be used again: what was approved is this call alone.
  const named = JSON.stringify([tenant, principal, conversation, toolCallId, sealed.approvalId, toolName, canonical])
  return Effect.map(Cryptography.sha256(named), (digest) => ({
    ...Request.claimOf(sealed, call),
    kind: "hosted",
    nonce: `provider-${digest}`
  }))
}

const kept = (file: File) => Effect.flatMap(claimOf(file), file.environment.journal.find)

/** The request as people and policies see it. */
export const requestOf = (
  where: Request.Where,
  approvalId: string,
  call: Call.Call,
  reason?: string
): Approval.ApprovalRequest => {
  const { params, source, toolName } = Call.asked(call)
  return Request.makeRequest(where, { approvalId }, { toolCallId: call.id, toolName, encoded: params }, {
    providerExecuted: true,
    ...definedFields({ source, reason })
  })
}

// The provider asked, so a tool that says nothing about its calls is one that wants to be asked about.
const judge = (
  { environment, messages, tools }: Subject,
  { params, toolCallId, toolName }: Approval.ApprovalRequest,
  call: Call.Call
): Effect.Effect<Approval.ApprovalResult, ApprovalError.ApprovalError> => {
  const tool = Tools.toolOf(tools, call.name)
  if (tool === undefined) return Effect.succeed(new Approval.NeedsApproval({}))
  const decided = Policies.decide(
    environment.policy,
    {
      tool: Gate.gateOf(tool) === undefined ? closed(tool) : tool,
      toolName,
      toolCallId,
      params,
      encodedParams: params,
      messages
    },
    environment.options.policyTimeLimit
  )
  return Environment.permitted(environment, decided)
}

const closedTools = new WeakMap<Tool.Any, Tool.Any>()

const closed = (tool: Tool.Any): Tool.Any => {
  const known = closedTools.get(tool) ?? GatedTool.setGate(tool, true)
  closedTools.set(tool, known)
  return known
}

// What a memory is asked about a call that the provider runs; its tool is what the provider says it is.
const memoryOf = ({ params, source = "provider", toolName }: Approval.ApprovalRequest): Remembering.Subject => ({
  source,
  toolName,
  version: "provider",
  params
})
