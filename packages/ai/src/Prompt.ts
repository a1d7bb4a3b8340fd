/**
 * Upstream's `Prompt`, with three functions for approvals: {@link approvalResponses} makes the message that answers
 * requests, {@link readAnswers} reads answers as people post them, and {@link fromResponseParts} keeps what upstream's drops.
 *
 * @since 0.1.0
 */
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as Approval from "./Approval.ts"
import type * as ApprovalError from "./ApprovalError.ts"
import { definedFields } from "./internal/fields.ts"
import * as Posted from "./internal/posted.ts"

export * from "effect/ai/Prompt"
// Readers of the built package get the types of `assent` on parts too: an import without names would not be in it.
export type {
  CallMetadata,
  MessageMetadata,
  NamedMetadata,
  RequestMetadata,
  ResultMetadata
} from "./internal/augment.ts"

/**
 * The tool message that carries answers back to the engine, as a prompt. An `Info` answers nothing and is left out.
 *
 * An answer in a message can only approve, deny, or give a value. Edited parameters, and the wish to be remembered, go
 * with it but count only where the policy says `editable` and `rememberable`; elsewhere an approval with edited
 * parameters leaves its request open (law L4).
 *
 * Answers may be plain JSON, as people post them. One that cannot be read throws an `ApprovalError` with
 * `InvalidAnswer`. The types keep a program from that: whatever is not known to be an answer goes through {@link
 * readAnswers} first.
 *
 * @example
 * import { Approval, Prompt } from "@assent/ai"
 *
 * const prompt = Prompt.approvalResponses([Approval.deny({ approvalId: "id-1" }, "keep it")])
 *
 * prompt.content.map((message) => message.role) // => ["tool"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const approvalResponses = (answers: ReadonlyArray<Approval.AnswerInput>): Prompt.Prompt => {
  const content: Array<Prompt.ToolApprovalResponsePart> = []
  for (const { approvalId, decision } of Result.getOrThrow(Posted.answers(answers))) {
    if (decision._tag === "Info") continue
    const assent: Schema.Json = decision._tag === "Approved"
      ? definedFields({ answer: decision.answer, params: decision.params, remember: decision.remember })
      : definedFields({ remember: decision.remember, stop: decision.stop })
    content.push(Prompt.makePart("tool-approval-response", {
      approvalId,
      approved: decision._tag === "Approved",
      ...(decision.note === undefined ? undefined : { reason: decision.note }),
      ...(Object.keys(assent).length === 0 ? undefined : { options: { assent } })
    }))
  }
  return content.length === 0 ? Prompt.empty : Prompt.fromMessages([Prompt.makeMessage("tool", { content })])
}

/**
 * Reads answers as people post them: one, or a list. Each has a decision, `{ approvalId, decision: { _tag: "Denied",
 * reason } }`, or upstream's form, `{ approvalId, approved: false, reason }`. Whatever else it says, such as who gave
 * it, is not read (law L16). Fails with `InvalidAnswer`, and reads none, where one of them cannot be read.
 *
 * @example
 * import { Prompt } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const posted: unknown = JSON.parse(`[{ "approvalId": "id-1", "approved": false, "reason": "keep it" }]`)
 *
 * const program = Effect.map(Prompt.readAnswers(posted), ([answer]) => answer?.decision)
 *
 * JSON.stringify(await Effect.runPromise(program)) // => `{"_tag":"Denied","note":"keep it"}`
 *
 * @category approvals
 * @since 0.1.0
 */
export const readAnswers = (
  posted: unknown
): Effect.Effect<ReadonlyArray<Approval.ApprovalAnswer>, ApprovalError.ApprovalError> =>
  Effect.suspend(() => Effect.fromResult(Posted.answers(posted)))

/**
 * Upstream's `fromResponseParts`, but requests keep their metadata, results of calls from earlier turns come before the
 * assistant's message instead of after it, and a result that says nothing is `null`, so that it can be kept as JSON.
 *
 * @example
 * import { LanguageModel, Prompt, Tool, Toolkit } from "@assent/ai"
 * import { ScriptedModel } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const toolkit = Toolkit.make(Tool.make("DeleteAll", { needsApproval: true }))
 *
 * const program = Effect.gen(function*() {
 *   const asked = yield* LanguageModel.generateText({ prompt: "Clean up.", toolkit })
 *   const history = Prompt.concat(Prompt.make("Clean up."), Prompt.fromResponseParts(asked.content))
 *   // What a page shows of a request is kept with it.
 *   const { pending } = LanguageModel.collectToolApprovals(history.content)
 *   return pending.map(({ request }) => JSON.stringify(request.options).includes("DeleteAll()"))
 * }).pipe(
 *   Effect.provide(toolkit.toLayer({ DeleteAll: () => Effect.void })),
 *   Effect.provide(
 *     ScriptedModel.layer({ turns: [[ScriptedModel.toolCall({ id: "call-1", name: "DeleteAll", params: {} })]] })
 *   )
 * )
 *
 * await Effect.runPromise(program) // => [true]
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromResponseParts = (parts: ReadonlyArray<Response.AnyPart>): Prompt.Prompt => {
  const calls = new Set<string>()
  const metadata = new Map<string, Response.ToolApprovalRequestPartMetadata>()
  const earlier: Array<Response.AnyPart> = []
  const own: Array<Response.AnyPart> = []
  for (const part of parts) {
    if (part.type === "tool-call") calls.add(part.id)
    else if (part.type === "tool-approval-request") metadata.set(part.approvalId, part.metadata)
    if (part.type !== "tool-result") {
      own.push(part)
      continue
    }
    // JSON has no undefined: what says nothing would lose its key, and the history could not be read again.
    const kept = part.encodedResult === undefined ? { ...part, encodedResult: null } : part
    if (part.providerExecuted !== true && !calls.has(part.id)) earlier.push(kept)
    else own.push(kept)
  }
  const prompt = Prompt.concat(Prompt.fromResponseParts(earlier), Prompt.fromResponseParts(own))
  return metadata.size === 0 ?
    prompt :
    Prompt.fromMessages(
      prompt.content.map((message) =>
        message.role !== "assistant" ? message : Prompt.makeMessage("assistant", {
          ...message,
          content: message.content.map((part) =>
            part.type !== "tool-approval-request" ? part : Prompt.makePart("tool-approval-request", {
              ...part,
              options: metadata.get(part.approvalId) ?? {}
            })
          )
        })
      )
    )
}
