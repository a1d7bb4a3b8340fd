/**
 * What a person said, as a decision and as the one row that stays of it. What was granted is never cut; of the rest a
 * person knows what they said, so that its beginning will do.
 */
import * as Approval from "@assent/ai/Approval"
import * as Cells from "../text/cells.ts"
import { many } from "../text/count.ts"
import * as Safe from "../text/safe.ts"
import * as Style from "../text/style.ts"
import type { Line } from "../text/style.ts"
import * as Content from "./content.ts"
import type * as Rows from "./rows.ts"

export interface Verdict {
  readonly decision: Approval.ApprovalDecision
  readonly said: Said
}

/** A row that stays; nothing where nothing was asked. */
export type Said = ((room: Rows.Room) => Line) | undefined

type Mark = "yes" | "no" | "stopped"

const styles: Record<Mark, Style.Style> = { yes: "success", no: "error", stopped: "error" }

const wordWidth = 8

const row =
  (mark: Mark, word: string, tool: string | undefined, text: string, isWhole: boolean): NonNullable<Said> =>
  ({ ambiguous, columns, signs }) => {
    const first = `${signs[mark]} ${word.padEnd(wordWidth)} `
    const told = tool === undefined ? text : `${Safe.line(tool)} ${signs.bar} ${text}`
    const room = columns - Cells.cells(first, ambiguous)
    return {
      first: Style.plain(first, styles[mark]),
      rest: Style.plain(`         ${signs.more} `, "muted"),
      body: Style.plain(isWhole || room < 8 ? told : Cells.clip(told, room, signs.cut, ambiguous)),
      prose: true
    }
  }

const ofCall = (
  mark: Mark,
  word: string,
  asked: Approval.ApprovalRequest,
  { isWhole = false, says = "" }: { readonly says?: string; readonly isWhole?: boolean } = {}
): NonNullable<Said> => {
  const told = Content.gist(asked)
  return row(mark, word, asked.toolName, `${told?.text ?? "no parameters"}${says}`, isWhole)
}

const beside = (asked: Approval.ApprovalRequest): string => {
  const others = Content.gist(asked)?.others ?? 0
  return others === 0 ? "" : `  +${many(others, "parameter")}`
}

export const once = (
  asked: Approval.ApprovalRequest,
  edited?: { readonly params: Approval.ApprovalRequest["params"] }
): Verdict => ({
  decision: new Approval.Approved({ ...edited, remember: "none" }),
  said: ofCall("yes", edited === undefined ? "once" : "edited", asked, { says: beside(asked) })
})

export const forSession = (
  asked: Approval.ApprovalRequest,
  sentence: string,
  fields: ConstructorParameters<typeof Approval.Approved>[0]
): Verdict => ({
  decision: new Approval.Approved(fields),
  said: row("yes", "session", asked.toolName, `not asked again: ${sentence}`, true)
})

export const denied = (asked: Approval.ApprovalRequest, note?: string): Verdict => {
  const reason = note === undefined || note.trim() === "" ? undefined : note
  return {
    decision: new Approval.Denied(reason === undefined ? {} : { note: reason }),
    said: ofCall("no", "denied", asked, { says: reason === undefined ? "" : `; said: ${Safe.line(reason)}` })
  }
}

/** What a tool that waits was told. */
export const answered = (
  asked: Approval.ApprovalRequest,
  text: string,
  fields: ConstructorParameters<typeof Approval.Approved>[0]
): Verdict => ({
  decision: new Approval.Approved(fields),
  said: row("yes", "answered", asked.toolName, Safe.line(text), false)
})

/** A tool's own question, answered by a no. */
export const refused = (asked: Approval.ApprovalRequest, note?: string): Verdict => ({
  decision: new Approval.Denied(note === undefined || note.trim() === "" ? {} : { note }),
  said: row("no", "declined", asked.toolName, note === undefined ? "" : `said: ${Safe.line(note)}`, false)
})

/** Neither yes nor no: somebody else answers. */
export const open = (note: string): Verdict => ({ decision: new Approval.Info({ note }), said: undefined })

/** This person decides nothing: the request stays open for those who do. */
export const elsewhere = (asked: Approval.ApprovalRequest, why: string): Verdict => ({
  decision: new Approval.Info({ note: `Still open: ${why}.` }),
  said: ofCall("no", "open", asked, { says: `; ${why}`, isWhole: true })
})

/** What the person who left said of it. */
export const leftNote = "The user stopped the run. Do not retry."

/** The person has left. `ends` is whether the program ends with that. */
export const left = (ends: boolean): Verdict => ({
  decision: new Approval.Denied({ note: leftNote, stop: true }),
  said: row("stopped", "stopped", undefined, ends ? "exit code 130" : "whatever is asked from now on is denied", true)
})

/** Who asked does not wait any more: whatever is pressed from now on is no answer. */
export const takenBack: NonNullable<Said> = row(
  "no",
  "gone",
  undefined,
  "nobody waits for this answer any more; nothing ran",
  true
)
