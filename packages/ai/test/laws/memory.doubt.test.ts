/**
 * A remembered denial is never undone by a wider approval: where it may be of a call and may be not, because the call is
 * written in another way or the tool has changed, a person is asked.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import {
  type Approval,
  ApprovalController,
  ApprovalMatcher,
  ApprovalMemory,
  Store,
  Tool,
  Toolkit
} from "../../src/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"

const everyFile = { covers: ApprovalMatcher.tool.description }
const secret = { covers: ApprovalMatcher.path(["secret/**"], { param: "path" }).description }

/** `secret/a` is denied with all that is there, and `a` is approved with everything. */
const person = () =>
  M.person((request) =>
    M.pathOf(request) === "secret/a" ? M.no("secret", secret) : M.pathOf(request) === "a" ? M.yes(everyFile) : false
  )

const disguises = ["secret/../secret/a", "./secret/b", "Secret/a", "/work/secret/a", "secret\\a"]

describe("memory: a denial that may be of the call", () => {
  for (const disguise of disguises) {
    M.everyWay(`is not undone by an approval of everything: ${disguise} is asked`, function*(way) {
      for (const together of [false, true]) {
        const { chat, runs } = yield* M.deleting(
          way,
          together ? [["secret/a", "a", disguise]] : [["secret/a"], ["a"], [disguise], ["b"]]
        )
        const ada = person()
        if (together) {
          yield* ada.answers(chat.send("go")).pipe(M.inConversation("together"))
          assert.deepStrictEqual([ada.seen, runs], [["secret/a", "a", disguise], ["delete a"]])
        } else {
          for (let turn = 0; turn < 4; turn++) yield* ada.answers(chat.send("go"))
          assert.deepStrictEqual([ada.seen, runs], [["secret/a", "a", disguise], ["delete a", "delete b"]])
        }
      }
    })
  }

  M.everyWay("nor by a policy that lets the call run: it is asked, and says why", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["secret/a"], ["secret/../secret/a"], "done"])
    yield* person().answers(chat.send("go"))
    const turn = yield* M.withPolicy(() => false)(chat.send("go"))
    assert.deepStrictEqual(runs, [])
    assert.match(turn.requests[0]!.reason ?? "", /not clear whether a remembered denial covers this call/)
  })

  M.everyWay("nor by new parameters of the tool: what was denied of it before is asked", function*(way) {
    const { chat } = yield* M.deleting(way, [["a"], ["b"]])
    yield* M.person(() => M.no("never", everyFile)).answers(chat.send("one"))
    const Changed = Tool.make("DeleteFile", {
      parameters: { path: Schema.String, force: Schema.optionalKey(Schema.Boolean) },
      success: Schema.Struct({ deleted: Schema.String })
    })
    const changed = yield* C.withHandlers(Toolkit.make(Changed), {
      DeleteFile: ({ path }) => Effect.succeed({ deleted: path })
    })
    const seen: Array<string> = []
    const asked = M.withPolicy(() => false)(chat.send("two", { toolkit: changed })).pipe(
      Effect.provideService(
        ApprovalController.ApprovalController,
        ApprovalController.interactive((request) => (seen.push(M.pathOf(request)), false))
      )
    )
    yield* asked
    assert.deepStrictEqual(seen, ["b"])
  })

  C.everyWay(
    "of a question of the program is asked too, and one that surely is of it is not",
    () =>
      Effect.gen(function*() {
        const memory = yield* ApprovalMemory.make({ store: yield* Store.makeMemory() })
        const ask = (path: string, decision: Approval.ApprovalDecision) => {
          let asked = 0
          return ApprovalController.request({ name: "publish", params: { path } }).pipe(
            Effect.provideService(
              ApprovalController.ApprovalController,
              ApprovalController.interactive(() => (asked++, decision))
            ),
            Effect.provideService(ApprovalMemory.ApprovalMemory, memory),
            Effect.map(({ _tag }) => [_tag, asked])
          )
        }
        assert.deepStrictEqual(yield* ask("secret/a", M.no("secret", secret)), ["Denied", 1])
        assert.deepStrictEqual(yield* ask("a", M.yes(everyFile)), ["Approved", 1])
        assert.deepStrictEqual(yield* ask("b", M.no()), ["Approved", 0])
        assert.deepStrictEqual(yield* ask("secret/b", M.yes()), ["Denied", 0])
        assert.deepStrictEqual(yield* ask("secret/../secret/b", M.no()), ["Denied", 1])
      }).pipe(M.inConversation("talk"))
  )
})
