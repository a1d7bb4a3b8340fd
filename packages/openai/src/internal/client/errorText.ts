/**
 * What an error may say: plain text on one line, without secrets, and bounded (law L15).
 */

const redacted = "<redacted>"

/** One line of at most `maxLength` UTF-16 units, with these secrets and whatever looks like a key taken out. */
export const safe = (text: string, secrets: ReadonlyArray<string>, maxLength: number): string =>
  // Cut twice: nobody needs to search a megabyte, and a secret at the edge must be whole to be found.
  shorten(withoutSecrets(text.slice(0, 100_000), secrets), maxLength)

/** One line of at most `maxLength` UTF-16 units; what is invisible is written as an escape. */
export const shorten = (text: string, maxLength: number): string => {
  const line = text
    .replace(/[\s\p{Cc}]+/gu, " ")
    .replace(/[\p{Cf}\p{Cs}]/gu, (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`)
    .trim()
  // A pair of surrogates is not cut in two.
  return line.length <= maxLength ? line : `${line.slice(0, maxLength - 1).replace(/[\ud800-\udbff]$/, "")}…`
}

const withoutSecrets = (text: string, secrets: ReadonlyArray<string>): string => {
  let shown = text
  // The longest first: one may be a part of another.
  for (const secret of secrets.toSorted((a, b) => b.length - a.length)) {
    // Shorter ones would be found in ordinary words.
    if (secret.length < 4) continue
    // As it is, in JSON, and in an address.
    for (const form of new Set([secret, JSON.stringify(secret).slice(1, -1), inAddress(secret)])) {
      shown = shown.replaceAll(form, redacted)
    }
  }
  return shown
    // Keys that are not ours to know of, also in OpenAI's own half hidden form.
    .replace(/\b(sk|sess)-[\w*-]{4,}/g, redacted)
    .replace(/\b(bearer|basic)\s+[\w.~+/*=-]{8,}/gi, `$1 ${redacted}`)
}

// A lone surrogate has no such form.
const inAddress = (text: string): string => encodeURIComponent(text.replace(/\p{Cs}/gu, "\ufffd"))

/** Origin and path of an address; no user, password, query or fragment. */
export const publicUrl = (url: string | undefined): string => {
  if (url === undefined || !URL.canParse(url)) return "(not a URL)"
  const { host, pathname, protocol } = new URL(url)
  return `${protocol}//${host}${pathname}`
}
