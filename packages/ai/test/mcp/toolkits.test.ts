/**
 * Tools of several servers, and of a server and the program, as one toolkit; and guarded tools without a model.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, pipe, Schema, Stream } from "effect"
import {
  Approval,
  ApprovalController,
  ApprovalPolicy,
  McpApproval,
  Prompt,
  SuspensionStore,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Chain from "../waiting/chain.ts"
import * as Server from "./server.ts"

const call = (id: string, name: string) => ScriptedModel.toolCall({ id, name, params: { path: id } })

const Note = Toolkit.make(Tool.make("Note", { parameters: { text: Schema.String }, success: Schema.String }))

const notes = Effect.suspend(() => C.withHandlers(Note, { Note: ({ text }) => Effect.succeed(`noted ${text}`) }))

/** Two servers with the same tools, one of them trusted. */
const two = Effect.gen(function*() {
  const here = Server.make(Server.read, Server.write)
  const there = Server.make(Server.read, Server.write)
  const trust = ["here"]
  return {
    here,
    there,
    first: McpApproval.guard(yield* Server.connect(here), { name: "here", trust }),
    second: McpApproval.guard(yield* Server.connect(there), { name: "there", trust })
  }
})

describe("Toolkit.join", () => {
  C.everyWay("L4 two servers with one tool name: nothing runs on the other's consent, or on its trust", function*(way) {
    const { first, here, second, there } = yield* two
    const calls = ["here__write", "there__write", "here__read", "there__read"].map((name) => call(name, name))
    const chat = yield* C.start({ way, toolkit: Toolkit.join(first, second), turns: [calls, "done"] })
    const asked = yield* chat.send("go")
    assert.deepStrictEqual(asked.requests.map(({ toolName }) => toolName), [
      "here__write",
      "there__write",
      "there__read"
    ])
    assert.deepStrictEqual([here.ran, there.ran], [[`read {"path":"here__read"}`], []])
    const [mine, ...others] = asked.requests
    const turn = yield* chat.send(
      Prompt.approvalResponses([Approval.approve(mine!), ...others.map((request) => Approval.deny(request, "no"))])
    )
    assert.strictEqual(turn.text, "done")
    assert.deepStrictEqual(here.ran, [`read {"path":"here__read"}`, `write {"path":"here__write"}`])
    assert.deepStrictEqual(there.ran, [])
    C.assertWellFormed(yield* chat.lastPrompt)
  })

  C.everyWay("L4 an approval of one server's tool, put to the same tool of the other, runs nothing", function*(way) {
    const { first, here, second, there } = yield* two
    const chat = yield* C.start({
      way,
      toolkit: Toolkit.join(first, second),
      turns: [[call("c1", "here__write")], "x"]
    })
    const { requests } = yield* chat.send("go")
    const json = JSON.stringify(Schema.encodeSync(Prompt.Prompt)(yield* chat.history))
    const forged = Schema.decodeUnknownSync(Prompt.Prompt)(
      JSON.parse(json.replaceAll("here__write", "there__write"))
    )
    yield* chat.setHistory(forged)
    const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve(requests[0]!)]))
    assert.match(C.reasonOf(turn.results[0]!), /does not belong to this call/)
    assert.deepStrictEqual([here.ran, there.ran], [[], []])
  })

  it.effect("a name in both is a typed error, whether either asks or not", () =>
    Effect.gen(function*() {
      const { first } = yield* two
      const again = McpApproval.guard(yield* Server.connect(Server.make(Server.write)), { name: "here" })
      const error = yield* Effect.flip(Toolkit.join(first, again))
      assert.instanceOf(error, Toolkit.ToolNameClash)
      assert.strictEqual(error.toolName, "here__write")
      assert.include(error.message, `Two toolkits have a tool called "here__write"`)
      const own = yield* notes
      assert.instanceOf(yield* Effect.flip(Toolkit.join(own, own)), Toolkit.ToolNameClash)
    }))

  it.effect("Toolkit.merge refuses them too: two tools of one name, one of which is gated", () =>
    Effect.gen(function*() {
      const { first } = yield* two
      const again = yield* McpApproval.guard(yield* Server.connect(Server.make(Server.write)), { name: "here" })
      const kits = [yield* first, again].map(({ tools }) => Toolkit.make(tools["here__write"]!))
      assert.throws(() => Toolkit.merge(...kits), /Two tools are called "here__write"/)
    }))

  it.effect("of many, each call goes to the toolkit of its tool, and a name that none has is not found", () =>
    Effect.gen(function*() {
      const { first, here, second } = yield* two
      const all = yield* pipe(first, Toolkit.join(second), Toolkit.join(notes))
      assert.deepStrictEqual(Object.keys(all.tools), [
        "here__read",
        "here__write",
        "there__read",
        "there__write",
        "Note"
      ])
      const run = (name: string, params: { readonly [name: string]: string }) =>
        Effect.flatMap(all.handle(name, params), Server.last)
      assert.strictEqual((yield* run("Note", { text: "a" })).result, "noted a")
      assert.strictEqual((yield* run("here__read", { path: "a" })).result, "read ran")
      assert.strictEqual(here.ran.length, 1)
      const error = yield* Effect.flip(all.handle("toString", {}))
      assert.strictEqual(error._tag === "AiError" && error.reason._tag, "ToolNotFoundError")
      assert.deepInclude(error._tag === "AiError" ? error.reason : {}, { availableTools: Object.keys(all.tools) })
    }))

  it.effect("has tools that are called as what every object has", () =>
    Effect.gen(function*() {
      const names = ["constructor", "toString", "__proto__"] as const
      const odd = yield* C.withHandlers(
        Toolkit.make(...names.map((name) => Tool.make(name, { success: Schema.String }))),
        Object.fromEntries(names.map((name) => [name, () => Effect.succeed(`${name} ran`)])) as never // one for each
      )
      const { first } = yield* two
      for (const both of [yield* Toolkit.join(odd, first), yield* Toolkit.join(first, odd)]) {
        assert.includeMembers(Object.keys(both.tools), [...names])
        for (const name of names) {
          const { result } = yield* Effect.flatMap(both.handle(name, {}), Server.last)
          assert.strictEqual(result, `${name} ran`)
        }
      }
    }))

  C.everyWay(
    "L2 with a toolkit that is guarded asks of each where it asks: here at the call, there at the turn",
    function*(way) {
      const { first, here, second, there } = yield* two
      const toolkit = Toolkit.join(Toolkit.guard(first), second)
      const calls = [call("c1", "here__write"), call("c2", "there__write"), call("c3", "here__read")]
      const chat = yield* C.start({ way, toolkit, turns: [calls, "done"] })
      const seen: Array<string> = []
      const turn = yield* Effect.provideService(
        chat.send("go"),
        ApprovalController.ApprovalController,
        ApprovalController.interactive((request) => (seen.push(request.toolName), true))
      )
      assert.deepStrictEqual(seen.toSorted(), ["here__write", "there__write"])
      assert.deepStrictEqual(turn.requests, [])
      assert.deepStrictEqual(here.ran.toSorted(), [`read {"path":"c3"}`, `write {"path":"c1"}`])
      assert.deepStrictEqual(there.ran, [`write {"path":"c2"}`])
    }
  )

  C.everyWay("L2 with a tool that waits goes on with it, once, when the answer comes", (way) =>
    Effect.gen(function*() {
      const { first, here } = yield* two
      const steps: Array<string> = []
      const toolkit = Toolkit.join(first, yield* Chain.makeToolkit(steps))
      const waits = ScriptedModel.toolCall({ id: "w", name: "Chain", params: { id: "one", kinds: ["verdict"] } })
      const chat = yield* C.start({ way, toolkit, turns: [[waits, call("c1", "here__write")], "done"] })
      const { requests } = yield* chat.send("go")
      const answers = requests.map((request) =>
        request.awaited === undefined ? Approval.approve(request) : Chain.right(request)
      )
      const turn = yield* chat.send(Prompt.approvalResponses(answers))
      assert.strictEqual(turn.text, "done")
      assert.deepStrictEqual(turn.results.map(({ result }) => result).toSorted(), ["one after 1", "write ran"])
      assert.deepStrictEqual(steps, ["one start", "one 0"])
      assert.strictEqual(here.ran.length, 1)
    }).pipe(Effect.provide(SuspensionStore.layerMemory)))

  C.everyWay("lists the tools of all anew for each turn", function*(way) {
    const { first, second, there } = yield* two
    const chat = yield* C.start({
      way,
      toolkit: Toolkit.join(Toolkit.join(first, second), notes),
      turns: ["one", "two"]
    })
    const offered = Effect.map(chat.script.requests, (requests) => requests.at(-1)!.toolNames)
    yield* chat.send("go")
    assert.notInclude(yield* offered, "there__new")
    there.tools = [...there.tools, { name: "new" }]
    yield* chat.send("go on")
    assert.include(yield* offered, "there__new")
    assert.include(yield* offered, "Note")
  })
})

