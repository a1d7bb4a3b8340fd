/**
 * What upstream's own service does in the cases of the README's table, measured: its middle column. Nothing of ours
 * stands between; a test that fails here says that effect does something else by now, and the table wants updating.
 */
import { describe } from "@effect/vitest"
import { Cause, Context, Deferred, Effect, Exit, Fiber, Ref, Schema, SchemaGetter, SchemaIssue } from "effect"
import { AiError, Chat, LanguageModel, Prompt, Response, ResponseIdTracker, Tool, Toolkit } from "effect/ai"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Support from "../laws/support.ts"
import { asked, DeleteFile, ending, fileTools, no, ReadFile, talk, work, workTools, wrong, yes } from "./upstream.ts"

const one = [C.deleteCall("c1", "a")]
const two = [C.deleteCall("c1", "a"), C.deleteCall("c2", "b")]
const streams = ["streamText", "Chat.streamText"] as const
const chats = ["Chat.generateText", "Chat.streamText"] as const
const once = ["generateText"] as const

const overloaded = AiError.make({
  module: "Provider",
  method: "call",
  reason: new AiError.UnknownError({ description: "overloaded" })
})

const reasonOf = (error: unknown) => AiError.isAiError(error) ? error.reason._tag : "another error"

describe("upstream fails open", () => {
  wrong("B1 a gate that fails lets the tool run", [["a"], 0], function*(way) {
    const runs: Array<string> = []
    const gated = DeleteFile.setNeedsApproval((() => Effect.fail("offline")) as never)
    const toolkit = yield* C.withHandlers(Toolkit.make(gated), {
      DeleteFile: ({ path }) => Effect.sync(() => (runs.push(path), { deleted: path }))
    })
    return [runs, (yield* asked(way, one, { toolkit })).requests.length]
  })

  wrong("B1 parameters that fail to decode once let the tool run", [["a"], 0], function*(way) {
    const runs: Array<string> = []
    let decodes = 0
    // The gate decodes first, then the handler.
    const decode = SchemaGetter.transformEffect((text: string) =>
      ++decodes === 1 ? Effect.fail(new SchemaIssue.InvalidValue({ message: "offline" })) : Effect.succeed(text)
    )
    const path = Schema.String.pipe(Schema.decodeTo(Schema.String, { decode, encode: SchemaGetter.passthrough() }))
    const tool = Tool.make("DeleteFile", { parameters: Schema.Struct({ path }), needsApproval: () => true })
    const toolkit = yield* C.withHandlers(Toolkit.make(tool), {
      DeleteFile: ({ path }) => Effect.sync(() => void runs.push(path))
    })
    return [runs, (yield* asked(way, one, { toolkit })).requests.length]
  })

  wrong("B5 approved and denied: it runs, and a denial besides", [["delete a"], [false, true]], function*(way) {
    const chat = yield* asked(way, one)
    const turn = yield* chat.send(Prompt.concat(chat.answer, no(chat.requests[0]!)))
    return [chat.runs, turn.results.map((part) => part.isFailure)]
  })

  wrong("B5 denied and approved: it runs, and a denial besides", [["delete a"], [false, true]], function*(way) {
    const chat = yield* asked(way, one)
    const turn = yield* chat.send(Prompt.concat(no(chat.requests[0]!), chat.answer))
    return [chat.runs, turn.results.map((part) => part.isFailure)]
  })

  wrong("B7 a history invented whole runs, gated or not", ["delete id_rsa", "read id_rsa"], function*(way) {
    const { runs, toolkit } = yield* fileTools
    for (const name of ["DeleteFile", "ReadFile"]) {
      const chat = yield* talk({ way, toolkit, turns: [] })
      const call = Support.callPart("c1", name, { path: "id_rsa" })
      yield* chat.setHistory(Support.written([call, Support.requestPart("a1", "c1")]))
      yield* chat.send(yes({ approvalId: "a1" }))
    }
    return runs
  })

  wrong("B7 parameters edited after the request run", ["delete id_rsa"], function*(way) {
    const chat = yield* asked(way, one)
    const params = { path: "id_rsa" }
    const edit = (part: Prompt.Part) => part.type === "tool-call" ? { ...part, params } : part
    yield* chat.setHistory(Support.rewrite(chat.asking, edit))
    yield* chat.send(chat.answer)
    return chat.runs
  })

  wrong("B16 an approval that comes after a new message still runs", ["delete a"], function*(way) {
    const chat = yield* asked(way, one)
    yield* chat.send("never mind")
    yield* chat.send(chat.answer)
    return chat.runs
  })

  wrong("B24 a person is asked about parameters that cannot run", 1, function*(way) {
    const calls = [ScriptedModel.toolCall({ id: "c1", name: "DeleteFile", params: { path: 12 } })]
    return (yield* asked(way, calls)).requests.length
  })
})

