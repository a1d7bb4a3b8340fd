/** Whoever comes back builds a message anew: with the client's own reader, it is the message that the history has. */
import { Approval } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import { readUIMessageStream, type UIMessage, type UIMessageChunk } from "ai"
import * as Messages from "../../src/internal/wire/messages.ts"
import type { Chunk, UiMessage } from "../../src/internal/wire/model.ts"
import * as Replay from "../../src/internal/wire/replay.ts"
import { answers, asking, call, denied, finish, interrupted, kept, request, result, said, user } from "./parts.ts"

const history = [
  ...user("Clean up."),
  ...said(
    call("c0", "zero"),
    call("c1", "one"),
    call("c2", "two"),
    call("c3", "three"),
    call("c4", "four"),
    result("c0", "zero is gone"),
    asking("id-1", "c1"),
    asking("id-2", "c2"),
    asking("id-3", "c3"),
    asking("id-4", "c4"),
    finish("tool-calls")
  ),
  ...answers(Approval.approve({ approvalId: "id-1" }), Approval.deny({ approvalId: "id-2" }, "keep it")),
  ...answers(Approval.approve({ approvalId: "id-4" })),
  ...said(result("c1", { deleted: true }, { assent: { approvalId: "id-1" } })),
  ...said(result("c2", denied("keep it"), { isFailure: true, assent: { approvalId: "id-2" } })),
  ...said(call("c5", "five"), result("c5", interrupted("It broke."), { isFailure: true }), finish())
]

const build = async (chunks: ReadonlyArray<Chunk>): Promise<UIMessage | undefined> => {
  const stream = new ReadableStream<UIMessageChunk>({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(structuredClone(chunk) as UIMessageChunk)
      controller.close()
    }
  })
  let last: UIMessage | undefined
  for await (const message of readUIMessageStream({ stream, terminateOnError: true })) last = message
  return last
}

// A client keeps fields that are undefined.
const plain = (message: UiMessage | UIMessage | undefined): unknown => JSON.parse(JSON.stringify(message))

describe("replay", () => {
  it("a client that is sent a message has it as the history has", async () => {
    const { messages } = Messages.make(kept(history), [request("id-3", "c3")])
    const [, message] = messages
    const built = await build([{ type: "start", messageId: message!.id }, ...Replay.message(message!)])
    assert.deepStrictEqual(plain(built), plain(message))
    assert.isAtLeast(message!.parts.length, 10)
  })

  it("a client that has some of its steps is sent the others, and has it whole", async () => {
    const { messages } = Messages.make(kept(history), [request("id-3", "c3")])
    const [, message] = messages
    const begins = message!.parts.flatMap(({ type }, index) => type === "step-start" ? [index] : [])
    assert.isAtLeast(begins.length, 2)
    for (const [had, begin] of begins.entries()) {
      if (had === 0) continue
      const before = Replay.message({ ...message!, parts: message!.parts.slice(0, begin) })
      const start: Chunk = { type: "start", messageId: message!.id }
      const built = await build([start, ...before, ...Replay.behind(message!, had)])
      assert.deepStrictEqual(plain(built), plain(message))
    }
    assert.deepStrictEqual(Replay.behind(message!, begins.length), [])
  })

  it("what was answered is settled as it was decided, whoever answered it, and else asked again", () => {
    const { cards } = Messages.make(kept(history), [request("id-3", "c3")])
    const settling = (approvalId: string) =>
      Replay.settling(cards.get(approvalId)!, { approvalId, toolCallId: "here" }).map((chunk) => {
        const { approvalDescriptor: _, ...rest } = chunk as Record<string, unknown>
        return rest
      })
    const fate = { toolCallId: "here", toolName: "DeleteFile" }
    assert.deepStrictEqual(settling("id-1"), [
      { type: "tool-approval-response", approvalId: "id-1", approved: true },
      { type: "tool-output-available", toolCallId: "here", output: { deleted: true } },
      { type: "data-approval", id: "here", data: { approvalId: "id-1", ...fate, state: "done" } }
    ])
    assert.deepStrictEqual(settling("id-2"), [
      { type: "tool-approval-response", approvalId: "id-2", approved: false, reason: "keep it" },
      { type: "tool-output-denied", toolCallId: "here" },
      { type: "data-approval", id: "here", data: { approvalId: "id-2", ...fate, state: "denied", reason: "keep it" } }
    ])
    const again = { type: "tool-approval-request", toolCallId: "here", reason: "DeleteFile(path='a')" }
    assert.deepStrictEqual(settling("id-3"), [{ ...again, approvalId: "id-3" }])
    assert.deepStrictEqual(settling("id-4"), [{ ...again, approvalId: "id-4" }])
  })
})
