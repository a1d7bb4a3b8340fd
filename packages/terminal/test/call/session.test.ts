/** What "for the session" may cover, said in sentences. */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalMatcher from "@assent/ai/ApprovalMatcher"
import { assert, describe, it } from "@effect/vitest"
import type * as Schema from "effect/Schema"
import * as Session from "../../src/internal/call/session.ts"

const requestOf = (params: Schema.Json, fields: { readonly session?: string } = {}) =>
  new Approval.ApprovalRequest({
    approvalId: "request-1",
    toolCallId: "call-1",
    toolName: "WriteFile",
    params,
    description: Approval.describe("WriteFile", params),
    interaction: "approval",
    providerExecuted: false,
    ...fields
  })

describe("for the session", () => {
  const sentences = (params: Schema.Json, patterns?: Session.Patterns, session?: string) =>
    Session.choices(requestOf(params, session === undefined ? {} : { session }), params, patterns, {})
      .map(({ sentence }) => sentence)

  it("offers this call, what the policy says, the folder, and the tool, from the narrowest to the widest", () => {
    assert.deepStrictEqual(sentences({ path: "src/ui/a.ts" }, undefined, "any call on a Monday"), [
      "only this call: path='src/ui/a.ts'",
      "any call on a Monday",
      "calls whose path matches `src/ui/**`",
      "every call of WriteFile, whatever its parameters"
    ])
  })

  it("offers no folder that the call does not plainly lie in", () => {
    for (
      const path of [
        "a.ts",
        "/etc",
        "../x/a.ts",
        "a/../b.ts",
        "s*c/a.ts",
        "[ab]/a.ts",
        "~/x/a.ts",
        "a\\b/c.ts",
        "C:/x/a"
      ]
    ) {
      assert.strictEqual(sentences({ path }).length, 2, path)
    }
    assert.strictEqual(sentences({ text: "src/a.ts" }).length, 2)
    assert.strictEqual(sentences({ targetFile: "/srv/data/a.ts" }).length, 3)
  })

  it("offers a program's patterns where they cover the call, and each once", () => {
    const patterns = () => [
      ApprovalMatcher.path(["src/**"], { param: "path" }),
      ApprovalMatcher.path(["src/ui/**"], { param: "path" }),
      ApprovalMatcher.path(["docs/**"], { param: "path" }),
      ApprovalMatcher.path(["../**"], { param: "path" })
    ]
    assert.deepStrictEqual(sentences({ path: "src/ui/a.ts" }, patterns).slice(1, -1), [
      "calls whose path matches `src/ui/**`",
      "calls whose path matches `src/**`, with any other parameters",
      "calls whose path matches `src/ui/**`, with any other parameters"
    ])
  })

  it("offers what the program's shell package knows of a command line, if anything does", () => {
    const suggest = (line: string, options: ApprovalMatcher.ParamOptions) =>
      line === "ls" ? { matcher: ApprovalMatcher.path([line], options) } : undefined
    const offered = (params: Schema.Json, known: ApprovalMatcher.Behaviors = { suggest }) =>
      Session.choices(requestOf(params), params, undefined, known).slice(1, -1).map(({ sentence }) => sentence)
    for (const param of ["command", "cmd", "shell_command", "commandLine"]) {
      assert.deepStrictEqual(offered({ [param]: "ls" }), [`calls whose ${param} matches \`ls\``])
    }
    assert.deepStrictEqual(offered({ command: "ls", timeout: 5, description: "look" }), [
      "calls whose command matches `ls`, with timeout=5 as here and any description"
    ])
    assert.deepStrictEqual(offered({ command: "rm" }), [])
    assert.deepStrictEqual(offered({ text: "ls" }), [])
    assert.deepStrictEqual(offered(["ls"]), [])
    assert.deepStrictEqual(Session.choices(requestOf({ command: "ls" }), { command: "ls" }, undefined, {}).length, 2)
  })

  it("remembers just what it says", () => {
    const [exact, tool] = Session.choices(requestOf({ a: 1 }), { a: 1 }, undefined, {})
    assert.deepStrictEqual(exact!.remember, {})
    assert.isFalse(exact!.isWidest)
    assert.isTrue(tool!.isWidest)
    assert.deepStrictEqual(tool!.remember, { covers: { _tag: "Tool" } })
  })
})
