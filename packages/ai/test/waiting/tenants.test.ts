/** Whose request it is: what one tenant's program tells never reaches another's tool. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, DeferredTool } from "../../src/index.ts"
import * as Support from "./support.ts"

describe("deliver", () => {
  Support.once(
    "is for the tenant, principal and conversation that it is called for, where it is called for any",
    function*() {
      const own = { tenant: "t1", principal: "p1", conversation: "c1" }
      const { first } = yield* Support.begin("generateText", [Support.call("call-1", "Menu", { kind: "external" })])
        .pipe(
          Effect.provideService(Approval.Scope, own)
        )
      const request = Support.only(first)
      const deliver = DeferredTool.deliver(Support.Menu, "external", request, { paid: 20 })
      for (const other of [{ tenant: "t2" }, { ...own, principal: "p2" }, { conversation: "c2" }]) {
        const error = yield* Effect.flip(Effect.provideService(deliver, Approval.Scope, other))
        assert.strictEqual(error.reason._tag, "UnknownApproval")
      }
      yield* Effect.provideService(deliver, Approval.Scope, { tenant: "t1" })
    }
  )
})
