/**
 * Ids that are used again (law L13): which of the calls of one id a result answers, and ids that tell them apart.
 */
import type * as Prompt from "effect/ai/Prompt"

/** What has to be known of a call to find the one that a result answers. */
export interface Call {
  readonly part: Prompt.ToolCallPart
  readonly messageIndex: number
  readonly requests: ReadonlyArray<unknown>
  readonly result: unknown
}

/** The local calls of an id that is used again; a result answers one of its name. */
export class Repeated<A extends Call> {
  latest: A
  private readonly waiting = new Map<string, Waiting<A>>()

  constructor(first: A) {
    this.latest = first
    this.add(first)
  }

  add(call: A): Repeated<A> {
    this.latest = call
    const waiting = this.waiting.get(call.part.name)
    if (waiting === undefined) this.waiting.set(call.part.name, { calls: [call], first: 0 })
    else waiting.calls.push(call)
    return this
  }

  /** The latest that has no result. */
  withoutResult(): A | undefined {
    let found: A | undefined
    for (const waiting of this.waiting.values()) {
      const call = latest(waiting)
      if (call !== undefined && (found === undefined || call.messageIndex > found.messageIndex)) found = call
    }
    return found
  }

  answeredBy({ name }: Prompt.ToolResultPart, isEarlier: boolean, lastIndex: number): A | undefined {
    const waiting = this.waiting.get(name)
    return waiting === undefined ? undefined : isEarlier ? earliest(waiting, lastIndex) : latest(waiting)
  }
}

interface Waiting<A> {
  readonly calls: Array<A>
  /** Every call before it has its result, or was asked about. */
  first: number
}

/** Ids for the calls of a message behind its first local one, if there was one. */
export const uniqueIdsAfter = (first: Call | undefined): (id: string) => string => {
  const uniqueId = makeUniqueIds()
  if (first !== undefined) uniqueId(first.part.id)
  return uniqueId
}

const latest = <A extends Call>(waiting: Waiting<A>): A | undefined => {
  const { calls } = waiting
  while (calls.length > 0 && calls[calls.length - 1]!.result !== undefined) calls.pop()
  // The next call takes the place of one that is gone, and has not been looked at.
  waiting.first = Math.min(waiting.first, calls.length)
  return calls[calls.length - 1]
}

// The earliest of an earlier message than the last, if there is one; what was asked about is settled by name.
const earliest = <A extends Call>(waiting: Waiting<A>, lastIndex: number): A | undefined => {
  while (hasResultOrRequest(waiting.calls[waiting.first])) waiting.first++
  const call = waiting.calls[waiting.first]
  return call !== undefined && call.messageIndex < lastIndex ? call : latest(waiting)
}

const hasResultOrRequest = (call: Call | undefined): boolean =>
  call !== undefined && (call.result !== undefined || call.requests.length > 0)

/** Gives the second use of an id one of its own. */
export const makeUniqueIds = (): (id: string) => string => {
  const used = new Set<string>()
  const counts = new Map<string, number>()
  return (id) => {
    let unique = id
    let count = counts.get(id) ?? 1
    while (used.has(unique)) unique = `${id}_${++count}`
    counts.set(id, count)
    used.add(unique)
    return unique
  }
}
