/**
 * What a person said of being remembered, where they answer inline: whoever was answered "yes, and for the session" is
 * not asked again for that, and for nothing else; and a remembered no is the last word.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalMatcher, ApprovalMemory, Approver, Tool, Toolkit } from "../../src/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"

const everyFile = { covers: ApprovalMatcher.tool.description }

describe("memory: what is remembered", () => {
  C.everyWay("nothing is remembered by default, whatever the answer says", (way) =>
    Effect.gen(function*() {
      const { chat, runs } = yield* M.deleting(way, [["a"], ["a"]])
      const ada = M.person(() => M.yes("session"))
      yield* ada.answers(chat.send("one"))
      yield* ada.answers(chat.send("two"))
      assert.deepStrictEqual([ada.seen, runs], [["a", "a"], ["delete a", "delete a"]])
    }).pipe(M.inConversation("talk")))

  M.everyWay("nothing is remembered of an answer that does not say so", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["a"], ["a"], ["a"]])
    const replies = [M.yes(), true, M.yes("none"), M.no()]
    const ada = M.person(() => replies.shift()!)
    for (let turn = 0; turn < 4; turn++) yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual([ada.seen.length, runs.length], [4, 3])
    assert.deepStrictEqual(yield* M.listed(), [])
  })

  M.everyWay("\"session\" is just this call: the same is not asked again, another is", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["a"], ["b"], ["a"]])
    const ada = M.person((request) => M.pathOf(request) === "a" ? M.yes("session") : M.no("not b"))
    for (let turn = 0; turn < 4; turn++) yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual([ada.seen, runs], [["a", "b"], ["delete a", "delete a", "delete a"]])
  })

  M.everyWay("more where the answer says so: the whole tool, or paths", function*(way) {
    const src = { covers: ApprovalMatcher.path(["src/**"], { param: "path" }).description }
    for (const [remember, asked] of [[everyFile, ["src/a"]], [src, ["src/a", "etc/c", "src/../d"]]] as const) {
      const paths = ["src/a", "src/b", "etc/c", "src/../d"]
      const { chat, runs } = yield* M.deleting(way, paths.map((path) => [path]))
      const ada = M.person((request) => M.yes(M.pathOf(request) === "src/a" ? remember : "none"))
      for (const path of paths) yield* ada.answers(chat.send(`delete ${path}`))
      assert.deepStrictEqual<ReadonlyArray<string>>(ada.seen, asked)
      assert.lengthOf(runs, 4)
      for (const one of yield* M.listed()) {
        yield* Effect.flatMap(ApprovalMemory.ApprovalMemory, (memory) => memory.revoke(one.scope, one.id))
      }
    }
  })

  M.everyWay("by a key of the program's own", function*(way) {
    const file = (params: ApprovalMatcher.Params) => String(params.path).split("/")[0]
    const covers = ApprovalMatcher.key(file, { name: "folder" })({ path: "src/a" }).description
    const { chat } = yield* M.deleting(way, [["src/a"], ["src/b"], ["etc/c"]])
    const ada = M.person(() => M.yes({ covers }))
    for (let turn = 0; turn < 3; turn++) {
      yield* ada.answers(chat.send("go")).pipe(Effect.provide(ApprovalMatcher.layer({ keys: { folder: file } })))
    }
    assert.deepStrictEqual(ada.seen, ["src/a", "etc/c"])
  })

  M.everyWay("an approval of no parameters is not one of any", function*(way) {
    const Purge = Tool.make("Purge", {
      parameters: { path: Schema.optionalKey(Schema.String) },
      success: Schema.String,
      needsApproval: true
    })
    const runs: Array<string | undefined> = []
    const toolkit = yield* C.withHandlers(Toolkit.make(Purge), {
      Purge: ({ path }) => Effect.sync(() => (runs.push(path), "done"))
    })
    const call = (id: string, params: unknown) => [{ type: "tool-call" as const, id, name: "Purge", params }]
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [call("c1", {}), call("c2", {}), call("c3", { path: "/" })]
    })
    const ada = M.person((request) => request.toolCallId === "c1" ? M.yes("session") : M.no("never"))
    for (let turn = 0; turn < 3; turn++) yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual([ada.seen, runs], [["{}", "/"], [undefined, undefined]])
  })

  M.everyWay("what is remembered says of what it is, in whose name, and of which question", function*(way) {
    const { chat } = yield* M.deleting(way, [["a"]])
    yield* TestClock.adjust("1 minute")
    const ids: Array<string> = []
    const ada = M.person((
      request
    ) => (ids.push(request.approvalId), M.yes({ ...everyFile, uses: 3, expiresIn: 500 })))
    yield* ada.answers(chat.send("go"))
    const [one, ...others] = yield* M.listed()
    const { id, version, ...rest } = one!
    assert.deepStrictEqual(others, [])
    assert.deepStrictEqual({ ...rest }, {
      source: "local",
      toolName: "DeleteFile",
      decision: "approved",
      ...everyFile,
      decidedBy: Approver.decidedBy(undefined, "controller"),
      scope: { conversation: "talk" },
      approvalId: ids[0]!,
      toolCallId: "c1",
      rememberedAt: 60_000,
      expiresAt: 60_500,
      uses: 3
    })
    for (const text of [id, version]) assert.match(text, /./)
  })
})

describe("memory: for how long, and how often", () => {
  M.everyWay("until its time is over", function*(way) {
    const { chat } = yield* M.deleting(way, [["a"], ["a"], ["a"]])
    const ada = M.person(() => M.yes({ expiresIn: 60_000 }))
    yield* ada.answers(chat.send("one"))
    yield* TestClock.adjust(59_999)
    yield* ada.answers(chat.send("two"))
    assert.lengthOf(ada.seen, 1)
    yield* TestClock.adjust(1)
    yield* ada.answers(chat.send("three"))
    assert.lengthOf(ada.seen, 2)
  })

  M.everyWay("until its uses are used up", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["b"], ["c"], ["d"]])
    const ada = M.person((request) => M.pathOf(request) === "a" ? M.yes({ ...everyFile, uses: 2 }) : M.no())
    for (let turn = 0; turn < 4; turn++) yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual([ada.seen, runs], [["a", "d"], ["delete a", "delete b", "delete c"]])
  })

  M.everyWay("two calls of one response share the last use: exactly one runs unasked", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["b", "c"]])
    const ada = M.person((request) => M.pathOf(request) === "a" ? M.yes({ ...everyFile, uses: 1 }) : M.no("asked"))
    yield* ada.answers(chat.send("one"))
    const turn = yield* ada.answers(chat.send("two"))
    assert.lengthOf(ada.seen, 2)
    assert.lengthOf(runs, 2)
    assert.lengthOf(turn.results.filter((result) => !result.isFailure), 1)
  })

  M.everyWay("two turns at once share the last use: exactly one runs unasked", function*(way) {
    const ada = M.person((request) => M.pathOf(request) === "a" ? M.yes({ ...everyFile, uses: 1 }) : M.no("asked"))
    const first = yield* M.deleting(way, [["a"], ["b"]])
    const second = yield* M.deleting(way, [["c"]])
    yield* ada.answers(first.chat.send("one"))
    yield* Effect.all([ada.answers(first.chat.send("two")), ada.answers(second.chat.send("two"))], {
      concurrency: "unbounded"
    })
    assert.lengthOf(ada.seen, 2)
    assert.lengthOf([...first.runs, ...second.runs], 2)
  })

  M.everyWay("an answer from memory is no new answer: a policy's `remember` does not renew itself", function*(way) {
    const { observe, seen } = yield* M.events
    const { chat, runs } = yield* M.deleting(way, [["a", "a", "a", "a", "a"], ["a"], ["a"]])
    const ada = M.person(() => M.yes())
    const oneMore = M.needs({ remember: { uses: 1 } })
    for (let turn = 0; turn < 3; turn++) yield* observe(oneMore(ada.answers(chat.send("go"))))
    const remembered = (yield* seen).filter((event) => event._tag === "Remembered")
    assert.lengthOf(remembered, ada.seen.length, "one for each answer, and none for an answer from memory")
    assert.lengthOf(runs, 7)
    assert.isAtLeast(2 * ada.seen.length, 7, "each answer lets two calls run")
  })

  M.everyWay("an answer from memory is no new answer: its time is not prolonged", function*(way) {
    const { chat } = yield* M.deleting(way, [["a"], ["a"], ["a"]])
    const ada = M.person(() => M.yes())
    const forAnHour = M.needs({ remember: { expiresIn: 3_600_000 } })
    yield* forAnHour(ada.answers(chat.send("one")))
    yield* TestClock.adjust("59 minutes")
    // Asked while nobody was there; what was remembered answers it.
    yield* forAnHour(chat.send("two"))
    yield* TestClock.adjust("2 minutes")
    yield* forAnHour(ada.answers(chat.send("three")))
    assert.lengthOf(ada.seen, 2)
  })
})

describe("memory: taken back", () => {
  M.everyWay("what was taken back is asked again; another answer is another matter", function*(way) {
    const memory = yield* ApprovalMemory.ApprovalMemory
    const { chat } = yield* M.deleting(way, [["a"], ["a"], ["a"]])
    const ada = M.person(() => M.yes("session"))
    yield* ada.answers(chat.send("one"))
    const [one] = yield* M.listed()
    assert.isTrue(yield* memory.revoke({ conversation: "talk" }, one!.id))
    yield* ada.answers(chat.send("two"))
    assert.lengthOf(ada.seen, 2)
    yield* ada.answers(chat.send("three"))
    assert.lengthOf(ada.seen, 2)
  })
})

describe("memory: denials", () => {
  M.everyWay("a remembered no is not asked again, and its note is told to the model", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["a"], "bye"])
    const ada = M.person(() => M.no("a is the only copy", "session"))
    yield* ada.answers(chat.send("one"))
    const turn = yield* ada.answers(chat.send("two"))
    assert.deepStrictEqual([ada.seen, runs], [["a"], []])
    assert.include(C.reasonOf(turn.results[0]!), "a is the only copy")
    yield* chat.send("bye")
    assert.include(JSON.stringify(C.resultsOf(yield* chat.lastPrompt).at(-1)), "a is the only copy")
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  M.everyWay("a remembered no without a note reads as final too (law L14)", function*(way) {
    const { chat } = yield* M.deleting(way, [["a"], ["a"]])
    const ada = M.person(() => M.no(undefined, everyFile))
    yield* ada.answers(chat.send("one"))
    const turn = yield* ada.answers(chat.send("two"))
    assert.match(C.reasonOf(turn.results[0]!), /denied/)
    assert.notMatch(C.reasonOf(turn.results[0]!), /may be asked again/)
  })

  for (const order of ["no first", "yes first"] as const) {
    M.everyWay(`a remembered no beats a remembered yes for more, ${order}`, function*(way) {
      const first = order === "no first" ? ["a", "b"] : ["b", "a"]
      const { chat, runs } = yield* M.deleting(way, [[first[0]!], [first[1]!], ["a"], ["c"]], {})
      // With the wide yes in force, the no must come from a question that is asked every time.
      const ada = M.person((request) => M.pathOf(request) === "a" ? M.no("not a", "session") : M.yes(everyFile))
      yield* ada.answers(chat.send("one"))
      if (order === "no first") yield* ada.answers(chat.send("two"))
      else {
        const memory = yield* ApprovalMemory.ApprovalMemory
        const [wide] = yield* M.listed()
        yield* memory.remember({
          ...wide!,
          params: { path: "a" },
          id: "by hand",
          decision: "denied",
          remember: "session",
          note: "not a"
        })
        yield* ada.answers(chat.send("two"))
      }
      const third = yield* ada.answers(chat.send("three"))
      assert.include(C.reasonOf(third.results[0]!), "not a")
      yield* ada.answers(chat.send("four"))
      assert.notInclude(runs, "delete a")
      assert.include(runs, "delete c")
    })
  }

  M.everyWay("a remembered no beats a policy that lets the call run", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["a"], ["b"]])
    yield* M.person(() => M.no("not a", "session")).answers(chat.send("one"))
    const lets = M.withPolicy(() => Approval.preApproved("all is allowed"))
    const turn = yield* lets(chat.send("two"))
    assert.include(C.reasonOf(turn.results[0]!), "not a")
    yield* lets(chat.send("three"))
    assert.deepStrictEqual(runs, ["delete b"])
  })
})

describe("memory: deny > ask > allow", () => {
  M.everyWay("what the policy wants to be asked every time is asked, whatever was remembered", function*(way) {
    const { chat } = yield* M.deleting(way, [["a"], ["a"], ["a"]])
    const ada = M.person(() => M.yes(everyFile))
    yield* ada.answers(chat.send("one"))
    const everyTime = M.needs({ rememberable: false, remember: "session" })
    yield* everyTime(ada.answers(chat.send("two")))
    assert.lengthOf(ada.seen, 2)
    assert.lengthOf(yield* M.listed(), 1, "nothing is remembered of what is asked every time")
    yield* ada.answers(chat.send("three"))
    assert.lengthOf(ada.seen, 2)
  })

  M.everyWay("a remembered no stands also where the policy wants to be asked every time", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["a"]])
    yield* M.person(() => M.no("not a", "session")).answers(chat.send("one"))
    const bob = M.person(() => M.yes())
    yield* M.needs({ rememberable: false })(bob.answers(chat.send("two")))
    assert.deepStrictEqual([bob.seen, runs], [[], []])
  })

  M.everyWay("a policy that forbids the call wins over a remembered yes", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["a"]])
    yield* M.person(() => M.yes("session")).answers(chat.send("one"))
    const turn = yield* M.withPolicy(() => Approval.blocked("closed for today"))(chat.send("two"))
    assert.include(C.reasonOf(turn.results[0]!), "closed for today")
    assert.lengthOf(runs, 1)
  })

  M.everyWay("where the policy fails, a remembered yes does not stand in for it (law L1)", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["a"]])
    yield* M.person(() => M.yes("session")).answers(chat.send("one"))
    const turn = yield* M.withPolicy(() => Effect.die("broken"))(chat.send("two"))
    assert.lengthOf(turn.requests, 1)
    assert.lengthOf(runs, 1)
  })

  M.everyWay("a policy may say that an approval without a word of its own is remembered", function*(way) {
    const { chat } = yield* M.deleting(way, [["a"], ["a"], ["b"], ["b"]])
    const oncePerSession = M.needs({ remember: "session" })
    // A word of the person's own wins over it.
    const ada = M.person((request) => M.pathOf(request) === "a" ? true : M.yes("none"))
    for (let turn = 0; turn < 4; turn++) yield* oncePerSession(ada.answers(chat.send("go")))
    assert.deepStrictEqual(ada.seen, ["a", "b", "b"])
  })

  M.everyWay("a policy's word on remembering is for approvals: a denial is not remembered by it", function*(way) {
    const { chat } = yield* M.deleting(way, [["a"], ["a"]])
    const ada = M.person(() => false)
    for (let turn = 0; turn < 2; turn++) yield* M.needs({ remember: "session" })(ada.answers(chat.send("go")))
    assert.lengthOf(ada.seen, 2)
  })

  const success = Schema.Struct({ deleted: Schema.String })
  const changes = {
    "whose parameters changed": Tool.make("DeleteFile", {
      parameters: { path: Schema.String, force: Schema.optionalKey(Schema.Boolean) },
      success,
      needsApproval: true
    }),
    "that says it does something else": Tool.make("DeleteFile", {
      description: "Deletes a file on the server, and every copy of it.",
      parameters: { path: Schema.String },
      success,
      needsApproval: true
    })
  }
  for (const [what, Changed] of Object.entries(changes)) {
    M.everyWay(`a tool ${what} is asked again`, function*(way) {
      const { chat } = yield* M.deleting(way, [["a"], ["a"], ["a"]])
      const ada = M.person(() => M.yes(everyFile))
      yield* ada.answers(chat.send("one"))
      const changed = yield* C.withHandlers(Toolkit.make(Changed), {
        DeleteFile: ({ path }: { readonly path: string }) => Effect.succeed({ deleted: path })
      })
      yield* ada.answers(chat.send("two", { toolkit: changed }))
      assert.lengthOf(ada.seen, 2)
      yield* ada.answers(chat.send("three"))
      assert.lengthOf(ada.seen, 2)
    })
  }
})
