/**
 * L1 Fail closed: a memory that fails, dies, or does not answer never lets a call run and never forbids one: it is asked.
 * What was approved runs once, whether it could be remembered or not.
 */
import { assert, describe } from "@effect/vitest"
import { Cause, Effect, Fiber } from "effect"
import { Approval, ApprovalError, ApprovalMemory, Prompt, Store } from "../../src/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"
import { type Story, tell } from "./story.ts"
import { advance } from "./support.ts"

const secret = "postgres://admin:hunter2@db"

const unavailable = ApprovalError.make(new ApprovalError.MemoryUnavailable({ description: "the disk is away" }))

/** How a memory goes wrong; the types of a program in JavaScript promise nothing. */
const broken: Record<string, () => Effect.Effect<never, ApprovalError.ApprovalError>> = {
  "fails": () => Effect.fail(unavailable),
  "dies": () => Effect.die(new Error(secret)),
  "throws": () => {
    throw new Error(secret)
  },
  "is interrupted": () => Effect.interrupt,
  "never ends": () => Effect.never,
  "never ends, and cannot be interrupted": () => Effect.uninterruptible(Effect.never)
}

const withMemory = (change: (memory: ApprovalMemory.Service) => Partial<ApprovalMemory.Service>) => {
  const made = Effect.flatMap(Store.makeMemory(), (store) => ApprovalMemory.make({ store }))
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(
      made,
      (memory) => Effect.provideService(effect, ApprovalMemory.ApprovalMemory, { ...memory, ...change(memory) })
    )
}

/** To its end, however long something is waited for. */
const ended = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E> =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(effect)
    assert.isTrue(yield* advance(fiber, "10 seconds"), "it never ended")
    return yield* Fiber.join(fiber)
  })

const everyWay = (title: string, story: Story<[way: C.Way]>) =>
  C.everyWay(title, (way) => tell(story, way).pipe(M.inConversation("talk")))

