/** Whether the person at the terminal may decide at all (law L16): whoever may not is told so, and not asked. */
import type * as Approval from "@assent/ai/Approval"
import * as Approver from "@assent/ai/Approver"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Content from "./content.ts"
import * as Verdict from "./verdict.ts"

/** Who is there: whom the program names, or else the name that they have logged in by. An id is never guessed. */
export const personOf = (by: Approver.Person | undefined): Effect.Effect<Approver.Person> =>
  by !== undefined ? Effect.succeed(by) : Effect.gen(function*() {
    const named = (name: string) => Effect.orElseSucceed(Config.String(name).pipe(Config.withDefault("")), () => "")
    const name = (yield* named("LOGNAME")) || (yield* named("USER")) || (yield* named("USERNAME"))
    return name === "" ? {} : { name }
  })

/** Why they may not decide; `undefined` where they may. */
export const refusal = (
  request: Approval.ApprovalRequest,
  { id, name }: Approver.Person
): Verdict.Verdict | undefined => {
  const { approvers, principal, selfApproval } = request
  const lists = Approver.lists(approvers)
  const isOthers = selfApproval === false
  if (lists.length === 0 && !isOthers) return undefined
  const isRequester = isOthers && id !== undefined && id === principal
  if (id !== undefined && !isRequester && (lists.length === 0 || lists.some((ids) => ids.includes(id)))) {
    return undefined
  }
  const whose = lists.length === 0 ? "somebody other than the person who asked for it" : Content.approversOf(lists)
  return Verdict.elsewhere(
    request,
    `it is for ${whose} to decide, and ` + (id === undefined
      ? "this program does not say who is at its terminal"
      : `not for ${name ?? id}${isRequester ? ", who asked for it" : ""}`)
  )
}
