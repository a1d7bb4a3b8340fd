/**
 * Two calls wait, one is approved and one denied, and the conversation goes on: over the package of each provider, to a
 * server that refuses what the provider's documentation refuses.
 */
import { Approval, ApprovalJournal, ApprovalSeal, LanguageModel, Prompt, Response, Tool, Toolkit } from "@assent/ai"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { providers } from "./index.ts"
import type { Provider, Reply, Server } from "./strict.ts"
import { serve } from "./strict.ts"

const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file.",
  parameters: { path: Schema.String },
  success: Schema.String,
  needsApproval: true
})

const SendMail = Tool.make("SendMail", {
  description: "Sends a mail.",
  parameters: { to: Schema.String },
  success: Schema.String,
  needsApproval: true
})

const toolkit = Toolkit.make(DeleteFile, SendMail)

const ways = ["generateText", "streamText"] as const

const layer = Layer.mergeAll(
  ApprovalJournal.layerMemory(),
  ApprovalSeal.layer({ key: "the key of the tests of providers, 32 bytes" })
)

interface Told {
  readonly server: Server
  readonly runs: ReadonlyArray<string>
  readonly texts: ReadonlyArray<string>
}

/** Two calls, an answer to each, and a further message. */
const tell = (provider: Provider, way: (typeof ways)[number]) =>
  Effect.gen(function*() {
    const [first, second] = provider.ids
    const replies: ReadonlyArray<Reply> = [
      {
        calls: [
          { id: first, name: "DeleteFile", params: { path: "/tmp/a" } },
          { id: second, name: "SendMail", params: { to: "everybody" } }
        ]
      },
      { text: "Deleted, not sent." },
      { text: "You are welcome." }
    ]
    const server = serve(provider, replies, way === "streamText")
    const runs: Array<string> = []
    const texts: Array<string> = []
    let history = Prompt.empty
    const handlers = toolkit.toLayer({
      DeleteFile: ({ path }) => Effect.sync(() => (runs.push(`delete ${path}`), `deleted ${path}`)),
      SendMail: ({ to }) => Effect.sync(() => (runs.push(`mail ${to}`), `sent to ${to}`))
    })
    const send = Effect.fnUntraced(function*(input: Prompt.RawInput) {
      const prompt = Prompt.concat(history, input)
      const parts: ReadonlyArray<Response.AnyPart> = way === "streamText"
        ? yield* Stream.runCollect(LanguageModel.streamText({ prompt, toolkit }))
        : (yield* LanguageModel.generateText({ prompt, toolkit })).content
      history = Prompt.concat(prompt, Prompt.fromResponseParts(parts))
      texts.push(
        parts.map((part) => part.type === "text" ? part.text : part.type === "text-delta" ? part.delta : "").join("")
      )
      return Response.approvalRequests(parts)
    })
    yield* Effect.provide(
      Effect.gen(function*() {
        const requests = yield* send("Delete /tmp/a and tell everybody.")
        assert.deepStrictEqual(requests.map((request) => request.toolName), ["DeleteFile", "SendMail"])
        assert.deepStrictEqual(runs, [])
        const [file, mail] = requests
        assert.isDefined(file)
        assert.isDefined(mail)
        yield* send(Prompt.approvalResponses([Approval.approve(file), Approval.deny(mail, "Nobody has to know.")]))
        yield* send("Thanks.")
      }),
      Layer.merge(handlers, AiSdkLanguageModel.layer({ model: provider.model(server.fetch) }))
    )
    return { server, runs, texts } satisfies Told
  }).pipe(Effect.provide(layer))

for (const provider of providers) {
  describe(`${provider.name} (${provider.documentation.join(", ")})`, () => {
    for (const way of ways) {
      it.effect(`takes one call approved and one denied, and goes on [${way}]`, () =>
        Effect.gen(function*() {
          const { runs, server, texts } = yield* tell(provider, way)
          assert.deepStrictEqual(server.refusals, [])
          assert.deepStrictEqual(runs, ["delete /tmp/a"])
          assert.deepStrictEqual(texts.slice(1), ["Deleted, not sent.", "You are welcome."])
          // What is told of each call, in the request after the decisions and in every later one.
          const [first, second] = provider.ids
          assert.strictEqual(server.bodies.length, 3)
          for (const body of server.bodies.slice(1)) {
            const outcomes = provider.outcomes(body)
            assert.deepStrictEqual(outcomes.map((outcome) => outcome.id), [first, second])
            assert.strictEqual(outcomes[0]?.text, "deleted /tmp/a")
            assert.match(outcomes[1]?.text ?? "", /^The call was denied and did not run\..*Nobody has to know\./u)
          }
        }))
    }

    for (const [title, damage] of Object.entries(provider.broken)) {
      it.effect(`the played provider refuses ${title}`, () =>
        Effect.gen(function*() {
          const { server } = yield* tell(provider, "generateText")
          const body = structuredClone(server.bodies[1])
          assert.deepStrictEqual(provider.refuses(body), [])
          damage(body as never)
          assert.notDeepEqual(provider.refuses(body), [])
        }))
    }
  })
}
