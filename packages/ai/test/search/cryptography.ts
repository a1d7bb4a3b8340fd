/**
 * A WebCrypto that answers at once and draws from a seed, so that a plan takes the same course each time: the runtime's
 * own answers from other threads, whenever they are done.
 */
import * as Crypto from "node:crypto"

interface Key {
  readonly bytes: Uint8Array
}

const bytesOf = (data: BufferSource): Uint8Array =>
  data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength)

const hmac = (key: Key, data: BufferSource) =>
  new Uint8Array(Crypto.createHmac("sha256", key.bytes).update(bytesOf(data)).digest())

let state = 1

/** Begins the random numbers anew. */
export const reset = (): void => {
  state = 1
}

// Mulberry32.
const next = (): number => {
  state = (state + 0x6d2b79f5) | 0
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
  return (mixed ^ (mixed >>> 14)) >>> 0
}

const subtle = {
  importKey: async (_format: string, bytes: BufferSource): Promise<Key> => ({ bytes: bytesOf(bytes).slice() }),
  sign: async (_algorithm: unknown, key: Key, data: BufferSource) => hmac(key, data).buffer,
  verify: async (_algorithm: unknown, key: Key, tag: BufferSource, data: BufferSource) =>
    Buffer.compare(hmac(key, data), bytesOf(tag)) === 0,
  digest: async (_algorithm: unknown, data: BufferSource) =>
    new Uint8Array(Crypto.createHash("sha256").update(bytesOf(data)).digest()).buffer
}

/** Only what the engine uses; anything else is missing, and fails. */
export const cryptography = {
  subtle,
  getRandomValues: <A extends Uint8Array>(bytes: A): A => {
    for (let index = 0; index < bytes.length; index++) bytes[index] = next() & 0xff
    return bytes
  }
} as unknown as typeof globalThis.crypto
