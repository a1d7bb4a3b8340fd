/**
 * The real `@modelcontextprotocol/server-filesystem`, one process of it over stdio, in a folder of its own.
 */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { ChildProcess } from "effect/process"
import * as Fs from "node:fs"
import { createRequire } from "node:module"
import * as Os from "node:os"
import * as Path from "node:path"
import { Approval, McpApproval, McpClient, McpProtocol, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Support from "../laws/support.ts"

const packageJson = createRequire(import.meta.url).resolve("@modelcontextprotocol/server-filesystem/package.json")
const { bin } = JSON.parse(Fs.readFileSync(packageJson, "utf8"))
const entry = Path.join(Path.dirname(packageJson), bin["mcp-server-filesystem"])

const scope = Scope.makeUnsafe()
let folder: string
let client: McpClient.McpClient

const connect = Effect.gen(function*() {
  const transport = yield* McpClient.stdio({
    command: ChildProcess.make(process.execPath, [entry, folder]),
    protocol: McpProtocol.v2025_11_25
  })
  return yield* Effect.provideService(
    McpClient.make({ name: "assent-test", version: "1.0.0" }),
    McpClient.Transport,
    transport
  )
})

beforeAll(async () => {
  folder = Fs.realpathSync(Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-mcp-")))
  client = await Effect.runPromise(
    connect.pipe(Effect.provideService(Scope.Scope, scope), Effect.provide(NodeServices.layer))
  )
})

afterAll(async () => {
  await Effect.runPromise(Scope.close(scope, Exit.void))
  Fs.rmSync(folder, { recursive: true })
})

const trusted = { name: "files", trust: ["files"] }

/** A file of the test's own. */
const makeFile = (content: string): string => {
  const path = Path.join(Fs.mkdtempSync(Path.join(folder, "test-")), "note.txt")
  Fs.writeFileSync(path, content)
  return path
}

const readCall = (path: string) => ScriptedModel.toolCall({ id: "r1", name: "files__read_text_file", params: { path } })

const writeCall = (path: string, content: string) =>
  ScriptedModel.toolCall({ id: "w1", name: "files__write_file", params: { path, content } })

/** A conversation in which the model reads a file and wants to write it. */
const asked = Effect.fnUntraced(function*(way: C.Way) {
  const path = makeFile("as it was")
  const chat = yield* C.start({
    way,
    toolkit: McpApproval.guard(client, trusted),
    turns: [[readCall(path), writeCall(path, "written")], "one", "two", "three"]
  })
  return { chat, path, turn: yield* chat.send("note it") }
})

describe("@modelcontextprotocol/server-filesystem", () => {
  it.effect("sends hints, of which readOnlyHint tells the tools that run from those that ask, if it is trusted", () =>
    Effect.gen(function*() {
      const { tools } = yield* McpApproval.guard(client, trusted)
      const asks = Object.values(tools).filter(({ needsApproval }) => needsApproval !== false).map(({ name }) => name)
      assert.deepStrictEqual(
        asks,
        ["write_file", "edit_file", "create_directory", "move_file"].map((name) => `files__${name}`)
      )
      assert.strictEqual(Object.keys(tools).length, 14)
      const untrusted = yield* McpApproval.guard(client, { name: "files" })
      assert.isTrue(Object.values(untrusted.tools).every(({ needsApproval }) => needsApproval !== false))
    }))

  it.effect("names itself, and that is nothing to trust", () =>
    Effect.gen(function*() {
      const own = client.serverInfo!.name
      const { tools } = yield* McpApproval.guard(client)
      assert.property(tools, `_${own}__read_text_file`)
      const error = yield* Effect.flip(McpApproval.guard(client, { trust: [own] }))
      assert.strictEqual(error._tag === "McpGuardError" && error.problem, "SelfNamedTrust")
    }))

  C.everyWay("reads run, writes ask, and say of whom they are", function*(way) {
    const { path, turn } = yield* asked(way)
    assert.deepStrictEqual(turn.results.map(({ id, result }) => [id, result]), [["r1", "as it was"]])
    assert.strictEqual(turn.requests.length, 1)
    const [request] = turn.requests
    assert.deepStrictEqual([request!.toolName, request!.source], ["files__write_file", "mcp.files"])
    assert.include(request!.reason!, `the MCP server files, which calls itself "${client.serverInfo!.name}"`)
    assert.include(request!.reason!, `The server calls it "Write File" and says that it may destroy something.`)
    assert.strictEqual(Fs.readFileSync(path, "utf8"), "as it was")
  })

  C.everyWay(
    "L3 a denied write leaves the file as it was, and an approval that comes later changes nothing",
    function*(way) {
      const { chat, path, turn } = yield* asked(way)
      const before = Fs.statSync(path)
      const asking = yield* chat.history
      const after = yield* chat.send(Prompt.approvalResponses([Approval.deny(turn.requests[0]!, "leave it")]))
      assert.strictEqual(C.reasonOf(after.results[0]!), "leave it")
      yield* chat.setHistory(asking)
      yield* chat.send(Prompt.approvalResponses([Approval.approve(turn.requests[0]!)]))
      assert.strictEqual(Fs.readFileSync(path, "utf8"), "as it was")
      assert.strictEqual(Fs.statSync(path).mtimeMs, before.mtimeMs)
      C.assertWellFormed(yield* chat.lastPrompt)
    }
  )

  C.everyWay("L2 an approved write writes once, though the answer is sent twice, and again elsewhere", function*(way) {
    const { chat, path, turn } = yield* asked(way)
    const asking = yield* chat.history
    const [request] = turn.requests
    const answer = Prompt.approvalResponses([Approval.approve(request!), Approval.approve(request!)])
    const after = yield* chat.send(answer)
    assert.strictEqual(Fs.readFileSync(path, "utf8"), "written")
    assert.match(String(after.results[0]!.result), /^Successfully wrote to /)
    // Whatever is written from now on would be a second time.
    Fs.writeFileSync(path, "changed since")
    yield* chat.setHistory(asking)
    const again = yield* chat.send(answer)
    assert.deepStrictEqual(again.results.map(({ result }) => result), after.results.map(({ result }) => result))
    // As another process has it: the history from a database, and a toolkit of its own.
    const elsewhere = yield* C.start({
      way,
      toolkit: yield* McpApproval.guard(client, trusted),
      turns: ["done"],
      history: Support.throughJson(asking)
    })
    const there = yield* elsewhere.send(answer)
    assert.strictEqual(there.text, "done")
    assert.deepStrictEqual(there.results.map(({ result }) => result), after.results.map(({ result }) => result))
    assert.strictEqual(Fs.readFileSync(path, "utf8"), "changed since")
  })

  C.everyWay("L2 what another process asked for is written here, once", function*(way) {
    const { chat, path, turn } = yield* asked(way)
    const elsewhere = yield* C.start({
      way,
      toolkit: McpApproval.guard(client, trusted),
      turns: ["done"],
      history: Support.throughJson(yield* chat.history)
    })
    const answer = Prompt.approvalResponses([Approval.approve(turn.requests[0]!)])
    yield* elsewhere.send(answer)
    assert.strictEqual(Fs.readFileSync(path, "utf8"), "written")
    Fs.writeFileSync(path, "changed since")
    yield* chat.send(answer)
    assert.strictEqual(Fs.readFileSync(path, "utf8"), "changed since")
  })

  C.everyWay("L14 what the server refuses is a failed result in its words", function*(way) {
    const chat = yield* C.start({
      way,
      toolkit: McpApproval.guard(client, trusted),
      turns: [[readCall(Path.join(Os.tmpdir(), "elsewhere.txt"))]]
    })
    const turn = yield* chat.send("read it")
    assert.match(C.reasonOf(turn.results[0]!), /^The MCP server files says that the tool failed: Access denied/)
  })
})
