import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { Context, Effect, type Layer, Schema } from "effect"
import { McpServer as Upstream } from "effect/ai"
import { type ApprovalController, McpApproval, McpProtocol, McpServer, Tool, Toolkit } from "../../src/index.ts"

class Db extends Context.Service<Db, { readonly drop: (table: string) => Effect.Effect<void> }>()("test/Db") {}

class Audit extends Context.Service<Audit, { readonly isOpen: Effect.Effect<boolean> }>()("test/Audit") {}

const Drop = Tool.make("drop", {
  parameters: { table: Schema.String },
  success: Schema.String,
  dependencies: [Db, Audit],
  needsApproval: () => Effect.flatMap(Audit, ({ isOpen }) => isOpen)
})
const Look = Tool.make("look", { success: Schema.String })
const Tools = Toolkit.make(Drop, Look)

describe("McpApproval", () => {
  it("toolkit requires what upstream's requires, the gate's services with it", () => {
    expectTypeOf(McpApproval.toolkit(Tools)).toEqualTypeOf(Upstream.toolkit(Tools))
    expectTypeOf(McpServer.toolkit(Tools)).toEqualTypeOf(Upstream.toolkit(Tools))
    expectTypeOf(McpServer.registerToolkit(Tools)).toEqualTypeOf(Upstream.registerToolkit(Tools))
    expectTypeOf(McpApproval.toolkit(Tools)).toEqualTypeOf<
      Layer.Layer<
        never,
        never,
        | Tool.HandlersFor<Toolkit.Tools<typeof Tools>>
        | McpServer.McpServer
        | McpServer.McpRequest.From<"Requires", Db | Audit>
      >
    >()
    assert.isDefined(Tools)
  })

  it("layerStdio is of upstream's type", () => {
    const options = { name: "db", version: "1", protocols: [McpProtocol.v2025_11_25] } as const
    expectTypeOf(McpApproval.layerStdio(options)).toEqualTypeOf(McpServer.layerStdio(options))
  })

  it("elicitation is a controller, and its layer needs nothing", () => {
    expectTypeOf(McpApproval.elicitation()).toEqualTypeOf<ApprovalController.Service>()
    expectTypeOf(McpApproval.layerElicitation({ timeLimit: "1 minute" })).toEqualTypeOf<Layer.Layer<never>>()
    // @ts-expect-error a time limit is a duration
    McpApproval.elicitation({ timeLimit: "soon" })
  })
})
