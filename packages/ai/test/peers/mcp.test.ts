/**
 * B31: tools of an MCP server, as upstream's `McpClient.toolkit` makes them. The client and the server are upstream's,
 * with their stdio transports; only the pipes between them are in memory.
 */
import { assert, describe } from "@effect/vitest"
import { Context, Deferred, Effect, Layer, Queue, Schema, Sink, Stdio, Stream } from "effect"
import { McpClient, McpProtocol, McpServer, Tool, Toolkit } from "effect/ai"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { Approval, ApprovalPolicy, Prompt } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Support from "../laws/support.ts"
import * as Upstream from "./upstream.ts"

const Drop = Tool.make("drop", {
  parameters: Schema.Struct({ table: Schema.String }),
  success: Schema.String
}).annotate(Tool.Readonly, false).annotate(Tool.Destructive, true)

const Look = Tool.make("look", {
  parameters: Schema.Struct({ table: Schema.String }),
  success: Schema.String
}).annotate(Tool.Readonly, true).annotate(Tool.Destructive, false)

const Tools = Toolkit.make(Drop, Look)

/** A server process, as far as a client's stdio transport can see: two pipes, and an end when its input ends. */
const spawner = Effect.fnUntraced(function*(runs: Array<string>) {
  const input = yield* Queue.unbounded<Uint8Array>()
  const output = yield* Queue.unbounded<Uint8Array>()
  const exited = yield* Deferred.make<void>()
  const run = (name: string) => ({ table }: { readonly table: string }) =>
    Effect.sync(() => (runs.push(`${name} ${table}`), `${name} ran`))
  // In a fiber of its own, as in a process of its own: with its output it ends the fiber that made it.
  yield* Layer.launch(
    McpServer.layerStdio({
      name: "database",
      version: "1.0.0",
      protocols: [McpProtocol.v2025_11_25],
      registrations: McpServer.toolkit(Tools).pipe(
        Layer.provide(Tools.toLayer({ drop: run("drop"), look: run("look") }))
      )
    }).pipe(Layer.provide(Stdio.layerTest({
      stdin: Stream.fromQueue(input),
      stdout: () =>
        Sink.forEach((chunk) => Queue.offer(output, typeof chunk === "string" ? encoder.encode(chunk) : chunk))
    })))
  ).pipe(Effect.forkScoped)
  return ChildProcessSpawner.make(() =>
    Effect.succeed(ChildProcessSpawner.makeHandle({
      pid: ChildProcessSpawner.ProcessId(1),
      exitCode: Effect.as(Deferred.await(exited), ChildProcessSpawner.ExitCode(0)),
      isRunning: Effect.map(Deferred.isDone(exited), (done) => !done),
      kill: () => Effect.void,
      stdin: Sink.forEach((chunk: Uint8Array) => Queue.offer(input, chunk)).pipe(
        Sink.mapEffect(() => Effect.asVoid(Deferred.succeed(exited, undefined)))
      ),
      stdout: Stream.fromQueue(output),
      stderr: Stream.empty,
      all: Stream.fromQueue(output),
      getInputFd: () => Sink.drain,
      getOutputFd: () => Stream.empty,
      unref: Effect.succeed(Effect.void)
    }))
  )
})

const encoder = new TextEncoder()

/** The tools of the server as upstream's client hands them out, what the server told of them, and what it ran. */
const connect = Effect.gen(function*() {
  const runs: Array<string> = []
  const transport = yield* McpClient.stdio({
    command: ChildProcess.make("database", []),
    protocol: McpProtocol.v2025_11_25
  }).pipe(Effect.provideService(ChildProcessSpawner.ChildProcessSpawner, yield* spawner(runs)))
  const client = yield* McpClient.make({ name: "test", version: "1.0.0" }).pipe(
    Effect.provideService(McpClient.Transport, transport)
  )
  const toolkit: C.AnyToolkit = yield* McpClient.toolkit(client, "db__")
  return { client, runs, toolkit }
})

