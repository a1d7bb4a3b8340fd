/** On SIGINT and SIGTERM the finalizers of approved runs complete: real processes. */
import { describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { assertStops } from "./stopped.ts"

/** In which journal, how it was approved and is waited for, the signal, and what the program says when it may be sent. */
const cases = [
  ["default", "chat", "SIGTERM", "serving"],
  ["default", "decide", "SIGINT", "serving"],
  ["default", "left", "SIGTERM", "left"],
  ["memory", "send", "SIGTERM", "serving"]
] as const

// Each waits for its process, so that they can wait beside each other.
describe.concurrent("an agent that is told to end while an approved tool runs", () => {
  it.live.each(cases)(
    "leaves no child process and no lock behind: %s, %s, %s",
    ([journal, way, signal, ready]) => assertStops(Path.join(import.meta.dirname, `${journal}.ts`), way, signal, ready),
    30_000
  )
})
