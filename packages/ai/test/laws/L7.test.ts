/**
 * L7, well-formed always: what a provider receives has every tool call directly followed by its one result, all
 * results of one assistant message in one tool message, and no approval part it did not issue; on this turn and on
 * every later one, whoever wrote the history. Histories here hold no open request; `L7.writers` has those that do.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Random, Schema, Stream } from "effect"
import { Chat as UpstreamChat } from "effect/ai"
import { LanguageModel, Prompt } from "../../src/index.ts"
import { ScriptedModel, StrictProvider } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"

const user = (text: string): Prompt.Message => Prompt.userMessage({ content: [Prompt.textPart({ text })] })
const call = (id: string, name = "ReadFile") =>
  Prompt.toolCallPart({ id, name, params: { path: id }, providerExecuted: false })
const result = (id: string, text = `content of ${id}`, name = "ReadFile") =>
  Prompt.toolResultPart({ id, name, isFailure: false, result: text, providerExecuted: false })
const request = (id: string) => Prompt.toolApprovalRequestPart({ approvalId: `approval-${id}`, toolCallId: id })
const response = (id: string, approved = true) =>
  Prompt.toolApprovalResponsePart({ approvalId: `approval-${id}`, approved })
const assistant = (...content: ReadonlyArray<Prompt.AssistantMessagePart>): Prompt.Message =>
  Prompt.assistantMessage({ content })
const tool = (...content: ReadonlyArray<Prompt.ToolMessagePart>): Prompt.Message => Prompt.toolMessage({ content })
const text = (text: string) => Prompt.textPart({ text })

/** Histories, and the results their calls should have: `true` for the one that was written, `false` for a failure. */
const histories: Record<string, {
  readonly messages: ReadonlyArray<Prompt.Message>
  readonly results: ReadonlyArray<readonly [id: string, written: boolean]>
}> = {
  "split results": {
    messages: [user("1"), assistant(call("a"), call("b")), tool(result("a")), tool(result("b")), user("2")],
    results: [["a", true], ["b", true]]
  },
  "results split by a user message": {
    messages: [user("1"), assistant(call("a"), call("b")), tool(result("a")), user("2"), tool(result("b"))],
    results: [["a", true], ["b", true]]
  },
  "results split by an assistant message": {
    messages: [user("1"), assistant(call("a"), call("b")), tool(result("a")), assistant(text("x")), tool(result("b"))],
    results: [["a", true], ["b", true]]
  },
  "a result in the wrong place, as upstream's Chat writes it": {
    messages: [user("1"), assistant(call("a")), assistant(text("done")), tool(result("a")), user("2")],
    results: [["a", true]]
  },
  "two turns' results the wrong way round": {
    messages: [
      user("1"),
      assistant(call("a")),
      user("2"),
      assistant(call("b")),
      tool(result("b")),
      tool(result("a"))
    ],
    results: [["a", true], ["b", true]]
  },
  "duplicate results": {
    messages: [user("1"), assistant(call("a")), tool(result("a"), result("a", "again")), tool(result("a", "more"))],
    results: [["a", true]]
  },
  "an orphan result": {
    messages: [user("1"), tool(result("zzz")), assistant(text("x")), user("2")],
    results: []
  },
  "an orphan result beside a good one": {
    messages: [user("1"), assistant(call("a")), tool(result("zzz"), result("a"))],
    results: [["a", true]]
  },
  "a missing result": {
    messages: [user("1"), assistant(call("a")), user("2")],
    results: [["a", false]]
  },
  "one of two results missing": {
    messages: [user("1"), assistant(call("a"), call("b")), tool(result("b")), user("2")],
    results: [["a", false], ["b", true]]
  },
  "a missing result at the very end": {
    messages: [user("1"), assistant(call("a"))],
    results: [["a", false]]
  },
  "a local result inside the assistant message": {
    messages: [user("1"), assistant(call("a"), result("a")), user("2")],
    results: [["a", true]]
  },
  "a result of another name": {
    messages: [user("1"), assistant(call("a")), tool(result("a", "x", "DeleteFile")), user("2")],
    results: [["a", false]]
  },
  "two calls of one id in one message": {
    messages: [user("1"), assistant(call("a"), call("a")), tool(result("a"), result("a", "second")), user("2")],
    results: [["a", true], ["a", true]]
  },
  "a request-only message": {
    messages: [user("1"), assistant(call("a"), request("a")), assistant(request("a")), tool(result("a")), user("2")],
    results: [["a", true]]
  },
  "approval parts of a settled call": {
    messages: [
      user("1"),
      assistant(call("a"), request("a")),
      tool(response("a")),
      tool(result("a")),
      assistant(text("done")),
      user("2")
    ],
    results: [["a", true]]
  },
  "approval parts that belong to nothing": {
    messages: [
      user("1"),
      assistant(text("x"), request("zzz")),
      tool(response("zzz"), response("yyy", false)),
      user("2")
    ],
    results: []
  },
  "a provider's result in a tool message": {
    messages: [
      user("1"),
      assistant(Prompt.toolCallPart({ id: "p", name: "ReadFile", params: { path: "p" }, providerExecuted: true })),
      tool(Prompt.toolResultPart({ id: "p", name: "ReadFile", isFailure: false, result: "x", providerExecuted: true })),
      user("2")
    ],
    results: [["p", true]]
  },
  "a provider's call without a result": {
    messages: [
      user("1"),
      assistant(Prompt.toolCallPart({ id: "p", name: "ReadFile", params: { path: "p" }, providerExecuted: true })),
      user("2")
    ],
    results: []
  },
  "empty messages": {
    messages: [user("1"), assistant(), tool(), assistant(call("a")), tool(), tool(result("a")), user("2")],
    results: [["a", true]]
  }
}

