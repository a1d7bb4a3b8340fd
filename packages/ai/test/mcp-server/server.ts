/** A server over stdio, as a process of its own: it writes a file into the folder it is given, if its client's user says so. */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, References, Schema } from "effect"
import { McpApproval, McpProtocol, Tool, Toolkit } from "../../src/index.ts"

const Write = Tool.make("write", {
  parameters: { name: Schema.String },
  success: Schema.String,
  needsApproval: true
})

const Tools = Toolkit.make(Write)

const Handlers = Tools.toLayer(Effect.gen(function*() {
  const fs = yield* FileSystem.FileSystem
  const folder = process.argv[2]!
  return {
    write: ({ name }) => Effect.orDie(Effect.as(fs.writeFileString(`${folder}/${name}`, name), `wrote ${name}`))
  }
}))

McpApproval.layerStdio({
  name: "writer",
  version: "1.0.0",
  protocols: [McpProtocol.v2025_11_25, McpProtocol.v2025_06_18],
  registrations: McpApproval.toolkit(Tools).pipe(Layer.provide(Handlers))
}).pipe(
  Layer.provide(NodeServices.layer),
  Layer.provide(Layer.succeed(References.LogToStderr, true)),
  Layer.launch,
  NodeRuntime.runMain
)
