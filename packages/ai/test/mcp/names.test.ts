/**
 * What the tools of a server are called, and which server it is: by the program's word, never by the server's.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { McpApproval, type McpSchema, Tool } from "../../src/index.ts"
import * as Definition from "../../src/internal/mcp/definition.ts"
import * as Names from "../../src/internal/mcp/names.ts"
import { logged } from "../laws/logs.ts"
import * as Server from "./server.ts"

const namesOf = Effect.fnUntraced(function*(tools: ReadonlyArray<string>, options: McpApproval.GuardOptions) {
  const client = yield* Server.connect(Server.make(...tools.map((name) => ({ name }))))
  return Object.keys((yield* McpApproval.guard(client, options)).tools)
})

const problemOf = Effect.fnUntraced(function*(
  server: Server.Server,
  options: McpApproval.GuardOptions | undefined,
  info?: Parameters<typeof Server.connect>[1] | null
) {
  const client = yield* Server.connect(server, info === null ? { name: "" } : info)
  const error = yield* Effect.flip(McpApproval.guard(client, options))
  assert.instanceOf(error, McpApproval.McpGuardError)
  return error
})

describe("names of tools", () => {
  it.effect("are qualified by the program's name for the server", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* namesOf(["read_text_file", "Write-File"], { name: "my_files-2" }), [
        "my_files-2__read_text_file",
        "my_files-2__Write-File"
      ])
    }))

  it.effect("that fit no model are cut, in the same way each time, and never become one", () =>
    Effect.gen(function*() {
      const long = "a".repeat(200)
      const remote = ["a.b", "a/b", "a b", "", "ä", "__proto__", long, `${long}b`, "x".repeat(57), "x".repeat(58)]
      const names = yield* namesOf(remote, { name: "files" })
      assert.deepStrictEqual(yield* namesOf(remote, { name: "files" }), names)
      assert.strictEqual(new Set(names).size, remote.length)
      for (const name of names) assert.match(name, /^files__[a-zA-Z0-9_-]{1,57}$/)
      assert.match(names[0]!, /^files__a_b_[\w-]{8}$/)
      assert.strictEqual(names[5], "files____proto__")
      assert.strictEqual(names[8], `files__${"x".repeat(57)}`)
      assert.match(names[9]!, /^files__x{48}_[\w-]{8}$/)
    }))

  it.effect("that are cut are still called by what the server calls them", () =>
    Effect.gen(function*() {
      const server = Server.make({ name: "notes/read.all", annotations: { readOnlyHint: true } })
      const toolkit = yield* McpApproval.guard(yield* Server.connect(server), { name: "n", trust: ["n"] })
      yield* Effect.scoped(toolkit.handle(Object.keys(toolkit.tools)[0]!, {}).pipe(Effect.flatMap(Server.last)))
      assert.deepStrictEqual(server.ran, ["notes/read.all {}"])
    }))

  it("L4 that are cut alike are still of other tools: the whole name is part of what is approved", () => {
    const server = { name: "files", selfNamed: false, says: {} }
    const definitionOf = (name: string) => Definition.make(server, { ...Server.read, name } as McpSchema.Tool)
    assert.notDeepEqual(definitionOf("a.b"), definitionOf("a b"))
  })

  it.effect.prop(
    "the first __ stands between server and tool, whatever both are called",
    { server: Schema.String, tool: Schema.String, own: Schema.String },
    ({ own, server, tool }) =>
      Effect.gen(function*() {
        const made = Names.toServerName(own)
        for (const name of [...(Names.isServerName(server) ? [server] : []), ...(made === undefined ? [] : [made])]) {
          const qualified = yield* Names.qualified(name, tool)
          assert.match(qualified, /^[a-zA-Z0-9_-]{1,64}$/)
          assert.strictEqual(qualified.slice(0, qualified.indexOf("__")), name)
        }
      })
  )
})

describe("tools that cannot be used", () => {
  /** The tools that are left of these, and what a program logs when the server is listed twice. */
  const left = Effect.fnUntraced(function*(...tools: ReadonlyArray<Server.WireTool>) {
    const server = Server.make(...tools)
    const guard = McpApproval.guard(yield* Server.connect(server), { name: "files" })
    const [names, lines] = yield* logged(Effect.andThen(guard, Effect.map(guard, ({ tools }) => Object.keys(tools))))
    return { guard, names, server, warnings: lines.filter(({ level }) => level === "Warn").map(({ text }) => text) }
  })

  it.effect("L10 two of one name are both left out, and the others are there: nobody could say which was approved", () =>
    Effect.gen(function*() {
      const cut = (yield* Names.qualified("files", "a.b")).slice("files__".length)
      const twice = [[Server.read, { ...Server.read, description: "Other" }], [{ name: "a.b" }, { name: cut }]]
      for (const two of twice) {
        for (const tools of [[...two, Server.write], [two[0]!, Server.write, two[1]!]]) {
          const { names, warnings } = yield* left(...tools)
          assert.deepStrictEqual(names, ["files__write"])
          assert.strictEqual(warnings.length, 1)
          const qualified = yield* Names.qualified("files", two[0]!.name)
          assert.include(warnings[0]!, `The MCP server "files" offers tools that are left out`)
          assert.include(warnings[0]!, `"${two[0]!.name}", because two of them would be called "${qualified}"`)
          assert.strictEqual(warnings[0]!.match(/because/g)!.length, new Set(two.map(({ name }) => name)).size)
        }
      }
    }))

  it.effect("L10 one whose definition could not be compared later is left out, and the warning says why", () =>
    Effect.gen(function*() {
      const cases: ReadonlyArray<readonly [Partial<Server.WireTool>, RegExp]> = [
        [{ description: "\ud800" }, /half of a surrogate pair/],
        [{ description: "x".repeat(1_100_000) }, /larger than 1 MB/],
        [{ outputSchema: { type: "object", deep: nested(600) } }, /nested deeper than 512 levels/]
      ]
      for (const [bad, why] of cases) {
        const { names, warnings } = yield* left(Server.read, { name: "bad", ...bad }, Server.write)
        assert.deepStrictEqual(names, ["files__read", "files__write"])
        assert.strictEqual(warnings.length, 1)
        assert.match(warnings[0]!, why)
      }
    }))

  it.effect("L15 of which there are many are a warning of one line, escaped and bounded, each time it changes", () =>
    Effect.gen(function*() {
      const bad = (name: string) => ({ name: `${name}\u202e\n${"x".repeat(5_000)}`, description: "\ud800" })
      const { guard, server, warnings } = yield* left(...["a", "b", "c", "d", "e"].map(bad))
      assert.strictEqual(warnings.length, 1)
      assert.match(warnings[0]!, /; "b\\u202e.*; "c\\u202e.*; and 2 more/)
      assert.notMatch(warnings[0]!, /[\n\u202e]/)
      assert.isBelow(warnings[0]!.length, 1_200)
      server.tools = ["a", "b", "c"].map(bad)
      assert.notInclude((yield* logged(guard))[1][0]!.text, "; and ")
      server.tools = [Server.read]
      assert.strictEqual((yield* logged(guard))[1].length, 0)
      server.tools = [bad("f")]
      assert.strictEqual((yield* logged(guard))[1].length, 1)
    }))
})

