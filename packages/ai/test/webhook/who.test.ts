/** L16: who calls a webhook is what the program has verified, and nobody known where it has verified nothing. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approver, type Webhook } from "../../src/index.ts"
import * as S from "./support.ts"

const bank = { id: "bank-1", name: "The bank" }

const hook = <E>(by?: Webhook.Options<E>["by"]): Webhook.Options => ({ wake: () => Effect.void, by })

describe("L16 a webhook", () => {
  it.effect("is answered by nobody known, whatever the body and the headers say", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const body = JSON.stringify({ id: "p-1", amount: "20", by: bank, decidedBy: { ...bank, via: "webhook" } })
      assert.strictEqual((yield* S.call(world, hook(), { body, headers: { "x-by": "bank-1" } })).status, 202)
      yield* world.conversation.wake
      assert.deepStrictEqual(world.deciders, [new Approver.DecidedBy({ via: "webhook" })])
    }))

  it.effect("is answered by whom the program has verified, by the headers or by the body", () =>
    Effect.gen(function*() {
      const signed: Webhook.Options["by"] = (request) =>
        Effect.map(request.text, (body) => request.headers["x-signature"] === String(body.length) ? bank : undefined)
      for (const [signature, person] of [[String(S.good.length), bank], ["1", {}]] as const) {
        const world = yield* S.makeWorld()
        const { status } = yield* S.call(world, hook(signed), { headers: { "x-signature": signature } })
        assert.strictEqual(status, 202)
        const outcome = yield* world.conversation.wake
        assert.deepStrictEqual(world.deciders, [new Approver.DecidedBy({ ...person, via: "webhook" })])
        const result = outcome?.content.find(({ type }) => type === "tool-result")
        assert.deepInclude(result?.metadata.assent, { decidedBy: { ...person, via: "webhook" } })
      }
    }))

  it.effect("is answered by whom the tool named, and by nobody else", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld({ approvers: ["bank-1", "bank-2"] })
      for (const by of [undefined, () => Effect.undefined, () => Effect.succeed({ id: "bank-3" })]) {
        assert.strictEqual((yield* S.call(world, hook(by))).status, 403)
      }
      assert.lengthOf(yield* world.conversation.pending("webhook"), 1)
      assert.strictEqual((yield* S.call(world, hook(() => Effect.succeed(bank)))).status, 202)
      yield* world.conversation.wake
      assert.deepStrictEqual(world.deciders, [new Approver.DecidedBy({ ...bank, via: "webhook" })])
    }))

  it.effect("takes nothing from whoever the program refuses, and tells nobody why", () =>
    Effect.gen(function*() {
      const world = yield* S.makeWorld()
      const refused = yield* S.call(world, hook(() => Effect.fail("the secret is 42")))
      assert.strictEqual(refused.status, 403)
      assert.notInclude(refused.body, "42")
      const broken = yield* S.call(world, hook(() => Effect.die("the secret is 42")))
      assert.deepStrictEqual([broken.status, broken.body.includes("42")], [503, false])
      assert.lengthOf(yield* world.conversation.pending("webhook"), 1)
      assert.strictEqual((yield* S.call(world, hook(() => Effect.succeed(bank)))).status, 202)
      yield* world.conversation.wake
      assert.deepStrictEqual(world.deciders, [new Approver.DecidedBy({ ...bank, via: "webhook" })])
    }))
})
