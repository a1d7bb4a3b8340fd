/**
 * A memory is anybody's code: it may fail, die, throw, never answer, or give what is no answer to the call. Then it is one
 * that cannot be had, and whoever wanted to know asks (law L1).
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as ApprovalError from "../../ApprovalError.ts"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as ApprovalMatcher from "../../ApprovalMatcher.ts"
import type * as ApprovalMemory from "../../ApprovalMemory.ts"
import { abandonable } from "../abandon.ts"
import type * as Memory from "../memory.ts"

/**
 * What covers a call, if that is what the memory gave; else fails with `MemoryUnavailable`. So it does where there is a
 * denial that may be of the call and may be not: then a person is asked.
 */
export const find = (
  memory: Memory.Remembering,
  call: ApprovalMemory.MemoryCall,
  options: {
    readonly peek: boolean
    readonly timeLimit: Duration.Input
    readonly toolCallId: string
  }
): Effect.Effect<ApprovalMemory.Remembered | undefined, ApprovalError.ApprovalError> =>
  Effect.flatMap(memory.matching.behaviors, (behaviors) =>
    Effect.filterOrFail(
      guarded(
        { doing: "find", toolName: call.toolName, toolCallId: options.toolCallId },
        () =>
          Effect.flatMap(memory.find(call, { peek: options.peek }), (known) => {
            // Whoever wrote it in JavaScript may mean nothing by null.
            if (known === undefined || known === null || isAnswer(memory.matching, known, call, behaviors)) {
              return Effect.succeed(known ?? undefined)
            }
            return Effect.die(new Error("ApprovalMemory.find returned something that is not an answer to the call."))
          }),
        options.timeLimit
      ),
      (known) => known?.decision !== "denied" || memory.matching.covers(known, call, behaviors),
      () => doubtful
    ))

/** Remembers an answer, or fails with `MemoryUnavailable`. */
export const remember = (
  memory: ApprovalMemory.Service,
  answered: ApprovalMemory.Answered,
  timeLimit: Duration.Input
): Effect.Effect<ApprovalMemory.Remembered | undefined, ApprovalError.ApprovalError> =>
  guarded(
    { doing: "remember", toolName: answered.toolName, toolCallId: answered.toolCallId },
    () => memory.remember(answered),
    timeLimit
  )

/** An approval lets nothing run but what it covers. */
const isAnswer = (
  matching: Memory.Matching,
  known: ApprovalMemory.Remembered,
  call: ApprovalMemory.MemoryCall,
  behaviors: ApprovalMatcher.Behaviors
): boolean => known.decision === "denied" || (known.decision === "approved" && matching.covers(known, call, behaviors))

/** The cause goes to events alone (law L15). */
const guarded = <A>(
  about: Pick<typeof ApprovalEvents.MemoryFailed.Type, "doing" | "toolName" | "toolCallId">,
  ask: () => Effect.Effect<A, ApprovalError.ApprovalError>,
  timeLimit: Duration.Input
): Effect.Effect<A, ApprovalError.ApprovalError> =>
  Effect.suspend(ask).pipe(
    abandonable,
    Effect.timeout(timeLimit),
    Effect.tapCause((cause) =>
      ApprovalEvents.publish((occasion) => ({ _tag: "MemoryFailed", ...occasion, ...about, cause }))
    ),
    Effect.sandbox,
    Effect.mapError(() => unavailable)
  )

/** There is a denial that may be of the call: whoever knows of it asks. */
export const doubtful = ApprovalError.make(
  new ApprovalError.MemoryUnavailable({
    description: "It is not clear whether a remembered denial covers this call."
  })
)

const unavailable = ApprovalError.make(
  new ApprovalError.MemoryUnavailable({ description: "The memory failed, or did not answer in time." })
)
