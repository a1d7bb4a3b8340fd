/**
 * `McpApproval.toolkit`: upstream's tools with our guard before them. Policies, memory and events are those of any guarded
 * toolkit; what the client sees of a tool is what upstream shows.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Fiber, Layer, Ref, Schema, Stream } from "effect"
import * as Upstream from "effect/ai"
import {
  Approval,
  ApprovalController,
  ApprovalEvents,
  ApprovalMatcher,
  ApprovalMemory,
  ApprovalPolicy,
  DeferredTool,
  Interaction,
  McpApproval,
  McpServer,
  Tool,
  Toolkit
} from "../../src/index.ts"
import * as S from "./support.ts"

describe("what the client sees of the tools", () => {
  it.live("is what upstream shows: names, schemas, descriptions, hints", () =>
    Effect.gen(function*() {
      const listed = Effect.fnUntraced(function*(registrations: ReturnType<typeof S.files>) {
        const { client } = yield* S.connect(yield* S.serve(registrations), () => S.approve)
        return (yield* Effect.promise(() => client.listTools())).tools
      })
      const ours = yield* listed(S.files())
      // Upstream registers no tool of ours that needs approval.
      const Theirs = Upstream.Toolkit.make(
        Upstream.Tool.make("delete_file", {
          description: "Deletes a file",
          parameters: S.Delete.parametersSchema,
          success: S.Delete.successSchema,
          needsApproval: true
        }).annotate(Tool.Readonly, false),
        Upstream.Tool.make("look", { parameters: S.Look.parametersSchema, success: S.Look.successSchema })
      )
      assert.deepStrictEqual(ours, yield* listed(Upstream.McpServer.toolkit(Theirs).pipe(Layer.provide(S.FilesLive))))
      assert.deepStrictEqual(ours.map(({ annotations, name }) => [name, annotations?.readOnlyHint]), [
        ["delete_file", false],
        ["look", false]
      ])
    }))

  it.live("parameters that do not fit are refused as upstream refuses them, and nobody is asked", () =>
    Effect.gen(function*() {
      const Strict = Tool.make("strict", {
        parameters: { path: Schema.String },
        success: Schema.String,
        needsApproval: true
      }).annotate(Tool.Strict, true)
      const tools = Toolkit.make(Strict)
      const handlers = tools.toLayer({ strict: () => Effect.succeed("ran") })
      const refusals = Effect.fnUntraced(function*(registrations: Layer.Layer<never, never, McpServer.McpServer>) {
        const { asked, client } = yield* S.connect(yield* S.serve(registrations), () => S.approve)
        const refuse = (params: Record<string, unknown>) =>
          Effect.promise(() => client.callTool({ name: "strict", arguments: params }).catch((error) => String(error)))
        const refused = [yield* refuse({ path: 1 }), yield* refuse({ path: "/a", force: true })]
        assert.deepStrictEqual(asked, [])
        return refused
      })
      const ours = yield* refusals(McpApproval.toolkit(tools).pipe(Layer.provide(handlers)))
      const theirs = Upstream.Toolkit.make(
        Upstream.Tool.make("strict", {
          parameters: Strict.parametersSchema,
          success: Schema.String,
          needsApproval: true
        })
          .annotate(Tool.Strict, true)
      )
      assert.deepStrictEqual(ours, yield* refusals(Upstream.McpServer.toolkit(theirs).pipe(Layer.provide(handlers))))
      assert.match(JSON.stringify(ours[1]), /force/)
    }))
})

describe("policy, events and other controllers", () => {
  it.live("L11 a policy forbids without a question, and the client is told why", () =>
    Effect.gen(function*() {
      const policy = ApprovalPolicy.layer(({ encodedParams }) =>
        JSON.stringify(encodedParams).includes(".env") ? Approval.blocked("secrets stay here") : undefined
      )
      const server = yield* S.serve(S.files().pipe(Layer.provide(policy)))
      const { asked, call } = yield* S.connect(server, () => S.approve)
      assert.strictEqual(S.reasonOf(yield* call("delete_file", { path: ".env" })), "secrets stay here")
      assert.strictEqual(S.reasonOf(yield* call("look", { path: ".env" })), "secrets stay here")
      assert.isFalse((yield* call("delete_file", { path: "/tmp/a" })).isError)
      assert.deepStrictEqual([asked.length, server.runs], [1, ["delete /tmp/a"]])
    }))

  it.live("a policy says how to ask: reason, description and what it does are in the question", () =>
    Effect.gen(function*() {
      const policy = ApprovalPolicy.layer(() =>
        Approval.needsApproval({
          reason: "outside of the project",
          description: "Deletes for good",
          presentation: new Approval.ApprovalPresentation({ type: "diff", language: "ts", content: "- a\n- b" })
        })
      )
      const server = yield* S.serve(S.files().pipe(Layer.provide(policy)))
      const { asked, call } = yield* S.connect(server, () => S.approve)
      yield* call("delete_file", { path: "/a" })
      assert.strictEqual(
        asked[0]!.message,
        [
          "The tool \"delete_file\" wants to run with exactly these parameters:",
          "    {\n      \"path\": \"/a\"\n    }",
          "Description:",
          "    Deletes for good",
          "You are asked because:",
          "    outside of the project",
          "What it does (diff ts):",
          "    - a\n    - b"
        ].join("\n\n")
      )
      assert.deepStrictEqual(server.runs, ["delete /a"])
    }))

  it.live("L1 a policy that hangs: the user is asked all the same, and a yes runs nothing", () =>
    Effect.gen(function*() {
      const hangs = ApprovalPolicy.layer(() => Effect.never)
      const server = yield* S.serve(S.files({ policyTimeLimit: "20 millis" }).pipe(Layer.provide(hangs)))
      const { asked, call } = yield* S.connect(server, () => S.approve)
      assert.match(S.reasonOf(yield* call("look", { path: "/a" })), /The approval policy failed, so the approved call/)
      assert.include(asked[0]!.message, "The approval policy for this tool failed")
      assert.deepStrictEqual(server.runs, [])
    }))

  it.live("events tell of the request and of what became of it", () =>
    Effect.gen(function*() {
      const events = yield* ApprovalEvents.make()
      const seen = yield* Stream.runCollect(Stream.take(ApprovalEvents.stream, 4)).pipe(
        Effect.provideService(ApprovalEvents.ApprovalEvents, events),
        Effect.forkChild({ startImmediately: true })
      )
      const server = yield* S.serve(
        S.files().pipe(Layer.provide(Layer.succeed(ApprovalEvents.ApprovalEvents, events)))
      )
      const answers = [() => ({ action: "decline" }) as const, () => Promise.reject(new Error("no screen"))]
      const { call } = yield* S.connect(server, () => answers.shift()!())
      yield* call("delete_file", { path: "/a" })
      yield* call("delete_file", { path: "/a" })
      const told = yield* Fiber.join(seen)
      assert.deepStrictEqual(
        told.map((event) => event._tag === "Changed" ? event.state : event._tag),
        ["Requested", "denied", "Requested", "ControllerFailed"]
      )
      const failed = told.find((event) => event._tag === "ControllerFailed")
      assert.include(Cause.pretty(failed!.cause), "no screen")
    }))

  it.live("who else the program provides to answer, answers: the client's user is not asked", () =>
    Effect.gen(function*() {
      const boss = ApprovalController.layerInteractive((request) => Approval.deny(request, "says the boss"))
      const server = yield* S.serve(S.files().pipe(Layer.provide(boss)))
      const { asked, call } = yield* S.connect(server, () => S.approve)
      assert.strictEqual(S.reasonOf(yield* call("delete_file", { path: "/a" })), "says the boss")
      assert.deepStrictEqual([asked, server.runs], [[], []])
    }))

  it.live("L4 an edit of such a controller runs as edited, and the client is told what ran", () =>
    Effect.gen(function*() {
      const editor = ApprovalController.layerInteractive((request) =>
        Approval.approve(request, { params: { path: "/tmp/other" } })
      )
      const server = yield* S.serve(S.files().pipe(Layer.provide(editor)))
      const { client } = yield* S.connect(server, () => S.approve)
      const result = yield* Effect.promise(() =>
        client.callTool({ name: "delete_file", arguments: { path: "/tmp/a" } })
      )
      assert.deepStrictEqual(result.structuredContent, { deleted: "/tmp/other" })
      assert.deepStrictEqual(result.content, [
        { type: "text", text: "{\"deleted\":\"/tmp/other\"}" },
        {
          type: "text",
          text: "The user changed the parameters before approving. The call ran with: {\"path\":\"/tmp/other\"}"
        }
      ])
      assert.deepStrictEqual(server.runs, ["delete /tmp/other"])
    }))
})

describe("memory", () => {
  const session = S.accept({ decision: "approve_for_session" })

  it.live("approve for this session covers what the question says, for that client's session alone", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files().pipe(Layer.provide(ApprovalMemory.layerSession())))
      const answers = [session, S.accept({ decision: "deny" })]
      const ada = yield* S.connect(server, () => answers.shift()!)
      yield* ada.call("delete_file", { path: "/a" })
      yield* ada.call("delete_file", { path: "/a" })
      assert.isTrue((yield* ada.call("delete_file", { path: "/b" })).isError)
      assert.strictEqual(ada.asked.length, 2)
      assert.include(
        ada.asked[0]!.message,
        "\"Approve for this session\" covers, until it ends: exactly this call"
      )
      const bob = yield* S.connect(server, () => S.accept({ decision: "deny" }))
      assert.isTrue((yield* bob.call("delete_file", { path: "/a" })).isError)
      assert.strictEqual(bob.asked.length, 1, "what Ada said is not Bob's word")
      const adaAgain = yield* S.connect(server, () => S.accept({ decision: "deny" }))
      assert.isTrue((yield* adaAgain.call("delete_file", { path: "/a" })).isError)
      assert.deepStrictEqual(server.runs, ["delete /a", "delete /a"])
    }))

  it.live("and for whom the program says it is, where several share a client", () =>
    Effect.gen(function*() {
      const principal = yield* Ref.make("ada")
      const scoped = McpServer.middleware((effect) =>
        Effect.flatMap(Ref.get(principal), (principal) => Effect.provideService(effect, Approval.Scope, { principal }))
      )
      const server = yield* S.serve(
        S.files().pipe(Layer.provide([ApprovalMemory.layerSession(), scoped.layer]))
      )
      const answers = [session, S.accept({ decision: "deny" })]
      const { call } = yield* S.connect(server, () => answers.shift()!)
      yield* call("delete_file", { path: "/a" })
      yield* Ref.set(principal, "bob")
      assert.isTrue((yield* call("delete_file", { path: "/a" })).isError)
      yield* Ref.set(principal, "ada")
      assert.isFalse((yield* call("delete_file", { path: "/a" })).isError)
      assert.deepStrictEqual(server.runs, ["delete /a", "delete /a"])
    }))

  it.live("of calls at once the same is asked about once", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files().pipe(Layer.provide(ApprovalMemory.layerSession())))
      const { asked, call } = yield* S.connect(server, () => session)
      const both = [1, 2].map(() => call("delete_file", { path: "/a" }))
      yield* Effect.all(both, { concurrency: "unbounded" })
      assert.strictEqual(asked.length, 1)
      assert.deepStrictEqual(server.runs, ["delete /a", "delete /a"])
    }))

  it.live("so it is where the controller is the program's own layerElicitation", () =>
    Effect.gen(function*() {
      const layers = Layer.merge(ApprovalMemory.layerSession(), McpApproval.layerElicitation())
      const server = yield* S.serve(S.files().pipe(Layer.provide(layers)))
      const { asked, call } = yield* S.connect(server, () => session)
      const both = [1, 2].map(() => call("delete_file", { path: "/a" }))
      yield* Effect.all(both, { concurrency: "unbounded" })
      assert.strictEqual(asked.length, 1)
      assert.deepStrictEqual(server.runs, ["delete /a", "delete /a"])
    }))

  it.live("what it covers is spelled out where the policy says more", () =>
    Effect.gen(function*() {
      const policy = ApprovalPolicy.layer(() =>
        Approval.needsApproval({
          session: { covers: ApprovalMatcher.path(["/tmp/**"], { param: "path" }).description }
        })
      )
      const server = yield* S.serve(
        S.files().pipe(Layer.provide(Layer.merge(ApprovalMemory.layerSession(), policy)))
      )
      const { asked, call } = yield* S.connect(server, () => session)
      yield* call("delete_file", { path: "/tmp/a" })
      yield* call("delete_file", { path: "/tmp/b" })
      assert.strictEqual(asked.length, 1)
      assert.include(
        asked[0]!.message,
        "covers, until it ends:\n\n    any call of delete_file whose path matches `/tmp/**`"
      )
      assert.deepStrictEqual(server.runs, ["delete /tmp/a", "delete /tmp/b"])
    }))

  it.live("a plain yes is for this once, and nothing is offered that is to be asked every time", () =>
    Effect.gen(function*() {
      const policy = ApprovalPolicy.layer(({ toolName }) =>
        Approval.needsApproval(toolName === "look" ? { rememberable: false } : { remember: "session" })
      )
      const server = yield* S.serve(
        S.files().pipe(Layer.provide(Layer.merge(ApprovalMemory.layerSession(), policy)))
      )
      const { asked, call } = yield* S.connect(server, () => S.approve)
      yield* call("delete_file", { path: "/a" })
      yield* call("delete_file", { path: "/a" })
      yield* call("look", { path: "/a" })
      assert.deepStrictEqual(asked.map(({ message }) => message.includes("for this session")), [true, true, false])
      assert.strictEqual(server.runs.length, 3)
    }))
})

describe("a tool that waits", () => {
  it.live("begins nowhere but under an engine: here its call fails, and nothing of it ran", () =>
    Effect.gen(function*() {
      const Order = DeferredTool.make("order", { success: Schema.String, interactions: { sure: Interaction.askUser } })
      const Tools = Toolkit.make(Order)
      let began = false
      const handlers = Tools.toLayer({
        order: DeferredTool.handler(Order, {
          start: () => (began = true, Order.suspend.sure({ prompt: "Sure?" })),
          resume: { sure: (answer) => Effect.succeed(answer) }
        })
      })
      const server = yield* S.serve(McpApproval.toolkit(Tools).pipe(Layer.provide(handlers)))
      const { asked, call } = yield* S.connect(server, () => S.accept({ answer: "yes" }))
      assert.isTrue((yield* call("order", {})).isError)
      assert.deepStrictEqual([asked, began], [[], false])
    }))
})
