/**
 * What was answered before, looked up before anybody is asked, and what is to be remembered of an answer. It is written
 * where the answer has its effect, once (law L2), and holds within the turn from the moment it is given.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import type * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as ApprovalMatcher from "../../ApprovalMatcher.ts"
import type * as ApprovalMemory from "../../ApprovalMemory.ts"
import * as Approver from "../../Approver.ts"
import type * as Asking from "../asking/asking.ts"
import * as MemoryGuard from "../asking/memoryGuard.ts"
import * as Bounds from "../bounds.ts"
import type * as Environment from "../environment/environment.ts"
import * as Memory from "../memory.ts"
import * as Prepare from "../tool/prepare.ts"
import * as Approvers from "./approvers.ts"

/** What is looked for: one call of one tool. `version` changes with the tool's parameters. */
export interface Subject {
  readonly source: string
  readonly toolName: string
  readonly version: string
  readonly params: Schema.Json
}

/** What a memory is asked about a call that runs here. */
export const subjectOf = (prepared: Prepare.Prepared): Effect.Effect<Subject> =>
  Effect.map(Prepare.versionOf(prepared.tool), (version) => ({
    source: "local",
    toolName: prepared.toolName,
    version,
    params: prepared.encoded
  }))

/** What was said of a call before. */
export interface Recalled {
  readonly decision: "approved" | "denied"
  readonly reason: string
  readonly decidedBy: Approver.DecidedBy
}

/**
 * What covers a call about which the policy says this, of an approval one use; `undefined` if nothing does. What runs
 * anyway, or is asked every time, needs no approval, but may have been denied.
 */
export const recall = Effect.fnUntraced(function*(
  { given, memory, memoryScope, options, scope, within }: Environment.Environment,
  subject: Subject,
  result: Approval.ApprovalResult,
  toolCallId: string
): Effect.fn.Return<Recalled | undefined, ApprovalError.ApprovalError> {
  if (!memory.remembers) return undefined
  const peek = result._tag !== "NeedsApproval" || result.rememberable === false
  // An answer of somebody who may not decide any more does not count, nor does one of several that are needed (law L16).
  const rule = result._tag === "NeedsApproval" ? Approvers.ruleOf([result], scope) : undefined
  const counts = ({ decidedBy = nobody, decision }: Pick<ApprovalMemory.Answered, "decidedBy" | "decision">) =>
    rule === undefined ||
    (decision === "denied" ? Approvers.problemOf(rule, decidedBy) === undefined : Approvers.isEnough(rule, [decidedBy]))
  const { matching } = memory
  const behaviors = yield* matching.behaviors
  const now = yield* Clock.currentTimeMillis
  const speaking = given
    .filter(({ answered, until }) => now < until && isOf(answered, subject) && counts(answered))
    .flatMap(({ answered }) => {
      const covers = coveredBy(matching, answered, behaviors)
      return covers === undefined ? [] : [{ ...answered, covers }]
    })
  const covering = speaking.filter((answered) => matching.covers(answered, subject, behaviors))
  let denied: Pick<ApprovalMemory.Answered, "decision" | "decidedBy" | "note"> | undefined = covering.find(isDenial)
  if (denied === undefined && speaking.some((one) => isDenial(one) && matching.mayCover(one, subject, behaviors))) {
    return yield* MemoryGuard.doubtful
  }
  const call = { ...subject, scope: memoryScope }
  const find = (peek: boolean) =>
    Effect.map(
      MemoryGuard.find(memory, call, { peek, timeLimit: options.policyTimeLimit, toolCallId }),
      (found) => found !== undefined && counts(found) ? found : undefined
    )
  // No use of an answer is taken that does not count.
  const isKept = denied === undefined && (rule === undefined || (yield* find(true)) !== undefined)
  // What was denied around it holds here; what was approved there does not.
  for (const around of denied === undefined ? within?.memories ?? [] : []) {
    const found = yield* MemoryGuard.find(memory, { ...subject, scope: around }, {
      peek: true,
      timeLimit: options.policyTimeLimit,
      toolCallId
    })
    if (found !== undefined && isDenial(found) && counts(found)) denied = found
  }
  const known = denied ?? (isKept ? yield* find(peek) : undefined) ?? covering[0]
  return known === undefined || (peek && known.decision === "approved") ? undefined : {
    decision: known.decision,
    reason: known.decision === "denied"
      ? known.note ?? "The user denied such calls before, and that answer was remembered."
      : "Approved before; that answer was remembered.",
    decidedBy: Approver.decidedBy(known.decidedBy, "memory")
  }
})

