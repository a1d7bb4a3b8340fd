/**
 * A folded parameter can be made again from the rows of the screen and the file: whoever read these has seen what is
 * written. The engine's proof is of the diff, and this is of what the terminal makes of it.
 */
import * as Approval from "@assent/ai/Approval"
import * as ApprovalController from "@assent/ai/ApprovalController"
import * as ApprovalPresentation from "@assent/ai/ApprovalPresentation"
import * as Tool from "@assent/ai/Tool"
import * as Toolkit from "@assent/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FileSystem from "effect/FileSystem"
import * as Path from "effect/Path"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as Files from "../../../ai/test/covers/files.ts"
import * as Content from "../../src/internal/call/content.ts"
import * as Cells from "../../src/internal/text/cells.ts"
import * as Signs from "../../src/internal/text/signs.ts"
import * as Style from "../../src/internal/text/style.ts"

interface Written {
  readonly path: string
  readonly content: string
}

/** What somebody is asked who writes a file, and claims of its diff what `drawn` makes of the content. */
const asked = Effect.fnUntraced(function*(
  files: Files.Files,
  written: Written,
  drawn: (content: string) => string = (content) => content,
  metadata = {}
) {
  const WriteFile = Tool.present(
    Tool.make("WriteFile", {
      parameters: { path: Schema.String, content: Schema.String },
      success: Schema.String,
      needsApproval: true,
      dependencies: [FileSystem.FileSystem, Path.Path]
    }),
    ({ content, path }) =>
      ApprovalPresentation.fileDiff({ root: "/", path, after: drawn(content), covers: ["content"], metadata })
  )
  const tools = Toolkit.make(WriteFile)
  let request: Approval.ApprovalRequest | undefined
  const call = Effect.gen(function*() {
    const toolkit = Toolkit.guard(yield* tools)
    return yield* Effect.flatMap(toolkit.handle("WriteFile", written), Stream.runDrain)
  })
  yield* call.pipe(
    Effect.provide(tools.toLayer({ WriteFile: () => Effect.succeed("written") })),
    Effect.provideService(
      ApprovalController.ApprovalController,
      ApprovalController.interactive((asked) => {
        request = asked
        return new Approval.Denied({})
      })
    ),
    Effect.result,
    Effect.provide(Files.layer(files))
  )
  return request!
})

/** Each line in a row of its own, for what may be read of it. */
const rowsOf = (request: Approval.ApprovalRequest): ReadonlyArray<string> => {
  const room = { columns: 10_000, ambiguous: 1 as const, ascii: false, signs: Signs.unicode }
  return Cells.layout(Content.runs(request, request.params, room), room).map(Style.textOf)
}

const isFolded = (rows: ReadonlyArray<string>): boolean => rows.some((row) => row.startsWith("    content ≡"))

const noBreak = "\\ No newline at end of file"

/** The file as it would be, by the old one and what stands on the screen: numbers, signs and texts. */
const read = (rows: ReadonlyArray<string>, before: string): string => {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const made: Array<string> = []
  let at = 0
  const shown = rows.slice(rows.findIndex((row) => row.startsWith("    content ≡")) + 1)
  for (const [index, row] of shown.entries()) {
    const [, number, sign, text] = /^ {4}│ +(\d+) ([-+ ]) (.*)$/.exec(row) ?? []
    if (number === undefined) continue
    const line = `${text}${shown[index + 1]?.endsWith(noBreak) === true ? "" : "\n"}`
    // What is not on the screen is as it was.
    while (sign === "-" ? at < Number(number) - 1 : made.length < Number(number) - 1) made.push(old[at++]!)
    if (sign !== "+") assert.strictEqual(old[at++], line)
    if (sign !== "-") made.push(line)
  }
  return [...made, ...old.slice(at)].join("")
}

const Piece = Schema.Literals([
  ..."abcdefg".split("").map((text) => `${text}\n`),
  "a",
  "\n",
  "- a\n",
  "+ a\n",
  "  │ 1 + a\n",
  "@@ -1 +1 @@\n",
  "世😀\n"
])
const Text = Schema.Array(Piece).check(Schema.isMaxLength(24))
const Place = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))

const runs = { arbitrary: { runs: 40, seed: "folded" } }

describe("a folded parameter", () => {
  it.effect.prop(
    "is what the rows and the file say, to the byte",
    [Text, Text],
    ([old, young]) =>
      Effect.gen(function*() {
        const [before, after] = [old.join(""), young.join("")]
        const request = yield* asked(new Map([["/a.ts", before]]), { path: "a.ts", content: after })
        const rows = rowsOf(request)
        assert.strictEqual(isFolded(rows), after !== "")
        if (after !== "") assert.strictEqual(read(rows, before), after, rows.join("\n"))
      }),
    runs
  )

  it.effect.prop(
    "is whole where the diff is of another text by a character",
    [Text, Text, Place],
    ([old, young, place]) =>
      Effect.gen(function*() {
        const [before, after] = [old.join(""), young.join("")]
        const at = place % (after.length + 1)
        const drawn = `${after.slice(0, at)}x${after.slice(at)}`
        const request = yield* asked(new Map([["/a.ts", before]]), { path: "a.ts", content: after }, () => drawn)
        assert.isFalse(isFolded(rowsOf(request)))
      }),
    runs
  )

  it.effect("of a file with line ends of Windows is folded, and says what they are", () =>
    Effect.gen(function*() {
      const request = yield* asked(new Map([["/a.ts", "one\r\ntwo\r\n"]]), { path: "a.ts", content: "one\r\n2\r\n" })
      const rows = rowsOf(request)
      assert.isTrue(isFolded(rows))
      assert.include(rows, "    lineEnds │ CRLF")
      assert.notInclude(rows.filter((row) => /^ {4}│ +\d/.test(row)).join("\n"), "\\u000d")
    }))

  it.effect("does not hide what the presentation says besides, such as where a link leads", () =>
    Effect.gen(function*() {
      const written = { path: "a.ts", content: "new\n" }
      const request = yield* asked(new Map([["/a.ts", "old\n"]]), written, undefined, { leadsTo: "/etc/hosts" })
      const rows = rowsOf(request)
      assert.isTrue(isFolded(rows))
      assert.include(rows, "    leadsTo │ /etc/hosts")
      // Not even where a parameter says the same for another reason.
      const noted = yield* asked(new Map([["/a.ts", "old\n"]]), written, undefined, { leadsTo: "a.ts" })
      assert.include(rowsOf(noted), "    leadsTo │ a.ts")
    }))
})
