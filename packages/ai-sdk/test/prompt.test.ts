/** What goes out: prompts in the form of each version of the provider interface. */
import type * as Provider from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Prompt, Tool } from "effect/ai"
import * as Approvals from "../src/internal/approvals.ts"
import * as Writer from "../src/internal/prompt.ts"
import * as Requirements from "../src/internal/requirements.ts"

const write = (
  messages: ReadonlyArray<Prompt.MessageEncoded>,
  version: "v3" | "v4" = "v4",
  of: { readonly provider: string; readonly modelId: string } = { provider: "mock.chat", modelId: "a-model" },
  tools: ReadonlyArray<Tool.Any> = []
) => {
  const { content } = Prompt.make(messages)
  const model = { ...of, specificationVersion: version }
  return Writer.make(content, Effect.runSync(Approvals.read(content, model.provider)), model, tools)
}

const cached = { anthropic: { cacheControl: { type: "ephemeral" } } }

const user = (...content: ReadonlyArray<Prompt.UserMessagePartEncoded>): Prompt.MessageEncoded => ({
  role: "user",
  content
})

const assistant = (...content: ReadonlyArray<Prompt.AssistantMessagePartEncoded>): Prompt.MessageEncoded => ({
  role: "assistant",
  content
})

const resultOf = (part: Partial<Prompt.ToolResultPartEncoded>, version: "v3" | "v4" = "v4") => {
  const [message] = write([{
    role: "tool",
    content: [{ type: "tool-result", id: "c1", name: "Read", isFailure: false, result: null, ...part }]
  }], version)
  return (message!.content[0] as Provider.LanguageModelV4ToolResultPart).output
}

describe("messages", () => {
  it("options of messages and parts are the provider's; ours and the engine's are nobody's", () => {
    assert.deepStrictEqual<unknown>(
      write([
        { role: "system", content: "Be brief.", options: cached },
        {
          role: "user",
          content: [{ type: "text", text: "Hi", options: { ...cached, assent: { approvalId: "a" }, "ai-sdk": {} } }]
        }
      ]),
      [
        { role: "system", content: "Be brief.", providerOptions: cached },
        { role: "user", content: [{ type: "text", text: "Hi", providerOptions: cached }] }
      ]
    )
  })

  it("reasoning keeps its signature, and empty text goes only where it says something", () => {
    const options = { anthropic: { signature: "sig" } }
    assert.deepStrictEqual<unknown>(
      write([
        user({ type: "text", text: "Hi" }, { type: "text", text: "" }),
        assistant(
          { type: "reasoning", text: "Hm.", options },
          { type: "text", text: "" },
          { type: "text", text: "", options: { google: { thoughtSignature: "sig" } } },
          { type: "text", text: "Well." }
        ),
        user({ type: "text", text: "Go on." })
      ])[1],
      {
        role: "assistant",
        content: [
          { type: "reasoning", text: "Hm.", providerOptions: options },
          { type: "text", text: "", providerOptions: { google: { thoughtSignature: "sig" } } },
          { type: "text", text: "Well." }
        ]
      }
    )
  })

  it.each(["", " \n"])("an assistant message that says nothing is not sent: %j", (text) => {
    assert.deepStrictEqual(write([user({ type: "text", text: "Hi" }), assistant({ type: "text", text })]), [
      { role: "user", content: [{ type: "text", text: "Hi" }] }
    ])
  })

  it("options that hold nothing under our name say nothing", () => {
    assert.deepStrictEqual<unknown>(
      write([assistant({ type: "text", text: "Hi", options: { ...cached, "ai-sdk": null } })]),
      [{ role: "assistant", content: [{ type: "text", text: "Hi", providerOptions: cached }] }]
    )
  })

  it("L7 parameters that are no object are put into one, but those of a tool that the provider defined", () => {
    const Grammar = Tool.providerDefined({ id: "openai.custom", customName: "Grammar", providerName: "grammar" })()
    const call = (name: string) =>
      ({ type: "tool-call", id: "c1", name, params: "{\"a\":", providerExecuted: false }) as const
    const [message] = write([assistant(call("Read"), call("Grammar"))], "v4", undefined, [Grammar])
    assert.deepStrictEqual<unknown>(
      (message!.content as ReadonlyArray<Provider.LanguageModelV4ToolCallPart>).map(({ input }) => input),
      [{ rawInvalidInput: "{\"a\":" }, "{\"a\":"]
    )
  })

  it("L10 a name that a model made up is one that a provider takes, and a tool's own name stays", () => {
    const tools = [Tool.make("files.read")]
    const turn = (name: string) => [
      assistant({ type: "tool-call", id: "c1", name, params: {}, providerExecuted: false }),
      { role: "tool", content: [{ type: "tool-result", id: "c1", name, isFailure: true, result: "no" }] } as const
    ]
    const names = (name: string) =>
      write(turn(name), "v4", undefined, tools).map(({ content }) =>
        (content as ReadonlyArray<{ readonly toolName: string }>)[0]!.toolName
      )
    assert.deepStrictEqual(names("files.read"), ["files.read", "files.read"])
    assert.deepStrictEqual(names("$READ FILE"), ["_READ_FILE", "_READ_FILE"])
    assert.deepStrictEqual(names(""), ["unknown", "unknown"])
    assert.deepStrictEqual(names("a".repeat(65)), ["a".repeat(64), "a".repeat(64)])
  })

  it("what was thought and led to nothing is not sent, what the assistant goes on from is", () => {
    const thought = { type: "reasoning", text: "Hm.", options: { anthropic: { signature: "sig" } } } as const
    const hi = user({ type: "text", text: "Hi" })
    assert.deepStrictEqual(write([hi, assistant(thought), hi]).map(({ role }) => role), ["user", "user"])
    assert.deepStrictEqual(
      write([hi, assistant(thought), assistant({ type: "text", text: "Well." }), hi]).map(({ role }) => role),
      ["user", "assistant", "assistant", "user"]
    )
  })

  it("results that follow each other are one message", () => {
    const result = (id: string): Prompt.MessageEncoded => ({
      role: "tool",
      content: [{ type: "tool-result", id, name: "Read", isFailure: false, result: id }]
    })
    const written = write([result("c1"), result("c2")])
    assert.strictEqual(written.length, 1)
    assert.strictEqual(written[0]!.content.length, 2)
  })
})

