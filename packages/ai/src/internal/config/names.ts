/**
 * Names of tools as a configuration writes them, and words that were meant instead.
 */

/** Why a text cannot name a tool, in a sentence. */
export const problemOfName = (name: string): string | undefined => {
  if (name.trim() === "") return "A tool has a name."
  if (name !== name.trim()) return "The name begins or ends with a space."
  if (name.length > maxLength) return `The name is longer than ${maxLength} characters.`
  const wildcard = /[?[\]{}]/.exec(name)?.[0]
  return wildcard === undefined ? undefined : `"${wildcard}" is not allowed in a name: only "*" is a wildcard.`
}

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
