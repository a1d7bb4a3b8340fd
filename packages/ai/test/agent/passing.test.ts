/**
 * A new message while agents wait: what waits for a person is passed over, and what waits for the clock or a machine goes on, at
 * any depth as at the outermost level (law L6).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

/** What becomes of a tree that waits when somebody says something else, and of the hour that it waits for. */
const story = (way: S.Way, tree: Tree.Agent) =>
  Effect.gen(function*() {
    const play = yield* S.begin(way, tree)
    yield* play.begin
    const passed = yield* play.say("Something else?")
    const open = S.isHeld(way) ? [] : yield* play.conversation().pending()
    yield* TestClock.adjust("2 hours")
    yield* play.restart
    const woken = S.isHeld(way) ? yield* play.take([]) : yield* play.conversation().wake
    assert.deepStrictEqual(yield* play.refusals, [])
    const told = play.processes.at(-1)!.script.requests
    const last = (yield* told).map(({ prompt }) => JSON.stringify(prompt.content.at(-1)?.content)).at(-1) ?? ""
    return {
      passed: [passed.tag, passed.text, passed.requests.length],
      open: open.map(({ interaction }) => interaction),
      woken: woken?.text,
      isTold: last.includes("late-tool-result"),
      did: play.did.map((what) => what.split(":")[0]),
      left: S.isHeld(way) ? [] : yield* play.conversation().pending()
    }
  })

describe("a new message while agents wait for the clock alone", () => {
  S.inWays("L6 leaves them waiting, as any tool; what they come to is told when they do", function*(way) {
    const flat = yield* story(way, Tree.agent([Tree.wait]))
    assert.deepStrictEqual(flat.did, ["woke"])
    assert.isTrue(flat.isTold)
    assert.deepStrictEqual(yield* story(way, Tree.agent([Tree.inner([Tree.wait])])), flat)
    assert.deepStrictEqual(yield* story(way, Tree.agent([Tree.inner([Tree.inner([Tree.wait])])])), flat)
    assert.deepStrictEqual(yield* story(way, Tree.agent([Tree.team(Tree.agent([Tree.wait]))])), flat)
  }, ["send", "stream", "generateText"])

  it.effect("L6 supersedes one that asks a person too, whole: no model of it goes on", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.inner([Tree.wait]), Tree.pay])]))
      yield* play.begin
      const taken = yield* play.say("Something else?")
      assert.deepStrictEqual([taken.tag, taken.text, taken.requests], ["Completed", "Something else.", []])
      assert.deepStrictEqual(yield* play.conversation().pending(), [])
      const models = yield* S.calls(play)
      yield* TestClock.adjust("2 hours")
      yield* play.conversation().wake
      assert.strictEqual(yield* S.calls(play), models)
      assert.deepStrictEqual(play.did, [])
    }))

  it.effect("L6 supersedes what one of them has asked a person since", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.wait], [Tree.pay])]))
      yield* play.begin
      yield* play.say("Something else?")
      yield* TestClock.adjust("2 hours")
      yield* play.conversation().wake
      const [asked, ...more] = yield* play.conversation().pending()
      assert.deepStrictEqual([asked?.toolName, more], ["Pay", []])
      yield* play.say("And now?")
      assert.deepStrictEqual(yield* play.conversation().pending(), [])
      yield* S.refused(play, [S.answerTo(asked!, S.yes)], "AlreadyDecided")
      assert.deepStrictEqual(play.did, ["woke:r.00.00"])
      assert.deepStrictEqual(yield* play.refusals, [])
    }))

  it.effect("L14 says what it waits for in words that a model knows", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.pay]), Tree.inner([Tree.wait])]))
      yield* play.begin
      yield* play.say("Something else?")
      const prompts = yield* play.process().script.requests
      const said = JSON.stringify(prompts.map(({ prompt }) => prompt))
      assert.notInclude(said, "~agents")
      assert.include(said, "what its agents wait for")
      assert.strictEqual(World.agentOf(prompts.at(-1)!.prompt), "r")
    }))
})

describe("no new message while an agent asks one thing after the other", () => {
  it.effect("L6 it waits as the same request", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("send", Tree.agent([Tree.inner([Tree.pay], [Tree.pay])]))
      yield* play.begin
      const asked = Effect.map(play.conversation().history, ({ content }) =>
        content.flatMap((message) =>
          typeof message.content === "string"
            ? []
            : message.content.flatMap((part) =>
              part.type === "tool-approval-request" ? [part.approvalId] : []
            )
        ))
      const before = yield* asked
      const [first] = yield* play.conversation().pending()
      yield* play.take([], [S.answerTo(first!, S.yes)])
      const [second] = yield* play.conversation().pending()
      assert.notStrictEqual(second?.approvalId, first?.approvalId)
      assert.deepStrictEqual(yield* asked, before)
    }))
})
