/**
 * The parts the engine writes itself. A failed result always has a reason string (law L14): a person's denial and a
 * policy's reads as final; whatever else kept a call from running says that nothing ran and that it may be asked again.
 */
import * as Prompt from "effect/ai/Prompt"
import * as Response from "effect/ai/Response"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import type * as ApprovalJournal from "../../ApprovalJournal.ts"
import type { DecidedBy } from "../../Approver.ts"
import type { ResultMetadata } from "../augment.ts"
import * as Bounds from "../bounds.ts"
import * as Text from "../text.ts"

export type ResultPart = Response.ToolResultPart<string, unknown, unknown>

export interface CallName {
  readonly id: string
  readonly name: string
}

const deniedReason = "The user denied this call."

export const supersededReason =
  "Superseded by a new message before anyone answered. Nothing ran; it may be asked again."

export const lostReason =
  "This call has no result in the conversation, for example because a turn was cut short. It is" +
  " not run now, and whether it ran before is unknown. Check before calling it again."

export const noToolkitReason = "No toolkit was given on this turn, so the approved call could not run. Nothing ran;" +
  " it may be asked again."

export const unsendableReason = "The call ran, but its result cannot be written as JSON, so it cannot be shown." +
  " Do not repeat it without checking."

export const unfitReason =
  "The call ran, but what it gave is not what its tool says that it gives, so it cannot be shown." +
  " Do not repeat it without checking."

const bodyGoneReason = "This call ran before; its result is no longer kept. Do not repeat it without checking."

export const waitingReason = "Waiting for approval; the call has not run yet."

const notRunReason = "Another call of the same response waits for approval. Nothing ran; it may be asked again."

export const unfinishedReason = "The response ended without a finish, so the call could not be approved. Nothing ran;" +
  " it may be asked again."

export const notAskedReason =
  "The response ended without a finish, so nobody could be asked what the tool waits for. What" +
  " it did before is not undone. Check before calling it again."

export const crashedReason = "The tool crashed before it finished; what it did is unknown. Check before calling again."

/** A reason that says something (law L14). */
export const reasonOr = (reason: unknown): string =>
  typeof reason !== "string" || reason.trim().length === 0 ? deniedReason : reason

const maxReasonLength = 4_000

const failed = (
  call: CallName,
  type: "execution-denied" | "execution-interrupted",
  reason: string | undefined,
  approvalId: string | undefined,
  decidedBy?: DecidedBy
): ResultPart => {
  const result = { type, reason: Text.truncate(reasonOr(reason), maxReasonLength) }
  const part = toolResult(call, { result, encodedResult: result, isFailure: true }, approvalId)
  return decidedBy === undefined ? part : withDecidedBy(part, decidedBy)
}

/** Final: a person or the policy said no. `begun` is what is to be said of a tool that had begun (law L14). */
export const denied = (
  call: CallName,
  reason: string | undefined,
  approvalId?: string,
  decidedBy?: DecidedBy,
  begun?: string
): ResultPart =>
  failed(
    call,
    "execution-denied",
    begun === undefined ? reason : followedBy(reasonOr(reason), begun),
    approvalId,
    decidedBy
  )

const followedBy = (reason: string, sentence: string): string => {
  const said = Text.truncate(reason.trim(), maxReasonLength - sentence.length - 2)
  return `${said}${/[.!?…]$/.test(said) ? "" : "."} ${sentence}`
}

/** Whether it is one. */
export const isDenied = ({ isFailure, result }: { readonly isFailure: boolean; readonly result: unknown }): boolean =>
  isFailure && typeof result === "object" && result !== null && "type" in result && result.type === "execution-denied"

/** Not final: it did not run, or not to the end, and the reason says what to do. */
export const interrupted = (call: CallName, reason: string, approvalId?: string): ResultPart =>
  failed(call, "execution-interrupted", reason, approvalId)

/** The denial of a call that the provider would have run: for the history; the provider is told by the answer. */
export const hostedDenial = (call: CallName, { note, stop }: Approval.Denied, approvalId: string): ResultPart => {
  const part: ResultPart = { ...denied(call, note, approvalId), providerExecuted: true }
  return stop === true ? stopping(part, approvalId) : part
}

/** That nobody answered what the provider asked before a new message came: for the history; the provider is not told. */
export const hostedSuperseded = (call: CallName, approvalId: string): ResultPart => ({
  ...interrupted(call, supersededReason, approvalId),
  providerExecuted: true
})