for (const [how, fails] of Object.entries(broken)) {
  describe(`L1 a memory that ${how}`, () => {
    everyWay(
      "is none that says yes: the call is asked, and runs once it is approved",
      (way) =>
        withMemory(() => ({ find: fails }))(Effect.gen(function*() {
          const { chat, runs } = yield* M.deleting(way, [["a"], "done"])
          const asked = yield* ended(chat.send("go"))
          assert.deepStrictEqual([asked.requests.length, runs], [1, []])
          assert.notInclude(JSON.stringify(asked.parts), "hunter2")
          const turn = yield* ended(chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])))
          assert.deepStrictEqual([turn.text, runs], ["done", ["delete a"]])
        }))
    )

    everyWay(
      "is none that says no either: whoever is asked inline decides",
      (way) =>
        withMemory(() => ({ find: fails }))(Effect.gen(function*() {
          const { chat, runs } = yield* M.deleting(way, [["a", "b"]])
          const ada = M.person((request) => M.pathOf(request) === "a")
          const turn = yield* ended(ada.answers(chat.send("go")))
          assert.deepStrictEqual([ada.seen, runs], [["a", "b"], ["delete a"]])
          assert.lengthOf(turn.results, 2)
        }))
    )

    everyWay(
      "may have held a no: even what the policy lets run is asked",
      (way) =>
        withMemory(() => ({ find: fails }))(Effect.gen(function*() {
          const { chat, runs } = yield* M.deleting(way, [["a"], "done"])
          const lets = M.withPolicy(() => Approval.preApproved())
          const asked = yield* ended(lets(chat.send("go")))
          assert.deepStrictEqual([asked.requests.length, runs], [1, []])
          assert.match(asked.requests[0]!.reason ?? "", /could not be read/)
          yield* ended(lets(chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))))
          assert.deepStrictEqual(runs, ["delete a"])
        }))
    )

    everyWay(
      "does not stand before a policy that forbids the call",
      (way) =>
        withMemory(() => ({ find: fails }))(Effect.gen(function*() {
          const { chat, runs } = yield* M.deleting(way, [["a"]])
          const turn = yield* ended(M.withPolicy(() => Approval.blocked("closed"))(chat.send("go")))
          assert.deepStrictEqual([turn.requests, runs], [[], []])
          assert.include(C.reasonOf(turn.results[0]!), "closed")
        }))
    )

    everyWay(
      "takes no approved run along when it cannot remember: it runs once, and is asked again",
      (way) =>
        withMemory(() => ({ remember: fails }))(Effect.gen(function*() {
          const { chat, runs } = yield* M.deleting(way, [["a"], ["a"]])
          const ada = M.person(() => M.yes("session"))
          const first = yield* ended(ada.answers(chat.send("one")))
          assert.deepStrictEqual(first.results.map((result) => result.isFailure), [false])
          yield* ended(ada.answers(chat.send("two")))
          assert.deepStrictEqual([ada.seen, runs], [["a", "a"], ["delete a", "delete a"]])
        }))
    )

    everyWay(
      "takes no approval of a history along either",
      (way) =>
        withMemory(() => ({ remember: fails }))(Effect.gen(function*() {
          const { chat, runs } = yield* M.deleting(way, [["a"], "done"])
          const policy = M.needs({ remember: "session" })
          const asked = yield* policy(chat.send("one"))
          const answer = Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])
          const turn = yield* ended(policy(chat.send(answer)))
          assert.deepStrictEqual([turn.text, runs, turn.results.map((result) => result.isFailure)], [
            "done",
            ["delete a"],
            [false]
          ])
        }))
    )

    everyWay(
      "takes no denial along when it cannot remember",
      (way) =>
        withMemory(() => ({ remember: fails }))(Effect.gen(function*() {
          const { chat, runs } = yield* M.deleting(way, [["a"], "done", ["a"]])
          const ada = M.person(() => M.no("not a", "session"))
          const first = yield* ended(ada.answers(chat.send("one")))
          assert.include(C.reasonOf(first.results[0]!), "not a")
          const policy = M.needs({ rememberable: true })
          yield* policy(chat.send("two"))
          const asked = yield* policy(chat.send("three"))
          const denial = Prompt.approvalResponses([Approval.deny(asked.requests[0]!, "not a", { remember: "session" })])
          const turn = yield* ended(Effect.exit(policy(chat.send(denial))))
          assert.deepStrictEqual(runs, [])
          assert.isDefined(turn)
        }))
    )
  })
}

