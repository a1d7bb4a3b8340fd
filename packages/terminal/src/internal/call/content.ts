/**
 * What is shown of a request, before anybody is asked: everything that will run, to the last character, and what the tool
 * and the policy say of it. Text that is not ours stands behind a mark on every row, so that it cannot pass for ours:
 * `│` begins a line of a text, `=` one of data, and `⋮` what a row had no room for.
 */
import * as Approval from "@assent/ai/Approval"
import * as Approver from "@assent/ai/Approver"
import type * as Schema from "effect/Schema"
import * as Cells from "../text/cells.ts"
import * as Diff from "../text/diff.ts"
import * as Highlight from "../text/highlight.ts"
import * as Json from "../text/json.ts"
import * as Safe from "../text/safe.ts"
import * as Style from "../text/style.ts"
import type { Line, Row } from "../text/style.ts"

// =============================================================================
// Lines
// =============================================================================

const labelWidth = 11

/** A word of ours, and what it says of the request. */
export const field = (label: string, body: Row): Line => ({
  first: [{ text: `  ${body.length === 0 ? label : label.padEnd(labelWidth)}`, style: "muted" }],
  rest: Style.plain(`  ${" ".repeat(labelWidth - 2)}⋮ `, "muted"),
  body,
  prose: true
})

export const heading = (text: string): Line => ({
  first: [],
  rest: Style.plain("  "),
  body: Style.plain(`━━ ${text} ━━`, "bold"),
  prose: true
})

const indent = "    "

const marked = (mark: string, rows: ReadonlyArray<Row>): ReadonlyArray<Line> =>
  rows.map((body) => ({
    first: Style.plain(`${indent}${mark} `, "muted"),
    rest: Style.plain(`${indent}⋮ `, "muted"),
    body: body.map(({ style, text }) => ({ text: Safe.tabs(text), style }))
  }))

/** A text of several lines, whole. */
export const block = (text: string, language?: string): ReadonlyArray<Line> =>
  marked("│", Highlight.highlight(Safe.lines(text), language))

// What JSON leaves as it is may still be invisible; in a text within JSON an escape means itself.
const json = (value: Schema.Json): ReadonlyArray<Line> =>
  marked("=", Highlight.highlight(Safe.lines(Json.format(value)), "json"))

const asciiJson = (value: Schema.Json): ReadonlyArray<Line> =>
  marked("=", Highlight.highlight(Safe.lines(Json.ascii(Json.format(value))), "json"))

/** Changes, with their signs. */
export const changes = (rows: ReadonlyArray<Row>): ReadonlyArray<Line> => marked("│", rows)

// =============================================================================
// Parameters
// =============================================================================

const maxInline = 60

/**
 * A name or a text in one line: in quotes where it could be taken for something else, or for an escape of ours, or has
 * an end one cannot see.
 */
const inline = (text: string): string =>
  text === "" || /^\s|\s$|^["[{]|\\u/.test(text) || isLiteral(text) ? Safe.line(JSON.stringify(text)) : Safe.line(text)

const isLiteral = (text: string): boolean => /^(true|false|null|-?\d+(\.\d+)?(e[+-]?\d+)?)$/i.test(text)

const nameOf = (name: string): string =>
  /^[\p{L}_$][\p{L}\p{N}_$-]*$/u.test(name) ? Safe.line(name) : Safe.line(JSON.stringify(name))

const isRecord = (value: Schema.Json): value is Schema.JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value)

type Shown = { readonly name: string; readonly mark: string; readonly text: string } | {
  readonly name: string
  readonly kind: string
  readonly lines: ReadonlyArray<Line>
}

const shownOf = (name: string, value: Schema.Json, language: string | undefined): Shown => {
  if (typeof value === "string") {
    const text = inline(value)
    if (!value.includes("\n") && language === undefined && Cells.cells(text) <= maxInline) {
      return { name, mark: "│", text }
    }
    const count = value.split("\n").length
    return { name, kind: count === 1 ? "text" : `text, ${count} lines`, lines: block(value, language) }
  }
  if (typeof value !== "object" || value === null) return { name, mark: "=", text: String(value) }
  return { name, kind: "JSON", lines: json(value) }
}