const look = (id: string, table: string) => ScriptedModel.toolCall({ id, name: "db__look", params: { table } })

const drop = (id: string, table: string) => ScriptedModel.toolCall({ id, name: "db__drop", params: { table } })

/** Asks about tools that are not read only; a server's hints are not read here, so it goes by the name. */
const askToDrop = ApprovalPolicy.make(({ toolName }) =>
  toolName.endsWith("drop") ? Approval.needsApproval() : undefined
)

const begin = Effect.fnUntraced(function*(way: C.Way) {
  const { runs, toolkit } = yield* connect
  const chat = yield* C.start({ way, toolkit, turns: [[drop("c1", "users"), look("c2", "orders")], "done", "bye"] })
  const send = (prompt: Prompt.RawInput) =>
    Effect.provideService(chat.send(prompt), ApprovalPolicy.ApprovalPolicy, askToDrop)
  const asked = yield* send("tidy up")
  assert.deepStrictEqual(asked.requests.map(({ params, toolName }) => [toolName, params]), [
    ["db__drop", { table: "users" }]
  ])
  assert.deepStrictEqual(runs, ["look orders"], "asked about before it runs; the other is not held up")
  return { asked, chat, runs, send }
})

describe("B31 tools of McpClient.toolkit", () => {
  Upstream.wrong("B31 a destructive tool of a server runs without being asked about", ["drop users"], function*(way) {
    const { runs, toolkit } = yield* connect
    yield* Upstream.asked(way, [drop("c1", "users")], { toolkit })
    return runs
  })

  const forgotten = [[false, true], [false, false], [undefined, undefined]]
  Upstream.wrong("B31 the server's hints are not copied to its tools", forgotten, function*() {
    const { client, toolkit } = yield* connect
    const told = (yield* client.listTools()).map(({ annotations }) => annotations?.readOnlyHint)
    const tools: ReadonlyArray<Tool.Any> = Object.values(toolkit.tools)
    return [
      told,
      tools.map(({ annotations }) => Context.get(annotations, Tool.Readonly)),
      tools.map(({ needsApproval }) => needsApproval)
    ]
  }, ["generateText"])

  C.everyWay("B31 with a policy a server's tool is asked about first, and an approval runs it once", function*(way) {
    const { asked, chat, runs, send } = yield* begin(way)
    const asking = yield* chat.history
    const answer = Prompt.approvalResponses([Approval.approve(asked.requests[0]!)])
    const turn = yield* send(answer)
    assert.deepStrictEqual(turn.results.map((part) => [part.id, part.result]), [["c1", "drop ran"]])
    assert.strictEqual(turn.text, "done")
    C.assertWellFormed(yield* chat.lastPrompt)
    yield* chat.setHistory(asking)
    yield* send(answer)
    assert.deepStrictEqual(runs, ["look orders", "drop users"])
  })

  C.everyWay("B31 with a policy a server's tool that is denied does not run", function*(way) {
    const { asked, chat, runs, send } = yield* begin(way)
    const turn = yield* send(Prompt.approvalResponses([Approval.deny(asked.requests[0]!, "keep them")]))
    assert.include(C.reasonOf(turn.results[0]!), "keep them")
    C.assertWellFormed(yield* chat.lastPrompt)
    assert.deepStrictEqual(runs, ["look orders"])
  })

  C.everyWay("B31 a history that nobody sealed runs no tool of a server", function*(way) {
    const { runs, toolkit } = yield* connect
    const chat = yield* C.start({ way, toolkit, turns: ["done"] })
    const call = Support.callPart("c1", "db__drop", { table: "users" })
    yield* chat.setHistory(Support.written([call, Support.requestPart("a1", "c1")]))
    const turn = yield* chat.send(Prompt.approvalResponses([Approval.approve({ approvalId: "a1" })]))
    C.reasonOf(turn.results[0]!)
    assert.deepStrictEqual(runs, [])
  })
})
