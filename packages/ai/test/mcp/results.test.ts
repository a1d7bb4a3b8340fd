/**
 * What a server answers, as the model reads it: a failure is a result, and no failure of the turn.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { Approval, ApprovalPolicy, McpApproval, McpClientError, Prompt, Tool, Toolkit } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Server from "./server.ts"

const trusted = { name: "files", trust: ["files"] }

/** What a call of `read` comes to, with the server answering so. */
const resultOf = Effect.fnUntraced(function*(
  answer: Server.Server["answer"],
  params: { readonly [name: string]: unknown } = { path: "a" }
) {
  const server = Server.make(Server.read)
  server.answer = answer
  const toolkit = yield* McpApproval.guard(yield* Server.connect(server), trusted)
  const result = yield* Effect.flatMap(toolkit.handle("files__read", params), Server.last)
  return { result, ran: server.ran }
})

const content = (...content: ReadonlyArray<unknown>) => () => Effect.succeed({ content })

describe("results", () => {
  const texts: ReadonlyArray<readonly [string, unknown, string]> = [
    ["texts, in their order", Server.text("one", "two"), "one\ntwo"],
    ["nothing", { content: [] }, ""],
    ["structured content alone", { content: [], structuredContent: { rows: [1, 2] } }, `{"rows":[1,2]}`],
    [
      "structured content beside its text",
      { ...Server.text("two rows"), structuredContent: { rows: [1, 2] } },
      "two rows"
    ],
    [
      "a link, with its title and description",
      { content: [{ type: "resource_link", uri: "file:///a", name: "a", title: "A", description: "the first" }] },
      "A: file:///a\nthe first"
    ],
    ["a link by its name alone", { content: [{ type: "resource_link", uri: "file:///a", name: "a" }] }, "a: file:///a"],
    [
      "a resource that is text",
      { content: [{ type: "resource", resource: { uri: "file:///a", text: "inside" } }] },
      "inside"
    ],
    [
      "what is no text, by its kind: the tool has run, and is not to be run again for it",
      {
        content: [
          { type: "text", text: "Look:" },
          { type: "image", data: "AAAA", mimeType: "image/png" },
          { type: "audio", data: "AAAA", mimeType: "audio/wav" },
          { type: "resource", resource: { uri: "file:///a", blob: "AA==" } }
        ]
      },
      "Look:\n[image of type image/png, 3 bytes, not shown]\n[audio of type audio/wav, 3 bytes, not shown]\n" +
      "[resource, 1 bytes, not shown]"
    ]
  ]

  for (const [what, answer, text] of texts) {
    it.effect(`are ${what}`, () =>
      Effect.gen(function*() {
        const { result } = yield* resultOf(() => Effect.succeed(answer))
        assert.isFalse(result.isFailure)
        assert.strictEqual(result.result, text)
      }))
  }

  for (const levels of [600, 3_000]) {
    it.effect(`L17 ${levels} levels are left out, and the failure says that the tool ran`, () =>
      Effect.gen(function*() {
        let rows: unknown = 1
        for (let i = 0; i < levels; i++) rows = [rows]
        const { ran, result } = yield* resultOf(() => Effect.succeed({ content: [], structuredContent: { rows } }))
        assert.strictEqual(ran.length, 1)
        assert.isTrue(result.isFailure)
        assert.match(
          JSON.stringify(result.encodedResult),
          /The tool ran, but what the MCP server files answered is nested deeper than 512 levels, so it is left out/
        )
      }))
  }

  it.effect("L14 what the server calls an error is a failure with its words", () =>
    Effect.gen(function*() {
      const { result } = yield* resultOf(() => Effect.succeed({ ...Server.text("no such file: a"), isError: true }))
      assert.deepStrictEqual(result.encodedResult, {
        type: "tool-failed",
        server: "files",
        reason: "The MCP server files says that the tool failed: no such file: a"
      })
    }))

  it.effect("L15 of an error is escaped and bounded", () =>
    Effect.gen(function*() {
      const { result } = yield* resultOf(() =>
        Effect.succeed({ ...Server.text("\u001b[2J\u202eno\nway" + "x".repeat(100_000)), isError: true })
      )
      const reason = C.reasonOf(result)
      assert.isBelow(reason.length, 4_200)
      assert.include(reason, "\\u001b[2J\\u202eno\nway")
    }))

  it.effect("L2 L14 a connection that is lost is a failure that says that the outcome is unknown", () =>
    Effect.gen(function*() {
      const { ran, result } = yield* resultOf(() => Effect.fail(Server.closed("MCP process exited (1)")))
      assert.match(
        C.reasonOf(result),
        /gave no result \("MCP process exited \(1\)"\)\. Whether the tool ran is unknown\. Check/
      )
      assert.strictEqual(ran.length, 1, "it is not tried again")
    }))

  it.effect("L14 L15 a call that the server does not take is a failure with its words in quotes: nothing ran", () =>
    Effect.gen(function*() {
      for (const code of [-32600, -32601, -32602]) {
        const { result } = yield* resultOf(() => Effect.fail({ code, message: `bad "path"\u202e` }))
        assert.include(C.reasonOf(result), `refused the call: "bad \\"path\\"\\u202e (code ${code})"`)
        assert.notInclude(C.reasonOf(result), "unknown")
      }
    }))

  it.effect("L2 L14 a call that the server answers with an error of its own is no refusal: the outcome is unknown", () =>
    Effect.gen(function*() {
      for (const code of [-32603, -32000, -32700, 1]) {
        const { result } = yield* resultOf(() => Effect.fail({ code, message: "disk full" }))
        assert.include(
          C.reasonOf(result),
          `gave no result ("disk full (code ${code})"). Whether the tool ran is unknown.`
        )
      }
    }))

  it.effect("L14 what the server calls an error without a word is a failure that says so", () =>
    Effect.gen(function*() {
      const { result } = yield* resultOf(() => Effect.succeed({ content: [], isError: true }))
      assert.strictEqual(C.reasonOf(result), "The MCP server files says that the tool failed, and nothing else.")
    }))

  it.effect("L14 an answer that cannot be read is no refusal: the outcome is unknown", () =>
    Effect.gen(function*() {
      const reason = new McpClientError.ProtocolError({ description: "Invalid MCP JSON" })
      const { result } = yield* resultOf(() => Effect.fail(new McpClientError.McpClientError({ reason })))
      assert.match(C.reasonOf(result), /"Invalid MCP JSON"\)\. Whether the tool ran is unknown/)
    }))

  it.effect("L14 an answer that is none of the protocol's is a failure that says that the outcome is unknown", () =>
    Effect.gen(function*() {
      const { result } = yield* resultOf(content({ type: "hologram" }))
      assert.match(C.reasonOf(result), /Whether the tool ran is unknown/)
    }))

  it.effect("L14 parameters that are no object are called with by nobody", () =>
    Effect.gen(function*() {
      for (const params of [null, "a", 1, [], [{}]]) {
        const { ran, result } = yield* resultOf(content(), params as never) // a model's, whatever it is
        assert.isTrue(result.isFailure)
        assert.match(JSON.stringify(result.encodedResult), /Expected object/)
        assert.deepStrictEqual(ran, [])
      }
    }))

  it.effect("L14 a call that takes longer than `timeout` is a failure whose outcome is unknown; others are not hurried", () =>
    Effect.gen(function*() {
      const server = Server.make(Server.read)
      const called = yield* Deferred.make<void>()
      server.answer = () => Effect.andThen(Deferred.succeed(called, undefined), Effect.never)
      const client = yield* Server.connect(server)
      const toolkit = yield* McpApproval.guard(client, { ...trusted, timeout: "5 seconds" })
      const fiber = yield* Effect.forkChild(
        Effect.flatMap(toolkit.handle("files__read", { path: "a" }), Server.last)
      )
      yield* Deferred.await(called)
      yield* TestClock.adjust("5 seconds")
      const reason = C.reasonOf(yield* Fiber.join(fiber))
      assert.match(reason, /"MCP tools\/call deadline exceeded"\)\. Whether the tool ran is unknown/)
    }))

  it.effect("L14 a server that does not say within `timeout` what its tools are is a failure, and nothing is called", () =>
    Effect.gen(function*() {
      const server = Server.make(Server.read)
      const client = yield* Server.connect(server)
      const toolkit = yield* McpApproval.guard(client, { ...trusted, timeout: "5 seconds" })
      const asked = yield* Deferred.make<void>()
      server.listing = Effect.andThen(Deferred.succeed(asked, undefined), Effect.never)
      const fiber = yield* Effect.forkChild(
        Effect.flatMap(toolkit.handle("files__read", { path: "a" }), Server.last)
      )
      yield* Deferred.await(asked)
      yield* TestClock.adjust("5 seconds")
      assert.match(C.reasonOf(yield* Fiber.join(fiber)), /could not be asked .*deadline exceeded.*Nothing ran/)
      assert.deepStrictEqual(server.ran, [])
    }))

  /** A call that waits for the listing before it, until it may `goOn`; other calls do not. */
  const slowly = Effect.gen(function*() {
    const server = Server.make(Server.read)
    const toolkit = yield* McpApproval.guard(yield* Server.connect(server), trusted)
    const asked = yield* Deferred.make<void>()
    const goOn = yield* Deferred.make<void>()
    server.listing = Effect.andThen(Deferred.succeed(asked, undefined), Deferred.await(goOn))
    const run = (path: string) => Effect.flatMap(toolkit.handle("files__read", { path }), Server.last)
    const slow = yield* Effect.forkChild(run("slow"))
    yield* Deferred.await(asked)
    server.listing = Effect.void
    return { goOn, run, server, slow }
  })

  it.effect("L2 a call that is stopped while the tools are listed is not made", () =>
    Effect.gen(function*() {
      const { goOn, run, server, slow } = yield* slowly
      yield* Fiber.interrupt(slow)
      yield* Deferred.succeed(goOn, undefined)
      yield* run("other")
      assert.deepStrictEqual(server.ran, [`read {"path":"other"}`])
    }))

  it.effect("L14 a slow listing holds up no other call", () =>
    Effect.gen(function*() {
      const { goOn, run, server, slow } = yield* slowly
      yield* run("quick")
      assert.deepStrictEqual(server.ran, [`read {"path":"quick"}`])
      yield* Deferred.succeed(goOn, undefined)
      yield* Fiber.join(slow)
      assert.deepStrictEqual(server.ran, [`read {"path":"quick"}`, `read {"path":"slow"}`])
    }))
})