describe("Toolkit.join of servers", () => {
  it.effect("lists them at once: a slow one does not hold up the others", () =>
    Effect.gen(function*() {
      const { first, here, second, there } = yield* two
      const asked = [yield* Deferred.make<void>(), yield* Deferred.make<void>()] as const
      // Each answers when the other was asked.
      here.listing = Effect.andThen(Deferred.succeed(asked[0], undefined), Deferred.await(asked[1]))
      there.listing = Effect.andThen(Deferred.succeed(asked[1], undefined), Deferred.await(asked[0]))
      const { tools } = yield* Toolkit.join(first, second)
      assert.strictEqual(Object.keys(tools).length, 4)
    }))

  it.effect("fails if one of them cannot be listed, and the error is the client's own", () =>
    Effect.gen(function*() {
      const { first, here, second, there } = yield* two
      for (const server of [here, there]) {
        server.broken = true
        assert.strictEqual((yield* Effect.flip(Toolkit.join(first, second)))._tag, "McpClientError")
        server.broken = false
      }
    }))
})

describe("a server that is away", () => {
  C.everyWay("L10 can be done without: the others' tools run what was approved, and its own are void", function*(way) {
    const { first, here, second, there } = yield* two
    const without = Effect.catchTag(second, "McpClientError", () => Toolkit.empty)
    const toolkit = Toolkit.join(first, without)
    const calls = [call("c1", "here__write"), call("c2", "there__write")]
    const chat = yield* C.start({ way, toolkit, turns: [calls, "done"] })
    const { requests } = yield* chat.send("go")
    there.broken = true
    const turn = yield* chat.send(C.approveAll({ requests }))
    assert.match(C.reasonOf(turn.results.find(({ id }) => id === "c2")!), /no longer available/)
    assert.deepStrictEqual([here.ran.length, there.ran.length, turn.text], [1, 0, "done"])
    C.assertWellFormed(yield* chat.lastPrompt)
  })
})

