/**
 * The handlers of a server's tools: what they find in their context, and what they ask on their way.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Layer, Schema } from "effect"
import { Approval, ApprovalController, ApprovalMemory, McpApproval, McpServer, Tool, Toolkit } from "../../src/index.ts"
import * as S from "./support.ts"

describe("what a handler finds", () => {
  const Plain = Tool.make("whoami", { success: Schema.Json, needsApproval: true })
  const kinds = {
    "gated": Toolkit.make(Plain),
    "without a gate": Toolkit.make(Tool.make("whoami", { success: Schema.Json })),
    "whose call was shown": Toolkit.make(
      Tool.present(Plain, () => new Approval.ApprovalPresentation({ type: "text", content: "asks who you are" }))
    )
  }
  for (const [kind, Tools] of Object.entries(kinds)) {
    it.live(`is what the program provides, and nothing of ours: a tool ${kind}`, () =>
      Effect.gen(function*() {
        const handlers = Tools.toLayer({
          whoami: () =>
            Effect.gen(function*() {
              const memory = yield* ApprovalMemory.ApprovalMemory
              const controller = yield* ApprovalController.ApprovalController
              return [yield* Approval.Scope, memory.remembers, controller === own]
            }) as Effect.Effect<Schema.Json>
        })
        const own: ApprovalController.Service = { ask: (request) => Effect.succeed(Approval.approve(request).decision) }
        const scope = McpServer.middleware((call) => Effect.provideService(call, Approval.Scope, { principal: "ada" }))
        const server = yield* S.serve(
          McpApproval.toolkit(Tools).pipe(
            Layer.provide([handlers, ApprovalMemory.layerSession(), scope.layer]),
            Layer.provide(Layer.succeed(ApprovalController.ApprovalController, own))
          )
        )
        const { call } = yield* S.connect(server, () => S.approve)
        assert.deepStrictEqual(JSON.parse((yield* call("whoami", {})).text), [{ principal: "ada" }, true, true])
        const alone = yield* S.serve(McpApproval.toolkit(Tools).pipe(Layer.provide(handlers)))
        const { call: callAlone } = yield* S.connect(alone, () => S.approve)
        assert.deepStrictEqual(JSON.parse((yield* callAlone("whoami", {})).text), [{}, false, false])
      }))
  }
})

it.live("a handler finds the server itself", () =>
  Effect.gen(function*() {
    const Tools = Toolkit.make(Tool.make("look_round", { success: Schema.Json }))
    const handlers = Tools.toLayer({
      look_round: () => Effect.map(McpServer.McpServer, (server) => server === seen) as Effect.Effect<boolean>
    })
    let seen: unknown
    const observer = Layer.effectDiscard(Effect.map(McpServer.McpServer, (server) => (seen = server)))
    const server = yield* S.serve(
      Layer.merge(observer, McpApproval.toolkit(Tools).pipe(Layer.provide(handlers)))
    )
    const { call } = yield* S.connect(server, () => S.approve)
    assert.strictEqual((yield* call("look_round", {})).text, "true")
  }))

describe("what a handler asks on its way", () => {
  const Deploy = Tool.make("deploy", { parameters: { to: Schema.String }, success: Schema.String })
  const Tools = Toolkit.make(Deploy)
  const handlers = Tools.toLayer({
    deploy: ({ to }) =>
      ApprovalController.request({ name: "deploy", params: { to }, reason: "it is Friday" }).pipe(
        Effect.match({
          onFailure: ({ reason }) => reason._tag,
          onSuccess: (decision) => `${decision._tag} ${decision.note ?? ""}`
        })
      )
  })

  it.live("ApprovalController.request in a plain McpServer.toolkit asks the client's user", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(
        McpServer.toolkit(Tools).pipe(Layer.provide(handlers), Layer.provide(McpApproval.layerElicitation()))
      )
      const answers = [S.accept({ decision: "approve", reason: "go" }), S.accept({ decision: "deny", reason: "no" })]
      const { asked, call } = yield* S.connect(server, () => answers.shift()!)
      assert.strictEqual((yield* call("deploy", { to: "production" })).text, "Approved go")
      assert.strictEqual((yield* call("deploy", { to: "production" })).text, "Denied no")
      assert.include(asked[0]!.message, "The program's step \"deploy\" wants to run with exactly these parameters:")
      assert.include(asked[0]!.message, "You are asked because:\n\n    it is Friday")
    }))

  it.live("for the session is offered where a conversation is named, for which it is remembered", () =>
    Effect.gen(function*() {
      const named = Layer.succeed(Approval.Scope, { conversation: "friday" })
      for (const [scope, ...expected] of [[Layer.empty, false, false], [named, true]] as const) {
        const server = yield* S.serve(
          McpServer.toolkit(Tools).pipe(
            Layer.provide(handlers),
            Layer.provide(Layer.mergeAll(McpApproval.layerElicitation(), ApprovalMemory.layerSession(), scope))
          )
        )
        const { asked, call } = yield* S.connect(
          server,
          ({ message }) => S.accept({ decision: message.includes("session") ? "approve_for_session" : "approve" })
        )
        assert.match((yield* call("deploy", { to: "production" })).text, /^Approved/)
        assert.match((yield* call("deploy", { to: "production" })).text, /^Approved/)
        assert.deepStrictEqual(asked.map(({ message }) => message.includes("session")), [...expected])
      }
    }))

  it.live("after its call is over it can ask nobody, since a response carries the question; no other call waits for it", () =>
    Effect.gen(function*() {
      const Later = Toolkit.make(Tool.make("later", { success: Schema.String }), S.Delete)
      const over = yield* Deferred.make<void>()
      const asked = S.signal<string>()
      const live = Later.toLayer({
        delete_file: ({ path }) => Effect.succeed({ deleted: path }),
        later: () =>
          Deferred.await(over).pipe(
            Effect.andThen(Effect.exit(ApprovalController.request({ name: "late" }))),
            Effect.map((exit) => asked.done(exit._tag)),
            Effect.forkDetach,
            Effect.as("begun")
          )
      })
      const server = yield* S.serve(
        McpApproval.toolkit(Later).pipe(Layer.provide(live), Layer.provide(McpApproval.layerElicitation()))
      )
      const { call } = yield* S.connect(server, () => S.approve)
      assert.strictEqual((yield* call("later", {})).text, "begun")
      yield* Deferred.succeed(over, undefined)
      assert.strictEqual(yield* asked.wait, "Failure")
      assert.isFalse((yield* call("delete_file", { path: "/a" })).isError)
    }))

  it.live("without the layer it fails as elsewhere: elicitation is the guard's alone", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(McpApproval.toolkit(Tools).pipe(Layer.provide(handlers)))
      const { asked, call } = yield* S.connect(server, () => S.approve)
      assert.strictEqual((yield* call("deploy", { to: "production" })).text, "ApprovalRequired")
      assert.deepStrictEqual(asked, [])
    }))
})
