/** The shape of one input item: its fields, their types and its ids. What items mean together is `stage/context.ts`. */
import type { ApiError } from "../../ApiError.ts"
import * as Ids from "../ids.ts"
import type { JsonObject } from "../json.ts"
import * as Json from "../json.ts"
import * as Refusals from "./refusals.ts"

interface Shape {
  readonly required: ReadonlyArray<string>
  readonly optional: ReadonlyArray<string>
}

/** From `ResponseInputItem` of the SDK. */
const shapes: ReadonlyMap<string, Shape> = new Map(Object.entries({
  message: { required: ["role", "content"], optional: ["id", "status", "phase"] },
  item_reference: { required: ["id"], optional: [] },
  reasoning: { required: ["id", "summary"], optional: ["content", "encrypted_content", "status"] },
  function_call: {
    required: ["arguments", "call_id", "name"],
    optional: ["id", "async", "caller", "namespace", "status"]
  },
  function_call_output: {
    required: ["call_id", "output"],
    optional: ["id", "caller", "name", "namespace", "status"]
  },
  mcp_list_tools: { required: ["id", "server_label", "tools"], optional: ["error"] },
  mcp_approval_request: { required: ["id", "arguments", "name", "server_label"], optional: [] },
  mcp_approval_response: { required: ["approval_request_id", "approve"], optional: ["id", "reason"] },
  mcp_call: {
    required: ["id", "arguments", "name", "server_label"],
    optional: ["approval_request_id", "error", "output", "status"]
  },
  web_search_call: { required: ["id", "action", "status"], optional: [] },
  file_search_call: { required: ["id", "queries", "status"], optional: ["results"] },
  code_interpreter_call: { required: ["id", "code", "container_id", "outputs", "status"], optional: [] },
  image_generation_call: {
    required: ["id", "result", "status"],
    optional: ["action", "background", "error", "output_format", "quality", "revised_prompt", "size", "svg_usage"]
  }
}))

/** Known to OpenAI, but not played here: their fields are not looked at. */
const others: ReadonlySet<string> = new Set([
  "additional_tools",
  "apply_patch_call",
  "apply_patch_call_output",
  "compaction",
  "compaction_trigger",
  "computer_call",
  "computer_call_output",
  "configuration_update",
  "custom_tool_call",
  "custom_tool_call_output",
  "local_shell_call",
  "local_shell_call_output",
  "program",
  "program_output",
  "shell_call",
  "shell_call_output",
  "tool_search_call",
  "tool_search_output"
])

const texts: ReadonlyArray<string> = [
  "approval_request_id",
  "arguments",
  "call_id",
  "container_id",
  "encrypted_content",
  "id",
  "name",
  "reason",
  "server_label"
]

const nullable: ReadonlySet<string> = new Set([
  "approval_request_id",
  "caller",
  "code",
  "encrypted_content",
  "error",
  "output",
  "outputs",
  "phase",
  "reason",
  "result",
  "results",
  "revised_prompt"
])

export const typeOf = (item: JsonObject): string => {
  if (typeof item["type"] === "string") return item["type"]
  return "role" in item ? "message" : "item_reference"
}

export const check = (item: JsonObject, at: string, ownTypes: ReadonlySet<string>): ApiError | undefined => {
  const type = typeOf(item)
  const shape = shapes.get(type)
  if (shape === undefined) {
    return others.has(type) || ownTypes.has(type)
      ? undefined
      : Refusals.invalidValue(at, type, [...shapes.keys(), ...others].toSorted())
  }
  for (const field of Object.keys(item)) {
    if (field !== "type" && !shape.required.includes(field) && !shape.optional.includes(field)) {
      return Refusals.unknownParameter(`${at}.${field}`)
    }
  }
  for (const field of shape.required) {
    if (item[field] === undefined) return Refusals.missingParameter(`${at}.${field}`)
  }
  for (const field of texts) {
    const value = item[field]
    if (
      value === undefined ||
      (value === null && (nullable.has(field) || field === "id" && shape.optional.includes("id")))
    ) continue
    if (typeof value !== "string") return Refusals.invalidType(`${at}.${field}`, "a string", Json.nameOfType(value))
  }
  return checkIds(item, type, at) ?? checkByType(item, type, at)
}

const checkIds = (item: JsonObject, type: string, at: string): ApiError | undefined => {
  for (const field of ["id", "call_id"]) {
    const value = item[field]
    if (typeof value !== "string") continue
    if (value === "") return Refusals.emptyString(`${at}.${field}`)
    if (value.length > 64) return Refusals.tooLong(`${at}.${field}`, 64, value.length)
  }
  const id = item["id"]
  // A user's message may have an id of its own; only what a model wrote is looked at.
  const checked = type !== "item_reference" && type !== "mcp_approval_response" && type !== "function_call_output" &&
    (type !== "message" || item["role"] === "assistant")
  const prefix = Ids.prefixOf(type)
  return checked && typeof id === "string" && !id.startsWith(prefix)
    ? Refusals.wrongIdPrefix(`${at}.id`, id, prefix)
    : undefined
}

