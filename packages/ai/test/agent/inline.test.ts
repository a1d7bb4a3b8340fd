/** Somebody who is asked while a turn goes on: what they see of an agent's request is what everybody else sees of it (law L4). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Stream } from "effect"
import { type Approval, ApprovalController, ApprovalEvents } from "../../src/index.ts"
import * as S from "./support.ts"
import * as Tree from "./tree.ts"
import * as World from "./world.ts"

const shown = (
  { approvalId, description, params, path, presentation, toolCallId, toolName }: Approval.ApprovalRequest
) => ({
  approvalId,
  description,
  params,
  path: path ?? [],
  presentation: presentation?.content,
  toolCallId,
  toolName
})

const tree = Tree.agent([
  Tree.gated([Tree.inner([Tree.pay, Tree.ask]), Tree.pay]),
  Tree.team(Tree.agent([Tree.pay]), Tree.agent([Tree.pay])),
  Tree.pay
])

describe("a controller", () => {
  S.inWays(
    "L4 sees each request with the id that it has in pending, and tells calls of one id at all levels apart",
    function*(way) {
      // It leaves everything open first, and approves it in another turn.
      const asked = new Map<string, Approval.ApprovalRequest>()
      const play = yield* S.begin(way, tree)
      const byCall = new Map<string, string>()
      const look = ApprovalController.layerInteractive((request) =>
        Effect.sync(() => {
          asked.set(request.approvalId, request)
          byCall.set([...request.path ?? [], request.toolCallId].join(" > "), request.approvalId)
          return { _tag: "Info" as const, note: "I look." }
        })
      )
      const first = yield* Effect.provide(play.take(World.promptOf(Tree.rootKey)), look)
      play.problems(first.requests)
      assert.isAbove(first.requests.length, 3)
      yield* Effect.provide(play.take([], play.answersFor({ "r.00": S.yes })), look)
      const open = yield* Effect.provide(play.pending, look)
      assert.isAbove(open.filter(({ path = [] }) => path.length > 1).length, 2)
      for (const request of open) {
        const seen = asked.get(request.approvalId)
        if (seen !== undefined) assert.deepStrictEqual(shown(seen), shown(request))
      }
      assert.sameMembers([...byCall.values()], [...asked.keys()])
    }
  )

  it.effect("L4 that approves all of a tree is asked under the ids of its calls from outside in", () =>
    Effect.gen(function*() {
      const ids: Array<string> = []
      const play = yield* S.begin("send", Tree.threeLevels)
      yield* Effect.provide(
        play.take(World.promptOf(Tree.rootKey)),
        ApprovalController.layerInteractive(({ toolCallId }) => {
          ids.push(toolCallId)
          return true
        })
      )
      assert.sameMembers(ids, ["c00/c00/c00", "c00/c01", "c01"])
    }))
})

describe("an event", () => {
  it.effect("L4 has the request as it is shown", () =>
    Effect.gen(function*() {
      const seen = yield* Effect.forkChild(
        ApprovalEvents.stream.pipe(
          Stream.filter((event) => event._tag === "Requested"),
          Stream.take(4),
          Stream.runCollect
        ),
        { startImmediately: true }
      )
      yield* S.idle
      const play = yield* S.begin(
        "send",
        Tree.agent([Tree.inner([Tree.inner([Tree.pay, Tree.ask]), Tree.pay]), Tree.pay])
      )
      yield* play.begin
      const told = new Map((yield* Fiber.join(seen)).map(({ request }) => [request.approvalId, request]))
      for (const request of yield* play.pending) {
        assert.deepStrictEqual(shown(told.get(request.approvalId)!), shown(request))
      }
    }))
})