/**
 * Why such a call was denied for good, if it was. Where that cannot be looked up, whoever is asked decides, as they do of a
 * call that was proposed.
 */
export const denialOf = (
  environment: Environment.Environment,
  subject: Subject,
  toolCallId: string
): Effect.Effect<string | undefined> =>
  // Of what runs anyway only a denial is recalled.
  Effect.match(recall(environment, subject, Approval.preApproved(), toolCallId), {
    onFailure: () => undefined,
    onSuccess: (known) => known?.reason
  })

const nobody = Approver.decidedBy(undefined, "memory")

const isDenial = ({ decision }: Pick<ApprovalMemory.Answered, "decision">): boolean => decision === "denied"

/** How often it may be used is for the memory to count. */
const isOf = (answered: ApprovalMemory.Answered, subject: Subject): boolean =>
  answered.toolName === subject.toolName && answered.source === subject.source && usesOf(answered) === undefined

/** What does not even cover the call that was answered was not meant so. */
const coveredBy = (
  matching: Memory.Matching,
  { params, remember }: ApprovalMemory.Answered,
  behaviors: ApprovalMatcher.Behaviors
): ApprovalMatcher.Description | undefined => {
  const said = typeof remember === "string" ? undefined : remember.covers
  if (said === undefined) return matching.exact(params)
  return matching.matcherOf(said, behaviors).covers(params) ? said : undefined
}

const usesOf = ({ remember }: ApprovalMemory.Answered): number | undefined =>
  typeof remember === "string" ? undefined : remember.uses

/** What is to be remembered of an answer; nothing if it is not to be, or what it says cannot be read. */
export const answeredOf = Effect.fnUntraced(function*(
  { memory, memoryScope, trustsAnswers }: Environment.Environment,
  subject: Subject,
  request: { readonly nonce: string; readonly approvalId: string; readonly toolCallId: string },
  decision: ApprovalMemory.Answered["decision"],
  { decidedBy, isOfHistory, note, remember: wanted }: {
    readonly remember: Schema.Json | undefined
    readonly isOfHistory: boolean
    readonly note?: string | undefined
    readonly decidedBy: Approver.DecidedBy | undefined
  }
): Effect.fn.Return<ApprovalMemory.Answered | undefined> {
  if (!memory.remembers || wanted === undefined || wanted === null) return undefined
  const { matching } = memory
  const said = Bounds.check(wanted, Bounds.answer) === undefined ? matching.read(wanted) : undefined
  if (said === undefined) {
    yield* Effect.logWarning(
      `Assent: the field remember of an answer about "${subject.toolName}" cannot be read, so the answer is not` +
        " remembered. See ApprovalMemory.Remember."
    )
    return undefined
  }
  if (said === "none") return undefined
  const covers = typeof said === "string" ? undefined : said.covers
  if (covers !== undefined) {
    const matcher = matching.matcherOf(covers, yield* matching.behaviors)
    const problems = matcher.covers(subject.params) || matcher.problems.length > 0
      ? matcher.problems
      : ["It does not cover the call that was answered."]
    if (problems.length > 0) {
      yield* Effect.logWarning(
        `Assent: an answer about "${subject.toolName}" is to be remembered for` +
          ` ${matching.toSentence(covers, subject.toolName)}, but a part of that covers nothing. ${problems.join(" ")}`
      )
    }
  }
  const { approvalId, nonce: id, toolCallId } = request
  const remember = isOfHistory && !trustsAnswers ? forSession(said) : said
  return { ...subject, scope: memoryScope, id, approvalId, toolCallId, decision, note, decidedBy, remember }
})

// What outlives the conversation is not for whoever writes its history to say (law L4).
const forSession = (remember: ApprovalMemory.Remember): ApprovalMemory.Remember =>
  typeof remember !== "string" ? { ...remember, for: "session" } : remember === "project" ? "session" : remember

/** From now on it holds for the turn, as long as it says. */
export const give = (
  { given }: Environment.Environment,
  answered: ApprovalMemory.Answered | undefined
): Effect.Effect<void> =>
  answered === undefined
    ? Effect.void
    : Effect.map(Clock.currentTimeMillis, (now) => void given.push({ answered, until: now + timeOf(answered) }))

const timeOf = ({ remember }: ApprovalMemory.Answered): number =>
  typeof remember === "string" ? Infinity : remember.expiresIn ?? Infinity

