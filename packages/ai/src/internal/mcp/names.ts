/**
 * Names of MCP servers and their tools, as a model and a configuration know them: `server__tool`.
 *
 * A name that a program gives a server has no `__` in it and no `_` at its ends, so the first `__` always stands between the
 * two. One that a server gives itself has one `_` before it, so that it never is one of the program's: a rule for
 * `files__*` is about the server that the program calls so, and about no other.
 */
import * as Effect from "effect/Effect"
import * as Cryptography from "../seal/cryptography.ts"

const maxServerLength = 32

/** What model providers allow. */
const maxLength = 64

const separator = "__"

/** Before a name that a server gives itself. */
const ownMark = "_"

export const isServerName = (name: string): boolean =>
  name.length <= maxServerLength && /^[a-zA-Z0-9-]+(_[a-zA-Z0-9-]+)*$/.test(name)

/** What a server calls itself, as a name that can stand before those of its tools; `undefined` if nothing is left. */
export const toServerName = (name: string): string | undefined => {
  const made = name.replace(/[^a-zA-Z0-9_-]+/g, "-").replace(/_+/g, "_").replace(/^_/, "")
    .slice(0, maxServerLength - 1).replace(/_$/, "")
  return /[a-zA-Z0-9]/.test(made) ? `${ownMark}${made}` : undefined
}

/**
 * The name of a tool for models. One that does not fit is cut, with a digest of the whole at its end: it is the same each
 * time, and another for another tool.
 */
export const qualified = (server: string, tool: string): Effect.Effect<string> => {
  const name = `${server}${separator}${tool}`
  if (name.length <= maxLength && /^[a-zA-Z0-9_-]+$/.test(tool)) return Effect.succeed(name)
  return Effect.map(Cryptography.sha256(tool), (digest) => {
    const end = `_${digest.slice(0, 8)}`
    const legible = tool.slice(0, maxLength).replace(/[^a-zA-Z0-9_-]/g, "_")
    return `${server}${separator}${legible}`.slice(0, maxLength - end.length) + end
  })
}
