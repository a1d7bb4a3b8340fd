/** `npm start -- --openai`: through OpenAI's SDK, to whatever server the environment says. */
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"

const program = fileURLToPath(new URL("../../../scratchpad/janitor.ts", import.meta.url))

interface Ended {
  readonly code: unknown
  readonly stdout: string
  readonly stderr: string
}

const start = (environment: Record<string, string>) =>
  Effect.callback<Ended>((resume) => {
    const child = execFile(
      process.execPath,
      ["--conditions=@assent/source", program, "--openai", "--answers", "approve,deny:keep it,approve,approve"],
      {
        env: {
          PATH: process.env["PATH"],
          NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
          NODE_OPTIONS: process.env["NODE_OPTIONS"],
          OPENAI_API_KEY: "",
          OPENAI_BASE_URL: "",
          ...environment
        }
      },
      (error, stdout, stderr) => resume(Effect.succeed({ code: error === null ? 0 : error.code, stdout, stderr }))
    )
    return Effect.sync(() => child.kill())
  })

describe("the janitor through OpenAI's SDK", () => {
  it.live(
    "without a key: the whole story over HTTP, a hosted call too, on 80 columns",
    () =>
      Effect.gen(function*() {
        const { code, stderr, stdout } = yield* start({})
        assert.strictEqual(stderr, "")
        assert.strictEqual(code, 0)
        for (
          const said of [
            "Provider: OpenAI's SDK.",
            "mcp.board.post",
            "(posted on the board)",
            "deleted    debug.log",
            "deleted    report (copy).txt",
            "denied     holiday\\u200b\\u202egpj.exe: \"keep it\"",
            "folder     removed"
          ]
        ) assert.include(stdout, said)
        assert.include(stdout, "Delete? [y]es / [n]o / n <reason> › n keep it")
        assert.deepStrictEqual(stdout.split("\n").filter((line) => line.length > 80), [])
      }),
    30_000
  )

  it.live("with a key: the server of OPENAI_BASE_URL, whose refusal is said in short", () =>
    Effect.gen(function*() {
      const server = yield* ResponsesServer.make({ turns: [] })
      const key = "sk-proj-wrong-0123456789"
      const { code, stderr, stdout } = yield* start({ OPENAI_API_KEY: key, OPENAI_BASE_URL: server.url })
      assert.strictEqual(code, 2)
      assert.include(stdout, `Provider: OpenAI's gpt-5.2, at ${new URL(server.url).host}`)
      assert.deepStrictEqual((yield* server.responses).map(({ status }) => status), [401])
      assert.include(stderr, "Incorrect API key provided")
      assert.notMatch(stdout + stderr, /sk-proj|wrong-0123|\.ts:\d|at .*\(/)
      assert.isBelow(stderr.trim().split("\n").length, 6)
    }), 30_000)

  it.live("with what cannot be a key: nothing is sent", () =>
    Effect.gen(function*() {
      const { code, stderr, stdout } = yield* start({ OPENAI_API_KEY: "sk-proj wrong-0123456789" })
      assert.strictEqual(code, 2)
      assert.include(stderr, "OpenAiClient.make: InvalidKey")
      assert.notMatch(stdout + stderr, /sk-proj|wrong-0123|\.ts:\d/)
    }), 30_000)
})
