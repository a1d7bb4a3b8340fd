/**
 * Whose a remembered answer is: of one tenant, principal and conversation, or of one call of the model where no
 * conversation is named; and how long it lives, with its session or over a restart.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import {
  Approval,
  ApprovalController,
  ApprovalMatcher,
  ApprovalMemory,
  LanguageModel,
  Prompt,
  Store
} from "../../src/index.ts"
import * as C from "./conversation.ts"
import { logged } from "./logs.ts"
import * as M from "./remembered.ts"

const everyFile = { covers: ApprovalMatcher.tool.description }

const inScope = (scope: Approval.ApprovalScope) => Effect.provideService(Approval.Scope, scope)

/** Asked anew in a scope: says whether the person was. */
const isAsked = (way: C.Way, ada: M.Person, path = "a") =>
  Effect.gen(function*() {
    const { chat } = yield* M.deleting(way, [[path]])
    const before = ada.seen.length
    yield* ada.answers(chat.send("go"))
    return ada.seen.length > before
  })

describe("memory: whose it is", () => {
  const scopes: Record<string, readonly [Approval.ApprovalScope, Approval.ApprovalScope]> = {
    "conversations": [{ conversation: "one" }, { conversation: "two" }],
    "principals": [{ conversation: "one", principal: "ada" }, { conversation: "one", principal: "bob" }],
    "tenants": [{ conversation: "one", tenant: "x" }, { conversation: "one", tenant: "y" }],
    "people, one with a name": [{ conversation: "one" }, { conversation: "one", principal: "ada" }],
    "names in other places": [{ conversation: "one", principal: "x" }, { conversation: "one", tenant: "x" }],
    "conversations, one of them empty": [{ conversation: "" }, { conversation: "one" }]
  }
  for (const [what, [one, other]] of Object.entries(scopes)) {
    C.everyWay(
      `two ${what} in one process share no yes, no no, and nothing to list or take back`,
      (way) =>
        Effect.gen(function*() {
          const memory = yield* ApprovalMemory.ApprovalMemory
          const ada = M.person((request) => M.pathOf(request) === "no" ? M.no("no", "session") : M.yes("session"))
          for (const path of ["a", "no"]) {
            assert.isTrue(yield* isAsked(way, ada, path).pipe(inScope(one)))
            assert.isFalse(yield* isAsked(way, ada, path).pipe(inScope(one)))
            assert.isTrue(yield* isAsked(way, ada, path).pipe(inScope(other)))
          }
          const [mine, theirs] = [yield* memory.list(one), yield* memory.list(other)]
          assert.deepStrictEqual([mine.length, theirs.length], [2, 2])
          assert.isFalse(yield* memory.revoke(other, mine[0]!.id))
          assert.isTrue(yield* memory.revoke(one, mine[0]!.id))
          assert.lengthOf(yield* memory.list(other), 2)
        }).pipe(Effect.provide(M.session))
    )
  }

  C.everyWay("without a named conversation it lives for one call of the model", (way) =>
    Effect.gen(function*() {
      const ada = M.person(() => M.yes(everyFile))
      const { chat, runs } = yield* M.deleting(way, [["a", "b", "c"], ["a"]])
      yield* ada.answers(chat.send("one"))
      assert.deepStrictEqual([ada.seen, runs.length], [["a"], 3])
      yield* ada.answers(chat.send("two"))
      assert.lengthOf(ada.seen, 2)
      assert.isTrue(yield* isAsked(way, ada).pipe(inScope({ principal: "ada", tenant: "x" })))
      assert.isTrue(yield* isAsked(way, ada).pipe(inScope({ principal: "ada", tenant: "x" })))
    }).pipe(Effect.provide(M.session)))

  // Who approves for the session and is asked again by the next turn is not told why; the program's author is.
  C.everyWay("without a named conversation one warning says so, and how to name it", function*(way) {
    const twice = Effect.gen(function*() {
      const ada = M.person(() => M.yes("session"))
      const { chat } = yield* M.deleting(way, [["a"], ["a"]])
      const [, lines] = yield* logged(ada.answers(Effect.andThen(chat.send("one"), chat.send("two"))))
      return [ada.seen.length, lines.filter(({ text }) => text.includes("Approval.Scope"))] as const
    }).pipe(Effect.provide(M.session))
    const [asked, warnings] = yield* twice
    assert.deepStrictEqual([asked, warnings.length], [2, 1])
    assert.strictEqual(warnings[0]!.level, "Warn")
    assert.match(warnings[0]!.text, /"DeleteFile".*forgotten.*Effect\.provideService\(program, Approval\.Scope/)
    assert.deepStrictEqual(yield* inScope({ conversation: "one" })(twice), [1, []])
  })

  C.everyWay(
    "without a named conversation an answer of a history is worth nothing later either",
    (way) =>
      Effect.gen(function*() {
        const { chat } = yield* M.deleting(way, [["a"], "done", ["a"]])
        const policy = M.needs({ remember: everyFile, rememberable: true })
        const asked = yield* policy(chat.send("one"))
        yield* policy(chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])))
        assert.lengthOf((yield* policy(chat.send("two"))).requests, 1)
      }).pipe(Effect.provide(M.session))
  )

  C.everyWay("without a named conversation uses are counted within the one call", (way) =>
    Effect.gen(function*() {
      const { chat, runs } = yield* M.deleting(way, [["a", "b", "c", "d"]])
      const ada = M.person(() => M.yes({ ...everyFile, uses: 1 }))
      yield* ada.answers(chat.send("one"))
      assert.lengthOf(runs, 4)
      assert.isAtLeast(ada.seen.length, 2)
    }).pipe(Effect.provide(M.session)))
})

