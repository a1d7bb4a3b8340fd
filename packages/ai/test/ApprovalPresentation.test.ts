/**
 * What presentations are made of comes from models and files (`blocking-wrapper.md`, Core Types): none of it may pass for
 * what it is not on the screen of the person who decides (L15).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type Approval, ApprovalController, ApprovalPresentation } from "../src/index.ts"

/** As the person sees it. */
const shown = (presentation: Approval.ApprovalPresentation) =>
  Effect.gen(function*() {
    const seen: Array<Approval.ApprovalPresentation> = []
    yield* ApprovalController.request({ name: "write", presentation }).pipe(
      Effect.provideService(
        ApprovalController.ApprovalController,
        ApprovalController.interactive(({ presentation }) => (seen.push(presentation!), true))
      )
    )
    return seen[0]!
  })

const hostile = "a.txt\n+++ b.txt\n@@ -1 +1 @@\n-bad\n+good\n\u001b[2J\u202e"

const assertSafe = (text: string): void => {
  for (const character of ["\u001b", "\u202e", "\u200b"]) assert.notInclude(text, character)
}

describe("L15 a diff", () => {
  it.effect("of a path with lines of its own has one header, and the changes of one file", () =>
    Effect.gen(function*() {
      const made = yield* ApprovalPresentation.diff({ path: hostile, before: "x\n", after: "y\n" })
      const { content } = yield* shown(made)
      const lines = content.split("\n")
      assert.deepStrictEqual(lines.slice(2), ["@@ -1 +1 @@", "-x", "+y", ""])
      assert.match(lines[0]!, /^--- a\.txt\\u000a/)
      assert.match(lines[1]!, /^\+\+\+ a\.txt\\u000a/)
      assertSafe(content)
    }))

  it.effect(
    "of texts of 5 MB that have nothing in common is made in time, and cut with the cut said",
    () =>
      Effect.gen(function*() {
        const text = (word: string) =>
          Array.from({ length: 250_000 }, (_, line) => `${word} of line ${line}`).join("\n")
        const { content } = yield* shown(
          yield* ApprovalPresentation.diff({ path: "a", before: text("one"), after: text("other") })
        )
        assert.isAtMost(content.length, 100_100)
        assert.match(content, /more characters\)$/)
      }),
    20_000
  )
})

describe("L15 what stands beside the content", () => {
  it.effect("repaints no screen: names and values, at any depth", () =>
    Effect.gen(function*() {
      const { metadata } = yield* shown(ApprovalPresentation.text("hello", {
        metadata: { path: hostile, nested: [{ [hostile]: [hostile, 1, true, null] }], plain: "é 🙂 \\u202e", size: 3 }
      }))
      const text = JSON.stringify(metadata)
      assertSafe(text)
      assert.notInclude(text, "\\n")
      assert.deepInclude(metadata, { plain: "é 🙂 \\u202e", size: 3 })
    }))

  it.effect("is bounded, and names such as __proto__ are names like others", () =>
    Effect.gen(function*() {
      const long = yield* shown(ApprovalPresentation.text("hello", { metadata: { note: "x".repeat(200_000) } }))
      assert.match(String(long.metadata!.note), /^x{1000,10000}… \(\d+ more characters\)$/)
      const many = { many: Array.from({ length: 100_000 }, (_, index) => index) }
      const { metadata } = yield* shown(ApprovalPresentation.text("hello", { metadata: many }))
      assert.match(String(metadata!.omitted), /too large/)
      const named = yield* shown(
        ApprovalPresentation.text("hello", { metadata: JSON.parse("{\"a\":{\"__proto__\":{\"x\":1}}}") })
      )
      assert.strictEqual(JSON.stringify(named.metadata), "{\"a\":{\"__proto__\":{\"x\":1}}}")
    }))
})
