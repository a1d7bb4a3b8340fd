/** The parameters of a request, one by one; what its items mean together is `stage/context.ts`. */
import type { ApiError } from "../../ApiError.ts"
import type { JsonObject } from "../json.ts"
import * as Json from "../json.ts"
import * as InputItems from "./inputItems.ts"
import * as JsonSchema from "./jsonSchema.ts"
import * as Refusals from "./refusals.ts"

/** From `ResponseCreateParamsBase` of the SDK. */
const parameters: ReadonlySet<string> = new Set([
  "access_programs",
  "background",
  "context_management",
  "conversation",
  "image",
  "include",
  "input",
  "instructions",
  "max_output_tokens",
  "max_tool_calls",
  "metadata",
  "model",
  "moderation",
  "parallel_tool_calls",
  "previous_response_id",
  "prompt",
  "prompt_cache_key",
  "prompt_cache_options",
  "prompt_cache_retention",
  "reasoning",
  "safety_identifier",
  "service_tier",
  "store",
  "stream",
  "stream_options",
  "temperature",
  "text",
  "tool_choice",
  "tools",
  "top_logprobs",
  "top_p",
  "truncation",
  "user"
])

const includable = [
  "code_interpreter_call.outputs",
  "computer_call_output.output.image_url",
  "file_search_call.results",
  "message.input_image.image_url",
  "message.output_text.logprobs",
  "reasoning.encrypted_content",
  "web_search_call.action.sources",
  "web_search_call.results"
]

/** The first thing OpenAI would not take. */
export const check = (params: JsonObject, ownTypes: ReadonlySet<string>): ApiError | undefined =>
  checkNames(params) ?? checkValues(params) ?? checkFormat(params) ?? checkTools(params) ?? checkChoice(params) ??
    checkInput(params, ownTypes)

const checkNames = (params: JsonObject): ApiError | undefined => {
  const unknown = Object.keys(params).find((name) => !parameters.has(name))
  if (unknown !== undefined) return Refusals.unknownParameter(unknown)
  if (params["model"] == null && params["prompt"] == null) return Refusals.missingParameter("model")
  if (
    params["input"] == null && params["previous_response_id"] == null && params["conversation"] == null &&
    params["prompt"] == null
  ) {
    return Refusals.missingParameter("input")
  }
  if (params["conversation"] != null && params["previous_response_id"] != null) return Refusals.exclusive()
  return undefined
}

const checkValues = (params: JsonObject): ApiError | undefined => {
  const kinds: ReadonlyArray<readonly [string, string, string]> = [
    ["model", "string", "a string"],
    ["previous_response_id", "string", "a string"],
    ["instructions", "string", "a string"],
    ["store", "boolean", "a boolean"],
    ["stream", "boolean", "a boolean"],
    ["parallel_tool_calls", "boolean", "a boolean"],
    ["max_output_tokens", "number", "an integer"],
    ["temperature", "number", "a decimal"],
    ["top_p", "number", "a decimal"]
  ]
  for (const [name, kind, expected] of kinds) {
    const value = params[name]
    if (value != null && typeof value !== kind) return Refusals.invalidType(name, expected, Json.nameOfType(value))
  }
  const most = params["max_output_tokens"]
  if (typeof most === "number" && most < 16) return Refusals.belowMinimum("max_output_tokens", 16, most)
  const include = params["include"]
  if (Json.isArray(include)) {
    const index = include.findIndex((value) => typeof value !== "string" || !includable.includes(value))
    if (index >= 0) return Refusals.invalidValue(`include[${index}]`, include[index], includable)
  }
  return params["background"] === true
    ? Refusals.scriptFault("ResponsesServer does not support background responses.")
    : undefined
}

const checkFormat = (params: JsonObject): ApiError | undefined => {
  const text = params["text"]
  const format = Json.isObject(text) ? text["format"] : undefined
  if (!Json.isObject(format)) return undefined
  switch (format["type"]) {
    case "text":
      return undefined
    case "json_object":
      return JSON.stringify([params["input"], params["instructions"]]).toLowerCase().includes("json")
        ? undefined
        : Refusals.jsonNotMentioned()
    case "json_schema": {
      for (const field of ["name", "schema"]) {
        if (format[field] == null) return Refusals.missingParameter(`text.format.${field}`)
      }
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(String(format["name"]))) {
        return Refusals.badPattern("text.format.name", "^[a-zA-Z0-9_-]+$")
      }
      const why = format["strict"] === true ? JsonSchema.whyNotStrict(format["schema"]) : undefined
      return why === undefined
        ? undefined
        : Refusals.invalidSchema(
          `response_format '${String(format["name"])}'`,
          "text.format.schema",
          "invalid_json_schema",
          why
        )
    }
    default:
      return Refusals.invalidValue("text.format.type", format["type"], ["json_object", "json_schema", "text"])
  }
}

/** Fields of the tools that are played here, from the SDK; of the others only the type is looked at. */
const toolFields: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  [
    "function",
    new Set([
      "allowed_callers",
      "async",
      "defer_loading",
      "description",
      "name",
      "output_schema",
      "parameters",
      "strict",
      "type"
    ])
  ],
  [
    "mcp",
    new Set([
      "allowed_callers",
      "allowed_tools",
      "authorization",
      "connector_id",
      "defer_loading",
      "headers",
      "require_approval",
      "server_description",
      "server_label",
      "server_url",
      "tunnel_id",
      "type"
    ])
  ],
  ["web_search", new Set(["external_web_access", "filters", "search_context_size", "type", "user_location"])],
  ["file_search", new Set(["filters", "max_num_results", "ranking_options", "type", "vector_store_ids"])],
  ["code_interpreter", new Set(["allowed_callers", "container", "type"])]
])

