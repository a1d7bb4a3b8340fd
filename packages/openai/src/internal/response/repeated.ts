/**
 * Events that came before. What goes on with a stream after a lost connection may send the last ones once more, and a delta
 * that is written twice cannot be told from one that says the same again, but for its number.
 */
import type * as Responses from "openai/resources/responses/responses"

type Event = Responses.ResponseStreamEvent

/** How many of the last events are looked at. */
const window = 64

/**
 * Says of each event whether it came before: its number has been passed, and one of the last events is the same in all that it
 * says. Servers that do not count, or count anew for each item, repeat nothing by that.
 */
export const make = (): (event: Event) => boolean => {
  const recent: Array<Event> = []
  let read = 0
  let first = Number.NaN
  let highest = Number.NEGATIVE_INFINITY
  return (event) => {
    const number = event.sequence_number
    if (typeof number !== "number") return false
    // Where no number is higher than the first, they count nothing.
    const isPassed = number <= highest && highest > first
    if (isPassed && recent.some((known) => known.sequence_number === number && isSame(known, event))) return true
    if (read === 0) first = number
    highest = Math.max(highest, number)
    recent[read++ % window] = event
    return false
  }
}

const isSame = (left: Event, right: Event): boolean => JSON.stringify(left) === JSON.stringify(right)
