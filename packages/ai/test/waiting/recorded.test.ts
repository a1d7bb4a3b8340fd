/** L2 for tools that wait: what the journal has on record is told from there, whatever became of the rest. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { ApprovalError, DeferredTool, SuspensionStore } from "../../src/index.ts"
import * as Support from "./support.ts"

const unavailable = ApprovalError.make(
  new ApprovalError.SuspensionsUnavailable({ description: "the store is down" })
)

describe("a run that waited and came to its end", () => {
  Support.inEachMode(
    "L2 its result is given again while nobody can reach what it remembered",
    (mode) =>
      Effect.gen(function*() {
        const calls = [Support.call("c1", "Menu", { kind: "external" })]
        const { chat, first, names, toolkit } = yield* Support.begin(mode, calls)
        yield* DeferredTool.deliver(Support.Menu, "external", Support.only(first), { paid: 20 })
        yield* chat.take([])
        const store = yield* SuspensionStore.SuspensionStore
        const { model } = yield* Support.answering
        const again = yield* Support.takeTurn(mode, { model, toolkit, history: first.history }).pipe(
          Effect.provideService(SuspensionStore.SuspensionStore, { ...store, find: () => Effect.fail(unavailable) })
        )
        assert.deepStrictEqual([Support.resultsOf(again), again.text], [[["c1", { paid: 20 }]], "done"])
        assert.deepStrictEqual(names(), ["start", "external"])
      })
  )
})
