/**
 * Text from models, tools and files, made safe to show (law L15): escaped as everywhere in Assent, and whole. Marks are
 * bounded too, because a heap of them paints over the lines around it, and one without a letter over what stands before.
 */
import * as Approval from "@assent/ai/Approval"

const maxMarks = 4

const escapeAll = (characters: string): string =>
  Array.from(characters, (character) => {
    const code = character.codePointAt(0)!
    return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`
  }).join("")

/** The text in ASCII, for a terminal of another encoding. */
export const ascii = (text: string): string => text.replace(/[^\0-\x7e]+/gu, escapeAll)

// What nobody can see, or tell from a blank, or what each terminal draws as it likes: blanks but the one of ASCII, signs
// that are empty, private and unassigned characters.
const odd = /(?! )\p{Zs}|[\p{Co}\p{Cn}\u{1d159}\u{13441}\u{13442}]/gu

const escapeOdd = (text: string): string => text.replace(odd, escapeAll)

const boundMarks = (text: string): string =>
  /\p{M}/u.test(text)
    ? text.replace(/(^|\P{M})(\p{M}+)/gu, (_, base: string, marks: string) => {
      const kept = base === "" || base === "\n" || base === "\t" ? 0 : maxMarks
      const all = Array.from(marks)
      return base + all.slice(0, kept).join("") + escapeAll(all.slice(kept).join(""))
    })
    : text

/** The text in one line, whole. */
export const line = (text: string): string => boundMarks(escapeOdd(Approval.escapeText(text, { maxLength: Infinity })))

/** What is wrong, in one line. */
export const problem = (text: string): string => line(text.replace(/\s*\n\s*/g, " "))

/** The text with its line breaks and tabs, whole. */
export const lines = (text: string): string =>
  boundMarks(escapeOdd(Approval.escapeText(text, { maxLength: Infinity, multiline: true })))

const tabStop = 4

/** A line with its tabs to be seen. */
export const tabs = (text: string): string => {
  if (!text.includes("\t")) return text
  let shown = ""
  let column = 0
  for (const character of text) {
    const next = character === "\t" ? `→${" ".repeat(tabStop - 1 - column % tabStop)}` : character
    shown += next
    column += Array.from(next).length
  }
  return shown
}
