/**
 * What tools, gates, policies and controllers of a plan know of the turn they are called in, and what they say. They are
 * the same objects for all plans; who writes down what happened is read from the `Stage` of the turn.
 */
import { Context, Effect } from "effect"
import { Approval, ApprovalController, ApprovalPolicy } from "../../src/index.ts"
import * as Answering from "./answering.ts"
import type * as Plan from "./plan.ts"
import * as Record from "./record.ts"

// =============================================================================
// Stage
// =============================================================================

/** What a handler, a gate and a policy know of the turn they are called in. */
export interface Stage {
  readonly record: Record.Record
  readonly turn: number
  readonly process: number
  readonly gate: Plan.Verdict
  readonly revision: number
  /** Passes while the process lives, and never again once it has crashed. */
  readonly alive: Effect.Effect<void>
  /** Calls somebody has judged before, over all turns. */
  readonly judged: Set<string>
}

export const Stage = Context.Reference<Stage>("assent/test/search/Stage", {
  defaultValue: () => {
    throw new Error("a handler ran outside of a turn")
  }
})

// =============================================================================
// Verdicts
// =============================================================================

const secretFailure = () => new Error(Record.secrets.policy)

const answerOf = (
  verdict: Plan.Verdict,
  isFirst: boolean
): readonly [said: Record.Judgement["said"], answer: Effect.Effect<ApprovalPolicy.PolicyResult, unknown>] => {
  switch (verdict) {
    case "nothing":
      return ["own", Effect.undefined]
    case "ask":
      return ["ask", Effect.succeed(Approval.needsApproval({ reason: `Asked. ${Record.nasty}` }))]
    case "ask rememberable":
      return ["ask", Effect.succeed(Approval.needsApproval({ rememberable: true }))]
    case "ask once":
      return ["ask", Effect.succeed(Approval.needsApproval({ remember: Answering.remembering.tool }))]
    case "allow":
      return ["allow", Effect.succeed(Approval.preApproved())]
    case "block":
      return ["block", Effect.succeed(Approval.blocked("Not today."))]
    case "fail":
      return ["failed", Effect.fail(secretFailure())]
    case "die":
      return ["failed", Effect.die(secretFailure())]
    case "hang":
      return ["failed", Effect.never]
    case "garbage":
      return ["failed", Effect.succeed("yes" as never)]
    case "block later":
      return answerOf(isFirst ? "ask" : "block", isFirst)
    case "fail later":
      return answerOf(isFirst ? "ask" : "fail", isFirst)
  }
}

export const judge = (by: Record.Judgement["by"], verdict: Plan.Verdict, call: Record.Received) =>
  Effect.flatMap(Stage, ({ alive, judged, record, turn }) =>
    Effect.flatMap(alive, () => {
      const key = Record.canonical([by, call])
      const [said, answer] = answerOf(verdict, !judged.has(key))
      judged.add(key)
      // A gate that says nothing of use is one that fails.
      const heard = by === "gate" && said === "own" ? "failed" : said
      const round = record.turns[turn]!.sent.length
      const { resumptions: { length: resumptions }, runs: { length: runs } } = record
      record.judgements.push({ turn, call, by, said: heard, runs, resumptions, round })
      return answer
    }))

/** The policy that always says this. */
export const policyOf = (verdict: Plan.Verdict): ApprovalPolicy.Service =>
  ApprovalPolicy.make(({ encodedParams, toolCallId, toolName }) =>
    judge("policy", verdict, { id: toolCallId, tool: toolName, params: Record.canonical(encodedParams) })
  )

/** What the controller says to a tool that waits for words. */
export const controllerWords = "words of the controller"

/** The person who is asked inline and always says this. */
export const controllerOf = (
  says: string,
  show: (request: Approval.ApprovalRequest, turn: number) => void
): ApprovalController.Service =>
  ApprovalController.interactive((request) =>
    Effect.flatMap(
      Stage,
      ({ alive, record, turn }) =>
        Effect.flatMap(alive, (): Effect.Effect<ApprovalController.Reply, unknown> => {
          show(request, turn)
          const approved = says.startsWith("approve") || says === "edit"
          const params = says === "edit" ? Answering.edited(request.params) : request.params
          record.asked.push({
            turn,
            approvalId: request.approvalId,
            said: says,
            params: approved ? Record.canonical(params) : undefined
          })
          if (request.awaited !== undefined && (says === "approve" || says === "edit" || says === "misfit")) {
            return Effect.succeed(Answering.answer(request, says === "approve" ? says : "edit", controllerWords))
          }
          switch (says) {
            case "approve":
              return Effect.succeed(true)
            case "approve for good":
              return Effect.succeed(Approval.approve(request, { remember: Answering.remembering.call }))
            case "approve once more":
              return Effect.succeed(Approval.approve(request, { remember: Answering.remembering.once }))
            case "deny":
              return Effect.succeed(Approval.deny(request, "no, thank you"))
            case "deny for good":
              return Effect.succeed(Approval.deny(request, "no, thank you", { remember: Answering.remembering.call }))
            case "edit":
              return Effect.succeed(Approval.approve(request, { params }))
            case "misfit":
              return Effect.succeed(Approval.approve(request, { params: { amount: "many" } }))
            case "info":
              return Effect.succeed(new Approval.Info({ note: "let me think" }))
            case "fail":
              return Effect.fail(secretFailure())
            case "die":
              return Effect.die(secretFailure())
            default:
              return Effect.succeed("yes" as never)
          }
        })
    )
  )
