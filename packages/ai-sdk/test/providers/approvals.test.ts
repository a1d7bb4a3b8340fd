/**
 * Two calls wait, one is approved and one denied, and the conversation goes on: over the package of each provider, to a
 * server that refuses what the provider refuses. Then the ways in which approvals disturb the order of a conversation.
 */
import { Approval, Prompt } from "@assent/ai"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { compatible, compatibleMistral, mistral, openaiChat } from "./chat.ts"
import { providers } from "./index.ts"
import { deleteFile, play, type Send, sendMail, silent, type Story, stuck, ways } from "./play.ts"
import { openai, xai } from "./responses.ts"
import { approvalParts, inputIsObject, nameIsPlain, type Provider, refuses } from "./strict.ts"

const ask = (send: Send) =>
  Effect.gen(function*() {
    const [file, mail] = yield* send("Delete /tmp/a and tell everybody.")
    assert.isDefined(file)
    assert.isDefined(mail)
    return { file, mail }
  })

const noReason = "Nobody has to know."

/** One is approved, one denied, and there is more to say. */
const approveAndDeny = ({ ids: [first, second] }: Provider): Story => ({
  replies: [
    { calls: [deleteFile(first), sendMail(second)] },
    { text: "Deleted, not sent." },
    { text: "You are welcome." }
  ],
  tell: Effect.fnUntraced(function*(send) {
    const { file, mail } = yield* ask(send)
    yield* send(Prompt.approvalResponses([Approval.approve(file), Approval.deny(mail, noReason)]))
    yield* send("Thanks.")
  })
})

/** What follows calls something again, which is asked about too. */
const askTwice = ({ ids: [first, second, third] }: Pick<Provider, "ids">): Story => ({
  replies: [
    { calls: [deleteFile(first), sendMail(second)] },
    { calls: [deleteFile(third, "/tmp/b")] },
    { text: "Both are gone." },
    { text: "You are welcome." }
  ],
  tell: Effect.fnUntraced(function*(send) {
    const { file, mail } = yield* ask(send)
    const [other] = yield* send(Prompt.approvalResponses([Approval.deny(mail), Approval.approve(file)]))
    yield* send(Prompt.approvalResponses([Approval.approve(other!)]))
    yield* send("Thanks.")
  })
})

/** The user says something else; answers come after that. */
const late = ({ ids: [first, second] }: Provider): Pick<Story, "replies" | "tell"> => ({
  replies: [
    { calls: [deleteFile(first), sendMail(second)] },
    { text: "I wait." },
    { text: "As you say." },
    { text: "You are welcome." }
  ],
  tell: Effect.fnUntraced(function*(send) {
    const { file, mail } = yield* ask(send)
    yield* send("What time is it?")
    yield* send(
      Prompt.concat(
        Prompt.approvalResponses([Approval.approve(file), Approval.deny(mail, noReason)]),
        "I have answered."
      )
    )
    yield* send("Thanks.")
  })
})

interface CutCall {
  readonly name?: string
  readonly params: unknown
}

/** What a history has of a call that was never one: its parameters came to no end, or its name is made up. */
const cutTurn = (id: string, { name = "DeleteFile", params }: CutCall): Prompt.Prompt =>
  Prompt.make([
    { role: "user", content: "Delete /tmp/a." },
    { role: "assistant", content: [{ type: "tool-call", id, name, params, providerExecuted: false }] },
    {
      role: "tool",
      content: [{ type: "tool-result", id, name, isFailure: true, result: "It does not fit." }]
    },
    { role: "user", content: "Go on." }
  ])

const cutCalls: ReadonlyArray<CutCall & { readonly is: string }> = [
  { is: "cut in its parameters", params: "{\"path\": \"/tm" },
  { is: "without parameters", params: null },
  { is: "of a list", params: ["/tmp/a"] },
  { is: "of a tool that the model made up", name: "multi_tool_use.parallel", params: {} },
  { is: "of a tool in words", name: "$READ FILE<|channel|>", params: {} }
]

/** What another provider ran itself, of which this one knows nothing. */
const hostedElsewhere: Prompt.Prompt = Prompt.make([
  { role: "user", content: "What is new?" },
  {
    role: "assistant",
    content: [
      {
        type: "tool-call",
        id: "srvtoolu_1",
        name: "Web",
        params: { query: "news" },
        providerExecuted: true,
        options: { "ai-sdk": { provider: "elsewhere", toolName: "web_search" } }
      },
      {
        type: "tool-result",
        id: "srvtoolu_1",
        name: "Web",
        isFailure: false,
        result: [{ title: "News" }],
        providerExecuted: true,
        options: { "ai-sdk": { toolName: "web_search" } }
      },
      { type: "text", text: "Nothing is new." }
    ]
  },
  { role: "user", content: "And now?" }
])

