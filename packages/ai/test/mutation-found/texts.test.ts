/**
 * Limits and words, to the byte: mutants of `internal/canonical.ts`, `approvalId.ts` and `ApprovalPolicy.ts`.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import type { Prompt } from "effect/ai"
import { ApprovalSeal, Tool } from "../../src/index.ts"
import { canonicalize, isWellFormedId } from "../../src/internal/canonical.ts"
import * as Support from "../laws/support.ts"

describe("L4 Unicode", () => {
  it("L4 an id takes as many bytes as its UTF-8, at every border of it", () => {
    const encoder = new TextEncoder()
    const borders = [0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x1f400, 0x10fc00, 0x10ffff]
    for (const point of borders) {
      const text = `${String.fromCodePoint(point)}${String.fromCodePoint(point)}`
      const bytes = encoder.encode(text).length
      assert.isTrue(isWellFormedId(text, bytes), point.toString(16))
      assert.isFalse(isWellFormedId(text, bytes - 1), point.toString(16))
      assert.deepStrictEqual(canonicalize(text), Result.succeed(JSON.stringify(text)))
    }
  })

  it("L4 half of a pair is no text, wherever it stands", () => {
    for (
      const half of ["\ud800", "\udbff", "\udc00", "\udfff", "\ud800\ud800", "\udc00\ud800", "\ud800a", "\udbff\ue000"]
    ) {
      for (const text of [half, `a${half}`, `${half}a`, `${half}\u{1f642}`]) {
        assert.isFalse(isWellFormedId(text, 100), JSON.stringify(text))
        assert.isTrue(Result.isFailure(canonicalize({ text })), JSON.stringify(text))
      }
    }
  })

  it("L4 L14 what is no JSON is named by its type, and never quoted", () => {
    const values: ReadonlyArray<readonly [unknown, string]> = [
      [[undefined], "A value is undefined, so it is not JSON."],
      [() => "secret", "A value is a function, so it is not JSON."],
      [Symbol("secret"), "A value is a symbol, so it is not JSON."],
      [7n, "A value is a bigint, so it is not JSON."],
      ["x".repeat(1_048_577), "The value is larger than 1 MB (1,048,576 bytes) as JSON."]
    ]
    for (const [value, problem] of values) assert.deepStrictEqual(canonicalize(value), Result.fail(problem))
  })
})

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
    Support.single(`L4 L14 ${what}: a typed error that says so`, () =>
      Effect.gen(function*() {
        const seal = yield* ApprovalSeal.ApprovalSeal
        const { reason } = yield* Effect.flip(seal.seal({ ...binding, ...fields }))
        assert.strictEqual(reason._tag, "InvalidParameters")
        assert.include(reason.message, says)
      }))
  }
})

describe("L1 a gate", () => {
  Support.forEachMode(
    "L1 sees the decoded parameters, the call's id, and the conversation",
    (mode) =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const tool = Tool.make("Count", {
          parameters: { n: Schema.FiniteFromString },
          success: Schema.String,
          needsApproval: (params, { messages, toolCallId }) => {
            const last: Prompt.Message | undefined = messages.at(-1)
            seen.push([params.n, toolCallId, last?.role])
            return true
          }
        })
        const tools = yield* Support.makeTools([tool as Tool.Any])
        yield* Support.ask(mode, { toolkit: tools.toolkit, calls: [Support.call("c7", "Count", { n: "7" })] })
        assert.deepStrictEqual(seen, [[7, "c7", "user"]])
      })
  )
})
