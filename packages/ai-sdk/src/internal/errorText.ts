/** What an error may say: plain text on one line, without what looks like a key, and bounded (law L15). */

const redacted = "<redacted>"

/** One line of at most `maxLength` UTF-16 units. */
export const safe = (text: string, maxLength = 1_000): string => shorten(withoutKeys(text.slice(0, 20_000)), maxLength)

const withoutKeys = (text: string): string =>
  text
    .replace(/\b(sk|sess|gsk|xai|pplx|AIza|AKIA|ASIA|hf|r8)[-_]?[\w*-]{12,}/g, redacted)
    .replace(/\b(bearer|basic)\s+[\w.~+/*=-]{8,}/gi, `$1 ${redacted}`)
    .replace(/([?&](?:key|api[-_]?key|token|access_token)=)[^&\s"']+/gi, `$1${redacted}`)

const shorten = (text: string, maxLength: number): string => {
  const line = text
    .replace(/[\s\p{Cc}]+/gu, " ")
    .replace(/[\p{Cf}\p{Cs}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
    .trim()
  // A pair of surrogates is not cut in two.
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…`
}

/** Origin and path of an address; no user, password, query or fragment. */
export const publicUrl = (url: string | undefined): string => {
  if (url === undefined || !URL.canParse(url)) return "(not a URL)"
  const { host, pathname, protocol } = new URL(url)
  return `${protocol}//${host}${pathname}`
}
