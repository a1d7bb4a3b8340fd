/**
 * Asking where a server cannot ask while a call runs (MCP 2026-07-28): the call ends with the question, and the client
 * makes it again with the answer. All of it is judged anew then, and the answer counts only for what was asked, once
 * (law L2). What was asked is kept here and not with the client, who has nothing but a token (law L4).
 */
import * as McpSchema from "effect/ai/McpSchema"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Approval from "../../Approval.ts"
import * as Cryptography from "../seal/cryptography.ts"

export type Answer = typeof McpSchema.ElicitResult.Type | "unreadable"

export interface Question {
  readonly mode: "form"
  readonly message: string
  readonly requestedSchema: McpSchema.ElicitRequestFormParams["requestedSchema"]
}

/** One call of a client, if that cannot be asked while it runs. */
export interface Round {
  /**
   * The answer to a question about this subject, if the client brought it; else the call is to end, and to be made again
   * with it. `lifetime` is in milliseconds.
   */
  readonly ask: (question: Question, subject: string, lifetime: number) => Effect.Effect<Answer | undefined>
  /** The call runs now, and ends as it ends. What the client brought: it may be a no. */
  readonly begin: Effect.Effect<Answer | undefined>
}

/** `undefined` where a call cannot end with a question: within a handler, which would begin twice. */
export const CurrentRound = Context.Reference<Round | undefined>("~@assent/ai/internal/elicitationRounds/Round", {
  defaultValue: () => undefined
})

interface Open {
  readonly digest: string
  readonly until: number
  readonly client: string
}

/**
 * More are not kept of one client, nor of all together: its oldest goes, or that of whoever has the most, so that nobody's
 * questions push out another's. Whoever answers one that went is asked again.
 */
export interface Limits {
  readonly client: number
  readonly all: number
}

const defaultLimits: Limits = { client: 200, all: 10_000 }

const key = "approval"

/** The rounds of the calls of one registration. */
export const make = (limits = defaultLimits) => {
  const questions = new Map<string, Open>()
  const byClient = new Map<string, Set<string>>()
  const remove = (token: string): void => {
    const client = questions.get(token)?.client
    const own = client === undefined ? undefined : byClient.get(client)
    questions.delete(token)
    own?.delete(token)
    if (client !== undefined && own?.size === 0) byClient.delete(client)
  }
  // Whoever comes first takes it: the same answer again is an answer to nothing.
  const take = ({ inputResponses, requestState }: McpSchema.McpRequestContext["Service"]) => {
    if (requestState === undefined) return undefined
    const asked = questions.get(requestState)
    remove(requestState)
    const response = inputResponses?.[key]
    if (asked === undefined || response === undefined) return undefined
    return { asked, answer: Option.getOrElse(decodeAnswer(response), () => "unreadable" as const) }
  }
  const put = (token: string, open: Open) => {
    const own = byClient.get(open.client) ?? new Set<string>()
    const full = own.size >= limits.client
      ? own
      : questions.size >= limits.all
      ? [...byClient.values()].reduce((most, one) => one.size > most.size ? one : most, own)
      : undefined
    const [oldest] = full ?? []
    if (oldest !== undefined) remove(oldest)
    byClient.set(open.client, own.add(token))
    questions.set(token, open)
  }
  return Effect.fnUntraced(function*<A, E>(
    call: Effect.Effect<A, E, McpSchema.McpRequestContext>
  ): Effect.fn.Return<A | McpSchema.InputRequired, E, McpSchema.McpRequestContext> {
    const { conversation, principal, tenant } = yield* Approval.Scope
    const context = yield* McpSchema.McpRequestContext
    const brought = take(context)
    // A principal may have many connections.
    const client = JSON.stringify(principal === undefined ? [context.clientId] : [tenant ?? null, principal])
    let ending: McpSchema.InputRequired | undefined
    const begin = Effect.sync(() => {
      ending = undefined
      return brought?.answer
    })
    const ask: Round["ask"] = Effect.fnUntraced(function*(question, subject, lifetime) {
      const digest = yield* Cryptography.sha256(JSON.stringify([tenant, principal, conversation, subject]))
      const now = yield* Clock.currentTimeMillis
      if (brought?.asked.digest === digest && now < brought.asked.until) return brought.answer
      const requestState = yield* Cryptography.randomToken(16)
      put(requestState, { client, digest, until: now + lifetime })
      ending = new McpSchema.InputRequired({
        inputRequests: { [key]: { method: "elicitation/create", params: { ...question } } },
        requestState
      })
      return undefined
    })
    const result = yield* Effect.provideService(call, CurrentRound, { ask, begin })
    return ending ?? result
  })
}

const decodeAnswer = Schema.decodeUnknownOption(McpSchema.ElicitResult)
