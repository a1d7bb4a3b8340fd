/** Ids in the order of asking, so that a test that runs twice sees the same ones. */

export interface Ids {
  readonly next: (prefix: string) => string
}

export const make = (): Ids => {
  const counts = new Map<string, number>()
  return {
    next: (prefix) => {
      const count = (counts.get(prefix) ?? 0) + 1
      counts.set(prefix, count)
      return `${prefix}_${String(count).padStart(8, "0")}`
    }
  }
}

/** What an item's id begins with. */
export const prefixOf = (type: string): string => {
  switch (type) {
    case "message":
      return "msg"
    case "reasoning":
      return "rs"
    case "function_call":
      return "fc"
    case "function_call_output":
      return "fco"
    case "mcp_list_tools":
      return "mcpl"
    case "mcp_approval_request":
      return "mcpr"
    case "mcp_approval_response":
      return "mcpar"
    case "mcp_call":
      return "mcp"
    case "web_search_call":
      return "ws"
    case "file_search_call":
      return "fs"
    case "code_interpreter_call":
      return "ci"
    case "image_generation_call":
      return "ig"
    default:
      return "item"
  }
}
