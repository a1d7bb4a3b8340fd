/**
 * L7, well-formed always: histories with approvals, whoever wrote them: upstream's Chat, upstream's and our own
 * `Prompt.fromResponseParts`, an export, and hands that dropped, doubled or moved messages. And what follows from kept
 * identity: requests stay incremental.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Random } from "effect"
import { Prompt as UpstreamPrompt } from "effect/ai"
import { Approval, Chat, LanguageModel, Prompt, type Response, ResponseIdTracker } from "../../src/index.ts"
import * as Asked from "./asked.ts"
import { assistant, call, result, results, send, tool, user } from "./byHand.ts"
import * as C from "./conversation.ts"
import * as Support from "./support.ts"

const two = [C.deleteCall("c1", "a"), C.deleteCall("c2", "b")]
const { approveAll } = C

const writers: Record<string, (parts: ReadonlyArray<Response.AnyPart>) => Prompt.Prompt> = {
  "our fromResponseParts": Prompt.fromResponseParts,
  "upstream's fromResponseParts": UpstreamPrompt.fromResponseParts
}

/** One approved, one denied, then two more messages: every prompt must hold each result once, at its call. */
const story = Effect.fnUntraced(function*(options: Pick<C.StartOptions, "way" | "write">) {
  const { runs, toolkit } = yield* C.fileTools
  const chat = yield* C.start({ ...options, toolkit, turns: [two, "done", [C.readCall("r1", "x")], "read", "bye"] })
  const asked = yield* chat.send("tidy up")
  yield* chat.send([])
  yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
  yield* chat.send(Prompt.approvalResponses([Approval.deny(asked.requests[1]!, "keep b")]))
  const settled = ["user:[tidy up]", "assistant:[call c1, call c2]", "tool:[result c1, failure c2]"]
  assert.deepStrictEqual(C.outline(yield* chat.lastPrompt), settled)
  yield* chat.send("read x")
  assert.deepStrictEqual(C.outline(yield* chat.lastPrompt), [...settled, "assistant:[done]", "user:[read x]"])
  yield* chat.send([])
  const read = [...settled, "assistant:[done]", "user:[read x]", "assistant:[call r1]", "tool:[result r1]"]
  assert.deepStrictEqual(C.outline(yield* chat.lastPrompt), read)
  yield* chat.send("thanks")
  const prompt = yield* chat.lastPrompt
  assert.deepStrictEqual(C.outline(prompt), [...read, "assistant:[read]", "user:[thanks]"])
  C.assertWellFormed(prompt)
  assert.deepStrictEqual(C.resultsOf(prompt)[0]!.result, { deleted: "a" })
  assert.include(C.reasonOf(C.resultsOf(prompt)[1]!), "keep b")
  assert.deepStrictEqual(runs, ["delete a", "read x"])
})

describe("L7 writers", () => {
  for (const [name, write] of Object.entries(writers)) {
    for (const way of ["generateText", "streamText"] as const) {
      it.effect(`L7 order: a history written by ${name} [${way}]`, () => C.fresh(story({ way, write })))
    }
  }

  for (const way of ["Chat.generateText", "Chat.streamText"] as const) {
    it.effect(`L7 order: a history written by upstream's Chat [${way}]`, () => C.fresh(story({ way })))
  }

  it.effect("L7 order: our fromResponseParts puts results before the text that came after them", () =>
    C.fresh(Effect.gen(function*() {
      const { toolkit } = yield* C.fileTools
      const chat = yield* C.start({ way: "generateText", toolkit, turns: [[two[0]!], "done"] })
      yield* chat.send(approveAll(yield* chat.send("tidy up")))
      const roles = (yield* chat.history).content.map((message) => message.role)
      assert.deepStrictEqual(roles, ["user", "assistant", "tool", "tool", "assistant"])
    })))

  C.everyWay("L7 a history that was exported and read again goes on", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [two, "done", "bye"] })
    const exported = Effect.gen(function*() {
      const copy = yield* Chat.fromPrompt(yield* chat.history)
      const read = yield* Chat.fromJson(yield* copy.exportJson)
      yield* chat.setHistory(
        yield* Effect.flatMap(read.exportJson, (json) => Effect.succeed(JSON.parse(json))).pipe(
          Effect.map((json: { readonly content: ReadonlyArray<Prompt.MessageEncoded> }) => Prompt.make(json.content))
        )
      )
    })
    const asked = yield* chat.send("tidy up")
    yield* exported
    yield* chat.send(approveAll(asked))
    yield* exported
    assert.strictEqual((yield* chat.send("thanks")).text, "bye")
    C.assertWellFormed(yield* chat.lastPrompt)
    assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b"])
  })
})

