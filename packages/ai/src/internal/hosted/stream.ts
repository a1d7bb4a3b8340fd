/**
 * Calls of a stream that the provider may be about to ask about: they are held for a moment, so that they go out sealed
 * with the request that comes right behind (law L4). Whatever comes keeps its order.
 */
import type * as Response from "effect/ai/Response"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type * as Model from "../environment/model.ts"
import * as HostedCall from "../tool/hostedCall.ts"

type Parts = ReadonlyArray<Model.StreamPart>
type Receive = (parts: Parts) => Effect.Effect<void, unknown, Scope.Scope>

/** How long a call is held. Providers that ask do so at once; a person may be watching what the others do. */
const timeLimit = "100 millis"

export interface HostedStream {
  readonly isHolding: () => boolean
  readonly take: Receive
  /** Nothing more comes. */
  readonly end: Effect.Effect<void, unknown, Scope.Scope>
}

/** Gives the parts on to `receive`, one time after the other. */
export const make = (receive: Receive): HostedStream => {
  let held: Parts = []
  let waiting: { readonly fiber: Fiber.Fiber<void, unknown>; readonly isDone: () => boolean } | undefined
  const receiveHeld = Effect.suspend(() => {
    const parts = held
    held = []
    return parts.length === 0 ? Effect.void : receive(parts)
  })
  const hold = (parts: Parts) =>
    Effect.suspend(() => {
      held = parts
      let done = false
      const afterwards = Effect.suspend(() => {
        done = true
        return receiveHeld
      })
      return Effect.map(
        Effect.forkScoped(Effect.andThen(Effect.sleep(timeLimit), afterwards)),
        (fiber) => void (waiting = { fiber, isDone: () => done })
      )
    })
  // From here on, what was held either has gone on or is still held.
  const release: Effect.Effect<void, unknown> = Effect.suspend(() => {
    const one = waiting
    waiting = undefined
    return one === undefined ? Effect.void : one.isDone() ? Fiber.join(one.fiber) : Fiber.interrupt(one.fiber)
  })
  const take: Receive = (next) =>
    Effect.suspend(() => {
      const parts = held.length === 0 ? next : [...held, ...next]
      held = []
      const start = waitingFrom(parts)
      if (start === parts.length) return receive(parts)
      const rest = hold(parts.slice(start))
      return start === 0 ? rest : Effect.andThen(receive(parts.slice(0, start)), rest)
    })
  return {
    isHolding: () => waiting !== undefined,
    take: (next) => waiting === undefined ? take(next) : Effect.andThen(release, take(next)),
    end: Effect.andThen(release, receiveHeld)
  }
}

// Where the calls at the end begin of which one has no request yet, and no seal; the length if there is none.
const waitingFrom = (parts: Parts): number => {
  let start = parts.length
  while (start > 0 && isCallOrRequest(parts[start - 1]!)) start--
  const asked = new Set(parts.flatMap((part) => part.type === "tool-approval-request" ? [part.toolCallId] : []))
  const waits = parts.slice(start).some((call) =>
    isHostedCall(call) && !asked.has(call.id) && HostedCall.sealOf(call) === undefined
  )
  return waits ? start : parts.length
}

const isHostedCall = (part: Model.StreamPart): part is Response.ToolCallPart<string, unknown> =>
  part.type === "tool-call" && part.providerExecuted === true

const isCallOrRequest = (part: Model.StreamPart): boolean => isHostedCall(part) || part.type === "tool-approval-request"
