/** What each endpoint does. Who asks is known by then, and is the only one whose word it is (law L16). */
import { Approval } from "@assent/ai"
import type { Approver } from "@assent/ai"
import type * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpEffect from "effect/http/HttpEffect"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Decider from "../../Decider.ts"
import type { Limiter } from "../limiting.ts"
import * as Body from "./body.ts"
import type { Conversation } from "./conversation.ts"
import * as Deciding from "./deciding.ts"
import * as Errors from "./errors.ts"
import * as Failures from "./failures.ts"
import type * as Model from "./model.ts"
import * as Parts from "./parts.ts"
import * as Streaming from "./streaming.ts"

export interface Settings<E, R> {
  readonly conversation: (id: string, who: Decider.Who) => Effect.Effect<Conversation, E | Decider.Refused, R>
  /** What conversations are made in. */
  readonly context: Context.Context<R>
  readonly limiter: Limiter
  readonly heartbeat: Duration.Duration
  readonly patience: Duration.Duration
  readonly maxBodyBytes: number
}

interface Request {
  readonly params: { readonly id: string }
  readonly request: HttpServerRequest.HttpServerRequest
}

type Read<A> = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
) => Effect.Effect<A, Errors.NotJson | Errors.TooLarge | Errors.Unprocessable>

export const make = <E, R>(settings: Settings<E, R>) => {
  const { heartbeat, patience } = settings

  const open = (id: string, who: Decider.Who): Effect.Effect<Conversation, unknown> =>
    Effect.suspend(() => settings.conversation(id, who)).pipe(
      Effect.provideService(Approval.Scope, who.scope),
      Effect.provideContext(settings.context)
    )

  const reading = <A, Q extends Request, R2 = never>(
    read: (conversation: Conversation, request: Q) => Effect.Effect<A, unknown, R2>
  ) =>
  (request: Q) =>
    Effect.gen(function*() {
      const who = yield* Decider.Current
      return yield* read(yield* open(request.params.id, who), request)
    }).pipe(Effect.catchCause(Failures.ofCause))

  // Nothing is read, and no conversation opened, for who has posted too often.
  const limited = Effect.fnUntraced(function*(who: Decider.Who) {
    const retryAfter = yield* settings.limiter.wait(who)
    if (retryAfter === undefined) return
    yield* HttpEffect.appendPreResponseHandler((_, response) =>
      Effect.succeed(HttpServerResponse.setHeader(response, "retry-after", String(retryAfter)))
    )
    return yield* Effect.fail(new Errors.TooManyRequests({ retryAfter, message: tooOften(retryAfter) }))
  })

  const posting = <P, A>(
    readBody: Read<P>,
    take: (conversation: Conversation, posted: P, by: Approver.Person | undefined) => Effect.Effect<A, unknown>,
    { isLimited = true } = {}
  ) =>
  ({ params, request }: Request) =>
    Effect.gen(function*() {
      const who = yield* Decider.Current
      if (isLimited) yield* limited(who)
      const posted = yield* readBody(request, settings.maxBodyBytes)
      return yield* take(yield* open(params.id, who), posted, who.person)
    }).pipe(Effect.catchCause(Failures.ofCause))

  const decided = (
    conversation: Conversation,
    { answers, isOne }: Body.Decide,
    by: Approver.Person | undefined
  ): Effect.Effect<Model.Decided | Model.Accepted, unknown> =>
    Effect.gen(function*() {
      const { fates, isRunning, turnFailed } = yield* Deciding.decide(conversation, answers, { by, patience })
      const [fate] = fates
      if (isOne && fate?.refused !== undefined) return yield* Effect.fail(fate.refused)
      return { answers: fates, isRunning, ...(turnFailed === undefined ? undefined : { turnFailed }) }
    })

  return {
    send: posting(Body.send, (conversation, { answers, messageId, text }, by) =>
      Effect.gen(function*() {
        const posted = Deciding.sort(answers, answers.length === 0 ? [] : yield* conversation.pending())
        const [refused] = posted.refused.values()
        // Nothing is said and nothing answered.
        if (text === undefined && refused !== undefined && posted.answers.length === 0) {
          return yield* Effect.fail(refused)
        }
        const turn = yield* Effect.catch(
          conversation.start(text ?? [], { answers: posted.answers, messageId, by }),
          (error) => Effect.flatMap(notBegun(conversation, posted, error), Effect.fail)
        )
        return Streaming.of(turn, { conversation, posted, heartbeat })
      })),

    decide: posting(Body.decide, decided),

    answer: posting(Body.answer, (conversation, { answer, approvalId, note }, by) =>
      Effect.gen(function*() {
        const request = (yield* conversation.pending()).find((one) => one.approvalId === approvalId)
        // A value is no consent.
        if (request !== undefined && request.awaited === undefined) {
          return yield* Effect.fail(new Errors.Unprocessable({ approvalId, message: asksForConsent }))
        }
        const decision = new Approval.Approved({ answer, ...(note === undefined ? undefined : { note }) })
        return yield* decided(conversation, { answers: [{ approvalId, decision }], isOne: true }, by)
      })),

    // Who has posted too much may stop what came of it.
    cancel: posting(Body.cancel, (conversation, { reason }) => conversation.cancel(reason), { isLimited: false }),

    pending: reading((conversation) => conversation.pending()),

    history: reading((conversation) => Effect.map(conversation.read, Parts.ofReading)),

    follow: reading((conversation) =>
      Effect.map(conversation.turn, (turn) =>
        turn === undefined
          ? undefined
          : Streaming.of(turn, { conversation, posted: { ids: [], refused: new Map() }, heartbeat }))
    ),

    state: reading((
      conversation,
      { query: { approvalId } }: Request & { readonly query: { readonly approvalId: string } }
    ) =>
      Effect.flatMap(conversation.stateOf(approvalId), (found): Effect.Effect<Model.RequestState, unknown> => {
        if (found === undefined) {
          return Effect.fail(new Errors.UnknownRequest({ approvalId, message: unknownRequest }))
        }
        const { request, state } = found
        return Effect.succeed({
          approvalId,
          state,
          ...Failures.known(found),
          ...(request === undefined ? undefined : { request })
        })
      })
    )
  }
}

// One answer alone is told by its status what is wrong with it.
const notBegun = (
  conversation: Conversation,
  posted: Deciding.Sorted,
  error: unknown
): Effect.Effect<unknown, unknown> => {
  const approval = Failures.approvalOf(error)
  const [first] = posted.answers
  if (approval === undefined || first === undefined) return Effect.succeed(error)
  return Effect.map(
    Deciding.fates(conversation, { ids: [first.approvalId], refused: new Map([[first.approvalId, approval]]) }),
    ([fate]) => fate?.refused ?? error
  )
}

const tooOften = (seconds: number) =>
  `That was too much in a short time, so nothing was done. Try again in ${seconds} s.`

const asksForConsent = "This asks whether a call may run, and not for a value. Nothing ran; decide it instead."

const unknownRequest = "Nobody was asked this here."
