/**
 * Text from models, tools and files, made safe to show to a person (law L15).
 *
 * Escaped: C0 and C1 controls, bidirectional overrides, zero-width and other invisible format characters, lone
 * surrogates, line and paragraph separators. Line feed and tab survive only where the caller asks for several lines.
 */

const unsafe =
  // oxlint-disable-next-line no-control-regex -- control characters are what this expression is for
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g

const escapeCharacter = (character: string): string => {
  const code = character.codePointAt(0)!
  return code <= 0xffff ? `\\u${code.toString(16).padStart(4, "0")}` : `\\u{${code.toString(16)}}`
}

/** Keeps at most `maxLength` UTF-16 units, cut at a whole character, and says how much is missing. */
export const truncate = (text: string, maxLength: number): string => {
  if (text.length <= maxLength) return text
  const last = text.charCodeAt(maxLength - 1)
  const end = last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength
  return `${text.slice(0, end)}… (${text.length - end} more characters)`
}

export const escape = (text: string, options: {
  readonly maxLength: number
  readonly multiline?: boolean | undefined
}): string =>
  truncate(text, options.maxLength).replace(
    unsafe,
    (character) =>
      options.multiline === true && (character === "\n" || character === "\t") ? character : escapeCharacter(character)
  )
