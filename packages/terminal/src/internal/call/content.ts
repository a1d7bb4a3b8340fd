/**
 * What is shown of a request, before anybody is asked: everything that will run, to the last character, and what the tool
 * and the policy say of it.
 */
import * as Approval from "@assent/ai/Approval"
import * as Approver from "@assent/ai/Approver"
import type * as Schema from "effect/Schema"
import { counted, linesOf, many } from "../text/count.ts"
import * as Highlight from "../text/highlight.ts"
import * as Safe from "../text/safe.ts"
import type * as Signs from "../text/signs.ts"
import * as Style from "../text/style.ts"
import type { Line, Row } from "../text/style.ts"
import * as Hunks from "./hunks.ts"
import * as Rows from "./rows.ts"

// =============================================================================
// Who asks
// =============================================================================

const mcp = "mcp."

/** The name without that of its server, which is said beside it. */
const nameOf = ({ source, toolName }: Approval.ApprovalRequest): string => {
  if (source?.startsWith(mcp) !== true) return toolName
  const prefix = [`${source}.`, `${source.slice(mcp.length)}__`].find((prefix) => toolName.startsWith(prefix))
  return prefix === undefined ? toolName : toolName.slice(prefix.length)
}

const toolOf = (asked: Approval.ApprovalRequest): Row => {
  const { providerExecuted, source } = asked
  return [
    { text: Safe.line(nameOf(asked)), style: "bold" },
    ...(source?.startsWith(mcp) === true
      ? Style.plain(`, of the MCP server ${Safe.line(source.slice(mcp.length))}`)
      : source === undefined || source === "local" || source === "program"
      ? []
      : Style.plain(`, of ${Safe.line(source)}`)),
    ...(providerExecuted ? Style.plain(", which runs at the provider of the model") : [])
  ]
}

// Whose tool it is stands beside its name already.
const reasonOf = ({ reason, source }: Approval.ApprovalRequest): string | undefined =>
  source?.startsWith(mcp) === true
    ? reason?.replace(/^It is the tool "[^"]*" of the MCP server "[^"]*"\. /, "")
    : reason

/** The agents, the outermost first, and the conversation; nothing where neither has a name. */
const askedBy = ({ conversation, path = [], source }: Approval.ApprovalRequest, signs: Signs.Signs): string => {
  const agents = ["main", ...path.map(Safe.line)].join(` ${signs.path} `)
  const who = source === "program" ? "this program" : path.length > 0 || conversation !== undefined ? agents : ""
  return conversation === undefined ? who : `${who}, in ${Safe.line(conversation)}`
}

/** Of each list one of its people, in words. */
export const approversOf = (approvers: Approver.Approvers): string =>
  Approver.lists(approvers).map((ids) => ids.map(Safe.line).join(" or ")).join(", and ")

// =============================================================================
// When
// =============================================================================

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

/** How long it is, to the unit that a person would say. */
export const lasting = (millis: number): string => {
  const [unit, word] = millis >= 2 * day
    ? [day, "day"] as const
    : millis >= 2 * hour
    ? [hour, "hour"] as const
    : millis >= 2 * minute
    ? [minute, "minute"] as const
    : [second, "second"] as const
  return many(Math.max(0, Math.round(millis / unit)), word)
}

const time = (at: number): string => {
  const date = new Date(at)
  return Number.isNaN(date.getTime()) ? String(at) : date.toISOString().replace("T", " ").replace(/\.\d+Z$/, " UTC")
}

/** Only where it is soon: a row for what a month hence means nothing is a row too many. */
const expiring = (expiresAt: number | undefined, now: number, signs: Signs.Signs): ReadonlyArray<Line> =>
  expiresAt === undefined || expiresAt - now > hour
    ? []
    : [Rows.field("Expires", Style.plain(`in ${lasting(expiresAt - now)}, at ${time(expiresAt)}`), signs)]

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
  Rows.isRecord(params)
    ? Object.entries(params).find(([, value]) =>
      typeof value === "string" &&
      Approval.escapeText(value, { maxLength: Infinity, multiline: true }) === content
    )?.[0]
    : undefined