const nested = (depth: number): unknown => depth === 0 ? 1 : { a: nested(depth - 1) }

describe("the name of a server", () => {
  it.effect("that cannot stand before a tool's is a typed error that shows the line that fixes it", () =>
    Effect.gen(function*() {
      for (const name of ["", "a__b", "_a", "a_", "a b", "a.b", "é", "a".repeat(33)]) {
        const error = yield* problemOf(Server.make(Server.read), { name })
        assert.strictEqual(error.problem, "InvalidName", name)
        assert.include(error.message, "a name is 1 to 32 letters")
        assert.include(error.message, `McpApproval.guard(client, { name: "files" })`)
      }
    }))

  it.effect("is the server's own, made fit and after a _, where the program gives none", () =>
    Effect.gen(function*() {
      const own = Effect.fnUntraced(function*(name: string) {
        const client = yield* Server.connect(Server.make(Server.read), { name })
        return Object.keys((yield* McpApproval.guard(client)).tools)[0]
      })
      assert.strictEqual(yield* own("secure-filesystem-server"), "_secure-filesystem-server__read")
      assert.strictEqual(yield* own("My Server__v2!"), "_My-Server_v2-__read")
      assert.strictEqual(yield* own("_files_"), "_files__read")
      assert.strictEqual(yield* own("x".repeat(5_000)), `_${"x".repeat(31)}__read`)
      assert.strictEqual(yield* own(`${"x".repeat(30)}_y`), `_${"x".repeat(30)}__read`)
      for (const name of ["", "___", "…", "\u202e"]) {
        assert.strictEqual((yield* problemOf(Server.make(), undefined, { name })).problem, "NameMissing", name)
      }
      const silent = { ...yield* Server.connect(Server.make()), serverInfo: undefined }
      const error = yield* Effect.flip(McpApproval.guard(silent as never))
      assert.deepInclude(error, { problem: "NameMissing", server: "" })
    }))

  it.effect.prop(
    "L4 is never one that a program can give, if it is the server's own: no rule for a server of the program's is about it",
    { own: Schema.String },
    ({ own }) =>
      Effect.sync(() => {
        const made = Names.toServerName(own)
        if (made !== undefined) assert.isFalse(Names.isServerName(made), made)
      })
  )
})

