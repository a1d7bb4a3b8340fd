/**
 * What approved runs say before they end, on its way to the reader of a stream. A run belongs to the journal, and does not
 * stand still for its reader (law L2): what has no room yet is kept until the reader comes to it, up to a bound. What is
 * beyond that is left out, and the next part of the same call says how much (law L17).
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ApprovalEvents from "../../ApprovalEvents.ts"
import * as Results from "../history/results.ts"
import * as Chunks from "./chunks.ts"

export interface Preliminary {
  /** Says it to the reader and never waits: what was said, or nothing where it is left out. */
  readonly say: (part: Results.ResultPart) => Results.ResultPart | undefined
  /** The last result of a call, which says how much was left out right before it, if something was. */
  readonly last: (part: Results.ResultPart) => Effect.Effect<Results.ResultPart>
}

/** What may wait for a reader who stands still, in characters of JSON. */
const maxAhead = 16 * 1_024 * 1_024

/** What was left out of a call: since its last part that was not, and altogether. */
interface LeftOut {
  since: number
  total: number
}

export const make = <A, E>(queue: Chunks.Chunks<A | Results.ResultPart, E>, bound = maxAhead): Preliminary => {
  const leftOut = new Map<string, LeftOut>()
  let ahead = 0
  const marked = (part: Results.ResultPart): Results.ResultPart => {
    const left = leftOut.get(part.id)
    if (left === undefined || left.since === 0) return part
    const { since } = left
    left.since = 0
    return Results.withLeftOut(part, since)
  }
  return {
    say: (part) => {
      const size = sizeOf(part)
      if (ahead + size > bound) {
        const left = leftOut.get(part.id) ?? { since: 0, total: 0 }
        leftOut.set(part.id, { since: left.since + 1, total: left.total + 1 })
        return undefined
      }
      const said = marked(part)
      ahead += size
      return Chunks.append(queue, [said], () => void (ahead -= size)) ? said : undefined
    },
    last: (part) => {
      const left = leftOut.get(part.id)
      if (left === undefined) return Effect.succeed(part)
      const said = marked(part)
      leftOut.delete(part.id)
      return Effect.as(
        ApprovalEvents.publish((occasion) => ({
          _tag: "PreliminaryLeftOut",
          ...occasion,
          toolName: part.name,
          toolCallId: part.id,
          count: left.total
        })),
        said
      )
    }
  }
}

// What cannot be written is small, or was left out before.
const sizeOf = ({ encodedResult }: Results.ResultPart): number =>
  Result.getOrElse(Result.try(() => JSON.stringify(encodedResult)?.length ?? 0), () => 0)
