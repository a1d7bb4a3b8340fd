/**
 * What a person is shown of a call: made safe for screens, digested for the seal, and compared when the call is about to
 * run. What was shown is part of what was approved (law L4).
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as ApprovalSeal from "../../ApprovalSeal.ts"
import { abandonable } from "../abandon.ts"
import * as Canonical from "../seal/canonical.ts"
import * as Cryptography from "../seal/cryptography.ts"
import * as Text from "../text.ts"
import * as Covers from "./covers.ts"
import type * as Prepare from "./prepare.ts"

export { maxContentLength } from "./covers.ts"

/** Of a text beside the content, which is a line. */
const maxLineLength = 4_096

// =============================================================================
// Presenters
// =============================================================================

/** Makes a presentation of a call with decoded parameters; its services are the tool's requirements. */
export type Presenter = (params: unknown, context: Tool.NeedsApprovalContext) => unknown

const Presenter = Context.Reference<Presenter | undefined>("~@assent/ai/Tool/Presenter", {
  defaultValue: () => undefined
})

export const presenterOf = (tool: Tool.Any): Presenter | undefined => Context.get(tool.annotations, Presenter)

/** A copy of the tool that shows its calls so. */
export const setPresenter = <T extends Tool.Any>(tool: T, presenter: Presenter): T =>
  // Upstream's method returns a clone with the same prototype and fields, typed as the base interface `Tool`.
  tool.annotate(Presenter, presenter) as unknown as T

/**
 * What a policy says, with the tool's own presentation where the policy has none. It never blocks and never loosens: one
 * that fails, dies, or takes too long shows nothing, and a call whose presentation was sealed is then void.
 */
export const present = (
  presenter: Presenter,
  result: Approval.ApprovalResult,
  { decoded, toolCallId, toolName }: Prepare.Prepared,
  messages: ReadonlyArray<Prompt.Message>,
  timeLimit: Duration.Input
): Effect.Effect<Approval.ApprovalResult> => {
  if (result._tag !== "NeedsApproval" || result.presentation !== undefined) return Effect.succeed(result)
  return Effect.suspend(() => {
    const made = presenter(decoded, { toolCallId, messages })
    return (Effect.isEffect(made) ? made : Effect.succeed(made)) as Effect.Effect<unknown, unknown>
  }).pipe(
    abandonable,
    Effect.timeout(timeLimit),
    Effect.filterOrFail(isPresentation, () => new Error("Tool.present did not return an ApprovalPresentation.")),
    Effect.map((presentation) => new Approval.NeedsApproval({ ...result, presentation })),
    Effect.catchCause((cause) =>
      Effect.as(
        Effect.andThen(
          ApprovalEvents.publish((occasion) => ({ _tag: "PresenterFailed", ...occasion, toolName, toolCallId, cause })),
          // Not the cause: it may have what was read to make the presentation.
          Effect.logWarning(
            `Assent shows the parameters of ${Text.quote(toolName)} alone: the function given to Tool.present failed.` +
              " The event PresenterFailed has the cause."
          )
        ),
        result
      )
    )
  )
}

const isPresentation = Schema.is(Approval.ApprovalPresentation)

// =============================================================================
// What is shown
// =============================================================================

/** What a person sees is what is sealed: presentations are made safe for screens (law L15) before they are digested. */
export const sanitized = (needs: Approval.NeedsApproval): Approval.NeedsApproval => {
  const { presentation } = needs
  return presentation === undefined ? needs : new Approval.NeedsApproval({
    ...needs,
    presentation: Covers.proved(
      presentation,
      new Approval.ApprovalPresentation({
        ...presentation,
        ...(presentation.language === undefined
          ? undefined
          : { language: Text.escape(presentation.language, { maxLength: 64 }) }),
        ...(presentation.metadata === undefined ? undefined : { metadata: safeMetadata(presentation.metadata) }),
        ...(presentation.precondition === undefined
          ? undefined
          : { precondition: Text.escape(presentation.precondition, { maxLength: 1_000 }) }),
        content: Text.escape(presentation.content, { maxLength: Covers.maxContentLength, multiline: true })
      })
    )
  })
}

type Metadata = NonNullable<Approval.ApprovalPresentation["metadata"]>

