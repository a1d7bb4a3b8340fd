/** Until a Conversation has them: turns that are followed, states, messages with ids. */
import { type Approval, ApprovalError, Approver, Conversation, type Prompt, type Response } from "@assent/ai"
import type { ConversationProxyServer } from "@assent/web"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

const turns = new Map<string, any>()
export const make = (options: any): Effect.Effect<ConversationProxyServer.Conversation, never, any> =>
  Effect.map(Conversation.make(options) as any, (c: any) => of(`${options.key ?? ""}/${options.id}`, c))

const of = (key: string, c: Conversation.Conversation<any>): ConversationProxyServer.Conversation => {
  const read = Effect.gen(function*() {
    const history: Prompt.Prompt = yield* c.history
    return {
      messages: history.content.map((message, i) => ({ id: `m-${i}`, message })),
      pending: yield* c.pending(),
      isTurnTaken: turns.has(key)
    }
  })
  return {
    pending: () => c.pending(),
    cancel: (reason) => c.cancel(reason),
    read,
    turn: Effect.sync(() => turns.get(key)),
    stateOf: (id) =>
      Effect.gen(function*() {
        const { messages, pending } = yield* read
        const request = pending.find(({ approvalId }) => approvalId === id)
        if (request !== undefined) return { state: "open", request }
        let state: any
        for (const { message } of messages) {
          if (message.role === "system" || message.role === "user") continue
          for (const part of message.content as any) {
            if (part.type === "tool-approval-request" && part.approvalId === id) state = { state: "unknown" }
            if (part.type === "tool-approval-response" && part.approvalId === id) state = { state: "answered" }
            const assent = part.options?.assent
            if (part.type === "tool-result" && assent?.approvalId === id) {
              state = {
                state: part.isFailure ? (part.result?.type === "execution-denied" ? "denied" : "failed") : "done",
                result: part.result,
                isFailure: part.isFailure,
                ...(assent.decidedBy
                  ? { decidedBy: Schema.decodeUnknownSync(Approver.DecidedBy)(assent.decidedBy) }
                  : {})
              }
            }
          }
        }
        return state
      }),
    start: (prompt, options = {}) =>
      Effect.gen(function*() {
        const begun = yield* Deferred.make<void, unknown>()
        const done = yield* Deferred.make<any, unknown>()
        const parts: Array<Response.AnyPart> = []
        let changed = Deferred.makeUnsafe<void>()
        const tell = (more: ReadonlyArray<any>) => {
          parts.push(...more)
          const before = changed
          changed = Deferred.makeUnsafe<void>()
          Deferred.doneUnsafe(before, Exit.void)
        }
        let ended = false
        const { answers = [] } = options
        const isText = typeof prompt === "string"
        const turn = {
          messageId: "m-next",
          outcome: Deferred.await(done),
          parts: Stream.callback<any, unknown>((queue) =>
            Effect.gen(function*() {
              for (let i = 0;;) {
                while (i < parts.length) yield* Queue.offer(queue, parts[i++])
                if (ended) break
                yield* Deferred.await(changed)
              }
              const exit = yield* Effect.exit(Deferred.await(done))
              if (Exit.isFailure(exit)) yield* Queue.failCause(queue, exit.cause as any)
              else yield* Queue.end(queue)
            })
          )
        }
        const run = Effect.gen(function*() {
          let outcome: any
          if (answers.length > 0) {
            const exit = yield* Effect.exit(c.decide(answers, { by: options.by }))
            if (Exit.isFailure(exit) && !isText) return yield* Effect.failCause(exit.cause)
            if (Exit.isSuccess(exit)) {
              outcome = exit.value
              tell(outcome.content)
            } else {
              const error = Cause.findErrorOption(exit.cause)
              if (error._tag === "None" || !(error.value instanceof ApprovalError.ApprovalError)) {
                return yield* Effect.failCause(exit.cause)
              }
              outcome = { refused: answers.map(({ approvalId }) => ({ approvalId, error: error.value })) }
            }
          }
          if (isText || answers.length === 0) {
            yield* Deferred.succeed(begun, undefined)
            yield* Stream.runForEach(c.stream(prompt as any), (part) => Effect.sync(() => tell([part])))
            const last: any = yield* c.outcome
            outcome = { ...last, refused: outcome?.refused ?? [] }
          }
          return outcome
        })
        turns.set(key, turn)
        yield* Effect.forkDetach(Effect.onExit(run, (exit) =>
          Effect.sync(() => {
            if (turns.get(key) === turn) turns.delete(key)
            Deferred.doneUnsafe(done, exit as any)
            Deferred.doneUnsafe(begun, Exit.asVoid(exit))
            ended = true
            tell([])
          })))
        if (answers.length > 0 && !isText) yield* Effect.race(Deferred.await(begun), Effect.delay(Effect.void, 20))
        else yield* Deferred.await(begun)
        return turn as any
      })
  }
}
void ({} as Approval.ApprovalRequest)
