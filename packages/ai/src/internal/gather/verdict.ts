/** What the policy says of a call now, and what a person is shown of it. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Tool from "effect/ai/Tool"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import type * as ApprovalSeal from "../../ApprovalSeal.ts"
import type * as Standing from "../decide/standing.ts"
import * as Environment from "../environment/environment.ts"
import * as Policies from "../policy/service.ts"
import * as Origins from "../seal/origins.ts"
import * as Covers from "../tool/covers.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Presentation from "../tool/presentation.ts"
import * as Approvers from "./approvers.ts"
import type { Judged } from "./file.ts"
import * as Tools from "./tools.ts"

/** What a policy that failed says (law L1): no approval counts, so none is remembered; a denial that was does. */
const policyFailed = new Approval.NeedsApproval({
  reason: "The approval policy for this tool failed, so a person is asked. Until it is fixed a denial counts, but an" +
    " approval does not.",
  rememberable: false
})

/** What the policy says of a call. */
export const ask = (
  environment: Environment.Environment,
  prepared: Prepare.Prepared,
  messages: ReadonlyArray<Prompt.Message>
): Effect.Effect<Approval.ApprovalResult, ApprovalError.ApprovalError> =>
  Environment.permitted(
    environment,
    decide(environment.policy, prepared, messages, environment.options.policyTimeLimit)
  )

/** The same, of whatever is left of a call: of one that does not fit its tool nobody can say anything. */
export const judge = (
  environment: Environment.Environment,
  toolName: string,
  messages: ReadonlyArray<Prompt.Message>
) =>
(prepared: Prepare.Prepared | undefined): Effect.Effect<Approval.ApprovalResult, ApprovalError.ApprovalError> =>
  prepared === undefined
    ? Effect.fail(ApprovalError.make(new ApprovalError.PolicyFailed({ toolName })))
    : ask(environment, prepared, messages)

const decide = (
  policy: Policies.Service,
  prepared: Prepare.Prepared,
  messages: ReadonlyArray<Prompt.Message>,
  timeLimit: Duration.Input
): Effect.Effect<Approval.ApprovalResult, ApprovalError.ApprovalError> => {
  const { decoded, tool, toolCallId, toolName } = prepared
  const since = Origins.now()
  let encoded: Schema.Json | undefined
  const decided = Policies.decide(
    policy,
    {
      tool,
      toolName,
      toolCallId,
      params: decoded,
      // Few policies look at it.
      get encodedParams() {
        return encoded ??= prepared.encoded
      },
      messages
    },
    timeLimit
  )
  const presenter = Presentation.presenterOf(tool)
  const shown = presenter === undefined
    ? decided
    : Effect.flatMap(decided, (result) => Presentation.present(presenter, result, prepared, messages, timeLimit))
  return Effect.mapEager(shown, (result) => Covers.prove(result, prepared, since))
}

/** The question alone, closed: `true` unless everything said that the call may run. */
export const isNeeded = (
  policy: Policies.Service,
  tool: Tool.Any,
  call: Pick<Response.ToolCallPartEncoded, "id" | "name" | "params">,
  messages: ReadonlyArray<Prompt.Message>,
  timeLimit: Duration.Input
): Effect.Effect<boolean> =>
  !Tools.isGated(policy, tool) ? Effect.succeed(false) : Effect.match(
    Effect.flatMap(Prepare.prepare(tool, call), (prepared) => decide(policy, prepared, messages, timeLimit)),
    { onFailure: () => true, onSuccess: (result) => result._tag !== "PreApproved" }
  )

/** The fact in what the policy said. */
export const verdictOf = (judged: Judged): Standing.Verdict => {
  if (Result.isFailure(judged)) return { says: "failed" }
  const { success: said } = judged
  switch (said._tag) {
    case "PreApproved":
      return { says: "allowed" }
    case "Blocked":
      return { says: "blocked" }
    case "NeedsApproval":
      return { says: "ask", editable: said.editable === true, names: Approvers.names(said) }
  }
}

/** How the call is asked about; a call that was asked about before stays so, even if nobody would be asked now. */
export const needsOf = (judged: Judged): Approval.NeedsApproval =>
  Result.isFailure(judged)
    ? policyFailed
    : judged.success._tag === "NeedsApproval"
    ? judged.success
    : new Approval.NeedsApproval({})

/** What may be shown again of a request that was sealed: what was sealed. */
export const shownAgain = (sealed: ApprovalSeal.Sealed, judged: Judged): Effect.Effect<Approval.NeedsApproval> =>
  Presentation.again(sealed, needsOf(judged))

// Once for each tool, and without the cause, which may hold what nobody is to see (law L15).
const warned = new WeakSet<Tool.Any>()

/** Tells the author that a person is asked because their policy failed. */
export const warn = ({ tool }: Prepare.Prepared): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (warned.has(tool)) return Effect.void
    warned.add(tool)
    return Effect.logWarning(
      `Assent: the approval policy or needsApproval of "${tool.name}" failed or did not answer, so a person is asked.` +
        " Approvals have no effect until it works. It may return a boolean, an ApprovalResult, { description }, or an" +
        " Effect of one; the stream of ApprovalEvents says what it did."
    )
  })
