/**
 * What is remembered of calls that the provider runs itself (law L9): an answer to one answers the next request of the
 * same tool of the same server, and no other; a local tool of the same name shares nothing with it.
 */
import { assert, describe } from "@effect/vitest"
import { Effect, Layer, Schema } from "effect"
import {
  Approval,
  ApprovalError,
  ApprovalMatcher,
  ApprovalMemory,
  LanguageModel,
  Prompt,
  type Response,
  Store,
  Tool,
  Toolkit
} from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "./conversation.ts"
import * as M from "./remembered.ts"

const Mcp = Tool.providerDefined({
  id: "test.mcp",
  customName: "Mcp",
  providerName: "mcp",
  parameters: Schema.Struct({ path: Schema.String }),
  success: Schema.String
})()

const ids = Array.from({ length: 9 }, (_, index) => `mcpr_${index}`)

interface Hosted {
  readonly path: string
  readonly tool?: string
  readonly server?: string
}

const everyFile = { covers: ApprovalMatcher.tool.description }

/** Each turn of the user has the provider ask about one call; then it says that it is done with it. */
const begin = Effect.fnUntraced(function*(way: C.Way, asked: ReadonlyArray<Hosted>, options?: Partial<C.StartOptions>) {
  const turns = asked.flatMap(({ path, server = "github", tool = "delete" }, index): ReadonlyArray<
    ScriptedModel.Turn
  > => {
    const id = `mcp_${index}`
    const toolName = `mcp.${server}.${tool}`
    const call = ScriptedModel.toolCall({
      id,
      name: "Mcp",
      params: { path },
      providerExecuted: true,
      metadata: { assent: { source: `mcp.${server}`, toolName, params: { path } } }
    })
    const request: Response.ToolApprovalRequestPartEncoded = {
      type: "tool-approval-request",
      approvalId: ids[index]!,
      toolCallId: id
    }
    return [[call, request], "next"]
  })
  const toolkit = yield* C.withHandlers(Toolkit.make(Mcp, C.DeleteFile), {
    DeleteFile: ({ path }) => Effect.succeed({ deleted: path })
  })
  return yield* C.start({
    way,
    toolkit,
    turns,
    script: { strict: { allowProviderApprovals: ids } },
    make: (script) => LanguageModel.make(script.params),
    ...options
  })
})

/** The answers that the provider got, in short, in their order. */
const answersOf = (chat: C.Conversation): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(chat.script.requests, (requests) => [
    ...new Set(requests.flatMap(({ prompt }) =>
      prompt.content.flatMap((message) =>
        message.role !== "tool"
          ? []
          : message.content.flatMap((part) =>
            part.type === "tool-approval-response" ? [`${part.approved ? "approve" : "deny"} ${part.approvalId}`] : []
          )
      )
    ))
  ])