describe("L7 malformed histories", () => {
  for (const [name, { messages, results }] of Object.entries(histories)) {
    C.everyWay(`L7 ${name}: the provider gets a well-formed prompt, now and on the next turn`, function*(way) {
      const { runs, toolkit } = yield* C.fileTools
      const chat = yield* C.start({ way, toolkit, turns: ["ok", "bye"], history: Prompt.fromMessages(messages) })
      for (const message of ["go on", "go on again"]) {
        yield* chat.send(message)
        const prompt = yield* chat.lastPrompt
        C.assertWellFormed(prompt)
        assert.deepStrictEqual(runs, [], "nothing of a history runs")
        const given = C.resultsOf(prompt)
        assert.deepStrictEqual(given.map((part) => !part.isFailure), results.map(([, written]) => written))
        for (const part of given) if (part.isFailure) C.reasonOf(part)
        const texts = (prompt: Prompt.Prompt) =>
          prompt.content.flatMap((message) =>
            typeof message.content === "string"
              ? [message.content]
              : message.content.flatMap((part) => part.type === "text" ? [part.text] : [])
          )
        assert.deepStrictEqual(
          texts(prompt),
          [...texts(Prompt.fromMessages(messages)), ...(message === "go on" ? [] : ["go on", "ok"]), message],
          "nothing that was said is lost"
        )
      }
    })
  }

  for (const [name, { messages }] of Object.entries(histories)) {
    it.effect(`L7 ${name}: generateObject's provider gets a well-formed prompt too`, () =>
      C.fresh(Effect.gen(function*() {
        const { runs, toolkit } = yield* C.fileTools
        const script = yield* ScriptedModel.make({ turns: [`{"a":1}`] })
        const prompt = Prompt.fromMessages([...messages, user("go on")])
        const schema = Schema.Struct({ a: Schema.Number })
        const response = yield* LanguageModel.withApproval(script.model).generateObject({ prompt, toolkit, schema })
        assert.deepStrictEqual(response.value, { a: 1 })
        assert.deepStrictEqual(runs, [])
      })))
  }

  C.everyWay("L7 B17 approval parts left over, without a toolkit: none reaches the provider", function*(way) {
    const { messages } = histories["approval parts of a settled call"]!
    const chat = yield* C.start({ way, turns: ["ok"], history: Prompt.fromMessages(messages) })
    assert.strictEqual((yield* chat.send("go on")).text, "ok")
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  C.everyWay("L7 no result is given to two calls that share an id across messages", function*(way) {
    const { toolkit } = yield* C.fileTools
    const history = Prompt.fromMessages([
      user("1"),
      assistant(call("a")),
      tool(result("a", "first")),
      user("2"),
      assistant(call("a")),
      tool(result("a", "second"))
    ])
    const chat = yield* C.start({ way, toolkit, turns: ["ok"], history })
    yield* chat.send("go on")
    assert.deepStrictEqual(C.resultsOf(yield* chat.lastPrompt).map((part) => part.result), ["first", "second"])
  })
})

describe("L7 identity", () => {
  const wellFormed = Prompt.fromMessages([
    Prompt.systemMessage({ content: "be brief" }),
    user("1"),
    assistant(text("let me see"), call("a"), call("b")),
    tool(result("a"), result("b")),
    assistant(text("done")),
    user("2")
  ])

  it.effect("L7 a well-formed history passes as the very same Prompt object", () =>
    C.fresh(Effect.gen(function*() {
      const { toolkit } = yield* C.fileTools
      const script = yield* ScriptedModel.make({ turns: ["ok", "ok", `{"a":1}`] })
      const model = LanguageModel.withApproval(script.model)
      yield* model.generateText({ prompt: wellFormed, toolkit })
      yield* Stream.runDrain(model.streamText({ prompt: wellFormed, toolkit }))
      yield* model.generateObject({ prompt: wellFormed, toolkit, schema: Schema.Struct({ a: Schema.Number }) })
      const requests = yield* script.requests
      assert.lengthOf(requests, 3)
      for (const { prompt } of requests) assert.strictEqual(prompt, wellFormed)
    })))

  C.everyWay("L7 messages of a well-formed history keep their identity", function*(way) {
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: ["ok", "bye"], history: wellFormed })
    for (const message of ["3", "4"]) {
      yield* chat.send(message)
      const prompt = yield* chat.lastPrompt
      for (const [index, message] of wellFormed.content.entries()) assert.strictEqual(prompt.content[index], message)
    }
  })

  for (const [name, { messages }] of Object.entries(histories)) {
    it.effect(`L7 ${name}: untouched messages keep their identity, rewritten ones are interned`, () =>
      C.fresh(Effect.gen(function*() {
        const { toolkit } = yield* C.fileTools
        const before = [user("0"), assistant(call("before")), tool(result("before"))]
        const after = [user("3"), assistant(call("after")), tool(result("after")), user("4")]
        const prompt = Prompt.fromMessages([...before, ...messages, ...after])
        const chat = yield* C.start({ way: "generateText", toolkit, turns: ["ok", "bye"], history: prompt })
        yield* chat.send([])
        const first = yield* chat.lastPrompt
        for (const message of [...before, ...after]) assert.include(first.content, message)
        for (const message of messages) if (message.role === "user") assert.include(first.content, message)
        yield* chat.send("more")
        const second = yield* chat.lastPrompt
        for (const [index, message] of first.content.entries()) assert.strictEqual(second.content[index], message)
      })))
  }
})

