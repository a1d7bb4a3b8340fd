/** A payment in histories by hand, and its result as a writer of histories says when it was told. */
import * as Prompt from "effect/ai/Prompt"

export { assistant, text, tool, user } from "../laws/byHand.ts"

export const yes = Prompt.toolMessage({
  content: [Prompt.toolApprovalResponsePart({ approvalId: "r1", approved: true })]
})

export const result = (assent: object, more: Partial<Prompt.ToolResultPart> = {}) =>
  Prompt.toolResultPart({
    id: "c1",
    name: "Pay",
    isFailure: false,
    result: "paid",
    providerExecuted: false,
    options: { assent: { approvalId: "r1", ...assent } as never },
    ...more
  })
