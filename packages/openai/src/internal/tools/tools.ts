/**
 * A toolkit as the Responses API has it: its tools, which of them may be called, and whose an item of a response is.
 */
import * as AiError from "effect/ai/AiError"
import type * as LanguageModel from "effect/ai/LanguageModel"
import { toCodecOpenAI } from "effect/ai/OpenAiStructuredOutput"
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import type * as JsonSchema from "effect/JsonSchema"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import type * as Responses from "openai/resources/responses/responses"
import * as Schemas from "../../OpenAiToolSchema.ts"

// =============================================================================
// Models
// =============================================================================

/** What goes into a request. Both are `undefined` where there are no tools. */
export interface RequestTools {
  readonly tools: Array<Responses.Tool> | undefined
  readonly toolChoice: Responses.ResponseCreateParams["tool_choice"]
}

/** Whose an item is: the name in the toolkit, and the tool if the toolkit has it. */
export interface Owner {
  readonly name: string
  readonly tool: Tool.Any | undefined
}

/** The tools of one request, to be found by what OpenAI calls them. */
export interface Directory {
  /** The function tool of this name. Names that the toolkit does not have are their own. */
  readonly ofFunction: (name: string) => Owner
  /** The custom tool of this name. The same is so of its names. */
  readonly ofCustom: (name: string) => Owner
  /** The hosted MCP server of this label. */
  readonly ofServer: (label: string) => Owner
  /** OpenAI's own tool that an item such as `web_search_call` comes from; `undefined` for an item of no tool. */
  readonly ofItem: (item: { readonly type: string; readonly server_label?: string | undefined }) => Owner | undefined
  /** The tool of this name in the toolkit. */
  readonly get: (name: string) => Tool.Any | undefined
}

// =============================================================================
// To OpenAI
// =============================================================================

/**
 * The tools of a request and its choice.
 *
 * Function tools are strict, with upstream's schema for OpenAI, unless `Tool.Strict` or `strict` says otherwise; a
 * dynamic tool with a JSON Schema of its own is not, because strictness forbids much of what such a schema may say.
 */
export const prepare = (options: {
  readonly tools: ReadonlyArray<Tool.Any>
  readonly toolChoice: LanguageModel.ToolChoice<string>
  /** Whether function tools are strict that do not say it themselves; `true` when left out. */
  readonly strict?: boolean | undefined
  readonly method?: string | undefined
}): Effect.Effect<RequestTools, AiError.AiError> => {
  const method = options.method ?? "prepareTools"
  if (options.tools.length === 0) return Effect.succeed({ tools: undefined, toolChoice: undefined })
  const tools: Array<Responses.Tool> = []
  const labels = new Set<string>()
  for (const tool of options.tools) {
    const sent = toResponsesTool(tool, options.strict ?? true)
    if (Result.isFailure(sent)) return Effect.fail(fail(method, sent.failure))
    if (sent.success.type === "mcp") {
      const label = sent.success.server_label
      if (labels.has(label)) {
        return Effect.fail(fail(
          method,
          new AiError.ToolConfigurationError({
            toolName: tool.name,
            description: `The toolkit has two MCP servers with the server_label '${label}'`
          })
        ))
      }
      labels.add(label)
    }
    tools.push(sent.success)
  }
  const toolChoice = toResponsesChoice(options.tools, tools, options.toolChoice)
  return Result.isFailure(toolChoice)
    ? Effect.fail(fail(method, toolChoice.failure))
    : Effect.succeed({ tools, toolChoice: toolChoice.success })
}

type Configured<A> = Result.Result<A, AiError.ToolConfigurationError | AiError.UnsupportedSchemaError>

const fail = (method: string, reason: AiError.AiErrorReason): AiError.AiError =>
  AiError.make({ module: "OpenAiLanguageModel", method, reason })

