/**
 * What a provider receives of its own calls, requests and answers, and which messages stay the objects they were: mutants of
 * `internal/transcript.ts` and `internal/providerPrompt.ts`.
 */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { LanguageModel, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as Support from "../laws/support.ts"
import { assistant, call, found, result, results, search, send, text, tool, user } from "./parts.ts"

describe("L9 results of the provider's own calls", () => {
  Support.forEachMode(
    "L9 that stand in tool messages go back behind their calls, each once",
    (mode) =>
      Effect.gen(function*() {
        const it = yield* send(mode, [
          user("Go on."),
          assistant(search("p1"), search("p2")),
          tool(found("p2"), found("p1"), found("p2", "again"), found("p3"))
        ])
        assert.deepStrictEqual(
          it.sent!.content.map((message) => message.role),
          ["user", "assistant"]
        )
        assert.deepStrictEqual(results(it.sent), ["found p2", "found p1"])
      })
  )

  Support.forEachMode(
    "L9 without their calls they pass where they stand, or are dropped, and nothing fails",
    (mode) =>
      Effect.gen(function*() {
        const behind = yield* send(mode, [user("Go on."), assistant(text("so"), found("p1"))])
        assert.deepStrictEqual(results(behind.sent), ["found p1"])
        const moved = yield* send(mode, [user("Go on."), assistant(text("so")), tool(found("p1"))])
        assert.deepStrictEqual(results(moved.sent), [])
        const other = yield* send(mode, [user("Go on."), assistant(search("p1"), found("p2"), found("p1"))])
        assert.deepStrictEqual(results(other.sent), ["found p2", "found p1"])
      })
  )

  Support.forEachMode(
    "L10 a request whose call was trimmed is void, whoever else called",
    (mode) =>
      Effect.gen(function*() {
        const it = yield* send(mode, [
          user("Go on."),
          assistant(search("p1"), found("p1"), Support.requestPart("r", "p2"))
        ])
        assert.deepStrictEqual([it.turn.requests, it.turn.text], [[], "done"])
        assert.deepStrictEqual(results(it.sent), ["found p1"])
      })
  )

  const approvals = (prompt: Prompt.Prompt) =>
    Support.partsOf(prompt).flatMap((part) => part.type.startsWith("tool-approval") ? [part.type] : [])
  const asking = assistant(search("p1"), Support.requestPart("mcpr_1", "p1"))
  const answer = tool(Support.answerPart("mcpr_1", true))
  const late: Record<string, readonly [history: ReadonlyArray<Prompt.Message>, passes: boolean]> = {
    "at once": [[asking, answer], true],
    "behind a new message that the model has not seen": [[asking, user("Well?"), answer], true],
    "behind a poll": [[asking, user("Well?"), assistant(Support.requestPart("mcpr_1", "p1")), answer], true],
    "when the model had said more by itself": [[asking, assistant(text("I wait.")), answer], true],
    "when the model had answered a new message": [[asking, user("Well?"), assistant(text("Well.")), answer], false],
    "when the model had answered, and asked again": [
      [asking, user("Well?"), assistant(text("Well."), Support.requestPart("mcpr_1", "p1")), answer],
      false
    ]
  }
  for (const [when, [history, passes]] of Object.entries(late)) {
    Support.forEachMode(
      `L6 L9 an answer to the provider's request, ${when}: ${passes ? "passes" : "is too late"}`,
      (mode) =>
        Effect.gen(function*() {
          const script = yield* ScriptedModel.make({
            turns: [],
            afterLastTurn: "done",
            strict: { allowProviderApprovals: ["mcpr_1"] }
          })
          const tools = yield* Support.makeTools()
          yield* Support.takeTurn(mode, {
            model: script.model,
            toolkit: tools.toolkit,
            history: Prompt.fromMessages([user("Go on."), ...history])
          })
          const requests = yield* script.requests
          assert.deepStrictEqual(approvals(requests.at(-1)!.prompt), passes ? ["tool-approval-response"] : [])
        }),
      ["generateText", "streamText"]
    )
  }

  for (const onNewMessage of ["keep", "hold", "fail"] as const) {
    Support.forEachMode(
      `L6 L9 only a new message that supersedes makes an answer late: ${onNewMessage}`,
      (mode) =>
        Effect.gen(function*() {
          const script = yield* ScriptedModel.make({ turns: ["done"], strict: { allowProviderApprovals: ["mcpr_1"] } })
          yield* Support.takeTurn(mode, {
            model: script.model,
            history: Prompt.fromMessages([user("Go on."), asking, user("Well?"), assistant(text("Well.")), answer]),
            approval: { onNewMessage }
          })
          const requests = yield* script.requests
          assert.deepStrictEqual(approvals(requests.at(-1)!.prompt), ["tool-approval-response"])
        }),
      ["generateText", "streamText"]
    )
  }

  Support.forEachMode(
    "L6 L9 a request that nobody answered before a new message reaches no provider, not even our make",
    (mode) =>
      Effect.gen(function*() {
        const script = yield* Support.answering
        const model = yield* LanguageModel.make(script.params)
        const tools = yield* Support.makeTools()
        yield* Support.takeTurn(mode, {
          model,
          toolkit: tools.toolkit,
          history: Prompt.fromMessages([user("Go on."), asking]),
          prompt: "Well?"
        })
        const requests = yield* script.requests
        assert.deepStrictEqual(requests.map(({ prompt }) => approvals(prompt)), [[]])
      })
  )
})

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
    () =>
      Effect.gen(function*() {
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
      })
  )

  Support.single(
    "L7 L9 an answer that passes stays the object it is, or is rewritten once",
    () =>
      Effect.gen(function*() {
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
  )

  const change = (name: string, later: Parameters<typeof result>[1], isFailure = false) => ({ isFailure, later, name })
  for (const { isFailure, later, name } of [change("another result", "two"), change("a failure", "one", true)]) {
    Support.single(
      `L6 L7 what a later turn knows better takes the place of what was sent before: ${name}`,
      () =>
        Effect.gen(function*() {
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
        })
    )
  }
})
