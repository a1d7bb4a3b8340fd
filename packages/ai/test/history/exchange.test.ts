/**
 * Settled exchanges are passed over when a history is read. Nothing may follow from that: what is read closely, and what
 * the provider gets, is the same for every history.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Prompt } from "../../src/index.ts"
import * as Exchange from "../../src/internal/history/exchange.ts"
import * as ProviderPrompt from "../../src/internal/history/providerPrompt.ts"
import * as Transcript from "../../src/internal/history/transcript.ts"
import { assistant, build, callPart, History, openOf, resultPart, tool } from "./histories.ts"

const write = (messages: ReadonlyArray<Prompt.Message>, transcript: Transcript.Transcript) => {
  const prompt = ProviderPrompt.write(Prompt.fromMessages(messages), transcript, {
    resultOf: ({ part }) => resultPart(part.id, part.name, undefined, "written"),
    supersedes: false,
    isOurs: (approvalId) => approvalId === "p"
  })
  return { prompt, withRequests: ProviderPrompt.asRead(prompt) }
}

/** Whether two settled exchanges ask under one id: then the second is settled where it stands, and not by the first. */
const sharesApprovals = (messages: ReadonlyArray<Prompt.Message>): boolean => {
  const asked: Array<string> = []
  messages.forEach((message, index) => {
    const following = messages[index + 1]
    if (message.role !== "assistant" || following?.role !== "tool") return
    if (Exchange.formOf(message, following) !== "with approvals") return
    for (const part of message.content) if (part.type === "tool-approval-request") asked.push(part.approvalId)
  })
  return new Set(asked).size < asked.length
}

describe("settled exchanges", () => {
  it.effect.prop(
    "L7 passing over them changes nothing that is read, and nothing that the provider gets",
    { history: History },
    ({ history }) =>
      Effect.sync(() => {
        const one = build(history)
        const other = build(history)
        if (sharesApprovals(one)) return
        const passing = Transcript.read(one)
        const whole = Transcript.readWhole(other)
        assert.deepStrictEqual(openOf(passing), openOf(whole))
        const written = write(one, passing)
        assert.deepStrictEqual(written, write(other, whole))
        // Again, the same objects.
        const again = ProviderPrompt.write(Prompt.fromMessages(one), Transcript.read(one), {
          resultOf: ({ part }) => resultPart(part.id, part.name, undefined, "written"),
          supersedes: false,
          isOurs: () => true
        })
        const known = new Set<unknown>(written.prompt.content)
        if (history.every(({ _tag }) => _tag !== "provider call" && _tag !== "request")) {
          for (const message of again.content) assert.isTrue(known.has(message))
        }
      }),
    { timeout: 30_000, arbitrary: { runs: 3_000, seed: "exchange" } }
  )

  it("L7 a forked, a grown and a trimmed history get the same objects for what they share", () => {
    const exchanges = Array.from({ length: 100 }, (_, index): ReadonlyArray<Prompt.Message> => [
      assistant(
        callPart(`c${index}`, "X"),
        Prompt.toolApprovalRequestPart({ approvalId: `p${index}`, toolCallId: `c${index}` })
      ),
      tool(
        Prompt.toolApprovalResponsePart({ approvalId: `p${index}`, approved: true }),
        resultPart(`c${index}`, "X", { approvalId: `p${index}` })
      )
    ])
    const send = (...parts: ReadonlyArray<ReadonlyArray<Prompt.Message>>) => {
      const messages = parts.flat()
      return write(messages, Transcript.read(messages)).prompt.content
    }
    const trunk = exchanges.slice(0, 70)
    const first = send(...trunk)
    const left = send(...trunk, exchanges[70]!, exchanges[71]!)
    const right = send(...trunk, exchanges[80]!, exchanges[81]!)
    for (const branch of [left, right]) {
      assert.strictEqual(branch.length, 144)
      first.forEach((message, index) => assert.strictEqual(branch[index], message))
    }
    send(...trunk, exchanges[80]!, exchanges[81]!).forEach((message, index) =>
      assert.strictEqual(right[index], message)
    )
    send(...trunk, exchanges[70]!, exchanges[71]!).forEach((message, index) => assert.strictEqual(left[index], message))
    const grown = send(...trunk, exchanges[70]!, exchanges[71]!, exchanges[72]!)
    left.forEach((message, index) => assert.strictEqual(grown[index], message))
    // A window that moves: whatever is written for it stays what it is.
    const window = send(...exchanges.slice(5, 75))
    send(...exchanges.slice(5, 75)).forEach((message, index) => assert.strictEqual(window[index], message))
  })

  it("what stands in many places is found without looking at all of them again and again", () => {
    const messages = Array.from({ length: 20 }, (_, index) => [
      assistant(
        callPart(`c${index % 4}`, "X"),
        Prompt.toolApprovalRequestPart({ approvalId: `p${index}`, toolCallId: `c${index % 4}` })
      ),
      tool(resultPart(`c${index % 4}`, "X", undefined, index))
    ]).flat()
    const settled = new Exchange.SettledExchanges(messages)
    for (let place = 0; place < messages.length; place += 2) {
      settled.add(place)
      const index = place / 2
      for (let look = 0; look < 3; look++) {
        assert.isTrue(settled.hasRequest(`p${index}`))
        assert.isFalse(settled.hasRequest(`p${index + 1}`))
        const asked = settled.askedWith(`p${index}`)
        assert.deepStrictEqual(asked?.requests.map((request) => request.approvalId), [`p${index}`])
        assert.strictEqual(asked?.call.result?.result, index)
        assert.isUndefined(settled.askedWith(`p${index + 1}`))
        assert.strictEqual(settled.latestCall(`c${index % 4}`)?.result?.result, index)
      }
    }
    assert.isUndefined(settled.latestCall("c4"))
  })
})
