import { ApprovalMatcher } from "@assent/shell"
import { assert, describe, it } from "@effect/vitest"
import * as Bypasses from "./bypasses.ts"

const outcomeOf = ({ line, outcome, pattern }: Bypasses.Bypass): Bypasses.Bypass["outcome"] => {
  const matcher = ApprovalMatcher.shell([pattern], { param: "command" })
  const allows = outcome === "covered" || outcome === "not covered"
  return allows
    ? matcher.covers({ command: line }) ? "covered" : "not covered"
    : matcher.mayCover({ command: line })
    ? "forbidden"
    : "not forbidden"
}

/** What the issue asks to be shown. */
const asked: ReadonlyArray<string> = [
  "anthropics/claude-code#4956",
  "anthropics/claude-code#28784",
  "google-gemini/gemini-cli#5495",
  "google-gemini/gemini-cli#9181",
  "google-gemini/gemini-cli#11766",
  "google-gemini/gemini-cli#24632",
  "microsoft/vscode#286001",
  "microsoft/vscode#296145",
  "openai/codex#15796",
  "openai/codex#18694",
  "openai/codex#27025",
  "openai/codex#28714",
  "openai/codex#37078",
  "CVE-2025-54795",
  "CVE-2025-58764",
  "CVE-2025-59041",
  "CVE-2025-62354",
  "CVE-2025-64755",
  "CVE-2025-66032",
  "CVE-2026-22708",
  "CVE-2026-24887",
  "CVE-2026-25722"
]

describe("known bypasses", () => {
  it.each(Bypasses.bypasses.map((row) => [row.source, row.pattern, row.line, row.outcome, row] as const))(
    "%s: `%s` and %j: %s",
    (_source, _pattern, _line, outcome, row) => {
      assert.strictEqual(outcomeOf(row), outcome, row.reason)
    }
  )

  it("every source that was asked for is in the table, or was not found", () => {
    const shown = new Set(Bypasses.bypasses.map(({ source }) => source))
    assert.deepStrictEqual(asked.filter((source) => !shown.has(source)).toSorted(), Bypasses.notFound.toSorted())
  })

  it("every pattern that allows covers some line, but for programs of which nothing is known", () => {
    const isAllowing = ({ outcome }: Bypasses.Bypass) => outcome.endsWith("covered")
    const patterns = new Set(Bypasses.bypasses.filter(isAllowing).map(({ pattern }) => pattern))
    for (const { outcome, pattern } of Bypasses.bypasses) if (outcome === "covered") patterns.delete(pattern)
    assert.deepStrictEqual([...patterns].toSorted(), [
      "base64 *",
      "cd *",
      "declare *",
      "export *",
      "history *",
      "man *",
      "printf *",
      "test *",
      "xargs *"
    ])
  })

  it("no line is asked about twice by the same pattern", () => {
    const rows = Bypasses.bypasses.map(({ line, pattern }) => JSON.stringify([pattern, line]))
    assert.deepStrictEqual(rows.filter((row, index) => rows.indexOf(row) !== index), [])
  })
})
