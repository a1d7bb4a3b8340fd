/**
 * Asking the user of the MCP client whose request this is. Who that is, the fiber knows: each client is asked about its
 * own calls alone, and never another.
 */
import * as McpSchema from "effect/ai/McpSchema"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Scope from "effect/Scope"
import * as Approval from "../../Approval.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as Approver from "../../Approver.ts"
import * as Asking from "../asking/asking.ts"
import * as Text from "../text.ts"
import * as ElicitationAnswer from "./answer.ts"
import * as ElicitationForm from "./form.ts"
import * as ElicitationRounds from "./rounds.ts"
import { HangUp } from "./stdio.ts"

export interface Options {
  readonly timeLimit: Duration.Input
  readonly maxLength: number
  readonly by: By | undefined
}

/** Who the client's user is, as the program knows. */
export type By =
  | Approver.Person
  | ((
    request: Approval.ApprovalRequest
  ) => Approver.Person | undefined | Effect.Effect<Approver.Person | undefined, unknown>)

/** Asks the client in whose request this runs; a decision whatever comes of it, and whose it is (law L16). */
export const ask = Effect.fnUntraced(function*(
  request: Approval.ApprovalRequest,
  options: Options
): Effect.fn.Return<Approval.ApprovalDecision | Asking.Decided> {
  const person = yield* personOf(request, options.by)
  if (!mayDecide(request, person?.id)) return new Approval.Info({ note: elsewhereReason(request) })
  const context = yield* Effect.context<never>()
  const client = Option.getOrUndefined(Context.getOption(context, McpSchema.McpServerClient))
  const about = client ?? Option.getOrUndefined(Context.getOption(context, McpSchema.McpRequestContext))
  if (about === undefined) return unaskable(outsideReason)
  const round = Context.get(context, ElicitationRounds.CurrentRound)
  if (client === undefined && round === undefined) return unaskable(lack(statelessLack(about.protocolVersion)))
  const lacking = lackOf(about)
  if (lacking !== undefined) return unaskable(lack(lacking))
  const form = yield* formOf(request, about.protocolVersion !== "2025-06-18")
  if (Result.isFailure(form)) return new Approval.Info({ note: unanswered(request, form.failure) })
  const { fields, message, read, required } = form.success
  const length = message.length + JSON.stringify(fields).length
  if (length > options.maxLength) return unaskable(tooLongReason(length, options.maxLength))
  const question: ElicitationRounds.Question = {
    mode: "form",
    message,
    requestedSchema: { type: "object", properties: fields, required }
  }
  const lifetime = yield* lifetimeOf(request, options.timeLimit)
  if (client === undefined) {
    const answer = yield* round!.ask(question, subjectOf(request), lifetime)
    return answer === undefined
      ? new Approval.Info({ note: laterReason })
      : Asking.decided(decisionOf(answer, read), person)
  }
  // Made in the effect, so that what the protocol has no form for is a failure like others.
  const elicited = Effect.flatMap(
    client.getClient,
    (reverse) => reverse.elicit(new McpSchema.ElicitRequestFormParams(question))
  )
  const exit = yield* elicited.pipe(
    Effect.scoped,
    Effect.timeoutOption(lifetime),
    Effect.raceFirst(gone(context)),
    Effect.exit
  )
  if (Exit.isFailure(exit)) {
    const { approvalId, toolCallId, toolName } = request
    yield* ApprovalEvents.publish((occasion) => ({
      _tag: "ControllerFailed",
      ...occasion,
      toolCallId,
      toolName,
      approvalId,
      cause: exit.cause
    }))
    return new Approval.Info({ note: unanswered(request, failedReason) })
  }
  return Option.isNone(exit.value)
    ? new Approval.Info({ note: unanswered(request, lateReason) })
    : Asking.decided(decisionOf(exit.value.value, read), person)
})

// Whoever cannot be looked up is nobody known.
const personOf = (
  request: Approval.ApprovalRequest,
  by: By | undefined
): Effect.Effect<Approver.Person | undefined> =>
  typeof by !== "function" ? Effect.succeed(by) : Effect.catchCause(
    Effect.suspend(() => {
      const person = by(request)
      return Effect.isEffect(person) ? person : Effect.succeed(person)
    }),
    () =>
      Effect.as(
        Effect.logWarning(
          `Assent: the option by failed for "${request.toolName}", so it is not known who decides.`
        ),
        undefined
      )
  )

// It ends with the request, whose approval would come too late.
const lifetimeOf = (
  { expiresAt = Infinity }: Approval.ApprovalRequest,
  timeLimit: Duration.Input
): Effect.Effect<number> =>
  Effect.map(
    Clock.currentTimeMillis,
    (now) => Math.min(Duration.toMillis(Duration.fromInputUnsafe(timeLimit)), expiresAt - now)
  )

// What is approved, and not why it is asked, which a policy may say differently each time.
const subjectOf = ({ params, presentation, session, toolName }: Approval.ApprovalRequest): string =>
  JSON.stringify([toolName, params, presentation, session])

/** Why what the client brought is a no, whatever was asked; `undefined` if it is a yes. */
export const refusalOf = (answer: ElicitationRounds.Answer): string | undefined => {
  const decision = decisionOf(answer, ElicitationForm.readConsent)
  return decision._tag === "Approved" ? undefined : decision.note
}

