/**
 * A program over a played provider: two tools that need approval, and a conversation of turns.
 */
import {
  type Approval,
  ApprovalJournal,
  ApprovalSeal,
  LanguageModel,
  Prompt,
  Response,
  Tool,
  Toolkit
} from "@assent/ai"
import { AiSdkLanguageModel } from "@assent/ai-sdk"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { Provider, Reply, ScriptedCall, Server } from "./strict.ts"
import { serve } from "./strict.ts"

const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file.",
  parameters: { path: Schema.String },
  success: Schema.String,
  failure: Schema.String,
  failureMode: "return",
  needsApproval: true
})

const SendMail = Tool.make("SendMail", {
  description: "Sends a mail.",
  parameters: { to: Schema.String },
  success: Schema.String,
  needsApproval: true
})

const toolkit = Toolkit.make(DeleteFile, SendMail)

export const deleteFile = (id: string, path = "/tmp/a"): ScriptedCall => ({ id, name: "DeleteFile", params: { path } })

export const sendMail = (id: string): ScriptedCall => ({ id, name: "SendMail", params: { to: "everybody" } })

export const ways = ["generateText", "streamText"] as const

export type Way = (typeof ways)[number]

const layer = Layer.mergeAll(
  ApprovalJournal.layerMemory(),
  ApprovalSeal.layer({ key: "the key of the tests of providers, 32 bytes" })
)

/** One turn: what the model asks approval for. */
export type Send = (input: Prompt.RawInput) => Effect.Effect<ReadonlyArray<Approval.ApprovalRequest>, unknown>

export interface Told {
  readonly server: Server
  readonly runs: ReadonlyArray<string>
  readonly texts: ReadonlyArray<string>
}

export interface Story {
  readonly replies: ReadonlyArray<Reply>
  readonly approval?: LanguageModel.ApprovalOptions
  readonly tell: (send: Send) => Effect.Effect<void, unknown>
}

/** A file that cannot be deleted, for no reason that is told. */
export const stuck = "/dev/null"

/** A file of whose deletion nothing is told. */
export const silent = "/tmp/silent"

/** Tells a story over a provider. */
export const play = (provider: Provider, way: Way, { approval, replies, tell }: Story): Effect.Effect<Told, unknown> =>
  Effect.gen(function*() {
    const server = serve(provider, replies, way === "streamText")
    const runs: Array<string> = []
    const texts: Array<string> = []
    let history = Prompt.empty
    const handlers = toolkit.toLayer({
      DeleteFile: ({ path }) =>
        Effect.suspend(() => {
          runs.push(`delete ${path}`)
          if (path === silent) return Effect.succeed("\n")
          return path === stuck ? Effect.fail("") : Effect.succeed(`deleted ${path}`)
        }),
      SendMail: ({ to }) => Effect.sync(() => (runs.push(`mail ${to}`), `sent to ${to}`))
    })
    const model = AiSdkLanguageModel.layer({
      model: provider.model(server.fetch),
      config: provider.config,
      approval
    })
    const services = yield* Layer.build(Layer.merge(handlers, model))
    const send: Send = (input) =>
      Effect.gen(function*() {
        const prompt = Prompt.concat(history, input)
        const parts: ReadonlyArray<Response.AnyPart> = way === "streamText"
          ? yield* Stream.runCollect(LanguageModel.streamText({ prompt, toolkit }))
          : (yield* LanguageModel.generateText({ prompt, toolkit })).content
        history = Prompt.concat(prompt, Prompt.fromResponseParts(parts))
        texts.push(
          parts.map((part) => part.type === "text" ? part.text : part.type === "text-delta" ? part.delta : "").join("")
        )
        return Response.approvalRequests(parts)
      }).pipe(Effect.provide(services), Effect.provide(layerOf))
    const layerOf = yield* Layer.build(layer)
    yield* tell(send)
    return { server, runs, texts }
  }).pipe(Effect.scoped)
