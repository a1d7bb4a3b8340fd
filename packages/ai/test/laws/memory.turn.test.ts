/**
 * What is answered within a turn holds for the other calls of the turn, and no longer than it says or the memory keeps it:
 * a turn may wait for people for hours.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalMatcher, ApprovalMemory, Tool, Toolkit } from "../../src/index.ts"
import * as C from "./conversation.ts"
import { logged } from "./logs.ts"
import * as M from "./remembered.ts"
import * as Support from "./support.ts"
import { idle } from "./support.ts"

const everyFile = { covers: ApprovalMatcher.tool.description }

/** `slow` is asked every time, and takes its time. */
const slowly = M.withPolicy(({ encodedParams }) =>
  M.pathOf({ params: encodedParams }) === "slow" ? Approval.needsApproval({ rememberable: false }) : undefined
)

const answering = (remember: ApprovalMemory.Remember, meanwhile: Effect.Effect<unknown>) =>
  M.person((request) => {
    switch (M.pathOf(request)) {
      case "a":
        return M.yes(remember)
      case "slow":
        return Effect.as(meanwhile, true)
      default:
        return false
    }
  })

/** An answer is written down where its call runs, which the next question does not wait for. */
const remembered = Effect.gen(function*() {
  while ((yield* M.listed()).length === 0) yield* idle
}).pipe(Effect.orDie)

describe("memory: within a turn", () => {
  const story = (
    title: string,
    options: {
      readonly remember: ApprovalMemory.Remember
      readonly meanwhile: Effect.Effect<unknown>
      readonly asked: ReadonlyArray<string>
    },
    memory = ApprovalMemory.layerSession()
  ) =>
    M.everyWay(title, function*(way) {
      const { chat } = yield* M.deleting(way, [["a", "slow", "c"], "done"])
      const ada = answering(options.remember, Effect.andThen(remembered, options.meanwhile))
      yield* slowly(ada.answers(chat.send("go")))
      assert.deepStrictEqual(ada.seen, options.asked)
    }, memory)

  story("an answer holds for its siblings as long as it says", {
    remember: { ...everyFile, expiresIn: 60_000 },
    meanwhile: TestClock.adjust("59 seconds"),
    asked: ["a", "slow"]
  })

  story("and no longer", {
    remember: { ...everyFile, expiresIn: 60_000 },
    meanwhile: TestClock.adjust("60 seconds"),
    asked: ["a", "slow", "c"]
  })

  story(
    "nor longer than the memory keeps it",
    { remember: everyFile, meanwhile: TestClock.adjust("60 seconds"), asked: ["a", "slow", "c"] },
    ApprovalMemory.layerSession({ timeToLive: "1 minute" })
  )

  story("what was taken back meanwhile is asked", {
    remember: everyFile,
    meanwhile: Effect.gen(function*() {
      const memory = yield* ApprovalMemory.ApprovalMemory
      for (const { id, scope } of yield* M.listed()) yield* memory.revoke(scope, id)
    }).pipe(Effect.orDie),
    asked: ["a", "slow", "c"]
  })

  C.everyWay("where no conversation is named too, an answer holds as long as it says", (way) =>
    Effect.gen(function*() {
      for (const seconds of [59, 60]) {
        const { chat } = yield* M.deleting(way, [["a", "slow", "c"], "done"])
        const ada = answering({ ...everyFile, expiresIn: 60_000 }, TestClock.adjust(`${seconds} seconds`))
        yield* slowly(ada.answers(chat.send("go")))
        assert.deepStrictEqual(ada.seen, seconds === 59 ? ["a", "slow"] : ["a", "slow", "c"])
      }
    }).pipe(Effect.provide(ApprovalMemory.layerSession())))
})

describe("memory: what cannot be remembered as it is said", () => {
  const { key, path } = ApprovalMatcher
  const said: Record<string, readonly [ApprovalMatcher.Description, RegExp]> = {
    "a key without a name": [key((params) => params.path)({ path: "a" }).description, /has no name.*key\(select/],
    "a key that nobody gave": [
      key((params) => params.path, { name: "file" })({ path: "a" }).description,
      /no function for the key `file`/
    ],
    "other paths": [path(["src/**"], { param: "path" }).description, /does not cover the call that was answered/],
    "a command": [{ _tag: "Shell", allowed: ["git *"], param: "command" }, /@assent\/shell/]
  }
  for (const [what, [covers, why]] of Object.entries(said)) {
    M.everyWay(`is asked again, and a warning says why: ${what}`, function*(way) {
      const { chat } = yield* M.deleting(way, [["a"], ["a"]])
      const ada = M.person(() => M.yes({ covers }))
      const [, lines] = yield* logged(ada.answers(Effect.andThen(chat.send("one"), chat.send("two"))))
      assert.deepStrictEqual(ada.seen, ["a", "a"])
      assert.match(lines.map(({ text }) => text).join("\n"), why)
    })
  }
})

describe("memory within a turn", () => {
  const gated = { parameters: { path: Schema.String }, success: Schema.String, needsApproval: true } as const
  const toolkit = C.withHandlers(Toolkit.make(Tool.make("DeleteFile", gated), Tool.make("Publish", gated)), {
    DeleteFile: () => Effect.succeed("deleted"),
    Publish: () => Effect.succeed("published")
  })

  M.everyWay("an answer about one tool is none about another with the same parameters", function*(way) {
    for (const answer of [M.yes("session"), M.no("no", "session")]) {
      const asked: Array<string> = []
      const ada = M.person((request) => (asked.push(request.toolName), answer))
      const calls = ["DeleteFile", "Publish"].map((name, index) => Support.call(`c${index}`, name, { path: "a" }))
      const chat = yield* C.start({ way, toolkit: yield* toolkit, turns: [calls, "done"] })
      yield* ada.answers(chat.send("go")).pipe(Effect.provide(ApprovalMemory.layerSession()))
      assert.deepStrictEqual(asked, ["DeleteFile", "Publish"])
    }
  })

  M.everyWay("a call that needs nobody uses up none of what was approved", function*(way) {
    const { chat, runs } = yield* M.deleting(way, [["a"], ["a"], ["a"], ["a"]])
    const ada = M.person(() => M.yes({ uses: 1 }))
    yield* ada.answers(chat.send("one"))
    yield* ada.answers(chat.send("two")).pipe(M.withPolicy(() => Approval.preApproved()))
    yield* ada.answers(chat.send("three"))
    assert.lengthOf(ada.seen, 1)
    yield* ada.answers(chat.send("four"))
    assert.deepStrictEqual([ada.seen.length, runs.length], [2, 4])
  })
})
