/** Which parameters a presentation covers, over a file system: what is claimed of one, and what is left of that (law L4). */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Approval, ApprovalPresentation } from "../../src/index.ts"
import * as Origins from "../../src/internal/seal/origins.ts"
import * as Covers from "../../src/internal/tool/covers.ts"
import * as Presentation from "../../src/internal/tool/presentation.ts"
import * as Files from "./files.ts"

type Params = Readonly<Record<string, Schema.Json>>

/** What a request would have of what was made, since `since`. */
const proved = (params: Schema.Json, presentation: Approval.ApprovalPresentation, since: number) => {
  const result = Covers.prove(Approval.needsApproval({ presentation }), { encoded: params }, since)
  return result._tag === "NeedsApproval" ? Presentation.sanitized(result).presentation : undefined
}

const covered = Effect.fnUntraced(function*(
  params: Params,
  files: Files.Files,
  options: Partial<Parameters<typeof ApprovalPresentation.fileDiff>[0]> = {}
) {
  const since = Origins.now()
  const shown = yield* ApprovalPresentation.fileDiff({
    root: "/",
    path: String(params["path"]),
    after: String(params["content"]),
    covers: ["content"],
    ...options
  }).pipe(Effect.provide(Files.layer(files)))
  return proved(params, shown, since)?.covers
})

const call = (content: string): Params => ({ path: "a.ts", content })

const long = (count: number): string => Array.from({ length: count }, (_, index) => `line ${index}\n`).join("")