/** Whether a result is one of the provider's that was written here, of which the provider is not told. */
export const isHostedSuperseded = (part: Prompt.ToolResultPart): boolean =>
  part.providerExecuted && ownEndingOf(part)?.reason === supersededReason

/** Marks the result of a call whose denial ended the turn. */
export const stopping = (part: ResultPart, approvalId: string): ResultPart => {
  const assent: ResultMetadata = { approvalId, ...part.metadata.assent, stop: true }
  return { ...part, metadata: { ...part.metadata, assent } }
}

/** Whether it is the result of such a call. */
export const isStopping = ({ metadata: { assent } }: Pick<ResultPart, "metadata">): boolean =>
  assent !== undefined && assent !== null && "stop" in assent && assent.stop === true

/** The reason that a failed result of ours gives. */
export const reasonOf = ({ result }: Prompt.ToolResultPart): { readonly reason?: string } =>
  typeof result === "object" && result !== null && "reason" in result && typeof result.reason === "string"
    ? { reason: result.reason }
    : {}

/** How a call ended whose failed result is none of its tool's, and why. */
export const ownEndingOf = (
  { isFailure, result }: Prompt.ToolResultPart
): { readonly outcome: "denied" | "interrupted"; readonly reason: string } | undefined => {
  if (!isFailure || typeof result !== "object" || result === null || !("type" in result && "reason" in result)) {
    return undefined
  }
  const { reason, type } = result
  const outcome = type === "execution-denied" ? "denied" : type === "execution-interrupted" ? "interrupted" : undefined
  return outcome === undefined || typeof reason !== "string" ? undefined : { outcome, reason }
}

/** Marks a result of a call that has no request as one of an earlier message, should its id be used again (law L13). */
export const earlier = (part: ResultPart): ResultPart => ({ ...part, metadata: { assent: { earlier: true } } })

/** Whether a failed result says that nothing ran and that the call may be made again (law L14). */
export const mayBeAskedAgain = (part: Prompt.ToolResultPart | undefined): boolean =>
  part?.isFailure === true && (reasonOf(part).reason?.includes(again) ?? false)

const again = "it may be asked again"

/** A sibling that needed nobody, of a call that has to wait (law L12). */
export const notRun = (call: CallName): ResultPart => interrupted(call, notRunReason)

export const truncatedFinish = (call: CallName, finishReason: string, begun?: string): ResultPart => {
  const reason = `Tool call execution was interrupted because the response finished with reason "${finishReason}"`
  return interrupted(call, begun === undefined ? reason : followedBy(reason, begun))
}

export const toolResult = (
  call: CallName,
  output: {
    readonly result: unknown
    readonly encodedResult: unknown
    readonly isFailure: boolean
    readonly preliminary?: boolean | undefined
    readonly modelOutput?: ReadonlyArray<Prompt.ToolModelOutputPart> | undefined
  },
  settled?: string | ResultMetadata
): ResultPart =>
  Response.makePart("tool-result", {
    id: call.id,
    name: call.name,
    providerExecuted: false,
    preliminary: output.preliminary === true,
    result: output.result,
    encodedResult: output.encodedResult,
    isFailure: output.isFailure,
    ...(output.modelOutput === undefined ? undefined : { modelOutput: output.modelOutput }),
    ...(settled === undefined
      ? undefined
      : { metadata: { assent: typeof settled === "string" ? { approvalId: settled } : settled } })
  }) as ResultPart // `isFailure` and `result` are correlated in the part's type, which a spread cannot show.

/** What a result says of the approval it settles, of what the person changed, who that was, and that it ends the turn. */
export const settles = (
  approvalId: string,
  { edits, stop }: Pick<ApprovalJournal.Recorded, "edits" | "stop">,
  decidedBy: DecidedBy | undefined
): ResultMetadata => ({
  approvalId,
  ...(edits === undefined ? undefined : { edits }),
  ...(stop === undefined ? undefined : { stop }),
  ...(decidedBy === undefined ? undefined : { decidedBy: { ...decidedBy } })
})

/** The same result, which says whose decision it is. */
export const withDecidedBy = (part: ResultPart, decidedBy: DecidedBy): ResultPart => {
  const assent: ResultMetadata = { ...part.metadata.assent, decidedBy: { ...decidedBy } }
  return { ...part, metadata: { ...part.metadata, assent } }
}

/** The same result of an approved call, which says how much that came before it was left out. */
export const withLeftOut = (part: ResultPart, leftOut: number): ResultPart => {
  const { assent } = part.metadata
  return assent !== undefined && assent !== null && "approvalId" in assent
    ? { ...part, metadata: { ...part.metadata, assent: { ...assent, leftOut } } }
    : part
}

