/** The routes: who asks is found out first, and what fails before a stream begins is a status and a sentence. */
import { Approval, ConversationStore } from "@assent/ai"
import * as ByteSize from "effect/ByteSize"
import * as Cause from "effect/Cause"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import * as HttpRouter from "effect/http/HttpRouter"
import type * as HttpServerError from "effect/http/HttpServerError"
import * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import * as Decider from "../Decider.ts"
import * as Limiting from "./limiting.ts"
import * as Logging from "./logging.ts"
import * as Ahead from "./turn/ahead.ts"
import type { Conversation } from "./turn/conversation.ts"
import * as Reading from "./turn/reading.ts"
import * as Stopped from "./turn/stopped.ts"
import * as Taking from "./turn/taking.ts"
import * as Turns from "./turn/turns.ts"
import * as Body from "./wire/body.ts"
import * as Sentences from "./wire/sentences.ts"
import * as Sse from "./wire/sse.ts"

export interface Settings<E, R> {
  readonly path: `/${string}`
  readonly conversation: (id: string, who: Decider.Who) => Effect.Effect<Conversation, E | Decider.Refused, R>
  readonly heartbeat: Duration.Duration
  readonly maxBodyBytes: number
  readonly maxKeptBytes: number
  readonly rateLimit: Limiting.Limit | undefined
}

/** Something is answered without a stream. */
class Failure {
  readonly status: number
  readonly sentence: string
  readonly headers: Readonly<Record<string, string>> | undefined
  constructor(status: number, sentence: string, headers?: Failure["headers"]) {
    this.status = status
    this.sentence = sentence
    this.headers = headers
  }
}

const notJson = new Failure(415, "What is posted here is JSON (`content-type: application/json`).")

const unreadable = new Failure(400, "What was posted is no JSON.")

const tooLarge = new Failure(413, "What was posted is too large.")

const broken = new Failure(500, "The conversation could not be opened. Try again.")

const running = new Failure(503, "What goes on could not be stopped yet. Try again.")

interface Opened {
  readonly conversation: Conversation
  readonly key: string
}

const noId = new Failure(404, "There is no conversation of this id.")

