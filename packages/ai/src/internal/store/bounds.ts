/** How much a store in memory may hold. */
import { StoreError } from "./model.ts"

export interface Bounds {
  /** Rows that somebody may still go on with. */
  live: number
  /** What became of requests and answers that are over: kept for as long as somebody may ask. */
  settled: number
  /** An error where there is no room for that many more that are live. */
  readonly noRoom: (operation: string, more: number) => StoreError | undefined
  /** An error where there is no room for one more that is over; there is some left when others find none. */
  readonly noRoomToSettle: (operation: string) => StoreError | undefined
}

export const make = (capacity: number, maxSettled: number): Bounds => {
  const full = (operation: string, description: string) =>
    new StoreError({ operation, reason: "Full", description: `${description} Nothing was written. ${advice}` })
  const tooManySettled = (operation: string) =>
    full(operation, `The store remembers what became of ${maxSettled} requests, as many as it may.`)
  const bounds: Bounds = {
    live: 0,
    settled: 0,
    noRoom: (operation, more) => {
      if (more === 0) return undefined
      if (bounds.live + more > capacity) {
        return full(operation, `The store holds ${capacity} rows, as many as it may, and none has expired.`)
      }
      return bounds.settled >= maxSettled ? tooManySettled(operation) : undefined
    },
    noRoomToSettle: (operation) => bounds.settled >= maxSettled + capacity ? tooManySettled(operation) : undefined
  }
  return bounds
}

const advice =
  "Let requests and conversations expire, remove those that are over, raise the capacity, or use a database" +
  " (`@assent/sql`)."
