/** Asked in one process, answered in another that knows the history alone: the result is that of the call that waited. */
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Os from "node:os"
import * as Path from "node:path"
import * as C from "./conversation.ts"

const program = Path.join(import.meta.dirname, "processes/roll.ts")

const run = (server: ResponsesServer.Service, ...args: ReadonlyArray<string>): Effect.Effect<unknown> =>
  Effect.promise(() =>
    new Promise((resolve, reject) => {
      ChildProcess.execFile(
        process.execPath,
        ["--conditions=@assent/source", program, ...args],
        {
          env: {
            PATH: process.env["PATH"],
            NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
            NODE_OPTIONS: process.env["NODE_OPTIONS"],
            OPENAI_API_KEY: server.apiKey,
            OPENAI_BASE_URL: server.url
          }
        },
        (error, stdout, stderr) => error === null ? resolve(JSON.parse(stdout)) : reject(new Error(stderr))
      )
    })
  )

const folder = Effect.acquireRelease(
  Effect.sync(() => Fs.mkdtempSync(Path.join(Os.tmpdir(), "assent-openai-"))),
  (path) => Effect.sync(() => Fs.rmSync(path, { recursive: true }))
)

describe("two processes", () => {
  for (const [store, method] of [["true", "stream"], ["false", "generate"]] as const) {
    it.live(`a call has one id in both, store: ${store} [${method}]`, () =>
      Effect.gen(function*() {
        const server = yield* ResponsesServer.make({
          mcpServers: { dice: [{ name: "roll", run: () => Effect.succeed("4") }] },
          turns: [[ResponsesServer.mcpCall({ server: "dice", name: "roll" })], "You rolled a four."]
        })
        const file = Path.join(yield* folder, "chat.json")
        const id = "mcpr_00000001"
        assert.deepStrictEqual(yield* run(server, "ask", file, store, method), [
          ["tool-call", id],
          ["tool-approval-request", id, id]
        ])
        assert.deepStrictEqual(yield* run(server, "approve", file, store, method), [["tool-result", id]])
        assert.strictEqual(yield* server.executionsOf(id), 1)
        // The history is that of one call with its result, whoever reads it next.
        const history = Fs.readFileSync(file, "utf8")
        assert.strictEqual(history.split(`"tool-call"`).length, 2)
        assert.strictEqual(history.split(`"tool-result"`).length, 2)
        yield* C.assertAccepted(server)
      }), 30_000)
  }
})