describe("what some providers ask for besides", () => {
  const call = (id: string) => assistant({ type: "tool-call", id, name: "Read", params: {} })
  const result = (...ids: ReadonlyArray<string>): Prompt.MessageEncoded => ({
    role: "tool",
    content: ids.map((id) => ({ type: "tool-result", id, name: "Read", isFailure: false, result: id }))
  })
  const rolesOf = (provider: string, modelId: string) =>
    write([call("c1"), result("c1"), user({ type: "text", text: "Go on." })], "v4", { provider, modelId })
      .map((message) => message.role)
  const idsOf = (messages: ReadonlyArray<Prompt.MessageEncoded>, provider: string) =>
    write(messages, "v4", { provider, modelId: "a-model" }).flatMap((message) =>
      message.role === "system" ? [] : message.content.flatMap((part) => "toolCallId" in part ? [part.toolCallId] : [])
    )

  it.each([
    ["mistral.chat", "ag:an-agent"],
    ["local.chat", "mistralai/Devstral-Small-2-24B-Instruct-2512"],
    ["openrouter", "open-mixtral-8x22b"],
    ["amazon-bedrock", "mistral.mistral-large-2407-v1:0"],
    ["amazon-bedrock", "us.meta.llama4-maverick-17b-instruct-v1:0"],
    ["amazon-bedrock", "us.writer.palmyra-x5-v1:0"]
  ])("the assistant speaks between results and the user: %s %s", (provider, modelId) => {
    assert.deepStrictEqual(rolesOf(provider, modelId), ["assistant", "tool", "assistant", "user"])
  })

  it.each([
    ["anthropic.messages", "claude-opus-4-6"],
    ["amazon-bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"],
    ["amazon-bedrock", "us.amazon.nova-pro-v1:0"],
    ["groq.chat", "meta-llama/llama-4-scout-17b-16e-instruct"]
  ])("all others hear nothing that was not said: %s %s", (provider, modelId) => {
    assert.deepStrictEqual(rolesOf(provider, modelId), ["assistant", "tool", "user"])
  })

  it("ids of other providers have nine letters and digits for Mistral, each its own, and stay the same", () => {
    const messages = [call("toolu_01AbmHJypDhKqBF7NKdRPJ6d"), result("toolu_01AbmHJypDhKqBF7NKdRPJ6d")]
    const [first, answer] = idsOf(messages, "mistral.chat")
    assert.match(first!, /^[a-zA-Z0-9]{9}$/)
    assert.strictEqual(answer, first)
    const [again, , own, , used] = idsOf(
      [...messages, call("D681PevKs"), result("D681PevKs"), call("D681PevKs"), result("D681PevKs")],
      "mistral.chat"
    )
    assert.strictEqual(again, first)
    assert.strictEqual(own, "D681PevKs")
    assert.match(used!, /^[a-zA-Z0-9]{9}$/)
    assert.notStrictEqual(used, own)
  })

  it("an id that a provider gave is its own alone, and other providers take the conversation's", () => {
    const given = "call_28c1__thought__" + "c2lnbmVk".repeat(20)
    const id = Requirements.inConversation(given)
    const call = (id: string) =>
      ({
        type: "tool-call",
        id,
        name: "Read",
        params: {},
        providerExecuted: false,
        options: { "ai-sdk": { provider: "mock", callId: given } }
      }) as const
    const ids = (provider: string) =>
      write(
        [
          assistant(call(id), call(`${id}_2`)),
          {
            role: "tool",
            content: [id, `${id}_2`].map((id) => ({
              type: "tool-result",
              id,
              name: "Read",
              isFailure: false,
              result: 1
            }))
          }
        ],
        "v4",
        { provider, modelId: "a-model" }
      ).flatMap(({ content }) =>
        (content as ReadonlyArray<{ readonly toolCallId: string }>).map(({ toolCallId }) => toolCallId)
      )
    assert.isAtMost(id.length, 64)
    assert.deepStrictEqual(ids("mock.chat"), [given, `${id}_2`, given, `${id}_2`])
    assert.deepStrictEqual(ids("other.chat"), [id, `${id}_2`, id, `${id}_2`])
  })

  it("an id that is used again is another one for the Responses API, and its result has it", () => {
    const messages = [call("c:0"), result("c:0"), call("c:0"), result("c:0")]
    for (const provider of ["openai.responses", "azure.responses", "xai.responses"]) {
      assert.deepStrictEqual(idsOf(messages, provider), ["c:0", "c:0", "c:0_2", "c:0_2"])
    }
    assert.deepStrictEqual(idsOf(messages, "openai.chat"), ["c:0", "c:0", "c:0", "c:0"])
  })
})

