/** The programs of the README: they stand there as they are, and they run as they are, against the strict server. */
import { ResponsesServer } from "@assent/openai/testing"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Path from "node:path"

const here = import.meta.dirname
const readme = Fs.readFileSync(Path.join(here, "../README.md"), "utf8")

const { functionCall, mcpCall } = ResponsesServer

const programs: { readonly [name: string]: readonly [options: ResponsesServer.Options, output: string] } = {
  text: [{ turns: ["Blue.", "Green."] }, "Blue.\nGreen."],
  tools: [
    {
      turns: [
        [
          functionCall({ name: "DeleteFile", params: { path: "debug.log" } }),
          functionCall({ name: "DeleteFile", params: { path: "thesis.txt" } })
        ],
        "debug.log is gone; thesis.txt stays."
      ]
    },
    "deleting debug.log\ndebug.log is gone; thesis.txt stays.\n"
  ],
  mcp: [
    {
      mcpServers: { dice: [{ name: "roll", run: () => Effect.succeed("4") }] },
      turns: [
        [
          mcpCall({ server: "dice", name: "roll", params: { sides: 6 } }),
          mcpCall({ server: "dice", name: "roll", params: { sides: 1000 } })
        ],
        "You rolled a four, and no big one."
      ]
    },
    "mcp.dice.roll(sides=6)\n" +
    "mcp.dice.roll(sides=1000)\n" +
    "You rolled a four, and no big one.\n"
  ],
  object: [{ turns: [`{"title": "Pasta", "minutes": 15, "vegetarian": null}`] }, "Pasta: 15 minutes\n"]
}

const run = (file: string, env: Record<string, string>): Effect.Effect<string> =>
  Effect.promise(() =>
    new Promise((resolve) => {
      ChildProcess.execFile(
        process.execPath,
        ["--conditions=@assent/source", file],
        {
          env: {
            PATH: process.env["PATH"],
            NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
            NODE_OPTIONS: process.env["NODE_OPTIONS"],
            NO_COLOR: "1",
            ...env
          }
        },
        (error, stdout, stderr) => resolve(error === null ? stdout : `${stdout}\n${stderr}`)
      )
    })
  )

describe("README", () => {
  for (const [name, [options, output]] of Object.entries(programs)) {
    const file = Path.join(here, "readme", `${name}.ts`)

    it(`holds ${name}.ts as it is`, () => {
      assert.include(readme, `\`\`\`ts\n${Fs.readFileSync(file, "utf8").trimEnd()}\n\`\`\``)
    })

    it.live(`runs ${name}.ts`, () =>
      Effect.gen(function*() {
        const server = yield* ResponsesServer.make(options)
        const said = yield* run(file, { OPENAI_API_KEY: server.apiKey, OPENAI_BASE_URL: server.url })
        // The engine warns of a key that ends with the process.
        assert.strictEqual(said.replace(/^\[.*WARN.*\n/gm, ""), output)
        for (const { status, text } of yield* server.responses) assert.strictEqual(status, 200, text)
      }), 30_000)
  }
})
