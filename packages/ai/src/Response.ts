/**
 * Upstream's `Response`, with the questions a program asks about approvals: is somebody waited for, and for what?
 *
 * @since 0.1.0
 */
import type * as Response from "effect/ai/Response"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Approval from "./Approval.ts"
import * as HostedCall from "./internal/tool/hostedCall.ts"

export * from "effect/ai/Response"
// Readers of the built package get the types of `assent` on parts too: an import without names would not be in it.
export type { CallMetadata, FinishMetadata, RequestMetadata, ResultMetadata } from "./internal/augment.ts"

/**
 * The parts of a response, or the response itself.
 *
 * @category models
 * @since 0.1.0
 */
export type PartsInput = ReadonlyArray<Response.AnyPart> | { readonly content: ReadonlyArray<Response.AnyPart> }

/**
 * Whether a response waits for somebody: it holds a request. The loop of a program with approvals is
 * `while (Response.isWaiting(turn)) turn = yield* chat.generateText({ prompt: Prompt.approvalResponses(answers), toolkit })`.
 *
 * @example
 * import { Response } from "@assent/ai"
 *
 * Response.isWaiting([Response.toolApprovalRequestPart({ approvalId: "id-1", toolCallId: "call-1" })]) // => true
 * Response.isWaiting([Response.makePart("text", { text: "Done." })]) // => false
 *
 * @category approvals
 * @since 0.1.0
 */
export const isWaiting = (response: PartsInput): boolean =>
  partsOf(response).some((part) => part.type === "tool-approval-request")

/**
 * Whether a person stopped the turn with a denial (`Approval.deny(request, reason, { stop: true })`). What was approved has
 * run; the finish reason is `stop`, and the model is not called again before the user says something new, also where the
 * same history comes again.
 *
 * @example
 * import { Approval, ApprovalController, LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const { model } = yield* ScriptedModel.make({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]]
 *   })
 *   const turn = yield* LanguageModel.generateText({ prompt: "Clean up.", toolkit }).pipe(
 *     Effect.provideService(LanguageModel.LanguageModel, model)
 *   )
 *   return Response.isStopped(turn)
 * }).pipe(
 *   Effect.provide(ApprovalController.layerInteractive((request) => Approval.deny(request, "Stop.", { stop: true }))),
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void }))
 * )
 *
 * await Effect.runPromise(program) // => true
 *
 * @category approvals
 * @since 0.1.0
 */
export const isStopped = (response: PartsInput): boolean =>
  partsOf(response).some((part) => part.type === "finish" && part.metadata.assent?.stopped === true)

/**
 * The requests of a response, each once, joined with their calls.
 *
 * @example
 * import { LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Schema } from "effect"
 *
 * const DeleteFile = Tool.make("DeleteFile", {
 *   parameters: { path: Schema.String },
 *   needsApproval: () => ({ reason: "It is for ever." })
 * })
 * const toolkit = Toolkit.make(DeleteFile)
 *
 * const program = LanguageModel.generateText({ prompt: "Clean up.", toolkit }).pipe(
 *   Effect.map((response) => Response.approvalRequests(response).map((one) => [one.description, one.reason])),
 *   Effect.provide(toolkit.toLayer({ DeleteFile: () => Effect.void })),
 *   Effect.provide(ScriptedModel.layer({
 *     turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteFile", params: { path: "a.txt" } })]]
 *   }))
 * )
 *
 * await Effect.runPromise(program) // => [["DeleteFile(path='a.txt')", "It is for ever."]]
 *
 * @category approvals
 * @since 0.1.0
 */
export const approvalRequests = (response: PartsInput): ReadonlyArray<Approval.ApprovalRequest> => {
  const parts = partsOf(response)
  const calls = new Map<string, Response.ToolCallPart<string, unknown>>()
  for (const part of parts) {
    if (part.type === "tool-call") calls.set(part.id, part)
  }
  const requests = new Map<string, Approval.ApprovalRequest>()
  for (const part of parts) {
    if (part.type !== "tool-approval-request" || requests.has(part.approvalId)) continue
    requests.set(
      part.approvalId,
      Option.getOrElse(approvalRequest(part), () => fromCall(part, calls.get(part.toolCallId)))
    )
  }
  // What waits in agents is asked there.
  return Array.from(requests.values()).filter(({ interaction }) => interaction !== "nested")
}

/**
 * The request a part of a stream carries; none when it is another part, or a request that is not ours.
 *
 * @example
 * import { LanguageModel, Response, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect, Option, Stream } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * const program = LanguageModel.streamText({ prompt: "Clean up.", toolkit }).pipe(
 *   Stream.flatMap((part) => Stream.fromIterable(Option.toArray(Response.approvalRequest(part)))),
 *   Stream.map((request) => request.description),
 *   Stream.runCollect,
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]] })
 *   )
 * )
 *
 * await Effect.runPromise(program) // => ["DeleteAll()"]
 *
 * @category approvals
 * @since 0.1.0
 */
export const approvalRequest = (part: Response.AnyPart): Option.Option<Approval.ApprovalRequest> =>
  part.type !== "tool-approval-request" ? Option.none() : Option.filter(
    decodeRequest(part.metadata.assent),
    (request) => request.approvalId === part.approvalId && request.toolCallId === part.toolCallId
  )

// =============================================================================
// Internals
// =============================================================================

const decodeRequest = Schema.decodeUnknownOption(Schema.toCodecJson(Approval.ApprovalRequest))

const partsOf = (response: PartsInput): ReadonlyArray<Response.AnyPart> =>
  "content" in response ? response.content : response

const fromCall = (
  part: Response.ToolApprovalRequestPart,
  call: Response.ToolCallPart<string, unknown> | undefined
): Approval.ApprovalRequest => {
  const { params, source, toolName } = HostedCall.asked(call ?? { id: part.toolCallId, name: "unknown", params: null })
  return new Approval.ApprovalRequest({
    approvalId: part.approvalId,
    toolCallId: part.toolCallId,
    toolName,
    params,
    description: Approval.describe(toolName, params),
    interaction: "approval",
    providerExecuted: call?.providerExecuted === true,
    ...(source === undefined ? undefined : { source })
  })
}
