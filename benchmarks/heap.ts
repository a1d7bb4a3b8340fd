/** How much of the heap one request takes that waits for a person, in a process of its own for each library. */
import * as Effect from "effect/Effect"
import { heapUsed } from "../packages/bench/src/harness.ts"

/** Asks, and gives what the program has to hold until the answer comes. */
export interface Holder {
  readonly library: string
  readonly version: string
  readonly ask: () => Promise<unknown>
}

/** The bytes of one of so many. */
export const measureHeap = async ({ ask }: Holder, requests: number): Promise<number> => {
  const held: Array<unknown> = []
  const fill = async (count: number): Promise<void> => {
    for (let i = 0; i < count; i++) held.push(await ask())
  }
  // What is compiled and kept once for all belongs to no request.
  await fill(500)
  const before = await Effect.runPromise(heapUsed)
  await fill(requests)
  const bytes = await Effect.runPromise(heapUsed) - before
  if (held.length !== requests + 500) throw new Error("It was not held.")
  return bytes / requests
}