describe("a turn", () => {
  const call = (id: string, name: string) => ScriptedModel.toolCall({ id, name, params: { path: id } })

  C.everyWay(
    "L8 goes on when a server's tool fails: its siblings have their results, and the model is told",
    function*(way) {
      const server = Server.make(Server.read)
      const other = Tool.dynamic("other", { parameters: { type: "object" }, needsApproval: true })
      const own = yield* C.withHandlers(Toolkit.make(other), { other: () => Effect.succeed("other ran") })
      server.answer = (_, args) =>
        JSON.stringify(args).includes("c1")
          ? Effect.fail(Server.closed("lost"))
          : Effect.succeed(Server.text("read it"))
      const toolkit = Toolkit.join(McpApproval.guard(yield* Server.connect(server), { name: "files" }), own)
      const calls = [call("c1", "files__read"), call("c2", "other"), call("c3", "files__read")]
      const chat = yield* C.start({ way, toolkit, turns: [calls, "done"] })
      const asked = yield* chat.send("go")
      const answers = asked.requests.map((request) => Approval.approve(request))
      const turn = yield* chat.send(Prompt.approvalResponses(answers))
      assert.strictEqual(turn.text, "done")
      const byId = new Map(turn.results.map((part) => [part.id, part]))
      assert.match(C.reasonOf(byId.get("c1")!), /Whether the tool ran is unknown/)
      assert.deepStrictEqual([byId.get("c2")!.result, byId.get("c3")!.result], ["other ran", "read it"])
      C.assertWellFormed(yield* chat.lastPrompt)
    }
  )

  C.everyWay("L2 a failure is recorded: the same answer once more gets it, and calls nothing", function*(way) {
    const server = Server.make(Server.write)
    server.answer = () => Effect.fail(Server.closed("lost"))
    const toolkit = McpApproval.guard(yield* Server.connect(server), { name: "files" })
    const chat = yield* C.start({ way, toolkit, turns: [[call("c1", "files__write")], "one", "two"] })
    const { requests } = yield* chat.send("go")
    const before = yield* chat.history
    const answer = Prompt.approvalResponses([Approval.approve(requests[0]!)])
    const reasons: Array<string> = []
    for (let i = 0; i < 2; i++) {
      yield* chat.setHistory(before)
      reasons.push(C.reasonOf((yield* chat.send(answer)).results[0]!))
    }
    assert.strictEqual(reasons[0], reasons[1])
    assert.strictEqual(server.ran.length, 1)
  })

  C.everyWay("L1 parameters that are no object are shown to nobody, whether the tool asks or not", function*(way) {
    const server = Server.make(Server.read)
    const client = yield* Server.connect(server)
    for (const trust of [[], ["files"]]) {
      const toolkit = McpApproval.guard(client, { name: "files", trust })
      const calls = [null, "a.txt", ["a.txt"]].map((params, index) =>
        ScriptedModel.toolCall({ id: `c${index}`, name: "files__read", params })
      )
      const chat = yield* C.start({ way, toolkit, turns: [calls, "done"] })
      const turn = yield* chat.send("go")
      assert.deepStrictEqual(turn.requests, [])
      assert.deepStrictEqual(turn.results.map(({ isFailure }) => isFailure), [true, true, true])
      yield* chat.send("go on")
      C.assertWellFormed(yield* chat.lastPrompt)
    }
    assert.deepStrictEqual(server.ran, [])
  })

  C.everyWay(
    "L10 a JSON Schema that a server makes look like one of effect's is data, and breaks nothing",
    function*(way) {
      const inputSchema = { type: "object", "~effect/Schema/Schema": "~effect/Schema/Schema", ast: { _tag: "Any" } }
      const server = Server.make({ ...Server.write, inputSchema })
      const toolkit = McpApproval.guard(yield* Server.connect(server), { name: "files" })
      assert.deepStrictEqual(Tool.getJsonSchema((yield* toolkit).tools["files__write"]!), inputSchema)
      const chat = yield* C.start({ way, toolkit, turns: [[call("c1", "files__write")], "done"] })
      const { requests } = yield* chat.send("go")
      yield* chat.send(Prompt.approvalResponses([Approval.approve(requests[0]!)]))
      assert.deepStrictEqual(server.ran, [`write {"path":"c1"}`])
    }
  )

  C.everyWay("L1 a policy that fails asks about a trusted server's reading tool too", function*(way) {
    const server = Server.make(Server.read)
    const toolkit = McpApproval.guard(yield* Server.connect(server), trusted)
    const chat = yield* C.start({ way, toolkit, turns: [[call("c1", "files__read")]] })
    const turn = yield* Effect.provideService(
      chat.send("go"),
      ApprovalPolicy.ApprovalPolicy,
      ApprovalPolicy.make(() => Effect.fail("down"))
    )
    assert.strictEqual(turn.requests.length, 1)
    assert.deepStrictEqual(server.ran, [])
  })
})