const outcomesOf = (provider: Provider, body: unknown): Readonly<Record<string, string>> =>
  Object.fromEntries(provider.outcomes(body).map(({ id, text }) => [id, text]))

for (const provider of providers) {
  const [first, second, third] = provider.ids

  describe(provider.name, () => {
    for (const way of ways) {
      it.effect(`takes one call approved and one denied, and goes on [${way}]`, () =>
        Effect.gen(function*() {
          const { runs, server, texts } = yield* play(provider, way, approveAndDeny(provider))
          assert.deepStrictEqual(server.refusals, [])
          assert.deepStrictEqual(runs, ["delete /tmp/a"])
          assert.deepStrictEqual(texts.slice(1), ["Deleted, not sent.", "You are welcome."])
          // What is told of each call, in the request after the decisions and in every later one.
          assert.strictEqual(server.bodies.length, 3)
          for (const body of server.bodies.slice(1)) {
            const outcomes = provider.outcomes(body)
            assert.deepStrictEqual(outcomes.map((outcome) => outcome.id), [first, second])
            assert.strictEqual(outcomes[0]?.text, "deleted /tmp/a")
            assert.match(outcomes[1]?.text ?? "", /^The call was denied and did not run\..*Nobody has to know\./u)
          }
        }))

      it.effect(`takes a second question in one turn [${way}]`, () =>
        Effect.gen(function*() {
          const { runs, server, texts } = yield* play(provider, way, askTwice(provider))
          assert.deepStrictEqual(server.refusals, [])
          assert.deepStrictEqual(runs, ["delete /tmp/a", "delete /tmp/b"])
          assert.deepStrictEqual(texts.slice(2), ["Both are gone.", "You are welcome."])
          const outcomes = outcomesOf(provider, server.bodies.at(-1))
          assert.strictEqual(outcomes[third], "deleted /tmp/b")
          assert.match(outcomes[second] ?? "", /^The call was denied and did not run\. \w/u)
        }))

      it.effect(`takes answers after a new message that came instead [${way}]`, () =>
        Effect.gen(function*() {
          const { runs, server, texts } = yield* play(provider, way, late(provider))
          assert.deepStrictEqual(server.refusals, [])
          assert.deepStrictEqual(runs, [])
          assert.deepStrictEqual(texts.slice(1), ["I wait.", "As you say.", "You are welcome."])
          assert.match(outcomesOf(provider, server.bodies.at(-1))[first] ?? "", /^Superseded by a new message/u)
          // Of what it was told may be asked again, it is told the denial.
          assert.include(JSON.stringify(server.bodies.at(-1)), noReason)
        }))

      it.effect(`takes answers after a new message that let them wait [${way}]`, () =>
        Effect.gen(function*() {
          const story: Story = { ...late(provider), approval: { onNewMessage: "keep" } }
          const { runs, server, texts } = yield* play(provider, way, story)
          assert.deepStrictEqual(server.refusals, [])
          assert.deepStrictEqual(runs, ["delete /tmp/a"])
          assert.deepStrictEqual(texts.slice(1), ["I wait.", "As you say.", "You are welcome."])
          const body = JSON.stringify(server.bodies.at(-1))
          assert.include(body, "deleted /tmp/a")
          assert.include(body, noReason)
        }))

      it.effect(`takes a success that says nothing beside a denial [${way}]`, () =>
        Effect.gen(function*() {
          const { runs, server } = yield* play(provider, way, {
            ...approveAndDeny(provider),
            replies: [
              { calls: [deleteFile(first, silent), sendMail(second)] },
              ...approveAndDeny(provider).replies.slice(1)
            ]
          })
          assert.deepStrictEqual(server.refusals, [])
          assert.deepStrictEqual(runs, [`delete ${silent}`])
          assert.include(outcomesOf(provider, server.bodies.at(-1))[second], noReason)
        }))

      it.effect(`takes a failure that says nothing beside a denial [${way}]`, () =>
        Effect.gen(function*() {
          const { runs, server } = yield* play(provider, way, {
            ...approveAndDeny(provider),
            replies: [
              { calls: [deleteFile(first, stuck), sendMail(second)] },
              ...approveAndDeny(provider).replies.slice(1)
            ]
          })
          assert.deepStrictEqual(server.refusals, [])
          assert.deepStrictEqual(runs, [`delete ${stuck}`])
          const outcomes = outcomesOf(provider, server.bodies.at(-1))
          assert.strictEqual(outcomes[first], "The call failed.")
          assert.include(outcomes[second], noReason)
        }))
    }

    it.effect.each(cutCalls)("L10 a call $is is taken", (call) =>
      Effect.gen(function*() {
        const { server } = yield* play(provider, "generateText", {
          replies: [{ text: "Once more, then." }],
          // Not all that a provider wants is there, such as what its model thought.
          tell: (send) => Effect.ignore(send(cutTurn(first, call)))
        })
        const [body] = server.bodies
        assert.include(JSON.stringify(provider.outcomes(body)), "It does not fit.")
        const rules = provider.rules.filter(({ says }) => says === inputIsObject || says === nameIsPlain)
        const problems = rules.map((rule) => rule.problems(body, { bodies: [], replies: [] }))
        assert.deepStrictEqual(problems, [[], []])
      }))

    it.effect("L7 is not told of calls that another provider ran, but of what the model said then", () =>
      Effect.gen(function*() {
        const { server } = yield* play(provider, "generateText", {
          replies: [{ text: "Nothing." }],
          tell: (send) => Effect.ignore(send(hostedElsewhere))
        })
        const body = JSON.stringify(server.bodies[0])
        assert.include(body, "Nothing is new.")
        assert.notInclude(body, "srvtoolu_1")
        assert.notInclude(body, "web_search")
      }))

    it.effect.each(provider.rules)("the played provider minds: $says", (rule) =>
      Effect.gen(function*() {
        const story = approveAndDeny(provider)
        const { server } = yield* play(provider, "generateText", story)
        const past = { bodies: server.bodies.slice(0, 1), replies: story.replies.slice(0, 1) }
        const body = structuredClone(server.bodies[1])
        assert.deepStrictEqual(refuses(provider, body, past), [])
        rule.breaks(body as never)
        // As it is sent: what is undefined is not there.
        assert.notDeepEqual(rule.problems(JSON.parse(JSON.stringify(body)), past), [])
        assert.match(rule.source, /github\.com\/|https:\/\/|^not documented; /u)
      }))
  })
}