const toResponsesTool = (tool: Tool.Any, strict: boolean): Configured<Responses.Tool> => {
  if (!Tool.isProviderDefined(tool)) return toFunction(tool, strict)
  switch (tool.id) {
    case "openai.mcp":
      return Result.flatMap(settings(tool, Schemas.McpArgs), toMcp(tool.name))
    case "openai.web_search":
      return Result.map(settings(tool, Schemas.WebSearchArgs), (args) => ({ ...args, type: "web_search" }))
    case "openai.web_search_preview":
      return Result.map(
        settings(tool, Schemas.WebSearchPreviewArgs),
        (args) => ({ ...args, type: "web_search_preview" })
      )
    case "openai.file_search":
      return Result.map(settings(tool, Schemas.FileSearchArgs), (args) => ({ ...args, type: "file_search" }))
    case "openai.image_generation":
      return Result.map(settings(tool, Schemas.ImageGenerationArgs), (args) => ({ ...args, type: "image_generation" }))
    case "openai.code_interpreter":
      return Result.map(settings(tool, Schemas.CodeInterpreterArgs), toCodeInterpreter)
    case "openai.local_shell":
      return Result.succeed({ type: "local_shell" })
    case "openai.shell":
      // Said, because the program's handler runs the commands and not a container at OpenAI.
      return Result.succeed({ type: "shell", environment: { type: "local" } })
    case "openai.apply_patch":
      return Result.succeed({ type: "apply_patch" })
    case "openai.custom":
      return Result.map(settings(tool, Schemas.CustomArgs), (args) => ({ ...args, type: "custom", name: tool.name }))
    default:
      return Result.fail(
        new AiError.ToolConfigurationError({
          toolName: tool.name,
          description: `'${tool.id}' is not a tool of OpenAI, so it cannot be sent there`
        })
      )
  }
}

/** A tool's settings, checked. An issue names the field, never the value. */
const settings = <S extends Schema.ConstraintDecoder<unknown>>(
  tool: Tool.AnyProviderDefined,
  schema: S
): Configured<Types.DeepMutable<S["Type"]>> =>
  Result.mapBoth(Schema.decodeUnknownResult(schema)(withoutUndefined(tool.args)), {
    onSuccess: mutable,
    onFailure: (error) =>
      new AiError.ToolConfigurationError({
        toolName: tool.name,
        description: `OpenAI does not accept its settings${where(error)}`
      })
  })

const where = (error: unknown): string => {
  const path = /at (\[.*\])/.exec(error instanceof Error ? error.message : "")?.[1]
  return path === undefined ? "" : `, at ${path}`
}

// The SDK's types forget `readonly`; it changes nothing.
const mutable = <A>(value: A): Types.DeepMutable<A> => value as Types.DeepMutable<A>

const withoutUndefined = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (!Predicate.isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, field]) => field === undefined ? [] : [[key, withoutUndefined(field)]])
  )
}

const toMcp = (toolName: string) => (args: typeof Schemas.McpArgs.Type): Configured<Responses.Tool.Mcp> => {
  const { authorization, headers, ...rest } = args
  const places = [args.server_url, args.connector_id, args.tunnel_id].filter(Predicate.isNotUndefined)
  if (places.length !== 1) {
    return Result.fail(
      new AiError.ToolConfigurationError({
        toolName,
        description: "A hosted MCP server has exactly one of `server_url`, `connector_id` and `tunnel_id`"
      })
    )
  }
  return Result.succeed({
    ...mutable(rest),
    type: "mcp",
    ...(authorization === undefined ? undefined : { authorization: Redacted.value(authorization) }),
    ...(headers === undefined || headers === null ? undefined : {
      headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, Redacted.value(value)]))
    })
  })
}

const toCodeInterpreter = (args: typeof Schemas.CodeInterpreterArgs.Type): Responses.Tool.CodeInterpreter => {
  const { container } = args
  if (typeof container === "string") return { type: "code_interpreter", container }
  const { network_policy, ...rest } = container
  if (network_policy === undefined) return { type: "code_interpreter", container: mutable(rest) }
  if (network_policy.type === "disabled") {
    return { type: "code_interpreter", container: { ...mutable(rest), network_policy } }
  }
  const { domain_secrets, ...policy } = network_policy
  return {
    type: "code_interpreter",
    container: {
      ...mutable(rest),
      network_policy: {
        ...mutable(policy),
        ...(domain_secrets === undefined ? undefined : {
          domain_secrets: domain_secrets.map((secret) => ({ ...secret, value: Redacted.value(secret.value) }))
        })
      }
    }
  }
}

// =============================================================================
// Functions
// =============================================================================

/** How the parameters of a function tool travel. */
interface Wire {
  readonly jsonSchema: JsonSchema.JsonSchema
  /** From what the model writes to the tool's own encoded parameters; `undefined` where the two are the same. */
  readonly decode: ((params: unknown) => Effect.Effect<unknown, unknown>) | undefined
}

