/**
 * Paths as text: which of them every system and tool reads alike.
 *
 * Nothing is normalized. A path that would have to be is not plain, since whoever opens it may normalize it otherwise.
 * All tests here are linear in the length of the text.
 */
import * as Text from "../text.ts"

/** The longest path Linux opens has this many bytes; a text has no more UTF-16 units than bytes. */
export const maxLength = 4_096

/**
 * What some shell, tool or file system reads as more than a name: escapes, drives and streams, wildcards, braces,
 * variables and commands, what ends a word or a URL, quotes in pairs, and what code pages take for a slash.
 */
const special =
  /[\\:*?"<>|{}~$`;&^#\u00a5\u20a9\u2044\u2215\u2216\u29f5\u29f8\u29f9]|%[0-9A-F]{2}|%u[0-9A-F]{4}|%[^%]+%|![^!]+!|'[^']*'|[@+!]\(/i

/** At the start of a path, an option, a file of arguments, or a program. */
const leading = /^[-@=]/

/** Windows opens a device for these, with whatever extension. */
const device =
  /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$|clock\$) *(?:\.|$)/i

/**
 * Brackets as programs name their routes: `[id]`, `[...slug]`, `[[...slug]]`. For whoever expands them they stand for one
 * letter, digit, `-` or `_`, and never for the dot of a hidden name: behind one with dots comes another dot, or nothing.
 */
export const brackets = /\[(\[?(?:\.{3})?[A-Za-z0-9_]+(?:-[A-Za-z0-9_]+)*)\]/

const bracketed = new RegExp(`${brackets.source}\\]?`, "g")

const maybeHidden = /^\[\[?\.{3}[^\]]*\]+[^\].]/

const hasPlainBrackets = (segment: string): boolean =>
  !/[[\]]/.test(segment) ||
  (!segment.startsWith(".") && !maybeHidden.test(segment) && !/[[\]]/.test(segment.replaceAll(bracketed, "")))

/** `.` and `..` end in a dot. Windows forgets dots and spaces at the end of a name. */
const isPlainSegment = (segment: string): boolean =>
  segment !== "" && !/^ |[. ]$/.test(segment) && !device.test(segment) && hasPlainBrackets(segment)

/** The segments after the root, if there is one. */
export const segmentsOf = (path: string): ReadonlyArray<string> =>
  (path.startsWith("/") ? path.slice(1) : path).split("/")

/** Whether a path means the same to everyone, also to those who make its characters compatible (NFKC). */
export const isPlain = (path: string): boolean => {
  if (path.length > maxLength || !isPlainForm(path)) return false
  if (isPrintable(path)) return true
  const compatible = path.normalize("NFKC")
  if (compatible === path) return true
  if (!isPlainForm(compatible)) return false
  const segments = segmentsOf(path)
  const others = segmentsOf(compatible)
  return others.length === segments.length && compatible.startsWith("/") === path.startsWith("/") &&
    others.every((other, index) => other.startsWith(".") === segments[index]!.startsWith("."))
}

const isPlainForm = (path: string): boolean =>
  !special.test(path) && !leading.test(path) && isPlainText(path) && segmentsOf(path).every(isPlainSegment)

const isPrintable = (text: string): boolean => /^[ -~]*$/.test(text)

/** NFC, and nothing that cannot be seen: some file systems take other forms for the same name, or ignore characters. */
const isPlainText = (text: string): boolean =>
  isPrintable(text) ||
  (text.normalize("NFC") === text && Text.escape(text, { maxLength: Infinity }) === text && !/[^\P{Zs} ]/u.test(text))

/** The paths on the way to a path, itself included: `a`, `a/b`, `a/b/c`. */
export const steps = (path: string): ReadonlyArray<string> => {
  const root = path.startsWith("/") ? "/" : ""
  const segments = segmentsOf(path)
  return segments.map((_, index) => root + segments.slice(0, index + 1).join("/"))
}

// =============================================================================
// Git
// =============================================================================

/** How often `.git` stands in a path, as a segment. `Infinity` if some system takes another name in it for that. */
export const countGit = (path: string): number => {
  // Every name that is taken for it begins with a dot, or is not plain.
  if (!path.includes(".")) return 0
  let count = 0
  for (const segment of segmentsOf(path)) {
    if (segment === ".git") count++
    else if (isLikeGit(segment)) return Infinity
  }
  return count
}

/** Whatever the case, and without marks: file systems have tables of their own of which letters are the same. */
const isLikeGit = (segment: string): boolean =>
  segment.startsWith(".") &&
  segment.normalize("NFKD").toUpperCase().toLowerCase().replaceAll(/\p{M}/gu, "") === ".git"
