/** The tools of a request, for the time being. */
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as Request from "./request.ts"

export interface Toolset extends Request.Tools {
  readonly decodeArguments: (toolName: string, text: string) => unknown
}

export const make = (options: LanguageModel.ProviderOptions, _strict: boolean): Effect.Effect<Toolset> =>
  Effect.succeed({
    tools: options.tools.map((tool) =>
      Tool.isProviderDefined(tool)
        ? { type: tool.providerName, ...tool.args as object } as never
        : {
          type: "function",
          name: tool.name,
          parameters: Tool.getJsonSchema(tool) as never,
          strict: false,
          description: tool.description
        } as never
    ),
    toolChoice: "auto",
    include: [],
    decodeArguments: (_, text) => {
      try {
        return JSON.parse(text)
      } catch {
        return text
      }
    }
  })
