/**
 * What is posted. It has to say that it is JSON: a form of another site can post anything else, and what says nothing,
 * without asking the browser's user or this server.
 */
import type { Approval } from "@assent/ai"
import * as ByteSize from "effect/ByteSize"
import * as Effect from "effect/Effect"
import * as HttpIncomingMessage from "effect/http/HttpIncomingMessage"
import type * as HttpServerError from "effect/http/HttpServerError"
import type * as HttpServerRequest from "effect/http/HttpServerRequest"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as Errors from "./errors.ts"
import * as Model from "./model.ts"

type Unread = Errors.NotJson | Errors.TooLarge | Errors.Unprocessable

const isJson = (contentType: string | undefined): boolean => /^application\/json\s*(;|$)/i.test(contentType ?? "")

const notJson = new Errors.NotJson({ message: "What is posted here is JSON: say `content-type: application/json`." })

const unreadable = new Errors.Unprocessable({ message: "What was posted is no JSON." })

const tooDeep = new Errors.Unprocessable({ message: "What was posted is nested too deep." })

/** The JSON that was posted. */
const json = (
  request: HttpServerRequest.HttpServerRequest,
  maxBytes: number
): Effect.Effect<unknown, Unread> => {
  if (!isJson(request.headers["content-type"])) return Effect.fail(notJson)
  const tooLarge = new Errors.TooLarge({ maxBytes, message: `What is posted here has at most ${maxBytes} bytes.` })
  return request.text.pipe(
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(maxBytes)),
    Effect.mapError((error) => isTooLarge(error) ? tooLarge : unreadable),
    Effect.flatMap((text) => {
      const read = Result.try((): unknown => JSON.parse(text))
      if (Result.isFailure(read)) return Effect.fail(unreadable)
      return isTooDeep(read.success) ? Effect.fail(tooDeep) : Effect.succeed(read.success)
    })
  )
}

const isTooLarge = ({ reason }: HttpServerError.HttpServerError): boolean =>
  reason._tag === "RequestParseError" && reason.reason === "BodyTooLarge"

/** What reads a value calls itself for each level of it. */
const maxDepth = 100

const isTooDeep = (value: unknown): boolean => {
  let level: ReadonlyArray<unknown> = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > maxDepth) return true
    level = level.flatMap((one) => Predicate.isObjectOrArray(one) ? Object.values(one) : [])
  }
  return false
}

const formatIssues = SchemaIssue.makeFormatterStandardSchemaV1()

/** What is wrong with something that was posted. */
export const unprocessable = ({ issue }: Schema.SchemaError, what: string): Errors.Unprocessable =>
  new Errors.Unprocessable({
    message: `${what} is not what is taken here. See \`issues\`.`,
    issues: formatIssues(issue).issues.slice(0, maxIssues).map(({ message, path = [] }) => ({
      path: path.map((segment) => String(typeof segment === "object" ? segment.key : segment)),
      message
    }))
  })

const maxIssues = 10

const decoded = <A>(schema: Schema.Codec<A, unknown>) => {
  const decode = Schema.decodeUnknownEffect(Schema.toCodecJson(schema))
  return (value: unknown) => Effect.mapError(decode(value), (error) => unprocessable(error, "What was posted"))
}

const reading =
  <A>(read: (value: unknown) => Effect.Effect<A, Errors.Unprocessable>) =>
  (request: HttpServerRequest.HttpServerRequest, maxBytes: number): Effect.Effect<A, Unread> =>
    Effect.flatMap(json(request, maxBytes), read)

// =============================================================================
// Bodies
// =============================================================================

/** Answers as they were posted: one that cannot be read is refused by itself, and voids no other. */
export type Answers = ReadonlyArray<Approval.AnswerInput>

const hasId = Schema.Struct({ approvalId: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(512)) })

const ids = decoded(Schema.Array(hasId).check(Schema.isMaxLength(Model.maxAnswers)))

// What one says beside its id, the conversation reads.
const answersIn = (posted: ReadonlyArray<unknown>): Effect.Effect<Answers, Errors.Unprocessable> =>
  Effect.as(ids(posted), posted as Answers)

export interface Decide {
  readonly answers: Answers
  /** One answer has a status of its own. */
  readonly isOne: boolean
}

export const decide = reading((value): Effect.Effect<Decide, Errors.Unprocessable> => {
  const isOne = !Array.isArray(value)
  return Effect.map(answersIn(isOne ? [value] : value as ReadonlyArray<unknown>), (answers) => ({ answers, isOne }))
})

const envelope = decoded(Schema.Struct({
  text: Model.SendPayload.fields.text,
  messageId: Model.SendPayload.fields.messageId,
  answers: Schema.optionalKey(Schema.Array(Schema.Unknown))
}))

export interface Send {
  readonly text: string | undefined
  readonly messageId: string | undefined
  readonly answers: Answers
}

export const send = reading((value) =>
  Effect.flatMap(envelope(value), ({ answers = [], messageId, text }): Effect.Effect<Send, Errors.Unprocessable> => {
    if (text?.trim() === "") return Effect.fail(silent)
    return Effect.map(answersIn(answers), (answers) => ({ answers, messageId, text }))
  })
)

const silent = new Errors.Unprocessable({ message: "The message says nothing. Leave `text` out to go on." })

export const answer = reading(decoded(Model.AnswerPayload))

export const cancel = reading(decoded(Model.CancelPayload))
