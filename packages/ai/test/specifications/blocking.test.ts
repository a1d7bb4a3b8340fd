/** What the specifications of blocking approval say, and no other test shows: the wrapper, its callbacks, its configuration. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema, Stream } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalMemory,
  ApprovalPolicy,
  Conversation,
  LanguageModel,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import { advance } from "../laws/support.ts"

type Callback = Parameters<typeof ApprovalController.interactive>[0]

const parameters = { path: Schema.String }
const Write = Tool.make("write_file", { parameters, success: Schema.String, needsApproval: true })
const Read = Tool.make("read_file", { parameters, success: Schema.String })
const Files = Toolkit.make(Write, Read)

const FilesLive = Files.toLayer({
  write_file: ({ path }) => Effect.succeed(`wrote ${path}`),
  read_file: ({ path }) => Effect.succeed(`text of ${path}`)
})

const answering = (callback: Callback) =>
  Effect.provideService(ApprovalController.ApprovalController, ApprovalController.interactive(callback))

type Guarded = Toolkit.WithHandler<Toolkit.Tools<typeof Files>>

const handle = (toolkit: Guarded, name: "write_file" | "read_file", path = "a") =>
  Effect.flatMap(toolkit.handle(name, { path }), Stream.runCollect).pipe(
    Effect.map((results) => results.map(({ encodedResult }) => encodedResult))
  )

describe("callbacks", () => {
  for (const [how, outer, inner] of [["plain outside", true, false], ["async outside", false, true]] as const) {
    it.effect(`nested: a plain callback outside and an async one inside, and the other way round`, () =>
      Effect.gen(function*() {
        const guarded = yield* Toolkit.guard(Files)
        const Outer = Toolkit.make(Tool.make("outer", { parameters, success: Schema.Unknown, needsApproval: true }))
        const seen: Array<string> = []
        const person = (isPlain: boolean): Callback => ({ toolName }) => {
          seen.push(toolName)
          return isPlain ? true : Promise.resolve(true)
        }
        const handlers = yield* Outer.toHandlers({
          outer: ({ path }) => Effect.orDie(handle(guarded, "write_file", path).pipe(answering(person(inner))))
        })
        const whole = yield* Toolkit.guard(Effect.provide(Outer, handlers))
        const results = yield* Effect.flatMap(whole.handle("outer", { path: "a" }), Stream.runCollect).pipe(
          answering(person(outer))
        )
        assert.deepStrictEqual([seen, results[0]?.encodedResult], [["outer", "write_file"], ["wrote a"]], how)
      }).pipe(Effect.provide(FilesLive)))
  }

  it.effect("an async callback is awaited, and its session remembered as a plain one's is", () =>
    Effect.gen(function*() {
      const ways: Record<string, (request: Approval.ApprovalRequest) => ReturnType<Callback>> = {
        plain: (request) => Approval.approve(request, { remember: "session" }),
        async: async (request) => Approval.approve(request, { remember: "session" }),
        "an effect that takes its time": (request) =>
          Effect.as(Effect.sleep("1 minute"), Approval.approve(request, { remember: "session" }))
      }
      for (const [conversation, callback] of Object.entries(ways)) {
        const seen: Array<string> = []
        const guarded = yield* Toolkit.guard(Files)
        const twice = Effect.all([handle(guarded, "write_file"), handle(guarded, "write_file")]).pipe(
          answering((request) => (seen.push(request.toolName), callback(request))),
          Effect.provideService(Approval.Scope, { conversation })
        )
        const fiber = yield* Effect.forkChild(twice)
        assert.isTrue(yield* advance(fiber, "1 minute"))
        assert.deepStrictEqual(yield* Fiber.join(fiber), [["wrote a"], ["wrote a"]])
        assert.deepStrictEqual(seen, ["write_file"], conversation)
      }
    }).pipe(Effect.provide(Layer.merge(FilesLive, ApprovalMemory.layerSession()))))

  it("a program's question runs synchronously where its callback is plain", () => {
    const asked = ApprovalController.request({ name: "deploy", params: { to: "production" } })
    assert.strictEqual(Effect.runSync(asked.pipe(answering(() => true)))._tag, "Approved")
    assert.strictEqual(Effect.runSync(asked.pipe(answering(() => false)))._tag, "Denied")
  })
})

describe("the wrapper", () => {
  it.effect("one run: what is approved runs, what is denied the model reads, and it goes on", () =>
    Effect.gen(function*() {
      const call = (path: string) => ScriptedModel.toolCall({ id: path, name: "write_file", params: { path } })
      const script = yield* ScriptedModel.make({
        turns: [[call("out.txt")], [call(".env")], "I won't modify .env."]
      })
      const outcome = yield* Effect.gen(function*() {
        const conversation = yield* Conversation.make({ id: "specifications-blocking", toolkit: Files })
        return yield* conversation.send("Create a summary, and delete the .env file.")
      }).pipe(
        answering((request) =>
          request.description.includes(".env") ? Approval.deny(request, "Don't touch env files") : true
        ),
        Effect.provideService(LanguageModel.LanguageModel, script.model)
      )
      assert.deepStrictEqual([outcome._tag, outcome.text], ["Completed", "I won't modify .env."])
      const { prompt } = (yield* script.requests).at(-1)!
      const results = prompt.content.flatMap(({ content }) =>
        typeof content === "string" ? [] : content.flatMap((part) => part.type === "tool-result" ? [part.result] : [])
      )
      assert.deepStrictEqual(results, [
        "wrote out.txt",
        { type: "execution-denied", reason: "Don't touch env files" }
      ])
    }).pipe(Effect.provide(FilesLive)))

  it.effect("a guarded toolkit has the tools of what it guards, and calls that need nobody give what they gave", () =>
    Effect.gen(function*() {
      const bare = yield* Files
      const guarded = yield* Toolkit.guard(Files)
      assert.deepStrictEqual(Object.keys(guarded.tools), Object.keys(bare.tools))
      assert.deepStrictEqual(yield* handle(guarded, "read_file"), yield* handle(bare, "read_file"))
    }).pipe(Effect.provide(FilesLive)))
})

describe("a configuration", () => {
  const asked = (input: Parameters<typeof ApprovalPolicy.fromConfig>[0]) =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const guarded = yield* Toolkit.guard(Files)
      yield* Effect.all([handle(guarded, "write_file"), handle(guarded, "read_file")]).pipe(
        answering((request) => (seen.push(request.toolName), true)),
        Effect.provideServiceEffect(ApprovalPolicy.ApprovalPolicy, ApprovalPolicy.fromConfig(input))
      )
      return seen
    }).pipe(Effect.provide(FilesLive))

  it.effect("a configuration is given to a guarded toolkit beside its callback", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* asked({}), ["write_file"])
      assert.deepStrictEqual(yield* asked({ write_file: "none", read_file: { approval: "required" } }), ["read_file"])
    }))

  it.effect("pre_approved does not loosen what is said of the tool elsewhere", () =>
    Effect.gen(function*() {
      const list = ["write_file", "read_file"]
      assert.deepStrictEqual(yield* asked({ pre_approved: list }), [])
      assert.deepStrictEqual(yield* asked({ pre_approved: list, tools: { read_file: "required" } }), ["read_file"])
    }))
})
