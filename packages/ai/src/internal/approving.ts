/** Why an approval counts for nothing, in words. */
import * as Text from "./text.ts"

/** What is wrong with a request, before what is to be done about it: a program is told that, and a model something else. */
export const notOfThisCall =
  "The approval does not belong to this call: the call, its parameters, or the conversation" +
  " are not the ones the person was asked about."

export const notIssued = "The approval id is not one that Assent issued."

const problems = {
  unknown: () => "Nobody knows who decided this.",
  "not named": (who: string | undefined) => `${who} may not decide this.`,
  requester: (who: string | undefined) => `${who} asked for this, and somebody else has to decide it.`,
  "approved already": (who: string | undefined) => `${who} has approved this already. Somebody else has to as well.`
}

const oneOf = (ids: ReadonlyArray<string>): string => ids.length === 1 ? ids[0]! : `one of ${ids.join(", ")}`

export const refusal = (
  problem: keyof typeof problems,
  who: string | undefined,
  approvers: ReadonlyArray<ReadonlyArray<string>>
): string => {
  const needs = approvers.length === 0 ? "" : ` It needs ${approvers.map(oneOf).join(", and ")}.`
  return `${problems[problem](who)} The request stays open.${needs}`
}

export const unknown = (approvalId: string): string =>
  `No request has the approval id ${
    Text.quote(approvalId, 64)
  }. Answer with the id of a request as it was given to you: one` +
  " that `pending` gives, in the conversation that asked."
