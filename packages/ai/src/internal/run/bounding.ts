/** Results within bounds (law L17). */
import type * as Tool from "effect/ai/Tool"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import type * as Bounds from "../bounds.ts"
import type * as Results from "../history/results.ts"

/** How a toolkit handles a call, as the engine sees any of them. */
export type Handle = (
  name: string,
  params: unknown,
  toolCallId?: string
) => Effect.Effect<Stream.Stream<Tool.HandlerResult<Tool.Any>, unknown>, unknown>

/** Tells that a result was larger than may be. */
export const tellLeftOut = (
  { id: toolCallId, name: toolName }: Results.CallName,
  { preliminary }: Pick<Tool.HandlerResult<Tool.Any>, "preliminary">,
  problem: Bounds.Excess
): Effect.Effect<void> =>
  ApprovalEvents.publish((occasion) =>
    preliminary
      ? { _tag: "PreliminaryLeftOut", ...occasion, toolName, toolCallId, count: 1 }
      : { _tag: "ResultLeftOut", ...occasion, toolName, toolCallId, problem }
  )
