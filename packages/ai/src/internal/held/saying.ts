/**
 * What a turn says, for any number of readers: from its beginning, then live, each at its own pace. A turn that nobody reads
 * does no more than keep what it has said, which it does for its outcome anyway.
 */
import * as Response from "effect/ai/Response"
import * as Arr from "effect/Array"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type * as Pull from "effect/Pull"
import * as Stream from "effect/Stream"

type Parts = ReadonlyArray<Response.AnyPart>

export interface Saying {
  /** What each step has said that is over. */
  readonly said: Array<Parts>
  /** What the one that goes on has said so far; it only grows. */
  step: Array<Response.AnyPart>
  /** How the turn has ended, with everything written. */
  exit: Exit.Exit<unknown, unknown> | undefined
  /** Of those who wait for more. */
  waiting: Deferred.Deferred<void> | undefined
}

export const make = (): Saying => ({ said: [], step: [], exit: undefined, waiting: undefined })

/** More was said, or the turn has ended. */
export const tell = (saying: Saying): void => {
  const { waiting } = saying
  if (waiting === undefined) return
  saying.waiting = undefined
  Deferred.doneUnsafe(waiting, Exit.void)
}

/** Something of a whole response, before it is there. What is asked may still be answered here, and how it ends comes last. */
export const hear = (saying: Saying, parts: Parts): void => {
  for (const part of parts) {
    if (part.type !== "tool-approval-request" && part.type !== "finish") saying.step.push(part)
  }
  tell(saying)
}

/** A whole response: what of it was not heard yet. */
export const hearRest = (saying: Saying, parts: Parts): void => {
  const heard = new Map<unknown, number>()
  for (const part of saying.step) heard.set(nameOf(part), (heard.get(nameOf(part)) ?? 0) + 1)
  for (const part of parts) {
    const name = nameOf(part)
    const count = heard.get(name) ?? 0
    if (count > 0) heard.set(name, count - 1)
    else saying.step.push(part)
  }
}

const nameOf = (part: Response.AnyPart): unknown =>
  part.type === "tool-call" || part.type === "tool-result" ? `${part.type} ${part.id}` : part

/** The step is over; what the next one says will be in that list. */
export const endStep = (saying: Saying, step: Parts, next: Array<Response.AnyPart>): void => {
  saying.said.push(step)
  saying.step = next
  tell(saying)
}

export const end = (saying: Saying, exit: Exit.Exit<unknown, unknown>): void => {
  saying.exit ??= exit
  tell(saying)
}

const untilMore = (saying: Saying): Effect.Effect<void> =>
  Effect.suspend(() => Deferred.await(saying.waiting ??= Deferred.makeUnsafe<void>()))

/** How it ends. */
export const exitOf = (saying: Saying): Effect.Effect<unknown, unknown> =>
  Effect.suspend(() => saying.exit ?? Effect.andThen(untilMore(saying), exitOf(saying)))

/** All of it, to its end. Who is late, or slow, gets what was said meanwhile in one piece. */
export const parts = (saying: Saying): Stream.Stream<Response.AnyPart, unknown> =>
  Stream.fromPull(Effect.sync(() => {
    let step = 0
    let reading: Parts | undefined
    let read = 0
    const pull: Pull.Pull<Arr.NonEmptyReadonlyArray<Response.AnyPart>, unknown> = Effect.suspend(() => {
      while (true) {
        reading ??= saying.said[step] ?? saying.step
        if (read < reading.length) {
          const fresh = merged(reading.slice(read)).flatMap((part, index) =>
            asStreamed(part, `${step}.${read + index}`)
          )
          read = reading.length
          if (Arr.isReadonlyArrayNonEmpty(fresh)) return Effect.succeed(fresh)
        } else if (step < saying.said.length) {
          step++
          reading = undefined
          read = 0
        } else if (saying.exit === undefined) {
          return Effect.andThen(untilMore(saying), pull)
        } else {
          return Exit.isSuccess(saying.exit) ? Cause.done() : Effect.failCause(saying.exit.cause)
        }
      }
    })
    return pull
  }))

/** Neighbouring deltas of one text are one. */
export const merged = (parts: Parts): Array<Response.AnyPart> => {
  const all: Array<Response.AnyPart> = []
  for (const part of parts) {
    const last = all[all.length - 1]
    if (last !== undefined && isDelta(last) && isDelta(part) && last.type === part.type && last.id === part.id) {
      const metadata = { ...last.metadata, ...part.metadata }
      // Of one type, and of one form.
      all[all.length - 1] = { ...last, delta: last.delta + part.delta, metadata } as Response.AnyPart
    } else {
      all.push(part)
    }
  }
  return all
}

const isDelta = (
  part: Response.AnyPart
): part is Response.TextDeltaPart | Response.ReasoningDeltaPart | Response.ToolParamsDeltaPart =>
  part.type === "text-delta" || part.type === "reasoning-delta" || part.type === "tool-params-delta"

/** A text of a whole response, as a stream says it. */
export const asStreamed = (part: Response.AnyPart, id: string): ReadonlyArray<Response.AnyPart> => {
  if (part.type !== "text" && part.type !== "reasoning") return [part]
  const { metadata, text: delta, type } = part
  return type === "text"
    ? [
      Response.makePart("text-start", { id }),
      Response.makePart("text-delta", { id, delta }),
      Response.makePart("text-end", { id, metadata })
    ]
    : [
      Response.makePart("reasoning-start", { id }),
      Response.makePart("reasoning-delta", { id, delta }),
      Response.makePart("reasoning-end", { id, metadata })
    ]
}