// Tools are immutable, and a toolkit is sent with every request: each is converted once.
const strictWires = new WeakMap<Tool.Any, Configured<Wire>>()
const looseWires = new WeakMap<Tool.Any, Configured<Wire>>()

const toFunction = (tool: Tool.Any, strict: boolean): Configured<Responses.FunctionTool> => {
  const isStrict = isStrictTool(tool, strict)
  const description = Tool.getDescription(tool)
  return Result.map(wireOf(tool, isStrict), ({ jsonSchema }) => ({
    type: "function",
    name: tool.name,
    parameters: jsonSchema,
    strict: isStrict,
    ...(description === undefined ? undefined : { description })
  }))
}

const isStrictTool = (tool: Tool.Any, strict: boolean): boolean =>
  Tool.getStrictMode(tool) ?? (strict && !hasOwnJsonSchema(tool))

const hasOwnJsonSchema = (tool: Tool.Any): boolean => Tool.isDynamic(tool) && tool.jsonSchema !== undefined

const wireOf = (tool: Tool.Any, strict: boolean): Configured<Wire> => {
  const wires = strict ? strictWires : looseWires
  const known = wires.get(tool)
  if (known !== undefined) return known
  const wire = Result.try({
    try: () => strict && !hasOwnJsonSchema(tool) ? strictWire(tool) : looseWire(tool),
    catch: (error) =>
      new AiError.UnsupportedSchemaError({
        description: `The parameters of tool '${tool.name}' have no JSON Schema that OpenAI accepts: ${
          error instanceof Error ? error.message : "it cannot be made"
        }${strict ? ". `tool.annotate(Tool.Strict, false)` sends them as they are" : ""}`
      })
  })
  wires.set(tool, wire)
  return wire
}

const strictWire = (tool: Tool.Any): Wire => {
  // The services of a schema are the tool's own requirements, which every caller of the model provides.
  const schema = tool.parametersSchema as Schema.Codec<unknown>
  const { codec, jsonSchema } = toCodecOpenAI(schema)
  if (Object.is(codec, schema)) return { jsonSchema, decode: undefined }
  const decode = Schema.decodeUnknownEffect(codec as Schema.Codec<unknown>)
  const encode = Schema.encodeUnknownEffect(schema)
  return { jsonSchema, decode: (params) => Effect.flatMap(decode(params), (value) => encode(value)) }
}

const looseWire = (tool: Tool.Any): Wire => ({ jsonSchema: asObject(Tool.getJsonSchema(tool)), decode: undefined })

/** OpenAI takes only a schema that says `object` at its root: a reference is followed, and anything becomes any object. */
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

/**
 * What the model wrote for a function tool, as the tool's own encoded parameters.
 *
 * Strict schemas say some things in other words, such as `null` for what is left out. What does not fit is returned as
 * it came: whoever decodes it for the tool says what is wrong with it.
 */
export const readParameters = (tool: Tool.Any | undefined, params: unknown, options?: {
  /** As {@link prepare} was told. */
  readonly strict?: boolean | undefined
}): Effect.Effect<unknown> => {
  if (tool === undefined || Tool.isProviderDefined(tool)) return Effect.succeed(params)
  const wire = wireOf(tool, isStrictTool(tool, options?.strict ?? true))
  return Result.isFailure(wire) || wire.success.decode === undefined
    ? Effect.succeed(params)
    : Effect.catch(wire.success.decode(params), () => Effect.succeed(params))
}

// =============================================================================
// The choice
// =============================================================================

const toResponsesChoice = (
  tools: ReadonlyArray<Tool.Any>,
  sent: ReadonlyArray<Responses.Tool>,
  choice: LanguageModel.ToolChoice<string>
): Configured<Responses.ResponseCreateParams["tool_choice"]> => {
  if (typeof choice === "string") return Result.succeed(choice)
  const names = "tool" in choice ? [choice.tool] : choice.oneOf
  const chosen: Array<Responses.Tool> = []
  for (const name of names) {
    const tool = sent[tools.findIndex((tool) => tool.name === name)]
    if (tool === undefined) {
      return Result.fail(
        new AiError.ToolConfigurationError({
          toolName: name,
          description: `\`toolChoice\` names it, but the toolkit has only ${tools.map((tool) => tool.name).join(", ")}`
        })
      )
    }
    chosen.push(tool)
  }
  const [only] = chosen
  if (only === undefined) return Result.succeed("none")
  if ("oneOf" in choice) return Result.succeed(allowed(chosen, choice.mode ?? "auto"))
  switch (only.type) {
    case "function":
    case "custom":
      return Result.succeed({ type: only.type, name: only.name })
    case "mcp":
      return Result.succeed({ type: "mcp", server_label: only.server_label })
    case "file_search":
    case "web_search_preview":
    case "image_generation":
    case "code_interpreter":
    case "shell":
    case "apply_patch":
      return Result.succeed({ type: only.type })
    default:
      // The API has no choice of its own for the others; one tool that is required is the same.
      return Result.succeed(allowed(chosen, "required"))
  }
}

