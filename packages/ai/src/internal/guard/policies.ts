/** A policy over the tools of a toolkit, which need not be ours. */
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Tools from "../gather/tools.ts"
import * as Policies from "../policy/service.ts"
import * as Consent from "../tool/consent.ts"
import * as GatedTool from "../tool/gatedTool.ts"
import type { AnyTools, Handlers } from "./guard.ts"

/** The toolkit with a policy in the place of each tool's own gate, which counts where the policy says nothing. */
export const withPolicy = <Kit extends AnyTools>(
  toolkit: Toolkit.WithHandler<Kit>,
  policy: Policies.Service,
  timeLimit: Duration.Input
): Toolkit.WithHandler<Kit> => {
  const inner = toolkit as unknown as Handlers
  const tools = Record.map(
    inner.tools,
    (tool) =>
      GatedTool.setGate(
        tool,
        Policies.putOver(
          (params: unknown, context: Tool.NeedsApprovalContext) =>
            Effect.flatMap(
              encodeParams(tool, params),
              (encodedParams) =>
                Policies.decide(
                  policy,
                  { ...context, tool, toolName: tool.name, params, encodedParams },
                  timeLimit
                )
            ),
          { policy, tool }
        )
      )
        // The guard below knows nothing of this policy, so whoever handles the call has to ask it.
        .annotate(Tools.Guarded, false)
  )
  return { tools, handle: Consent.lockHandle(tools, inner.handle) } as unknown as Toolkit.WithHandler<Kit>
}

// What does not encode is no JSON that a policy could be shown; the gate then fails, and a person is asked (law L1).
const encodeParams = (tool: Tool.Any, params: unknown): Effect.Effect<Schema.Json, unknown> =>
  Schema.isSchema(tool.parametersSchema)
    // The services of the schema are the tool's own requirements.
    ? Schema.encodeUnknownEffect(tool.parametersSchema as unknown as Schema.Codec<unknown, Schema.Json>)(params)
    : Effect.succeed(params as Schema.Json)
