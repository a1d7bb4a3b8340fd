/**
 * Globs of rules that forbid: which paths they may match, for all that text can tell.
 *
 * Some systems do not tell cases or compatible characters apart, a relative path may be the same file as an absolute one,
 * and one that is not plain may be any. What a glob says with brackets, and what is hard to read in it, stands for more
 * than it would for a rule that allows.
 */
import * as Braces from "./braces.ts"
import * as Paths from "./paths.ts"
import * as Reading from "./reading.ts"

/** A part of a segment's glob: these very characters, one character, or any number of them. */
type Token = string | typeof one | typeof any

const one = Symbol("one")
const any = Symbol("any")

/** A segment: its name, what its wildcards leave open, or `**`. */
type Segment = string | ReadonlyArray<Token> | typeof rest

const rest = Symbol("rest")

/** One way to read a glob, in the letters of one folding. */
export interface Loose {
  /** `undefined` if that cannot be told. */
  readonly absolute: boolean | undefined
  readonly fold: number
  readonly segments: ReadonlyArray<Segment>
  /** The names that it begins with. */
  readonly prefix: ReadonlyArray<string>
  /** What its last name ends in, as far as that is written. */
  readonly suffix: string
}

// =============================================================================
// Making
// =============================================================================

export const make = (glob: string): ReadonlyArray<Loose> =>
  (Braces.expand(glob) ?? [glob]).flatMap((written) => Reading.fold(written).map((text, index) => ofText(text, index)))

const ofText = (glob: string, fold: number): Loose => {
  const segments: Array<Segment> = []
  for (const text of Paths.segmentsOf(glob)) {
    const segment = text === "**" ? rest : tokensOf(text)
    segments.push(segment ?? rest)
    if (segment === undefined) break
  }
  const open = segments.findIndex((segment) => typeof segment !== "string")
  return {
    absolute: segments[0] === rest && !/^\/?\*\*/.test(glob) ? undefined : glob.startsWith("/"),
    fold,
    segments,
    prefix: segments.slice(0, open < 0 ? undefined : open).map(String),
    suffix: suffixOf(segments[segments.length - 1]!)
  }
}

const suffixOf = (segment: Segment): string =>
  typeof segment === "string"
    ? segment
    : segment === rest
    ? ""
    : segment.slice(segment.findLastIndex((token) => typeof token !== "string") + 1).join("")

/** `undefined` if it is hard to say what it means: a brace that is left, a bracket in a bracket, what no path has. */
const tokensOf = (text: string): string | ReadonlyArray<Token> | undefined => {
  if (/[@+!?*]\(/.test(text)) return undefined
  const tokens: Array<Token> = []
  for (const part of text.match(/\[[!^]?\]?[^\][\\]*\]|\\[[\]!,^-]|[^]/gu) ?? []) {
    if (part === "*") tokens.push(any)
    // Which characters a bracket stands for depends on the case, and on who reads it.
    else if (part === "?" || (part.length > 1 && part.startsWith("["))) tokens.push(one)
    else if (part.length === 2 && part.startsWith("\\")) tokens.push(part[1]!)
    else if (/[[\\{}|$`;&^#:"<>~]/.test(part)) return undefined
    else tokens.push(part)
  }
  return tokens.every((token) => typeof token === "string") ? tokens.join("") : tokens
}

// =============================================================================
// Matching
// =============================================================================

/** Whether a path may be one that the glob matches. */
export const mayMatch = (loose: Loose, path: Reading.Reading): boolean =>
  !path.plain || loose.absolute !== path.absolute ||
  // What has one folding has it for all; an ASCII glob has one, whose wildcards may stand for what has several.
  (loose.fold === 0
    ? path.folded.some((names) => mayMatchNames(loose, names, path))
    : mayMatchNames(loose, path.folded[path.folded.length - 1]!, path))

const mayMatchNames = (
  { segments }: Loose,
  names: ReadonlyArray<string>,
  { ascii, bracketed }: Reading.Reading
): boolean =>
  sequence(
    segments,
    names,
    (segment) => segment === rest,
    (segment, name) =>
      typeof segment === "string"
        ? segment === name || (bracketed && name.includes("[") && mayBe([...segment], name, ascii))
        : segment !== rest && mayBe(segment, name, ascii)
  )

/** Whether a name matches, as it is written or as a pattern of a tool that expands it. */
const mayBe = (tokens: ReadonlyArray<Token>, name: string, ascii: boolean): boolean =>
  tokensMatch(tokens, [...name], ascii) || (name.includes("[") && tokensMatch(tokens, elementsOf(name), ascii))

/** A character, or those that a bracket stands for; `undefined` for any. */
type Element = string | ReadonlySet<string> | undefined

const elementsOf = (name: string): ReadonlyArray<Element> =>
  name.split(Paths.brackets).flatMap((part, index): ReadonlyArray<Element> =>
    index % 2 === 0 ? [...part] : [part.includes("-") ? undefined : new Set(part)]
  )

const tokensMatch = (tokens: ReadonlyArray<Token>, name: ReadonlyArray<Element>, ascii: boolean): boolean =>
  sequence(
    tokens,
    name,
    // A letter may be several in another folding.
    (token) => token === any || (token === one && !ascii),
    (token, element) =>
      token === one || token === element || element === undefined ||
      (typeof element === "object" && typeof token === "string" && element.has(token))
  )

/** Only the last part that stands for any number has to be taken back: parts × elements, and no more. */
const sequence = <Part, Element>(
  parts: ReadonlyArray<Part>,
  elements: ReadonlyArray<Element>,
  isAny: (part: Part) => boolean,
  matches: (part: Part, element: Element) => boolean
): boolean => {
  let part = 0
  let element = 0
  let star = -1
  let resume = 0
  while (element < elements.length) {
    if (part < parts.length && isAny(parts[part]!)) {
      star = part++
      resume = element
    } else if (part < parts.length && matches(parts[part]!, elements[element]!)) {
      part++
      element++
    } else if (star >= 0) {
      part = star + 1
      element = ++resume
    } else {
      return false
    }
  }
  while (part < parts.length && isAny(parts[part]!)) part++
  return part === parts.length
}
