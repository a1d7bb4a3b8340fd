/**
 * Whether the answers of a history come from the program itself. A `Conversation` keeps its history where nobody else
 * writes, so what its answers change or want remembered counts as a controller's does (law L4). It holds for that one
 * history: the engine takes it away from everything that runs in the turn.
 */
import * as Context from "effect/Context"
import type { ApprovalErrorReason } from "../../ApprovalError.ts"
import * as Approver from "../../Approver.ts"

export const TrustsAnswers: Context.Reference<boolean> = Context.Reference<boolean>(
  "@assent/ai/internal/TrustsAnswers",
  { defaultValue: () => false }
)

/**
 * Who gave the answers of this turn: a channel that knows its people says it of those it has just put at the end of its
 * history, by the ids of their requests. Of a request that was answered more than once it is said of the last message with
 * an answer to it; every other answer is of nobody known (law L16). It holds for that one history, as trust does.
 */
export const Answering: Context.Reference<(approvalId: string) => Approver.DecidedBy | undefined> = Context.Reference<
  (approvalId: string) => Approver.DecidedBy | undefined
>("@assent/ai/internal/Answering", { defaultValue: () => nobody })

/** A cancellation is no decision of anybody's: the program ends what is open, whoever may decide on it. */
export const cancellation = Approver.decidedBy(undefined, "cancellation")

/** An answer that anybody may have written: what it changes does not count, also where its history is the program's own. */
export const byMessage = Approver.decidedBy(undefined, "message")

export const nobody = (): undefined => undefined

/** Who is to know of answers that have no effect, by the ids of their requests: the channel that took them. */
export type Refused = (approvalId: string, reason: ApprovalErrorReason) => void

export const Refusals: Context.Reference<Refused> = Context.Reference<Refused>("@assent/ai/internal/Refusals", {
  defaultValue: () => nobody
})