describe("L1 a memory that is full, or holds nonsense", () => {
  C.everyWay(
    "what does not fit is not remembered and asked again; the run is not lost",
    (way) =>
      Effect.gen(function*() {
        const { chat, runs } = yield* M.deleting(way, [["a"], ["b"], ["b"], ["a"]])
        const ada = M.person(() => M.yes("session"))
        for (let turn = 0; turn < 4; turn++) yield* ada.answers(chat.send("go"))
        assert.deepStrictEqual([ada.seen, runs.length], [["a", "b", "b"], 4])
      }).pipe(Effect.provide(ApprovalMemory.layerSession({ capacity: 1 })), M.inConversation("talk"))
  )

  C.everyWay("what lives for one call of the model takes no room for good", (way) =>
    Effect.gen(function*() {
      const ada = M.person(() => M.yes("session"))
      for (let i = 0; i < 3; i++) {
        const { chat } = yield* M.deleting(way, [["a"]])
        yield* ada.answers(chat.send("go"))
      }
      assert.lengthOf(ada.seen, 3)
      const { chat } = yield* M.deleting(way, [["a"], ["a"]])
      yield* ada.answers(chat.send("one")).pipe(M.inConversation("talk"))
      yield* ada.answers(chat.send("two")).pipe(M.inConversation("talk"))
      assert.lengthOf(ada.seen, 4)
    }).pipe(Effect.provide(ApprovalMemory.layerSession({ capacity: 2 }))))

  C.everyWay("a record that cannot be read is no yes: the call is asked", (way) =>
    Effect.gen(function*() {
      for (const value of ["", "{}", "null", "[]", "{\"decision\":\"approved\"}", "{\"__proto__\":{}}"]) {
        const store = yield* Store.makeMemory()
        const candidates: Store.RememberedAnswers["candidates"] = (call) =>
          Effect.map(store.remembered.candidates(call), (rows) => rows.map((row) => ({ ...row, body: value })))
        const reading = Store.make({ ...store, remembered: { ...store.remembered, candidates } })
        const memory = yield* ApprovalMemory.make({ store: reading })
        const { chat, runs } = yield* M.deleting(way, [["a"], ["a"]])
        const ada = M.person(() => M.yes("session"))
        for (let turn = 0; turn < 2; turn++) {
          yield* ada.answers(chat.send("go")).pipe(
            Effect.provideService(ApprovalMemory.ApprovalMemory, memory)
          )
        }
        assert.deepStrictEqual([ada.seen.length, runs.length], [2, 2])
      }
    }).pipe(M.inConversation("talk")))

  C.everyWay(
    "a memory in JavaScript that answers null remembers nothing: what the policy lets run is not asked",
    (way) =>
      withMemory(() => ({ find: () => Effect.succeed(null as never) }))(Effect.gen(function*() {
        const { chat, runs } = yield* M.deleting(way, [["a"], "done"])
        const turn = yield* ended(M.withPolicy(() => Approval.preApproved())(chat.send("go")))
        assert.deepStrictEqual([turn.requests, runs], [[], ["delete a"]])
      })).pipe(M.inConversation("talk"))
  )

  C.everyWay("a tool that needs nobody runs without the memory", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [[C.readCall("c1", "a")]] })
    yield* withMemory(() => ({ find: () => Effect.die("asked") }))(chat.send("go"))
    assert.deepStrictEqual(runs, ["read a"])
  })
})

describe("L1 a memory whose answer is none", () => {
  const remembered = {
    id: "1",
    source: "local",
    toolName: "DeleteFile",
    version: "v1",
    decision: "approved",
    covers: { _tag: "Exact", params: "{\"path\":\"b\"}" },
    scope: {},
    approvalId: "1",
    toolCallId: "c0",
    rememberedAt: 0
  }
  const nonsense: Record<string, unknown> = {
    "an empty object": {},
    "a boolean": true,
    "a text": "approved",
    "another word": { ...remembered, covers: { _tag: "Tool" }, decision: "Approved" },
    "no word of what it covers": { ...remembered, covers: undefined },
    "an approval of another call": remembered
  }
  for (const [what, given] of Object.entries(nonsense)) {
    C.everyWay(`is asked, and the stream of events says why: ${what}`, function*(way) {
      const { observe, seen } = yield* M.events
      const { chat, runs } = yield* M.deleting(way, [["a"], "done"])
      // The types of a program in JavaScript promise nothing.
      const find = () => Effect.succeed(given as ApprovalMemory.Remembered)
      const asked = yield* withMemory(() => ({ find }))(observe(chat.send("go"))).pipe(M.inConversation("talk"))
      assert.deepStrictEqual([asked.requests.length, runs], [1, []])
      const failed = (yield* seen).filter((event) => event._tag === "MemoryFailed")
      assert.deepStrictEqual(failed.map(({ doing, toolName }) => [doing, toolName]), [["find", "DeleteFile"]])
    })
  }

  C.everyWay("what could not be remembered is told in the events, with the cause, and to nobody else", function*(way) {
    const { observe, seen } = yield* M.events
    const { chat } = yield* M.deleting(way, [["a"], "done"])
    const ada = M.person(() => M.yes("session"))
    const turn = yield* withMemory(() => ({ remember: () => Effect.die(new Error(secret)) }))(
      observe(ada.answers(chat.send("go")))
    ).pipe(M.inConversation("talk"))
    const failed = (yield* seen).filter((event) => event._tag === "MemoryFailed")
    assert.deepStrictEqual(failed.map(({ doing }) => doing), ["remember"])
    assert.include(Cause.pretty(failed[0]!.cause), secret)
    assert.notInclude(JSON.stringify(turn.parts), "hunter2")
  })
})
