/** The programs of the README: they stand there as they are, and they run as they are, against a stubbed Anthropic. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ChildProcess from "node:child_process"
import * as Fs from "node:fs"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"
import * as Path from "node:path"

const here = import.meta.dirname
const readme = Fs.readFileSync(Path.join(here, "../README.md"), "utf8")

type Json = { readonly [key: string]: unknown }

/** Answers each request with the next of these contents, and keeps what it was asked. */
const anthropic = (contents: ReadonlyArray<ReadonlyArray<Json>>) =>
  Effect.acquireRelease(
    Effect.promise(async () => {
      const bodies: Array<Json> = []
      const server = Http.createServer((request, response) => {
        let text = ""
        request.on("data", (chunk) => text += chunk)
        request.on("end", () => {
          const content = contents[bodies.length] ?? []
          bodies.push(JSON.parse(text))
          response.setHeader("content-type", "application/json")
          response.end(JSON.stringify({
            id: `msg_${bodies.length}`,
            type: "message",
            role: "assistant",
            model: "claude-sonnet-4-5",
            content,
            stop_reason: content.some(({ type }) => type === "tool_use") ? "tool_use" : "end_turn",
            stop_sequence: null,
            usage: { input_tokens: 10, output_tokens: 5 }
          }))
        })
      })
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
      const { port } = server.address() as AddressInfo
      return { bodies, server, url: `http://127.0.0.1:${port}/v1` }
    }),
    ({ server }) => Effect.promise(() => new Promise((resolve) => server.close(resolve)))
  )

const run = (name: string, url: string): Effect.Effect<string> =>
  Effect.promise(() =>
    new Promise((resolve) => {
      ChildProcess.execFile(
        process.execPath,
        ["--conditions=@assent/source", Path.join(here, "readme", `${name}.ts`)],
        {
          env: {
            PATH: process.env["PATH"],
            NODE_COMPILE_CACHE: process.env["NODE_COMPILE_CACHE"],
            NODE_OPTIONS: process.env["NODE_OPTIONS"],
            NO_COLOR: "1",
            ANTHROPIC_API_KEY: "sk-ant-test",
            ANTHROPIC_BASE_URL: url
          }
        },
        (error, stdout, stderr) => resolve(error === null ? stdout : `${stdout}\n${stderr}`)
      )
    })
  )

const programOf = (name: string) => Fs.readFileSync(Path.join(here, "readme", `${name}.ts`), "utf8")

describe("README", () => {
  it.effect("the first program asks about each file, and Claude hears what became of it", () =>
    Effect.gen(function*() {
      assert.include(readme, programOf("first"))
      const { bodies, url } = yield* anthropic([
        [
          { type: "text", text: "I delete both." },
          { type: "tool_use", id: "toolu_1", name: "DeleteFile", input: { path: "debug.log" } },
          { type: "tool_use", id: "toolu_2", name: "DeleteFile", input: { path: "thesis.txt" } }
        ],
        [{ type: "text", text: "debug.log is gone; thesis.txt stays." }]
      ])
      const output = yield* run("first", url)
      // It may be told of a key before.
      assert.isTrue(output.endsWith("deleting debug.log\ndebug.log is gone; thesis.txt stays.\n"), output)
      assert.deepStrictEqual<unknown>(bodies[1]?.["messages"], [
        { role: "user", content: [{ type: "text", text: "Delete debug.log and thesis.txt." }] },
        {
          role: "assistant",
          content: [
            { type: "text", text: "I delete both." },
            { type: "tool_use", id: "toolu_1", name: "DeleteFile", input: { path: "debug.log" } },
            { type: "tool_use", id: "toolu_2", name: "DeleteFile", input: { path: "thesis.txt" } }
          ]
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "toolu_1", content: "deleted" },
            {
              type: "tool_result",
              tool_use_id: "toolu_2",
              content: "The call was denied and did not run. keep it",
              is_error: true
            }
          ]
        }
      ])
    }), 30_000)

  it.effect("the one with a tool of Anthropic's gets what Anthropic found", () =>
    Effect.gen(function*() {
      assert.include(readme, programOf("search"))
      const { bodies, url } = yield* anthropic([[
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "Effect" } },
        {
          type: "web_search_tool_result",
          tool_use_id: "srvtoolu_1",
          content: [{
            type: "web_search_result",
            url: "https://effect.website/",
            title: "Effect",
            encrypted_content: "abc",
            page_age: null
          }]
        },
        { type: "text", text: "Version 4.1." }
      ]])
      assert.strictEqual(yield* run("search", url), "Version 4.1.\n")
      assert.deepStrictEqual<unknown>(bodies[0]?.["tools"], [
        { type: "web_search_20250305", name: "web_search", max_uses: 3 }
      ])
    }), 30_000)
})