describe("upstream runs twice", () => {
  // `Chat.streamText` keeps the result, which came before the failure.
  wrong("B2 the model fails after the run, and the turn is tried again", ["delete a", "delete a"], function*(way) {
    const chat = yield* asked(way, one, { turns: [overloaded] })
    yield* Effect.flip(chat.send(chat.answer))
    yield* chat.send(chat.answer)
    return chat.runs
  }, ["generateText", "streamText", "Chat.generateText"])

  wrong("B3 it runs though no calls are to be resolved", ["delete a"], function*(way) {
    const chat = yield* asked(way, one)
    yield* chat.send(chat.answer, { disableToolCallResolution: true })
    return chat.runs
  })

  wrong(
    "B3 a stream drops that result, and the next turn runs it again",
    [0, ["delete a", "delete a"]],
    function*(way) {
      const chat = yield* asked(way, one)
      const turn = yield* chat.send(chat.answer, { disableToolCallResolution: true })
      yield* chat.send("thanks")
      return [turn.results.length, chat.runs]
    },
    streams
  )

  wrong("B4 two answers with one id: two runs, two results", [["delete a", "delete a"], 2], function*(way) {
    const chat = yield* asked(way, one)
    const turn = yield* chat.send(Prompt.concat(chat.answer, chat.answer))
    return [chat.runs, turn.results.length]
  })

  wrong("B4 two requests for one call: two runs, two results", [["delete a", "delete a"], 2], function*(way) {
    const chat = yield* asked(way, one)
    const copy = (part: Prompt.Part) =>
      part.type === "tool-approval-request" ? [part, Support.requestPart("a2", "c1")] : part
    yield* chat.setHistory(Support.rewrite(chat.asking, copy))
    const turn = yield* chat.send(yes(chat.requests[0]!, { approvalId: "a2" }))
    return [chat.runs, turn.results.length]
  })

  wrong("B6 the same history twice: two runs", ["delete a", "delete a"], function*(way) {
    const chat = yield* asked(way, one)
    yield* chat.send(chat.answer)
    yield* chat.setHistory(chat.asking)
    yield* chat.send(chat.answer)
    return chat.runs
  })

  wrong("B6 two Chats from one export, at once: two runs", ["delete a", "delete a"], function*(way) {
    const { answer, asking, runs, toolkit } = yield* asked(way, one)
    const exported = yield* (yield* Chat.fromPrompt(asking)).exportJson
    const turn = Effect.gen(function*() {
      const chat = yield* talk({ way, toolkit, turns: [] })
      yield* chat.setHistory(yield* Ref.get((yield* Chat.fromJson(exported)).history))
      yield* chat.send(answer)
    })
    yield* Effect.all([turn, turn], { concurrency: "unbounded" })
    return runs
  }, chats)

  wrong("B10 an id used again while the first waits: the later call runs", ["delete b"], function*(way) {
    const chat = yield* asked(way, one, { turns: [[C.deleteCall("c1", "b")]] })
    yield* chat.send("never mind")
    yield* chat.send(chat.answer)
    return chat.runs
  })

  wrong("B10 an id used again after a result: the approval is ignored", ["delete a"], function*(way) {
    const chat = yield* asked(way, one, { turns: [[C.deleteCall("c1", "b")]] })
    const second = yield* chat.send(chat.answer)
    yield* chat.send(yes(second.requests[0]!))
    return chat.runs
  })

  wrong("B11 one handler fails: a retry repeats its siblings", ["c1", "c2", "c1", "c2"], function*(way) {
    const runs: Array<string> = []
    const toolkit = yield* workTools(({ name }) =>
      Effect.suspend(() => (runs.push(name), name === "c2" ? Effect.fail("no") : Effect.succeed("done")))
    )
    const chat = yield* asked(way, [work("c1"), work("c2")], { toolkit })
    yield* Effect.flip(chat.send(chat.answer))
    yield* chat.setHistory(chat.asking)
    yield* Effect.flip(chat.send(chat.answer))
    return runs
  })

  wrong("B20 a reader leaves while it runs: the next turn runs it again", ["c1", "c1"], function*(way) {
    const runs: Array<string> = []
    const entered = yield* Deferred.make<void>()
    const hang = Effect.andThen(Deferred.succeed(entered, undefined), Effect.never)
    const toolkit = yield* workTools(({ name }) =>
      Effect.suspend(() => runs.push(name) === 1 ? hang : Effect.succeed("done"))
    )
    const chat = yield* asked(way, [work("c1")], { toolkit })
    yield* chat.setHistory(Prompt.concat(chat.asking, chat.answer))
    const reader = yield* Effect.forkChild(chat.send([]))
    yield* Deferred.await(entered)
    yield* Fiber.interrupt(reader)
    yield* chat.send("what time is it?")
    return runs
  })

  wrong("B28 a thousand approved calls run at once", 1000, function*(way) {
    let running = 0
    let most = 0
    const toolkit = yield* workTools(() =>
      Effect.gen(function*() {
        most = Math.max(most, ++running)
        yield* Effect.yieldNow
        running--
        return "done"
      })
    )
    const chat = yield* asked(way, Array.from({ length: 1000 }, (_, index) => work(`c${index}`)), { toolkit })
    yield* chat.send(chat.answer)
    return most
  })
})

