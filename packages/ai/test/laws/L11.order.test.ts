/**
 * L11 and L4 among the calls of one response: what is asked, run and answered from memory follows the order of the calls,
 * however long anybody's policy or presenter takes over each of them.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Fiber, type Scope } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalMatcher,
  ApprovalMemory,
  ApprovalPolicy,
  type Prompt,
  Tool
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "./support.ts"

const paths = ["a", "b", "c"] as const

const calls = paths.map((path) => Support.call(path, "DeleteFile", { path }))

/** How long it takes over each call, in milliseconds: every order in which they can come to an end. */
const delays = [[30, 20, 10], [30, 10, 20], [20, 30, 10], [10, 30, 20], [20, 10, 30], [10, 20, 30]] as const

/** Who takes that long. */
const slow = ["the policy", "the presenter"] as const

/** Carries it out while the clock goes on by itself. */
const advancing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    assert.isTrue(yield* Support.advance(fiber, "10 millis", 100), "it came to its end")
    return yield* Fiber.join(fiber)
  })

interface Story {
  readonly mode: Support.Mode
  readonly times: readonly [number, number, number]
  readonly slow: (typeof slow)[number]
  readonly rememberable?: boolean
}

const begin = Effect.fnUntraced(function*({ mode, rememberable = false, slow, times }: Story) {
  const pause = (path: string) => Effect.sleep(times[paths.indexOf(path as "a")]!)
  const presented = Tool.present(Support.DeleteFile, ({ path }) =>
    Effect.as(
      slow === "the presenter" ? pause(path) : Effect.void,
      new Approval.ApprovalPresentation({ type: "text", content: `delete ${path}` })
    ))
  const tools = yield* Support.makeTools([presented], {
    DeleteFile: () => Effect.as(Effect.sleep(1), { deleted: true })
  })
  const policy = ApprovalPolicy.make(({ encodedParams }) =>
    Effect.as(
      slow === "the policy" ? pause((encodedParams as { readonly path: string }).path) : Effect.void,
      Approval.needsApproval({ rememberable })
    )
  )
  const script = yield* ScriptedModel.make({ turns: [calls], afterLastTurn: "done" })
  const chat = yield* Support.converse(mode, { model: script.model, toolkit: tools.toolkit })
  const take = (prompt?: Prompt.RawInput) =>
    advancing(chat.take(prompt)).pipe(Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy))
  return { take, ran: () => tools.runs.map(({ params }) => (params as { readonly path: string }).path) }
})

const forEachOrder = (
  title: string,
  story: (story: Story) => Effect.Effect<unknown, unknown, Scope.Scope>
): void => {
  for (const who of slow) {
    Support.forEachMode(
      `${title}, however long ${who} takes over each`,
      (mode) =>
        Effect.forEach(
          // Under Chat it is the same engine: of its orders two are enough.
          mode.startsWith("Chat") ? delays.slice(0, 2) : delays,
          (times) => Support.fresh(story({ mode, slow: who, times })),
          { discard: true }
        )
    )
  }
}

const person = (parallel: boolean, answer: (request: Approval.ApprovalRequest) => ApprovalController.Reply) => {
  const seen: Array<string> = []
  const controller = ApprovalController.interactive(
    (request) => (seen.push(request.toolCallId), answer(request)),
    { parallel }
  )
  return { seen, answers: Effect.provideService(ApprovalController.ApprovalController, controller) }
}

describe("L4 calls that were approved by what was shown of them", () => {
  for (const order of ["in order", "the last first"] as const) {
    forEachOrder(
      `L4 approved from a history, ${order}, they run in the order of the calls`,
      (story) =>
        Effect.gen(function*() {
          const { ran, take } = yield* begin(story)
          const { requests } = yield* take("Go on.")
          assert.deepStrictEqual(requests.map(({ toolCallId }) => toolCallId), [...paths])
          const answers = requests.map((request) => Approval.approve(request))
          yield* take(Support.answers(...(order === "in order" ? answers : answers.toReversed())))
          assert.deepStrictEqual(ran(), [...paths], story.times.join())
        })
    )
  }

  for (const parallel of [false, true]) {
    const how = parallel ? "who is asked several things at once" : "who is asked one thing after the other"
    forEachOrder(
      `L4 approved at once by a person ${how}, they are asked and run in the order of the calls`,
      (story) =>
        Effect.gen(function*() {
          const { ran, take } = yield* begin(story)
          const { answers, seen } = person(parallel, () => true)
          const turn = yield* answers(take("Go on."))
          assert.deepStrictEqual([seen, ran()], [[...paths], [...paths]], story.times.join())
          assert.deepStrictEqual(turn.requests, [])
        })
    )

    forEachOrder(
      `L4 open for a person ${how}, they are asked and run in the order of the calls`,
      (story) =>
        Effect.gen(function*() {
          const { ran, take } = yield* begin(story)
          yield* take("Go on.")
          const { answers, seen } = person(parallel, () => true)
          yield* answers(take())
          assert.deepStrictEqual([seen, ran()], [[...paths], [...paths]], story.times.join())
        })
    )
  }
})

