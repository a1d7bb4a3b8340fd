/**
 * L7 how a prompt ends: never with the assistant because of what was taken away. Answers that settle nothing call no model,
 * a turn that was cut goes on by a note, and what a program or a provider ends with stays.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Ref, Schema, Stream } from "effect"
import { AiError, Chat as UpstreamChat } from "effect/ai"
import { Approval, Chat, LanguageModel, Prompt, type Response, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as byHand from "./byHand.ts"
import * as C from "./conversation.ts"
import * as Hosted from "./hosted.ts"

const ask = [C.deleteCall("c1", "a")]

const begin = (way: C.Way, turns: ReadonlyArray<ScriptedModel.Turn>, approval?: LanguageModel.ApprovalOptions) =>
  Effect.gen(function*() {
    const { runs, toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: [ask, ...turns], ...(approval && { approval }) })
    const asked = yield* chat.send("delete a")
    return { chat, request: asked.requests[0]!, runs, toolkit }
  })

const yes = (request: Approval.ApprovalRequest) => Prompt.approvalResponses([Approval.approve(request)])
const no = (request: Approval.ApprovalRequest) => Prompt.approvalResponses([Approval.deny(request, "rather not")])

const usersOf = (prompt: Prompt.Prompt) => prompt.content.filter(({ role }) => role === "user")

describe("L7 answers that settle nothing", () => {
  C.everyWay("L2 L7 an answer that comes again: the recorded result, and the model is not called", function*(way) {
    const { chat, request, runs } = yield* begin(way, ["deleted", "bye"])
    yield* chat.send(yes(request))
    for (const answer of [yes(request), no(request), Prompt.concat(yes(request), yes(request))]) {
      const turn = yield* chat.send(answer)
      assert.deepStrictEqual([turn.shape, turn.finishReason], ["result finish", "stop"])
      assert.deepStrictEqual(turn.results.map(({ id, isFailure, result }) => [id, isFailure, result]), [
        ["c1", false, { deleted: "a" }]
      ])
    }
    assert.deepStrictEqual([yield* chat.calls, runs], [2, ["delete a"]])
    assert.strictEqual((yield* chat.send("thanks")).text, "bye")
    assert.deepStrictEqual(C.outline(yield* chat.lastPrompt), [
      "user:[delete a]",
      "assistant:[call c1]",
      "tool:[result c1]",
      "assistant:[deleted]",
      "user:[thanks]"
    ])
  })

  C.everyWay("L6 L7 an approval after supersession: what the model was told, and it is not called", function*(way) {
    const { chat, request, runs } = yield* begin(way, ["fine", "bye"])
    yield* chat.send("never mind")
    const turn = yield* chat.send(yes(request))
    assert.deepStrictEqual([turn.shape, turn.finishReason, yield* chat.calls], ["result finish", "stop", 2])
    assert.match(C.reasonOf(turn.results[0]!), /superseded/i)
    yield* chat.send("bye")
    assert.deepStrictEqual([C.lateIn(yield* chat.lastPrompt), runs], [[], []])
  })

  C.everyWay("L7 a late result is told once, however often it is answered", function*(way) {
    const { chat, request, runs } = yield* begin(way, ["fine", "so it is", "bye"], { onNewMessage: "keep" })
    yield* chat.send("meanwhile")
    for (let i = 0; i < 3; i++) yield* chat.send(yes(request))
    assert.deepStrictEqual([yield* chat.calls, runs], [3, ["delete a"]])
    yield* chat.send("bye")
    assert.lengthOf(C.lateIn(yield* chat.lastPrompt), 1)
  })

  const schema = Schema.Struct({ a: Schema.Number })
  it.effect("L7 L12 generateObject has no value then, and says why", () =>
    C.fresh(Effect.gen(function*() {
      const { chat, request, toolkit } = yield* begin("generateText", ["deleted"])
      yield* chat.send(yes(request))
      const history = yield* chat.history
      const reasonOf = (prompt: Prompt.RawInput) =>
        LanguageModel.generateObject({ prompt: Prompt.concat(history, prompt), schema, toolkit }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, chat.model),
          Effect.flip,
          Effect.map(C.approvalErrorOf)
        )
      const decided = yield* reasonOf(yes(request))
      assert.deepInclude(decided, { _tag: "AlreadyDecided", approvalId: request.approvalId, state: "done" })
      const unknown = yield* reasonOf(Prompt.approvalResponses([Approval.approve({ approvalId: "nobody's" })]))
      assert.deepInclude(unknown, { _tag: "UnknownApproval", approvalId: "nobody's" })
      const orphan = Prompt.toolResultPart({
        id: "x",
        name: "ReadFile",
        isFailure: false,
        result: "",
        providerExecuted: false
      })
      const nothing = yield* reasonOf(Prompt.fromMessages([Prompt.toolMessage({ content: [orphan] })]))
      assert.strictEqual(nothing._tag, "InvalidPrompt")
      assert.strictEqual(yield* chat.calls, 2)
    })))
})

describe("L7 what is told late", () => {
  C.everyWay("L3 L7 a \"no\" to what may be asked again is told, once, where it came", function*(way) {
    const { chat, request, runs } = yield* begin(way, ["fine", "I see", "bye"])
    yield* chat.send("never mind")
    const turn = yield* chat.send(no(request))
    assert.deepStrictEqual([turn.text, turn.results], ["I see", []])
    const told = yield* chat.lastPrompt
    assert.deepStrictEqual(C.lateIn(told), [{
      tool: "DeleteFile",
      toolCallId: "c1",
      isFailure: true,
      outcome: "denied",
      reason: "rather not"
    }])
    assert.strictEqual(told.content.at(-1)!.role, "user")
    assert.strictEqual((yield* chat.send(no(request))).text, "", "the second is no news")
    yield* chat.send("bye")
    const later = yield* chat.lastPrompt
    for (const [index, message] of told.content.entries()) assert.isTrue(later.content[index] === message)
    assert.lengthOf(C.lateIn(later), 1)
    assert.deepStrictEqual(runs, [])
  })

  C.everyWay("L7 is told behind what the user says in the same prompt, several in one message", function*(way) {
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [[C.deleteCall("c1", "a"), C.deleteCall("c2", "b")], "fine", "so it is", "bye"],
      approval: { onNewMessage: "keep" }
    })
    const { requests } = yield* chat.send("delete them")
    yield* chat.send("meanwhile")
    const answers = C.approveAll({ requests })
    yield* chat.send(Prompt.concat(answers, "and now?"))
    const prompt = yield* chat.lastPrompt
    assert.deepStrictEqual(prompt.content.slice(-3).map(({ role }) => role), ["assistant", "user", "user"])
    assert.deepStrictEqual(C.lateIn(prompt).map(({ toolCallId }) => toolCallId), ["c1", "c2"])
    assert.lengthOf(prompt.content.at(-1)!.content, 2)
    yield* chat.send("bye")
    const later = yield* chat.lastPrompt
    for (const [index, message] of prompt.content.entries()) assert.isTrue(later.content[index] === message)
  })

  C.everyWay("L6 L7 is no message of a user: it supersedes nothing", function*(way) {
    const keeping = yield* begin(way, ["fine", [C.deleteCall("c2", "b")], "done"], { onNewMessage: "keep" })
    const { chat, request, runs } = keeping
    yield* chat.send("meanwhile")
    const asked = yield* chat.send(yes(request))
    assert.deepStrictEqual(asked.requests.map(({ toolCallId }) => toolCallId), ["c2"])
    assert.deepStrictEqual((yield* chat.send([])).requests, asked.requests, "it is as open as it was")
    assert.strictEqual((yield* chat.send(yes(asked.requests[0]!))).text, "done")
    assert.deepStrictEqual(runs, ["delete a", "delete b"])
    assert.deepStrictEqual(C.lateIn(yield* chat.lastPrompt).map(({ toolCallId }) => toolCallId), ["c1"])
  })

  C.everyWay("L7 is not shown to policies, who see every result in its place", function*(way) {
    const seen: Array<Prompt.Prompt> = []
    const runs: Array<string> = []
    const Delete = Tool.make("DeleteFile", {
      parameters: { path: Schema.String },
      success: Schema.Struct({ deleted: Schema.String }),
      needsApproval: (_, { messages }) => (seen.push(Prompt.fromMessages(messages)), true)
    })
    const toolkit = yield* C.withHandlers(Toolkit.make(Delete), {
      DeleteFile: ({ path }) => Effect.sync(() => (runs.push(`delete ${path}`), { deleted: path }))
    })
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [ask, "fine", [C.deleteCall("c2", "b")]],
      approval: { onNewMessage: "keep" }
    })
    const asked = yield* chat.send("delete a")
    yield* chat.send("meanwhile")
    yield* chat.send(yes(asked.requests[0]!))
    assert.deepStrictEqual(runs, ["delete a"])
    const last = seen.at(-1)!
    assert.lengthOf(C.lateIn(yield* chat.lastPrompt), 1)
    assert.deepStrictEqual(C.lateIn(last), [])
    assert.lengthOf(usersOf(last), 2)
    assert.deepStrictEqual(C.resultsOf(last).map(({ result }) => result), [{ deleted: "a" }])
  })
})

describe("L7 a turn that was cut", () => {
  const overloaded = AiError.make({
    module: "Provider",
    method: "call",
    reason: new AiError.UnknownError({ description: "overloaded" })
  })
  const half = ScriptedModel.text("half a sen")
  const ways = {
    "it failed": [half, ScriptedModel.fail(overloaded)],
    "its reader left": [half, ScriptedModel.pause(Effect.never)],
    "it had no finish": [half, ScriptedModel.withoutFinish]
  }
  const note = "user:[<message-cut>\nThis is not from the user. Your last message was cut before it came to its end;" +
    " go on.\n</message-cut>]"
  const outline = [
    "user:[delete a]",
    "assistant:[call c1]",
    "tool:[result c1]",
    "assistant:[half a sen]",
    note,
    "assistant:[done]",
    "user:[thanks]"
  ]

  const story = (make: typeof Chat.fromPrompt, reload: boolean, how: keyof typeof ways) =>
    Effect.gen(function*() {
      const { runs, toolkit } = yield* C.fileTools
      const first = ways[how]
      const script = yield* ScriptedModel.make({ turns: [ask, first, "done", "bye"] })
      const model = LanguageModel.withApproval(script.model)
      let chat = yield* make([])
      const take = (prompt: Prompt.RawInput) =>
        Stream.runCollect(chat.streamText({ prompt, toolkit })).pipe(
          Effect.map((parts) => C.toTurn(parts)),
          Effect.provideService(LanguageModel.LanguageModel, model)
        )
      const asked = yield* take("delete a")
      const answer = yes(asked.requests[0]!)
      if (how === "its reader left") {
        yield* chat.streamText({ prompt: answer, toolkit }).pipe(
          Stream.takeUntil((part: Response.AnyPart) => part.type === "text-end"),
          Stream.runDrain,
          Effect.provideService(LanguageModel.LanguageModel, model)
        )
      } else if (how === "it failed") yield* Effect.flip(take(answer))
      else yield* take(answer)
      if (reload) chat = yield* Chat.fromJson(yield* chat.exportJson)
      assert.strictEqual((yield* take(answer)).text, "done", "the same answer again calls the model")
      if (reload) chat = yield* Chat.fromJson(yield* chat.exportJson)
      assert.deepStrictEqual((yield* take(answer)).shape, "result finish", "and now there is nothing to call it for")
      yield* take("thanks")
      assert.deepStrictEqual(C.outline((yield* script.requests).at(-1)!.prompt), outline)
      assert.deepStrictEqual(runs, ["delete a"])
      assert.lengthOf(usersOf(yield* Ref.get(chat.history)), 2)
    })

  for (const how of ["it failed", "its reader left", "it had no finish"] as const) {
    it.effect(`L2 L7 goes on by a note when it is taken again: ${how} [Chat]`, () =>
      C.fresh(story(Chat.fromPrompt, false, how)))
    it.effect(`L2 L7 goes on by a note when it is taken again: ${how} [Chat, read anew]`, () =>
      C.fresh(story(Chat.fromPrompt, true, how)))
    it.effect(`L2 L7 goes on by a note when it is taken again: ${how} [upstream's Chat]`, () =>
      C.fresh(story(UpstreamChat.fromPrompt, false, how)))
  }

  const failed = [ScriptedModel.fail(overloaded)]
  const retries = { "the same answer": yes, "nothing new": () => Prompt.empty }
  const wholeAfter = (make: typeof Chat.fromPrompt, retry: (request: Approval.ApprovalRequest) => Prompt.Prompt) =>
    Effect.gen(function*() {
      const { runs, toolkit } = yield* C.fileTools
      const script = yield* ScriptedModel.make({ turns: [ask, failed, "done", "bye"] })
      const chat = yield* make([])
      const take = (prompt: Prompt.RawInput) =>
        Stream.runCollect(chat.streamText({ prompt, toolkit })).pipe(
          Effect.map((parts) => C.toTurn(parts)),
          Effect.provideService(LanguageModel.LanguageModel, LanguageModel.withApproval(script.model))
        )
      const request = (yield* take("delete a")).requests[0]!
      yield* Effect.flip(take(yes(request)))
      assert.strictEqual((yield* take(retry(request))).text, "done")
      assert.deepStrictEqual((yield* take(yes(request))).shape, "result finish", "what it said then is whole")
      yield* take("thanks")
      assert.deepStrictEqual(C.outline((yield* script.requests).at(-1)!.prompt), [
        "user:[delete a]",
        "assistant:[call c1]",
        "tool:[result c1]",
        "assistant:[done]",
        "user:[thanks]"
      ])
      assert.deepStrictEqual(runs, ["delete a"])
    })

  for (const [how, retry] of Object.entries(retries)) {
    it.effect(`L2 L7 one that failed before the model said a word is whole when it is taken again: ${how} [Chat]`, () =>
      C.fresh(wholeAfter(Chat.fromPrompt, retry)))
    it.effect(
      `L2 L7 one that failed before the model said a word is whole when it is taken again: ${how} [upstream's Chat]`,
      () => C.fresh(wholeAfter(UpstreamChat.fromPrompt, retry))
    )
  }
})

describe("L7 what a prompt may end with", () => {
  C.everyWay("L7 a program's own beginning of the assistant's message", function*(way) {
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [ask, "deleted", "1}"],
      script: { strict: { allowPrefill: true } }
    })
    const asked = yield* chat.send("delete a")
    yield* chat.send(yes(asked.requests[0]!))
    const begun: Prompt.RawInput = [{ role: "user", content: "As JSON?" }, { role: "assistant", content: "{\"a\":" }]
    assert.strictEqual((yield* chat.send(begun)).text, "1}")
    assert.deepStrictEqual(C.outline(yield* chat.lastPrompt).slice(-2), ["user:[As JSON?]", "assistant:[{\"a\":]"])
  })

  C.everyWay("L7 L10 not what stands before a question that is taken away", function*(way) {
    const { toolkit } = yield* C.fileTools
    const chat = yield* C.start({ way, toolkit, turns: ["never said"] })
    const asked = Prompt.fromMessages([
      byHand.user("go"),
      byHand.assistant(byHand.text("May I?")),
      byHand.assistant(Prompt.toolApprovalRequestPart({ approvalId: "p", toolCallId: "trimmed" }))
    ])
    assert.strictEqual((yield* chat.send(asked)).finishReason, "stop")
    assert.strictEqual(yield* chat.calls, 0)
  })

  C.everyWay("L7 L9 what the provider ran itself, behind a pause and behind an approval of its own", function*(way) {
    const { chat } = yield* Hosted.begin(way, [
      [Hosted.asking(1)[0]!, Hosted.done(1), ScriptedModel.finish("pause")],
      Hosted.asking(2),
      [Hosted.done(2), ScriptedModel.finish("pause")],
      "done"
    ])
    yield* chat.send("go")
    const asked = yield* chat.send([])
    assert.strictEqual((yield* chat.lastPrompt).content.at(-1)!.role, "assistant")
    yield* chat.send(yes(asked.requests[0]!))
    assert.strictEqual((yield* chat.send([])).text, "done")
    const last = yield* chat.lastPrompt
    assert.strictEqual(last.content.at(-1)!.role, "assistant")
    C.assertWellFormed(last, Hosted.allowed)
  })

  C.everyWay(
    "L7 L9 a message without an answer, behind what the provider ran, does not keep the model",
    function*(way) {
      const { chat } = yield* Hosted.begin(way, [
        [Hosted.asking(1)[0]!, Hosted.done(1), ScriptedModel.finish("pause")],
        "done"
      ])
      yield* chat.send("go")
      const empty = Prompt.fromMessages([Prompt.toolMessage({ content: [] })])
      assert.strictEqual((yield* chat.send(empty)).text, "done")
    }
  )
})
