/**
 * The names of an `AtomicStore` on disk: a directory for each key, timed names for what is not to stay, and numbers.
 *
 * Names of keys are in lower case only, so that a file system that ignores case keeps keys apart; the letter before
 * them keeps names such as "nul" and ".." harmless.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Cryptography from "../seal/cryptography.ts"

const specials = "_.~:/"
const maxNameLength = 190
const hashLength = 43

const encode = (text: string): string =>
  text.replace(/[^a-z0-9-]/g, (character) => {
    const special = specials.indexOf(character)
    return `_${special < 0 ? character.toLowerCase() : special}`
  })

const decode = (text: string): string =>
  text.replace(/_([a-z0-4])/g, (_, code: string) => specials[Number(code)] ?? code.toUpperCase())

/**
 * The name of a key's directory, less than 200 bytes. A long key is named after its hash and its beginning; the whole
 * key stands in its records.
 */
export const encodeName = (key: string): Effect.Effect<string> => {
  const name = `k-${encode(key)}`
  return name.length <= maxNameLength
    ? Effect.succeed(name)
    : Effect.map(Cryptography.sha256(key), (hash) => `h-${encode(hash + key.slice(0, 48))}`)
}

/** The key, or only its beginning, in a name that {@link encodeName} made. */
export const decodeName = (name: string): { readonly beginning: string; readonly whole: boolean } | undefined => {
  const text = decode(name.slice(2))
  if (name !== `${name.slice(0, 2)}${encode(text)}`) return undefined
  if (name.startsWith("k-")) return { beginning: text, whole: true }
  return name.startsWith("h-") ? { beginning: text.slice(hashLength), whole: false } : undefined
}

/** A name that nobody else makes and that says when it was made, so that sweeping needs no `stat`. */
export const timedName: Effect.Effect<string> = Effect.zipWith(
  Clock.currentTimeMillis,
  Cryptography.randomToken(16),
  (now, token) => `${Math.max(0, Math.floor(now)).toString(36)}-${token}`
)

/** Whether a timed name was made before `time`. */
export const isOlder = (timed: string, time: number): boolean => {
  const [at] = timed.split("-", 1)
  return at !== undefined && /^[0-9a-z]{1,11}$/.test(at) && Number.parseInt(at, 36) < time
}

/** A temporary file, named after the time it was made. */
export const temporaryName: Effect.Effect<string> = Effect.map(timedName, (name) => `t-${name}`)

/** Whether a name is that of a temporary file made before `time`. */
export const isAbandoned = (name: string, time: number): boolean =>
  name.startsWith("t-") && isOlder(name.slice(2), time)

/** The newest version among the names in a key's directory, or -1. */
export const newestNumber = (names: ReadonlyArray<string>): number =>
  names.reduce((newest, name) => /^(0|[1-9]\d{0,14})$/.test(name) ? Math.max(newest, Number(name)) : newest, -1)
