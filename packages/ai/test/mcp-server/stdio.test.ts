/**
 * The whole story over stdio: our server as a process of its own, started by the client of `@modelcontextprotocol/sdk`.
 * What ran is what is in the server's folder.
 */
import * as NodeFileSystem from "@effect/platform-node/NodeFileSystem"
import { assert, describe, it } from "@effect/vitest"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js"
import { type Cause, Effect, Fiber, FileSystem, Layer, Queue, Sink, Stdio, Stream } from "effect"
import * as Path from "node:path"
import { McpApproval, McpProtocol } from "../../src/index.ts"
import * as S from "./support.ts"

describe("over stdio", () => {
  it.live("accept, decline, cancel, drop the connection: only what was accepted is written", () =>
    Effect.gen(function*() {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const shown = S.signal()
      const answers: Array<() => ElicitResult | Promise<ElicitResult>> = [
        () => S.approve,
        () => ({ action: "decline" }),
        () => ({ action: "cancel" }),
        () => (shown.done(), new Promise<never>(() => {}))
      ]
      const transport = new StdioClientTransport({
        command: process.execPath,
        args: ["--conditions=@assent/source", Path.join(import.meta.dirname, "server.ts"), folder],
        stderr: "pipe"
      })
      const client = new Client({ name: "test", version: "1.0.0" }, { capabilities: { elicitation: {} } })
      client.setRequestHandler(ElicitRequestSchema, () => answers.shift()!())
      yield* Effect.addFinalizer(() => Effect.promise(() => client.close()))
      yield* Effect.promise(() => client.connect(transport))
      const call = (name: string) => client.callTool({ name: "write", arguments: { name } })
      const accepted = S.resultOf(yield* Effect.promise(() => call("accepted")))
      assert.deepStrictEqual(accepted, { isError: false, text: "wrote accepted", structured: undefined })
      const declined = S.resultOf(yield* Effect.promise(() => call("declined")))
      assert.strictEqual(S.reasonOf(declined), "The user declined this call.")
      const dismissed = S.resultOf(yield* Effect.promise(() => call("dismissed")))
      assert.match(S.reasonOf(dismissed), /dismissed the question without a decision/)
      const dropped = call("dropped").then(S.resultOf).catch(() => undefined)
      yield* shown.wait
      const { pid } = transport
      yield* Effect.promise(() => client.close())
      const last = yield* Effect.promise(() => dropped)
      if (last !== undefined) assert.match(S.reasonOf(last), /could not be asked.*asked again/)
      assert.throws(() => process.kill(pid!, 0), /ESRCH/)
      assert.deepStrictEqual(yield* fs.readDirectory(folder), ["accepted"])
    }).pipe(Effect.provide(NodeFileSystem.layer)))

  it.live("the input ends while a question is open: it is answered that nobody can be asked, and the server ends", () =>
    Effect.gen(function*() {
      const input = yield* Queue.unbounded<Uint8Array, Cause.Done>()
      const shown = S.signal()
      const written: Array<{ readonly method?: string; readonly id?: number; readonly result?: unknown }> = []
      const send = (message: object) =>
        Queue.offer(input, new TextEncoder().encode(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`))
      const runs: Array<string> = []
      const server = yield* McpApproval.layerStdio({
        name: "files",
        version: "1.0.0",
        protocols: [McpProtocol.v2025_11_25],
        registrations: S.files()
      }).pipe(
        Layer.provide(Layer.succeed(S.Runs, runs)),
        Layer.provide(Stdio.layerTest({
          stdin: Stream.fromQueue(input),
          stdout: () =>
            Sink.forEach((chunk) =>
              Effect.sync(() => {
                const message = JSON.parse(String(chunk))
                written.push(message)
                if (message.method === "elicitation/create") shown.done()
              })
            )
        })),
        Layer.launch,
        Effect.forkChild
      )
      const clientInfo = { name: "test", version: "1.0.0" }
      const initialize = { protocolVersion: "2025-11-25", capabilities: { elicitation: {} }, clientInfo }
      yield* send({ id: 1, method: "initialize", params: initialize })
      yield* send({ method: "notifications/initialized" })
      yield* send({
        id: 2,
        method: "tools/call",
        params: { name: "delete_file", arguments: { path: "/tmp/a" } }
      })
      yield* shown.wait
      yield* Queue.end(input)
      yield* Fiber.await(server)
      assert.match(
        JSON.stringify(written.find(({ id, method }) => id === 2 && method === undefined)),
        /could not be asked/
      )
      assert.deepStrictEqual(runs, [])
    }))
})
