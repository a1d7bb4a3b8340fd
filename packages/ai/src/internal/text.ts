/**
 * Text from models, tools and files, made safe to show to a person (law L15).
 *
 * Escaped: controls, format characters (bidirectional overrides, zero-width and tag characters among them), line and
 * paragraph separators, characters that are invisible by default, and lone surrogates. Line feed and tab survive only
 * where the caller asks for several lines.
 */

const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u
const unsafeInLines = /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]/u

/** Whether a person cannot see a character, or sees others moved by it. */
export const isUnsafe = (character: string): boolean => unsafe.test(character)

const escapeCharacter = (character: string): string => {
  const code = character.codePointAt(0)!
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`
}

const more = (count: number): string => `… (${count} more characters)`

/** Keeps at most `maxLength` UTF-16 units, cut at a whole character, and says how much is missing. */
export const truncate = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text
  const last = text.charCodeAt(maxLength - 1)
  const end = last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength
  return `${text.slice(0, end)}${more(text.length - end)}`
}

/** Escapes, and keeps at most `maxLength` UTF-16 units of what is shown, with the cut said. */
export const escape = (text: string, options: {
  readonly maxLength: number
  readonly multiline?: boolean | undefined
}): string => {
  // Most texts are what is shown: put together anew, character by character, they would take many times the memory.
  if (text.length <= options.maxLength && !(options.multiline === true ? unsafeInLines : unsafe).test(text)) return text
  let shown = ""
  let read = 0
  for (const character of text) {
    const stays = !unsafe.test(character) || (options.multiline === true && (character === "\n" || character === "\t"))
    const next = stays ? character : escapeCharacter(character)
    if (shown.length + next.length > options.maxLength) return `${shown}${more(text.length - read)}`
    shown += next
    read += character.length
  }
  return shown
}

/** A text before another sentence: with the full stop that it lacks. */
export const sentence = (text: string): string => /[.!?…]["”)]?\s*$/u.test(text) ? text.trimEnd() : `${text.trimEnd()}.`

// What ends a quote, or looks to a person as if it did.
const quotationMarks = /[\\"“”„‟″‶ʺ˝״＂〝〞〟❝❞\u{1f676}-\u{1f678}]/gu

/**
 * Somebody else's words on one line, in quotes that they cannot end, nor seem to: what they say is never taken for what is
 * said of them.
 */
export const quote = (text: string, maxLength = 100): string =>
  `"${escape(text.replace(quotationMarks, "\\$&"), { maxLength })}"`

/** A parameter as it stands in a list of them, not escaped. A text stands in quotes, so that it cannot pass for more of them. */
export const parameter = (name: string, value: unknown): string =>
  `${/^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name) ? name : JSON.stringify(name)}=${parameterValue(value)}`

/** The same without its name. */
export const parameterValue = (value: unknown): string =>
  typeof value === "string" ? `'${value.replace(/[\\']/g, "\\$&")}'` : String(JSON.stringify(value))

/** All of them, in one line; nothing where there are none. */
export const parameters = (params: unknown): string =>
  typeof params === "object" && params !== null && !Array.isArray(params)
    ? Object.entries(params).map(([name, value]) => parameter(name, value)).join(", ")
    : params === undefined || params === null
    ? ""
    : parameterValue(params)