/** How the result stands in a prompt: as `Prompt.fromResponseParts` writes it. */
export const toPromptPart = (part: ResultPart): Prompt.ToolResultPart =>
  Prompt.makePart("tool-result", {
    id: part.id,
    name: part.name,
    isFailure: part.isFailure,
    result: part.encodedResult === undefined ? null : part.encodedResult,
    ...(part.modelOutput === undefined ? undefined : { modelOutput: part.modelOutput }),
    providerExecuted: false,
    options: part.metadata
  })

/** The failed result of a request that ended without running; `undefined` while it has not ended that way. */
const ofEnding = (
  call: CallName,
  entry: ApprovalJournal.Entry,
  approvalId: string,
  begun: string | undefined
): ResultPart | undefined => {
  switch (entry.state) {
    case "denied":
      return denied(call, entry.reason, approvalId, entry.decidedBy, begun)
    case "expired":
    case "superseded":
    case "cancelled":
    case "void":
      return interrupted(call, entry.reason ?? begun ?? supersededReason, approvalId)
    default:
      return undefined
  }
}

/**
 * A result as JSON, so that what is sent now, what is recorded and what a later turn sends are the same; a failed result
 * for what has no JSON, or is out of bounds. Nothing (the result of a `void` tool) stays nothing.
 */
export const sendable = (output: Output, maxBytes: number): Output => {
  if (output.encodedResult === undefined) return output
  const within = bounded(output, maxBytes)
  if (within !== output) return within
  const json = Result.try((): Schema.Json => JSON.parse(JSON.stringify(output.encodedResult)))
  return Result.isSuccess(json) ? { ...output, encodedResult: json.success } : instead(unsendableReason)
}

const instead = (reason: string): Output => {
  const result = { type: "execution-interrupted", reason }
  return { isFailure: true, result, encodedResult: result, modelOutput: undefined }
}

/** What of a result is out of bounds (law L17): of itself, or of what the tool writes for the model. */
export const excessOf = (output: Output, maxBytes: number): Bounds.Excess | undefined => {
  const bounds = Bounds.result(maxBytes)
  return Bounds.check(output.encodedResult, bounds) ??
    (output.modelOutput === undefined ? undefined : Bounds.check(output.modelOutput, bounds))
}

/** A result, or in the place of one that is out of bounds a failed one that says what to do. */
export const bounded = <O extends Output>(output: O, maxBytes: number): O | Output => {
  const excess = excessOf(output, maxBytes)
  return excess === undefined ? output : leftOut(output, excess, maxBytes)
}

/** The call has run, which the model is to know. */
export const leftOut = ({ isFailure }: Pick<Output, "isFailure">, excess: Bounds.Excess, maxBytes: number): Output => {
  if (excess === "unwritable") return instead(unsendableReason)
  const how = `${Bounds.describe(excess, Bounds.result(maxBytes))}, so it is left out`
  return instead(
    isFailure
      ? `The call failed, and what it says of that is ${how}. Check before calling it again.`
      : `The call ran, but its result is ${how}. Do not repeat it as it was: ask for less, or for one part at a time.`
  )
}

/** Whether what an answer of a history carries is in bounds. */
export const answerFits = ({ options }: Prompt.ToolApprovalResponsePart): boolean => {
  const { assent, ...others } = options ?? {}
  if (typeof assent !== "object" || assent === null) return Bounds.check(others, Bounds.metadata) === undefined
  for (const field of Object.values(assent)) if (Bounds.check(field, Bounds.answer) !== undefined) return false
  return Bounds.check(others, Bounds.metadata) === undefined
}

/** What a run gave, before it is a part. */
export interface Output {
  readonly isFailure: boolean
  readonly result: unknown
  readonly encodedResult: unknown
  readonly modelOutput?: ReadonlyArray<Prompt.ToolModelOutputPart> | undefined
}

/** What the model sees of a call whose parameters the person changed: what ran, and then its result. */
export const editedOutput = (part: Output, params: Schema.Json): ReadonlyArray<Prompt.ToolModelOutputPart> => [
  Prompt.makePart("text", {
    text: `The user changed the parameters before approving. The call ran with: ${JSON.stringify(params)}`
  }),
  ...(part.modelOutput ?? [Prompt.makePart("text", { text: JSON.stringify(part.encodedResult) ?? "null" })])
]

