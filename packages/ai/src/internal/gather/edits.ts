/** Where the parameters lead that a person changed, and what is said of the call they make. */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Standing from "../decide/standing.ts"
import * as Canonical from "../seal/canonical.ts"
import * as Prepare from "../tool/prepare.ts"
import { type File, type Given, withEdit } from "./file.ts"
import * as Remembering from "./remembering.ts"
import * as Verdict from "./verdict.ts"

export const gatherLeads = Effect.fnUntraced(function*(
  file: File,
  standing: Standing.Standing,
  at: number,
  by: number
): Effect.fn.Return<Standing.Standing> {
  const asked = file.questions[at]!
  const given = asked.given[by]!
  const leads = file.prepared === undefined
    ? isSame(given.params, JSON.parse(asked.canonical)) ? "asProposed" : "unfit"
    : yield* prepareTarget(file.prepared, given)
  return withEdit(standing, at, by, { leads })
})

const prepareTarget = Effect.fnUntraced(function*(
  prepared: Prepare.Prepared,
  given: Given
): Effect.fn.Return<Standing.Leads> {
  const { tool, toolCallId: id, toolName: name } = prepared
  const target = yield* Effect.result(Prepare.prepare(tool, { id, name, params: given.params }))
  if (Result.isFailure(target)) return "unfit"
  if (target.success.canonical === prepared.canonical) return "asProposed"
  given.target = { prepared: target.success }
  return "elsewhere"
})

// The provider runs what it asked about: parameters that a person changed cannot reach it.
const isSame = (left: unknown, right: unknown): boolean => {
  const canonical = Canonical.canonicalize(left)
  return Result.isSuccess(canonical) && Result.getOrUndefined(Canonical.canonicalize(right)) === canonical.success
}

export const gatherVerdict = Effect.fnUntraced(function*(
  file: File,
  standing: Standing.Standing,
  at: number,
  by: number
): Effect.fn.Return<Standing.Standing> {
  const target = file.questions[at]!.given[by]!.target!
  target.judged = yield* Effect.result(Verdict.ask(file.environment, target.prepared, file.messages))
  return withEdit(standing, at, by, { verdict: Verdict.verdictOf(target.judged) })
})

export const gatherDenied = Effect.fnUntraced(function*(
  file: File,
  standing: Standing.Standing,
  at: number,
  by: number
): Effect.fn.Return<Standing.Standing> {
  yield* file.recalling.wait
  const target = file.questions[at]!.given[by]!.target!
  const subject = yield* Remembering.subjectOf(target.prepared)
  target.denied = yield* Remembering.denialOf(file.environment, subject, file.call.toolCallId)
  return withEdit(standing, at, by, { deniedBefore: target.denied !== undefined })
})