describe("L7 incremental requests", () => {
  C.everyWay("L7 B29 with ResponseIdTracker the turns after a settled approval are incremental", function*(way) {
    const { toolkit } = yield* C.fileTools
    const tracker = yield* ResponseIdTracker.make
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [two, "done", "3", "4"],
      script: { responseIds: true }
    })
    yield* Effect.gen(function*() {
      yield* chat.send(approveAll(yield* chat.send("tidy up")))
      yield* chat.send("three")
      yield* chat.send("four")
    }).pipe(Effect.provideService(ResponseIdTracker.ResponseIdTracker, tracker))
    const requests = yield* chat.script.requests
    for (const { prompt } of requests) C.assertWellFormed(prompt)
    assert.deepStrictEqual(
      requests.slice(1).map(({ incrementalPrompt, previousResponseId }) => [
        previousResponseId,
        incrementalPrompt === undefined ? undefined : C.outline(incrementalPrompt)
      ]),
      [
        ["response-1", ["tool:[result c1, result c2]"]],
        ["response-2", ["user:[three]"]],
        ["response-3", ["user:[four]"]]
      ]
    )
  })

  C.everyWay("L7 B29 also after a partial batch and polling", function*(way) {
    const { toolkit } = yield* C.fileTools
    const tracker = yield* ResponseIdTracker.make
    const chat = yield* C.start({ way, toolkit, turns: [two, "done", "3"], script: { responseIds: true } })
    yield* Effect.gen(function*() {
      const asked = yield* chat.send("tidy up")
      yield* chat.send([])
      yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[1]!)]))
      yield* chat.send(Prompt.approvalResponses([Approval.deny(asked.requests[0]!)]))
      yield* chat.send("three")
    }).pipe(Effect.provideService(ResponseIdTracker.ResponseIdTracker, tracker))
    const last = (yield* chat.script.requests).at(-1)!
    assert.strictEqual(last.previousResponseId, "response-2")
    assert.deepStrictEqual(C.outline(last.incrementalPrompt!), ["user:[three]"])
  })

  C.everyWay("L7 B29 the turns after a superseded request are incremental", function*(way) {
    const { toolkit } = yield* C.fileTools
    const tracker = yield* ResponseIdTracker.make
    const chat = yield* C.start({ way, toolkit, turns: [two, "2", "3"], script: { responseIds: true } })
    yield* Effect.gen(function*() {
      for (const message of ["one", "two", "three"]) yield* chat.send(message)
    }).pipe(Effect.provideService(ResponseIdTracker.ResponseIdTracker, tracker))
    const requests = yield* chat.script.requests
    assert.deepStrictEqual(requests.map((request) => request.previousResponseId), [
      undefined,
      "response-1",
      "response-2"
    ])
    assert.deepStrictEqual(requests.slice(1).map((request) => C.outline(request.incrementalPrompt!)), [
      ["tool:[failure c1, failure c2]", "user:[two]"],
      ["user:[three]"]
    ])
  })

  C.everyWay(
    "L7 B29 L6 a result that comes late is told, and every request after the first is incremental",
    function*(way) {
      const { toolkit } = yield* C.fileTools
      const tracker = yield* ResponseIdTracker.make
      const chat = yield* C.start({
        way,
        toolkit,
        turns: [[two[0]!], "2", "3", "4"],
        script: { responseIds: true },
        approval: { onNewMessage: "keep" }
      })
      yield* Effect.gen(function*() {
        const asked = yield* chat.send("one")
        yield* chat.send("two")
        yield* chat.send(Prompt.concat(approveAll(asked), "three"))
        yield* chat.send("four")
      }).pipe(Effect.provideService(ResponseIdTracker.ResponseIdTracker, tracker))
      const [, second, third, fourth] = yield* chat.script.requests
      const note = C.lateNote({ tool: "DeleteFile", toolCallId: "c1", isFailure: false, result: { deleted: "a" } })
      assert.deepStrictEqual([second, third, fourth].map((request) => C.outline(request!.incrementalPrompt!)), [
        ["tool:[failure c1]", "user:[two]"],
        ["user:[three]", `user:[${note}]`],
        ["user:[four]"]
      ])
    }
  )

  C.everyWay("L7 rewritten messages are interned: the very same objects in the next turn's prompt", function*(way) {
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [two, "done", "3", "4"] })
    yield* chat.send(approveAll(yield* chat.send("tidy up")))
    let before = yield* chat.lastPrompt
    for (const message of ["three", "four"]) {
      yield* chat.send(message)
      const prompt = yield* chat.lastPrompt
      for (const [index, message] of before.content.entries()) assert.strictEqual(prompt.content[index], message)
      before = prompt
    }
  })
})