/** The text parameters that the engine has made anew from what is drawn, and found to be the same. */
const folded = (asked: Approval.ApprovalRequest, params: Schema.Json): ReadonlyArray<readonly [string, string]> => {
  const { presentation } = asked
  // Of an edit nothing was proved.
  if (params !== asked.params || presentation?.type !== "diff" || !Rows.isRecord(params)) return []
  return (presentation.covers ?? []).flatMap((name) => {
    const value = params[name]
    return typeof value === "string" ? [[name, value] as const] : []
  })
}

const diffRows = (shown: Approval.ApprovalPresentation, signs: Signs.Signs): ReadonlyArray<Line> =>
  shown.content === ""
    ? [Style.prose("nothing changes: the file stays as it is", "muted", Rows.indent)]
    : Rows.marked(signs.bar, Hunks.rows(shown.content, languageOf(shown), signs.cut), signs, true)

/** Of a presentation, what a parameter may say as well. */
const names: ReadonlySet<string> = new Set(["path", "directory"])

/** What a parameter says as well need not be said again; where a link leads is no parameter's, whatever that says. */
const metadataOf = (params: Schema.Json, shown: Approval.ApprovalPresentation): Schema.JsonObject => {
  const values = Rows.isRecord(params) ? Object.values(params) : []
  return Object.fromEntries(
    Object.entries(shown.metadata ?? {}).filter(([name, value]) => !names.has(name) || !values.includes(value))
  )
}

const presentation = (
  params: Schema.Json,
  shown: Approval.ApprovalPresentation,
  same: string | undefined,
  room: Rows.Room
): ReadonlyArray<Line> => {
  const { signs } = room
  const metadata = metadataOf(params, shown)
  const beside = Object.keys(metadata).length === 0 ? [] : Rows.parameters(metadata, room)
  if (same !== undefined) {
    return beside.length === 0
      ? []
      : [Rows.field("Shown as", Style.plain(words[shown.type]), signs), ...beside]
  }
  return [
    Rows.field("Shown as", Style.plain(words[shown.type]), signs),
    ...beside,
    ...(shown.type === "diff" ? diffRows(shown, signs) : Rows.block(shown.content, signs, languageOf(shown)))
  ]
}

// =============================================================================
// Requests
// =============================================================================

/** The tool, who asks, and why. */
export const about = (asked: Approval.ApprovalRequest, now: number, { signs }: Rows.Room): ReadonlyArray<Line> => {
  const { approvers = [], awaited, description, expiresAt, params, toolDescription, toolName } = asked
  const because = reasonOf(asked)
  const who = askedBy(asked, signs)
  return [
    Rows.field("Tool", toolOf(asked), signs),
    // Whoever wrote the tool says so, such as a server.
    ...(toolDescription === undefined || awaited !== undefined ? [] : Rows.quoted(toolDescription, signs)),
    ...(who === "" ? [] : [Rows.field("Asked by", Style.plain(who), signs)]),
    ...(because === undefined ? [] : [Rows.field("Because", Style.plain(Safe.line(because)), signs)]),
    ...(approvers.length === 0
      ? []
      : [Rows.field("Approvers", Style.plain(approversOf(approvers)), signs)]),
    ...expiring(expiresAt, now, signs),
    ...(awaited !== undefined || description === Approval.describe(toolName, params)
      ? []
      : [Rows.field("Summary", Style.plain(Safe.line(description)), signs)])
  ]
}

interface Drawn {
  readonly params: Schema.Json
  readonly room: Rows.Room
  readonly lines: ReadonlyArray<Line>
}

/** Lines that are drawn anew only where they would be others: colours take their time. */
const drawnOnce = (
  draw: (asked: Approval.ApprovalRequest, params: Schema.Json, room: Rows.Room) => ReadonlyArray<Line>
): typeof draw => {
  const drawn = new WeakMap<Approval.ApprovalRequest, Drawn>()
  return (asked, params, room) => {
    const known = drawn.get(asked)
    if (
      known?.params === params && known.room.columns === room.columns && known.room.ambiguous === room.ambiguous &&
      known.room.signs === room.signs
    ) {
      return known.lines
    }
    const lines = draw(asked, params, room)
    drawn.set(asked, { params, room, lines })
    return lines
  }
}

