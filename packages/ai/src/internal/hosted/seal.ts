/**
 * Seals of calls that the provider runs and asks about (laws L4 and L9). The request has the provider's own id, but what
 * the call says of itself comes back in a history that anybody may have written: whoever decides on it here, or runs it
 * elsewhere because it stands there, must know that it is what the provider said. The seal is in the call's metadata,
 * because a chat keeps that, and covers all the rest of it.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Approval from "../../Approval.ts"
import * as ApprovalError from "../../ApprovalError.ts"
import type * as ApprovalSeal from "../../ApprovalSeal.ts"
import * as Canonical from "../seal/canonical.ts"
import * as HostedCall from "../tool/hostedCall.ts"

/** The call with a seal; as it is, if it has one or cannot have one, and then it is never approved on its own word. */
export const seal = Effect.fnUntraced(function*<Call extends HostedCall.Call>(
  service: ApprovalSeal.Service,
  scope: Approval.ApprovalScope,
  call: Call,
  approvalId: string
): Effect.fn.Return<Call> {
  if (HostedCall.sealOf(call) !== undefined) return call
  const sealed = yield* Effect.result(Effect.flatMap(bindingOf(call, approvalId, scope), service.seal))
  return Result.isFailure(sealed) ? call : {
    ...call,
    metadata: { ...call.metadata, assent: { ...call.metadata?.assent, seal: sealed.success.approvalId } }
  }
})

/** Fails if this is not the call that was sealed, or its seal is too old. */
export const verify = Effect.fnUntraced(function*(
  service: ApprovalSeal.Service,
  scope: Approval.ApprovalScope,
  call: HostedCall.Call,
  approvalId: string
): Effect.fn.Return<void, ApprovalError.ApprovalError> {
  const token = HostedCall.sealOf(call)
  if (token === undefined) return yield* forged(approvalId)
  const { expiresAt } = yield* service.verify(token, yield* bindingOf(call, approvalId, scope))
  if ((yield* Clock.currentTimeMillis) >= expiresAt) {
    return yield* ApprovalError.make(new ApprovalError.Expired({ approvalId, expiredAt: expiresAt }))
  }
})

const forged = (approvalId: string) => ApprovalError.make(new ApprovalError.Forged({ approvalId }))

const bindingOf = (
  call: HostedCall.Call,
  approvalId: string,
  scope: Approval.ApprovalScope
): Effect.Effect<ApprovalSeal.Binding, ApprovalError.ApprovalError> => {
  const { assent, ...rest } = call.metadata ?? call.options ?? {}
  const { seal: _, ...said } = assent ?? {}
  const canonical = Canonical.canonicalize([approvalId, call.params, said, rest])
  return Result.isFailure(canonical) ? Effect.fail(forged(approvalId)) : Effect.succeed({
    source: "provider",
    toolName: call.name,
    toolCallId: call.id,
    schemaFingerprint: "provider",
    params: canonical.success,
    scope
  })
}
