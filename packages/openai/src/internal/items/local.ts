/** Calls that the program runs: its functions, and OpenAI's own tools for the user's machine. */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Responses from "openai/resources/responses/responses"
import * as Approvals from "../approvals/approvals.ts"
import * as Metadata from "../metadata.ts"
import * as Content from "./content.ts"

type Item = Responses.ResponseInputItem

/** The items that call a tool on the user's machine. */
export type MachineCall =
  | Responses.ResponseOutputItem.LocalShellCall
  | Responses.ResponseFunctionShellToolCall
  | Responses.ResponseApplyPatchToolCall

/** What a call says besides its arguments, and OpenAI wants back with it. */
const asideOf = (fields: { readonly namespace?: unknown; readonly caller?: unknown }) => ({
  ...(typeof fields.namespace === "string" ? { namespace: fields.namespace } : undefined),
  ...(Metadata.isRecord(fields.caller)
    ? { caller: fields.caller as unknown as NonNullable<Responses.ResponseFunctionToolCall["caller"]> } // As it came.
    : undefined)
})

export const isMachineCall = (item: Responses.ResponseOutputItem): item is MachineCall =>
  item.type === "local_shell_call" || item.type === "shell_call" || item.type === "apply_patch_call"

// =============================================================================
// From OpenAI
// =============================================================================

export const functionCall = (
  item: Responses.ResponseFunctionToolCall,
  name: string,
  origin: { readonly [key: string]: unknown }
): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id: callId(item),
  name,
  params: Approvals.parseArguments(item.arguments ?? ""),
  metadata: { openai: Metadata.json({ ...origin, itemId: item.id, status: item.status, ...asideOf(item) }) }
})

/** A call of a custom tool, whose input is a text. */
export const customCall = (
  item: Responses.ResponseCustomToolCall,
  name: string,
  origin: { readonly [key: string]: unknown }
): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id: callId(item),
  name,
  params: { input: item.input ?? "" },
  metadata: { openai: Metadata.json({ ...origin, itemId: item.id, itemType: item.type, ...asideOf(item) }) }
})

/** The id of a call; some servers give only that of its item. */
export const callId = (item: { readonly call_id?: string; readonly id?: string | null }): string =>
  item.call_id || item.id || "call"

export const machineCall = (
  item: MachineCall,
  name: string,
  origin: { readonly [key: string]: unknown }
): Response.ToolCallPartEncoded => ({
  type: "tool-call",
  id: item.call_id,
  name,
  params: item.type === "apply_patch_call"
    ? { call_id: item.call_id, operation: item.operation }
    : { action: item.action },
  metadata: { openai: Metadata.json({ ...origin, itemId: item.id, itemType: item.type, status: item.status }) }
})

// =============================================================================
// To OpenAI
// =============================================================================

/** Notes which item a call was, by its id: its output has a form of its own. An id may be used again. */
export type Types = Map<string, string>

export const noteType = (types: Types, part: Prompt.ToolCallPart): void => {
  const type = Metadata.text(Metadata.read(part), "itemType")
  if (type === undefined) types.delete(part.id)
  else types.set(part.id, type)
}

export const callItem = (part: Prompt.ToolCallPart, keepsId: boolean, toolNames: ReadonlySet<string>): Item => {
  const fields = Metadata.read(part)
  const id = keepsId ? Metadata.text(fields, "itemId") : undefined
  const named = id === undefined ? undefined : { id }
  const params = Metadata.isRecord(part.params) ? part.params : {}
  // The program's own history says what the call was; its form is OpenAI's.
  switch (fields["itemType"]) {
    case "local_shell_call":
      return {
        type: "local_shell_call",
        id: id ?? part.id,
        call_id: part.id,
        action: params["action"] as Responses.ResponseInputItem.LocalShellCall["action"],
        status: "completed"
      }
    case "shell_call":
      return {
        type: "shell_call",
        call_id: part.id,
        action: params["action"] as Responses.ResponseInputItem.ShellCall["action"],
        status: "completed",
        ...named
      }
    case "apply_patch_call":
      return {
        type: "apply_patch_call",
        call_id: part.id,
        operation: params["operation"] as Responses.ResponseInputItem.ApplyPatchCall["operation"],
        status: "completed",
        ...named
      }
    case "custom_tool_call":
      return {
        type: "custom_tool_call",
        call_id: part.id,
        name: part.name,
        input: typeof params["input"] === "string" ? params["input"] : "",
        ...asideOf(fields),
        ...named
      }
    default:
      return {
        type: "function_call",
        call_id: part.id,
        // One that a model made up may be of a form that OpenAI refuses, in this request and in every later one.
        name: toolNames.has(part.name) ? part.name : part.name.replace(/[^\w-]/gu, "_").slice(0, 64) || "unknown",
        // Servers that read it refuse what is no object, such as what was cut: so does Vercel's SDK write it.
        arguments: JSON.stringify(Metadata.isRecord(part.params ?? {}) ? params : { rawInvalidInput: part.params }),
        ...asideOf(fields),
        ...named
      }
  }
}

export const outputItem = (part: Prompt.ToolResultPart, type: string | undefined, options: Content.Options): Item => {
  const result = Metadata.isRecord(part.result) ? part.result : {}
  switch (type) {
    case "local_shell_call":
      return {
        type: "local_shell_call_output",
        id: part.id,
        output: !part.isFailure && typeof result["output"] === "string" ? result["output"] : Content.text(part)
      }
    case "shell_call":
      return {
        type: "shell_call_output",
        call_id: part.id,
        output: !part.isFailure && Array.isArray(result["output"])
          ? result["output"]
          : [{ stdout: "", stderr: Content.text(part), outcome: { type: "exit", exit_code: 1 } }]
      }
    case "apply_patch_call": {
      const done = !part.isFailure && result["status"] === "completed"
      const output = part.isFailure ? Content.text(part) : result["output"]
      return {
        type: "apply_patch_call_output",
        call_id: part.id,
        status: done ? "completed" : "failed",
        ...(typeof output === "string" ? { output } : undefined)
      }
    }
    case "custom_tool_call":
      return { type: "custom_tool_call_output", call_id: part.id, output: Content.output(part, options) }
    default:
      return { type: "function_call_output", call_id: part.id, output: Content.output(part, options) }
  }
}
