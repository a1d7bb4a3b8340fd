/** What is noted of a turn, for whoever goes on after it (law L2). */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Response } from "../../src/index.ts"
import * as Recorder from "../../src/internal/environment/recorder.ts"

const text = Response.makePart("text-delta", { id: "t", delta: "a" })

const request = (approvalId: string, metadata = {}) =>
  Response.makePart("tool-approval-request", { approvalId, toolCallId: `of ${approvalId}`, metadata })

describe("L2 what is noted of a turn", () => {
  it("a request that nobody here answered takes its own place, as it goes out, and is open for others", () => {
    const record = Recorder.make(() => Effect.void)
    const out = request("second", { assent: "shown" })
    record.note([text])
    for (const id of ["first", "second", "third"]) record.asks(request(id))
    record.note([text, out])
    assert.deepStrictEqual(record.parts, [text, request("first"), out, request("third"), text])
    assert.deepStrictEqual([...record.asked], ["first", "third"])
  })

  it("a request that nobody here was asked about stands where it came", () => {
    const record = Recorder.make(() => Effect.void)
    record.note([request("first")])
    record.asks(request("second"))
    record.note([request("third")])
    assert.deepStrictEqual(record.parts, ["first", "second", "third"].map((id) => request(id)))
    assert.deepStrictEqual([...record.asked], ["second"])
  })
})
