/**
 * MCP 2026-07-28, in which a server cannot ask while a call runs: the call ends with the question, and the client makes
 * it again with the answer.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Ref, Schema } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalMemory,
  ApprovalPolicy,
  McpApproval,
  McpProtocol,
  McpSchema,
  McpServer,
  Tool,
  Toolkit
} from "../../src/index.ts"
import * as ElicitationRounds from "../../src/internal/elicitation/rounds.ts"
import { answering, approve, call, denials, protocols, reasonOf, remove } from "./rounds.ts"
import * as S from "./support.ts"

describe("MCP 2026-07-28: rounds", () => {
  it.live("L1 accept: the call ends with the question, and runs once made again with the answer", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files(), protocols)
      const asked = yield* call(server, remove("/a"))
      assert.strictEqual(asked.resultType, "input_required")
      assert.include(asked.inputRequests!.approval.params.message, "\"path\": \"/a\"")
      assert.deepStrictEqual(server.runs, [])
      const done = yield* call(server, { ...remove("/a"), ...answering(approve, asked) })
      assert.strictEqual(done.resultType, "complete")
      assert.deepStrictEqual(server.runs, ["delete /a"])
    }))

  it.live("L2 the same answer again is asked again, also at once", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files(), protocols)
      const asked = yield* call(server, remove("/a"))
      const again = { ...remove("/a"), ...answering(approve, asked) }
      const outcomes = yield* Effect.all([1, 2, 3].map(() => call(server, again)), { concurrency: "unbounded" })
      const types = outcomes.map(({ resultType }) => resultType)
      assert.sameMembers(types, ["complete", "input_required", "input_required"])
      assert.strictEqual((yield* call(server, again)).resultType, "input_required")
      assert.deepStrictEqual(server.runs, ["delete /a"])
    }))

  it.live("L2 a call that runs after all, since somebody else approves it, is not to be made again", () =>
    Effect.gen(function*() {
      const elicitation = McpApproval.elicitation()
      const orElse: ApprovalController.Service = {
        ask: (request) =>
          Effect.map(
            elicitation.ask!(request),
            (decision) => decision?._tag === "Info" ? new Approval.Approved({}) : decision
          )
      }
      const controller = Layer.succeed(ApprovalController.ApprovalController, orElse)
      const server = yield* S.serve(S.files().pipe(Layer.provide(controller)), protocols)
      const { requestState, resultType } = yield* call(server, remove("/a"))
      assert.deepStrictEqual([resultType, requestState], ["complete", undefined])
      assert.deepStrictEqual(server.runs, ["delete /a"])
    }))

  it.live("L3 a no stays a no, also where the policy would let the call run by then", () =>
    Effect.gen(function*() {
      const asks = yield* Ref.make(true)
      const policy = ApprovalPolicy.layer(() =>
        Effect.map(Ref.get(asks), (asks) => asks ? Approval.needsApproval() : Approval.preApproved())
      )
      const server = yield* S.serve(S.files().pipe(Layer.provide(policy)), protocols)
      const deny = { action: "accept", content: { decision: "deny", reason: "mine" } }
      const reasons: Array<string> = []
      for (const answer of [{ action: "decline" }, { action: "cancel" }, deny, { action: "accept" }, { roots: [] }]) {
        yield* Ref.set(asks, true)
        const asked = yield* call(server, remove("/a"))
        yield* Ref.set(asks, false)
        reasons.push(reasonOf(yield* call(server, { ...remove("/a"), ...answering(answer, asked) })))
      }
      assert.deepStrictEqual(reasons, denials)
      assert.deepStrictEqual(server.runs, [])
      yield* Ref.set(asks, true)
      const asked = yield* call(server, remove("/a"))
      yield* Ref.set(asks, false)
      const done = yield* call(server, { ...remove("/a"), ...answering(approve, asked) })
      assert.strictEqual(done.isError, false)
      assert.deepStrictEqual(server.runs, ["delete /a"])
    }))

  it.live("decline, cancel, deny and garbage are denials that say so", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files(), protocols)
      const reasons: Array<string> = []
      const deny = { action: "accept", content: { decision: "deny", reason: "mine" } }
      const answers = [{ action: "decline" }, { action: "cancel" }, deny, { action: "accept" }, { roots: [] }]
      for (const answer of answers) {
        const asked = yield* call(server, remove("/a"))
        reasons.push(reasonOf(yield* call(server, { ...remove("/a"), ...answering(answer, asked) })))
      }
      assert.deepStrictEqual(reasons, denials)
      assert.deepStrictEqual(server.runs, [])
    }))

  it.live("a client without elicitation is denied, with what it lacks", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files(), protocols)
      assert.match(reasonOf(yield* call(server, remove("/a"), {})), /does not offer the capability "elicitation"/)
      assert.deepStrictEqual(server.runs, [])
    }))

  it.live("nobody answers in time: it is asked again", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files({ timeLimit: 0 }), protocols)
      const asked = yield* call(server, remove("/a"))
      const late = yield* call(server, { ...remove("/a"), ...answering(approve, asked) })
      assert.strictEqual(late.resultType, "input_required")
      assert.deepStrictEqual(server.runs, [])
    }))

  it.live("L11 the policy is asked again when the answer comes", () =>
    Effect.gen(function*() {
      const open = yield* Ref.make(true)
      const policy = ApprovalPolicy.layer(() =>
        Effect.map(Ref.get(open), (open) => open ? Approval.needsApproval() : Approval.blocked("closed by now"))
      )
      const server = yield* S.serve(S.files().pipe(Layer.provide(policy)), protocols)
      const asked = yield* call(server, remove("/a"))
      yield* Ref.set(open, false)
      const blocked = yield* call(server, { ...remove("/a"), ...answering(approve, asked) })
      assert.strictEqual(reasonOf(blocked), "closed by now")
      assert.deepStrictEqual(server.runs, [])
    }))

  it.live("nothing is remembered of a client without a session, and nothing of the kind is offered", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files().pipe(Layer.provide(ApprovalMemory.layerSession())), protocols)
      const asked = yield* call(server, remove("/a"))
      assert.notInclude(asked.inputRequests!.approval.params.message, "session")
      const session = { action: "accept", content: { decision: "approve_for_session" } }
      const answered = yield* call(server, { ...remove("/a"), ...answering(session, asked) })
      assert.match(reasonOf(answered), /its answer does not fit the question/)
    }))

  it.live("nor is what somebody else answers about it remembered, who may mean one client", () =>
    Effect.gen(function*() {
      let asked = 0
      const boss = ApprovalController.layerInteractive((request) => {
        asked++
        return Approval.approve(request, { remember: "session" })
      })
      const layers = Layer.merge(ApprovalMemory.layerSession(), boss)
      const server = yield* S.serve(S.files().pipe(Layer.provide(layers)), protocols)
      yield* call(server, remove("/a"))
      yield* call(server, remove("/a"))
      assert.deepStrictEqual([asked, server.runs], [2, ["delete /a", "delete /a"]])
    }))

  it.live("a handler that asks on its way is denied: it would begin twice", () =>
    Effect.gen(function*() {
      const Deploy = Tool.make("deploy", { success: Schema.String })
      const Tools = Toolkit.make(Deploy)
      const handlers = Tools.toLayer({
        deploy: () =>
          ApprovalController.request({ name: "deploy" }).pipe(
            Effect.map(({ _tag, note }) => `${_tag}: ${note}`),
            Effect.orDie
          )
      })
      const layer = McpApproval.layerElicitation()
      for (const registrations of [McpApproval.toolkit(Tools), McpServer.toolkit(Tools)]) {
        const server = yield* S.serve(
          registrations.pipe(Layer.provide(handlers), Layer.provide(layer)),
          protocols
        )
        const { content } = yield* call(server, { name: "deploy", arguments: {} })
        assert.match(content![0]!.text, /^"?Denied: .* in MCP 2026-07-28 a server cannot ask while a call runs/)
      }
    }))

  it.live("beside it a client of an earlier revision is asked while its call runs", () =>
    Effect.gen(function*() {
      const server = yield* S.serve(S.files(), [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25])
      const client = yield* S.connect(server, () => S.approve)
      assert.isFalse((yield* client.call("delete_file", { path: "/a" })).isError)
      assert.strictEqual((yield* call(server, remove("/b"))).resultType, "input_required")
      assert.deepStrictEqual(server.runs, ["delete /a"])
    }))

  /** How one who asks is told from others. */
  const apart: Readonly<Record<string, (who: number) => Approval.ApprovalScope>> = {
    clients: () => ({}),
    people: (who) => ({ principal: `person ${who}` }),
    "people of one name in other tenants": (who) => ({ tenant: `tenant ${who}`, principal: "ada" })
  }
  const eachApart = it.effect.each(Object.keys(apart))
  eachApart(
    "of many questions that are left open the oldest are forgotten, and none of other %s",
    (of) =>
      Effect.gen(function*() {
        const rounds = ElicitationRounds.make({ client: 2, all: 100 })
        const round = (requestState?: string, clientId = 0) =>
          Effect.gen(function*() {
            const { ask } = (yield* ElicitationRounds.CurrentRound)!
            const question = {
              mode: "form",
              message: "?",
              requestedSchema: { type: "object", properties: {} }
            } as const
            return yield* ask(question, "delete /a", 60_000)
          }).pipe(
            rounds,
            Effect.provideService(McpSchema.McpRequestContext, {
              clientId,
              protocolVersion: "2026-07-28",
              clientCapabilities: {},
              inputResponses: { approval: { action: "decline" } },
              requestState
            }),
            Effect.provideService(Approval.Scope, apart[of]!(clientId))
          )
        const tokens: Array<string> = []
        for (let asked = 0; asked < 4; asked++) {
          const ended = yield* round()
          tokens.push(ended instanceof McpSchema.InputRequired ? String(ended.requestState) : "")
        }
        assert.strictEqual(new Set(tokens).size, 4)
        // Others with as many as they like push out none of these.
        for (let asked = 0; asked < 100; asked++) yield* round(undefined, 1 + asked % 20)
        assert.deepInclude(yield* round(tokens[2]), { action: "decline" })
        assert.deepInclude(yield* round(tokens[3]), { action: "decline" })
        assert.instanceOf(yield* round(tokens[1]), McpSchema.InputRequired)
        assert.instanceOf(yield* round(tokens[0]), McpSchema.InputRequired)
      })
  )
})
