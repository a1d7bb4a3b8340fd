/**
 * HMAC and SHA-256 of the runtime itself, which answer at once: `crypto.subtle` answers from another thread, which costs
 * ten times what the computing does, and a turn of the event loop.
 *
 * `node:crypto` is asked for and not imported, so that the library depends on no runtime: Node from 20.16, Deno, Bun
 * and some workers have it, a browser does not.
 */

/** Both give the bytes that `crypto.subtle` gives. Neither changes or keeps what it is given. */
export interface NativeCryptography {
  readonly hmacSha256: (key: Uint8Array, data: Uint8Array) => Uint8Array
  /** As base64url. */
  readonly sha256: (data: Uint8Array) => string
}

/** `undefined` where the runtime has none, or one that does not compute what it should. */
export const find = (): NativeCryptography | undefined => {
  try {
    const node = runtime.process?.getBuiltinModule?.("node:crypto")
    if (node === undefined) return undefined
    const native: NativeCryptography = {
      hmacSha256: (key, data) => node.createHmac("sha256", key).update(data).digest(),
      sha256: (data) => node.createHash("sha256").update(data).digest("base64url")
    }
    return isRight(native) ? native : undefined
  } catch {
    // Some runtimes have a `node:crypto` whose functions only throw.
    return undefined
  }
}

// =============================================================================
// Internals
// =============================================================================

interface Hash {
  readonly update: (data: Uint8Array) => Hash
  readonly digest: {
    (): Uint8Array
    (encoding: "base64url"): string
  }
}

interface NodeCrypto {
  readonly createHmac: (algorithm: "sha256", key: Uint8Array) => Hash
  readonly createHash: (algorithm: "sha256") => Hash
}

// A cast, because the library knows the types of no runtime.
const runtime = globalThis as {
  readonly process?: { readonly getBuiltinModule?: (id: "node:crypto") => NodeCrypto | undefined }
}

/** Whether both know the answers of RFC 4231 (test case 2) and FIPS 180 ("abc"). */
const isRight = (native: NativeCryptography): boolean => {
  const tag = native.hmacSha256(ascii("Jefe"), ascii("what do ya want for nothing?"))
  return tag instanceof Uint8Array &&
    Array.from(tag, (byte) => byte.toString(16).padStart(2, "0")).join("") ===
      "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843" &&
    native.sha256(ascii("abc")) === "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"
}

const ascii = (text: string): Uint8Array => new TextEncoder().encode(text)