describe("L7 rewritten messages", () => {
  C.everyWay("L7 a rewritten message keeps its other parts, its options, and their order", function*(way) {
    const { toolkit } = yield* C.fileTools
    const options = { test: { cache: true } }
    const reasoning = Prompt.reasoningPart({ text: "hm", options })
    const [before, between] = [text("first"), text("second")]
    const [a, b] = [call("a"), call("b")]
    const history = Prompt.fromMessages([
      user("1"),
      Prompt.assistantMessage({ content: [reasoning, before, a, request("a"), between, b], options }),
      tool(response("a"), result("b")),
      tool(result("a"))
    ])
    const chat = yield* C.start({ way, toolkit, turns: ["ok"], history })
    yield* chat.send([])
    const prompt = yield* chat.lastPrompt
    C.assertWellFormed(prompt)
    const rewritten = prompt.content[1]
    assert.deepStrictEqual(rewritten!.options, options)
    const expected = [reasoning, before, a, between, b]
    assert.lengthOf(rewritten!.content, expected.length)
    for (const [index, part] of expected.entries()) assert.strictEqual(rewritten!.content[index], part)
  })
})

describe("L7 random histories", () => {
  const pick = <A>(list: ReadonlyArray<A>) => Effect.map(Random.nextIntBetween(0, list.length - 1), (i) => list[i]!)
  const randomPart = Effect.flatMap(
    pick(["a", "b", "c"]),
    (id) => pick([text("hm"), call(id), result(id), request(id), response(id), response(id, false)])
  )
  const randomMessage = (repeated: boolean) =>
    Effect.gen(function*() {
      const parts = yield* Effect.replicateEffect(randomPart, yield* pick([0, 1, 2, 3, 4]))
      const kind = yield* pick(["user", "assistant", "assistant", "tool", "tool"])
      if (kind === "user") return user("hi")
      if (kind === "tool") {
        return tool(...parts.filter((part) => part.type === "tool-result" || part.type === "tool-approval-response"))
      }
      const content = parts.filter((part) => part.type !== "tool-approval-response")
      return assistant(
        ...(repeated ?
          content :
          content.filter((part, index) =>
            part.type !== "tool-call" ||
            content.findIndex((other) => other.type === part.type && other.id === part.id) === index
          ))
      )
    })
  const randomHistory = (repeated: boolean) =>
    Effect.flatMap(pick([1, 2, 3, 4, 5, 6, 7, 8]), (n) => Effect.replicateEffect(randomMessage(repeated), n))

  for (const repeated of [false, true]) {
    it.effect(`L7 whatever the history${repeated ? ", ids repeated within a message" : ""}: a well-formed prompt`, () =>
      C.fresh(Effect.gen(function*() {
        const { runs, toolkit } = yield* C.fileTools
        for (let seed = 0; seed < 150; seed++) {
          const messages = yield* Random.withSeed(randomHistory(repeated), seed)
          const told = `seed ${seed}: ${JSON.stringify(C.outline(Prompt.fromMessages(messages)))}`
          const script = yield* ScriptedModel.make({ turns: ["ok", "bye"], strict: false })
          const chat = yield* UpstreamChat.fromPrompt(Prompt.fromMessages(messages))
          yield* Effect.gen(function*() {
            yield* chat.generateText({ prompt: "go on", toolkit })
            yield* Stream.runDrain(chat.streamText({ prompt: "more", toolkit }))
          }).pipe(
            Effect.provideService(LanguageModel.LanguageModel, LanguageModel.withApproval(script.model)),
            Effect.catchCause((cause) => Effect.die(new Error(told, { cause })))
          )
          const requests = yield* script.requests
          assert.lengthOf(requests, 2, told)
          for (const { prompt } of requests) assert.deepStrictEqual(StrictProvider.check(prompt), [], told)
          assert.deepStrictEqual(runs, [], told)
        }
      })))
  }
})
