/**
 * One call: all that would run, and a key. What was edited is shown whole again, with what changed, and asked again.
 */
import type * as Approval from "@assent/ai/Approval"
import type * as Schema from "effect/Schema"
import type { Key } from "../keys/key.ts"
import type * as Table from "../keys/table.ts"
import * as Scene from "../scene/scene.ts"
import * as Style from "../text/style.ts"
import type { Line } from "../text/style.ts"
import * as Content from "./content.ts"
import * as Deny from "./deny.ts"
import * as Edit from "./edit.ts"
import * as Options from "./options.ts"
import * as Rows from "./rows.ts"
import * as Session from "./session.ts"
import * as Verdict from "./verdict.ts"

/** A call that is asked about, and what is known where it is. */
export interface Asked {
  readonly request: Approval.ApprovalRequest
  /** What may be approved for more than once, where that would be remembered. */
  readonly choices: ((params: Schema.Json) => ReadonlyArray<Session.Choice>) | undefined
  /** Whether the person has an editor of their own. */
  readonly editor: string | undefined
  /** When it is, in milliseconds since 1970. */
  readonly now: number
}

export type Outcome =
  | { readonly _tag: "Decided"; readonly verdict: Verdict.Verdict }
  | { readonly _tag: "Edited"; readonly params: Schema.Json }

const editable = ({ editable, providerExecuted, source }: Approval.ApprovalRequest): boolean =>
  editable !== false && !providerExecuted && source !== "program"

const decided = (verdict: Verdict.Verdict): Scene.Step<Outcome> => Scene.done({ _tag: "Decided", verdict })

/** What an edit has changed, by its names: all of it is shown above. */
const changed = (before: Schema.Json, after: Schema.Json, { signs }: Rows.Room): Line => {
  const names = Edit.changed(before, after)
  return Rows.field(
    "Changed",
    Style.plain(names === undefined ? "all of it" : names.map(Rows.nameOf).join(", ")),
    signs
  )
}

export const scene = (
  asked: Asked,
  params: Schema.Json = asked.request.params,
  at?: number
): Scene.Scene<Outcome> => {
  const { choices, editor, now, request } = asked
  const isEdited = params !== request.params
  const edits = isEdited ? { params } : undefined
  const deny = (note?: string) => decided(Verdict.denied(request, note))
  const options: ReadonlyArray<Options.Option<Outcome>> = [
    { key: "y", says: "Yes, once", step: () => decided(Verdict.once(request, edits)) },
    ...(choices === undefined ? [] : [{
      key: "s" as const,
      says: "Yes, and choose what is not asked again in this session",
      short: "Yes, and for this session…",
      step: () =>
        Scene.go(
          Session.scene(
            choices(params),
            ({ remember, sentence }) => decided(Verdict.forSession(request, sentence, { ...edits, remember }))
          )
        )
    }]),
    ...(editable(request) ?
      [{
        key: "e" as const,
        says: isEdited ? "Edit it again" : "Edit it first",
        step: () =>
          Scene.go(
            Edit.fields(params, request.order, editor, (params): Scene.Step<Outcome> =>
              Scene.done({ _tag: "Edited", params }))
          )
      }] :
      []),
    { key: "n", says: "No, and say why", step: () => Scene.go(Deny.scene(editor, deny)) }
  ]
  const without = (["s", "e"] as ReadonlyArray<Key>).filter((key) => !options.some((option) => option.key === key))
  const offered: Table.Now = { without, points: at !== undefined }
  return {
    place: "question",
    pagedAs: "page",
    waits: without.includes("s")
      ? { wide: "y waits", narrow: "y waits" }
      : { wide: "y and s wait", narrow: "y, s wait" },
    now: offered,
    guarded: true,
    takesPaste: false,
    draw: (window) => ({
      block: [
        Style.heading("May this run?", window.signs),
        ...Content.about(request, now, window),
        ...Content.runs(request, params, window),
        ...(isEdited ? [changed(request.params, params, window)] : [])
      ],
      below: Options.rows(options, at, window)
    }),
    details: (window) => Content.details(request, params, now, window),
    press: (pressed) =>
      Options.press(options, at, pressed, (at) => scene(asked, params, at)) ??
        // At the question Esc is no, to this call: the run goes on.
        (pressed.key === "Esc" ? deny() : Scene.say(""))
  }
}
