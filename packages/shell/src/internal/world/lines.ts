/**
 * What patterns cover of a whole line.
 */
import type { Piece } from "../line/piece.ts"
import { star } from "../line/plain.ts"
import * as Check from "./check.ts"
import * as Kinds from "./kinds.ts"
import * as Pattern from "./pattern.ts"
import * as Refusal from "./refusal.ts"

/** A command of a line, and what became of it. */
export interface Found {
  readonly piece: Piece
  readonly verdict: Pattern.Verdict
}

/** Without a `/` at its end; `undefined` if it is none that tells where it lies. */
export const folderOf = (folder: string | undefined): string | undefined =>
  folder === undefined || !/^\/[^/]/.test(folder) ? undefined : folder.replace(/\/+$/, "")

/** Looks at each command of a line. */
export const look = (
  patterns: ReadonlyArray<Pattern.Pattern>,
  pieces: ReadonlyArray<Piece>,
  folder: string | undefined
): ReadonlyArray<Found> => {
  if (patterns.some((pattern) => pattern._tag === "Line" && isSameLine(pattern.pieces, pieces))) {
    return pieces.map((piece) => ({ piece, verdict: covered }))
  }
  const free = pieces.map((piece, index) => isFree(piece, pieces[index + 1], folder))
  // What is harmless goes along with something that a pattern speaks of.
  const goesAlong = free.some((why) => why === undefined)
  let moved = false
  return pieces.map((piece, index) => {
    const why = free[index]
    const isCovered = why !== undefined && (goesAlong || why !== "is harmless")
    const verdict = isCovered ? covered : verdictOf(patterns, piece, moved, folder)
    const isTrusted = !Refusal.isRefusal(verdict) && verdict.trusted
    if (piece.words[0] === "cd" && why !== "stays" && !isTrusted) moved = true
    return { piece, verdict }
  })
}

/** Whether nothing of it is left uncovered; the same as {@link look}, which says more. */
export const covers = (
  patterns: ReadonlyArray<Pattern.Pattern>,
  pieces: ReadonlyArray<Piece>,
  folder: string | undefined
): boolean => look(patterns, pieces, folder).every(({ verdict }) => !Refusal.isRefusal(verdict))

const covered: Pattern.Covered = { checked: undefined, trusted: false }

/** What is made in there is a part of the repository, and the words of what makes it do not tell. */
const repository = /(?:^|\/)\.git(?:\/|$)/i

/** What needs no pattern: it is harmless, passes on what it gets through a pipe, or goes to a folder below. */
export const isFree = (
  { operator, words }: Piece,
  next: Piece | undefined,
  folder: string | undefined
): "is harmless" | "filters" | "moves" | "stays" | undefined => {
  if (words[0] === "cd") {
    if (words.length !== 2 || next?.operator !== "&&" || operator === "|" || words[1]!.includes(star)) return undefined
    if (words[1] === folder) return "stays"
    return words[1]!.startsWith("-") || repository.test(words[1]!) ||
        Kinds.problemOf("path", words[1]!, { written: 0, folder }) !== undefined
      ? undefined
      : "moves"
  }
  if (operator === "|") return isFilter(words) ? "filters" : undefined
  const isFed = next?.operator === "|" && !isFilter(next.words)
  return !isFed && isHarmless(words) ? "is harmless" : undefined
}

const isFilter = (words: ReadonlyArray<string>): boolean => {
  const checked = Check.check(words)
  return !Refusal.isRefusal(checked) && checked.filters
}

const isHarmless = (words: ReadonlyArray<string>): boolean => {
  const checked = Check.check(words)
  return !Refusal.isRefusal(checked) && checked.command.harmless === true
}

const verdictOf = (
  patterns: ReadonlyArray<Pattern.Pattern>,
  piece: Piece,
  moved: boolean,
  folder: string | undefined
): Pattern.Verdict => {
  const name = piece.words[0]!
  let refusal: Refusal.Refusal | undefined
  for (const pattern of patterns) {
    const verdict = Pattern.covers(pattern, piece, folder)
    if (verdict === undefined) continue
    if (!Refusal.isRefusal(verdict)) {
      if (!moved || (verdict.checked !== undefined && verdict.checked.command.heeds === undefined)) return verdict
      refusal = Refusal.make(
        "settings",
        name,
        "after `cd`, only programs that use no settings of the folder are covered"
      )
    } else if (refusal === undefined || pattern._tag !== "Any") {
      refusal = verdict
    }
  }
  if (name === "cd") {
    const why = repository.test(piece.words[1] ?? "")
      ? "`cd` into `.git` is not covered"
      : "`cd` is covered only as `cd subfolder && …`"
    return Refusal.make("pattern", name, why)
  }
  return refusal ?? Refusal.make("pattern", name, "no pattern covers it")
}

const isSameLine = (one: ReadonlyArray<Piece>, other: ReadonlyArray<Piece>): boolean =>
  one.length === other.length && one.every(({ operator, words }, index) => {
    const that = other[index]!
    return operator === that.operator && words.length === that.words.length &&
      words.every((word, at) => word === that.words[at])
  })