describe("a diff of a file", () => {
  const yes: ReadonlyArray<readonly [string, string | Uint8Array | undefined, string]> = [
    ["one line of many", long(1_200), long(1_200).replace("line 600\n", "line six hundred\n")],
    ["a file that is not there", undefined, "new\n"],
    ["a file that is emptied but for a line feed", "old\n", "\n"],
    ["a file that stays as it is", "same\n", "same\n"],
    ["a last line without an end, which gets one", "a\nb", "a\nb\n"],
    ["a last line that loses its end", "a\nb\n", "a\nb"],
    ["no end before and after", "a\nb", "c\nb"],
    ["letters of all kinds", "ä\n世\n😀\n", "ö\n世\n😀 \n"],
    ["a tab", "\ta\n", "\tb\n"],
    ["line ends of Windows", long(1_200).replaceAll("\n", "\r\n"), long(1_201).replaceAll("\n", "\r\n")],
    ["a new file with line ends of Windows", undefined, "a\r\nb\r\n"],
    ["line ends of Windows, and a last line without an end", "a\r\nb", "a\r\nc"],
    ["one line, which gets an end of Windows", "a", "a\r\nb\r\n"]
  ]
  for (const [title, before, after] of yes) {
    it.effect(`covers the new text: ${title}`, () =>
      Effect.gen(function*() {
        const files: Files.Files = new Map(before === undefined ? [] : [["/a.ts", before]])
        assert.deepStrictEqual(yield* covered(call(after), files), ["content"])
      }))
  }

  const no: ReadonlyArray<readonly [string, string | Uint8Array | undefined, string]> = [
    ["line ends that become others", "a\r\nb\r\n", "a\nb\n"],
    ["line ends that become those of Windows", "a\nb\n", "a\r\nb\r\n"],
    ["line ends of two kinds", "a\r\nb\n", "a\r\nc\n"],
    ["a line end of another kind that is new", "a\r\nb\r\n", "a\r\nb\r\nc\n"],
    ["a carriage return that is drawn", "a\rb\n", "a\rc\n"],
    ["a carriage return within a line of Windows", "a\rb\r\n", "a\rc\r\n"],
    ["a character that cannot be seen, in a new line", "a\n", "a\u200b\n"],
    ["a character that cannot be seen, in a line beside", "a\u200b\nb\n", "a\u200b\nc\n"],
    ["a byte order mark before", Uint8Array.of(0xef, 0xbb, 0xbf, 0x61, 0x0a), "a\nb\n"],
    ["bytes that are no text", Uint8Array.of(0x61, 0xff, 0x0a), "b\n"],
    ["half a character in the new text", "a\n", "\ud83d\n"],
    ["more than is drawn", "", long(20_000)],
    ["a new text that is empty", "a\n", ""],
    ["a file that stays empty", "", ""]
  ]
  for (const [title, before, after] of no) {
    it.effect(`covers nothing: ${title}`, () =>
      Effect.gen(function*() {
        const files: Files.Files = new Map(before === undefined ? [] : [["/a.ts", before]])
        assert.isUndefined(yield* covered(call(after), files))
      }))
  }

  it.effect("of line ends of Windows draws none, says so, and is another one where the file has others", () =>
    Effect.gen(function*() {
      const shown = (before: string, after: string) =>
        ApprovalPresentation.fileDiff({
          root: "/",
          path: "a.ts",
          after,
          covers: ["content"],
          metadata: { lineEnds: "as you like" }
        }).pipe(Effect.provide(Files.layer(new Map([["/a.ts", before]]))))
      const windows = yield* shown("a\r\nb\r\n", "a\r\nc\r\n")
      const others = yield* shown("a\nb\n", "a\nc\n")
      assert.deepStrictEqual([windows.metadata?.["lineEnds"], others.metadata?.["lineEnds"]], ["CRLF", "as you like"])
      assert.strictEqual(windows.content, others.content)
      assert.notStrictEqual(windows.precondition, others.precondition)
      const mixed = yield* shown("a\r\nb\n", "a\r\nc\n")
      assert.include(mixed.content, " a\r\n")
    }))

  it.effect("covers nothing of a content that is another one than was drawn, by whatever byte", () =>
    Effect.gen(function*() {
      const files: Files.Files = new Map([["/a.ts", "one\ntwo\n"]])
      for (const other of ["one\n2\n ", "one\n2", "one\r\n2\n", "One\n2\n", "one\n2\n\u0000", "one\n2\n\u200b"]) {
        assert.isUndefined(yield* covered(call(other), files, { after: "one\n2\n" }), JSON.stringify(other))
      }
      assert.deepStrictEqual(yield* covered(call("one\n2\n"), files), ["content"])
    }))

  it.effect("covers nothing where it is of another file than the call names", () =>
    Effect.gen(function*() {
      const files: Files.Files = new Map([["/a.ts", "one\n"], ["/b.ts", "one\n"]])
      assert.isUndefined(yield* covered(call("two\n"), files, { path: "b.ts" }))
      assert.isUndefined(yield* covered(call("two\n"), files, { path: "./a.ts" }))
      assert.isUndefined(yield* covered({ content: "two\n" }, files, { path: "a.ts" }))
      assert.isUndefined(yield* covered({ content: "b.ts" }, files, { path: "b.ts" }))
      assert.isUndefined(yield* covered({ path: "a.ts\n+x", content: "two\n" }, files))
    }))

  it.effect("covers only parameters that are claimed, are texts, and are there, each once", () =>
    Effect.gen(function*() {
      const files: Files.Files = new Map([["/a.ts", "one\n"]])
      const params = { ...call("two\n"), copy: "two\n", list: ["two\n"], other: "three\n" }
      const covers = ["other", "copy", "content", "content", "list", "path", "none", "toString", "__proto__"]
      assert.deepStrictEqual(yield* covered(params, files, { covers }), ["copy", "content"])
      assert.isUndefined(yield* covered(params, files, { covers: [] }))
      assert.isUndefined(yield* covered(params, files, { covers: undefined }))
    }))

  it.effect("covers nothing where the file was read before it was asked", () =>
    Effect.gen(function*() {
      const files: Files.Files = new Map([["/a.ts", "one\n"]])
      const shown = yield* ApprovalPresentation.fileDiff({
        root: "/",
        path: "a.ts",
        after: "two\n",
        covers: ["content"]
      })
        .pipe(Effect.provide(Files.layer(files)))
      assert.isUndefined(proved(call("two\n"), shown, Origins.now())?.covers)
    }))

  it.effect("covers nothing once somebody has made another presentation of it", () =>
    Effect.gen(function*() {
      const since = Origins.now()
      const shown = yield* ApprovalPresentation.fileDiff({
        root: "/",
        path: "a.ts",
        after: "two\n",
        covers: ["content"]
      })
        .pipe(Effect.provide(Files.layer(new Map([["/a.ts", "one\n"]]))))
      assert.deepStrictEqual(proved(call("two\n"), shown, since)?.covers, ["content"])
      for (const other of [{ content: shown.content.replace("-one", "-two") }, { language: "ts" }, {}]) {
        const made = new Approval.ApprovalPresentation({ ...shown, ...other })
        assert.isUndefined(proved(call("two\n"), made, since)?.covers)
      }
      const stored = Schema.decodeUnknownSync(Approval.ApprovalPresentation)(JSON.parse(JSON.stringify(shown)))
      assert.deepStrictEqual(stored.covers, ["content"])
      assert.isUndefined(proved(call("two\n"), stored, since)?.covers)
    }))

  it.effect("what only says that it is one covers nothing", () =>
    Effect.sync(() => {
      const content = "--- a.ts\n+++ a.ts\n@@ -0,0 +1 @@\n+two\n"
      const forged = new Approval.ApprovalPresentation({ type: "diff", content, covers: ["content"] })
      assert.isUndefined(proved(call("two\n"), forged, 0)?.covers)
      // Nor where nobody has looked at the claim at all.
      assert.isUndefined(
        Presentation.sanitized(new Approval.NeedsApproval({ presentation: forged })).presentation!.covers
      )
      assert.isUndefined(Covers.onlyProved(forged).covers)
    }))
})

