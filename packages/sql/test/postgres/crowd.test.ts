import { assert, describe, it } from "@effect/vitest"
import { Console, Effect } from "effect"
import * as Crowd from "../crowd/crowd.ts"
import { makePrefix, url } from "./database.ts"

describe("eight processes", () => {
  it.live(
    "carry out each of 2,000 approvals once, though two of them send it and their clocks are an hour apart",
    () =>
      Effect.gen(function*() {
        const { approvals, problems, took, tries } = yield* Crowd.race({
          url,
          prefix: makePrefix(),
          processes: 8,
          approvals: 2_000,
          apart: 3_600
        })
        yield* Console.log(`8 processes, ${approvals} approvals: ${Math.round(took)} ms, ${tries} tried again`)
        assert.deepStrictEqual([problems, approvals], [[], 2_000])
      }),
    600_000
  )
})
