/**
 * MCP 2026-07-28: what an answer counts for that a client brings with its call. The very call that was asked about, as it
 * was shown and for whom (law L4), and as long as the policy says.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Ref } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalMatcher, ApprovalMemory, ApprovalPolicy, McpServer } from "../../src/index.ts"
import { answering, approve, type Call, call, protocols, remove } from "./rounds.ts"
import * as S from "./support.ts"

describe("MCP 2026-07-28: an answer", () => {
  it.live("L4 an answer counts for the question that was asked: for no other call, and for none that was invented", () =>
    Effect.gen(function*() {
      const asks = ApprovalPolicy.layer(() => Approval.needsApproval())
      const server = yield* S.serve(S.files().pipe(Layer.provide(asks)), protocols)
      const answered = Effect.map(call(server, remove("/a")), (asked) => answering(approve, asked))
      const calls: Record<string, Call> = {
        "other parameters": { ...remove("/b"), ...(yield* answered) },
        "the same parameters of another tool": { ...remove("/a"), name: "look", ...(yield* answered) },
        "an invented question": { ...remove("/a"), ...(yield* answered), requestState: "invented" },
        "no question": { ...remove("/a"), ...(yield* answered), requestState: undefined },
        "no answer": { ...remove("/a"), ...(yield* answered), inputResponses: {} },
        "an answer to something else": { ...remove("/a"), ...(yield* answered), inputResponses: { x: approve } }
      }
      for (const [what, made] of Object.entries(calls)) {
        const { inputRequests, resultType } = yield* call(server, made)
        assert.strictEqual(resultType, "input_required", what)
        assert.include(inputRequests!.approval.params.message, `The tool "${made.name}" wants to run`)
      }
      assert.deepStrictEqual(server.runs, [])
      yield* call(server, { ...remove("/a"), ...(yield* answered) })
      assert.deepStrictEqual(server.runs, ["delete /a"])
    }))

  for (const field of ["tenant", "principal", "conversation"] as const) {
    it.live(`L4 an answer counts for whom it was asked: for no other ${field}`, () =>
      Effect.gen(function*() {
        const name = yield* Ref.make("ada")
        const scoped = McpServer.middleware((effect) =>
          Effect.flatMap(Ref.get(name), (name) => Effect.provideService(effect, Approval.Scope, { [field]: name }))
        )
        const server = yield* S.serve(S.files().pipe(Layer.provide(scoped.layer)), protocols)
        const asked = yield* call(server, remove("/a"))
        yield* Ref.set(name, "mallory")
        const stolen = yield* call(server, { ...remove("/a"), ...answering(approve, asked) })
        assert.strictEqual(stolen.resultType, "input_required")
        assert.deepStrictEqual(server.runs, [])
      }))
  }

  it.live("L4 an answer counts for what was shown: not once that has another precondition", () =>
    Effect.gen(function*() {
      const version = yield* Ref.make("1")
      const policy = ApprovalPolicy.layer(() =>
        Effect.map(Ref.get(version), (precondition) =>
          Approval.needsApproval({
            presentation: new Approval.ApprovalPresentation({ type: "text", content: "a line goes", precondition })
          }))
      )
      const server = yield* S.serve(S.files().pipe(Layer.provide(policy)), protocols)
      const asked = yield* call(server, remove("/a"))
      yield* Ref.set(version, "2")
      const again = yield* call(server, { ...remove("/a"), ...answering(approve, asked) })
      assert.strictEqual(again.resultType, "input_required")
      assert.deepStrictEqual(server.runs, [])
      const done = yield* call(server, { ...remove("/a"), ...answering(approve, again) })
      assert.strictEqual(done.resultType, "complete")
      assert.deepStrictEqual(server.runs, ["delete /a"])
    }))

  it.live("L4 an answer counts for what it covers: not once that is more", () =>
    Effect.gen(function*() {
      const folder = yield* Ref.make("/tmp/**")
      const policy = ApprovalPolicy.layer(() =>
        Effect.map(Ref.get(folder), (folder) =>
          Approval.needsApproval({
            session: { covers: ApprovalMatcher.path([folder], { param: "path" }).description }
          }))
      )
      const layers = Layer.mergeAll(
        policy,
        ApprovalMemory.layerSession(),
        Layer.succeed(Approval.Scope, {
          conversation: "ours"
        })
      )
      const server = yield* S.serve(S.files().pipe(Layer.provide(layers)), protocols)
      const session = { action: "accept", content: { decision: "approve_for_session" } }
      const asked = yield* call(server, remove("/tmp/a"))
      yield* Ref.set(folder, "/**")
      const again = yield* call(server, { ...remove("/tmp/a"), ...answering(session, asked) })
      assert.strictEqual(again.resultType, "input_required")
      assert.deepStrictEqual(server.runs, [])
      yield* call(server, { ...remove("/tmp/a"), ...answering(session, again) })
      assert.strictEqual((yield* call(server, remove("/b"))).resultType, "complete")
      assert.deepStrictEqual(server.runs, ["delete /tmp/a", "delete /b"])
    }))

  it.live("an answer counts although the policy gives another reason by then", () =>
    Effect.gen(function*() {
      let asks = 0
      const policy = ApprovalPolicy.layer(() => Approval.needsApproval({ reason: `call ${++asks} of today` }))
      const server = yield* S.serve(S.files().pipe(Layer.provide(policy)), protocols)
      const asked = yield* call(server, remove("/a"))
      const done = yield* call(server, { ...remove("/a"), ...answering(approve, asked) })
      assert.strictEqual(done.resultType, "complete")
      assert.deepStrictEqual(server.runs, ["delete /a"])
    }))

  it.effect("an answer counts for as long as the policy says: then it is asked again", () =>
    Effect.gen(function*() {
      const policy = ApprovalPolicy.layer(() => Approval.needsApproval({ expiresIn: 60_000 }))
      const server = yield* S.serve(S.files().pipe(Layer.provide(policy)), protocols)
      const asked = yield* call(server, remove("/a"))
      yield* TestClock.adjust("1 minute")
      const late = yield* call(server, { ...remove("/a"), ...answering(approve, asked) })
      assert.strictEqual(late.resultType, "input_required")
      assert.deepStrictEqual(server.runs, [])
      yield* TestClock.adjust("59 seconds")
      yield* call(server, { ...remove("/a"), ...answering(approve, late) })
      assert.deepStrictEqual(server.runs, ["delete /a"])
    }))
})
