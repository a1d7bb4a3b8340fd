import { assert, describe, it } from "@effect/vitest"
import * as Prompt from "effect/ai/Prompt"
import * as ProviderPrompt from "../src/internal/providerPrompt.ts"
import * as Transcript from "../src/internal/transcript.ts"

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
})
