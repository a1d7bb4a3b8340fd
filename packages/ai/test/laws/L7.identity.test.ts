/** L7 messages that need no change stay the objects they are, so that incremental requests stay incremental. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { assistant, call, result, results, search, send, tool, user } from "./byHand.ts"
import * as Support from "./support.ts"

describe("L7 messages that need no change stay the same objects", () => {
  /** Two turns on one history that is not in order, for what the provider gets each time. */
  const both = (history: ReadonlyArray<Prompt.Message>) =>
    Effect.gen(function*() {
      const one = yield* send("generateText", history)
      const two = yield* send("generateText", history)
      return [one.sent!.content, two.sent!.content] as const
    })

  Support.single(
    "L7 results that stand in order stay as they are, beside a message that has to be rewritten",
    function*() {
      const whole = tool(result("c2", "two"), result("c1", "one"))
      const calls = assistant(call("c1"), call("c2"))
      const history = [
        user("Go on."),
        calls,
        whole,
        user("More."),
        assistant(call("c3")),
        tool(result("c3", 3), result("c3", 4))
      ]
      const [one, two] = yield* both(history)
      assert.strictEqual(one[1], calls)
      assert.strictEqual(one[2], whole)
      assert.deepStrictEqual(results(Prompt.fromMessages(one)), ["two", "one", 3])
      for (const index of one.keys()) assert.strictEqual(two[index], one[index], `message ${index}`)
    }
  )

  Support.single("L7 L9 an answer that passes stays the object it is, or is rewritten once", function*() {
    for (const more of [[], [Support.answerPart("unknown", true)]]) {
      const answer = tool(Support.answerPart("mcpr_1", true), ...more)
      const history = Prompt.fromMessages([
        user("Go on."),
        assistant(search("p1"), Support.requestPart("mcpr_1", "p1")),
        answer
      ])
      const seen: Array<Prompt.Message> = []
      for (let i = 0; i < 2; i++) {
        const script = yield* ScriptedModel.make({
          turns: ["done"],
          strict: { allowProviderApprovals: ["mcpr_1"] }
        })
        yield* Support.takeTurn("generateText", { model: script.model, history })
        seen.push((yield* script.requests)[0]!.prompt.content.at(-1)!)
      }
      assert.strictEqual(seen[0], seen[1])
      assert.strictEqual(seen[0] === answer, more.length === 0)
    }
  })

  const change = (name: string, later: Parameters<typeof result>[1], isFailure = false) => ({ isFailure, later, name })
  for (const { isFailure, later, name } of [change("another result", "two"), change("a failure", "one", true)]) {
    Support.single(
      `L6 L7 what a later turn knows better takes the place of what was sent before: ${name}`,
      function*() {
        const calls = assistant(call("c0"), call("c1"), Support.requestPart("x", "c1"))
        const sent: Array<unknown> = []
        for (const part of [result("c1", "one"), { ...result("c1", later), isFailure }]) {
          const results = tool(result("c0", "zero"), part)
          const it = yield* send("generateText", [user("Go on."), calls, user("More."), results])
          sent.push(
            ...Support.partsOf(it.sent!).filter((part) => part.type === "tool-result")
              .map((part) => [part.result, part.isFailure])
          )
        }
        assert.deepStrictEqual(sent, [["zero", false], ["one", false], ["zero", false], [later, isFailure]])
      }
    )
  }
})