describe("memory: calls that the provider runs", () => {
  M.everyWay("a remembered yes answers the next request of the same call, and no other", function*(way) {
    const chat = yield* begin(way, [
      { path: "a" },
      { path: "a" },
      { path: "b" },
      { path: "a", tool: "read" },
      { path: "a", server: "docs" }
    ])
    const ada = M.person((request) => request.toolCallId === "mcp_0" ? M.yes("session") : M.no("only a, there"))
    for (let turn = 0; turn < 5; turn++) yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual(ada.seen, ["a", "b", "a", "a"])
    assert.deepStrictEqual(yield* answersOf(chat), [
      "approve mcpr_0",
      "approve mcpr_1",
      "deny mcpr_2",
      "deny mcpr_3",
      "deny mcpr_4"
    ])
  })

  M.everyWay("a remembered yes to the whole tool is one to that server's tool", function*(way) {
    const chat = yield* begin(way, [{ path: "a" }, { path: "b" }, { path: "c", tool: "read" }])
    const ada = M.person((request) => request.toolCallId === "mcp_0" ? M.yes(everyFile) : M.no())
    for (let turn = 0; turn < 3; turn++) yield* ada.answers(chat.send("go"))
    assert.deepStrictEqual(ada.seen, ["a", "c"])
    const [one] = yield* M.listed()
    assert.deepStrictEqual([one!.source, one!.toolName, one!.approvalId, one!.toolCallId], [
      "mcp.github",
      "mcp.github.delete",
      "mcpr_0",
      "mcp_0"
    ])
  })

  M.everyWay(
    "a remembered no reaches the provider with its note, also when nobody is there and the policy allows",
    function*(way) {
      const chat = yield* begin(way, [{ path: "a" }, { path: "a" }, { path: "a" }, { path: "b" }])
      yield* M.person(() => M.no("a is kept", "session")).answers(chat.send("one"))
      const alone = yield* chat.send("two")
      assert.include(C.reasonOf(alone.results[0]!), "a is kept")
      const lets = M.withPolicy(() => Approval.preApproved())
      yield* lets(chat.send("three"))
      yield* lets(chat.send("four"))
      assert.deepStrictEqual(yield* answersOf(chat), [
        "deny mcpr_0",
        "deny mcpr_1",
        "deny mcpr_2",
        "approve mcpr_3"
      ])
      assert.include(JSON.stringify(yield* chat.script.requests), "a is kept")
    }
  )

  M.everyWay("uses are counted, and each answer is remembered once", function*(way) {
    const { observe, seen } = yield* M.events
    const chat = yield* begin(way, [{ path: "a" }, { path: "b" }, { path: "c" }])
    const ada = M.person((request) => request.toolCallId === "mcp_0" ? M.yes({ ...everyFile, uses: 1 }) : M.no())
    for (let turn = 0; turn < 3; turn++) yield* observe(ada.answers(chat.send("go")))
    assert.deepStrictEqual(ada.seen, ["a", "c"])
    assert.lengthOf((yield* seen).filter((event) => event._tag === "Remembered"), 1)
  })

  M.everyWay("an answer from memory is no new answer here either", function*(way) {
    const chat = yield* begin(way, [{ path: "a" }, { path: "a" }, { path: "a" }])
    const ada = M.person(() => M.yes())
    const policy = M.withPolicy((call) =>
      call.toolName.startsWith("mcp.") ? Approval.needsApproval({ remember: { uses: 1 } }) : undefined
    )
    for (let turn = 0; turn < 3; turn++) yield* policy(ada.answers(chat.send("go")))
    assert.lengthOf(ada.seen, 2)
  })

  M.everyWay("a policy that blocks, or wants to be asked every time, is the last word", function*(way) {
    const chat = yield* begin(way, [{ path: "a" }, { path: "a" }, { path: "a" }])
    const ada = M.person(() => M.yes(everyFile))
    yield* ada.answers(chat.send("one"))
    yield* M.withPolicy(() => Approval.needsApproval({ rememberable: false }))(ada.answers(chat.send("two")))
    assert.lengthOf(ada.seen, 2)
    yield* M.withPolicy(() => Approval.blocked("closed"))(ada.answers(chat.send("three")))
    assert.strictEqual((yield* answersOf(chat)).at(-1), "deny mcpr_2")
  })

  M.everyWay(
    "a call of a history that is not the one the provider asked about is answered by no memory (law L4)",
    function*(way) {
      const memory = yield* ApprovalMemory.ApprovalMemory
      yield* memory.remember({
        scope: { conversation: "talk" },
        source: "mcp.github",
        toolName: "mcp.github.read",
        version: "provider",
        params: { path: "a" },
        id: "one",
        approvalId: "one",
        toolCallId: "one",
        decision: "approved",
        remember: everyFile
      })
      const chat = yield* begin(way, [{ path: "a" }])
      const asked = yield* chat.send("go")
      assert.lengthOf(asked.requests, 1)
      yield* chat.setHistory(
        Prompt.fromMessages(
          (yield* chat.history).content.map((message) =>
            message.role !== "assistant" ? message : Prompt.assistantMessage({
              content: message.content.map((part) =>
                part.type !== "tool-call" ? part : {
                  ...part,
                  options: { ...part.options, assent: { ...part.options.assent, toolName: "mcp.github.read" } }
                }
              )
            })
          )
        )
      )
      yield* chat.send([])
      assert.deepStrictEqual(yield* answersOf(chat), ["deny mcpr_0"])
    }
  )

  M.everyWay("two conversations share nothing of it", function*(way) {
    const first = yield* begin(way, [{ path: "a" }])
    const second = yield* begin(way, [{ path: "a" }])
    const ada = M.person(() => M.yes(everyFile))
    yield* ada.answers(first.send("go"))
    yield* ada.answers(second.send("go")).pipe(M.inConversation("another"))
    assert.lengthOf(ada.seen, 2)
  })

  M.everyWay(
    "what a person says for the project holds in another conversation, here too",
    function*(way) {
      const ada = M.person(() => M.yes("project"))
      for (const conversation of ["monday", "tuesday"]) {
        const chat = yield* begin(way, [{ path: "a" }])
        yield* ada.answers(chat.send("go")).pipe(M.inConversation(conversation))
        assert.deepStrictEqual(yield* answersOf(chat), ["approve mcpr_0"])
      }
      assert.deepStrictEqual(ada.seen, ["a"])
    },
    ApprovalMemory.layerProject({ project: "/site" }).pipe(Layer.provide(Store.layerMemory))
  )

  const broken: Record<string, () => Effect.Effect<never, ApprovalError.ApprovalError>> = {
    "fails": () =>
      Effect.fail(ApprovalError.make(new ApprovalError.MemoryUnavailable({ description: "the disk is away" }))),
    "dies": () => Effect.die("broken")
  }
  for (const [how, fails] of Object.entries(broken)) {
    C.everyWay(
      `L1 a memory that ${how} lets nothing run, not even what the policy allows, and loses no answer`,
      (way) =>
        Effect.gen(function*() {
          const memory = { ...ApprovalMemory.none, remembers: true, find: fails, remember: fails }
          const withMemory = Effect.provideService(ApprovalMemory.ApprovalMemory, memory)
          const chat = yield* begin(way, [{ path: "a" }])
          const lets = M.withPolicy(() => Approval.preApproved())
          const asked = yield* withMemory(lets(chat.send("go")))
          assert.lengthOf(asked.requests, 1)
          const other = yield* begin(way, [{ path: "a" }])
          yield* withMemory(M.person(() => M.yes("session")).answers(other.send("go")))
          assert.deepStrictEqual(yield* answersOf(other), ["approve mcpr_0"])
        }).pipe(M.inConversation("talk"))
    )
  }
})