const decisionOf = (
  answer: ElicitationRounds.Answer,
  read: ElicitationForm.Form["read"]
): Approval.ApprovalDecision => {
  if (answer === "unreadable") return denied(ElicitationForm.notUnderstood)
  switch (answer.action) {
    case "accept":
      return read(answer.content)
    case "decline":
      return denied(declinedReason)
    case "cancel":
      return denied(dismissedReason)
  }
}

const denied = (note: string) => new Approval.Denied({ note })

// The program's own word: there is nobody to ask.
const unaskable = (note: string) => Asking.decided(denied(note), undefined, true)

const mayDecide = (
  { approvers, principal, selfApproval }: Approval.ApprovalRequest,
  id: string | undefined
): boolean => {
  const lists = Approver.lists(approvers)
  if (lists.length === 0 && selfApproval !== false) return true
  if (id === undefined || (selfApproval === false && id === principal)) return false
  return lists.length === 0 || lists.some((ids) => ids.includes(id))
}

// A tool that asks something has begun (law L14).
const unanswered = ({ awaited }: Approval.ApprovalRequest, why: string): string =>
  `${why} ${
    awaited === undefined ? "Nothing ran; it may be asked again." : "The tool that asks has begun, and waits still."
  }`

const elsewhereReason = (request: Approval.ApprovalRequest): string => {
  const { approvers, selfApproval } = request
  const whose = Approver.lists(approvers).map((ids) =>
    ids.map((id) => Text.escape(id, { maxLength: 256 })).join(" or ")
  )
  return unanswered(
    request,
    `It is for ${
      whose.length === 0 ? "somebody other than the person who asked for it" : whose.join(", and ")
    } to decide, and` +
      ` not for the client's user${selfApproval === false && whose.length > 0 ? " who asked for it" : ""}.`
  )
}

const declinedReason = "The user declined this call."

const dismissedReason = "The user dismissed the question without a decision, so nothing was approved."

const outsideReason =
  "This call needs a person's approval, and there is nobody to ask: it belongs to no request of an" +
  " MCP client. Do not retry it."

const statelessLack = (revision: string): string => `in MCP ${revision} a server cannot ask while a call runs`

const laterReason = "Nothing ran. The client must make this call again, with its user's answer."

const failedReason = "The client's user could not be asked, or the answer could not be read."

const lateReason = "Nobody answered in time."

const tooLongReason = (length: number, maxLength: number): string =>
  `This call needs a person's approval, and the question would be ${length} characters long, of which at most` +
  ` ${maxLength} can be shown. Call it with shorter parameters.`

// =============================================================================
// Clients
// =============================================================================

const lack = (what: string): string =>
  `This call needs a person's approval, and the client's user cannot be asked: ${what}. Do not retry it.`

/** What a client lacks to be asked; `undefined` if nothing. */
const lackOf = (
  { clientCapabilities: { elicitation }, protocolVersion }: Pick<
    McpSchema.McpRequestContext["Service"],
    "clientCapabilities" | "protocolVersion"
  >
): string | undefined => {
  if (protocolVersion === "2024-11-05" || protocolVersion === "2025-03-26") {
    return `the client speaks MCP ${protocolVersion}, but elicitation needs 2025-06-18 or later`
  }
  if (elicitation === undefined) return "the client does not offer the capability \"elicitation\""
  return elicitation.form === undefined && elicitation.url !== undefined
    ? "the client offers \"elicitation\" only by URL, and not by form"
    : undefined
}

// Nobody can answer any more: standard input has ended, or the HTTP request has, on whose response the question goes.
const gone = Effect.fnUntraced(function*(context: Context.Context<never>): Effect.fn.Return<never, Error> {
  const ended = yield* Deferred.make<void>()
  const scope = Context.getOption(context, Scope.Scope)
  if (Option.isSome(scope) && Option.isSome(Context.getOption(context, HttpServerRequest.HttpServerRequest))) {
    yield* Scope.addFinalizer(scope.value, Deferred.succeed(ended, undefined))
  }
  yield* Effect.raceFirst(Context.get(context, HangUp), Deferred.await(ended))
  return yield* Effect.fail(new Error("The client has disconnected."))
})

/**
 * One object for as long as a client's session lives, over any transport: its first message. `undefined` outside of any,
 * where nobody is asked while a call runs.
 */
export const sessionOf = (context: Context.Context<never>): object | undefined =>
  Option.getOrUndefined(Context.getOption(context, McpSchema.McpServerClient))?.initializePayload

// =============================================================================
// Forms
// =============================================================================

const formOf = Effect.fnUntraced(function*(
  request: Approval.ApprovalRequest,
  hasTitledOptions: boolean
): Effect.fn.Return<Result.Result<ElicitationForm.Form, string>> {
  // A guarded toolkit is shared by clients: what it remembers for its own life is no session of one of them.
  const options = { hasTitledOptions, remembers: (yield* Asking.Remembers) === "conversation" }
  return request.awaited === undefined
    ? Result.succeed(ElicitationForm.consent(request, options))
    : ElicitationAnswer.form(request, request.awaited, options)
})
