/** What people say to what is asked. */
import { Approval } from "@assent/ai"
import type * as Tree from "./tree.ts"

export const yes: Tree.Decision = { _tag: "Yes" }
export const no: Tree.Decision = { _tag: "No" }
export const edited = (edit: string): Tree.Decision => ({ _tag: "Yes", edit })
export const text = (text: string): Tree.Decision => ({ _tag: "Text", text })

/** The answer that says so. */
export const answerTo = (
  request: { readonly approvalId: string },
  decision: Tree.Decision
): Approval.ApprovalAnswer => {
  switch (decision._tag) {
    case "Yes":
      return Approval.approve(
        request,
        decision.edit === undefined ? undefined : { params: { key: decision.edit } }
      )
    case "No":
      return Approval.deny(request, "no")
    case "Text":
      return Approval.answer(request, decision.text)
    case "Due":
      throw new Error("nobody answers that but the clock")
  }
}

/** Where in the tree a request stands: its tool was given the key. */
export const keyOf = ({ params }: Approval.ApprovalRequest): string => {
  const { key, task } = params as { readonly key?: string; readonly task?: string }
  return key ?? task?.replace("!", "") ?? "?"
}
