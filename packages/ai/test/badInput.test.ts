/**
 * Bad input: prompts that are not prompts, messages that are not messages, parts that are not parts, answers in the
 * wrong place. Each is a typed error or a failed result that says what to do; no defect, no hang, nothing run.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, Effect, Exit, Schema, Stream } from "effect"
import { AiError, Approval, LanguageModel, Prompt, type Response } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import * as C from "./laws/conversation.ts"

const methods = ["generateText", "streamText", "generateObject", "Chat.generateText", "Chat.streamText"] as const

/** What a program gave without asking the compiler. */
const anything = <A>(value: unknown): A => value as A

const user = Prompt.userMessage({ content: [Prompt.textPart({ text: "tidy up" })] })
const circular: Record<string, unknown> = {}
circular["itself"] = circular

const messages: Record<string, unknown> = {
  "undefined": undefined,
  "null": null,
  "a number": 42,
  "a text": "hello",
  "a function": () => user,
  "an empty object": {},
  "an array": [],
  "a message without content": { role: "user" },
  "a message whose content is null": { role: "assistant", content: null },
  "a message whose content is a number": { role: "assistant", content: 7 },
  "a message whose content is an object": { role: "tool", content: {} },
  "a message whose content is an empty text": { role: "assistant", content: "" },
  "a message of a role that does not exist": { role: "nobody", content: [] },
  "a message whose role is no text": { role: 1, content: [] },
  "a promise": Promise.resolve(user)
}

const part = (role: string, ...content: ReadonlyArray<unknown>) => ({ role, content, options: {} })
const call = (fields: object) => ({
  type: "tool-call",
  id: "c1",
  name: "DeleteFile",
  params: { path: "a" },
  providerExecuted: false,
  options: {},
  ...fields
})
const request = (fields: object) => ({
  type: "tool-approval-request",
  approvalId: "id-1",
  toolCallId: "c1",
  options: {},
  ...fields
})
const response = (fields: object) => ({
  type: "tool-approval-response",
  approvalId: "id-1",
  approved: true,
  options: {},
  ...fields
})

const parts: Record<string, unknown> = {
  "an undefined part": part("assistant", undefined),
  "a null part": part("tool", null),
  "a number as part": part("assistant", 42),
  "a text as part": part("tool", "hello"),
  "a part without a type": part("assistant", {}),
  "a part of an unknown type": part("assistant", { type: "magic" }),
  "a user message with an undefined part": part("user", undefined),
  "a call without id": part("assistant", call({ id: undefined })),
  "a call whose id is a number": part("assistant", call({ id: 7 })),
  "a call without name": part("assistant", call({ name: undefined })),
  "a call whose name is an object": part("assistant", call({ name: {} })),
  "a call without params": part("assistant", call({ params: undefined })),
  "a call whose params are a function": part("assistant", call({ params: () => 1 })),
  "a call whose params are a bigint": part("assistant", call({ params: { path: 1n } })),
  "a call whose params contain themselves": part("assistant", call({ params: circular })),
  "a call whose params are not a finite number": part("assistant", call({ params: { path: NaN } })),
  "a call named like a method of objects": part("assistant", call({ name: "constructor" }), request({})),
  "a call whose id is __proto__": part("assistant", call({ id: "__proto__" }), request({ toolCallId: "__proto__" })),
  "a request without an approval id": part("assistant", call({}), request({ approvalId: undefined })),
  "a request whose approval id is a number": part("assistant", call({}), request({ approvalId: 7 })),
  "a request without a call id": part("assistant", call({}), request({ toolCallId: undefined })),
  "a request whose id is very long": part("assistant", call({}), request({ approvalId: "x".repeat(100_000) })),
  "a request inside a tool message": part("tool", request({})),
  "a call inside a tool message": part("tool", call({})),
  "a call inside a user message": part("user", call({}), request({})),
  "an answer inside an assistant message": part("assistant", call({}), request({}), response({})),
  "an answer inside a user message": part("user", response({})),
  "an answer without an approval id": part("tool", response({ approvalId: undefined })),
  "an answer whose approval id is an object": part("tool", response({ approvalId: { toString: () => "id-1" } })),
  "an answer that approves with a text": part("tool", response({ approved: "yes" })),
  "an answer that says nothing": part("tool", response({ approved: undefined })),
  "an answer whose reason is an object": part("tool", response({ approved: false, reason: {} })),
  "an answer whose options are null": part("tool", response({ options: null })),
  "a result without id": part("tool", { type: "tool-result", name: "DeleteFile", isFailure: false, result: 1 }),
  "a result without name": part("tool", { type: "tool-result", id: "c1", isFailure: false, result: 1 }),
  "a result that is undefined": part("tool", {
    type: "tool-result",
    id: "c1",
    name: "DeleteFile",
    isFailure: false,
    result: undefined
  })
}

