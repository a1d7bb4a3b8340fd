/**
 * What a server says its tools do counts only as far as the program trusts it by name, and never loosens otherwise.
 */
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect } from "effect"
import { Approval, ApprovalPolicy, McpApproval, Prompt, Tool } from "../../src/index.ts"
import { ScriptedModel } from "../../src/testing/index.ts"
import * as C from "../laws/conversation.ts"
import * as Server from "./server.ts"

type Annotations = Server.WireTool["annotations"]

const toolOf = Effect.fnUntraced(function*(annotations: Annotations, trust: ReadonlyArray<string>) {
  const tool = { name: "tool", ...(annotations === undefined ? undefined : { annotations }) }
  const client = yield* Server.connect(Server.make(tool))
  return (yield* McpApproval.guard(client, { name: "demo-1", trust })).tools["demo-1__tool"]!
})

/** What becomes of a call of it, and the reason. */
const explained = (tool: Tool.Any, policy: ApprovalPolicy.Service = ApprovalPolicy.toolGate) =>
  ApprovalPolicy.makeCall(tool, { path: "a.txt" }).pipe(
    Effect.flatMap(ApprovalPolicy.explain),
    Effect.provideService(ApprovalPolicy.ApprovalPolicy, policy),
    Effect.map(({ result }) => result)
  )

const trusted = ["demo-1"]

const said: ReadonlyArray<readonly [what: string, Annotations, reads: boolean, says: RegExp]> = [
  ["nothing", undefined, false, /The server does not say what it does/],
  ["no hint", {}, false, /says that it may destroy something/],
  ["that it only reads", { readOnlyHint: true }, true, /says that it only reads/],
  ["that it does not only read", { readOnlyHint: false }, false, /says that it may destroy something/],
  ["that it only adds", { destructiveHint: false }, false, /says that it only adds/],
  ["that it destroys", { destructiveHint: true }, false, /says that it may destroy something/],
  // "Meaningful only when readOnlyHint == false", says the protocol, and clients fill it in.
  ["that it reads, and destroys", { readOnlyHint: true, destructiveHint: true }, true, /says that it only reads/],
  ["that it is in a closed world", { openWorldHint: false, idempotentHint: true }, false, /may destroy something/]
]

describe("hints", () => {
  for (const [what, annotations, reads, says] of said) {
    it.effect(`L1 of a server that is not trusted never loosen: one that says ${what} asks`, () =>
      Effect.gen(function*() {
        const tool = yield* toolOf(annotations, ["demo-1__tool", "demo-*", "*", ""])
        const result = yield* explained(tool)
        assert.strictEqual(result._tag, "NeedsApproval")
        assert.match(result.reason!, says)
        assert.match(result.reason!, /The server is not trusted by name\.$/)
        const { annotations: made } = tool
        assert.deepStrictEqual(
          [Tool.Readonly, Tool.Destructive, Tool.Idempotent, Tool.OpenWorld].map((hint) => Context.get(made, hint)),
          [false, true, false, true]
        )
      }))

    it.effect(`of a trusted server count: one that says ${what} ${reads ? "runs" : "asks"}`, () =>
      Effect.gen(function*() {
        const tool = yield* toolOf(annotations, trusted)
        const result = yield* explained(tool)
        assert.strictEqual(result._tag, reads ? "PreApproved" : "NeedsApproval")
        if (!reads) assert.notInclude(result.reason!, "not trusted")
        const { annotations: made } = tool
        const hint = (name: string, otherwise: boolean) => annotations?.[name] ?? otherwise
        assert.deepStrictEqual(
          [Tool.Readonly, Tool.Destructive, Tool.Idempotent, Tool.OpenWorld].map((hint) => Context.get(made, hint)),
          [reads, !reads && hint("destructiveHint", true), hint("idempotentHint", false), hint("openWorldHint", true)]
        )
      }))
  }

  it.effect("L1 that are malformed, from a client that lets them pass, are read as the stricter", () =>
    Effect.gen(function*() {
      const client = yield* Server.connect(Server.make(Server.read))
      const [listed] = yield* client.listTools()
      for (
        const annotations of [{ readOnlyHint: "true" }, { readOnlyHint: 1, destructiveHint: 0 }, [], "readOnlyHint"]
      ) {
        const lax = { ...client, listTools: () => Effect.succeed([{ ...listed, annotations } as never]) }
        const { tools } = yield* McpApproval.guard(lax, { name: "demo-1", trust: trusted })
        const result = yield* explained(tools["demo-1__read"]!)
        assert.strictEqual(result._tag, "NeedsApproval", JSON.stringify(annotations))
        assert.isTrue(Context.get(tools["demo-1__read"]!.annotations, Tool.Destructive))
      }
    }))
})

