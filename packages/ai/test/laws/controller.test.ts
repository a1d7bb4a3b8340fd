/**
 * Whoever answers inline (`async-callbacks.md`; `blocking-wrapper.md`): asked one thing at a time unless they say
 * otherwise, or about all calls of a response in one list; what they do not answer stays open, and nothing runs.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, type Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalController, Prompt } from "../../src/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"
import { advance, idle, makeHold } from "./support.ts"

const withController = (controller: ApprovalController.Service) =>
  Effect.provideService(ApprovalController.ApprovalController, controller)

/** Takes a second for each answer, and says how many were asked at once. */
const slow = () => {
  const state = { open: 0, most: 0 }
  const answer = () =>
    Effect.gen(function*() {
      state.most = Math.max(state.most, ++state.open)
      yield* Effect.sleep("1 second")
      state.open--
      return true
    })
  return { answer, state }
}

const ended = <A, E>(effect: Effect.Effect<A, E>, step: Duration.Input = "1 second"): Effect.Effect<A, E> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    assert.isTrue(yield* advance(fiber, step), "it never ended")
    return yield* Fiber.join(fiber)
  })

describe("a controller: one question at a time", () => {
  C.everyWay("the calls of one response are asked one after the other, in their order", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a", "b", "c"]])
    const { answer, state } = slow()
    const ada = M.person(answer)
    yield* ended(ada.answers(chat.send("go")))
    assert.deepStrictEqual([state.most, ada.seen, runs.length], [1, ["a", "b", "c"], 3])
  })

  C.everyWay("and so are those of turns that go on at once", function*(way) {
    const chats = yield* Effect.forEach(["a", "b", "c"], (path) => M.deleting(way, [[path, `${path}2`]]))
    const { answer, state } = slow()
    const ada = M.person(answer)
    yield* ended(
      Effect.forEach(chats, ({ chat }) => ada.answers(chat.send("go")), { concurrency: "unbounded" })
    )
    assert.deepStrictEqual([state.most, ada.seen.length], [1, 6])
  })

  C.everyWay("two controllers are two people: neither waits for the other", function*(way) {
    const first = yield* M.deleting(way, [["a"]])
    const second = yield* M.deleting(way, [["b"]])
    const hold = yield* makeHold
    const asking = yield* Effect.forkChild(M.person(() => Effect.as(hold.wait, true)).answers(first.chat.send("go")))
    yield* hold.entered
    yield* M.person(() => true).answers(second.chat.send("go"))
    assert.deepStrictEqual([first.runs, second.runs], [[], ["delete b"]])
    yield* hold.release
    yield* Fiber.join(asking)
    assert.deepStrictEqual(first.runs, ["delete a"])
  })

  C.everyWay("`parallel: true` asks them all at once", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a", "b", "c"]])
    const { answer, state } = slow()
    yield* ended(M.person(answer, { parallel: true }).answers(chat.send("go")))
    assert.deepStrictEqual([state.most, runs.length], [3, 3])
  })

  C.everyWay(
    "a remembered answer is not asked again for an identical call of the same response",
    (way) =>
      Effect.gen(function*() {
        for (const named of [true, false]) {
          const { chat, runs } = yield* M.deleting(way, [["a", "b", "a", "a"]])
          const ada = M.person((request) => M.pathOf(request) === "a" ? M.yes("session") : M.no("not b", "session"))
          const turn = ada.answers(chat.send("go"))
          yield* named ? M.inConversation("talk")(turn) : turn
          assert.deepStrictEqual([ada.seen, runs], [["a", "b"], ["delete a", "delete a", "delete a"]])
        }
      }).pipe(Effect.provide(M.session))
  )

  C.everyWay("a remembered no is not asked again either, and the siblings read why", (way) =>
    Effect.gen(function*() {
      const { chat, runs } = yield* M.deleting(way, [["a", "a"]])
      const ada = M.person(() => M.no("not a", "session"))
      const turn = yield* ada.answers(chat.send("go"))
      assert.deepStrictEqual([ada.seen, runs], [["a"], []])
      for (const result of turn.results) assert.include(C.reasonOf(result), "not a")
      assert.lengthOf(turn.results, 2)
    }).pipe(Effect.provide(M.session)))

  C.everyWay("an answer that is not to be remembered is asked again for each", (way) =>
    Effect.gen(function*() {
      const { chat } = yield* M.deleting(way, [["a", "a"]])
      const ada = M.person(() => true)
      yield* ada.answers(chat.send("go"))
      assert.deepStrictEqual(ada.seen, ["a", "a"])
    }).pipe(Effect.provide(M.session)))
})

