/**
 * People whose answers are known beforehand: for tests and for command lines.
 *
 * {@link make} answers an interactive controller, {@link answers} answers the requests a turn ended with, and
 * {@link parse} reads answers from a command line.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../Approval.ts"

// =============================================================================
// Models
// =============================================================================

/**
 * One answer: a word, a denial with the reason the model is told, or a whole decision. `"ignore"` never answers.
 *
 * @category models
 * @since 0.1.0
 */
export type Step = "approve" | "deny" | "ignore" | { readonly deny: string } | Approval.ApprovalDecision

/**
 * One answer of a person who is asked directly: as {@link Step}, or an effect, as to answer late or to look first.
 *
 * @category models
 * @since 0.1.0
 */
export type InteractiveStep = Step | Effect.Effect<Approval.ApprovalDecision>

/**
 * Answers in the order of the requests, or a function that finds each request's answer.
 *
 * @category models
 * @since 0.1.0
 */
export type Script<S> = ReadonlyArray<S> | ((request: Approval.ApprovalRequest) => S)

/**
 * A person who answers by a script. `seen` are the requests they were asked, in order.
 *
 * @category models
 * @since 0.1.0
 */
export interface ScriptedApprover {
  readonly callback: (request: Approval.ApprovalRequest) => Effect.Effect<Approval.ApprovalDecision>
  readonly seen: Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>>
}

// =============================================================================
// Constructors
// =============================================================================

/**
 * Makes a person for an interactive controller. A request beyond the end of an array is a defect that names it: the
 * test forgot an answer.
 *
 * @example
 * import { Approval } from "@assent/ai"
 * import { ScriptedApprover } from "@assent/ai/testing"
 * import { Effect } from "effect"
 *
 * const request = new Approval.ApprovalRequest({
 *   approvalId: "approval-1",
 *   toolCallId: "call-1",
 *   toolName: "DeleteFile",
 *   params: {},
 *   description: "DeleteFile()",
 *   interaction: "approval",
 *   providerExecuted: false
 * })
 * const approver = ScriptedApprover.make(["approve", { deny: "keep it" }])
 * const program = Effect.gen(function*() {
 *   const first = yield* approver.callback(request)
 *   const second = yield* approver.callback(request)
 *   return [first._tag, second._tag]
 * })
 *
 * await Effect.runPromise(program) // => ["Approved", "Denied"]
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (script: Script<InteractiveStep>): ScriptedApprover => {
  const seen: Array<Approval.ApprovalRequest> = []
  return {
    callback: (request) =>
      Effect.suspend(() => {
        const step = stepFor(script, request, seen.length)
        seen.push(request)
        if (step === undefined) return Effect.die(new Error(noAnswer(request, seen.length)))
        if (Effect.isEffect(step)) return step
        const decision = toDecision(step)
        return decision === undefined ? Effect.never : Effect.succeed(decision)
      }),
    seen: Effect.sync(() => seen.slice())
  }
}

/**
 * Answers the requests a turn ended with. Ignored requests, and those beyond the end of an array, get no answer: the
 * batch stays open (law L5).
 *
 * @example
 * import { ScriptedApprover } from "@assent/ai/testing"
 *
 * const answers = ScriptedApprover.answers([], ["approve"])
 *
 * answers.length // => 0
 *
 * @category constructors
 * @since 0.1.0
 */
export const answers = (
  requests: ReadonlyArray<Approval.ApprovalRequest>,
  script: Script<Step>
): ReadonlyArray<Approval.ApprovalAnswer> =>
  requests.flatMap((request, index) => {
    const step = stepFor(script, request, index)
    const decision = step === undefined ? undefined : toDecision(step)
    return decision === undefined ? [] : [new Approval.ApprovalAnswer({ approvalId: request.approvalId, decision })]
  })

// =============================================================================
// Parsing
// =============================================================================

/**
 * Reads answers from a command line: `approve`, `deny`, `deny:reason` and `ignore`, with commas between them.
 *
 * Quotes around a reason are optional; a comma inside quotes belongs to the reason, and there `\"` and `\\` write a
 * quote and a backslash. Nothing at all is no answers. Fails with a sentence for the person who wrote it.
 *
 * @example
 * import { ScriptedApprover } from "@assent/ai/testing"
 * import { Result } from "effect"
 *
 * ScriptedApprover.parse("approve,deny:\"keep it, please\"") // => Result.succeed(["approve", { deny: "keep it, please" }])
 * Result.isFailure(ScriptedApprover.parse("yes")) // => true
 *
 * @category parsing
 * @since 0.1.0
 */
export const parse = (text: string): Result.Result<ReadonlyArray<ParsedStep>, string> => {
  if (text.trim() === "") return Result.succeed([])
  const steps: Array<ParsedStep> = []
  for (const item of splitAtCommas(text)) {
    const step = parseStep(item.trim())
    if (Result.isFailure(step)) return Result.fail(step.failure)
    steps.push(step.success)
  }
  return Result.succeed(steps)
}

/**
 * The answers that {@link parse} can read.
 *
 * @category models
 * @since 0.1.0
 */
export type ParsedStep = "approve" | "deny" | "ignore" | { readonly deny: string }

const allowed = "Allowed are: approve, deny, deny:reason, ignore; with commas between them."

const parseStep = (item: string): Result.Result<ParsedStep, string> => {
  if (item === "approve" || item === "deny" || item === "ignore") return Result.succeed(item)
  if (!item.startsWith("deny:")) return Result.fail(`Unknown answer ${JSON.stringify(item)}. ${allowed}`)
  const reason = parseReason(item.slice("deny:".length).trim())
  return Result.isFailure(reason) ? Result.fail(reason.failure) : Result.succeed({ deny: reason.success })
}

const parseReason = (text: string): Result.Result<string, string> => {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/s.exec(text)
  const reason = quoted === null ? text : quoted[1]!.replaceAll(/\\(["\\])/g, "$1")
  if (reason.trim() === "") return Result.fail(`The reason after "deny:" is empty. ${allowed}`)
  if (quoted === null && hasOpenQuote(text)) {
    return Result.fail(`The quote in ${JSON.stringify(text)} is not closed. ${allowed}`)
  }
  return Result.succeed(reason)
}

/** Quoted runs are taken whole; a quote that is never closed takes the rest. */
const splitAtCommas = (text: string): ReadonlyArray<string> => {
  const items: Array<string> = [""]
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*(?:"|$)|[^",]+|[",]/gs)) {
    if (token === ",") items.push("")
    else items[items.length - 1] += token
  }
  return items
}

const hasOpenQuote = (text: string): boolean => text.replaceAll(/"(?:[^"\\]|\\.)*"/gs, "").includes("\"")

// =============================================================================
// Internals
// =============================================================================

const stepFor = <S>(script: Script<S>, request: Approval.ApprovalRequest, index: number): S | undefined =>
  typeof script === "function" ? script(request) : script[index]

const toDecision = (step: Step): Approval.ApprovalDecision | undefined => {
  if (step === "ignore") return undefined
  if (step === "approve") return new Approval.Approved({})
  if (step === "deny") return new Approval.Denied({})
  return "deny" in step ? new Approval.Denied({ note: step.deny }) : step
}

const noAnswer = (request: Approval.ApprovalRequest, number: number): string =>
  `ScriptedApprover was asked ${number} times, but its script is shorter; the last request was ${request.description}`