describe("upstream breaks the conversation", () => {
  const stuck = function*(way: C.Way, toolkit: C.AnyToolkit) {
    const chat = yield* asked(way, one)
    const turn = ending(chat.send(chat.answer, { toolkit }))
    return [yield* turn, yield* turn]
  }

  wrong("B12 parameters that no longer decode: stuck on every retry", ["Failure", "Failure"], function*(way) {
    const tool = Tool.make("DeleteFile", { parameters: Schema.Struct({ file: Schema.String }), needsApproval: true })
    return yield* stuck(way, yield* C.withHandlers(Toolkit.make(tool), { DeleteFile: () => Effect.void }))
  })

  wrong("B13 a tool that was removed: stuck on every retry", ["Failure", "Failure"], function*(way) {
    return yield* stuck(way, yield* C.withHandlers(Toolkit.make(ReadFile), { ReadFile: () => Effect.succeed("") }))
  })

  wrong("B14 a call that was trimmed: a defect", "Die", function*(way) {
    const chat = yield* asked(way, one)
    yield* chat.setHistory(Support.rewrite(chat.asking, (part) => part.type === "tool-call" ? undefined : part))
    return yield* ending(chat.send(chat.answer))
  })

  wrong("B15 of two requests one is answered: a dangling call", ["dangling-call", "foreign-approval"], function*(way) {
    const chat = yield* asked(way, two)
    yield* chat.send(yes(chat.requests[0]!))
    return yield* chat.refusals
  })

  wrong("B15 the late result stands away from its call", ["misplaced-result"], function*(way) {
    const chat = yield* asked(way, two)
    for (const request of chat.requests) yield* chat.send(yes(request))
    return yield* chat.refusals
  })

  wrong("B16 a new message while it waits: a dangling call", ["dangling-call", "foreign-approval"], function*(way) {
    const chat = yield* asked(way, one)
    yield* chat.send("never mind")
    return yield* chat.refusals
  })

  wrong("B17 without a toolkit even a denial fails", "ToolkitRequiredError", function*(way) {
    const chat = yield* asked(way, one)
    return reasonOf(yield* Effect.flip(chat.send(no(chat.requests[0]!), { toolkit: "none" })))
  })

  wrong("B17 without a toolkit settled approvals reach the provider", true, function*(way) {
    const chat = yield* asked(way, one)
    yield* chat.send(chat.answer)
    yield* chat.send("thanks", { toolkit: "none" })
    return (yield* chat.refusals).includes("foreign-approval")
  })

  wrong("B18 generateObject finds no text, and loses the request", ["StructuredOutputError", false], function*() {
    const { toolkit } = yield* fileTools
    const { model } = yield* ScriptedModel.make({ turns: [one] })
    const error = yield* LanguageModel.generateObject({ prompt: "go on", toolkit, schema: Schema.Struct({}) }).pipe(
      Effect.provideService(LanguageModel.LanguageModel, model),
      Effect.flip
    )
    return [reasonOf(error), JSON.stringify(error).includes("approval")]
  }, once)

  const search = (name: string) => [
    ScriptedModel.toolCall({ id: "mcp_1", name, params: { path: "a" }, providerExecuted: true }),
    { type: "tool-approval-request", approvalId: "mcpr_1", toolCallId: "mcp_1" } as const
  ]

  wrong("B19 an approval of the provider's call is a TypeError", true, function*(way) {
    const Hosted = Tool.providerDefined({
      id: "acme.search",
      customName: "Hosted",
      providerName: "search",
      parameters: Schema.Struct({ path: Schema.String })
    })(undefined)
    const chat = yield* asked(way, search("Hosted"), { toolkit: yield* C.withHandlers(Toolkit.make(Hosted), {}) })
    const exit = yield* Effect.exit(chat.send(chat.answer))
    return Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof TypeError
  })

  wrong("B19 an approval of the provider's call runs a tool of that name here", ["read a"], function*(way) {
    const chat = yield* asked(way, search("ReadFile"))
    yield* chat.send(chat.answer)
    return chat.runs
  })

  const madeUp = ["user:[go on]", "assistant:[call mcp_1]", "tool:[failure mcp_1]"]
  wrong("B19 a denial of the provider's call is made up here and never sent", madeUp, function*(way) {
    const chat = yield* asked(way, search("ReadFile"))
    yield* chat.send(no(chat.requests[0]!))
    return [...(yield* chat.outline)]
  })

  const whole = [undefined, "response-1", undefined, undefined]
  wrong("B29 after one approval every request is the whole prompt", whole, function*(way) {
    const { toolkit } = yield* fileTools
    const tracker = yield* ResponseIdTracker.make
    const chat = yield* talk({ way, toolkit, turns: [one, "2", "3", "4"], script: { responseIds: true } })
    yield* Effect.gen(function*() {
      yield* chat.send(yes((yield* chat.send("one")).requests[0]!))
      yield* chat.send("three")
      yield* chat.send("four")
    }).pipe(Effect.provideService(ResponseIdTracker.ResponseIdTracker, tracker))
    return (yield* chat.script.requests).map((request) => request.previousResponseId)
  })

  const torn = ["user:[go on]", "assistant:[call c1]", "assistant:[over]", "tool:[result c1]", "user:[thanks]"]
  wrong("order the turn after an approval is torn apart", torn, function*(way) {
    const chat = yield* asked(way, one)
    yield* chat.send(chat.answer)
    yield* chat.send("thanks")
    return [...(yield* chat.outline)]
  })
})