describe("trust", () => {
  const server = () => Server.make(Server.read)

  it.effect("in what a server calls itself, as it says it or made fit, is a typed error that says so", () =>
    Effect.gen(function*() {
      for (
        const [name, ...trusts] of [["secure files", "secure files", "secure-files", "_secure-files"], ["_a_", "a"]]
      ) {
        for (const trust of trusts) {
          const error = yield* problemOf(server(), { trust: ["web", trust] }, { name: name! })
          assert.strictEqual(error.problem, "SelfNamedTrust")
          assert.match(error.message, /any server may call itself so/)
          assert.include(error.message, `{ name: "files", trust: ["files"] }`)
        }
      }
    }))

  it.effect("L1 of one server is not that of another which calls itself so: that has its own name, and asks", () =>
    Effect.gen(function*() {
      const trust = ["github", "github-mcp-server"]
      const client = yield* Server.connect(server(), { name: "github-mcp-server" })
      const own = yield* McpApproval.guard(client, { name: "enterprise", trust })
      assert.notStrictEqual(own.tools["enterprise__read"]!.needsApproval, false)
      const trusted = yield* McpApproval.guard(client, { name: "github", trust })
      assert.strictEqual(trusted.tools["github__read"]!.needsApproval, false)
    }))

  it.effect("in another server is no business of this one", () =>
    Effect.gen(function*() {
      const client = yield* Server.connect(server())
      for (const options of [{ name: "web", trust: ["files"] }, { trust: ["files"] }]) {
        const { tools } = yield* McpApproval.guard(client, options)
        assert.notStrictEqual(Object.values(tools)[0]!.needsApproval, false)
      }
    }))

  it.effect("counts for the name that the program gave, which the server may have too", () =>
    Effect.gen(function*() {
      const client = yield* Server.connect(server(), { name: "files" })
      const { tools } = yield* McpApproval.guard(client, { name: "files", trust: ["web", "files"] })
      assert.strictEqual(tools["files__read"]!.needsApproval, false)
    }))
})

describe("a tool", () => {
  it.effect("goes to the model with the server's description and JSON Schema, which is not made strict", () =>
    Effect.gen(function*() {
      const client = yield* Server.connect(Server.make(Server.write))
      const tool = (yield* McpApproval.guard(client, { name: "files" })).tools["files__write"]!
      assert.strictEqual(tool.description, "Writes a file")
      assert.deepStrictEqual(Tool.getJsonSchema(tool), Server.write.inputSchema)
      assert.strictEqual(Tool.getStrictMode(tool), false)
    }))
})

describe("listing", () => {
  it.effect("that fails is the client's own error", () =>
    Effect.gen(function*() {
      const broken = Server.make()
      const client = yield* Server.connect(broken)
      broken.broken = true
      const error = yield* Effect.flip(McpApproval.guard(client, { name: "files" }))
      assert.strictEqual(error._tag, "McpClientError")
    }))

  it.effect("is done anew each time the effect is carried out", () =>
    Effect.gen(function*() {
      const server = Server.make(Server.read)
      const guard = McpApproval.guard(yield* Server.connect(server), { name: "files" })
      assert.deepStrictEqual(Object.keys((yield* guard).tools), ["files__read"])
      server.tools = [Server.write]
      assert.deepStrictEqual(Object.keys((yield* guard).tools), ["files__write"])
      server.tools = []
      assert.deepStrictEqual(Object.keys((yield* guard).tools), [])
    }))
})
