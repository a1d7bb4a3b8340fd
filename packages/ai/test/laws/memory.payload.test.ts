/**
 * What "for this session" covers (`blocking-wrapper.md`, Core Types, `payload`): this very call, unless the tool or the
 * policy says more; the person is told, and says whether to remember anything at all.
 */
import { assert, describe } from "@effect/vitest"
import { Approval, ApprovalMatcher, Prompt } from "../../src/index.ts"
import { logged } from "./logs.ts"
import * as M from "./remembered.ts"

const session = { covers: ApprovalMatcher.path(["src/**"], { param: "path" }).description }

const policy = M.needs({ session, rememberable: true })

describe("memory: what the session covers", () => {
  M.everyWay("is what the policy says, the person reads it, and what it does not cover is asked", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["src/a"], ["src/b"], ["lib/a"]])
    const sentences: Array<string | undefined> = []
    const ada = M.person((request) => (sentences.push(request.session), M.yes("session")))
    for (let turn = 0; turn < 3; turn++) yield* policy(ada.answers(chat.send("go")))
    assert.deepStrictEqual(ada.seen, ["src/a", "lib/a"])
    assert.deepStrictEqual(runs, ["delete src/a", "delete src/b", "delete lib/a"])
    assert.deepStrictEqual(sentences[0], "any call of DeleteFile whose path matches `src/**`")
  })

  M.everyWay(
    "is told to the last pattern, however many there are: nobody grants what they could not read",
    function*(way) {
      const { chat } = yield* M.deleting(way, [["src/a"]])
      const globs = ["src/**", ...Array.from({ length: 30 }, (_, index) => `docs/${"x".repeat(250)}/${index}/**`)]
      const covers = ApprovalMatcher.path(globs, { param: "path" }).description
      const sentences: Array<string | undefined> = []
      const ada = M.person((request) => (sentences.push(request.session), M.yes()))
      yield* M.needs({ session: { covers } })(ada.answers(chat.send("go")))
      for (const glob of globs) assert.include(sentences[0]!, `\`${glob}\``)
    }
  )

  M.everyWay("a denial for the session covers the same", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["src/a"], ["src/b"], ["lib/a"]])
    const ada = M.person((request) => M.pathOf(request) === "lib/a" ? M.yes() : M.no("not these", "session"))
    for (let turn = 0; turn < 3; turn++) yield* policy(ada.answers(chat.send("go")))
    assert.deepStrictEqual(ada.seen, ["src/a", "lib/a"])
    assert.deepStrictEqual(runs, ["delete lib/a"])
  })

  M.everyWay("nothing is remembered of an answer that does not say so", function*(way) {
    const { chat } = yield* M.deleting(way, [["src/a"], ["src/b"]])
    const ada = M.person(() => M.yes())
    for (let turn = 0; turn < 2; turn++) yield* policy(ada.answers(chat.send("go")))
    assert.deepStrictEqual(ada.seen, ["src/a", "src/b"])
  })

  M.everyWay("two rules that say it differently leave this very call", function*(way) {
    const { chat } = yield* M.deleting(way, [["src/a"], ["src/a"], ["src/b"]])
    const ada = M.person((request) => (assert.isUndefined(request.session), M.yes("session")))
    const silent = M.needs({ rememberable: true })
    for (let turn = 0; turn < 3; turn++) yield* silent(ada.answers(chat.send("go")))
    assert.deepStrictEqual(ada.seen, ["src/a", "src/b"])
  })

  M.everyWay("L4 in a message history it is the policy's word too, where it lets a history remember", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["src/a"], ["src/b"], ["lib/a"], "Done."])
    const { requests } = yield* policy(chat.send("go"))
    const answer = Approval.approve(requests[0]!, { remember: "session" })
    const later = yield* policy(chat.send(Prompt.approvalResponses([answer])))
    assert.lengthOf(later.requests, 0)
    const last = yield* policy(chat.send("more"))
    assert.deepStrictEqual(runs, ["delete src/a", "delete src/b"])
    assert.deepStrictEqual(last.requests.map(M.pathOf), ["lib/a"])
  })
})

describe("an answer whose remember cannot be read", () => {
  for (const [approved, runs] of [[true, ["delete a"]], [false, []]] as const) {
    M.everyWay(`is ${approved ? "an approval" : "a denial"} like any other, and is not remembered`, function*(way) {
      const { chat, runs: ran } = yield* M.deleting(way, [["a"], "done"])
      const policy = M.needs({ rememberable: true })
      const asked = yield* policy(chat.send("go"))
      const { approvalId } = asked.requests[0]!
      const answer = M.posted({ approvalId, approved, assent: { remember: { uses: -1 } } })
      const [, lines] = yield* logged(policy(chat.send(answer)))
      assert.deepStrictEqual([ran, yield* M.listed()], [runs, []])
      assert.match(lines[0]?.text ?? "", /"DeleteFile".*cannot be read, so the answer is not remembered/)
    })
  }
})
