/** Asking about several calls in one list: all of one conversation that come within a moment. */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Approval from "../../Approval.ts"
import * as Asking from "./asking.ts"
import * as Replies from "./replies.ts"

interface Waiting {
  readonly request: Approval.ApprovalRequest
  readonly decided: Deferred.Deferred<Replies.Read | undefined, unknown>
}

/** Those who are asked about together, and the question. */
interface Group {
  readonly conversation: string
  readonly waiting: Set<Waiting>
  question: Fiber.Fiber<unknown, unknown> | undefined
}

type Callback = (
  requests: ReadonlyArray<Approval.ApprovalRequest>,
  options: { readonly signal: AbortSignal }
) => ReturnType<Parameters<typeof Replies.awaited<unknown>>[0]>

/** How each of them is asked about. */
export const ask = (
  callback: Callback,
  window: Duration.Input,
  by: Replies.By | undefined
): (request: Approval.ApprovalRequest) => Effect.Effect<Replies.Read | undefined, unknown> => {
  // Nobody's answer waits for what is decided in another conversation.
  const collecting = new Map<string, Group>()
  const close = (group: Group): void => {
    if (collecting.get(group.conversation) === group) collecting.delete(group.conversation)
  }
  const show = (group: Group) =>
    Effect.flatMap(Effect.sleep(window), () => {
      close(group)
      const shown = [...group.waiting]
      return Replies.awaited((options) => callback(shown.map(({ request }) => request), options)).pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            shown.forEach(({ decided, request }, index) =>
              Deferred.doneUnsafe(
                decided,
                Exit.map(exit, (replies) => Replies.replyAmong(request, replies, index))
              )
            )
          })
        )
      )
    })
  const leave = (group: Group, one: Waiting) =>
    Effect.suspend(() => {
      group.waiting.delete(one)
      if (group.waiting.size > 0) return Effect.void
      close(group)
      return group.question === undefined ? Effect.void : Fiber.interrupt(group.question)
    })
  return (request) =>
    Effect.uninterruptibleMask(Effect.fnUntraced(function*(restore) {
      const decided = yield* Deferred.make<Replies.Read | undefined, unknown>()
      const one: Waiting = { request, decided }
      const conversation = Asking.conversationOf(yield* Effect.context<never>())
      const open = collecting.get(conversation)
      const group: Group = open ?? { conversation, waiting: new Set(), question: undefined }
      collecting.set(conversation, group)
      group.waiting.add(one)
      // Whoever leaves, the question is put to the person for the others; without any it is taken back.
      if (open === undefined) group.question = yield* Effect.forkDetach(show(group))
      const reply = yield* Effect.onInterrupt(restore(Deferred.await(decided)), () => leave(group, one))
      return Replies.readReply(request, reply, by)
    }))
}
