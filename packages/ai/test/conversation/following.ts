/** What tests of turns that are followed share: a reader, what was said however it was cut, and a step that waits. */
import { Deferred, Effect, Stream } from "effect"
import type { Response } from "../../src/index.ts"

export type Part = Response.AnyPart

export const collect = <E>(parts: Stream.Stream<Part, E>) =>
  Effect.map(Stream.runCollect(parts), (chunk) => Array.from(chunk))

export const typesOf = (parts: ReadonlyArray<Part>) => parts.map(({ type }) => type)

/** What was said, however it was cut into parts. */
export const gist = (parts: ReadonlyArray<Part>) => {
  const all: Array<string> = []
  let text: string | undefined
  for (const part of parts) {
    if (part.type === "text-delta") text = (text ?? "") + part.delta
    if (part.type === "text-end") all.push(text ?? "")
    if (part.type === "text-end") text = undefined
    if (part.type === "tool-call" || part.type === "tool-result") all.push(`${part.type} ${part.id}`)
    if (part.type === "tool-approval-request") all.push(`request of ${part.toolCallId}`)
  }
  return text === undefined ? all : [...all, `${text}…`]
}

/** A step that waits until it is let go on. */
export const makeGate = Effect.gen(function*() {
  const entered = yield* Deferred.make<void>()
  const open = yield* Deferred.make<void>()
  return {
    entered: Deferred.await(entered),
    open: Deferred.succeed(open, undefined),
    pass: Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(open))
  }
})
