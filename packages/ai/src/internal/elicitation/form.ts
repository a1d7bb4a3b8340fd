/**
 * A question to the user of an MCP client, as a form of its protocol: what is asked, whole and escaped (law L15), the
 * fields to fill in, and how what comes back is read. Whatever is no clear yes is a no (law L1).
 */
import type * as McpSchema from "effect/ai/McpSchema"
import * as Approval from "../../Approval.ts"
import * as Approver from "../../Approver.ts"
import { definedFields } from "../fields.ts"
import * as Text from "../text.ts"

/** What a client sends back with an accepted form. */
export type Content = McpSchema.ElicitAcceptResult["content"]

export type Fields = Readonly<Record<string, McpSchema.PrimitiveSchemaDefinition>>

export interface Form {
  readonly message: string
  readonly fields: Fields
  readonly required: ReadonlyArray<string>
  readonly read: (content: Content) => Approval.ApprovalDecision
}

export interface Options {
  /** Whether the client's revision of the protocol has fields of which one option, or several, are chosen by title. */
  readonly hasTitledOptions: boolean
  /** Whether an answer for the session would be remembered. */
  readonly remembers: boolean
}

// =============================================================================
// Consent
// =============================================================================

/** May this run? */
export const consent = (request: Approval.ApprovalRequest, options: Options): Form => {
  const forSession = options.remembers && request.rememberable !== false
  const choices = forSession ? [{ ...once, title: "Approve this once" }, session, deny] : [once, deny]
  return {
    message: paragraphs([
      `${subjectOf(request)} wants to run with exactly these parameters:`,
      paramsOf(request),
      ...explanations(request),
      ...(forSession ? sessionOf(request) : [])
    ]),
    ...verdict(choices, options),
    read: (content) => readVerdict(content, choices)
  }
}

/** A yes or no that a tool which has begun waits for. */
export const question = (request: Approval.ApprovalRequest, options: Options): Form => {
  const choices = [once, deny]
  return {
    message: asking(request),
    ...verdict(choices, options),
    read: (content) => readVerdict(content, choices)
  }
}

interface Choice {
  readonly value: string
  readonly title: string
}

const once: Choice = { value: "approve", title: "Approve" }

const session: Choice = { value: "approve_for_session", title: "Approve for this session" }

const deny: Choice = { value: "deny", title: "Deny" }

const verdict = (choices: ReadonlyArray<Choice>, options: Options): Pick<Form, "fields" | "required"> => ({
  fields: {
    decision: oneOf("Decision", choices, options),
    reason: {
      type: "string",
      title: "Reason",
      description: "A reason that the assistant reads. It can stay empty.",
      maxLength: maxReasonLength
    }
  },
  required: ["decision"]
})

const maxReasonLength = 1_000

const readVerdict = (content: Content, choices: ReadonlyArray<Choice>): Approval.ApprovalDecision => {
  if (content === undefined) return new Approval.Denied({ note: withoutAnswer })
  if (Object.keys(content).some((name) => name !== "decision" && name !== "reason")) {
    return new Approval.Denied({ note: notUnderstood })
  }
  const { decision, reason } = content
  if (typeof decision !== "string" || (reason !== undefined && typeof reason !== "string")) {
    return new Approval.Denied({ note: notUnderstood })
  }
  // Written by hand where the client has no options to show.
  const said = decision.trim().toLowerCase()
  const note = reason === undefined || reason.trim() === "" ? undefined : Text.truncate(reason.trim(), maxReasonLength)
  switch (choices.find(({ value }) => value === said)?.value) {
    case once.value:
      return new Approval.Approved({ remember: "none", ...definedFields({ note }) })
    case session.value:
      return new Approval.Approved({ remember: "session", ...definedFields({ note }) })
    case deny.value:
      return new Approval.Denied({ note: note ?? "The user denied this call." })
    default:
      return new Approval.Denied({ note: notUnderstood })
  }
}

/** Whether the answer to any question of this kind is a yes. */
export const readConsent = (content: Content): Approval.ApprovalDecision => readVerdict(content, [once, session, deny])

export const withoutAnswer = "The client accepted the question, but sent no answer, so nothing was approved."

export const notUnderstood =
  "The client accepted the question, but its answer does not fit the question, so nothing was approved."

// =============================================================================
// Fields
// =============================================================================

/** One of several options; a text that says which where the protocol has no such fields. */
export const oneOf = (
  title: string,
  choices: ReadonlyArray<Choice>,
  { hasTitledOptions }: Options
): McpSchema.PrimitiveSchemaDefinition =>
  hasTitledOptions
    ? { type: "string", title, oneOf: choices.map(({ title, value }) => ({ const: value, title })) }
    : {
      type: "string",
      title,
      description: `Write ${choices.map(({ title, value }) => `"${line(value)}" (${title})`).join(" or ")}.`
    }

// =============================================================================
// Messages
// =============================================================================

/** What a tool that has begun asks. */
export const asking = (request: Approval.ApprovalRequest): string =>
  paragraphs([
    `${subjectOf(request)}, which is running with these parameters:`,
    paramsOf(request),
    "asks:",
    indented(request.awaited?.prompt ?? request.awaited?.name ?? request.description),
    ...explanations(request)
  ])

const paragraphs = (texts: ReadonlyArray<string | undefined>): string =>
  texts.filter((text) => text !== undefined).join("\n\n")

const subjectOf = ({ source, toolName }: Approval.ApprovalRequest): string =>
  `${source === "program" ? "The program's step" : "The tool"} ${Text.quote(toolName, Infinity)}`

// Not even cut where that is said: the person approves the whole of it.
const paramsOf = ({ params }: Approval.ApprovalRequest): string =>
  indented(JSON.stringify(params, undefined, 2) ?? "null")

const explanations = (request: Approval.ApprovalRequest): ReadonlyArray<string | undefined> => {
  const { approvers, description, params, presentation, reason, toolName } = request
  return [
    // The default one says in short what has been said in full.
    ...(description === Approval.describe(toolName, params) ? [] : ["Description:", indented(description)]),
    ...(reason === undefined ? [] : ["You are asked because:", indented(reason)]),
    approvers === undefined || approvers.length === 0
      ? undefined
      : `To be decided by: ${Approver.lists(approvers).map((ids) => ids.map(line).join(" or ")).join(", and ")}`,
    ...(presentation === undefined ? [] : [
      `What it does (${kindOf(presentation)}):`,
      indented(presentation.content),
      presentation.metadata === undefined ? undefined : indented(JSON.stringify(presentation.metadata, undefined, 2))
    ])
  ]
}

// A language comes from the name of a file, and that from a model.
const kindOf = ({ language, type }: Approval.ApprovalPresentation): string =>
  language !== undefined && nameOfLanguage.test(language) ? `${type} ${language}` : type

const nameOfLanguage = /^[\w+#.-]{1,32}$/

const sessionOf = (request: Approval.ApprovalRequest): ReadonlyArray<string> =>
  request.session === undefined
    ? [`${covers} exactly this call`]
    : [covers, indented(request.session)]

const covers = `"${session.title}" covers, until it ends:`

/** Escaping what is escaped already changes nothing. */
const line = (text: string): string => Text.escape(text, { maxLength: Infinity })

// Set off, so that no text from elsewhere can pass for what we say ourselves, or for markup.
const indented = (text: string): string =>
  Text.escape(text, { maxLength: Infinity, multiline: true }).split("\n").map((line) => `    ${line}`).join("\n")
