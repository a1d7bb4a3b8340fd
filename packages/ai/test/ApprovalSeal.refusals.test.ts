/** L4 what is not sealed: scopes, texts and sizes that a seal does not take or does not take for another. */
import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { ApprovalSeal } from "../src/index.ts"
import * as Support from "./laws/support.ts"

describe("L4 what cannot be sealed", () => {
  const binding = {
    source: "local",
    toolName: "DeleteFile",
    toolCallId: "c1",
    schemaFingerprint: "v1",
    params: "{}",
    scope: {}
  }
  const problems: Record<string, readonly [fields: Partial<ApprovalSeal.Binding>, says: string]> = {
    "a name without text": [{ toolName: "" }, "The tool's name is empty, not Unicode, or longer than 128 bytes."],
    "a long id": [{ toolCallId: "x".repeat(257) }, "The call's id is empty, not Unicode, or longer than 256 bytes."],
    "no parameters": [{ params: "" }, "They are empty, not Unicode, or larger than 1048576 bytes as JSON."],
    "an odd fingerprint": [
      { schemaFingerprint: "a.b" },
      "The fingerprint of their schema is not 1 to 64 characters of A-Z a-z 0-9 _ ~ -."
    ],
    "an odd digest": [
      { presentationDigest: "-" },
      "The digest of their presentation is not 1 to 64 characters of A-Z a-z 0-9 _ ~ -, or is \"-\"."
    ]
  }
  for (const [what, [fields, says]] of Object.entries(problems)) {
    Support.single(`L4 L14 ${what}: a typed error that says so`, function*() {
      const seal = yield* ApprovalSeal.ApprovalSeal
      const { reason } = yield* Effect.flip(seal.seal({ ...binding, ...fields }))
      assert.strictEqual(reason._tag, "InvalidParameters")
      assert.include(reason.message, says)
    })
  }
})

describe("L4 the scope is sealed, each part of it", () => {
  const parts = ["tenant", "principal", "conversation"] as const
  for (const part of parts) {
    Support.single(`L4 an approval given for one ${part} is none for another, nor for nobody's`, function*() {
      const seal = yield* ApprovalSeal.ApprovalSeal
      const binding = {
        source: "local",
        toolName: "DeleteFile",
        toolCallId: "c1",
        schemaFingerprint: "v1",
        params: "{}"
      }
      const { approvalId } = yield* seal.seal({ ...binding, scope: { [part]: "one" } })
      yield* seal.verify(approvalId, { ...binding, scope: { [part]: "one" } })
      const others = [
        { [part]: "another" },
        {},
        ...parts.filter((other) => other !== part).map((other) => ({ [other]: "one" }))
      ]
      for (const scope of others) {
        const { reason } = yield* Effect.flip(seal.verify(approvalId, { ...binding, scope }))
        assert.strictEqual(reason._tag, "Forged", JSON.stringify(scope))
      }
    })
  }
})