/** What the journal kept of a run. */
export const ofRecorded = (call: CallName, entry: ApprovalJournal.Entry, approvalId: string): ResultPart => {
  if (entry.recorded === undefined) {
    return interrupted(call, entry.state === "unknown" ? entry.reason ?? crashedReason : bodyGoneReason, approvalId)
  }
  const { encodedResult, isFailure, modelOutput } = entry.recorded
  return toolResult(call, {
    result: encodedResult,
    encodedResult,
    isFailure,
    modelOutput: modelOutput === undefined ? undefined : decodeModelOutput(modelOutput)
  }, settles(approvalId, entry.recorded, entry.decidedBy))
}

/**
 * What an entry says of a request that is not pending any more: how it ended, or what its run gave. `begun` is what is to be
 * said of a tool that had begun. What is unknown is marked, because its owner may say more (law L2).
 */
export const ofEntry = (
  call: CallName,
  entry: ApprovalJournal.Entry,
  approvalId: string,
  begun?: string
): ResultPart => {
  const part = ofEnding(call, entry, approvalId, begun) ?? ofRecorded(call, entry, approvalId)
  if (entry.state !== "unknown") return part
  const assent: ResultMetadata = { approvalId, ...part.metadata.assent, unknown: true }
  return { ...part, metadata: { ...part.metadata, assent } }
}

const ModelOutput = Schema.toCodecJson(Schema.Array(Prompt.ToolModelOutputPart))

export const encodeModelOutput = Schema.encodeSync(ModelOutput)

const decodeModelOutput = Schema.decodeUnknownSync(ModelOutput)

const encodeRequest = Schema.encodeSync(Schema.toCodecJson(Approval.ApprovalRequest))

export const requestPart = (request: Approval.ApprovalRequest): Response.ToolApprovalRequestPart =>
  Response.makePart("tool-approval-request", {
    approvalId: request.approvalId,
    toolCallId: request.toolCallId,
    metadata: { assent: encodeRequest(request) }
  })

/** The same, as it is kept while somebody here is asked about it. */
export const inlinePart = (request: Approval.ApprovalRequest): Response.ToolApprovalRequestPart => {
  const part = requestPart(request)
  const { assent } = part.metadata
  // A request is encoded as an object.
  return { ...part, metadata: { assent: { ...assent as { readonly [key: string]: Schema.Json }, inline: true } } }
}

/** The finish of a turn that called no model because a request is open (law L5). */
export const pauseFinish = (): Response.FinishPart =>
  Response.makePart("finish", {
    reason: "pause",
    usage: new Response.Usage({
      inputTokens: { uncached: undefined, total: undefined, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: undefined }
    }),
    response: undefined
  })

/** The finish of a turn that called no model because there was nothing to answer (law L7). */
export const stopFinish = (): Response.FinishPart => ({ ...pauseFinish(), reason: "stop" })

/** The finish of a turn that a person stopped: whoever would go on from its calls has nothing to go on with. */
export const stopped = (finish: Response.FinishPart): Response.FinishPart => ({
  ...finish,
  reason: "stop",
  metadata: { ...finish.metadata, assent: { stopped: true } }
})

/** The same of one that called no model. */
export const stoppedFinish = (): Response.FinishPart => stopped(stopFinish())

/** A result of a history, as a response has it. It names its request, so that no other call takes it (law L13). */
export const recorded = (part: Prompt.ToolResultPart, approvalId: string): ResultPart => ({
  ...toolResult(part, { ...part, encodedResult: part.result }, { approvalId, ...part.options.assent }),
  providerExecuted: part.providerExecuted
})

/** The parts of a turn's last response, whose finish counts what all of its responses used. */
export const withUsageOf = <Part extends Response.AnyPart>(
  earlier: ReadonlyArray<Response.FinishPart>,
  parts: ReadonlyArray<Part>
): ReadonlyArray<Part> =>
  parts.map((part) =>
    part.type !== "finish"
      ? part
      : { ...part, usage: earlier.reduce((sum, { usage }) => addUsage(sum, usage), part.usage) }
  )

const addUsage = (left: Response.Usage, right: Response.Usage): Response.Usage =>
  new Response.Usage({
    inputTokens: addFields(left.inputTokens, right.inputTokens),
    outputTokens: addFields(left.outputTokens, right.outputTokens)
  })

const addFields = <Counts extends { readonly [name: string]: number | undefined }>(
  left: Counts,
  right: Counts
): Counts => {
  const sum: Record<string, number | undefined> = { ...left }
  for (const name in right) {
    const count = right[name]
    if (count !== undefined) sum[name] = (sum[name] ?? 0) + count
  }
  // The same names, counted together.
  return sum as Counts
}
