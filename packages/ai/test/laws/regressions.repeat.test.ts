/**
 * L2 and L11: a run of an idempotent tool whose outcome is unknown is repeated only if everything that allowed it still
 * does, and never when somebody stopped it.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, ApprovalController, ApprovalPolicy } from "../../src/index.ts"
import { accidents, assertUnknown, begin, ran, shownOtherwise, staysAway } from "./repeats.ts"
import * as Support from "./support.ts"

const thousand = ran(1000)
const ten = ran(10)

for (const ending of accidents) {
  describe(`L2 L11 a run of an idempotent tool that ended in ${ending}`, () => {
    Support.forEachMode(`L2 after ${ending} it runs again, once, while all that allowed it holds`, function*(mode) {
      const { retry, tools } = yield* begin({ mode, ending })
      for (let i = 0; i < 3; i++) {
        const turn = yield* retry()
        assert.deepStrictEqual(turn.results.map((result) => result.result), ["paid"])
        assert.strictEqual(turn.text, "done")
      }
      assert.deepStrictEqual(tools.runs, [thousand, thousand])
    })

    const edit = ApprovalController.interactive((request) => Approval.approve(request, { params: { amount: 10 } }))

    Support.forEachMode(
      `L2 L11 after ${ending} of an edited call the original parameters never run, whoever answers now`,
      function*(mode) {
        const { retry, tools, yes } = yield* begin({ mode, ending, controller: edit })
        assert.deepStrictEqual(tools.runs, [ten])
        assertUnknown(yield* retry({ prompt: [] }))
        assertUnknown(yield* retry({ prompt: yes }))
        for (const controller of [edit, ApprovalController.approveAll]) {
          assertUnknown(
            yield* Effect.provideService(
              retry({ prompt: [] }),
              ApprovalController.ApprovalController,
              controller
            )
          )
        }
        assert.deepStrictEqual(tools.runs, [ten])
      }
    )

    Support.forEachMode(
      `L2 after ${ending} it runs again, once, where nobody's approval is in the history: what was claimed was approved`,
      function*(mode) {
        const { retry, tools } = yield* begin({ mode, ending })
        for (let i = 0; i < 2; i++) {
          const turn = yield* retry({ prompt: [] })
          assert.deepStrictEqual(turn.results.map((result) => result.result), ["paid"])
        }
        assert.deepStrictEqual(tools.runs, [thousand, thousand])
      }
    )

    Support.forEachMode(`L3 after ${ending} it does not run again where somebody says no to it`, function*(mode) {
      const { request, retry, tools } = yield* begin({ mode, ending })
      assertUnknown(yield* retry({ prompt: Support.answers(Approval.deny(request)) }))
      assert.deepStrictEqual(tools.runs, [thousand])
    })

    const policies: Record<string, () => ApprovalPolicy.Service> = {
      "blocks": () => ApprovalPolicy.make(() => Approval.blocked("paying is off")),
      "fails": () => ApprovalPolicy.make(() => Effect.fail("the database is down")),
      "dies": () =>
        ApprovalPolicy.make(() => {
          throw new Error("a mistake in the policy")
        })
    }
    for (const [how, policy] of Object.entries(policies)) {
      Support.forEachMode(
        `L11 after ${ending} it does not run again under a policy that ${how} by now`,
        function*(mode) {
          const { retry, tools } = yield* begin({ mode, ending })
          assertUnknown(yield* retry({ policy: policy() }))
          assert.deepStrictEqual(tools.runs, [thousand])
        }
      )
    }

    staysAway({ ending })

    Support.forEachMode(
      `L2 L11 after ${ending} it does not run again if the person would be shown something else`,
      (mode) => shownOtherwise({ mode, ending })
    )
  })
}

describe("L2 a run of an idempotent tool that somebody stopped", () => {
  Support.forEachMode("L2 Stop is final: an approved call is not run again by a retry of the turn", function*(mode) {
    const { retry, tools } = yield* begin({ mode, ending: "Stop" })
    for (let i = 0; i < 3; i++) assertUnknown(yield* retry())
    assertUnknown(yield* retry({ prompt: [] }))
    assert.deepStrictEqual(tools.runs, [thousand])
  })

  Support.forEachMode(
    "L2 Stop is final: an edited call is not run again, as it was edited or as it was proposed",
    function*(mode) {
      const edit = ApprovalController.interactive((request) => Approval.approve(request, { params: { amount: 10 } }))
      const { retry, tools, yes } = yield* begin({ mode, ending: "Stop", controller: edit })
      assertUnknown(yield* retry({ prompt: [] }))
      assertUnknown(yield* retry({ prompt: yes }))
      assertUnknown(
        yield* Effect.provideService(retry({ prompt: [] }), ApprovalController.ApprovalController, edit)
      )
      assert.deepStrictEqual(tools.runs, [ten])
    }
  )
})