/** Servers, and models at them, that use the id of a call again: in one answer, and in the next. */
const repeating = [openai, xai, openaiChat, mistral, compatible, compatibleMistral]

const repeat = ({ ids: [id] }: Provider): Story => ({
  ...askTwice({ ids: [id, id, id] }),
  replies: [
    { calls: [deleteFile(id), sendMail(id)] },
    { calls: [deleteFile(id, "/tmp/b")] },
    { text: "Both are gone." },
    { text: "You are welcome." }
  ]
})

describe("an id that is used again", () => {
  it.effect.each(repeating.flatMap((provider) => ways.map((way) => ({ name: provider.name, provider, way }))))(
    "is no id of another call for $name [$way]",
    ({ provider, way }) =>
      Effect.gen(function*() {
        const { runs, server } = yield* play(provider, way, repeat(provider))
        assert.deepStrictEqual(server.refusals, [])
        assert.deepStrictEqual(runs, ["delete /tmp/a", "delete /tmp/b"])
        const [file, mail, other] = provider.outcomes(server.bodies.at(-1)).map((outcome) => outcome.text)
        assert.strictEqual(file, "deleted /tmp/a")
        assert.match(mail ?? "", /^The call was denied/u)
        assert.strictEqual(other, "deleted /tmp/b")
      })
  )
})

// LiteLLM keeps there what Gemini thought: github.com/BerriAI/litellm/pull/16895
const longId = (end: string) => `call_28c1__thought__${"c2lnbmVk".repeat(200)}${end}`

describe("an id that is longer than a conversation's", () => {
  it.effect.each(ways)(
    "is the provider's own, and of a call that can be approved [%s]",
    (way) =>
      Effect.gen(function*() {
        const provider: Provider = { ...compatible, ids: [longId("a"), longId("b"), longId("c")] }
        const { runs, server } = yield* play(provider, way, askTwice(provider))
        assert.deepStrictEqual(server.refusals, [])
        assert.deepStrictEqual(runs, ["delete /tmp/a", "delete /tmp/b"])
        assert.deepStrictEqual(provider.outcomes(server.bodies.at(-1)).map(({ id }) => id), [...provider.ids])
      })
  )
})

describe("what is of an approval", () => {
  it("is a field or a kind of part, not a word of a text", () => {
    assert.deepStrictEqual(approvalParts({ content: [{ type: "text", text: "Waiting for approval." }] }), [])
    assert.deepStrictEqual(approvalParts({ content: [{ type: "tool-approval-request" }] }), ["tool-approval-request"])
    assert.deepStrictEqual(approvalParts([{ options: { approvalId: "a" } }]), ["approvalId"])
  })
})