const maxPadding = 12

/** Every parameter, whole. A language of a name is that of its text. */
export const parameters = (
  params: Schema.Json,
  languages: ReadonlyMap<string, string | undefined> = new Map()
): ReadonlyArray<Line> => {
  if (!isRecord(params)) return json(params)
  const entries = Object.entries(params)
  if (entries.length === 0) return [Style.prose("none", "muted", indent)]
  const shown = entries.map(([name, value]) => shownOf(name, value, languages.get(name)))
  const padding = shown.reduce(
    (widest, one) => "mark" in one ? Math.max(widest, Math.min(maxPadding, Cells.cells(nameOf(one.name)))) : widest,
    0
  )
  return shown.flatMap((one): ReadonlyArray<Line> => {
    const name = nameOf(one.name)
    if ("mark" in one && Cells.cells(name) <= maxPadding) {
      const label = `${indent}${name}${" ".repeat(padding - Cells.cells(name))} `
      return [{
        first: [{ text: label, style: "title" }, { text: `${one.mark} `, style: "muted" }],
        rest: Style.plain(`${" ".repeat(indent.length + padding + 1)}⋮ `, "muted"),
        body: Style.plain(one.text)
      }]
    }
    const kind = "kind" in one ? [{ text: ` (${one.kind})`, style: "muted" as const }] : []
    return [
      {
        first: Style.plain(indent),
        rest: Style.plain(`${indent}⋮ `, "muted"),
        body: [{ text: name, style: "title" }, ...kind]
      },
      ...("kind" in one ? one.lines : marked(one.mark, [Style.plain(one.text)]))
    ]
  })
}

// In JSON a backslash that means itself is two.
const hasEscapes = (value: unknown): boolean => {
  const text = JSON.stringify(value).replaceAll("\\\\", "")
  return Safe.line(text) !== text || /\\u|\\[bfr]/.test(text)
}

// The blocks whose letters run so.
const fromRightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

const notes = (runs: ReadonlyArray<unknown>, said: ReadonlyArray<unknown>): ReadonlyArray<Line> => [
  ...(hasEscapes(runs)
    ? [field("Note", Style.plain("invisible characters are shown as escapes: \\u202e"))]
    : []),
  ...(fromRightToLeft.test(JSON.stringify([runs, said]))
    ? [field(
      "Note",
      Style.plain(
        "some letters run from right to left, and a terminal may show what stands beside them in another order;" +
          " the details have the parameters in ASCII"
      )
    )]
    : [])
]

// =============================================================================
// Presentations
// =============================================================================

const languageOf = ({ language, metadata, type }: Approval.ApprovalPresentation): string | undefined =>
  language ?? (type === "command" ? "bash" : type === "structured" ? "json" : Highlight.languageOf(metadata?.["path"]))

const words: Record<Approval.ApprovalPresentation["type"], string> = {
  text: "a text",
  diff: "a diff",
  file_content: "a file",
  command: "a command",
  structured: "data"
}

/** The parameter that says just what the presentation says. */
const sameAs = (params: Schema.Json, { content }: Approval.ApprovalPresentation): string | undefined =>
  isRecord(params)
    ? Object.entries(params).find(([, value]) =>
      typeof value === "string" &&
      Approval.escapeText(value, { maxLength: Infinity, multiline: true }) === content
    )?.[0]
    : undefined

const presentation = (
  params: Schema.Json,
  shown: Approval.ApprovalPresentation,
  isEdited: boolean
): ReadonlyArray<Line> => {
  const same = sameAs(params, shown)
  const metadata = Object.entries(shown.metadata ?? {})
  return [
    field(
      "Shown as",
      Style.plain(
        words[shown.type] + (same === undefined ? "" : `, which is ${nameOf(same)} above`) +
          (isEdited ? ", of the proposed call and not of your edit" : "")
      )
    ),
    ...(metadata.length === 0 ? [] : parameters(Object.fromEntries(metadata))),
    ...(same !== undefined
      ? []
      : shown.type === "diff"
      ? changes(Diff.colored(Safe.lines(shown.content)))
      : block(shown.content, languageOf(shown)))
  ]
}

