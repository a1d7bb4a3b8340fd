/**
 * What a call of a history and its requests prove of themselves: whose they are by their seals (law L4), whether their
 * time is over, and whether the tool is what it was when the person was asked (law L10).
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApprovalError from "../../ApprovalError.ts"
import type * as ApprovalSeal from "../../ApprovalSeal.ts"
import * as Approving from "../approving.ts"
import * as Words from "../decide/words.ts"
import type * as Environment from "../environment/environment.ts"
import * as Transcript from "../history/transcript.ts"
import * as Canonical from "../seal/canonical.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Request from "./request.ts"
import * as Suspension from "./suspension.ts"

export interface Verified {
  readonly request: Transcript.TranscriptRequest
  readonly sealed: ApprovalSeal.Sealed
  /** The parameters that were sealed. */
  readonly canonical: string
}

/**
 * Every request of the call whose seal fits it, by the schema the seal itself names: whether that is still the tool's is
 * asked apart, so that a request of ours is known as ours even without the tool. Fails if there is none.
 */
export const verify = Effect.fnUntraced(function*(
  environment: Pick<Environment.Environment, "seal" | "scope">,
  call: Transcript.TranscriptCall,
  prepared: Prepare.Prepared | undefined
): Effect.fn.Return<Result.Result<ReadonlyArray<Verified>, ApprovalError.ApprovalError>> {
  const verified: Array<Verified> = []
  let failure: ApprovalError.ApprovalError | undefined
  const written = canonicalParams(call.part)
  if (Result.isFailure(written)) return Result.fail(written.failure)
  // The history's own form first: the calls we write into responses are in it.
  const forms = prepared === undefined || prepared.canonical === written.success
    ? [written.success]
    : [written.success, prepared.canonical]
  const current = prepared === undefined ? "unknown" : yield* Prepare.fingerprintOf(prepared.tool)
  for (const request of call.requests) {
    const { approvalId } = request.part
    const parsed = environment.seal.parse(approvalId)
    const schemaFingerprint = Result.isSuccess(parsed) ? parsed.success.schemaFingerprint : current
    for (const canonical of forms) {
      const binding = Prepare.bindingOf(
        { ...Request.named(call.part), canonical, schemaFingerprint },
        environment.scope
      )
      const sealed = yield* Effect.result(environment.seal.verify(approvalId, binding))
      if (Result.isSuccess(sealed)) {
        verified.push({ request, sealed: sealed.success, canonical })
        break
      }
      failure ??= sealed.failure
    }
  }
  return verified.length > 0 ? Result.succeed(verified) : Result.fail(failure!)
})

/**
 * What a run waits for is asked when another call may have its id already: it belongs to the call whose run it was
 * (law L13).
 */
export const isOwn = (
  { suspensions }: Environment.Environment,
  transcript: Transcript.Transcript,
  call: Transcript.TranscriptCall,
  { request, sealed }: Pick<Verified, "request" | "sealed">
): Effect.Effect<boolean, ApprovalError.ApprovalError> =>
  request.messageIndex === call.messageIndex || !Suspension.isSealed(sealed)
    ? Effect.succeed(true)
    : Effect.map(suspensions.find(sealed.approvalId), (found) => {
      const previous = found?.suspension.previous
      const other = previous === undefined ? undefined : Transcript.requestOf(transcript, previous)?.call
      return other === undefined || other === call
    })

const canonicalParams = (part: Prompt.ToolCallPart): Result.Result<string, ApprovalError.ApprovalError> =>
  Result.mapError(
    Canonical.canonicalize(part.params),
    (description) => ApprovalError.make(new ApprovalError.InvalidParameters({ toolName: part.name, description }))
  )

/** Why a request cannot be answered any more, once its time is over. */
export const expiry = (
  { approvalId, expiresAt }: { readonly approvalId: string; readonly expiresAt: number }
): Effect.Effect<string | undefined> =>
  // Nothing ends by itself where no end was set.
  expiresAt === Infinity ? Effect.undefined : Effect.map(
    Clock.currentTimeMillis,
    (now) => now < expiresAt ? undefined : new ApprovalError.Expired({ approvalId, expiredAt: expiresAt }).message
  )

/**
 * What the model is told of a call none of whose requests proves anything: no key and no setting is named, which is for the
 * program (law L15), and of what had begun nobody says that nothing ran (law L14).
 */
export const refusal = (reason: ApprovalError.ApprovalErrorReason, begun: boolean): string => {
  switch (reason._tag) {
    case "Forged":
      return begun ? Words.stands(Approving.notOfThisCall) : reason.message
    case "Malformed":
      return begun ? Words.stands(Approving.notIssued) : reason.message
    case "UnknownKey":
      return begun ? Words.stands(Words.unknownKey) : `${Words.unknownKey} ${Words.notRunNow}`
    case "Drifted":
      return begun ? Words.stands(reason.description) : reason.message
    default:
      return begun ? Words.stands("The approval cannot be checked.") : reason.message
  }
}

/** What changed since the person was asked. */
export const drift = (
  toolName: string,
  tool: Tool.Any | undefined,
  prepared: Prepare.Prepared | undefined,
  { canonical, sealed }: Pick<Verified, "canonical" | "sealed">
): Effect.Effect<string | undefined> => {
  const drifted = (description: string) => new ApprovalError.Drifted({ toolName, description }).message
  if (tool === undefined) {
    return Effect.succeed(drifted(
      `The tool "${toolName}" is no longer available: it was removed or renamed since the person was asked.`
    ))
  }
  if (prepared === undefined) {
    return Effect.succeed(drifted(
      `The parameters no longer fit the schema of "${toolName}", which changed since the person was asked.`
    ))
  }
  const change = prepared.canonical === canonical
    ? Prepare.changeSince(sealed.schemaFingerprint, tool)
    : Effect.succeed("parameters" as const)
  return Effect.mapEager(change, (changed) => {
    switch (changed) {
      case undefined:
        return undefined
      case "parameters":
        return drifted(`The parameters of "${toolName}" are not what they were when the person was asked.`)
      case "definition":
        return drifted(
          `What "${toolName}" is said to be and to do, or whose it is, changed since the person was asked.`
        )
    }
  })
}
