/** A toolkit as the provider interface has it, and whose a call of a response is. */
import type * as Provider from "@ai-sdk/provider"
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as JsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

type SentTool = Provider.LanguageModelV4FunctionTool | Provider.LanguageModelV4ProviderTool

/** What goes into a request. */
export interface RequestTools {
  readonly tools?: Array<SentTool>
  readonly toolChoice?: Provider.LanguageModelV4ToolChoice
}

type Configured<A> = Result.Result<A, AiError.ToolConfigurationError | AiError.UnsupportedSchemaError>

// =============================================================================
// To the provider
// =============================================================================

/**
 * The tools of a request and its choice. A function is strict only where `Tool.Strict` says so, because few providers
 * know what that is; its schema is then the one that the provider has for structured output.
 */
export const prepare = (
  { toolChoice, tools }: Pick<LanguageModel.ProviderOptions, "tools" | "toolChoice">,
  transformer: LanguageModel.CodecTransformer
): Configured<RequestTools> => {
  if (tools.length === 0) return Result.succeed({})
  const narrowed = Predicate.isObject(toolChoice) && "oneOf" in toolChoice ? toolChoice : undefined
  const names = Predicate.isObject(toolChoice) ? "tool" in toolChoice ? [toolChoice.tool] : toolChoice.oneOf : []
  const missing = names.find((name) => !tools.some((tool) => tool.name === name))
  if (missing !== undefined) {
    return Result.fail(
      new AiError.ToolConfigurationError({
        toolName: missing,
        description: `\`toolChoice\` names it, but the toolkit has only ${tools.map((tool) => tool.name).join(", ")}`
      })
    )
  }
  const sent: Array<SentTool> = []
  // The interface has no choice among some tools: the others are not sent.
  for (const tool of tools) {
    if (narrowed !== undefined && narrowed.oneOf.length > 0 && !narrowed.oneOf.includes(tool.name)) continue
    const one = toSent(tool, transformer)
    if (Result.isFailure(one)) return Result.fail(one.failure)
    sent.push(one.success)
  }
  return Result.succeed({ tools: sent, toolChoice: toChoice(toolChoice) })
}

const toChoice = (choice: LanguageModel.ToolChoice<string>): Provider.LanguageModelV4ToolChoice => {
  if (typeof choice === "string") return { type: choice }
  if ("tool" in choice) return { type: "tool", toolName: choice.tool }
  return { type: choice.oneOf.length === 0 ? "none" : choice.mode ?? "auto" }
}

const toSent = (tool: Tool.Any, transformer: LanguageModel.CodecTransformer): Configured<SentTool> => {
  if (Tool.isProviderDefined(tool)) {
    return Result.succeed({
      type: "provider",
      id: tool.id,
      name: tool.name,
      args: Predicate.isObject(tool.args) ? { ...tool.args } : {}
    })
  }
  const description = Tool.getDescription(tool)
  const strict = Tool.getStrictMode(tool)
  return Result.map(wireOf(tool, transformer), ({ jsonSchema }) => ({
    type: "function",
    name: tool.name,
    // Effect's schemas are of a later draft, of which they use what the earlier one has, with `$defs` beside it.
    inputSchema: jsonSchema as Provider.LanguageModelV4FunctionTool["inputSchema"],
    ...(description === undefined ? undefined : { description }),
    ...(strict === undefined ? undefined : { strict })
  }))
}

// =============================================================================
// Functions
// =============================================================================

/** How the parameters of a function travel. */
interface Wire {
  readonly jsonSchema: JsonSchema.JsonSchema
  /** From what the model writes to the tool's own encoded parameters; `undefined` where the two are the same. */
  readonly decode: ((params: unknown) => Effect.Effect<unknown, unknown>) | undefined
}

// Tools are immutable, and a toolkit is sent with every request: each is converted once for each transformer.
const wires = new WeakMap<Tool.Any, { readonly transformer: unknown; readonly wire: Configured<Wire> }>()

const wireOf = (tool: Tool.Any, transformer: LanguageModel.CodecTransformer): Configured<Wire> => {
  const isStrict = Tool.getStrictMode(tool) === true && !(Tool.isDynamic(tool) && tool.jsonSchema !== undefined)
  const by = isStrict ? transformer : undefined
  const known = wires.get(tool)
  if (known !== undefined && known.transformer === by) return known.wire
  const wire = Result.try({
    try: (): Wire =>
      isStrict ? strictWire(tool, transformer) : { jsonSchema: asObject(Tool.getJsonSchema(tool)), decode: undefined },
    catch: (error) =>
      new AiError.UnsupportedSchemaError({
        description: `The parameters of tool '${tool.name}' have no JSON Schema that the provider accepts: ${
          error instanceof Error ? error.message : "it cannot be made"
        }`
      })
  })
  wires.set(tool, { transformer: by, wire })
  return wire
}