/** One approval of every file is remembered, for one call. */
const assertOneUse = Effect.flatMap(ApprovalMemory.ApprovalMemory, (memory) =>
  Effect.gen(function*() {
    const seen = yield* memory.list({ conversation: "talk" })
    assert.lengthOf(seen, 1)
    assert.strictEqual(seen[0]!.uses, 1)
  }))

const once = { covers: ApprovalMatcher.tool.description, uses: 1 }

/** In a conversation in which one more file may be deleted: another one was, and its approval is remembered for one. */
const withOneUse = <A, E, R>(story: Story, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function*() {
    const first = yield* ScriptedModel.make({
      turns: [[Support.call("z", "DeleteFile", { path: "z" })]],
      afterLastTurn: "done"
    })
    const tools = yield* Support.makeTools([
      Tool.present(
        Support.DeleteFile,
        ({ path }) => new Approval.ApprovalPresentation({ type: "text", content: `delete ${path}` })
      )
    ])
    yield* Support.takeTurn(story.mode, { model: first.model, toolkit: tools.toolkit, prompt: "Go on." }).pipe(
      Effect.provideService(
        ApprovalController.ApprovalController,
        ApprovalController.interactive((request) => Approval.approve(request, { remember: once }))
      ),
      Effect.provideService(
        ApprovalPolicy.ApprovalPolicy,
        ApprovalPolicy.make(() => Approval.needsApproval({ rememberable: true }))
      )
    )
    assert.strictEqual(tools.runs.length, 1)
    yield* assertOneUse
    return yield* effect
  }).pipe(
    Effect.provide(ApprovalMemory.layerSession()),
    Effect.provideService(Approval.Scope, { conversation: "talk" })
  )

describe("L11 a remembered approval that has one use left", () => {
  forEachOrder("L11 the first of three calls gets it, and the others are asked about", (story) =>
    withOneUse(
      story,
      Effect.gen(function*() {
        const { ran, take } = yield* begin({ ...story, rememberable: true })
        const turn = yield* take("Go on.")
        assert.deepStrictEqual([ran(), turn.requests.map(({ toolCallId }) => toolCallId)], [["a"], ["b", "c"]])
      })
    ))

  for (const parallel of [false, true]) {
    const how = parallel ? "at once" : "one after the other"
    forEachOrder(
      `L11 the first of three calls gets it, and a person is asked about the others, ${how}`,
      (story) =>
        withOneUse(
          story,
          Effect.gen(function*() {
            const { ran, take } = yield* begin({ ...story, rememberable: true })
            const { answers, seen } = person(parallel, (request) => Approval.deny(request, "keep it"))
            const turn = yield* answers(take("Go on."))
            assert.deepStrictEqual([ran(), seen, turn.requests], [["a"], ["b", "c"], []])
          })
        )
    )
  }

  forEachOrder(
    "L4 the call that gets it, and was shown, runs in its place among those that were approved",
    (story) =>
      Effect.gen(function*() {
        const { ran, take } = yield* begin({ ...story, rememberable: true })
        const [a, , c] = (yield* take("Go on.")).requests
        const answers = Support.answers(Approval.approve(c!), Approval.approve(a!))
        const turn = yield* withOneUse(story, take(answers))
        assert.deepStrictEqual([ran(), turn.requests], [[...paths], []], story.times.join())
      }).pipe(Effect.provideService(Approval.Scope, { conversation: "talk" }))
  )

  forEachOrder(
    "L11 the first of three open requests gets it, when it is remembered meanwhile",
    (story) =>
      Effect.gen(function*() {
        const { ran, take } = yield* begin({ ...story, rememberable: true })
        const asked = yield* take("Go on.")
        assert.lengthOf(asked.requests, 3)
        const turn = yield* withOneUse(story, take())
        assert.deepStrictEqual([ran(), turn.requests.map(({ toolCallId }) => toolCallId)], [["a"], ["b", "c"]])
      }).pipe(Effect.provideService(Approval.Scope, { conversation: "talk" }))
  )
})
