/** How what a tool waits for is answered, in words for whoever writes the program. */
import type * as Approval from "../../Approval.ts"

export interface Way {
  readonly answeredBy: "message" | "webhook" | "clock" | "program"
  readonly how: string
}

export const of = (kind: Approval.InteractionKind): Way => {
  switch (kind) {
    case "getApproval":
      return {
        answeredBy: "message",
        how:
          "Prompt.approvalResponses([Approval.approve(request)]), or Approval.deny(request, reason): the tool goes on" +
          " with either."
      }
    case "askUser":
    case "selectOptions":
    case "form":
      return {
        answeredBy: "message",
        how:
          "Prompt.approvalResponses([Approval.answer(request, value)]); Approval.deny(request, reason) ends the call."
      }
    case "webhook":
      return { answeredBy: "webhook", how: "Serve Webhook.handler; it wakes the conversation, which takes a turn." }
    case "timer":
      return {
        answeredBy: "clock",
        how: "Run SuspensionStore.watchTimers; it wakes the conversation, which takes a turn."
      }
    case "nested":
      return {
        answeredBy: "message",
        how: "Answer the requests that are asked within it: it goes on with them."
      }
    case "external":
      return {
        answeredBy: "program",
        how: "DeferredTool.deliver(tool, interaction, request, answer), then take a turn."
      }
  }
}
