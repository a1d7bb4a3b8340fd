/**
 * Questions of different conversations: none waits for another, and within each they come one at a time, in their order;
 * one person at one screen is asked one thing at a time, whoever asks.
 */
import { assert, describe } from "@effect/vitest"
import { Context, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController } from "../../src/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"
import { idle } from "./support.ts"

const answeredBy = (controller: ApprovalController.Service) =>
  Effect.provideService(ApprovalController.ApprovalController, controller)

const scopes: ReadonlyArray<Approval.ApprovalScope> = [
  { conversation: "one" },
  { conversation: "two" },
  { conversation: "one", principal: "bob" },
  { conversation: "one", tenant: "other" }
]

/** Each in a conversation of its own, two files each; every answer takes a second, and the first of all a minute. */
const turns = (way: C.Way, controller: ApprovalController.Service, where: ReadonlyArray<Approval.ApprovalScope>) =>
  Effect.forEach(where, (scope, index) =>
    Effect.gen(function*() {
      const { chat, runs } = yield* M.deleting(way, [[`${index}a`, `${index}b`]])
      const turn = chat.send("go").pipe(answeredBy(controller), Effect.provideService(Approval.Scope, scope))
      return { runs, turn: yield* Effect.forkChild(turn) }
    }))

const asker = (options?: Partial<ApprovalController.Service>) => {
  const seen: Array<string> = []
  const controller: ApprovalController.Service = {
    ...ApprovalController.interactive((request) => {
      seen.push(M.pathOf(request))
      return Effect.as(Effect.sleep(M.pathOf(request) === "0a" ? "1 minute" : "1 second"), true)
    }),
    ...options
  }
  return { controller, seen }
}

const pass = (time: Parameters<typeof TestClock.adjust>[0]) => Effect.andThen(TestClock.adjust(time), idle)

describe("a controller: questions of different conversations", () => {
  C.everyWay("never wait for each other; those of one are asked one at a time, in their order", function*(way) {
    const { controller, seen } = asker()
    const [first, ...others] = yield* turns(way, controller, scopes)
    yield* idle
    assert.deepStrictEqual(seen, ["0a", "1a", "2a", "3a"])
    yield* pass("1 second")
    assert.deepStrictEqual(seen.slice(4), ["1b", "2b", "3b"])
    yield* pass("1 second")
    for (const { runs, turn } of others) {
      yield* Fiber.join(turn)
      assert.lengthOf(runs, 2)
    }
    assert.deepStrictEqual([seen.length, first!.runs], [7, []])
    yield* pass("1 minute")
    yield* pass("1 second")
    yield* Fiber.join(first!.turn)
    assert.deepStrictEqual([seen.at(-1), first!.runs.length], ["0b", 2])
  })

  /** The second of two turns waits until the first was answered. */
  const oneAtATime = Effect.fnUntraced(function*(
    way: C.Way,
    scopes: ReadonlyArray<Approval.ApprovalScope>,
    options?: Parameters<typeof asker>[0]
  ) {
    const { controller, seen } = asker(options)
    const started = yield* turns(way, controller, scopes)
    yield* idle
    assert.deepStrictEqual(seen, ["0a"])
    yield* pass("1 minute")
    for (let step = 0; step < 3; step++) yield* pass("1 second")
    yield* Effect.forEach(started, ({ turn }) => Fiber.join(turn))
    assert.lengthOf(seen, 4)
  })

  C.everyWay("two turns of one conversation, and all without a name, are asked one at a time", function*(way) {
    for (const scope of [{ conversation: "one" }, {}]) yield* oneAtATime(way, [scope, { ...scope }])
  })

  C.everyWay("are asked one at a time of a controller that says they are one person", function*(way) {
    const ada = {}
    yield* oneAtATime(way, scopes.slice(0, 2), { personOf: () => ada })
  })

  C.everyWay("stand in lists of their own", function*(way) {
    const seen: Array<ReadonlyArray<string>> = []
    const controller = ApprovalController.batch((requests) => {
      seen.push(requests.map(M.pathOf))
      return Effect.as(Effect.sleep(seen.length === 1 ? "1 minute" : "1 second"), requests.map(() => true))
    })
    const [first, second] = yield* turns(way, controller, scopes.slice(0, 2))
    yield* idle
    yield* pass("10 millis")
    assert.deepStrictEqual(seen, [["0a", "0b"], ["1a", "1b"]])
    yield* pass("1 second")
    yield* Fiber.join(second!.turn)
    assert.deepStrictEqual([first!.runs.length, second!.runs.length], [0, 2])
    yield* pass("1 minute")
    yield* Fiber.join(first!.turn)
  })

  C.everyWay("may be asked from within one another, both ways: nobody waits for ever", function*(way) {
    const within = Context.Reference<boolean>("test/within", { defaultValue: () => false })
    const other = { one: "two", two: "one" } as const
    const controller: ApprovalController.Service = ApprovalController.interactive(() =>
      Effect.gen(function*() {
        const { conversation } = yield* Approval.Scope
        if (yield* within) return true
        yield* Effect.sleep("1 second")
        yield* ApprovalController.request({ name: "may I?" }).pipe(
          answeredBy(controller),
          Effect.provideService(Approval.Scope, { conversation: other[conversation as keyof typeof other] }),
          Effect.provideService(within, true)
        )
        return true
      })
    )
    const started = yield* turns(way, controller, scopes.slice(0, 2))
    yield* idle
    yield* pass("1 second")
    yield* pass("1 second")
    for (const { runs, turn } of started) {
      yield* Fiber.join(turn)
      assert.lengthOf(runs, 2)
    }
  })
})