const safeMetadata = (metadata: Metadata): Metadata => {
  const canonical = Canonical.canonicalize(metadata)
  if (Result.isFailure(canonical) || canonical.success.length > Covers.maxContentLength * 10) return omitted
  const safe = safeRecord(JSON.parse(canonical.success))
  return JSON.stringify(safe).length > Covers.maxContentLength ? omitted : safe
}

const omitted: Metadata = { omitted: "the metadata cannot be written as JSON, or is too large" }

const safeLine = (text: string): string => Text.escape(text, { maxLength: maxLineLength })

const safeRecord = (record: { readonly [name: string]: Schema.Json }): Metadata =>
  Object.fromEntries(Object.entries(record).map(([name, value]) => [safeLine(name), safeJson(value)]))

const safeJson = (value: Schema.Json): Schema.Json =>
  typeof value === "string"
    ? safeLine(value)
    : typeof value !== "object" || value === null
    ? value
    : isList(value)
    ? value.map(safeJson)
    : safeRecord(value)

const isList = (value: Schema.JsonObject | Schema.JsonArray): value is Schema.JsonArray => Array.isArray(value)

/** `undefined` where nothing is shown but the call itself. */
export const digest = (needs: Approval.NeedsApproval): Effect.Effect<string | undefined> => {
  if (needs.presentation === undefined) return Effect.undefined
  const metadata = Canonical.canonicalize(needs.presentation.metadata ?? {})
  const { presentation } = sanitized(needs)
  const shown = Canonical.canonicalize({ ...presentation })
  // What cannot be digested is never the same as what was shown.
  if (Result.isFailure(metadata) || Result.isFailure(shown)) return Cryptography.randomToken(16)
  // What was cut off is part of it.
  const { content } = needs.presentation
  const cutMetadata = Result.getOrUndefined(Canonical.canonicalize(presentation?.metadata ?? {})) !== metadata.success
  const cut = (content.length <= Covers.maxContentLength ? "" : content) + (cutMetadata ? metadata.success : "")
  const whole = cut === "" ? Effect.succeed("") : Cryptography.sha256(cut)
  return Effect.flatMap(
    whole,
    (rest) => Effect.map(Cryptography.sha256(`${shown.success}${rest}`), (digest) => digest.slice(0, 22))
  )
}

// A digest has no such character.
const named = "P~"

/** What is sealed of how a call is asked about: what is shown of it, and whether only some may decide (law L16). */
export const sealedDigest = (needs: Approval.NeedsApproval): Effect.Effect<string | undefined> => {
  const names = needs.approvers !== undefined || needs.selfApproval === false
  return names ? Effect.map(digest(needs), (shown) => named + (shown ?? "")) : digest(needs)
}

/** Whether only some may decide, or the policy said so when it was asked. */
export const namesIn = ({ presentationDigest }: ApprovalSeal.Sealed): boolean =>
  presentationDigest?.startsWith(named) === true

/** The digest of what was shown beside the call. */
export const shownIn = (sealed: ApprovalSeal.Sealed): string | undefined => {
  const { presentationDigest } = sealed
  if (presentationDigest === undefined || !namesIn(sealed)) return presentationDigest
  return presentationDigest.length === named.length ? undefined : presentationDigest.slice(named.length)
}

/** What may be shown again of a request that was sealed. */
export const again = (
  sealed: ApprovalSeal.Sealed,
  needs: Approval.NeedsApproval
): Effect.Effect<Approval.NeedsApproval> =>
  Effect.map(digest(needs), (digest) => shownIn(sealed) === digest ? sanitized(needs) : without(needs))

const without = ({ presentation: _, ...needs }: Approval.NeedsApproval): Approval.NeedsApproval =>
  new Approval.NeedsApproval(needs)

/** What a person was shown is part of what they approved: if the policy would show something else now, it is void. */
export const drift = Effect.fnUntracedEager(function*(
  sealed: ApprovalSeal.Sealed,
  verdict: Approval.ApprovalResult
): Effect.fn.Return<string | undefined> {
  const sealedAs = shownIn(sealed)
  if (sealedAs === undefined || verdict._tag === "PreApproved") return undefined
  const shown = verdict._tag === "NeedsApproval" ? yield* digest(verdict) : undefined
  return sealedAs === shown
    ? undefined
    : "What the person was shown has changed since they approved it. Nothing ran. It may be asked again."
})
