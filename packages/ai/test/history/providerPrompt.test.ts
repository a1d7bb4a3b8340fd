import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as ProviderPrompt from "../../src/internal/history/providerPrompt.ts"
import * as Transcript from "../../src/internal/history/transcript.ts"

const call = (id: string, providerExecuted: boolean) =>
  Prompt.toolCallPart({ id, name: "DeleteFile", params: {}, providerExecuted })

const result = (id: string, providerExecuted: boolean) =>
  Prompt.toolResultPart({ id, name: "DeleteFile", isFailure: false, result: "gone", providerExecuted })

const write = (messages: ReadonlyArray<Prompt.Message>) =>
  ProviderPrompt.write(Prompt.fromMessages(messages), Transcript.read(messages), {
    resultOf: () => undefined,
    supersedes: true,
    isOurs: () => true
  }).content

describe("providerPrompt", () => {
  it("L7 a message with a renamed call and a result from elsewhere is the same object on every turn", () => {
    const messages = [
      Prompt.assistantMessage({ content: [call("local", false), call("local", false), call("remote", true)] }),
      Prompt.toolMessage({ content: [result("local", false), result("local", false), result("remote", true)] })
    ]
    const first = write(messages)
    const second = write([...messages, Prompt.userMessage({ content: [] })])
    assert.deepStrictEqual(
      first.flatMap((message) => typeof message.content === "string" ? [] : message.content.map((part) => part.type)),
      ["tool-call", "tool-call", "tool-call", "tool-result", "tool-result", "tool-result"]
    )
    assert.strictEqual(second[0], first[0])
    assert.strictEqual(second[1], first[1])
  })

  it("L7 what needs no change beside what does is sent as it is, once", () => {
    const messages: ReadonlyArray<Prompt.Message> = [
      Prompt.assistantMessage({ content: [call("a", false)] }),
      Prompt.assistantMessage({ content: [call("b", false)] }),
      Prompt.toolMessage({ content: [result("b", false)] }),
      Prompt.toolMessage({ content: [result("a", false)] })
    ]
    const written = write(messages)
    assert.deepStrictEqual(written.map((message) => messages.indexOf(message)), [0, -1, 1, 2])
  })

  it("L7 L9 a request that somebody moved behind what its call came to is not sent, nor is its answer", () => {
    const answer = Prompt.toolApprovalResponsePart({ approvalId: "p", approved: true })
    const messages: ReadonlyArray<Prompt.Message> = [
      Prompt.assistantMessage({ content: [call("a", true)] }),
      Prompt.toolMessage({ content: [answer] }),
      Prompt.assistantMessage({ content: [result("a", true)] }),
      Prompt.assistantMessage({ content: [Prompt.toolApprovalRequestPart({ approvalId: "p", toolCallId: "a" })] }),
      Prompt.toolMessage({ content: [answer] })
    ]
    const prompt = ProviderPrompt.write(Prompt.fromMessages(messages), Transcript.read(messages), {
      resultOf: () => undefined,
      supersedes: true,
      isOurs: () => false
    })
    for (const sent of [prompt, ProviderPrompt.asRead(prompt)]) {
      assert.deepStrictEqual(
        sent.content.flatMap(({ content }) => typeof content === "string" ? [] : content.map((part) => part.type)),
        ["tool-call", "tool-result"]
      )
    }
  })

  it("L7 L9 an answer to the provider is the same object each time it says the same, and never one that says another", () => {
    const asked = Prompt.assistantMessage({
      content: [call("a", true), Prompt.toolApprovalRequestPart({ approvalId: "p", toolCallId: "a" })]
    })
    const theirs = (approvalId: string, approved: boolean, reason?: string) =>
      Prompt.toolApprovalResponsePart({ approvalId, approved, ...(reason === undefined ? {} : { reason }) })
    const answered = (answer: Prompt.ToolApprovalResponsePart, options: object = {}) => {
      // Beside it stands one that no provider is to see, so that the message has to be written anew.
      const message = Prompt.toolMessage({ content: [theirs("q", true), answer], options: options as never })
      const written = ProviderPrompt.write(
        Prompt.fromMessages([asked, message]),
        Transcript.read([asked, message]),
        { resultOf: () => undefined, supersedes: true, isOurs: (approvalId) => approvalId === "q" }
      ).content.at(-1)!
      assert.deepStrictEqual(written.content, [answer])
      assert.deepStrictEqual(written.options, options)
      return written
    }
    const cached = { anthropic: { cacheControl: "ephemeral" } }
    const histories = () => [
      answered(theirs("p", true)),
      answered(theirs("p", false)),
      answered(theirs("p", false, "not today")),
      answered(theirs("p", true), cached)
    ]
    const first = histories()
    histories().forEach((message, index) => assert.strictEqual(message, first[index]))
    assert.strictEqual(new Set(first).size, 4)
  })

  it("L7 a result from elsewhere that comes later is sent with the one that came before", () => {
    const asked = Prompt.assistantMessage({ content: [call("a", true), call("b", true)] })
    // The same objects in each history, as in one that grows.
    const results = { a: result("a", true), b: result("b", true) }
    const sent = (...ids: ReadonlyArray<"a" | "b">) =>
      write([asked, ...ids.map((id) => Prompt.toolMessage({ content: [results[id]] }))])
        .flatMap((message): ReadonlyArray<Prompt.Part> => typeof message.content === "string" ? [] : message.content)
        .flatMap((part) => part.type === "tool-result" ? [part.id] : [])
    assert.deepStrictEqual([sent("a"), sent("a", "b"), sent("b", "a"), sent("b")], [["a"], ["a", "b"], ["b", "a"], [
      "b"
    ]])
  })
})
