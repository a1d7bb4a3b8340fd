/**
 * What a person is shown of a call: made safe for screens, digested for the seal, and compared when the call is about to
 * run. What was shown is part of what was approved (law L4).
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Approval from "../Approval.ts"
import type * as ApprovalSeal from "../ApprovalSeal.ts"
import * as Canonical from "./canonical.ts"
import * as Cryptography from "./cryptography.ts"
import * as Text from "./text.ts"

const maxContentLength = 100_000

/** What a person sees is what is sealed: presentations are made safe for screens (law L15) before they are digested. */
export const sanitized = (needs: Approval.NeedsApproval): Approval.NeedsApproval => {
  const { presentation } = needs
  return presentation === undefined ? needs : new Approval.NeedsApproval({
    ...needs,
    presentation: new Approval.ApprovalPresentation({
      ...presentation,
      ...(presentation.language === undefined
        ? undefined
        : { language: Text.escape(presentation.language, { maxLength: 64 }) }),
      ...(presentation.metadata === undefined || Result.isSuccess(Canonical.canonicalize(presentation.metadata))
        ? undefined
        : { metadata: { omitted: "the metadata cannot be written as JSON, or is too large" } }),
      ...(presentation.precondition === undefined
        ? undefined
        : { precondition: Text.escape(presentation.precondition, { maxLength: 1_000 }) }),
      content: Text.escape(presentation.content, { maxLength: maxContentLength, multiline: true })
    })
  })
}

/** `undefined` where nothing is shown but the call itself. */
export const digest = (needs: Approval.NeedsApproval): Effect.Effect<string | undefined> => {
  if (needs.presentation === undefined) return Effect.undefined
  const metadata = Canonical.canonicalize(needs.presentation.metadata ?? {})
  const shown = Canonical.canonicalize({ ...sanitized(needs).presentation })
  // What cannot be digested is never the same as what was shown.
  return Result.isSuccess(metadata) && Result.isSuccess(shown)
    ? Effect.map(Cryptography.sha256(shown.success), (digest) => digest.slice(0, 22))
    : Cryptography.randomToken(16)
}

/** What may be shown again of a request that was sealed. */
export const again = (
  sealed: ApprovalSeal.Sealed,
  needs: Approval.NeedsApproval
): Effect.Effect<Approval.NeedsApproval> =>
  Effect.map(digest(needs), (digest) => sealed.presentationDigest === digest ? sanitized(needs) : without(needs))

const without = ({ presentation: _, ...needs }: Approval.NeedsApproval): Approval.NeedsApproval =>
  new Approval.NeedsApproval(needs)

/** What a person was shown is part of what they approved: if the policy would show something else now, it is void. */
export const drift = Effect.fnUntraced(function*(
  sealed: ApprovalSeal.Sealed,
  verdict: Approval.ApprovalResult
): Effect.fn.Return<string | undefined> {
  if (sealed.presentationDigest === undefined || verdict._tag === "PreApproved") return undefined
  const shown = verdict._tag === "NeedsApproval" ? yield* digest(verdict) : undefined
  return sealed.presentationDigest === shown
    ? undefined
    : "What the person was shown has changed since they approved it. Nothing ran. It may be asked again."
})
