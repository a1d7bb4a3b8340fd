/** Agents of a program that keeps its histories itself: what waits for the clock in them wakes it, as any tool's timer does. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { SuspensionStore } from "../../src/index.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"

/** Whom a timer of the tree wakes, once it is due, and what comes of the history that is sent again for it. */
const story = (tree: Tree.Agent) =>
  Effect.gen(function*() {
    const play = yield* S.begin("generateText", tree)
    const { requests } = yield* play.take("Task r")
    const [request, ...more] = requests
    assert.deepStrictEqual(more, [])
    const woken: Array<SuspensionStore.Suspension> = []
    yield* TestClock.adjust("2 hours")
    yield* play.restart
    yield* play.process().serving(
      SuspensionStore.wakeDue((suspension) =>
        Effect.suspend(() => {
          woken.push(suspension)
          // By its id it is found in the histories of the program.
          return JSON.stringify(play.history()).includes(suspension.approvalId) ? play.take([]) : Effect.void
        })
      )
    )
    assert.deepStrictEqual(woken.map(({ approvalId }) => approvalId), [request!.approvalId])
    assert.deepStrictEqual(yield* play.refusals, [])
    return { scope: woken[0]!.scope, said: JSON.stringify(play.history().content.at(-1)), did: play.did.length }
  })

describe("a timer in an agent of a history that the program keeps", () => {
  for (
    const [where, tree] of [
      ["one level deep", Tree.agent([Tree.inner([Tree.wait])])],
      ["two levels deep", Tree.agent([Tree.inner([Tree.inner([Tree.wait])])])],
      ["in a tool that talks to agents", Tree.agent([Tree.team(Tree.agent([Tree.wait]))])]
    ] as const
  ) {
    it.effect(`L2 ${where} names no conversation that nobody can open, and goes on with the history`, () =>
      Effect.gen(function*() {
        const flat = yield* story(Tree.agent([Tree.wait]))
        const deep = yield* story(tree)
        assert.deepStrictEqual(flat.scope, {})
        assert.deepStrictEqual(deep.scope, flat.scope)
        assert.strictEqual(deep.did, 1)
        assert.include(deep.said, "woke:")
      }))
  }
})
