/**
 * A person answers: the controller is asked, and what was approved is looked at once more before it runs. The person may
 * have taken their time, and may have changed the parameters (laws L4, L11).
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as JsonPatch from "effect/JsonPatch"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as Approval from "../Approval.ts"
import * as ApprovalError from "../ApprovalError.ts"
import * as ApprovalEvents from "../ApprovalEvents.ts"
import type * as ApprovalJournal from "../ApprovalJournal.ts"
import type * as ApprovalSeal from "../ApprovalSeal.ts"
import * as Asking from "./asking.ts"
import * as Decision from "./decision.ts"
import type * as Environment from "./environment.ts"
import * as Judge from "./judge.ts"
import * as Prepare from "./prepare.ts"
import * as Presentation from "./presentation.ts"
import * as Remembering from "./remembering.ts"

// =============================================================================
// What was approved
// =============================================================================

/** What becomes of an approval. */
export type Accepted =
  | {
    readonly _tag: "Run"
    readonly prepared: Prepare.Prepared
    /** From what was proposed to what runs, if the person changed it. */
    readonly edits: JsonPatch.JsonPatch | undefined
    /** What was proposed, if the person changed it. */
    readonly asked?: Prepare.Prepared | undefined
    /** What the policy says now; `undefined` if it wants nobody any more. */
    readonly needs: Approval.NeedsApproval | undefined
  }
  /** The policy failed: nothing runs, and nothing is used up. */
  | { readonly _tag: "Held" }
  | { readonly _tag: "Invalid"; readonly error: ApprovalError.InvalidEdit }
  | { readonly _tag: "Ended"; readonly state: "denied" | "void"; readonly reason: string }

/** What the policy says now of the call as it was proposed. */
export type Judged = Effect.Effect<Result.Result<Approval.ApprovalResult, ApprovalError.ApprovalError>>

/** `params` are what the person changed the parameters to. */
export const accept = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  prepared: Prepare.Prepared,
  sealed: ApprovalSeal.Sealed,
  params: Schema.Json | undefined,
  messages: ReadonlyArray<Prompt.Message>,
  judged: Judged = Effect.result(Judge.askPolicy(environment, prepared, messages))
): Effect.fn.Return<Accepted> {
  const target = params === undefined ? Result.succeed(prepared) : yield* Effect.result(
    Prepare.prepare(prepared.tool, { id: prepared.toolCallId, name: prepared.toolName, params })
  )
  if (Result.isFailure(target)) {
    const { approvalId } = sealed
    return {
      _tag: "Invalid",
      error: new ApprovalError.InvalidEdit({ approvalId, description: "they do not fit the tool's schema." })
    }
  }
  const isAsProposed = target.success.canonical === prepared.canonical
  const verdict = yield* isAsProposed ? judged : Effect.result(Judge.askPolicy(environment, target.success, messages))
  if (Result.isFailure(verdict)) return { _tag: "Held" }
  if (verdict.success._tag === "Blocked") return { _tag: "Ended", state: "denied", reason: verdict.success.reason }
  const needs = verdict.success._tag === "NeedsApproval" ? verdict.success : undefined
  // What the person was shown is the call as it was proposed, whatever they made of it.
  const shown = isAsProposed ? verdict : sealed.presentationDigest === undefined ? undefined : yield* judged
  if (shown !== undefined) {
    if (Result.isFailure(shown)) return { _tag: "Held" }
    const changed = yield* Presentation.drift(sealed, shown.success)
    if (changed !== undefined) return { _tag: "Ended", state: "void", reason: changed }
  }
  if (isAsProposed) return { _tag: "Run", prepared, edits: undefined, needs }
  // Proposed so, it would have been looked up before anybody was asked.
  const subject = yield* Decision.subjectOf(target.success)
  const denial = yield* Remembering.denialOf(environment, subject, prepared.toolCallId)
  if (denial !== undefined) return { _tag: "Ended", state: "denied", reason: denial }
  return {
    _tag: "Run",
    prepared: target.success,
    edits: JsonPatch.get(prepared.encoded, target.success.encoded),
    asked: prepared,
    needs
  }
})

/** The run of what was accepted, with what is to be remembered of it. */
export const toRun = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  claim: ApprovalJournal.Claim,
  { asked, edits, needs, prepared }: Extract<Accepted, { readonly _tag: "Run" }>,
  remember: Schema.Json | undefined,
  again: Extract<Decision.Decision, { readonly _tag: "Run" }>["again"]
): Effect.fn.Return<Extract<Decision.Decision, { readonly _tag: "Run" }>> {
  if (edits !== undefined) {
    yield* ApprovalEvents.publish((occasion) => ({
      _tag: "Edited",
      ...occasion,
      ...Decision.about(prepared, claim),
      edits
    }))
  }
  const said = Remembering.rememberOf(needs, remember)
  const answered = yield* Remembering.answeredOf(
    environment,
    yield* Decision.subjectOf(prepared),
    claim,
    "approved",
    { remember: said }
  )
  yield* Remembering.give(environment, answered)
  return { _tag: "Run", claim, prepared, edits, asked, answered, again }
})

/** For a call that was shown: whether it would be accepted again, or what becomes of it instead. */
export const again = (
  sealed: ApprovalSeal.Sealed,
  accepted: Effect.Effect<Accepted>,
  otherwise: (accepted: Refused) => Effect.Effect<Decision.Concluded, ApprovalError.ApprovalError>
) =>
  sealed.presentationDigest === undefined
    ? undefined
    : Effect.flatMap(accepted, (accepted) => accepted._tag === "Run" ? Effect.undefined : otherwise(accepted))

/** What was not accepted. */
export type Refused = Exclude<Accepted, { readonly _tag: "Run" }>

