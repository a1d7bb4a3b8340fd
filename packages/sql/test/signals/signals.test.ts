import { describe, it } from "@effect/vitest"
import * as Path from "node:path"
import { assertStops } from "../../../ai/test/signals/stopped.ts"

describe("an agent whose approvals are kept in a file", () => {
  it.live(
    "leaves no child process and no lock behind when it is told to end while an approved tool runs",
    () => assertStops(Path.join(import.meta.dirname, "kept.ts"), "decide", "SIGTERM"),
    30_000
  )
})