describe("what shows a parameter as it is", () => {
  const shown = (covers: ReadonlyArray<string>, text: string) => [
    ApprovalPresentation.text(text, { covers }),
    ApprovalPresentation.command(text, { covers, directory: "/srv" }),
    ApprovalPresentation.fileContent(text, { covers, path: "x" })
  ]

  it("covers it, where nothing of it is escaped or cut", () => {
    for (const presentation of shown(["content"], "ls -la\n")) {
      assert.deepStrictEqual(proved(call("ls -la\n"), presentation, 0)?.covers, ["content"])
      assert.isUndefined(proved(call("ls -la"), presentation, 0)?.covers)
    }
    for (const text of ["ls\u00ad", "ls\r\n", "x".repeat(100_001)]) {
      for (const presentation of shown(["content"], text)) {
        assert.isUndefined(proved(call(text), presentation, 0)?.covers)
      }
    }
  })

  it("data covers nothing: it is in another form", () => {
    const presentation = ApprovalPresentation.structured("a", { covers: ["content"] })
    assert.isUndefined(proved(call("\"a\""), presentation, 0)?.covers)
    assert.isUndefined(proved(["a"], ApprovalPresentation.text("a", { covers: ["0"] }), 0)?.covers)
  })
})

const Piece = Schema.Literals([
  "a\n",
  "b\n",
  "c\n",
  "d\n",
  "\n",
  "x",
  "-a\n",
  "+a\n",
  "\t",
  "\r\n",
  "a\r\n",
  "\u200b",
  "é\n",
  "\ufeff"
])
const Text = Schema.Array(Piece).check(Schema.isMaxLength(12))
const Change = Schema.Literals([" ", "\n", "\r", "\u200b", "a"])
const Place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))

describe("whatever the file has, and whatever is written", () => {
  it.effect.prop(
    "the new text is covered exactly where the diff is drawn as it is; one that is another by a character never is",
    [Text, Text, Change, Place],
    ([old, young, change, place]) =>
      Effect.gen(function*() {
        const [before, after] = [old.join(""), young.join("")]
        const files: Files.Files = new Map([["/a.ts", before]])
        const drawn = yield* ApprovalPresentation.fileDiff({ root: "/", path: "a.ts", after, covers: ["content"] })
          .pipe(
            Effect.provide(Files.layer(files))
          )
        const isWhole = Approval.escapeText(drawn.content, { multiline: true }) === drawn.content &&
          !before.startsWith("\ufeff") && after !== ""
        assert.deepStrictEqual(yield* covered(call(after), files), isWhole ? ["content"] : undefined)
        const at = place % (after.length + 1)
        for (const rest of [after.slice(at), after.slice(at + 1)]) {
          const other = after.slice(0, at) + change + rest
          if (other !== after) assert.isUndefined(yield* covered(call(other), files, { after }))
        }
      }),
    { arbitrary: { runs: 200, seed: "covers" } }
  )
})
