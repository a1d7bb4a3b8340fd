/** Parameters and results within bounds (law L17), also where upstream's own engine resolves the calls. */
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as Bounds from "../bounds.ts"
import * as Results from "../history/results.ts"
import * as Prepare from "../tool/prepare.ts"

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

/** The handling of calls within bounds (law L17), where upstream's own engine resolves them. */
export const bounded = (handle: Handle, maxResultBytes: number): Handle => (name, params, id) => {
  const excess = Bounds.check(params, Bounds.params)
  if (excess !== undefined) {
    return Effect.match(Prepare.outOfBounds(name, id ?? "", excess), {
      onFailure: ({ message }) => Stream.succeed(Results.interrupted({ id: id ?? "", name }, message)),
      onSuccess: (never) => never
    })
  }
  return Effect.map(handle(name, params, id), (outputs) =>
    outputs.pipe(
      Stream.mapEffect((output) => {
        const excess = Results.excessOf(output, maxResultBytes)
        if (excess === undefined) return Effect.succeed(output)
        return Effect.as(
          tellLeftOut({ id: id ?? "", name }, output, excess),
          output.preliminary
            ? undefined
            : { ...output, ...Results.leftOut(output, excess, maxResultBytes) } as typeof output // as upstream's own failure is
        )
      }),
      Stream.filter((output) => output !== undefined)
    ))
}
