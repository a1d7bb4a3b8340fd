/** What agents say while they go on: to whoever reads the outermost turn, as preliminary results of its call, with the path. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import type { Response } from "../../src/index.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

const tree = Tree.agent([Tree.inner([Tree.inner([Tree.look], [Tree.pay]), Tree.look]), Tree.look])

/** What was told, as who said what. */
const toldIn = (parts: ReadonlyArray<Response.AnyPart>) =>
  parts.flatMap((part) =>
    part.type === "tool-result" && part.preliminary
      ? [{
        id: part.id,
        path: (part.metadata.assent as { readonly path?: unknown } | undefined)?.path,
        said: part.result
      }]
      : []
  )

const read = (play: S.Play, stream: Stream.Stream<Response.AnyPart, unknown>) =>
  Effect.map(Stream.runCollect(stream), (parts) => {
    assert.deepStrictEqual(StrictNames.of(parts), [])
    return { parts, told: toldIn(parts), did: play.did }
  })

/** A preliminary result is of a call that its reader knows. */
const StrictNames = {
  of: (parts: ReadonlyArray<Response.AnyPart>): ReadonlyArray<string> =>
    parts.flatMap((part) => part.type === "tool-result" && part.preliminary && part.id.includes("/") ? [part.id] : [])
}

describe("what an agent says while it goes on", () => {
  it.effect("L5 step by step is told at every depth, with the agents that led to it, as its outermost call", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("stream", tree, { tell: "steps" })
      const first = yield* read(play, play.conversation().stream(World.promptOf("r")))
      assert.sameDeepMembers(first.told, [
        { id: "c00", path: ["Agent"], said: "Agent(task='r.00.00'), Look(key='r.00.01')" },
        { id: "c00", path: ["Agent", "Agent"], said: "Look(key='r.00.00.00')" },
        { id: "c00", path: ["Agent", "Agent"], said: "Pay(key='r.00.00.10')" }
      ])
      yield* play.check()
      const answered = play.conversation().stream([], { answers: play.answersFor({ "r.00.00.10": S.yes }) })
      const second = yield* read(play, answered)
      const words = second.told.filter(({ said }) => String(said).startsWith("["))
      assert.deepStrictEqual(words, [
        { id: "c00", path: ["Agent", "Agent"], said: "[saw:r.00.00.00 paid:r.00.00.10]" },
        { id: "c00", path: ["Agent"], said: "[[saw:r.00.00.00 paid:r.00.00.10] saw:r.00.01]" }
      ])
      // None of it is kept, and no model reads it.
      const { content } = yield* play.conversation().history
      const results = content.flatMap((message) => message.role === "tool" ? message.content : []).filter(({ type }) =>
        type === "tool-result"
      )
      assert.lengthOf(results, 2)
      assert.deepStrictEqual(yield* play.refusals, [])
    }))

  it.effect("L5 as its words come, they grow", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("stream", Tree.agent([Tree.inner([Tree.look])]), { tell: "deltas" })
      const { told } = yield* read(play, play.conversation().stream(World.promptOf("r")))
      const words = told.map(({ said }) => String(said)).filter((said) => said.startsWith("["))
      assert.isAtLeast(words.length, 1)
      for (const [index, said] of words.entries()) assert.isTrue(said.startsWith(words[index - 1] ?? ""))
      assert.strictEqual(words.at(-1), "[saw:r.00.00]")
      assert.deepStrictEqual(new Set(told.map(({ path }) => JSON.stringify(path))), new Set([`["Agent"]`]))
    }))

  it.effect("L5 in a conversation of a tool's own handler has the name of that one behind the tool's", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("stream", Tree.agent([Tree.team(Tree.agent([Tree.look]), Tree.agent([Tree.pay]))]), {
        tell: "steps"
      })
      const { told } = yield* read(play, play.conversation().stream(World.promptOf("r")))
      assert.sameDeepMembers(
        told.filter(({ said }) => String(said).includes("(")),
        [
          { id: "c00", path: ["Team", "member0"], said: "Look(key='r.00#0.00')" },
          { id: "c00", path: ["Team", "member1"], said: "Pay(key='r.00#1.00')" }
        ]
      )
    }))

  it.effect("L5 is nobody's business where nothing is said of it", () =>
    Effect.gen(function*() {
      const play = yield* S.begin("stream", tree)
      assert.deepStrictEqual((yield* read(play, play.conversation().stream(World.promptOf("r")))).told, [])
    }))
})

describe("what a turn with agents says", () => {
  S.inWays("L5 is what they ask, and never that their call waits for them", function*(way) {
    const play = yield* S.begin(way, Tree.agent([Tree.inner([Tree.pay])]))
    const conversation = play.conversation()
    const content = way === "send"
      ? (yield* conversation.send(World.promptOf("r"))).content
      : yield* Stream.runCollect((yield* conversation.start(World.promptOf("r"))).parts)
    const asked = content.flatMap((part) => part.type === "tool-approval-request" ? [part.toolCallId] : [])
    assert.deepStrictEqual(asked, ["c00/c00"])
  }, ["send", "start"])
})