describe("L7 histories that other hands changed", () => {
  it.effect("L7 messages dropped, doubled or moved: well-formed, at most once, and only what was approved", () =>
    C.fresh(Effect.gen(function*() {
      for (let seed = 0; seed < 100; seed++) {
        const { runs, toolkit } = yield* C.fileTools
        const way = C.ways[seed % 4]!
        const chat = yield* C.start({
          way,
          toolkit,
          turns: [two, [C.deleteCall("c1", "c")], "done", "bye"],
          script: { afterLastTurn: "bye", strict: false }
        })
        const asked = yield* chat.send("tidy up")
        yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
        yield* chat.send(Prompt.approvalResponses([Approval.deny(asked.requests[1]!)]))
        const shaken = yield* Effect.gen(function*() {
          const messages = [...(yield* chat.history).content]
          for (let change = 0; change < 3; change++) {
            const from = yield* Random.nextIntBetween(0, messages.length - 1)
            const to = yield* Random.nextIntBetween(0, messages.length - 1)
            const kind = yield* Random.nextIntBetween(0, 2)
            if (kind === 0) messages.splice(from, 1)
            else if (kind === 1) messages.splice(to, 0, messages[from]!)
            else messages.splice(to, 0, ...messages.splice(from, 1))
          }
          return messages
        }).pipe(Random.withSeed(seed))
        const told = `seed ${seed}, ${way}: ${JSON.stringify(C.outline(Prompt.fromMessages(shaken)))}`
        yield* chat.setHistory(Prompt.fromMessages(shaken))
        yield* Effect.gen(function*() {
          yield* chat.send(Prompt.approvalResponses(
            LanguageModel.collectToolApprovals(shaken).pending.map((pending) => Approval.deny(pending))
          ))
          yield* chat.send("thanks")
        }).pipe(Effect.catchCause((cause) => Effect.die(new Error(told, { cause }))))
        for (const { prompt } of yield* chat.script.requests) {
          try {
            C.assertWellFormed(prompt)
          } catch (cause) {
            throw new Error(`${told} sent ${JSON.stringify(C.outline(prompt))}`, { cause })
          }
        }
        assert.deepStrictEqual(runs, ["delete a"], told)
      }
    })))
})

describe("L7 what is no history", () => {
  const odd = (message: unknown) => message as Prompt.Message
  const part = (fields: object) => ({ options: {}, ...fields })
  const broken: Record<string, unknown> = {
    "a part that is empty": { role: "assistant", content: [{}] },
    "a part whose type is no text": { role: "user", content: [part({ type: 7 })] },
    "a call without an id": { role: "assistant", content: [part({ type: "tool-call", name: "ReadFile", params: {} })] },
    "a call without a name": { role: "assistant", content: [part({ type: "tool-call", id: "c1", params: {} })] },
    "a result without an id": { role: "tool", content: [part({ type: "tool-result", name: "ReadFile", result: 1 })] },
    "a result whose name is no text": { role: "tool", content: [part({ type: "tool-result", id: "c1", name: 1 })] },
    "a text for parts, of a user": { role: "user", content: "hello" },
    "a text for parts, of the model": { role: "assistant", content: "hello" },
    "an empty text for parts": { role: "assistant", content: "" },
    "an object for parts": { role: "tool", content: { length: 0 } },
    "parts for the text of the system": { role: "system", content: [part({ type: "text", text: "be good" })] }
  }
  for (const [what, message] of Object.entries(broken)) {
    Support.forEachMode(`L7 ${what}: a typed error, and no model is called`, function*(mode) {
      const { model, calls } = yield* Support.answering
      const turn = Support.takeTurn(mode, { model, history: Prompt.fromMessages([user("Go on."), odd(message)]) })
      const reason = yield* Support.reasonOf(turn)
      assert.strictEqual(reason._tag, "InvalidPrompt")
      assert.strictEqual(yield* calls, 0)
    }, ["generateText", "streamText"])
  }

  Support.forEachMode(
    "L7 what a tool message cannot hold is not sent; a result by hand needs no options",
    function*(mode) {
      const it = yield* send(mode, [
        user("Go on."),
        assistant(call("c1")),
        odd({
          role: "tool",
          options: {},
          content: [
            { type: "tool-result", id: "c1", name: "ReadFile", result: "read", isFailure: false },
            { type: "text", text: "and so on", options: {} }
          ]
        })
      ])
      assert.deepStrictEqual(
        it.sent!.content.flatMap((message) =>
          typeof message.content === "string" ? [] : message.content.map((part) => part.type)
        ),
        ["text", "tool-call", "tool-result"]
      )
      assert.deepStrictEqual(results(it.sent), ["read"])
    },
    ["generateText", "streamText"]
  )

  Support.forEachMode("L7 the result of a tool that gives nothing is sent as null", function*(mode) {
    const it = yield* send(mode, [user("Go on."), assistant(call("c1")), tool(result("c1", undefined))])
    assert.deepStrictEqual(results(it.sent), [null])
  })
})

describe("what was not made by our constructors", () => {
  for (const [what, options] of [["no options", undefined], ["null for a mark", { assent: null }]] as const) {
    Support.forEachMode(`L7 an answer written by hand with ${what} is an answer`, function*(mode) {
      const { options: turn, request, tools } = yield* Asked.deletion(mode)
      const part = { type: "tool-approval-response", approvalId: request.approvalId, approved: true, options }
      yield* Support.takeTurn(mode, {
        ...turn,
        history: Prompt.concat(
          turn.history,
          Prompt.fromMessages([{ ...Prompt.toolMessage({ content: [] }), content: [part as never] }])
        )
      })
      assert.strictEqual(tools.runs.length, 1)
    }, ["generateText", "streamText"])
  }
})
