/**
 * What OpenAI says when it refuses a request. Texts are the real ones, as reported in the issues named; those marked
 * "our words" stand for rules whose real text is not known.
 */
import { type ApiError, apiError } from "../../ApiError.ts"

// vercel/ai fixture openai-issue-17402-error; openai/codex 6937.
export const missingParameter = (param: string): ApiError =>
  apiError({ message: `Missing required parameter: '${param}'.`, param, code: "missing_required_parameter" })

// BerriAI/litellm 13420.
export const unknownParameter = (param: string): ApiError =>
  apiError({ message: `Unknown parameter: '${param}'.`, param, code: "unknown_parameter" })

export const invalidType = (param: string, expected: string, actual: string): ApiError =>
  apiError({
    message: `Invalid type for '${param}': expected ${expected}, but got ${actual} instead.`,
    param,
    code: "invalid_type"
  })

// openai/codex 6945, 7117.
export const invalidValue = (param: string, value: unknown, supported: ReadonlyArray<string>): ApiError =>
  apiError({
    message: `Invalid value: '${value}'. Supported values are: ${listed(supported)}.`,
    param,
    code: "invalid_value"
  })

// continuedev/continue 11494; Wei-Shaw/sub2api 3785.
export const wrongIdPrefix = (param: string, id: string, prefix: string): ApiError =>
  apiError({
    message: `Invalid '${param}': '${id}'. Expected an ID that begins with '${prefix}'.`,
    param,
    code: "invalid_value"
  })

export const emptyString = (param: string): ApiError =>
  apiError({
    message:
      `Invalid '${param}': empty string. Expected a string with minimum length 1, but got an empty string instead.`,
    param,
    code: "empty_string"
  })

export const emptyArray = (param: string): ApiError =>
  apiError({
    message:
      `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`,
    param,
    code: "empty_array"
  })

// AnswerDotAI/fastllm 45; decolua/9router 393.
export const tooLong = (param: string, maximum: number, length: number): ApiError =>
  apiError({
    message: `Invalid '${param}': string too long. Expected a string with maximum length ${maximum},` +
      ` but got a string with length ${length} instead.`,
    param,
    code: "string_above_max_length"
  })

export const badPattern = (param: string, pattern: string): ApiError =>
  apiError({
    message:
      `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '${pattern}'.`,
    param,
    code: "invalid_value"
  })

export const belowMinimum = (param: string, minimum: number, value: number): ApiError =>
  apiError({
    message:
      `Invalid '${param}': integer below minimum value. Expected a value >= ${minimum}, but got ${value} instead.`,
    param,
    code: "integer_below_min_value"
  })

export const jsonNotMentioned = (): ApiError =>
  apiError({
    message: "Response input messages must contain the word 'json' in some form to use 'text.format' of type" +
      " 'json_object'.",
    param: "input"
  })

export const choiceWithoutTools = (choice: string): ApiError =>
  apiError({ message: `Tool choice '${choice}' must be specified with 'tools' parameter.`, param: "tool_choice" })

export const choiceNotFound = (type: string): ApiError =>
  apiError({ message: `Tool choice '${type}' not found in 'tools' parameter.`, param: "tool_choice" })

/** Our words: what a client echoes as arguments must at least be JSON. */
export const malformedArguments = (param: string): ApiError =>
  apiError({ message: `Invalid '${param}': the string is not valid JSON.`, param, code: "invalid_value" })

// xemantic/xemantic-ai-tool-schema 37, kevinwatt/mysql-mcp 5, dotnet/extensions 6302.
export const invalidSchema = (what: string, param: string, code: string, why: string): ApiError =>
  apiError({ message: `Invalid schema for ${what}: ${why}`, param, code })

// maximhq/bifrost 2441.
export const previousResponseNotFound = (id: string): ApiError =>
  apiError({
    message: `Previous response with id '${id}' not found.`,
    param: "previous_response_id",
    code: "previous_response_not_found"
  })

export const responseNotFound = (id: string): ApiError =>
  apiError({ status: 404, message: `Response with id '${id}' not found.` })

export const conversationNotFound = (id: string): ApiError =>
  apiError({ status: 404, message: `Conversation with id '${id}' not found.` })

// microsoft/agent-framework quotes it.
export const exclusive = (): ApiError =>
  apiError({
    message: "Mutually exclusive parameters: 'conversation' and 'previous_response_id'. Ensure you are only providing" +
      " one of: 'previous_response_id' or 'conversation'.",
    code: "mutually_exclusive_parameters"
  })

// router-for-me/CLIProxyAPI 999, vercel/ai 7543: status 404, and the hint when the request says `store: false`.
export const itemNotFound = (id: string, stores: boolean): ApiError =>
  apiError({
    status: 404,
    param: "input",
    message: `Item with id '${id}' not found.` + (stores
      ? ""
      : " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this" +
        " item from your input.")
  })

