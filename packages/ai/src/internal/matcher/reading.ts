/**
 * A path with what matchers ask about it, each found out once.
 */
import * as Paths from "./paths.ts"

export interface Reading {
  readonly path: string
  /** Whether it means the same to everyone. */
  readonly plain: boolean
  readonly absolute: boolean
  /** This and what follows is of plain paths only. */
  readonly ascii: boolean
  /** Whether a tool may take a name of it for a pattern. */
  readonly bracketed: boolean
  /** How often `.git` stands in it. */
  readonly git: number
  /** Its names in the letters of every folding, where these differ. */
  readonly folded: ReadonlyArray<ReadonlyArray<string>>
}

let last: Reading | undefined

/** The last one is kept: the rules of a configuration ask for the same path one after the other. */
export const read = (path: string): Reading => {
  if (last?.path === path) return last
  const git = Paths.isPlain(path) ? Paths.countGit(path) : Infinity
  const plain = git !== Infinity
  let folded: ReadonlyArray<ReadonlyArray<string>> | undefined
  const reading: Reading = {
    path,
    plain,
    absolute: path.startsWith("/"),
    ascii: plain && isAscii(path),
    bracketed: plain && path.includes("["),
    git,
    get folded() {
      return folded ??= fold(path).map(Paths.segmentsOf)
    }
  }
  // A longer one is not plain, and nothing more is asked about it.
  if (path.length <= Paths.maxLength) last = reading
  return reading
}

const lower = (text: string): string => text.toLowerCase().replaceAll("\u03c2", "\u03c3")

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text)

/** Without case, and then also with characters made compatible; ASCII has one folding. */
export const fold = (text: string): readonly [string, ...ReadonlyArray<string>] =>
  isAscii(text) ? [text.toLowerCase()] : [lower(text), lower(text.normalize("NFKC").toUpperCase())]