const prompts: Record<string, unknown> = {
  "undefined": undefined,
  "null": null,
  "a number": 42,
  "an object": {},
  "an object whose content is undefined": { content: undefined },
  "an object whose content holds nothing": { content: [undefined] },
  "an array of nothing": [undefined],
  "an array of null": [null],
  "an array of texts": ["hello"],
  "an array of an unknown role": [{ role: "nobody", content: "hi" }],
  "an array with a malformed part": [{ role: "user", content: [{ type: "text" }] }],
  "an array with an answer in an assistant message": [{ role: "assistant", content: [response({})] }],
  "an array with a request in a tool message": [{ role: "tool", content: [request({})] }]
}

const begin = Effect.fnUntraced(function*(method: (typeof methods)[number]) {
  const { runs, toolkit } = yield* C.fileTools
  const script = yield* ScriptedModel.make({ turns: [], afterLastTurn: `{"count":1}` })
  const model = LanguageModel.withApproval(script.model)
  const way = method === "generateObject" ? "generateText" : method
  const chat = yield* C.start({ way, toolkit, turns: [], script: { afterLastTurn: "on" } })
  /** One turn over this very prompt; under Chat the prompt is the chat's history. */
  const turn = (prompt: Prompt.Prompt): Effect.Effect<ReadonlyArray<Response.AnyPart>, unknown> => {
    const options = { prompt, toolkit }
    switch (method) {
      case "generateText":
        return Effect.map(model.generateText(options), (response) => response.content)
      case "streamText":
        return Stream.runCollect(model.streamText(options))
      case "generateObject":
        return Effect.map(
          model.generateObject({ ...options, schema: Schema.Struct({ count: Schema.Number }) }),
          (response) => response.content
        )
      default:
        return Effect.andThen(chat.setHistory(prompt), Effect.map(chat.send([]), (turn) => turn.parts))
    }
  }
  return { runs, turn }
})

/** A typed error that says something, or parts whose failures have their reasons; never a defect, nothing run. */
const assertHarmless = (exit: Exit.Exit<ReadonlyArray<Response.AnyPart>, unknown>, runs: ReadonlyArray<string>) => {
  assert.deepStrictEqual(runs, [])
  if (Exit.isFailure(exit)) {
    assert.isFalse(Cause.hasDies(exit.cause), Cause.pretty(exit.cause))
    assert.isFalse(Cause.hasInterrupts(exit.cause))
    const error = Cause.squash(exit.cause)
    assert.isTrue(AiError.isAiError(error), String(error))
    assert.isAbove((error as AiError.AiError).message.length, 20, "says what to do")
    return
  }
  for (const part of exit.value) {
    if (part.type === "tool-result" && part.isFailure) C.reasonOf(part)
    assert.notStrictEqual(part.type, "tool-approval-request", "nothing can be approved")
  }
}

describe("bad input", () => {
  for (const method of methods) {
    for (const [title, message] of Object.entries({ ...messages, ...parts })) {
      it.effect(`bad input: ${title} among the messages [${method}]`, () =>
        C.fresh(Effect.gen(function*() {
          const { runs, turn } = yield* begin(method)
          for (const around of [[user, message], [user, message, user], [message]]) {
            assertHarmless(yield* Effect.exit(turn(Prompt.fromMessages(anything(around)))), runs)
          }
        })))
    }
  }

  for (const method of methods) {
    it.effect(`messages without options are read as any other [${method}]`, () =>
      C.fresh(Effect.gen(function*() {
        const { turn } = yield* begin(method)
        const said = (role: string) => ({ role, content: [{ type: "text", text: "hello" }] })
        const parts = yield* turn(Prompt.fromMessages(anything([said("user"), said("assistant"), said("user")])))
        assert.isTrue(parts.some(({ type }) => type === "finish"))
      })))
  }

  for (const method of ["generateText", "streamText", "generateObject"] as const) {
    for (const [title, prompt] of Object.entries(prompts)) {
      it.effect(`bad input: ${title} as the prompt is an InvalidPrompt error [${method}]`, () =>
        C.fresh(Effect.gen(function*() {
          const { runs, turn } = yield* begin(method)
          const exit = yield* Effect.exit(turn(anything(prompt)))
          assertHarmless(exit, runs)
          assert.isTrue(Exit.isFailure(exit))
          if (Exit.isFailure(exit)) {
            assert.strictEqual(C.approvalErrorOf(Cause.squash(exit.cause))._tag, "InvalidPrompt")
          }
        })))
    }
  }
})

