// @ts-check
/**
 * Text of a model, a tool or a file, as it may be shown: what is invisible, or turns the text around, is written as an
 * escape, as `Approval.escapeText` of @assent/ai does it.
 */

const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u

/** @param {string} character */
const written = (character) => {
  const code = character.codePointAt(0) ?? 0
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`
}

/** @param {string} character @param {boolean} multiline */
const isUnsafe = (character, multiline) =>
  unsafe.test(character) && !(multiline && (character === "\n" || character === "\t"))

/**
 * The text in pieces; in those that are `isEscape` stands what was written for a character.
 *
 * @param {unknown} text
 * @param {{ readonly multiline?: boolean | undefined }} [options]
 * @returns {ReadonlyArray<{ readonly text: string, readonly isEscape: boolean }>}
 */
export const piecesOf = (text, { multiline = false } = {}) => {
  const all = String(text)
  if (!unsafe.test(all)) return [{ text: all, isEscape: false }]
  /** @type {Array<{ text: string, isEscape: boolean }>} */
  const pieces = []
  for (const character of all) {
    const isEscape = isUnsafe(character, multiline)
    const shown = isEscape ? written(character) : character
    const last = pieces.at(-1)
    if (last !== undefined && last.isEscape === isEscape) last.text += shown
    else pieces.push({ text: shown, isEscape })
  }
  return pieces
}

/**
 * The same as a text, for names and labels.
 *
 * @param {unknown} text
 * @param {{ readonly multiline?: boolean | undefined, readonly maxLength?: number | undefined }} [options]
 */
export const escape = (text, { maxLength = Infinity, multiline } = {}) => {
  const shown = piecesOf(text, { multiline }).map(({ text }) => text).join("")
  if (shown.length <= maxLength) return shown
  return `${shown.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…`
}

/** Whether something in it would not be seen. @param {unknown} value */
export const hasInvisible = (value) =>
  typeof value === "string" && piecesOf(value, { multiline: true }).some(({ isEscape }) => isEscape)
