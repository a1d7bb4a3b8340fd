/**
 * Patterns of paths as `.gitignore` has them, as globs.
 */

/** Globs, or why there are none. */
export type Globs = ReadonlyArray<string> | string

/**
 * A path pattern of Claude Code: `//` begins at the root, `~/` at home, `/` and `./` in the folder of the project; a name
 * alone means a file, or a folder, at any depth. What allows must not mean more, what forbids must not mean less.
 */
export const fromGitignore = (pattern: string, options: {
  readonly forbids: boolean
  readonly home?: string | undefined
}): Globs => {
  const { forbids, home } = options
  const root = pattern.startsWith("//") ? "/" : /^~(?:\/|$)/.test(pattern) ? home?.replace(/\/*$/, "/") : ""
  if (root === undefined) return "It begins in a home folder, and the option `home` is missing."
  const anchored = root !== "" || pattern.startsWith("/")
  const bare = pattern.replace(root === "/" ? /^\/\// : root !== "" ? /^~\/?/ : /^(?:\.?\/)+/, "")
  const text = forbids ? bare.replaceAll(/\\.|[{}]/g, "?") : bare
  if (/[!\\{}]/.test(text)) return "`!`, `\\`, `{` and `}` mean something else here."
  const folder = text.endsWith("/")
  const segments = (folder ? text.slice(0, -1) : text).split("/")
    // Stars beside other characters are one star.
    .map((segment) => segment === "**" ? segment : segment.replaceAll(/\*{2,}/g, "*"))
  if (segments.some((segment) => segment === "" || segment === "." || segment === "..")) {
    return "It has an empty segment, `.` or `..`."
  }
  const here = root + segments.join("/")
  const anywhere = `**/${here}`
  const deep = segments.at(-1) === "**"
  if (!forbids) {
    if (anchored || segments.length > 1) return [folder ? `${here}/**` : here]
    return [folder ? `${here}/**` : here === "**" ? here : anywhere]
  }
  // A folder's name forbids what is below it, at any depth where it is the only name.
  const wherever = !anchored && segments.filter((segment) => segment !== "**").length < 2 && segments[0] !== "**"
    ? [here, anywhere]
    : [here]
  return deep ? wherever : wherever.flatMap((glob) => [glob, `${glob}/**`])
}