// =============================================================================
// Asking
// =============================================================================

/** The controller answers now, or the request is open. */
export const consult = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  consultation: Decision.Consultation,
  messages: ReadonlyArray<Prompt.Message>
): Effect.fn.Return<Decision.Concluded, ApprovalError.ApprovalError> {
  const { needs, prepared, sealed } = consultation
  const open = Decision.open(sealed, prepared, needs)
  if (environment.controller.ask === undefined) return open
  return yield* Asking.inTurn(environment.controller, answer(environment, consultation, messages, open))
})

const answer = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  consultation: Decision.Consultation,
  messages: ReadonlyArray<Prompt.Message>,
  open: Decision.Concluded
): Effect.fn.Return<Decision.Concluded, ApprovalError.ApprovalError> {
  const { needs, prepared, sealed } = consultation
  const decision = yield* inOrder(
    environment,
    recalled(environment, prepared, needs),
    Effect.suspend(() =>
      Asking.ask(
        environment.controller,
        Decision.makeRequest(sealed, prepared, needs),
        aboutParams(environment, prepared)
      )
    )
  )
  return yield* carryOut(environment, consultation, decision, messages, open)
})

/** What a controller may know of a call that it is asked about. */
export const aboutParams = (environment: Environment.Environment, prepared: Prepare.Prepared): Asking.About => ({
  check: (params) => Prepare.problemOf(prepared, params),
  remembers: Remembering.lifetimeOf(environment)
})

// Looked up side by side, and put in the order of the calls: a controller that is asked several things at once shows them.
const inOrder = <A>(
  { asking }: Environment.Environment,
  recall: Effect.Effect<A | undefined>,
  ask: Effect.Effect<A | undefined>
): Effect.Effect<A | undefined> =>
  Effect.suspend(() => {
    const before = asking.last
    const begun = Deferred.makeUnsafe<void>()
    const begin = Effect.sync(() => Deferred.doneUnsafe(begun, Exit.void))
    asking.last = begun
    return Effect.gen(function*() {
      const known = yield* recall
      if (before !== undefined) yield* Deferred.await(before)
      if (known !== undefined) return known
      // The next may begin once this question is put, and not when it is about to be.
      const asked = yield* Effect.forkChild(ask, { startImmediately: true })
      yield* begin
      return yield* Fiber.join(asked)
    }).pipe(Effect.ensuring(begin))
  })

const carryOut = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  { needs, prepared, sealed }: Decision.Consultation,
  decision: Approval.ApprovalDecision | undefined,
  messages: ReadonlyArray<Prompt.Message>,
  open: Decision.Concluded
): Effect.fn.Return<Decision.Concluded, ApprovalError.ApprovalError> {
  const claim = Decision.claimOf(sealed, prepared)
  const ending = (state: ApprovalJournal.Ending, reason: string | undefined, ended?: Effect.Effect<void>) =>
    Decision.end(environment, claim, state, reason, { runnable: prepared, whileRunning: () => open }, ended)
  if (decision === undefined || decision._tag === "Info") return open
  if (decision._tag === "Denied") {
    const subject = yield* Decision.subjectOf(prepared)
    const remember = Remembering.rememberOf(needs, decision.remember ?? "none")
    const { note } = decision
    const answered = yield* Remembering.answeredOf(environment, subject, claim, "denied", { remember, note })
    return yield* ending(
      "denied",
      note,
      Effect.andThen(Remembering.give(environment, answered), Remembering.keep(environment, answered))
    )
  }
  const expired = yield* Judge.expiry(sealed)
  if (expired !== undefined) return yield* ending("expired", expired)
  const refused = (accepted: Refused): Effect.Effect<Decision.Concluded, ApprovalError.ApprovalError> => {
    switch (accepted._tag) {
      case "Held":
        return Effect.succeed(open)
      case "Invalid":
        return Effect.succeed(Decision.open(sealed, prepared, { ...needs, reason: accepted.error.message }))
      case "Ended":
        return ending(accepted.state, accepted.reason)
    }
  }
  const accepting = accept(environment, prepared, sealed, decision.params, messages)
  const accepted = yield* accepting
  return accepted._tag === "Run"
    ? yield* toRun(environment, claim, accepted, decision.remember, again(sealed, accepting, refused))
    : yield* refused(accepted)
})

/** The question, unless what was answered before answers it too. */
export const unlessAnswered = Effect.fnUntraced(function*(
  environment: Environment.Environment,
  consultation: Decision.Consultation,
  messages: ReadonlyArray<Prompt.Message>
): Effect.fn.Return<Decision.Decision, ApprovalError.ApprovalError> {
  if (environment.controller.ask !== undefined || !environment.memory.remembers) return consultation
  const { needs, prepared, sealed } = consultation
  const known = yield* recalled(environment, prepared, needs)
  return known === undefined
    ? consultation
    : yield* carryOut(environment, consultation, known, messages, Decision.open(sealed, prepared, needs))
})

// An answer to a sibling, a moment ago, may cover this call too: nobody is asked twice.
export const recalled = (
  environment: Environment.Environment,
  prepared: Prepare.Prepared,
  needs: Approval.NeedsApproval
): Effect.Effect<Approval.ApprovalDecision | undefined> => {
  const found = Effect.flatMap(
    Decision.subjectOf(prepared),
    (subject) => Remembering.recall(environment, subject, needs, prepared.toolCallId)
  )
  return Effect.match(found, {
    onFailure: () => undefined,
    onSuccess: (known) =>
      known === undefined
        ? undefined
        : known.decision === "denied"
        ? new Approval.Denied({ note: known.reason })
        // What answers here was remembered before: it is no new answer, to be remembered anew.
        : new Approval.Approved({ remember: "none" })
  })
}