const allowed = (tools: ReadonlyArray<Responses.Tool>, mode: "auto" | "required"): Responses.ToolChoiceAllowed => ({
  type: "allowed_tools",
  mode,
  tools: tools.map((tool) =>
    tool.type === "function" || tool.type === "custom"
      ? { type: tool.type, name: tool.name }
      : tool.type === "mcp"
      ? { type: "mcp", server_label: tool.server_label }
      : { type: tool.type }
  )
})

// =============================================================================
// From OpenAI
// =============================================================================

/** For each kind of item the tools it may come from, by OpenAI's names, and the name where the toolkit has none. */
const itemTools: Readonly<Record<string, readonly [customName: string, ...providerNames: ReadonlyArray<string>]>> = {
  web_search_call: ["OpenAiWebSearch", "web_search", "web_search_preview"],
  file_search_call: ["OpenAiFileSearch", "file_search"],
  code_interpreter_call: ["OpenAiCodeInterpreter", "code_interpreter"],
  image_generation_call: ["OpenAiImageGeneration", "image_generation"],
  local_shell_call: ["OpenAiLocalShell", "local_shell"],
  local_shell_call_output: ["OpenAiLocalShell", "local_shell"],
  shell_call: ["OpenAiShell", "shell"],
  shell_call_output: ["OpenAiShell", "shell"],
  apply_patch_call: ["OpenAiApplyPatch", "apply_patch"],
  apply_patch_call_output: ["OpenAiApplyPatch", "apply_patch"]
}

const mcpItems: ReadonlySet<string> = new Set(["mcp_call", "mcp_approval_request", "mcp_list_tools"])

/** The directory of a request's tools. */
export const directory = (tools: ReadonlyArray<Tool.Any>): Directory => {
  const byName = new Map(tools.map((tool) => [tool.name, tool]))
  const byProviderName = new Map<string, Tool.Any>()
  const byLabel = new Map<string, Tool.Any>()
  for (const tool of tools) {
    if (!Tool.isProviderDefined(tool)) continue
    if (!byProviderName.has(tool.providerName)) byProviderName.set(tool.providerName, tool)
    const label = serverLabel(tool)
    if (label !== undefined) byLabel.set(label, tool)
  }
  const owner = (tool: Tool.Any | undefined, name: string): Owner => ({ name: tool?.name ?? name, tool })
  // A label that no tool has is another toolkit's, in an old history; it keeps the name it has by default.
  const ofServer = (label: string) => owner(byLabel.get(label), "OpenAiMcp")
  return {
    ofFunction: (name) => {
      const tool = byName.get(name)
      return owner(tool !== undefined && Tool.isProviderDefined(tool) ? undefined : tool, name)
    },
    ofCustom: (name) => {
      const tool = byName.get(name)
      return owner(tool !== undefined && isCustom(tool) ? tool : undefined, name)
    },
    ofServer,
    ofItem: (item) => {
      if (mcpItems.has(item.type)) return ofServer(item.server_label ?? "")
      if (!Object.hasOwn(itemTools, item.type)) return undefined
      const [name, ...providerNames] = itemTools[item.type]!
      return owner(providerNames.map((name) => byProviderName.get(name)).find(Predicate.isNotUndefined), name)
    },
    get: (name) => byName.get(name)
  }
}

const isCustom = (tool: Tool.Any): boolean => Tool.isProviderDefined(tool) && tool.id === "openai.custom"

/** The label of a hosted MCP server; `undefined` for every other tool. */
export const serverLabel = (tool: Tool.Any): string | undefined => {
  const args: unknown = Tool.isProviderDefined(tool) && tool.id === "openai.mcp" ? tool.args : undefined
  return Predicate.hasProperty(args, "server_label") && typeof args.server_label === "string"
    ? args.server_label
    : undefined
}
