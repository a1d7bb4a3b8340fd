/** A run that is to wait: what it must remember is kept, and a request of its own is sealed for what it waits for. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as JsonPatch from "effect/JsonPatch"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import type * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as SuspensionStore from "../../SuspensionStore.ts"
import * as Within from "../agent/within.ts"
import type * as Environment from "../environment/environment.ts"
import { definedFields } from "../fields.ts"
import * as Request from "../gather/request.ts"
import * as Suspension from "../gather/suspension.ts"
import * as Canonical from "../seal/canonical.ts"
import { InPassing } from "../seal/passing.ts"
import * as Deferral from "../tool/deferral.ts"
import * as Nesting from "../tool/nesting.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Interactions from "../waiting/interaction.ts"
import * as WebhookToken from "../waiting/webhookToken.ts"

/** A call whose run waits, as it was asked about. */
export interface Call extends Request.Named {
  /** The first of its requests, which its results name (law L13). */
  readonly root: string
  /** The parameters that its requests are sealed with. */
  readonly canonical: string
}

/** The run that is to wait. */
export interface Waiting {
  readonly call: Call
  /** As its handler got it. */
  readonly prepared: Prepare.Prepared
  /** The request that was claimed for it. */
  readonly previous: string
  /** What a person changed about the parameters before it began. */
  readonly edits: JsonPatch.JsonPatch | Schema.Json | undefined
  /** The nonce of the call's first claim; of one that an earlier version of this library began nobody knows it. */
  readonly began: string | undefined
  /** From where it has begun this time, as that is kept. */
  readonly kept?: Schema.Json | undefined
  /** It waited for its agents, and was taken up: whether it does as the same request, where it waits for them again. */
  readonly reopens?: Effect.Effect<boolean> | undefined
}

/** A request for what a run waits for, which nobody has kept yet. */
export interface Begun {
  readonly approvalId: string
  readonly keep: Effect.Effect<void, ApprovalError.ApprovalError>
  /** Tells of it. */
  readonly kept: Effect.Effect<void>
}

/** Fails with a reason that says why it cannot wait. */
export const begin = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  { began, call, edits, kept, prepared, previous }: Waiting,
  suspended: Deferral.Suspended
): Effect.fn.Return<Begun, string> {
  const deferral = Deferral.of(prepared.tool)
  const interaction = deferral === undefined ? undefined : Deferral.interactionOf(deferral, suspended.interaction)
  if (deferral === undefined || interaction === undefined) return yield* cannot("it declares no such interaction.")
  const now = yield* Clock.currentTimeMillis
  const read = Result.flatMap(
    Result.try({
      try: () => Interactions.read(suspended.interaction, interaction, suspended.ask, now),
      catch: () => "what it asks cannot be read."
    }),
    (asked) => asked
  )
  if (Result.isFailure(read)) return yield* cannot(read.failure)
  const { awaited, expiresIn, token } = read.success
  const isNested = suspended.interaction === Nesting.name
  const state = yield* Effect.result(
    isNested ? Effect.succeed(Nesting.stateOf(kept)) : Effect.sandbox(deferral.encodeState(suspended.state))
  )
  if (Result.isFailure(state) || Result.isFailure(Canonical.canonicalize(state.success))) {
    return yield* cannot("what it must remember does not fit its schema, or is larger than 1 MB.")
  }
  const binding = Prepare.bindingOf(
    {
      ...Request.about(call),
      canonical: call.canonical,
      schemaFingerprint: yield* Prepare.fingerprintOf(prepared.tool)
    },
    environment.scope,
    yield* Suspension.digestOf(awaited)
  )
  const lifetime = expiresIn ?? lifetimeOf(environment)
  const sealed = yield* Effect.mapError(
    // A timer that is due in a year can be looked at for as long after as others can be answered.
    environment.seal.seal(binding, { expiresIn: lifetime + Math.max(0, (awaited.dueAt ?? now) - now) }).pipe(
      Effect.provideService(InPassing, environment.endsWithProcess)
    ),
    () => unable("its request could not be sealed.")
  )
  const suspension = new SuspensionStore.Suspension({
    approvalId: sealed.approvalId,
    ...Request.about(call),
    awaited,
    state: state.success,
    stateVersion: deferral.stateVersion,
    params: prepared.encoded,
    // A JSON Patch is JSON.
    ...definedFields({
      previous,
      edits: edits as Schema.Json | undefined,
      handlesExpiry: suspended.handlesExpiry ? true as const : undefined,
      began,
      wakes: environment.within?.conversation,
      // Only its own toolkit knows.
      onNewMessage: environment.within === undefined ? undefined : interaction.onNewMessage
    }),
    scope: scopeOf(environment),
    issuedAt: sealed.issuedAt ?? now,
    expiresAt: sealed.expiresAt
  })
  const webhook = token === undefined ? undefined : yield* WebhookToken.digestOf(token)
  return {
    approvalId: sealed.approvalId,
    keep: environment.suspensions.put(suspension, { webhook }),
    kept: ApprovalEvents.publish((occasion) => ({
      _tag: "Requested",
      ...occasion,
      ...Request.about(call, sealed),
      request: Within.shownOutside(environment.within, Suspension.requestOf(environment.within, suspension))
    }))
  }
})

/** The reason that a model is given where a request was not kept. Why it was not is for the program alone. */
export const unkept = (
  { call: { toolName } }: Waiting,
  { message }: ApprovalError.ApprovalError
): Effect.Effect<string> =>
  Effect.as(
    Effect.logError(`Assent could not keep what "${toolName}" waits for: ${message}`),
    unable("what it waits for could not be kept.")
  )

// An agent of no conversation wakes none: whoever keeps the history goes on with it, as with any tool that waits.
const scopeOf = ({ scope, within }: Environment.Environment) =>
  definedFields(
    within === undefined || within.conversation !== undefined ? scope : { ...scope, conversation: undefined }
  )

const lifetimeOf = ({ options }: Environment.Environment): number =>
  options.expiresIn === undefined ? Infinity : Duration.toMillis(Duration.fromInputUnsafe(options.expiresIn))

const unable = (why: string): string =>
  `The tool began, and was to wait, but ${why} What it did before is not undone. Check before calling again.`

const cannot = (why: string): Effect.Effect<never, string> => Effect.fail(unable(why))