const toolTypes = [
  "apply_patch",
  "code_interpreter",
  "computer",
  "computer_use_preview",
  "custom",
  "file_search",
  "function",
  "image_generation",
  "local_shell",
  "mcp",
  "namespace",
  "programmatic_tool_calling",
  "shell",
  "tool_search",
  "web_search",
  "web_search_2025_08_26",
  "web_search_preview",
  "web_search_preview_2025_03_11"
]

const checkTools = (params: JsonObject): ApiError | undefined => {
  const tools = params["tools"]
  if (tools == null) return undefined
  if (!Json.isArray(tools)) return Refusals.invalidType("tools", "an array of objects", Json.nameOfType(tools))
  for (const [index, tool] of tools.entries()) {
    const at = `tools[${index}]`
    if (!Json.isObject(tool)) return Refusals.invalidType(at, "an object", Json.nameOfType(tool))
    const refusal = checkTool(tool, at)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

const checkTool = (tool: JsonObject, at: string): ApiError | undefined => {
  const type = tool["type"]
  if (type === undefined) return Refusals.missingParameter(`${at}.type`)
  if (typeof type !== "string" || !toolTypes.includes(type)) return Refusals.invalidValue(`${at}.type`, type, toolTypes)
  const fields = toolFields.get(type)
  const unknown = fields === undefined ? undefined : Object.keys(tool).find((field) => !fields.has(field))
  if (unknown !== undefined) return Refusals.unknownParameter(`${at}.${unknown}`)
  if (type === "function") return checkFunction(tool, at)
  if (type === "mcp") return checkMcp(tool, at)
  return undefined
}

const checkFunction = (tool: JsonObject, at: string): ApiError | undefined => {
  const name = tool["name"]
  if (name === undefined) return Refusals.missingParameter(`${at}.name`)
  if (typeof name !== "string" || !/^[a-zA-Z0-9_-]+$/.test(name)) {
    return Refusals.badPattern(`${at}.name`, "^[a-zA-Z0-9_-]+$")
  }
  if (name.length > 128) return Refusals.tooLong(`${at}.name`, 128, name.length)
  const why = tool["strict"] === true ? JsonSchema.whyNotStrict(tool["parameters"]) : undefined
  return why === undefined
    ? undefined
    : Refusals.invalidSchema(`function '${name}'`, `${at}.parameters`, "invalid_function_parameters", why)
}

const checkMcp = (tool: JsonObject, at: string): ApiError | undefined => {
  const label = tool["server_label"]
  if (typeof label !== "string") return Refusals.missingParameter(`${at}.server_label`)
  if (!/^[a-zA-Z][a-zA-Z0-9_-]*$/.test(label)) {
    return Refusals.badPattern(`${at}.server_label`, "^[a-zA-Z][a-zA-Z0-9_-]*$")
  }
  if (["server_url", "connector_id", "tunnel_id"].every((field) => tool[field] == null)) {
    return Refusals.missingParameter(`${at}.server_url`)
  }
  const approval = tool["require_approval"]
  if (approval == null || approval === "always" || approval === "never") return undefined
  if (!Json.isObject(approval)) return Refusals.invalidValue(`${at}.require_approval`, approval, ["always", "never"])
  for (const [when, filter] of Object.entries(approval)) {
    if (when !== "always" && when !== "never") return Refusals.unknownParameter(`${at}.require_approval.${when}`)
    const unknown = Json.isObject(filter)
      ? Object.keys(filter).find((field) => field !== "tool_names" && field !== "read_only")
      : undefined
    if (unknown !== undefined) return Refusals.unknownParameter(`${at}.require_approval.${when}.${unknown}`)
  }
  return undefined
}

const checkChoice = (params: JsonObject): ApiError | undefined => {
  const choice = params["tool_choice"]
  const tools = Json.objectsOf(params["tools"])
  if (typeof choice === "string") {
    if (!["none", "auto", "required"].includes(choice)) {
      return Refusals.invalidValue("tool_choice", choice, ["none", "auto", "required"])
    }
    return choice === "required" && tools.length === 0 ? Refusals.choiceWithoutTools("required") : undefined
  }
  if (!Json.isObject(choice) || choice["type"] !== "function") return undefined
  return tools.some((tool) => tool["name"] === choice["name"]) ? undefined : Refusals.choiceNotFound("function")
}

const checkInput = (params: JsonObject, ownTypes: ReadonlySet<string>): ApiError | undefined => {
  const input = params["input"]
  if (input == null || typeof input === "string") return undefined
  if (!Json.isArray(input)) {
    return Refusals.invalidType("input", "one of a string or array of input items", Json.nameOfType(input))
  }
  for (const [index, item] of input.entries()) {
    const at = `input[${index}]`
    if (!Json.isObject(item)) return Refusals.invalidType(at, "an object", Json.nameOfType(item))
    const refusal = InputItems.check(item, at, ownTypes)
    if (refusal !== undefined) return refusal
  }
  return undefined
}