describe("files", () => {
  const file = (data: Prompt.FilePartEncoded["data"], rest?: Partial<Prompt.FilePartEncoded>) =>
    user({ type: "file", mediaType: "image/png", data, ...rest })
  const sent = (message: Prompt.MessageEncoded, version: "v3" | "v4") => write([message], version)[0]!.content[0]
  const bytes = new Uint8Array([1, 2, 3])

  it("v4: data is tagged", () => {
    const as = (data: unknown, rest?: object) => ({ type: "file", mediaType: "image/png", data, ...rest })
    assert.deepStrictEqual<unknown>(sent(file(bytes), "v4"), as({ type: "data", data: bytes }))
    assert.deepStrictEqual<unknown>(sent(file("AQID"), "v4"), as({ type: "data", data: "AQID" }))
    const url = new URL("https://example.com/a.png")
    assert.deepStrictEqual<unknown>(sent(file(url), "v4"), as({ type: "url", url }))
    assert.deepStrictEqual<unknown>(sent(file(url.href), "v4"), as({ type: "url", url }))
    assert.deepStrictEqual<unknown>(
      sent(file("data:image/jpeg;base64,AQID", { fileName: "a.jpg" }), "v4"),
      { ...as({ type: "data", data: "AQID" }, { filename: "a.jpg" }), mediaType: "image/jpeg" }
    )
    const reference = { openai: "file-1" }
    assert.deepStrictEqual<unknown>(
      sent(file("", { options: { "ai-sdk": { reference } } }), "v4"),
      as({ type: "reference", reference })
    )
  })

  it("v3: data is as it is", () => {
    const as = (data: unknown) => ({ type: "file", mediaType: "image/png", data })
    const url = new URL("https://example.com/a.png")
    assert.deepStrictEqual<unknown>(sent(file(bytes), "v3"), as(bytes))
    assert.deepStrictEqual<unknown>(sent(file("AQID"), "v3"), as("AQID"))
    assert.deepStrictEqual<unknown>(sent(file(url), "v3"), as(url))
  })

  it("in results of tools, in the words of each version", () => {
    const modelOutput = [
      { type: "text", text: "Here." },
      { type: "file", mediaType: "image/png", data: "AQID" },
      { type: "file", mediaType: "application/pdf", fileName: "a.pdf", data: "AQID" },
      { type: "file", mediaType: "application/pdf", data: new URL("https://example.com/a.pdf") }
    ] as const
    assert.deepStrictEqual<unknown>(resultOf({ modelOutput }), {
      type: "content",
      value: [
        { type: "text", text: "Here." },
        { type: "file", mediaType: "image/png", data: { type: "data", data: "AQID" } },
        { type: "file", mediaType: "application/pdf", filename: "a.pdf", data: { type: "data", data: "AQID" } },
        { type: "file", mediaType: "application/pdf", data: { type: "url", url: new URL("https://example.com/a.pdf") } }
      ]
    })
    assert.deepStrictEqual<unknown>(resultOf({ modelOutput }, "v3"), {
      type: "content",
      value: [
        { type: "text", text: "Here." },
        { type: "image-data", mediaType: "image/png", data: "AQID" },
        { type: "file-data", mediaType: "application/pdf", filename: "a.pdf", data: "AQID" },
        { type: "file-url", url: "https://example.com/a.pdf" }
      ]
    })
  })
})

