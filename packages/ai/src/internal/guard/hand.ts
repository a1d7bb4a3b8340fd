/** The hand for calls of a guarded toolkit: nothing of them comes back in a history, so nothing is sealed or recorded. */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Approval from "../../Approval.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as ApprovalJournal from "../../ApprovalJournal.ts"
import type { DecidedBy } from "../../Approver.ts"
import { type File, forget, question, withQuestion } from "../gather/file.ts"
import * as Remembering from "../gather/remembering.ts"
import * as Request from "../gather/request.ts"
import * as Who from "../gather/who.ts"
import { withApproval } from "../journal/entry.ts"
import type { Hand } from "../run/loop.ts"
import * as Ours from "../run/ours.ts"
import * as Cryptography from "../seal/cryptography.ts"
import * as Presentation from "../tool/presentation.ts"

const seal: Hand["seal"] = Effect.fnUntraced(function*(file, standing) {
  const needs = Ours.needsOf(file)
  file.needs = Presentation.sanitized(needs)
  const token = yield* Cryptography.randomToken(16)
  const issuedAt = yield* Clock.currentTimeMillis
  const presentationDigest = yield* Presentation.sealedDigest(needs)
  file.questions = [{
    sealed: {
      approvalId: token,
      keyId: "",
      nonce: token,
      issuedAt,
      expiresAt: issuedAt + lifetimeOf(file, needs),
      schemaFingerprint: "",
      presentationDigest
    },
    canonical: file.prepared!.canonical,
    given: []
  }]
  return { ...standing, questions: [question(Ours.sealedAs(file.questions[0]!.sealed))] }
})

const lifetimeOf = ({ environment: { options } }: File, { expiresIn }: Approval.NeedsApproval): number =>
  expiresIn ??
    (options.expiresIn === undefined ? Infinity : Duration.toMillis(Duration.fromInputUnsafe(options.expiresIn)))

const end: Hand["end"] = Effect.fnUntraced(function*(file, standing, ending) {
  const { at, state, why } = ending
  const asked = file.questions[at]!
  const reason = Ours.reasonOf(file, ending)
  asked.ended = reason
  if (why === "said") yield* Ours.rememberDenial(file, Request.claimOf(asked.sealed, file.call), asked.given[0])
  yield* changed(file, state, Ours.deciderOf(file, ending), reason)
  return withQuestion(standing, at, { fate: { state, written: true } })
})

// Nobody comes back to a call that is handled here: who else is needed is asked at once, and kept in the meantime here.
const add: Hand["add"] = Effect.fnUntraced(function*(file, standing, { at, by }) {
  const asked = file.questions[at]!
  const given = asked.given[by]!
  const claim = { ...Request.claimOf(asked.sealed, file.call, given.by), params: yield* Who.paramsOf(given) }
  const { toolCallId, toolName } = file.call
  const pending = new ApprovalJournal.Entry({ state: "pending", toolName, toolCallId, at: asked.sealed.issuedAt! })
  const entry = withApproval(pending, claim, asked.entry)
  file.questions = [{ ...asked, given: [], entry }]
  yield* Ours.kept(file, asked, given.by)
  return { ...forget(standing), reply: undefined, questions: [question(Ours.sealedAs(asked.sealed))] }
})

const decided: Hand["decided"] = Effect.fnUntraced(function*(file, standing, decision) {
  const isNew = file.approval === undefined
  yield* Ours.hand.decided(file, standing, decision)
  const { approval } = file
  if (!isNew || approval === undefined) return
  yield* Remembering.keep(file.environment, approval.answered)
  yield* changed(file, approval.edits === undefined ? "approved" : "edited", approval.claim.decidedBy)
})

const changed = (
  { call, questions }: File,
  state: Approval.ApprovalState,
  decidedBy: DecidedBy | undefined,
  reason?: string
) => {
  const { sealed } = questions[0]!
  return ApprovalEvents.publish((occasion) => ({
    _tag: "Changed",
    ...occasion,
    ...Request.about(call, sealed),
    state,
    reason,
    decidedBy,
    waited: occasion.at - sealed.issuedAt!
  }))
}

export const hand: Hand = { seal, end, add, decided }