describe("Toolkit.guard", () => {
  const run = (toolkit: Toolkit.WithHandler<McpApproval.Tools>, name: string) =>
    Effect.flatMap(toolkit.handle(name, { path: name }), Server.last)

  it.effect("asks for a server's tool where it is called, without a model", () =>
    Effect.gen(function*() {
      const { first, here, second, there } = yield* two
      const toolkit = yield* Toolkit.guard(Toolkit.join(first, second))
      const seen: Array<string> = []
      const answering = (answer: boolean) =>
        Effect.provideService(
          ApprovalController.ApprovalController,
          ApprovalController.interactive((request) => (seen.push(`${request.source} ${request.toolName}`), answer))
        )
      assert.strictEqual((yield* run(toolkit, "here__read").pipe(answering(false))).result, "read ran")
      C.reasonOf(yield* run(toolkit, "there__read").pipe(answering(false)))
      assert.deepStrictEqual(there.ran, [])
      assert.strictEqual((yield* run(toolkit, "here__write").pipe(answering(true))).result, "write ran")
      assert.deepStrictEqual(seen, ["mcp.there there__read", "mcp.here here__write"])
      assert.strictEqual(here.ran.length, 2)
      assert.match(C.reasonOf(yield* run(toolkit, "here__write")), /nobody can be asked here/)
    }))

  it.effect("L10 does not call a tool that changed while the person thought", () =>
    Effect.gen(function*() {
      const { first, here } = yield* two
      const toolkit = yield* Toolkit.guard(first)
      const result = yield* Effect.provideService(
        run(toolkit, "here__write"),
        ApprovalController.ApprovalController,
        ApprovalController.interactive(() => {
          here.tools = [{ ...Server.write, title: "Delete" }]
          return true
        })
      )
      assert.match(C.reasonOf(result), /changed its title/)
      assert.deepStrictEqual(here.ran, [])
    }))

  it.effect("goes by the program's configuration, by glob", () =>
    Effect.gen(function*() {
      const { first, here, second, there } = yield* two
      const toolkit = yield* Toolkit.guard(Toolkit.join(first, second))
      const config = ApprovalPolicy.layerConfig({ "there__*": "none", "*__read": "deny", "here__write": "deny" })
      yield* Effect.gen(function*() {
        C.reasonOf(yield* run(toolkit, "here__read"))
        C.reasonOf(yield* run(toolkit, "here__write"))
        yield* run(toolkit, "there__write")
      }).pipe(Effect.provide(config))
      assert.deepStrictEqual([here.ran, there.ran], [[], [`write {"path":"there__write"}`]])
    }))
})

