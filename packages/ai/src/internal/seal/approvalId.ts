/**
 * How an approval id is written (law L4): `apr1.<key id>.<nonce>.<issued>.<expires>.<schema>.<presentation>.<tag>`.
 *
 * An id is URL-safe ASCII of at most 512 bytes, and each is the only spelling of what it says, so that one seal has
 * one id: times are base 36 as `toString(36)` writes them, an expiry that nobody set is `-`, and the tag is canonical
 * base64url. Nothing here proves anything; that is the tag's work.
 */
import * as Canonical from "./canonical.ts"
import * as Cryptography from "./cryptography.ts"

/** The first segment of every id; another way of sealing needs another one. */
export const version = "apr1"

/** An id may be this many bytes of UTF-8. */
export const maxBytes = 512

/** The last millisecond a `Date` can hold, so that every time in an id can be shown. */
export const maxTime = 8_640_000_000_000_000

/** What an id says, beside its tag. */
export interface ApprovalId {
  readonly keyId: string
  readonly nonce: string
  readonly issuedAt: number
  /** `Infinity` where none was set. */
  readonly expiresAt: number
  readonly schemaFingerprint: string
  readonly presentationDigest: string | undefined
}

// A turn reads each of its ids at half a dozen places.
const recent = new Map<string, ApprovalId>()

const maxRecent = 1_000

/** Reads an id; `undefined` if it is not of this form. */
export const parse = (text: string): ApprovalId | undefined => {
  const known = recent.get(text)
  if (known !== undefined) return known
  const id = read(text)
  if (id === undefined) return undefined
  if (recent.size >= maxRecent) recent.clear()
  recent.set(text, id)
  return id
}

const read = (text: string): ApprovalId | undefined => {
  // A text has at least as many bytes as UTF-16 units, and the forms below are ASCII.
  if (text.length > maxBytes) return undefined
  const segments = text.split(".")
  if (segments.length !== 8 || segments[0] !== version) return undefined
  const [, keyId, nonce, issued, expires, schemaFingerprint, presentationDigest, tag] = segments
  const issuedAt = parseTime(issued)
  const expiresAt = expires === absent ? Infinity : parseTime(expires)
  return isKeyId(keyId) && nonceForm.test(nonce) && issuedAt !== undefined && expiresAt !== undefined &&
      isDigest(schemaFingerprint) && isDigest(presentationDigest) && Cryptography.isCanonicalTag(tag)
    ? {
      keyId,
      nonce,
      issuedAt,
      expiresAt,
      schemaFingerprint,
      presentationDigest: presentationDigest === absent ? undefined : presentationDigest
    }
    : undefined
}

/** Writes an id that {@link parse} reads back. */
export const write = (id: ApprovalId, tag: string): string =>
  [
    version,
    id.keyId,
    id.nonce,
    id.issuedAt.toString(36),
    id.expiresAt === Infinity ? absent : id.expiresAt.toString(36),
    id.schemaFingerprint,
    id.presentationDigest ?? absent,
    tag
  ].join(".")

/** The tag of an id that {@link parse} has read. */
export const tagOf = (text: string): string => text.slice(text.lastIndexOf(".") + 1)

export const isKeyId = (text: string): boolean => /^[\w~-]{1,32}$/.test(text)

/**
 * Why a call cannot be sealed, as one sentence about its parameters. The engine refuses such calls before; a seal
 * must not depend on that.
 */
export const findProblem = (call: {
  readonly toolName: string
  readonly toolCallId: string
  readonly params: string
  readonly schemaFingerprint: string
  readonly presentationDigest?: string | undefined
}): string | undefined => {
  if (!Canonical.isWellFormedId(call.toolName, Canonical.maxToolNameBytes)) {
    return `The tool's name is empty, not Unicode, or longer than ${Canonical.maxToolNameBytes} bytes.`
  }
  if (!Canonical.isWellFormedId(call.toolCallId, Canonical.maxToolCallIdBytes)) {
    return `The call's id is empty, not Unicode, or longer than ${Canonical.maxToolCallIdBytes} bytes.`
  }
  if (!Canonical.isWellFormedId(call.params, Canonical.maxParamsBytes)) {
    return `They are empty, not Unicode, or larger than ${Canonical.maxParamsBytes} bytes as JSON.`
  }
  if (!isDigest(call.schemaFingerprint)) {
    return "The fingerprint of their schema is not 1 to 64 characters of A-Z a-z 0-9 _ ~ -."
  }
  const digest = call.presentationDigest
  return digest === undefined || (isDigest(digest) && digest !== absent)
    ? undefined
    : `The digest of their presentation is not 1 to 64 characters of A-Z a-z 0-9 _ ~ -, or is "${absent}".`
}

// =============================================================================
// Internals
// =============================================================================

/** Stands for an expiry, and for the digest of a presentation, where there is none. */
const absent = "-"

const nonceForm = /^[\w-]{22}$/

const isDigest = (text: string): boolean => /^[\w~-]{1,64}$/.test(text)

const parseTime = (text: string): number | undefined => {
  if (!/^(?:0|[1-9a-z][\da-z]{0,10})$/.test(text)) return undefined
  const time = Number.parseInt(text, 36)
  return time <= maxTime ? time : undefined
}
