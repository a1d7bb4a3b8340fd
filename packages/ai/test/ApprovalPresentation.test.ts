/**
 * What a person is shown beside a call: what each constructor makes, what is made safe of it (law L15), and what of it
 * counts as the same (law L4).
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Approval, ApprovalPresentation } from "../src/index.ts"
import * as Presentation from "../src/internal/tool/presentation.ts"

const needs = (fields: Partial<Approval.ApprovalPresentation>): Approval.NeedsApproval =>
  new Approval.NeedsApproval({
    reason: "why",
    presentation: new Approval.ApprovalPresentation({ type: "text", content: "shown", ...fields })
  })

const fieldsOf = (presentation: Approval.ApprovalPresentation | undefined) => ({ ...presentation })

describe("presentations", () => {
  it("a command says its folder, if it has one, and is a shell's unless it says otherwise", () => {
    assert.deepStrictEqual(fieldsOf(ApprovalPresentation.command("ls")), {
      type: "command",
      content: "ls",
      language: "shell"
    })
    const more = { language: "powershell", directory: "/srv", metadata: { host: "a" }, precondition: "p" }
    assert.deepStrictEqual(fieldsOf(ApprovalPresentation.command("ls", more)), {
      type: "command",
      content: "ls",
      language: "powershell",
      metadata: { directory: "/srv", host: "a" },
      precondition: "p"
    })
  })

  it("the content of a file says its path; a language only if it was given one", () => {
    assert.deepStrictEqual(fieldsOf(ApprovalPresentation.fileContent("x", { path: "a.ts" })), {
      type: "file_content",
      content: "x",
      metadata: { path: "a.ts" }
    })
    const more = { path: "a.ts", language: "typescript", precondition: "p" }
    assert.deepStrictEqual(fieldsOf(ApprovalPresentation.fileContent("x", more)), {
      type: "file_content",
      content: "x",
      language: "typescript",
      metadata: { path: "a.ts" },
      precondition: "p"
    })
  })

  it.effect("a diff says whose it is, in which language, and what it was made from", () =>
    Effect.gen(function*() {
      const before = "one\n"
      const shown = yield* ApprovalPresentation.diff({ path: "a.ts", before, after: "two\n", language: "typescript" })
      assert.deepInclude(fieldsOf(shown), {
        type: "diff",
        language: "typescript",
        metadata: { path: "a.ts" },
        precondition: yield* ApprovalPresentation.digest(before)
      })
      assert.match(shown.content, /^--- a\.ts\n\+\+\+ a\.ts\n/)
      assert.match(shown.content, /-one\n\+two/)
      const plain = yield* ApprovalPresentation.diff({ path: "a.ts", before, after: "two\n" })
      assert.notProperty(plain, "language")
    }))

  it("data is indented JSON", () => {
    assert.deepStrictEqual(fieldsOf(ApprovalPresentation.structured({ a: 1 }, { metadata: { b: 2 } })), {
      type: "structured",
      content: "{\n  \"a\": 1\n}",
      language: "json",
      metadata: { b: 2 }
    })
    assert.notProperty(ApprovalPresentation.structured([]), "metadata")
  })
})

describe("L15 what is shown of a presentation", () => {
  it("L15 is every field of it, escaped and cut to its length", () => {
    const long = "x".repeat(5_000)
    const shown = Presentation.sanitized(needs({
      content: "a\u001b[2Jb\nc",
      language: `sh\u001b${long}`,
      precondition: `p\u001b${long}`,
      metadata: { path: "a\u001bb" }
    }))
    const { content, language, metadata, precondition } = shown.presentation!
    for (const text of [content, language!, precondition!, String(metadata?.["path"])]) {
      assert.notInclude(text, "\u001b")
    }
    assert.match(content, /b\nc$/)
    assert.match(language!, /^sh/)
    assert.isBelow(language!.length, 200)
    assert.match(precondition!, /^p/)
    assert.isAbove(precondition!.length, 900)
    assert.isBelow(precondition!.length, 1_200)
    assert.strictEqual(shown.reason, "why")
  })

  it("L15 is not more than was given", () => {
    assert.deepStrictEqual(fieldsOf(Presentation.sanitized(needs({})).presentation), { type: "text", content: "shown" })
    const silent = new Approval.NeedsApproval({ reason: "why" })
    assert.strictEqual(Presentation.sanitized(silent), silent)
    const metadata = { path: "a.ts", size: 3 }
    assert.deepStrictEqual(Presentation.sanitized(needs({ metadata })).presentation?.metadata, metadata)
    const whole = needs({ language: "json", precondition: "p" })
    assert.deepStrictEqual(Presentation.sanitized(whole), whole)
  })

  it("L15 its metadata keeps its form; each text in it is a line that is safe, and not too long", () => {
    const metadata = {
      list: ["a\u001b", 1, null, true, ["\u001b"]],
      of: { "n\u001b": "v\n", none: null },
      long: "x".repeat(5_000)
    }
    const shown = Presentation.sanitized(needs({ metadata })).presentation?.metadata as typeof metadata
    const strange = String.fromCharCode(27)
    const texts = [shown.list[0], ...shown.list[4] as ReadonlyArray<string>, ...Object.keys(shown.of)]
    for (const text of texts) assert.notInclude(String(text), strange)
    assert.notInclude(String(Object.values(shown.of)), "\n")
    assert.deepStrictEqual(shown.list.slice(1, 4), [1, null, true])
    assert.match(String(shown.list[0]), /^a./)
    assert.isArray(shown.list[4])
    assert.strictEqual(shown.of.none, null)
    assert.lengthOf(Object.keys(shown.of), 2)
    assert.isAbove(shown.long.length, 4_000)
    assert.isBelow(shown.long.length, 4_300)
  })

  it("L15 says where the metadata would be too large, however many lines make it so", () => {
    const lines = (count: number) => ({ lines: Array.from({ length: count }, () => "x".repeat(1_000)) })
    const shown = (count: number) => Presentation.sanitized(needs({ metadata: lines(count) })).presentation?.metadata
    assert.deepStrictEqual(shown(90), lines(90))
    assert.match(JSON.stringify(shown(110)), /too large/)
  })

  it("L15 says where the metadata is too large to be shown", () => {
    const metadata = { text: "x".repeat(2_000_000) }
    assert.match(JSON.stringify(Presentation.sanitized(needs({ metadata })).presentation?.metadata), /too large/)
  })
})

describe("L4 whether another thing is shown", () => {
  const digests = (...all: ReadonlyArray<Partial<Approval.ApprovalPresentation>>) =>
    Effect.forEach(all, (fields) => Presentation.digest(needs(fields)))

  it.effect("L4 it is if any field is another, also where it is cut off; and it is not if none is", () =>
    Effect.gen(function*() {
      const long = "x".repeat(100_000)
      const all = [
        {},
        { content: "other" },
        { type: "command" },
        { language: "json" },
        { precondition: "p" },
        { metadata: { path: "a" } },
        { metadata: { path: "b" } },
        { content: long },
        { content: `${long}a` },
        { content: `${long}b` },
        { metadata: { path: `${long}a` } },
        { metadata: { path: `${long}b` } },
        { metadata: { path: "a\u001b" } },
        { metadata: { path: "a\\u001b" } }
      ] as const
      const first = yield* digests(...all)
      assert.strictEqual(new Set(first).size, all.length)
      assert.deepStrictEqual(yield* digests(...all), first)
      for (const digest of first) assert.match(digest!, /^[\w-]{22}$/)
      const nothing = new Approval.NeedsApproval({ reason: "why" })
      assert.isUndefined(yield* Presentation.digest(nothing))
      const metadata = { text: "x".repeat(2_000_000) }
      const [one, two] = yield* digests({ metadata }, { metadata })
      assert.notStrictEqual(one, two, "what cannot be compared is never the same")
    }))

  it.effect("L4 only what was sealed may be shown again, and what is shown now has to be that", () =>
    Effect.gen(function*() {
      const shown = needs({})
      const sealed = { presentationDigest: yield* Presentation.digest(shown) } as never
      assert.deepStrictEqual(yield* Presentation.again(sealed, shown), shown)
      const other = yield* Presentation.again(sealed, needs({ content: "other" }))
      assert.deepStrictEqual([other.presentation, other.reason], [undefined, "why"])
      assert.isUndefined(yield* Presentation.drift(sealed, shown))
      assert.isUndefined(yield* Presentation.drift(sealed, Approval.preApproved()), "nobody need see it any more")
      assert.isUndefined(yield* Presentation.drift({} as never, shown), "nothing was shown")
      for (const now of [needs({ content: "other" }), new Approval.NeedsApproval({})]) {
        assert.match((yield* Presentation.drift(sealed, now)) ?? "", /has changed since they approved it/)
      }
    }))
})
