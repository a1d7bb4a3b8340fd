/**
 * What an MCP server says a tool is, and of which server it is: all that a person's consent rests on, as canonical JSON,
 * so that it can be sealed (law L4), and compared (law L10).
 */
import type * as McpSchema from "effect/ai/McpSchema"
import * as Result from "effect/Result"
import * as Canonical from "../seal/canonical.ts"
import * as Text from "../text.ts"

/** An MCP server, by the name the program gave it, and what it calls itself. */
export interface Server {
  /** What qualifies its tools. */
  readonly name: string
  /** Whether that is only what it calls itself, made fit. */
  readonly selfNamed: boolean
  /** What it calls itself: its name and its title, whatever its version. */
  readonly says: { readonly name?: string | undefined; readonly title?: string | undefined }
}

const words = {
  title: "title",
  description: "description",
  inputSchema: "parameters",
  outputSchema: "output",
  annotations: "hints"
}

type Part = keyof typeof words

const parts = Object.keys(words) as ReadonlyArray<Part> // the keys of the object above

const valueOf = (tool: McpSchema.Tool, part: Part): unknown => {
  const value = tool[part]
  // Whatever a client decodes hints to, they are a plain object.
  return value === undefined ? null : typeof value === "object" ? { ...value } : value
}

/** The definition as one text; fails, with a sentence that says why, where it has no canonical form. */
export const make = ({ name, says }: Server, tool: McpSchema.Tool): Result.Result<string, string> =>
  // Not the server's version: one that is fixed is still that server, if its tools are what they were.
  Canonical.canonicalize([
    [name, says.name ?? null, says.title ?? null, tool.name],
    ...parts.map((part) => valueOf(tool, part))
  ])

/** The parts of a definition that differ, in words. What has no canonical form is never the same. */
export const changes = (before: McpSchema.Tool, after: McpSchema.Tool): ReadonlyArray<string> =>
  parts.filter((part) => {
    const [was, is] = [before, after].map((tool) => Result.getOrUndefined(Canonical.canonicalize(valueOf(tool, part))))
    return was === undefined || was !== is
  }).map((part) => words[part])

/** How a server is spoken of: by the program's name for it, else by its own word, in quotes. */
export const spoken = ({ name, says, selfNamed }: Server): string =>
  selfNamed ? `an MCP server that calls itself ${Text.quote(says.name ?? name)}` : `the MCP server ${name}`

/** With what it calls itself, for a person who is to know it. */
export const introduced = (server: Server): string => {
  const { name, says, selfNamed } = server
  return selfNamed || says.name === undefined || says.name === name
    ? spoken(server)
    : `${spoken(server)}, which calls itself ${Text.quote(says.name)}`
}
