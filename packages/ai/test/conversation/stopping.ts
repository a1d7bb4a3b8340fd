/** What tests of Stop share: a conversation whose call does not end by itself, however it was approved. */
import { assert } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Layer, Stream } from "effect"
import { Approval, ApprovalController, ApprovalMemory, ConversationStore } from "../../src/index.ts"
import * as C from "./support.ts"

/** A step that says when it has begun, and never ends by itself. What it leaves behind takes a moment. */
export const makeHeld = Effect.gen(function*() {
  const entered = yield* Deferred.make<void>()
  const seen: Array<string> = []
  const run = (name: string) =>
    Effect.suspend(() => {
      seen.push(`${name} began`)
      return Effect.andThen(Deferred.succeed(entered, undefined), Effect.never)
    }).pipe(
      Effect.onExit((exit) =>
        Effect.andThen(
          Effect.repeat(Effect.yieldNow, { times: 20 }),
          Effect.sync(() => {
            seen.push(`${name} ${Exit.isSuccess(exit) ? "ended" : "was stopped"}`)
          })
        )
      )
    )
  return { entered: Deferred.await(entered), seen, run }
})

/** Somebody who says yes at once. */
export const yes = ApprovalController.layerInteractive((request) => Approval.approve(request))

/** How a call may come to run: whatever has to be done before, the call, and where its turn is taken. */
export const ways = {
  "that nobody is asked about": { call: C.read("a"), around: Layer.empty, before: undefined },
  "that was approved inline": { call: C.remove("a"), around: yes, before: undefined },
  "whose approval is remembered": {
    call: C.remove("b", "again"),
    around: ApprovalMemory.layerSession(),
    before: C.remove("b")
  },
  "that was approved by decide": { call: C.remove("a"), around: Layer.empty, before: undefined }
} as const

export type Way = keyof typeof ways

/** A turn that is said, and never ends by itself, unless the call is to be decided on. */
export const say = (
  { conversation }: C.Started,
  how: "send" | "stream",
  prompt: string
): Effect.Effect<unknown, unknown> =>
  how === "send" ? conversation.send(prompt) : Stream.runDrain(conversation.stream(prompt))

export const isCancelled = (exit: Exit.Exit<unknown, unknown>): boolean =>
  Exit.isFailure(exit) &&
  exit.cause.reasons.some((reason) =>
    reason._tag === "Fail" && reason.error instanceof ConversationStore.ConversationError &&
    reason.error.reason === "Cancelled"
  )

export const assertCancelled = (fiber: Fiber.Fiber<unknown, unknown>) =>
  Effect.map(Fiber.await(fiber), (exit) => assert.isTrue(isCancelled(exit), String(exit)))
