/**
 * An MCP server that asks the user of its client before a tool runs. The client is the SDK's own; it starts this program
 * again, as the server, and speaks with it over stdio. Its "user" answers from a list.
 */
import { Approval, ApprovalMemory, ApprovalPolicy, McpApproval, McpProtocol, Tool, Toolkit } from "@assent/ai"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ElicitRequestSchema, type ElicitResult } from "@modelcontextprotocol/sdk/types.js"
import { Console, Effect, Layer, Logger, Schema } from "effect"
import { fileURLToPath } from "node:url"
import * as Story from "./waiting/story.ts"

// =============================================================================
// The server
// =============================================================================

const Pay = Tool.make("pay", {
  description: "Pays somebody",
  parameters: { to: Schema.String, amount: Schema.Int },
  success: Schema.String,
  needsApproval: ({ amount }) => amount > 100 && Approval.needsApproval({ reason: "it is more than 100" })
})

const Tools = Toolkit.make(Pay)

const Handlers = Tools.toLayer({ pay: ({ amount, to }) => Effect.succeed(`paid ${to} ${amount}`) })

const Policy = ApprovalPolicy.layer(({ encodedParams }) =>
  JSON.stringify(encodedParams).includes("Mallory") ? Approval.blocked("Mallory is never paid.") : undefined
)

const server = McpApproval.layerStdio({
  name: "bank",
  version: "1.0.0",
  protocols: [McpProtocol.v2025_11_25, McpProtocol.v2025_06_18],
  registrations: McpApproval.toolkit(Tools).pipe(
    Layer.provide([Handlers, Policy, ApprovalMemory.layerSession()])
  )
}).pipe(
  Layer.provide(NodeServices.layer),
  Layer.provide(Layer.succeed(Logger.LogToStderr, true)) // stdout is the protocol's
)

// =============================================================================
// The client, and its user
// =============================================================================

const answers: Array<ElicitResult> = [
  { action: "accept", content: { decision: "approve_for_session" } },
  { action: "accept", content: { decision: "deny", reason: "ask me again next month" } },
  { action: "decline" },
  { action: "cancel" }
]

const client = Effect.gen(function*() {
  const bank = new Client({ name: "chat", version: "1.0.0" }, { capabilities: { elicitation: {} } })
  bank.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    const answer = answers.shift() ?? { action: "cancel" as const }
    const said = Object.values(answer.content ?? {}).join(": ") || answer.action
    console.log(`${params.message}\n`.replace(/^/gm, "   │ ").replace(/ +$/gm, "") + `\n   ╰─ ${said}`)
    return answer
  })
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: ["--conditions=@assent/source", fileURLToPath(import.meta.url), "server"]
  })
  yield* Effect.addFinalizer(() => Effect.promise(() => bank.close()))
  yield* Effect.promise(() => bank.connect(transport))
  const outcomes: Array<string> = []
  const pay = Effect.fnUntraced(function*(to: string, amount: number) {
    yield* Console.log(`\nThe model calls pay(to="${to}", amount=${amount})`)
    const result = yield* Effect.promise(() => bank.callTool({ name: "pay", arguments: { to, amount } }))
    const [content] = result.content as ReadonlyArray<{ readonly text: string }>
    const text = result.isError === true ? String(JSON.parse(content!.text).reason) : content!.text
    outcomes.push(text)
    yield* Console.log(`   ${result.isError === true ? "not run" : "ran"}: ${text}`)
  })
  yield* pay("the baker", 20)
  yield* pay("the landlord", 900)
  yield* pay("the landlord", 900)
  yield* pay("Carol", 300)
  yield* pay("Dave", 300)
  yield* pay("Erin", 300)
  yield* pay("Mallory", 1)
  const paid = outcomes.filter((outcome) => outcome.startsWith("paid"))
  if (paid.join() !== "paid the baker 20,paid the landlord 900,paid the landlord 900" || answers.length > 0) {
    return yield* new Story.WentWrong({ message: `Paid: ${paid.join()}` })
  }
})

if (process.argv[2] === "server") NodeRuntime.runMain(Layer.launch(server))
else NodeRuntime.runMain(Effect.scoped(client))