const checkByType = (item: JsonObject, type: string, at: string): ApiError | undefined => {
  switch (type) {
    case "message":
      return checkMessage(item, at)
    case "function_call":
    case "mcp_call":
    case "mcp_approval_request":
      return Json.parse(String(item["arguments"])) === undefined
        ? Refusals.malformedArguments(`${at}.arguments`)
        : item["name"] === ""
        ? Refusals.emptyString(`${at}.name`)
        : undefined
    case "function_call_output":
      return checkOutput(item["output"], `${at}.output`)
    case "mcp_approval_response":
      return typeof item["approve"] === "boolean"
        ? undefined
        : Refusals.invalidType(`${at}.approve`, "a boolean", Json.nameOfType(item["approve"]))
    case "reasoning":
      return checkReasoning(item, at)
    default:
      return undefined
  }
}

const roles = ["assistant", "system", "developer", "user"]
const contentIn = ["input_text", "input_image", "input_file", "input_audio"]
const contentOut = ["output_text", "refusal"]

const checkMessage = (item: JsonObject, at: string): ApiError | undefined => {
  const role = item["role"]
  if (typeof role !== "string" || !roles.includes(role)) return Refusals.invalidValue(`${at}.role`, role, roles)
  const content = item["content"]
  if (typeof content === "string") return undefined
  if (!Json.isArray(content)) {
    return Refusals.invalidType(`${at}.content`, "one of an array of objects or string", Json.nameOfType(content))
  }
  return checkContent(content, role === "assistant" ? contentOut : contentIn, `${at}.content`)
}

const checkContent = (
  content: ReadonlyArray<unknown>,
  supported: ReadonlyArray<string>,
  at: string
): ApiError | undefined => {
  for (const [index, part] of content.entries()) {
    const where = `${at}[${index}]`
    if (!Json.isObject(part)) return Refusals.invalidType(where, "an object", Json.nameOfType(part))
    const type = part["type"]
    if (type === undefined) return Refusals.missingParameter(`${where}.type`)
    if (typeof type !== "string" || !supported.includes(type)) return Refusals.invalidValue(where, type, supported)
    const refusal = checkPart(part, type, where)
    if (refusal !== undefined) return refusal
  }
  return undefined
}

const checkPart = (part: JsonObject, type: string, at: string): ApiError | undefined => {
  const text = (field: string): ApiError | undefined =>
    part[field] === undefined
      ? Refusals.missingParameter(`${at}.${field}`)
      : typeof part[field] === "string"
      ? undefined
      : Refusals.invalidType(`${at}.${field}`, "a string", Json.nameOfType(part[field]))
  switch (type) {
    case "input_text":
    case "output_text":
      return text("text")
    case "refusal":
      return text("refusal")
    case "input_image":
      return part["image_url"] == null && part["file_id"] == null
        ? Refusals.missingParameter(`${at}.image_url`)
        : undefined
    case "input_file":
      return part["file_id"] == null && part["file_data"] == null && part["file_url"] == null
        ? Refusals.missingParameter(`${at}.file_id`)
        : undefined
    default:
      return undefined
  }
}

const checkOutput = (output: unknown, at: string): ApiError | undefined => {
  if (output === "") return Refusals.emptyString(at)
  if (typeof output === "string") return undefined
  if (!Json.isArray(output)) {
    return Refusals.invalidType(at, "one of an array of objects or string", Json.nameOfType(output))
  }
  return output.length === 0 ? Refusals.emptyArray(at) : checkContent(output, contentIn, at)
}

const checkReasoning = (item: JsonObject, at: string): ApiError | undefined => {
  const summary = item["summary"]
  if (!Json.isArray(summary)) {
    return Refusals.invalidType(`${at}.summary`, "an array of objects", Json.nameOfType(summary))
  }
  return checkSummary(summary, `${at}.summary`)
}

const checkSummary = (summary: ReadonlyArray<unknown>, at: string): ApiError | undefined => {
  for (const [index, part] of summary.entries()) {
    if (!Json.isObject(part)) return Refusals.invalidType(`${at}[${index}]`, "an object", Json.nameOfType(part))
    if (part["type"] !== "summary_text") {
      return Refusals.invalidValue(`${at}[${index}].type`, part["type"], ["summary_text"])
    }
    if (typeof part["text"] !== "string") return Refusals.missingParameter(`${at}[${index}].text`)
  }
  return undefined
}
