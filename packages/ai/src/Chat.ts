/**
 * Upstream's `Chat`, with {@link answer}.
 *
 * @since 0.1.0
 */
import type * as Chat from "effect/ai/Chat"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type * as Approval from "./Approval.ts"
import * as ApprovalError from "./ApprovalError.ts"
import * as LanguageModel from "./LanguageModel.ts"
import * as Prompt from "./Prompt.ts"

export * from "effect/ai/Chat"

/**
 * Puts answers into a chat's history, between two turns; the next turn carries them out. Unlike answers passed as a
 * turn's prompt, they stay when that turn's model call fails, and are in what `export` gives.
 *
 * Fails, and changes nothing, with `UnknownApproval` when the history has no request of that id, and with
 * `AlreadyDecided` when the request's call has its result.
 *
 * @example
 * import { Approval, ApprovalError, Chat } from "@assent/ai"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const chat = yield* Chat.empty
 *   yield* Chat.answer(chat, [Approval.approve({ approvalId: "id-1" })])
 *   return "answered"
 * }).pipe(ApprovalError.catchReason("UnknownApproval", () => Effect.succeed("no such request")))
 *
 * await Effect.runPromise(program) // => "no such request"
 *
 * @category approvals
 * @since 0.1.0
 */
export const answer = Effect.fnUntraced(function*(
  chat: Chat.Chat,
  answers: ReadonlyArray<Approval.ApprovalAnswer>
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const history = yield* Ref.get(chat.history)
  const { approved, denied, pending } = LanguageModel.collectToolApprovals(history.content)
  const known = new Map([...approved, ...denied, ...pending].map((one) => [one.approvalId, one]))
  for (const { approvalId } of answers) {
    const request = known.get(approvalId)
    if (request === undefined) {
      return yield* ApprovalError.make(new ApprovalError.UnknownApproval({ approvalId: approvalId.slice(0, 64) }))
    }
    if (request.result !== undefined) {
      const state = request.result.isFailure ? "failed" : "done"
      return yield* ApprovalError.make(new ApprovalError.AlreadyDecided({ approvalId, state }))
    }
  }
  yield* Ref.update(chat.history, Prompt.concat(Prompt.approvalResponses(answers)))
})