export const notEncryptedHere = (content: string): ApiError =>
  apiError({
    param: null,
    code: "invalid_encrypted_content",
    message: `The encrypted content ${content.slice(0, 4)}...${content.slice(-4)} could not be verified.` +
      " Reason: Encrypted content could not be decrypted or parsed."
  })

// vercel/ai fixture openai-mcp-approval-previous-response-duplicate-error; continuedev/continue 10723.
export const duplicateItem = (id: string): ApiError =>
  input(`Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`)

// continuedev/continue 8933.
export const reasoningAlone = (id: string): ApiError =>
  input(`Item '${id}' of type 'reasoning' was provided without its required following item.`)

// cline/cline 12242, mastra-ai/mastra 8738.
export const withoutReasoning = (id: string, type: string, reasoning: string): ApiError =>
  input(`Item '${id}' of type '${type}' was provided without its required 'reasoning' item: '${reasoning}'.`)

export const callWithoutOutput = (call: string, callId: string): ApiError =>
  input(`No tool output found for ${call} ${callId}.`)

// vercel/ai fixture openai-issue-18537-error.
export const outputWithoutCall = (call: string, callId: string): ApiError =>
  input(`No tool call found for ${call} output with call_id ${callId}.`)

/** Our words: whether the real API refuses a second output is not known, but a second run would write one. */
export const twoOutputs = (call: string, callId: string): ApiError =>
  input(`Duplicate tool output found for ${call} ${callId}. Remove duplicate items from your input and try again.`)

// community.openai.com 1365706, and agent-framework programs quote the list of ids.
export const answersWithoutRequests = (ids: ReadonlyArray<string>): ApiError =>
  input(`The following MCP approval requests have approval responses but weren't passed as input: ${ids.join(", ")}`)

// Quoted by several Foundry clients: a pending request blocks every further turn.
export const requestsWithoutAnswers = (ids: ReadonlyArray<string>): ApiError =>
  input(`The following MCP approval requests do not have an approval: ${ids.join(", ")}`)

/** Our words: the real text for two answers to one request is not known. */
export const answeredTwice = (ids: ReadonlyArray<string>): ApiError =>
  input(`The following MCP approval requests have more than one approval response: ${ids.join(", ")}`)

/** Our words: an approved call needs its server among the tools of the request that brings the answer. */
export const approvedWithoutServer = (label: string, id: string): ApiError =>
  apiError({
    param: "tools",
    message: `MCP approval request '${id}' was approved, but its server '${label}' is not among the tools.`
  })

// RageAgainstThePixel/OpenAI-DotNet 486.
export const mcpServerNotFound = (label: string): ApiError =>
  apiError({
    status: 424,
    type: "external_connector_error",
    param: "tools",
    code: "http_error",
    message: `Error retrieving tool list from MCP server: '${label}'. Http status code: 424 (Failed Dependency)`
  })

export const wrongKey = (key: string): ApiError =>
  apiError({
    status: 401,
    code: "invalid_api_key",
    message: `Incorrect API key provided: ${masked(key)}.` +
      " You can find your API key at https://platform.openai.com/account/api-keys."
  })

export const missingKey = (): ApiError =>
  apiError({
    status: 401,
    message: "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer" +
      " auth (i.e. Authorization: Bearer YOUR_KEY). You can obtain an API key from" +
      " https://platform.openai.com/account/api-keys."
  })

export const unknownUrl = (method: string, path: string): ApiError =>
  apiError({ status: 404, message: `Invalid URL (${method} ${path})` })

export const notJson = (): ApiError =>
  apiError({
    message: "We could not parse the JSON body of your request. (HINT: This likely means you aren't using your HTTP" +
      " library correctly. The OpenAI API expects a JSON payload, but what was sent was not valid JSON.)"
  })

/** Our words: the test is wrong, not the program; the SDK must not try again. */
export const scriptFault = (message: string): ApiError =>
  apiError({ status: 500, type: "server_error", code: "script", message, headers: { "x-should-retry": "false" } })

const input = (message: string): ApiError => apiError({ message, param: "input" })

const listed = (values: ReadonlyArray<string>): string => {
  const quoted = values.map((value) => `'${value}'`)
  if (quoted.length < 3) return quoted.join(" and ")
  return `${quoted.slice(0, -1).join(", ")}, and ${quoted.at(-1)}`
}

const masked = (key: string): string =>
  key.length < 12 ? "*".repeat(key.length) : `${key.slice(0, 3)}${"*".repeat(key.length - 7)}${key.slice(-4)}`
