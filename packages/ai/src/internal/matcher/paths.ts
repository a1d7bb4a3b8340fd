/**
 * Paths as text: which of them every system and tool reads alike.
 *
 * Nothing is normalized. A path that would have to be is not plain, since whoever opens it may normalize it otherwise.
 * All tests here are linear in the length of the text.
 */
import * as Glob from "effect/Glob"
import * as Text from "../text.ts"

/** The longest path Linux opens has this many bytes; a text has no more UTF-16 units than bytes. */
const maxLength = 4_096

/** What some shell, tool or file system reads as more than a name: escapes, drives and streams, wildcards, braces. */
const special = /[\\:*?"<>|{}~]|%[0-9A-Fa-f]{2}/

/** Windows opens a device for these, with whatever extension. */
const device =
  /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$|clock\$) *(?:\.|$)/i

/** `.` and `..` end in a dot. Windows forgets dots and spaces at the end of a name. */
const isPlainSegment = (segment: string): boolean =>
  segment !== "" && !/^ |[. ]$/.test(segment) && !device.test(segment)

/** The segments after the root, if there is one. */
const segmentsOf = (path: string): ReadonlyArray<string> => (path.startsWith("/") ? path.slice(1) : path).split("/")

/** Whether a path means the same to everyone, also to those who make its characters compatible (NFKC). */
export const isPlain = (path: string): boolean => {
  if (path.length > maxLength || !isPlainForm(path)) return false
  const compatible = path.normalize("NFKC")
  return compatible === path || (isPlainForm(compatible) && compatible.split("/").length === path.split("/").length)
}

const isPlainForm = (path: string): boolean =>
  !special.test(path) && isPlainText(path) && segmentsOf(path).every(isPlainSegment)

/** NFC, and nothing that cannot be seen: some file systems take other forms for the same name, or ignore characters. */
const isPlainText = (text: string): boolean =>
  text.normalize("NFC") === text && Text.escape(text, { maxLength: Infinity }) === text && !/[^\P{Zs} ]/u.test(text)

/** The paths on the way to a path, itself included: `a`, `a/b`, `a/b/c`. */
export const steps = (path: string): ReadonlyArray<string> => {
  const root = path.startsWith("/") ? "/" : ""
  const segments = segmentsOf(path)
  return segments.map((_, index) => root + segments.slice(0, index + 1).join("/"))
}

/** Why a glob can never match a plain path, in a sentence. */
export const problemOfGlob = (glob: string): string | undefined => {
  if (glob === "") return "it is empty."
  if (glob.length > maxLength) return `it is longer than ${maxLength} characters.`
  if (!isPlainText(glob)) return "it has invisible characters, or is not in the Unicode form NFC."
  if (/^[~!]/.test(glob)) return "`~` and `!` at the start mean nothing here."
  const segments = segmentsOf(glob)
  if (segments.some((segment) => segment === "")) return "it has an empty segment."
  if (segments.some((segment) => segment === "." || segment === "..")) return "`.` and `..` match no path."
  if (segments.some((segment) => segment.includes("**") && segment !== "**")) return "`**` must be a whole segment."
  return undefined
}

/**
 * Whether a path may be one that a glob matches, for all that text can tell: some systems do not tell cases or compatible
 * characters apart, a relative path may be the same file as an absolute one, and one that is not plain may be any.
 */
export const mayMatch = (globs: ReadonlyArray<string>): (path: string) => boolean => {
  const loose = globs.flatMap((glob) =>
    foldings.map((fold) => ({
      absolute: glob.startsWith("/"),
      fold,
      glob: Glob.make(fold(glob), { dot: true })
    }))
  )
  return (path) =>
    !isPlain(path) ||
    loose.some(({ absolute, fold, glob }) => absolute !== path.startsWith("/") || Glob.match(glob, fold(path)))
}

/** Some letters become several where they are folded, which a class of a glob has only as one. */
const foldings: ReadonlyArray<(text: string) => string> = [
  (text) => text.toLowerCase(),
  (text) => text.normalize("NFKC").toUpperCase().toLowerCase()
]