export const add = Effect.fnUntraced(function*<E, R>(
  settings: Settings<E, R>
): Effect.fn.Return<void, never, R | Decider.Decider | HttpRouter.HttpRouter | Scope.Scope> {
  const router = yield* HttpRouter.HttpRouter
  const decider = yield* Decider.Decider
  const context = yield* Effect.context<R>()
  const turns = yield* Turns.make
  const ahead = Ahead.make(settings.maxKeptBytes)
  const limiter = yield* Limiting.make(settings.rateLimit)

  const identify = Effect.mapError(decider.identify, refusal)

  const open = Effect.fnUntraced(function*(id: string, who: Decider.Who) {
    const conversation = yield* Effect.suspend(() => settings.conversation(id, who)).pipe(
      Effect.provideService(Approval.Scope, who.scope),
      Effect.catchCause(failureOf),
      Effect.provideContext(context)
    )
    const { id: key } = yield* ConversationStore.keyOf(id, who.scope)
    return { conversation, key }
  })

  const sse = (taking: Turns.Taking, { conversation, key }: Opened, post: Body.Post | undefined) => {
    const stopped = Effect.suspend(() => turns.stopping(key) ?? Effect.void)
    return HttpServerResponse.stream(
      Sse.encode(Reading.stream(taking, { conversation, heartbeat: settings.heartbeat, post, stopped })),
      { headers: Sse.headers }
    )
  }

  const body = Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    // A form of another site may post anything but this without asking.
    if (!/^application\/json\s*(;|$)/i.test(request.headers["content-type"] ?? "")) return yield* Effect.fail(notJson)
    return yield* request.json.pipe(
      Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(settings.maxBodyBytes)),
      Effect.mapError((error) => isTooLarge(error) ? tooLarge : unreadable)
    )
  })

  const posted = Effect.gen(function*() {
    const who = yield* identify
    const post = yield* Effect.mapError(
      Effect.flatMap(body, Body.read),
      (error) => error instanceof Body.Unreadable ? new Failure(422, error.sentence) : error
    )
    const seconds = yield* limiter.wait(who)
    const isClick = post.target !== undefined && post.target.clicked.length > 0
    if (seconds !== undefined && !isClick) return yield* Effect.fail(tooOften(seconds))
    const opened = yield* open(post.id, who)
    const { conversation, key } = opened
    if (seconds !== undefined) {
      // A client to whom a click is refused leaves the card answered for ever: each is opened again.
      return sse(Effect.fail(Sentences.tooOften(seconds)), opened, post)
    }
    const answers: Array<Approval.ApprovalAnswer> = []
    const withheld = new Map<string, string>()
    for (const clicked of post.clicked) {
      const answer = Body.answerOf(clicked, post.details.get(clicked.approvalId) ?? aheadOf(clicked, key, who))
      if (answer === undefined) withheld.set(clicked.approvalId, Sentences.withoutDetails)
      else answers.push(answer)
    }
    const taking = Effect.catchCause(
      Taking.take({ conversation, post, answers, withheld, by: who.person }),
      sentenceOf
    )
    return sse(yield* turns.take(key, taking), opened, post)
  })

  // What was posted ahead counts only where the click says that something goes with it.
  const aheadOf = (clicked: Body.Clicked, key: string, { person }: Decider.Who) =>
    Body.isAnnounced(clicked) ? ahead.get({ key, person }, clicked.approvalId) : undefined

  const param = Effect.flatMap(
    HttpRouter.params,
    ({ id }) => id === undefined || id === "" || id.length > Body.maxIdLength ? Effect.fail(noId) : Effect.succeed(id)
  )

  // What is being stopped is read when it is known what became of it.
  const following = ({ conversation, key }: Opened, turn: Conversation["turn"]) =>
    Effect.suspend(() => {
      const stopping = turns.stopping(key)
      return Effect.flatMap(
        stopping === undefined ? turn : Effect.andThen(stopping, conversation.turn),
        (turn) => Taking.follow(conversation, turn)
      )
    }).pipe(Effect.catchCause(sentenceOf))

  const resumed = Effect.gen(function*() {
    const who = yield* identify
    const opened = yield* open(yield* param, who)
    const { conversation, key } = opened
    const waiting = turns.waiting(key)
    if (waiting !== undefined) return sse(waiting, opened, undefined)
    if (turns.stopping(key) !== undefined) return sse(following(opened, conversation.turn), opened, undefined)
    const turn = yield* Effect.mapError(conversation.turn, () => broken)
    if (turn !== undefined) return sse(following(opened, Effect.succeed(turn)), opened, undefined)
    // Who loaded the messages in the middle of a turn that is over does not have its end.
    const how = yield* turns.ended(key)
    if (how === undefined) return HttpServerResponse.empty({ status: 204, headers: unkept })
    const before = how === "stopped" ? Stopped.untilTakenBack(conversation) : Effect.void
    return sse(following(opened, Effect.as(before, undefined)), opened, undefined)
  })

  const history = Effect.gen(function*() {
    const who = yield* identify
    const { conversation, key } = yield* open(yield* param, who)
    const { isTurnTaken, messages } = yield* Effect.mapError(Taking.read(conversation), () => broken)
    if (isTurnTaken) yield* turns.isLoaded(key)
    return HttpServerResponse.jsonUnsafe(messages.messages, { headers: unkept })
  })

  const stopped = Effect.gen(function*() {
    const who = yield* identify
    const id = yield* param
    yield* body
    const { conversation, key } = yield* open(id, who)
    const { messages } = yield* Effect.catchCause(
      Effect.andThen(turns.stop(key, conversation.cancel(Sentences.stopped)), Taking.read(conversation)),
      (cause) =>
        Effect.andThen(Logging.error("Assent: a conversation could not be stopped.", cause), Effect.fail(running))
    )
    return HttpServerResponse.jsonUnsafe(messages.messages, { headers: unkept })
  })

  const postedAhead = Effect.gen(function*() {
    const who = yield* identify
    const id = yield* param
    const seconds = yield* limiter.wait(who)
    if (seconds !== undefined) return yield* Effect.fail(tooOften(seconds))
    const details = yield* Effect.mapError(
      Effect.flatMap(body, Body.readDetails),
      (error) => error instanceof Body.Unreadable ? new Failure(422, error.sentence) : error
    )
    const { key } = yield* open(id, who)
    ahead.put({ key, person: who.person }, details)
    return HttpServerResponse.empty({ status: 204, headers: unkept })
  })

  yield* router.add("POST", settings.path, answering(posted))
  yield* router.add("POST", `${settings.path}/:id/details`, answering(postedAhead))
  yield* router.add("POST", `${settings.path}/:id/stop`, answering(stopped))
  yield* router.add("GET", `${settings.path}/:id/stream`, answering(resumed))
  yield* router.add("GET", `${settings.path}/:id`, answering(history))
})

/** What a page has of a conversation is out of date when it comes back. */
const unkept = { "cache-control": "no-store" }

const answering = <R>(effect: Effect.Effect<HttpServerResponse.HttpServerResponse, Failure, R>) =>
  Effect.catch(
    effect,
    ({ headers, sentence, status }) =>
      Effect.succeed(HttpServerResponse.text(sentence, { status, headers: { ...unkept, ...headers } }))
  )

const refusal = ({ message, status }: Decider.Refused): Failure => new Failure(status, message)

const tooOften = (seconds: number): Failure =>
  new Failure(429, Sentences.tooOften(seconds), { "retry-after": String(seconds) })

const sentenceOf = (cause: Cause.Cause<unknown>): Effect.Effect<never, string> =>
  Effect.andThen(
    Cause.hasInterruptsOnly(cause) ? Effect.void : Logging.error("Assent: a turn of a page failed.", cause),
    Effect.fail(Sentences.ofCause(cause))
  )

const isTooLarge = ({ reason }: HttpServerError.HttpServerError): boolean =>
  reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"

const failureOf = (cause: Cause.Cause<unknown>): Effect.Effect<never, Failure> => {
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  return error instanceof Decider.Refused
    ? Effect.fail(refusal(error))
    : Effect.andThen(Logging.error("Assent: a conversation could not be opened.", cause), Effect.fail(broken))
}
