/** What tests of seals share: keys, what is sealed, and a process that begins anew. */
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as Result from "effect/Result"
import type * as ApprovalError from "../src/ApprovalError.ts"
import * as ApprovalSeal from "../src/ApprovalSeal.ts"

export const keyA = "key A ".repeat(8)
export const keyB = "key B ".repeat(8)

export const binding: ApprovalSeal.Binding = {
  source: "local",
  toolName: "DeleteFile",
  toolCallId: "call-1",
  schemaFingerprint: "schema_1",
  params: `{"path":"notes.txt"}`,
  scope: { tenant: "acme", principal: "ada", conversation: "chat-7" },
  presentationDigest: "shown_1"
}

export const bare: ApprovalSeal.Binding = { ...binding, scope: {}, presentationDigest: undefined }

export const reasonOf = <A>(effect: Effect.Effect<A, ApprovalError.ApprovalError>) =>
  Effect.map(Effect.flip(effect), (error) => error.reason)

export const tagOf = <A>(effect: Effect.Effect<A, ApprovalError.ApprovalError>) =>
  Effect.map(Effect.result(effect), (result) => Result.isSuccess(result) ? "Verified" : result.failure.reason._tag)

export const keyIn = (key: string | undefined) =>
  Effect.provideService(
    ConfigProvider.ConfigProvider,
    ConfigProvider.fromUnknown(key === undefined ? {} : { ASSENT_APPROVAL_KEY: key })
  )

/** As a new process: the key of the old one is gone. */
export const restart = Effect.sync(() => Reflect.deleteProperty(globalThis, Symbol.for("@assent/ai/processSecret")))

export const recordLogs = Effect.sync(() => {
  const lines: Array<string> = []
  const logger = Logger.make<unknown, void>(({ logLevel, message }) =>
    void lines.push(`${logLevel} ${String(message)}`)
  )
  return { lines, layer: Logger.layer([logger]) }
})

export const replaceSegment = (approvalId: string, index: number, change: (segment: string) => string): string =>
  approvalId.split(".").map((segment, i) => i === index ? change(segment) : segment).join(".")

export const sealedBy = (key: string) => Effect.flatMap(ApprovalSeal.make({ key }), (seal) => seal.seal(binding))
