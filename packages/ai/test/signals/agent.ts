/** An agent whose one tool holds a lock and waits for a child process, which does not end by itself. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Deferred, Effect, FileSystem, Layer, Schema, Stream } from "effect"
import { ChildProcess } from "effect/process"
import * as Approval from "../../src/Approval.ts"
import * as ApprovalController from "../../src/ApprovalController.ts"
import * as Chat from "../../src/Chat.ts"
import * as Conversation from "../../src/Conversation.ts"
import * as LanguageModel from "../../src/LanguageModel.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Tool from "../../src/Tool.ts"
import * as Toolkit from "../../src/Toolkit.ts"

const Serve = Tool.make("Serve", { success: Schema.String, needsApproval: true })

const Tools = Toolkit.make(Serve)

const serves = Deferred.makeUnsafe<void>()

const child = ["-e", "console.log('up'); setInterval(() => {}, 1000)"]

const Handlers = Tools.toLayer(Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const lock = process.argv[2]!
  return {
    Serve: () =>
      Effect.scoped(Effect.gen(function*() {
        yield* Effect.acquireRelease(fs.writeFileString(lock, ""), () => Effect.ignore(fs.remove(lock)))
        const serving = yield* ChildProcess.make(process.execPath, child)
        yield* Stream.runHead(serving.stdout)
        yield* Effect.sync(() => console.log(`serving ${serving.pid}`))
        yield* Deferred.succeed(serves, undefined)
        yield* serving.exitCode
        return "served"
      })).pipe(Effect.orDie, Effect.provide(NodeServices.layer))
  }
}))

const yes = ApprovalController.layerInteractive((request) => Approval.approve(request))

const calls = [ScriptedModel.toolCall({ id: "c1", name: "Serve", params: {} })]

const conversation = Effect.flatMap(Tools, (toolkit) => Conversation.make({ id: "served", toolkit }))

/** How the call comes to run. */
const ways = {
  generate: Effect.provide(LanguageModel.generateText({ prompt: "Go.", toolkit: Tools }), yes),
  stream: Effect.provide(Stream.runDrain(LanguageModel.streamText({ prompt: "Go.", toolkit: Tools })), yes),
  chat: Effect.provide(
    Effect.flatMap(
      Chat.empty,
      (chat) => Effect.timeout(chat.generateText({ prompt: "Go.", toolkit: Tools }), "1 hour")
    ),
    yes
  ),
  send: Effect.provide(Effect.flatMap(conversation, ({ send }) => send("Go.")), yes),
  decide: Effect.gen(function*() {
    const { decide, pending, send } = yield* conversation
    yield* send("Go.")
    const [request] = yield* pending()
    yield* decide(Approval.approve(request!))
  }),
  left: Effect.gen(function*() {
    const { send } = yield* conversation
    yield* Effect.raceFirst(Effect.provide(send("Go."), yes), Deferred.await(serves))
    yield* Effect.sync(() => console.log("left"))
    yield* Effect.never
  })
}

/** Takes the turn that was asked for in the arguments, with what is kept where the layer keeps it. */
export const run = <A, E>(kept: Layer.Layer<A, E>): void =>
  Effect.suspend((): Effect.Effect<unknown, unknown, unknown> => ways[process.argv[3] as keyof typeof ways]).pipe(
    Effect.provide(Layer.mergeAll(Handlers, ScriptedModel.layer({ turns: [calls] }))),
    Effect.provide(kept),
    Effect.provide(NodeServices.layer),
    // What is left is nothing: every service is in the layers above.
    (program) => NodeRuntime.runMain(program as Effect.Effect<unknown, unknown>)
  )
