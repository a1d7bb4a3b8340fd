/** What a person says for the project: asked once in all its conversations, and not for whoever writes a history to say. */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Approval, ApprovalMatcher, ApprovalMemory, Prompt, Store } from "../../src/index.ts"
import * as C from "./conversation.ts"
import { logged } from "./logs.ts"
import * as M from "./remembered.ts"
import * as Support from "./support.ts"

const project = ApprovalMemory.layerProject({ project: "/site" }).pipe(Layer.provide(Store.layerMemory))

/** How often somebody is asked about a deletion in a turn of this conversation. */
const askedIn = (way: C.Way, remember: ApprovalMemory.Remember, path = "a") =>
  Effect.gen(function*() {
    const { chat } = yield* M.deleting(way, [[path], "done"])
    const ada = M.person(() => M.yes(remember))
    yield* ada.answers(chat.send("go"))
    return ada.seen.length
  })

describe("memory: a project", () => {
  C.everyWay(
    "who is asked once and says so is not asked in another conversation, nor where none is named",
    (way) =>
      Effect.gen(function*() {
        assert.strictEqual(yield* askedIn(way, "project").pipe(M.inConversation("monday")), 1)
        assert.strictEqual(yield* askedIn(way, "none").pipe(M.inConversation("tuesday")), 0)
        assert.strictEqual(yield* askedIn(way, "none"), 0)
        assert.strictEqual(yield* askedIn(way, "session", "b").pipe(M.inConversation("monday")), 1)
        assert.strictEqual(yield* askedIn(way, "session", "b").pipe(M.inConversation("tuesday")), 1)
      }).pipe(Effect.provide(project))
  )

  C.everyWay(
    "where no conversation is named it is remembered all the same, and nobody is warned",
    (way) =>
      Effect.gen(function*() {
        const [asked, lines] = yield* logged(askedIn(way, "project"))
        assert.deepStrictEqual([asked, lines.map(({ text }) => text)], [1, []])
        assert.strictEqual(yield* askedIn(way, "none"), 0)
      }).pipe(Effect.provide(project))
  )

  C.everyWay("the policy says what the word covers, as it does of a session", (way) =>
    Effect.gen(function*() {
      const policy = M.needs({ session: { covers: ApprovalMatcher.tool.description } })
      assert.strictEqual(yield* policy(askedIn(way, "project")).pipe(M.inConversation("monday")), 1)
      assert.strictEqual(yield* policy(askedIn(way, "none", "b")).pipe(M.inConversation("tuesday")), 0)
    }).pipe(Effect.provide(project)))

  for (const remember of ["project", { for: "project", covers: ApprovalMatcher.tool.description }] as const) {
    const title = typeof remember === "string" ? "a word" : "what it covers"
    C.everyWay(
      `L4 in a history anybody may write it is said for the session, though it may be said: ${title}`,
      (way) =>
        Effect.gen(function*() {
          const { chat } = yield* M.deleting(way, [["a"], ["b"], "done"])
          const policy = M.needs({ rememberable: true })
          const asked = yield* policy(chat.send("one"))
          const answers = asked.requests.map((request) => Approval.approve(request, { remember }))
          yield* policy(chat.send(Support.throughJson(Prompt.approvalResponses(answers))))
          const [listed] = yield* M.listed()
          assert.deepStrictEqual({ ...listed?.scope }, { conversation: "talk" })
          assert.deepStrictEqual(yield* M.listed({ conversation: "tuesday" }), [])
        }).pipe(Effect.provide(project), M.inConversation("talk"))
    )
  }
})
