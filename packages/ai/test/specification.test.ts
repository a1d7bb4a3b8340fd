/**
 * The usage examples of the tool approval protocol (the seed's §4.1, §4.2, §4.3), as near to its text as type-checks,
 * and the decisions of its §2. Where a line differs from the seed a comment says so.
 */
import { assert, describe, it } from "@effect/vitest"
import { Array, Context, Effect, Schema, Stream } from "effect"
import { TestClock } from "effect/testing"
import { LanguageModel, Prompt, type Response, Tool, Toolkit } from "../src/index.ts"
import { ScriptedModel } from "../src/testing/index.ts"
import * as C from "./laws/conversation.ts"

// =============================================================================
// §4.1 Tool definition with approval
// =============================================================================

class SecurityPolicy extends Context.Service<SecurityPolicy, {
  readonly requiresApproval: (command: string) => Effect.Effect<boolean>
}>()("test/SecurityPolicy") {}

// Static approval requirement
const DeleteFile = Tool.make("DeleteFile", {
  description: "Deletes a file from the filesystem",
  parameters: {
    path: Schema.String
  },
  success: Schema.Struct({ deleted: Schema.Boolean }),
  needsApproval: true
})

// Dynamic approval based on input
const WriteFile = Tool.make("WriteFile", {
  description: "Writes content to a file",
  parameters: {
    path: Schema.String,
    content: Schema.String
  },
  success: Schema.Struct({ written: Schema.Boolean }),
  needsApproval: (params) => params.path.startsWith("/etc/")
})

// Async approval check with dependencies
const ExecuteCommand = Tool.make("ExecuteCommand", {
  description: "Executes a shell command",
  parameters: {
    command: Schema.String
  },
  success: Schema.String,
  // The seed names the second parameter; it is not used.
  needsApproval: (params, _ctx) =>
    Effect.gen(function*() {
      const policy = yield* SecurityPolicy
      return yield* policy.requiresApproval(params.command)
    }),
  dependencies: [SecurityPolicy]
})

const toolkit = Toolkit.make(DeleteFile, WriteFile, ExecuteCommand)

const makeHandlers = (runs: globalThis.Array<string>) =>
  toolkit.toLayer({
    DeleteFile: ({ path }) => Effect.sync(() => (runs.push(`delete ${path}`), { deleted: true })),
    WriteFile: ({ path }) => Effect.sync(() => (runs.push(`write ${path}`), { written: true })),
    ExecuteCommand: ({ command }) => Effect.sync(() => (runs.push(command), "ok"))
  })

const policy = SecurityPolicy.of({ requiresApproval: (command) => Effect.succeed(command.startsWith("rm ")) })

const deleteCall = (id: string, path: string) => ScriptedModel.toolCall({ id, name: "DeleteFile", params: { path } })

// =============================================================================
// §4.2 Handling approval flow
// =============================================================================

type Answers = ReadonlyArray<Parameters<typeof Prompt.toolApprovalResponsePart>[0]>

const handleApprovalFlow = (
  promptUserForApprovals: (requests: ReadonlyArray<Response.ToolApprovalRequestPart>) => Effect.Effect<Answers>
) =>
  Effect.gen(function*() {
    let messages: globalThis.Array<Prompt.Message> = [
      Prompt.userMessage({ content: [Prompt.textPart({ text: "Delete temp files" })] })
    ]

    while (true) {
      const parts = yield* LanguageModel.streamText({
        prompt: Prompt.fromMessages(messages),
        toolkit
      }).pipe(Stream.runCollect)

      // Check for approval requests
      const approvalRequests = Array.filter(
        parts,
        (p): p is Response.ToolApprovalRequestPart => p.type === "tool-approval-request"
      )

      if (approvalRequests.length > 0) {
        // Get user decisions
        const responses = yield* promptUserForApprovals(approvalRequests)

        // Build next turn with approvals
        messages = [
          ...messages,
          // The seed puts a prompt where a message belongs.
          ...Prompt.fromResponseParts(parts).content,
          Prompt.toolMessage({
            content: responses.map((r) => Prompt.toolApprovalResponsePart(r))
          })
        ]
        continue
      }

      // No more approvals needed; the seed's loop ends here with nothing
      return parts
    }
  })

const approve = ({ approvalId }: { readonly approvalId: string }) => ({ approvalId, approved: true })

const run = Effect.fnUntraced(function*(
  turns: ReadonlyArray<ScriptedModel.Turn>,
  promptUserForApprovals: Parameters<typeof handleApprovalFlow>[0]
) {
  const runs: globalThis.Array<string> = []
  const script = yield* ScriptedModel.make({ turns })
  const parts = yield* handleApprovalFlow(promptUserForApprovals).pipe(
    Effect.provideService(LanguageModel.LanguageModel, script.model),
    Effect.provideService(SecurityPolicy, policy),
    Effect.provide(makeHandlers(runs))
  )
  const text = parts.flatMap((part) => part.type === "text-delta" ? [part.delta] : []).join("")
  return { parts, runs, script, text }
})

