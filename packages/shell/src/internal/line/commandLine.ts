/**
 * A line is what two readers agree on: one that knows the whole shell, and one that knows only its plain part.
 */
import { lastRead } from "./lastRead.ts"
import * as Parsed from "./parsed.ts"
import type { Piece } from "./piece.ts"
import * as Plain from "./plain.ts"

const agreed = (
  source: string,
  plain: ReadonlyArray<Piece> | undefined
): ReadonlyArray<Piece> | undefined => {
  if (plain === undefined) return undefined
  const parsed = Parsed.read(source)
  return parsed !== undefined && spelling(parsed) === spelling(plain) ? plain : undefined
}

const spelling = (pieces: ReadonlyArray<Piece>): string =>
  JSON.stringify(pieces.map(({ operator, redirects, words }) => [
    operator,
    words.map((word) => word.replaceAll(Plain.star, "*")),
    redirects
  ]))

/** The commands of a line if it is nothing but plain commands; `undefined` when in doubt. */
export const read = lastRead((source) => agreed(source, Plain.read(source)))

/** The same, where a `*` without quotes is {@link Plain.star} in their words. */
export const readWithWildcards = lastRead((source) => agreed(source, Plain.read(source, { wildcards: true })))

/** The words of a pattern, where `*` without quotes is {@link Plain.star}; `undefined` if it is not one plain command. */
export const readPattern = (source: string): ReadonlyArray<string> | undefined => {
  const pieces = readWithWildcards(source)
  return pieces?.length === 1 && pieces[0]!.redirects.length === 0 ? pieces[0]!.words : undefined
}
