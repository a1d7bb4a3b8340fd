/** What is said of a decision to the model and to people, where it does not depend on the call. */
import type { OpenWhy } from "./decision.ts"

/** Why a call is still open; nothing where it was just not answered, or where the reason is in what was answered. */
export const open: { readonly [Why in OpenWhy]: string | undefined } = {
  asked: undefined,
  held:
    "The approval policy failed, so the approved call did not run yet. Nothing is lost: fix the policy and try again.",
  untrustedEdit:
    "Edited parameters count only from a trusted channel, so the call did not run. Approve or deny it as it" +
    " was proposed.",
  unfitEdit: undefined,
  noToolkit: "The tool was not there in this turn, so it could not go on. Nothing is lost: the answer is kept.",
  invalidAnswer: undefined,
  notAnApprover: undefined,
  othersNeeded: undefined
}

/** As {@link open}, of a tool that had begun. */
export const heldWaiting =
  "The approval policy failed, so the tool did not go on yet. Nothing is lost: fix the policy and try again."

export const gone =
  "The tool had begun and was waiting, but the state that it needs to go on is not known here any more." +
  " What it did before is not undone. Check before calling it again."

export const over = "The tool had begun, was answered, and went on before, but its result is not known here. Check" +
  " before calling it again."

/** Of a request from before a restart, or of another process. What to do about it is in the log. */
export const unknownKey = "The approval cannot be checked: it was asked for before a restart, or by another process."

/** Of a call of which nobody here knows more. */
export const notRunNow =
  "The call was not run now, and whether it ran before is not known here. Check, and ask again if" +
  " it is still needed."

/** What a tool waits for: it has a name where its author gave it one. */
export const awaited = ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
  kind === "nested" ? "what its agents wait for" : `"${name}"`

/** Of what ended as somebody said, and had begun. */
export const begunAndEnded =
  "The tool had begun and was waiting. It did not go on, and what it did before it waited is" +
  " not undone."

/** Of what had begun, where nobody knows more. */
export const begunAndWaits = "The tool has begun and waits; its result will follow."

/** Of a call that was cut short while it ran. */
export const cutShort = "The tool had begun, and what it did is unknown. Check before calling it again."

/** Of what a tool did before it waited, when it does not go on. */
export const stands = (description: string): string =>
  `${description} It did not go on, and what it did before it waited is not undone. Check before calling it again.`

export const unknownTool = (name: string, available: ReadonlyArray<string>): string =>
  `The tool "${name.slice(0, 128)}" is not in the toolkit. Nothing ran. ` +
  (available.length === 0 ? "There are no tools to call." : `Call one of the available tools: ${some(available)}.`)

/** How many names are said, and how much of each. */
const most = { names: 20, length: 64 }

const some = (names: ReadonlyArray<string>): string => {
  const said = names.slice(0, most.names).map((name) => name.slice(0, most.length)).join(", ")
  return names.length <= most.names ? said : `${said}, and ${names.length - most.names} more`
}

/** Of a request that several have to approve: who has, and of whom one is needed still. */
export const approvedBy = (
  names: ReadonlyArray<string>,
  needed: ReadonlyArray<ReadonlyArray<string>>,
  edited: boolean
): string =>
  `Approved already by ${names.join(", ")}${
    edited ? ", with changed parameters; other parameters need new approvals" : ""
  }.` +
  (needed.length === 0 ? "" : ` Still needed: ${needed.map((ids) => ids.join(" or ")).join(", and ")}.`)

/** One after the other, where there are any. */
export const sentences = (...some: ReadonlyArray<string | undefined>): string | undefined => {
  const said = some.filter((one) => one !== undefined)
  return said.length === 0 ? undefined : said.join(" ")
}

export const openedByHand =
  "The tool ran, and a conversation that it opened waits for somebody whom nobody told. Its handler has to talk to an agent with" +
  " AgentTool.converse, which waits with it. What the tool did is not undone."