describe("memory: what nobody said is not remembered for anybody", () => {
  const rule = M.needs({ remember: everyFile })

  C.everyWay("approveAll leaves nothing behind for those who are asked later", (way) =>
    Effect.gen(function*() {
      const { chat, runs } = yield* M.deleting(way, [["a"], ["b"]])
      yield* rule(chat.send("one")).pipe(
        Effect.provideService(ApprovalController.ApprovalController, ApprovalController.approveAll)
      )
      const ada = M.person(() => false)
      yield* rule(ada.answers(chat.send("two")))
      assert.deepStrictEqual([ada.seen, runs, yield* M.listed()], [["b"], ["delete a"], []])
    }).pipe(Effect.provide(M.session), M.inConversation("talk")))
})

describe("memory: how long it lives", () => {
  C.everyWay("a session's memory ends with its scope: the next session asks again", (way) =>
    Effect.gen(function*() {
      const ada = M.person(() => M.yes("session"))
      const session = Effect.gen(function*() {
        assert.isTrue(yield* isAsked(way, ada))
        assert.isFalse(yield* isAsked(way, ada))
      })
      yield* Effect.provide(session, ApprovalMemory.layerSession())
      yield* Effect.provide(session, ApprovalMemory.layerSession())
    }).pipe(M.inConversation("talk")))

  C.everyWay(
    "over a store it outlives the process, for as long as it says, and what was taken back stays so",
    (way) =>
      Effect.gen(function*() {
        const store = yield* Store.makeMemory()
        const process = Effect.provide(
          Layer.provide(ApprovalMemory.layerStore(), Layer.succeed(Store.Store, store))
        )
        const ada = M.person((request) => M.pathOf(request) === "no" ? M.no("no", "session") : M.yes("session"))
        yield* process(Effect.gen(function*() {
          for (const path of ["a", "b", "no"]) assert.isTrue(yield* isAsked(way, ada, path))
          const memory = yield* ApprovalMemory.ApprovalMemory
          const revoked = (yield* M.listed()).find(({ covers }) => JSON.stringify(covers).includes("\\\"b\\\""))
          assert.isTrue(yield* memory.revoke({ conversation: "talk" }, revoked!.id))
        }))
        yield* process(Effect.gen(function*() {
          assert.isFalse(yield* isAsked(way, ada, "a"))
          assert.isFalse(yield* isAsked(way, ada, "no"))
          assert.isTrue(yield* isAsked(way, ada, "b"))
          yield* TestClock.adjust("30 days")
          assert.isTrue(yield* isAsked(way, ada, "a"))
        }))
      }).pipe(M.inConversation("talk"))
  )
})

describe("memory: which memory is read", () => {
  C.everyWay("that of the call wins over the one around it, which wins over none", (way) =>
    Effect.gen(function*() {
      const ada = M.person(() => M.yes("session"))
      const inner = Effect.provide(ApprovalMemory.layerSession())
      assert.isTrue(yield* isAsked(way, ada))
      assert.isTrue(yield* isAsked(way, ada).pipe(inner))
      assert.isFalse(yield* isAsked(way, ada))
      assert.isTrue(
        yield* isAsked(way, ada).pipe(Effect.provideService(ApprovalMemory.ApprovalMemory, ApprovalMemory.none))
      )
    }).pipe(Effect.provide(M.session), M.inConversation("talk")))

  C.everyWay("the one the model was wrapped with counts for whoever uses the model", (way) =>
    Effect.gen(function*() {
      const { toolkit } = yield* C.fileTools
      const ada = M.person(() => M.yes("session"))
      const memory = yield* ApprovalMemory.make({ store: yield* Store.makeMemory() })
      const chat = yield* C.start({
        way,
        toolkit,
        turns: [[C.deleteCall("c1", "a")], [C.deleteCall("c2", "a")]],
        make: (script) =>
          Effect.map(
            Layer.build(
              Layer.succeed(LanguageModel.LanguageModel, script.model).pipe(
                LanguageModel.approval(),
                Layer.provide(Layer.succeed(ApprovalMemory.ApprovalMemory, memory))
              )
            ),
            (context) => Effect.runSync(Effect.provide(Effect.service(LanguageModel.LanguageModel), context))
          ).pipe(Effect.scoped)
      })
      yield* ada.answers(chat.send("one"))
      yield* ada.answers(chat.send("two"))
      assert.lengthOf(ada.seen, 1)
    }).pipe(M.inConversation("talk")))
})