describe("a controller: left in the middle of a question", () => {
  C.everyWay(
    "a callback that never ends: whoever stops waiting runs nothing, and the request is as it was",
    function*(way) {
      const { chat, runs } = yield* M.deleting(way, [["a"], ["a"]])
      const hold = yield* makeHold
      let ended = 0
      const stuck = M.person(() => Effect.as(Effect.onInterrupt(hold.wait, () => Effect.sync(() => ended++)), true))
      const asking = yield* Effect.forkChild(Effect.exit(stuck.answers(Effect.timeout(chat.send("go"), "1 minute"))))
      yield* hold.entered
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(asking)
      yield* idle
      assert.deepStrictEqual([runs, ended], [[], 1])
      // The next turn asks the same controller anew: nobody holds its turn.
      yield* hold.release
      yield* stuck.answers(chat.send("again"))
      assert.lengthOf(runs, 1)
    }
  )
})

describe("a controller: a batch", () => {
  // A step at a time, so that whatever takes real time is done before the window is over.
  const moment = "1 millis"

  const batch = (callback: Parameters<typeof ApprovalController.batch>[0]) => {
    const shown: Array<ReadonlyArray<string>> = []
    const controller = ApprovalController.batch((requests, options) => {
      shown.push(requests.map(M.pathOf))
      return callback(requests, options)
    })
    return { shown, answers: withController(controller) }
  }

  C.everyWay("all calls of a response are shown together, in their order", (way) =>
    Effect.gen(function*() {
      for (let i = 0; i < 5; i++) {
        const { chat, runs } = yield* M.deleting(way, [["a", "b", "c", "d"]])
        const { answers, shown } = batch((requests) => requests.map((request) => M.pathOf(request) !== "c"))
        const turn = yield* ended(answers(chat.send("go")), moment)
        assert.deepStrictEqual(shown, [["a", "b", "c", "d"]])
        assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b", "delete d"])
        assert.lengthOf(turn.results, 4)
      }
    }).pipe(Effect.provide(M.session), M.inConversation("talk")))

  C.everyWay("a partial answer leaves the others open (law L5), to be answered later", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a", "b", "c"], "done"])
    const { answers } = batch((requests) =>
      requests.map((request) => M.pathOf(request) === "b" ? undefined : Approval.approve(request))
    )
    const turn = yield* ended(answers(chat.send("go")), moment)
    assert.deepStrictEqual([runs.toSorted(), turn.requests.map(M.pathOf)], [["delete a", "delete c"], ["b"]])
    const last = yield* chat.send(Prompt.approvalResponses([Approval.approve(turn.requests[0]!)]))
    assert.deepStrictEqual([last.text, runs.length], ["done", 3])
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  const useless: Record<string, () => unknown> = {
    "throws": () => {
      throw new Error("closed")
    },
    "rejects": () => Promise.reject(new Error("closed")),
    "fails": () => Effect.fail("closed"),
    "dies": () => Effect.die("closed"),
    "is interrupted": () => Effect.interrupt,
    "returns nothing": () => undefined,
    "returns no list": () => true,
    "returns what looks like a list": () => ({ length: 2, 0: true, 1: true }),
    "returns an empty list": () => [],
    "returns nonsense": () => ["yes", 1],
    "answers other questions": () => [Approval.approve({ approvalId: "x" }), Approval.approve({ approvalId: "y" })]
  }
  for (const [what, callback] of Object.entries(useless)) {
    C.everyWay(`a callback that ${what} leaves all open, and nothing runs`, function*(way) {
      const { observe, seen } = yield* M.events
      const { chat, runs } = yield* M.deleting(way, [["a", "b"], ["a"]])
      let first = true
      const { answers } = batch(() => (first ? (first = false, callback()) : [true]) as ReadonlyArray<boolean>)
      const turn = yield* ended(observe(answers(chat.send("go"))))
      assert.deepStrictEqual([runs, turn.requests.map(M.pathOf)], [[], ["a", "b"]])
      const failed = (yield* seen).filter((event) => event._tag === "ControllerFailed")
      assert.lengthOf(failed, 2)
      if (what === "throws" || what === "rejects") {
        for (const { cause } of failed) assert.include(Cause.pretty(cause), "closed", "the event says why")
      }
    })
  }

  C.everyWay("a list that is too short leaves the rest open; one that is too long says no more", function*(way) {
    const short = yield* M.deleting(way, [["a", "b"]])
    const turn = yield* ended(batch(() => [true]).answers(short.chat.send("go")))
    assert.deepStrictEqual([short.runs, turn.requests.map(M.pathOf)], [["delete a"], ["b"]])
    const long = yield* M.deleting(way, [["a"]])
    yield* ended(batch(() => [false, true, true]).answers(long.chat.send("go")))
    assert.deepStrictEqual(long.runs, [])
  })

  C.everyWay(
    "answers may come in any order, as a page posts them; of two to one request a denial counts (L3)",
    function*(way) {
      const { chat, runs } = yield* M.deleting(way, [["a", "b", "c"]])
      const { answers } = batch(([a, b, c]) => [
        Approval.approve(c!),
        Approval.approve(b!),
        Approval.approve(a!),
        Approval.deny(b!, "not that one")
      ])
      const turn = yield* ended(answers(chat.send("go")), moment)
      assert.deepStrictEqual([runs.toSorted(), turn.requests], [["delete a", "delete c"], []])
      const contradicted = yield* M.deleting(way, [["a", "b"]])
      yield* ended(batch(([a, b]) => [Approval.approve(b!), Approval.deny(a!)]).answers(contradicted.chat.send("go")))
      assert.deepStrictEqual(contradicted.runs, ["delete b"])
    }
  )

  C.everyWay("what an answer in the list says of being remembered counts", (way) =>
    Effect.gen(function*() {
      const { chat, runs } = yield* M.deleting(way, [["a", "b"], ["a", "b"]])
      const { answers, shown } = batch((requests) => requests.map(() => M.yes("session")))
      yield* ended(answers(chat.send("one")))
      yield* ended(answers(chat.send("two")))
      assert.deepStrictEqual([shown, runs.length], [[["a", "b"]], 4])
    }).pipe(Effect.provide(M.session), M.inConversation("talk")))

  C.everyWay("whoever stops waiting for it runs nothing, and the next list is shown", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["b"]])
    const { answers, shown } = batch((requests) =>
      M.pathOf(requests[0]!) === "a" ? Effect.never : requests.map(() => true)
    )
    const asking = yield* Effect.forkChild(Effect.exit(answers(Effect.timeout(chat.send("go"), "1 minute"))))
    yield* advance(asking, "10 seconds")
    yield* Fiber.join(asking)
    yield* ended(answers(chat.send("again")))
    assert.include(JSON.stringify(shown), "b")
    assert.deepStrictEqual(runs, ["delete b"])
  })

  /** Lists that nobody answers, and what became of them. */
  const unanswered = () => {
    const shown: Array<string> = []
    const controller = ApprovalController.batch((requests) => {
      const paths = requests.map(M.pathOf).join()
      shown.push(paths)
      return Effect.onInterrupt(Effect.never, () => Effect.sync(() => shown.push(`${paths} taken back`)))
    })
    const ask = (path: string) =>
      Effect.forkChild(
        controller.ask!(
          new Approval.ApprovalRequest({
            approvalId: path,
            toolCallId: path,
            toolName: "DeleteFile",
            params: { path },
            description: path,
            interaction: "approval",
            providerExecuted: false
          })
        ),
        { startImmediately: true }
      )
    return { ask, shown }
  }

  it.effect("a question that nobody waits for any more is taken back; one that somebody waits for stands (L1)", () =>
    Effect.gen(function*() {
      const { ask, shown } = unanswered()
      const early = yield* ask("a")
      const [first, second] = [yield* ask("b"), yield* ask("c")]
      yield* Fiber.interrupt(early)
      yield* TestClock.adjust("10 millis")
      yield* Fiber.interrupt(first)
      assert.deepStrictEqual(shown, ["b,c"])
      yield* Fiber.interrupt(second)
      assert.deepStrictEqual(shown, ["b,c", "b,c taken back"])
      yield* Fiber.interrupt(yield* ask("d"))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(shown.length, 2)
    }))

  it.effect("who stops waiting for an earlier list leaves the next one whole", () =>
    Effect.gen(function*() {
      const { ask, shown } = unanswered()
      const earlier = yield* ask("a")
      yield* TestClock.adjust("10 millis")
      yield* ask("b")
      yield* Fiber.interrupt(earlier)
      yield* ask("c")
      yield* TestClock.adjust("10 millis")
      assert.deepStrictEqual(shown, ["a", "a taken back", "b,c"])
    }))
})