describe("specification §4.1", () => {
  for (const method of ["generateText", "streamText"] as const) {
    it.effect(`§4.1 static, dynamic and effectful requirements, a service among the dependencies [${method}]`, () =>
      C.fresh(Effect.gen(function*() {
        const runs: globalThis.Array<string> = []
        const write = (id: string, path: string) =>
          ScriptedModel.toolCall({ id, name: "WriteFile", params: { path, content: "" } })
        const execute = (id: string, command: string) =>
          ScriptedModel.toolCall({ id, name: "ExecuteCommand", params: { command } })
        const script = yield* ScriptedModel.make({
          turns: [[
            deleteCall("d", "a"),
            write("w1", "/etc/passwd"),
            write("w2", "/tmp/a"),
            execute("x1", "rm -rf /"),
            execute("x2", "ls")
          ]]
        })
        const options = { prompt: "tidy up", toolkit }
        const content = yield* Effect.gen(function*() {
          return method === "generateText"
            ? (yield* LanguageModel.generateText(options)).content
            : yield* Stream.runCollect(LanguageModel.streamText(options))
        }).pipe(
          Effect.provideService(LanguageModel.LanguageModel, script.model),
          Effect.provideService(SecurityPolicy, policy),
          Effect.provide(makeHandlers(runs))
        )
        assert.deepStrictEqual(
          (content as ReadonlyArray<Response.AnyPart>).flatMap((part) =>
            part.type === "tool-approval-request" ? [part.toolCallId] : []
          ),
          ["d", "w1", "x1"]
        )
        assert.deepStrictEqual(runs.toSorted(), ["ls", "write /tmp/a"])
      })))
  }
})

describe("specification §4.2", () => {
  it.effect("§4.2 the loop asks, carries out the answers, and ends with the model's answer", () =>
    C.fresh(Effect.gen(function*() {
      const { runs, script, text } = yield* run(
        [[deleteCall("c1", "a"), deleteCall("c2", "b")], "Deleted."],
        (requests) => Effect.succeed(requests.map(approve))
      )
      assert.strictEqual(text, "Deleted.")
      assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete b"])
      assert.strictEqual(yield* script.calls, 2)
    })))

  it.effect("§4.2 several rounds: each request is asked once, each call runs once", () =>
    C.fresh(Effect.gen(function*() {
      const asked: globalThis.Array<number> = []
      const { runs, script, text } = yield* run(
        [[deleteCall("c1", "a")], [deleteCall("c2", "b")], [deleteCall("c3", "c")], "Done."],
        (requests) => Effect.sync(() => (asked.push(requests.length), requests.map(approve)))
      )
      assert.strictEqual(text, "Done.")
      assert.deepStrictEqual(asked, [1, 1, 1])
      assert.deepStrictEqual(runs, ["delete a", "delete b", "delete c"])
      for (const { prompt } of yield* script.requests) C.assertWellFormed(prompt)
    })))

  it.effect("§4.2 a user who answers one request at a time", () =>
    C.fresh(Effect.gen(function*() {
      const { runs, script, text } = yield* run(
        [[deleteCall("c1", "a"), deleteCall("c2", "b"), deleteCall("c3", "c")], "Done."],
        (requests) => Effect.succeed([approve(requests[0]!)])
      )
      assert.strictEqual(text, "Done.")
      assert.deepStrictEqual(runs, ["delete a", "delete b", "delete c"])
      assert.strictEqual(yield* script.calls, 2)
    })))

  it.effect("§2.3 no built-in timeout: a user who answers four weeks later", () =>
    C.fresh(Effect.gen(function*() {
      const { runs, text } = yield* run(
        [[deleteCall("c1", "a")], "Done."],
        (requests) => Effect.as(TestClock.adjust("28 days"), requests.map(approve))
      )
      assert.strictEqual(text, "Done.")
      assert.deepStrictEqual(runs, ["delete a"])
    })))
})

describe("specification §4.3", () => {
  it.effect("§4.3 a user approves and denies multiple tool calls at once", () =>
    C.fresh(Effect.gen(function*() {
      const { runs, script, text } = yield* run(
        [[deleteCall("c1", "a"), deleteCall("c2", "b"), deleteCall("c3", "c")], "Done."],
        ([approval_1, approval_2, approval_3]) =>
          Effect.succeed([
            {
              approvalId: approval_1!.approvalId,
              approved: true
            },
            {
              approvalId: approval_2!.approvalId,
              approved: false,
              reason: "Sensitive operation not allowed"
            },
            {
              approvalId: approval_3!.approvalId,
              approved: true
            }
          ])
      )
      assert.strictEqual(text, "Done.")
      assert.deepStrictEqual(runs.toSorted(), ["delete a", "delete c"])
      const { prompt } = (yield* script.requests).at(-1)!
      C.assertWellFormed(prompt)
      assert.deepStrictEqual(C.resultsOf(prompt).map((part) => part.result), [
        { deleted: true },
        // §2.2 denied execution result
        { type: "execution-denied", reason: "Sensitive operation not allowed" },
        { deleted: true }
      ])
    })))

  it("§3.4 collectToolApprovals joins requests, answers and calls", () => {
    const messages = [
      Prompt.assistantMessage({
        content: ["1", "2", "3"].flatMap((id) => [
          Prompt.toolCallPart({ id: `call_${id}`, name: "DeleteFile", params: { path: id }, providerExecuted: false }),
          Prompt.toolApprovalRequestPart({ approvalId: `approval_${id}`, toolCallId: `call_${id}` })
        ])
      }),
      Prompt.toolMessage({
        content: [
          Prompt.toolApprovalResponsePart({ approvalId: "approval_1", approved: true }),
          Prompt.toolApprovalResponsePart({ approvalId: "approval_2", approved: false, reason: "no" })
        ]
      })
    ]
    const { approved, denied, pending } = LanguageModel.collectToolApprovals(messages)
    const ids = (list: ReadonlyArray<LanguageModel.CollectedApproval>) =>
      list.map((one) => [one.request.approvalId, one.toolCall?.id])
    assert.deepStrictEqual(ids(approved), [["approval_1", "call_1"]])
    assert.deepStrictEqual(ids(denied), [["approval_2", "call_2"]])
    assert.deepStrictEqual(ids(pending), [["approval_3", "call_3"]])
    assert.strictEqual(denied[0]!.response.reason, "no")
  })
})