describe("the program's own word", () => {
  const config = (entries: Parameters<typeof ApprovalPolicy.fromConfig>[0]) => ApprovalPolicy.fromConfig(entries)

  it.effect("a configuration goes over the hints, by exact name and by glob, both ways", () =>
    Effect.gen(function*() {
      const reads = yield* toolOf({ readOnlyHint: true }, trusted)
      const writes = yield* toolOf(undefined, [])
      assert.strictEqual((yield* explained(reads, yield* config({ "demo-1__*": "required" })))._tag, "NeedsApproval")
      assert.strictEqual((yield* explained(reads, yield* config({ "demo-1__tool": "deny" })))._tag, "Blocked")
      assert.strictEqual((yield* explained(writes, yield* config({ "demo-1__*": "none" })))._tag, "PreApproved")
      assert.strictEqual((yield* explained(writes, yield* config({ "other__*": "none" })))._tag, "NeedsApproval")
    }))

  it.effect("a configuration that may only tighten lets nothing run that asks", () =>
    Effect.gen(function*() {
      const tighten = yield* config({ combine: "tighten", tools: { "*": "none" } })
      assert.strictEqual((yield* explained(yield* toolOf(undefined, []), tighten))._tag, "NeedsApproval")
      assert.strictEqual(
        (yield* explained(yield* toolOf({ readOnlyHint: true }, trusted), tighten))._tag,
        "PreApproved"
      )
    }))

  it.effect("fromAnnotations reads the same hints, and trusts by itself", () =>
    Effect.gen(function*() {
      const reads = yield* toolOf({ readOnlyHint: true }, trusted)
      const writes = yield* toolOf({ readOnlyHint: false }, trusted)
      const strict = ApprovalPolicy.fromAnnotations()
      assert.strictEqual((yield* explained(reads, strict))._tag, "NeedsApproval")
      const trusting = ApprovalPolicy.fromAnnotations({ trust: trusted, destructive: "deny" })
      assert.strictEqual((yield* explained(reads, trusting))._tag, "PreApproved")
      assert.strictEqual((yield* explained(writes, trusting))._tag, "Blocked")
      const doubting = yield* toolOf({ readOnlyHint: true }, [])
      assert.strictEqual((yield* explained(doubting, trusting))._tag, "NeedsApproval", "guard does not trust it")
    }))

  it.effect("fromAnnotations reads each of the hints", () =>
    Effect.gen(function*() {
      const adds = { readOnlyHint: false, destructiveHint: false }
      const policy = ApprovalPolicy.fromAnnotations({ trust: trusted, destructive: "deny", openWorld: "deny" })
      const closed = yield* toolOf({ ...adds, openWorldHint: false }, trusted)
      assert.strictEqual((yield* explained(closed, policy))._tag, "NeedsApproval")
      const open = yield* toolOf({ ...adds, openWorldHint: true }, trusted)
      assert.strictEqual((yield* explained(open, policy))._tag, "Blocked")
      const destroys = yield* toolOf({ destructiveHint: true, openWorldHint: false }, trusted)
      assert.strictEqual((yield* explained(destroys, policy))._tag, "Blocked")
    }))

  it.effect("L1 fromAnnotations never trusts a name that a server gives itself", () =>
    Effect.gen(function*() {
      const client = yield* Server.connect(Server.make(Server.read), { name: "files" })
      const tool = (yield* McpApproval.guard(client)).tools["_files__read"]!
      const policy = ApprovalPolicy.fromAnnotations({
        trust: ["files", "_files"],
        readonly: "none",
        combine: "override"
      })
      assert.strictEqual((yield* explained(tool, policy))._tag, "NeedsApproval")
      const named = (yield* McpApproval.guard(client, { name: "files" })).tools["files__read"]!
      assert.strictEqual((yield* explained(named, policy))._tag, "PreApproved")
    }))

  it.effect("L1 a configuration for a server of the program's is not about one that only calls itself so", () =>
    Effect.gen(function*() {
      const client = yield* Server.connect(Server.make(Server.write), { name: "files" })
      const tool = Object.values((yield* McpApproval.guard(client)).tools)[0]!
      for (const [name, approval] of [["files__*", "NeedsApproval"], ["_files__*", "PreApproved"]] as const) {
        assert.strictEqual((yield* explained(tool, yield* config({ [name]: "none" })))._tag, approval)
      }
    }))
})

describe("a run whose outcome is unknown", () => {
  const writes = { ...Server.write, annotations: { readOnlyHint: false, idempotentHint: true } }

  for (const trust of [[], ["files"]]) {
    const repeated = trust.length > 0
    C.everyWay(
      `L2 of a tool that says it may be repeated is ${repeated ? "repeated, of a trusted server" : "not repeated"}`,
      function*(way) {
        const server = Server.make(writes)
        const toolkit = McpApproval.guard(yield* Server.connect(server), { name: "files", trust })
        const chat = yield* C.start({
          way,
          toolkit,
          turns: [[ScriptedModel.toolCall({ id: "c1", name: "files__write", params: { path: "a" } })], "one", "two"]
        })
        const { requests } = yield* chat.send("write it")
        const asking = yield* chat.history
        // The run is stopped half way, as by a process that dies.
        server.answer = () => Effect.interrupt
        const answer = Prompt.approvalResponses([Approval.approve(requests[0]!)])
        yield* Effect.exit(chat.send(answer))
        assert.strictEqual(server.ran.length, 1)
        server.answer = () => Effect.succeed(Server.text("written"))
        yield* chat.setHistory(asking)
        const turn = yield* chat.send(answer)
        assert.strictEqual(server.ran.length, repeated ? 2 : 1)
        if (repeated) assert.strictEqual(turn.results[0]!.result, "written")
        else assert.match(C.reasonOf(turn.results[0]!), /unknown/)
      }
    )
  }
})
