/**
 * Names of tools as a configuration writes them, and words that were meant instead.
 */

import * as Text from "../text.ts"

/** Why a text cannot name a tool, in a sentence. */
export const problemOfName = (name: string): string | undefined => {
  if (name.trim() === "") return "A tool has a name."
  if (name !== name.trim()) return "The name begins or ends with a space."
  if (name.length > maxLength) return `The name is longer than ${maxLength} characters.`
  const wildcard = /[?[\]{}]/.exec(name)?.[0]
  if (wildcard !== undefined) return `"${wildcard}" is not allowed in a name: only "*" is a wildcard.`
  return lookAlikeOf(name)
}

/**
 * Characters that a person reads as others, so that the name on the screen is not the name of the tool: invisible ones,
 * those that NFKC makes others of, and a letter of another alphabet among Latin ones.
 */
const lookAlikeOf = (name: string): string | undefined => {
  for (const character of name) {
    if (Text.isUnsafe(character)) return `${codeOf(character)} in the name cannot be seen. Remove it.`
    const compatible = character.normalize("NFKC")
    if (compatible !== character) return `${codeOf(character)} in the name only looks like "${compatible}". Write that.`
  }
  if (name !== name.normalize("NFKC")) {
    return "The name has letters whose accents are separate characters (NFD). Write it in NFC."
  }
  if (!/\p{Script=Latin}/u.test(name)) return undefined
  const other = /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}]/u.exec(
    name
  )?.[0]
  return other === undefined
    ? undefined
    : `"${other}" (${codeOf(other)}) in the name is not a Latin letter, although letters beside it are.`
}

const codeOf = (character: string): string =>
  `U+${character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}`

const maxLength = 256

export const isGlob = (name: string): boolean => name.includes("*")

/** How long a glob is: its characters other than `*`, as UTF-16 units. */
export const lengthOf = (glob: string): number => glob.replaceAll("*", "").length

/** Whether a name or glob stands for a tool. `*` is any characters, or none, dots included. Linear in the name. */
export const matches = (pattern: string, name: string): boolean => {
  if (!isGlob(pattern)) return pattern === name
  const parts = pattern.split("*")
  const first = parts[0]!
  const last = parts[parts.length - 1]!
  if (name.length < first.length + last.length || !name.startsWith(first) || !name.endsWith(last)) return false
  let position = first.length
  const end = name.length - last.length
  for (const part of parts.slice(1, -1)) {
    const found = name.indexOf(part, position)
    if (found < 0 || found + part.length > end) return false
    position = found + part.length
  }
  return true
}

/** The candidate that was probably meant: at most a third of the word is wrong. Ties go to the first. */
export const nearest = (word: string, candidates: Iterable<string>): string | undefined => {
  let best: string | undefined
  let least = Infinity
  const folded = fold(word)
  if (folded.length > 64) return undefined
  for (const candidate of candidates) {
    if (candidate.length > 64) continue
    const distance = distanceOf(folded, fold(candidate))
    if (distance < least && distance <= Math.max(1, Math.floor(Math.min(candidate.length, word.length) / 3))) {
      best = candidate
      least = distance
    }
  }
  return best
}

const fold = (word: string): string => word.toLowerCase().replaceAll(/[\s_-]/g, "")

/** How many letters have to be changed, added, removed or swapped with the next. */
const distanceOf = (left: string, right: string): number => {
  const rows: Array<Array<number>> = [Array.from({ length: right.length + 1 }, (_, index) => index)]
  for (let i = 1; i <= left.length; i++) {
    const row = [i]
    for (let j = 1; j <= right.length; j++) {
      const same = left[i - 1] === right[j - 1]
      let least = Math.min(rows[i - 1]![j]! + 1, row[j - 1]! + 1, rows[i - 1]![j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && left[i - 1] === right[j - 2] && left[i - 2] === right[j - 1]) {
        least = Math.min(least, rows[i - 2]![j - 2]! + 1)
      }
      row.push(least)
    }
    rows.push(row)
  }
  return rows[left.length]![right.length]!
}
