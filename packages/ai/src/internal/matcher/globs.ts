/**
 * Globs of rules that allow: which paths they surely match, and which globs can match none.
 */
import * as Glob from "effect/Glob"
import * as Braces from "./braces.ts"
import * as Paths from "./paths.ts"
import type * as Reading from "./reading.ts"

/** Why a glob can never match a plain path, in a sentence. */
export const problemOf = (glob: string): string | undefined => {
  if (glob === "") return "it is empty."
  if (glob.length > Paths.maxLength) return `it is longer than ${Paths.maxLength.toLocaleString("en")} characters.`
  if (/^[~!]/.test(glob)) return "`~` and `!` are not allowed at the start."
  if (/\\(?:[^\W_]|[./]|$)/.test(glob)) {
    return "folders are separated by `/`, and `\\` is allowed only before a wildcard."
  }
  const segments = Paths.segmentsOf(glob)
  if (segments.some((segment) => segment === "")) return "it has an empty segment."
  if (segments.some((segment) => segment === "." || segment === "..")) return "`.` and `..` match no path."
  if (segments.some((segment) => segment.includes("**") && segment !== "**")) return "`**` must be a whole segment."
  if (Braces.isTooMany(glob)) return Braces.tooMany
  const written = Braces.expand(glob) ?? [glob.replaceAll(/[{},]/g, "x")]
  if (!written.some((one) => Paths.isPlain(exampleOf(one)))) {
    return "it contains a character that is refused in every path, such as `$`, `:`, a lone brace or an invisible character."
  }
  if (!written.some((one) => Paths.countGit(one) !== Infinity)) {
    return "it spells `.git` in a way that only some systems understand."
  }
  return undefined
}

/** A path that a glob without braces matches, as far as what it writes is concerned. */
const exampleOf = (glob: string): string =>
  glob.replaceAll(/\[[!^]?\]?(?:\[:[a-z]+:\]|[^\]/])*\]|[*?]+/g, "x").replaceAll(/\\([[\]])|\\(.)/g, "x$2")

/** Whether one of the globs surely matches a path. */
export const match = (globs: ReadonlyArray<string>): (path: Reading.Reading) => boolean => {
  const compiled = globs.map(compile)
  const ofGit = globs.flatMap((glob) =>
    (Braces.expand(glob) ?? []).flatMap((written) => {
      const count = Paths.countGit(written)
      return count === 0 ? [] : [{ ...compile(written), count }]
    })
  )
  return ({ git, path, plain }) =>
    plain && (git === 0
      ? compiled.some((glob) => matches(glob, path))
      // A glob that writes it as often as the path has it leaves none to a wildcard.
      : ofGit.some((glob) => glob.count === git && matches(glob, path)))
}

interface Compiled {
  readonly glob: Glob.Glob
  /** How every path begins that it matches: most paths need no more to be told from it. */
  readonly prefix: string
}

const matches = ({ glob, prefix }: Compiled, path: string): boolean => path.startsWith(prefix) && Glob.match(glob, path)

const compile = (glob: string): Compiled => ({
  // `src/**` also matches `src`: what is below it needs a last segment.
  glob: Glob.make(glob.endsWith("**") ? `${glob}/*` : glob),
  prefix: /^[^*?[{\\]*/.exec(glob)![0]
})