describe("upstream breaks results", () => {
  wrong("B8 a streamed result is encoded, and does not encode again", ["string", "Failure"], function*(way) {
    const success = Schema.Struct({ at: Schema.DateFromString })
    const kit = Toolkit.make(Tool.make("Book", { success, needsApproval: true }))
    const toolkit = yield* C.withHandlers(kit, { Book: () => Effect.succeed({ at: new Date(0) }) })
    const chat = yield* asked(way, [ScriptedModel.toolCall({ id: "b1", name: "Book", params: {} })], { toolkit })
    const [part] = (yield* chat.send(chat.answer)).results
    const schema = Response.StreamPart(kit) as Schema.Codec<unknown>
    const { at } = part!.result as { readonly at: unknown }
    return [typeof at, yield* ending(Schema.encodeUnknownEffect(schema)(part))]
  }, streams)

  wrong("B9 a denial without a reason does not pass its own schema", ["Failure", "Success"], function*(way) {
    const schema = Response.Part(Toolkit.make(DeleteFile)) as Schema.Codec<unknown>
    const deny = Effect.fnUntraced(function*(reason: string | undefined) {
      const chat = yield* asked(way, one)
      const denial = Support.answerPart(chat.requests[0]!.approvalId, false, reason)
      const turn = yield* chat.send([Prompt.toolMessage({ content: [denial] })])
      return yield* ending(Schema.encodeUnknownEffect(schema)(turn.results[0]))
    })
    return [yield* deny(undefined), yield* deny("keep it")]
  })

  const late = [[], ["quick all", "slow all"]]
  wrong("B26 a stream gives nothing before all approved calls are done", late, function*(way) {
    const seen: Array<string> = []
    const hold = yield* Support.makeHold
    const toolkit = yield* workTools(({ name }, context) =>
      Effect.andThen(context.preliminary("half"), Effect.as(name === "slow" ? hold.wait : Effect.void, "all"))
    )
    const chat = yield* asked(way, [work("quick"), work("slow")], { toolkit })
    const onPart = (part: Response.AnyPart) =>
      Effect.sync(() => part.type === "tool-result" && seen.push(`${part.id} ${part.result}`)).pipe(Effect.asVoid)
    const turn = yield* Effect.forkChild(chat.send(chat.answer, { onPart }))
    yield* hold.entered
    yield* Support.idle
    const before = [...seen]
    yield* hold.release
    yield* Fiber.join(turn)
    return [before, seen]
  }, streams)

  class Ledger extends Context.Service<Ledger, { readonly isLarge: Effect.Effect<boolean> }>()("test/Ledger") {}

  wrong("B21 a gate that needs a service does not compile", true, function*() {
    // Where this compiles, `tsc` says that the directive is unused: fixed, update the table.
    // @ts-expect-error B21
    Tool.make("Gated", { needsApproval: () => Ledger.use((ledger) => ledger.isLarge), dependencies: [Ledger] })
    return true
  }, once)
})
