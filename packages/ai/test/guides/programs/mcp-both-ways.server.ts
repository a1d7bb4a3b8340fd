// An MCP server that asks its client's user. Without "server" behind its name, this program is the client, and plays the user.
import { McpApproval, McpProtocol, Tool, Toolkit } from "@assent/ai"
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { Effect, Layer, Logger, Schema } from "effect"
import { fileURLToPath } from "node:url"

const Pay = Tool.make("Pay", {
  description: "Pays somebody",
  parameters: { to: Schema.String, amount: Schema.Finite },
  success: Schema.String,
  needsApproval: ({ amount }) => amount > 100
})
const Tools = Toolkit.make(Pay)
const Handlers = Tools.toLayer({ Pay: ({ amount, to }) => Effect.succeed(`paid ${amount} to ${to}`) })

const server = McpApproval.layerStdio({
  name: "bank",
  version: "1.0.0",
  protocols: [McpProtocol.v2025_11_25, McpProtocol.v2025_06_18],
  registrations: McpApproval.toolkit(Tools).pipe(Layer.provide(Handlers))
}).pipe(Layer.provide(NodeServices.layer), Layer.provide(Layer.succeed(Logger.LogToStderr, true))) // stdout is the protocol's

const client = async () => {
  const bank = new Client({ name: "chat", version: "1.0.0" }, { capabilities: { elicitation: {} } })
  bank.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    console.log(params.message)
    const content = params.message.includes("landlord")
      ? { decision: "approve" }
      : { decision: "deny", reason: "who is that?" }
    return { action: "accept", content }
  })
  const args = [...process.execArgv, fileURLToPath(import.meta.url), "server"]
  await bank.connect(new StdioClientTransport({ command: process.execPath, args }))
  for (const [to, amount] of [["the baker", 20], ["the landlord", 900], ["Mallory", 900]] as const) {
    const result = await bank.callTool({ name: "Pay", arguments: { to, amount } })
    console.log(result.isError === true ? "  not run" : "  ran", JSON.stringify(result.content))
  }
  await bank.close()
}

if (process.argv[2] === "server") NodeRuntime.runMain(Layer.launch(server))
else await client()