// =============================================================================
// Requests
// =============================================================================

const time = (at: number): string => {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString()
}

/** To the minute before, for whoever only has to be in time. */
const minute = (at: number): string => time(at).replace(/^([-\d]+)T(\d\d:\d\d):.*Z$/, "$1 $2 UTC")

/** All that is to be seen before a request may be answered. `params` are those that an approval would run. */
export const request = (
  title: string,
  asked: Approval.ApprovalRequest,
  params: Schema.Json = asked.params
): ReadonlyArray<Line> => {
  const {
    approvers,
    awaited,
    description,
    expiresAt,
    path = [],
    presentation: shown,
    providerExecuted,
    reason,
    source
  } = asked
  const same = shown === undefined ? undefined : sameAs(params, shown)
  const languages = new Map(same === undefined ? [] : [[same, languageOf(shown!)]])
  return [
    Style.prose("", undefined, ""),
    heading(title),
    // Which agent asks: what the outermost was told to do is another call.
    ...(path.length === 0 ? [] : [field("Agent", Style.plain(path.map(Safe.line).join(" > ")))]),
    field("Tool", [{ text: Safe.line(asked.toolName), style: "bold" }]),
    ...(source === undefined || source === "local" ? [] : [field("Source", Style.plain(Safe.line(source)))]),
    ...(providerExecuted ? [field("Runs at", Style.plain("the provider of the model, not in this program"))] : []),
    ...(reason === undefined ? [] : [field("Reason", Style.plain(Safe.line(reason)))]),
    ...(approvers === undefined || approvers.length === 0
      ? []
      : [field("Approvers", Style.plain(approversOf(approvers)))]),
    ...(expiresAt === undefined ? [] : [field("Expires", Style.plain(minute(expiresAt)))]),
    ...(awaited !== undefined || description === Approval.describe(asked.toolName, asked.params)
      ? []
      : [field("Summary", Style.plain(Safe.line(description)))]),
    field("Parameters", []),
    ...parameters(params, languages),
    ...(shown === undefined ? [] : presentation(params, shown, params !== asked.params)),
    ...notes([asked.toolName, params], [shown?.content, awaited?.prompt, awaited?.options]),
    ...(awaited?.prompt === undefined ? [] : [field("Question", []), ...block(awaited.prompt)])
  ]
}

/** What is of use to look a request up elsewhere, and the parameters as JSON, in ASCII. */
export const details = (asked: Approval.ApprovalRequest, params: Schema.Json): ReadonlyArray<Line> => [
  heading("Details"),
  field("Request", Style.plain(Safe.line(asked.approvalId))),
  field("Call", Style.plain(Safe.line(asked.toolCallId))),
  field("Source", Style.plain(Safe.line(asked.source ?? "local"))),
  ...(asked.issuedAt === undefined ? [] : [field("Asked", Style.plain(time(asked.issuedAt)))]),
  ...(asked.expiresAt === undefined ? [] : [field("Expires", Style.plain(time(asked.expiresAt)))]),
  field("Parameters", []),
  ...asciiJson(params),
  ...(asked.presentation === undefined ? [] : [
    field("Shown as", Style.plain(asked.presentation.type)),
    ...asciiJson({ ...asked.presentation, content: `(${asked.presentation.content.length} characters)` })
  ])
]

/** The call in a line, for lists of calls that are shown whole above. */
export const short = (asked: Approval.ApprovalRequest): string =>
  Safe.line(Approval.describe(asked.toolName, asked.params))

/** Of each list one of its people, in words. */
export const approversOf = (approvers: Approver.Approvers): string =>
  Approver.lists(approvers).map((ids) => ids.map(Safe.line).join(" or ")).join(", and ")
