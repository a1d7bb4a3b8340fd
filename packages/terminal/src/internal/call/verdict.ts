/**
 * What a person said, as a decision and in words.
 */
import * as Approval from "@assent/ai/Approval"
import * as Safe from "../text/safe.ts"
import type { Line } from "../text/style.ts"
import * as Style from "../text/style.ts"

export interface Verdict {
  readonly decision: Approval.ApprovalDecision
  readonly said: ReadonlyArray<Line>
}

// A person knows what they said: the beginning will do.
const line = (mark: string, text: string, style: Style.Style): Line => ({
  first: Style.plain(`${mark} `, style),
  rest: Style.plain("  ⋮ ", "muted"),
  body: Style.plain(Safe.line(Approval.escapeText(text, { maxLength: 300 })), style),
  prose: true
})

export const approved = (
  text: string,
  fields: ConstructorParameters<typeof Approval.Approved>[0] = {}
): Verdict => ({ decision: new Approval.Approved(fields), said: [line("✔", text, "success")] })

/** `call` is which one, where there are several. */
export const denied = (note?: string, call?: string): Verdict => {
  const reason = note === undefined || note.trim() === "" ? undefined : note
  const which = call === undefined ? "Denied" : `Denied, ${call}`
  return {
    decision: new Approval.Denied(reason === undefined ? {} : { note: reason }),
    said: [line("✖", reason === undefined ? `${which}.` : `${which}: ${reason}`, "error")]
  }
}

/** Neither yes nor no: somebody else answers. */
export const open = (note: string): Verdict => ({ decision: new Approval.Info({ note }), said: [] })

/** This person decides nothing: the request stays open for those who do. */
export const elsewhere = (why: string, call: string): Verdict => ({
  decision: new Approval.Info({ note: `Still open: ${why}.` }),
  said: [line("✖", `Still open, ${call}: ${why}.`, "error")]
})

/** What the person who left said of it. */
export const leftNote = "The user stopped the run. Do not retry."

export const left: Verdict = {
  decision: new Approval.Denied({ note: leftNote }),
  said: [line("✖", "Stopped: this call and all later ones are denied.", "error")]
}

/** Who asked does not wait any more: whatever is pressed from now on is no answer. */
export const takenBack: ReadonlyArray<Line> = [
  line("✖", "Nobody waits for this answer any more; nothing ran.", "error")
]