describe("answers in the wrong place", () => {
  const ids = ["", "id-1", "__proto__", "constructor", "toString", "hasOwnProperty", "\u0000", "ü", "x".repeat(513)]

  C.everyWay(
    "answers to ids nobody issued: nothing runs, the request still waits, and its own answer counts",
    function*(way) {
      const { runs, toolkit } = yield* C.fileTools
      const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", "a")], "done"] })
      const asked = yield* chat.send("tidy up")
      for (const approvalId of ids) {
        const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve({ approvalId })]))
        assert.strictEqual(turn.shape, "request finish", approvalId)
        assert.deepStrictEqual(runs, [])
      }
      yield* chat.send(Prompt.approvalResponses([Approval.approve(asked.requests[0]!)]))
      assert.deepStrictEqual(runs, ["delete a"])
      C.assertWellFormed(yield* chat.lastPrompt)
    }
  )

  C.everyWay("answers to ids nobody issued, where nothing is open: the model goes on", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: ids.map(() => "on") })
    for (const approvalId of ids) {
      const answer = Prompt.approvalResponses([Approval.approve({ approvalId }), Approval.deny({ approvalId })])
      assert.strictEqual((yield* chat.send(Prompt.concat(answer, "go on"))).text, "on")
      C.assertWellFormed(yield* chat.lastPrompt)
    }
    assert.deepStrictEqual(runs, [])
  })

  const places = {
    "an assistant message": (answer: unknown) =>
      Prompt.assistantMessage({ content: [anything<Prompt.AssistantMessagePart>(answer)] }),
    "a user message": (answer: unknown) => Prompt.userMessage({ content: [anything<Prompt.UserMessagePart>(answer)] })
  }
  for (const [place, message] of Object.entries(places)) {
    C.everyWay(`a good approval inside ${place} is no answer`, function*(way) {
      const { runs, toolkit } = yield* C.fileTools
      const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", "a")], "on", "on"] })
      const asked = yield* chat.send("tidy up")
      const { approvalId } = asked.requests[0]!
      const answer = Prompt.toolApprovalResponsePart({ approvalId, approved: true })
      yield* chat.setHistory(Prompt.fromMessages([...(yield* chat.history).content, message(answer)]))
      assertHarmlessOrWaiting(yield* Effect.exit(chat.send([])))
      assert.deepStrictEqual(runs, [])
    })
  }

  for (const approved of ["yes", "true", "false", 1, 0, {}, [], null, undefined]) {
    C.everyWay(`an answer whose "approved" is ${JSON.stringify(approved)} is no approval`, function*(way) {
      const { runs, toolkit } = yield* C.fileTools
      const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", "a")], "on", "on"] })
      const asked = yield* chat.send("tidy up")
      const answer = response({ approvalId: asked.requests[0]!.approvalId, approved })
      assertHarmlessOrWaiting(
        yield* Effect.exit(chat.send(Prompt.fromMessages(anything([part("tool", answer)]))))
      )
      assert.deepStrictEqual(runs, [])
    })
  }

  C.everyWay("a denial whose reason is no text is still a denial, with a reason", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", "a")], "on", "on"] })
    const asked = yield* chat.send("tidy up")
    const answer = response({ approvalId: asked.requests[0]!.approvalId, approved: false, reason: { because: 1 } })
    const exit = yield* Effect.exit(chat.send(Prompt.fromMessages(anything([part("tool", answer)]))))
    assertHarmlessOrWaiting(exit)
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("an answer that stands before its request counts no less, or waits; it never runs twice", function*(way) {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [[C.deleteCall("c1", "a")], "on", "on"] })
    const asked = yield* chat.send("tidy up")
    const answer = Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])
    yield* chat.setHistory(Prompt.concat(answer, yield* chat.history))
    assertHarmlessOrWaiting(yield* Effect.exit(chat.send([])))
    assert.isAtMost(runs.length, 1)
  })

  const assertHarmlessOrWaiting = (exit: Exit.Exit<C.Turn, unknown>) => {
    if (Exit.isFailure(exit)) {
      assert.isFalse(Cause.hasDies(exit.cause), Cause.pretty(exit.cause))
      assert.isTrue(AiError.isAiError(Cause.squash(exit.cause)))
    } else {
      for (const part of exit.value.results) if (part.isFailure) C.reasonOf(part)
    }
  }
})