/** All that will run. `params` are those that an approval would run. */
export const runs = drawnOnce((asked, params, room) => {
  const { signs } = room
  const { awaited, order } = asked
  const proved = folded(asked, params)
  const shown = params === asked.params ? asked.presentation : undefined
  const same = shown === undefined ? undefined : sameAs(params, shown)
  const [first] = proved
  return [
    ...Rows.parameters(params, room, {
      order,
      languages: new Map(same === undefined ? [] : [[same, languageOf(shown!)]]),
      instead: new Map(proved.map(([name, value]) => [name, {
        mark: signs.folded,
        text: `the file with this change (${many(linesOf(value).length, "line")}, checked) ${signs.dot} d whole`,
        prose: true,
        lines: name === first?.[0] ? diffRows(shown!, signs) : []
      }]))
    }),
    ...(shown === undefined ? [] : presentation(params, shown, same ?? first?.[0], room)),
    ...Rows.notes([asked.toolName, params], [shown?.content, awaited?.prompt, awaited?.options], signs),
    ...(awaited?.prompt === undefined ? [] : Rows.block(awaited.prompt, signs))
  ]
})

/** What is of use to look a request up elsewhere, and all of it: what was folded, and the parameters in ASCII. */
export const details = (
  asked: Approval.ApprovalRequest,
  params: Schema.Json,
  now: number,
  { signs }: Rows.Room
): ReadonlyArray<Line> => {
  const { approvalId, expiresAt, issuedAt, presentation: shown, source, toolCallId } = asked
  const field = (label: string, text: string) => Rows.field(label, Style.plain(text), signs)
  const proved = folded(asked, params)
  const rest = Rows.isRecord(params)
    ? Object.fromEntries(Object.entries(params).filter(([name]) => !proved.some(([folded]) => folded === name)))
    : params
  const expires = expiresAt === undefined
    ? "no expiry"
    : expiresAt <= now
    ? "expired"
    : `expires in ${lasting(expiresAt - now)}`
  return [
    field("Request", `${Safe.line(approvalId)}, call ${Safe.line(toolCallId)}`),
    field("Asked", issuedAt === undefined ? expires : `${time(issuedAt)}; ${expires}`),
    ...(source === undefined ? [] : [field("Source", Safe.line(source))]),
    ...proved.flatMap(([name, value]) => [
      field("Folded", `${Rows.nameOf(name)}, whole: ${many(linesOf(value).length, "line")}`),
      ...Rows.marked(
        signs.bar,
        Hunks.numbered(Highlight.highlight(Safe.lines(linesOf(value).join("\n")), undefined)),
        signs
      ),
      ...(value.endsWith("\n") ? [] : [Style.prose("no line break at its end", "muted", Rows.indent)])
    ]),
    field("JSON", proved.length === 0 ? "the parameters, in ASCII" : "the other parameters, in ASCII"),
    ...Rows.asciiJson(rest, signs),
    ...(shown === undefined ? [] : [
      field("Shown as", `${words[shown.type]}, of ${counted(shown.content.length)} characters`),
      ...Rows.asciiJson({ ...shown, content: null }, signs)
    ])
  ]
}

// =============================================================================
// In a row
// =============================================================================

const telling = [/^(?:command|cmd|script|code)$/i, /^(?:subject|title)$/i, /path$|^file/i, /^(?:url|query|name|to)$/i]

/** What best says which call it is, in one line: a text of its own, and how many parameters it has beside it. */
export const gist = (
  asked: Approval.ApprovalRequest,
  params: Schema.Json = asked.params
): { readonly text: string; readonly others: number } | undefined => {
  if (!Rows.isRecord(params)) return { text: Safe.line(JSON.stringify(params)), others: 0 }
  const all = Rows.entries(params, asked.order)
  const texts = all.filter(([, value]) => typeof value === "string" && value.trim() !== "")
  const found = telling.map((names) => texts.find(([name]) => names.test(name))).find((one) => one !== undefined) ??
    texts[0] ?? all[0]
  if (found === undefined) return undefined
  const [, value] = found
  const text = typeof value === "string" ? value.split("\n", 1)[0]! : JSON.stringify(value)
  return { text: Safe.line(text), others: all.length - 1 }
}