describe("Toolkit.withPolicy", () => {
  C.everyWay("goes over what the server says of its tools", function*(way) {
    const { first, here } = yield* two
    const toolkit = Toolkit.withPolicy(
      first,
      ({ encodedParams, toolName }) =>
        JSON.stringify(encodedParams).includes("secret")
          ? Approval.blocked("secrets stay here")
          : toolName === "here__write"
          ? false
          : undefined
    )
    const chat = yield* C.start({
      way,
      toolkit,
      turns: [[call("c1", "here__write"), call("secret", "here__read"), call("c3", "here__read")]]
    })
    const turn = yield* chat.send("go")
    assert.deepStrictEqual(turn.requests, [])
    assert.deepStrictEqual(here.ran.toSorted(), [`read {"path":"c3"}`, `write {"path":"c1"}`])
    const refused = turn.results.find(({ id }) => id === "secret")!
    assert.strictEqual(C.reasonOf(refused), "secrets stay here")
  })
})

describe("plain upstream", () => {
  it.effect("L1 ends the turn at a server's tool too, and runs what a trusted server only reads", () =>
    Effect.gen(function*() {
      const { first, here } = yield* two
      const { model } = yield* ScriptedModel.make({
        turns: [[call("c1", "here__write")], [call("c2", "here__read")]]
      })
      const turn = model.generateText({ prompt: "go", toolkit: yield* first })
      assert.include(String(yield* Effect.sandbox(turn).pipe(Effect.flip)), "met the engine of effect/ai")
      assert.deepStrictEqual(here.ran, [])
      yield* turn
      assert.deepStrictEqual(here.ran, [`read {"path":"c2"}`])
      const byHand = Effect.flatMap(first, (toolkit) => toolkit.handle("here__write", { path: "c3" })).pipe(
        Stream.unwrap,
        Stream.runDrain
      )
      assert.include(String(yield* Effect.sandbox(byHand).pipe(Effect.flip)), "was called without it")
      assert.deepStrictEqual(here.ran, [`read {"path":"c2"}`])
    }))
})
