/**
 * L4: where the key comes from: a layer, else `ASSENT_APPROVAL_KEY`, else one of this process.
 */
import { assert, describe } from "@effect/vitest"
import { ConfigProvider, Effect } from "effect"
import { Approval, ApprovalController, ApprovalSeal } from "../../src/index.ts"
import * as Sealing from "../sealing.ts"
import * as Support from "./support.ts"

const configured = (config: Record<string, string>) => <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(
    // Under the layer of the test, as if there were none.
    Effect.provideService(ApprovalSeal.ApprovalSeal, defaultSeal),
    Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromUnknown(config))
  )

const defaultSeal = ApprovalSeal.ApprovalSeal.defaultValue()

const inLayer = (key: string) => Effect.provide(ApprovalSeal.layer({ key }))

const otherKey = "another key, also of 32 bytes or more"

const begin = (
  mode: Support.Mode,
  asked: (turn: Effect.Effect<Support.Turn, any>) => Effect.Effect<Support.Turn, any>
) =>
  Effect.gen(function*() {
    const tools = yield* Support.makeTools()
    const calls = [Support.call("c1", "DeleteFile", { path: "a" })]
    const { history, requests } = yield* asked(Support.ask(mode, { toolkit: tools.toolkit, calls }))
    const { model } = yield* Support.answering
    const prompt = Support.answers(Approval.approve(requests[0]!))
    return { approve: Support.takeTurn(mode, { model, toolkit: tools.toolkit, history, prompt }), tools }
  })

describe("L4 who is told that there is no key", () => {
  Support.forEachMode(
    "L4 nobody, where a controller answers inline; once, where a request is left open",
    function*(mode) {
      yield* Sealing.restart
      const { layer, lines } = yield* Sealing.recordLogs
      const tools = yield* Support.makeTools()
      const ask = (id: string) =>
        Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call(id, "DeleteFile", { path: id })] }).pipe(
          configured({}),
          Effect.provide(layer)
        )
      yield* ask("c1").pipe(Effect.provide(ApprovalController.layerInteractive(() => true)))
      assert.lengthOf(tools.runs, 1)
      assert.deepStrictEqual(lines, [])
      yield* ask("c2")
      yield* ask("c3")
      assert.lengthOf(lines, 1)
      assert.match(lines[0]!, /random key/)
    }
  )
})

describe("L4 where the key comes from", () => {
  Support.forEachMode("L4 ASSENT_APPROVAL_KEY and a layer with the same text are one key", function*(mode) {
    const fromConfig = yield* begin(mode, configured({ ASSENT_APPROVAL_KEY: Support.key }))
    yield* fromConfig.approve.pipe(inLayer(Support.key))
    const fromLayer = yield* begin(mode, inLayer(Support.key))
    yield* fromLayer.approve.pipe(configured({ ASSENT_APPROVAL_KEY: Support.key }))
    assert.deepStrictEqual([fromConfig.tools.runs.length, fromLayer.tools.runs.length], [1, 1])
  })

  Support.forEachMode("L4 what one configuration sealed, another does not know", function*(mode) {
    const { approve, tools } = yield* begin(mode, configured({ ASSENT_APPROVAL_KEY: Support.key }))
    for (const config of [{ ASSENT_APPROVAL_KEY: otherKey }, {}] as Array<Record<string, string>>) {
      const turn = yield* approve.pipe(configured(config))
      assert.match(Support.failureReason(turn.results[0]), /restart/)
    }
    assert.deepStrictEqual(tools.runs, [])
  })

  Support.forEachMode(
    "L4 without a key, this process knows its own requests, and no configured key does",
    function*(mode) {
      const { approve, tools } = yield* begin(mode, configured({}))
      const refused = yield* approve.pipe(inLayer(otherKey))
      assert.match(Support.failureReason(refused.results[0]), /restart/)
      assert.deepStrictEqual(tools.runs, [])
      yield* approve.pipe(configured({}))
      assert.strictEqual(tools.runs.length, 1)
    }
  )

  Support.forEachMode("L4 a key that cannot be used is a typed error, and shows nothing of it", function*(mode) {
    const tools = yield* Support.makeTools()
    const turn = Support.ask(mode, {
      toolkit: tools.toolkit,
      calls: [Support.call("c1", "DeleteFile", { path: "a" })]
    })
    const reason = yield* Support.reasonOf(turn.pipe(configured({ ASSENT_APPROVAL_KEY: "s3cr3t but short" })))
    assert.strictEqual(reason._tag, "InvalidKey")
    assert.notInclude(JSON.stringify(reason), "s3cr3t")
    assert.deepStrictEqual(tools.runs, [])
  })
})