/** For how long the memory of this turn remembers. */
export const lifetimeOf = ({ fleeting, memory, scope }: Environment.Environment): Asking.Lifetime | undefined =>
  !memory.remembers ? undefined : fleeting ? "turn" : scope.conversation === undefined ? "toolkit" : "conversation"

/** The answer has its effect. What cannot be remembered is asked again, and nothing else. */
export const keep = (
  environment: Environment.Environment,
  answered: ApprovalMemory.Answered | undefined
): Effect.Effect<void> => {
  if (answered === undefined) return Effect.void
  const isKept = Memory.isForProject(answered.remember) && environment.memory.project !== undefined
  if (!environment.fleeting || isKept) return write(environment, answered)
  // What lives for one call of the model is given, and needs no place in a memory, unless its uses are to be counted.
  const counted = usesOf(answered) === undefined ? Effect.void : write(environment, answered)
  return Effect.andThen(warnOnce(environment.memory, answered), counted)
}

/**
 * Both, for an answer that has its effect as it is given. One of a history is read again and again: it holds as the memory
 * has it, from which it may have been taken back.
 */
export const take = (
  environment: Environment.Environment,
  answered: ApprovalMemory.Answered | undefined,
  isOfHistory: boolean
): Effect.Effect<void> =>
  isOfHistory && !environment.fleeting
    ? keep(environment, answered)
    : Effect.andThen(give(environment, answered), keep(environment, answered))

const write = (
  { given, memory, options }: Environment.Environment,
  answered: ApprovalMemory.Answered
): Effect.Effect<void> =>
  !memory.remembers ?
    Effect.void :
    Effect.matchEffect(MemoryGuard.remember(memory, answered, options.policyTimeLimit), {
      onFailure: (error) =>
        Effect.logWarning(`Assent: an answer about "${answered.toolName}" is not remembered. ${error.message}`),
      onSuccess: (remembered) => {
        if (remembered === undefined) return Effect.void
        // From here on the memory says how long an approval holds, and whether it was taken back.
        const index = given.findIndex((one) => one.answered === answered && answered.decision === "approved")
        if (index >= 0) given.splice(index, 1)
        return ApprovalEvents.publish((occasion) => ({
          _tag: "Remembered",
          ...occasion,
          approvalId: remembered.approvalId,
          toolCallId: remembered.toolCallId,
          toolName: remembered.toolName,
          decision: remembered.decision,
          decidedBy: remembered.decidedBy,
          covers: memory.matching.toSentence(remembered.covers, remembered.toolName)
        }))
      }
    })

const forgetful = new WeakSet<ApprovalMemory.Service>()

// Who wrote once_per_session is asked every time: what is missing is to be known before anybody is tired of it.
export const warnForgetful = (
  { memory }: Environment.Environment,
  result: Approval.ApprovalResult,
  toolName: string
): Effect.Effect<void> => {
  const isWanted = result._tag === "NeedsApproval" && result.remember !== undefined && result.rememberable !== false
  if (memory.remembers || !isWanted || forgetful.has(memory)) return Effect.void
  forgetful.add(memory)
  return Effect.logWarning(
    `Assent: the policy says once_per_session for "${toolName}", but there is no memory, so` +
      " a person is asked about every call. Provide one: Effect.provide(program, ApprovalMemory.layerSession())."
  )
}

const warned = new WeakSet<ApprovalMemory.Service>()

// The person was promised a session, and is asked again by the next turn: its author is to know what is missing.
const warnOnce = (memory: ApprovalMemory.Service, { toolName }: ApprovalMemory.Answered): Effect.Effect<void> =>
  Effect.suspend(() => {
    if (warned.has(memory)) return Effect.void
    warned.add(memory)
    return Effect.logWarning(
      `Assent: an answer about "${toolName}" is to be remembered, but no conversation is named, so it is forgotten after` +
        " this call of the model. Name the conversation:" +
        " Effect.provideService(program, Approval.Scope, { conversation: \"…\" })."
    )
  })

/** What the policy adds to an answer, or takes from it: nothing is remembered of what is to be asked every time. */
export const rememberOf = (
  needs: Approval.NeedsApproval | undefined,
  said: Schema.Json | undefined
): Schema.Json | undefined => {
  if (needs?.rememberable === false) return undefined
  if (said === "project" && typeof needs?.session === "object" && needs.session !== null) {
    return { ...needs.session, for: "project" }
  }
  return said === "session" ? needs?.session ?? said : said ?? needs?.remember
}