const strictWire = (tool: Tool.Any, transformer: LanguageModel.CodecTransformer): Wire => {
  // The services of a schema are the tool's own requirements, which every caller of the model provides.
  const schema = tool.parametersSchema as Schema.Codec<unknown>
  const { codec, jsonSchema } = transformer(schema)
  if (Object.is(codec, schema)) return { jsonSchema, decode: undefined }
  const decode = Schema.decodeUnknownEffect(codec as Schema.Codec<unknown>)
  const encode = Schema.encodeUnknownEffect(schema)
  return { jsonSchema, decode: (params) => Effect.flatMap(decode(params), (value) => encode(value)) }
}

/** Providers take only a schema that says `object` at its root: a reference is followed, and anything becomes any object. */
const asObject = (schema: JsonSchema.JsonSchema): JsonSchema.JsonSchema => {
  const name = typeof schema.$ref === "string" ? /^#\/\$defs\/(.+)$/.exec(schema.$ref)?.[1] : undefined
  if (name !== undefined && Predicate.isObject(schema.$defs)) {
    const target: unknown = Reflect.get(schema.$defs, name.replaceAll("~1", "/").replaceAll("~0", "~"))
    return Predicate.isObject(target) ? withProperties({ ...target, $defs: schema.$defs }) : schema
  }
  return Object.keys(schema).some((key) => key !== "description" && key !== "$schema")
    ? withProperties(schema)
    : { ...schema, type: "object", properties: {}, additionalProperties: true }
}

// An object need not say that it has none, as those of MCP servers do not of a tool without parameters; OpenAI refuses that.
const withProperties = (schema: JsonSchema.JsonSchema): JsonSchema.JsonSchema =>
  schema.type === "object" && !Predicate.isObject(schema.properties) ? { ...schema, properties: {} } : schema

// =============================================================================
// From the provider
// =============================================================================

// How OpenAI's provider names the tools of such a server.
const mcpPrefix = "mcp."

const labelOf = (tool: Tool.Any): string | undefined => {
  const args: unknown = Tool.isProviderDefined(tool) ? tool.args : undefined
  return Predicate.hasProperty(args, "serverLabel") && typeof args.serverLabel === "string"
    ? args.serverLabel
    : undefined
}

/** The tools of one request, to be found by what the provider calls them. */
export interface Directory {
  /** The tool that a call of the provider's belongs to, if the toolkit has it. */
  readonly ofHosted: (name: string) => Tool.Any | undefined
  /**
   * What a policy and a person are told of a call on an MCP server that the provider talks to. Of several servers nobody
   * can tell which it is: then none is named, and no rule of one is met.
   */
  readonly mcpSource: (toolName: string) => { readonly source: string; readonly toolName: string } | undefined
  /** What the model wrote for a function that is strict, as the tool's own encoded parameters. */
  readonly decode: (name: string) => ((params: unknown) => Effect.Effect<unknown, unknown>) | undefined
  readonly hasStrict: boolean
}

export const directory = (tools: ReadonlyArray<Tool.Any>, transformer: LanguageModel.CodecTransformer): Directory => {
  const find = (name: string) => tools.find((tool) => tool.name === name)
  const servers = tools.filter((tool) => Tool.isProviderDefined(tool) && tool.id.endsWith(".mcp"))
  return {
    mcpSource: (toolName) => {
      if (!toolName.startsWith(mcpPrefix) || find(toolName) !== undefined || servers.length === 0) return undefined
      const label = servers.length === 1 ? labelOf(servers[0]!) : undefined
      const source = label === undefined ? "mcp" : `mcp.${label}`
      return { source, toolName: `${source}.${toolName.slice(mcpPrefix.length)}` }
    },
    ofHosted: (name) =>
      find(name) ?? tools.find((tool) => Tool.isProviderDefined(tool) && tool.providerName === name) ??
        // A server's tools have names of their own; one that stands for the server has the provider's id.
        (name.startsWith(mcpPrefix) ? servers[0] : undefined),
    decode: (name) => {
      const tool = find(name)
      if (tool === undefined || Tool.isProviderDefined(tool)) return undefined
      const wire = wireOf(tool, transformer)
      return Result.isFailure(wire) ? undefined : wire.success.decode
    },
    hasStrict: tools.some((tool) => Tool.getStrictMode(tool) === true)
  }
}

/** Whether a tool of the provider's takes these parts: one that does not fit would fail the whole response. */
export const fits = (schema: Schema.Top, value: unknown): boolean => Schema.is(Schema.toEncoded(schema))(value)