describe("results", () => {
  it.each(
    [
      [{ result: "text" }, { type: "text", value: "text" }],
      [{ result: { a: 1 } }, { type: "json", value: { a: 1 } }],
      [{ result: undefined }, { type: "json", value: null }],
      [{ isFailure: true, result: "no" }, { type: "error-text", value: "no" }],
      [{ isFailure: true, result: " " }, { type: "error-text", value: "The call failed." }],
      [{ result: "" }, { type: "text", value: "" }],
      [{ modelOutput: [{ type: "text", text: "" }] }, { type: "text", value: "" }],
      [
        { modelOutput: [{ type: "text", text: "\n" }, { type: "text", text: "Done." }] },
        { type: "content", value: [{ type: "text", text: "Done." }] }
      ],
      [{ isFailure: true, result: { why: "no" } }, { type: "error-json", value: { why: "no" } }],
      [
        { isFailure: true, result: { type: "execution-denied", reason: "Not today." } },
        { type: "error-text", value: "The call was denied and did not run. Not today." }
      ],
      [
        { isFailure: true, result: { type: "execution-interrupted", reason: "Nothing ran; it may be asked again." } },
        { type: "error-text", value: "Nothing ran; it may be asked again." }
      ],
      [
        { isFailure: true, result: { type: "execution-interrupted", reason: "" } },
        { type: "error-json", value: { type: "execution-interrupted", reason: "" } }
      ],
      // A tool's own success may look like one.
      [
        { result: { type: "execution-denied", reason: "x" } },
        { type: "json", value: { type: "execution-denied", reason: "x" } }
      ]
    ] as const
  )("%j", (part, output) => {
    assert.deepStrictEqual<unknown>(resultOf(part), output)
  })
})

describe("what the interface has and a chat has not", () => {
  const carried = (carried: object): Prompt.AssistantMessagePartEncoded => ({
    type: "reasoning",
    text: "",
    options: { "ai-sdk": { carried: carried as never, provider: "mock" } }
  })

  it("goes back as it came, to a version that knows it", () => {
    const custom = { type: "custom", kind: "openai.compaction", providerOptions: { openai: { itemId: "i" } } }
    const file = { type: "reasoning-file", mediaType: "image/png", data: { type: "data", data: "AQID" } }
    const call = { type: "tool-call", toolCallId: "h", toolName: "search", input: {}, providerExecuted: true }
    assert.deepStrictEqual<unknown>(write([assistant(carried(custom), carried(file), carried(call))]), [
      { role: "assistant", content: [custom, file, call] }
    ])
    assert.deepStrictEqual<unknown>(write([assistant(carried(custom), carried(file), carried(call))], "v3"), [
      { role: "assistant", content: [call] }
    ])
  })

  it.each([["no address"], [7]])("a file at an address that is none goes back as it stands: %j", (url) => {
    const file = { type: "file", mediaType: "image/png", data: { type: "url", url } }
    assert.deepStrictEqual<unknown>(write([assistant(carried(file))]), [{ role: "assistant", content: [file] }])
  })

  it("goes to no other provider, but for texts and files", () => {
    const call = { type: "tool-call", toolCallId: "h", toolName: "search", input: {}, providerExecuted: true }
    const said = { type: "text", text: "Found it." }
    assert.deepStrictEqual<unknown>(
      write([assistant(carried(call), carried(said))], "v4", { provider: "other.chat", modelId: "a-model" }),
      [{ role: "assistant", content: [said] }]
    )
  })

  it("L4 carries no call that would run here, and no answer", () => {
    assert.deepStrictEqual(
      write([assistant(
        carried({ type: "tool-call", toolCallId: "c", toolName: "Delete", input: {} }),
        carried({ type: "tool-approval-response", approvalId: "a", approved: true }),
        carried({ type: "toString" })
      )]),
      []
    )
  })
})
