// @ts-check
/**
 * What a card says of a call: what is to happen, who may decide, how it stands and who decided. Pure.
 *
 * @typedef {import("./messages.js").ToolPart} ToolPart
 * @typedef {import("./messages.js").Message} Message
 * @typedef {import("./messages.js").Messages} Messages
 * @typedef {import("./server.js").Person} Person
 * @typedef {"preparing" | "open" | "waiting" | "sending" | "unsent" | "answered" | "running" | "done" | "failed" | "denied" | "void" | "unknown"} CardState
 */
import { escape } from "./escape.js"
import { isUnanswered } from "./messages.js"

const notForPeople = new Set(["webhook", "timer", "external"])

/** @param {ToolPart} part */
export const descriptorOf = (part) => part.approval?.descriptor

/** What is to happen, in a line. @param {ToolPart} part */
export const summary = (part) => {
  const descriptor = descriptorOf(part)
  const said = descriptor?.awaited?.prompt ?? descriptor?.description ?? describe(part)
  return escape(said, { maxLength: 300 })
}

/** A call of which nothing is known but itself. @param {ToolPart} part */
const describe = ({ input, name }) => {
  const params = typeof input === "object" && input !== null ? Object.entries(input) : []
  /** @param {unknown} value */
  const write = (value) => {
    const text = JSON.stringify(value) ?? "null"
    return text.length <= 40 ? text : `${text.slice(0, 40)}…`
  }
  return `${name}(${params.map(([key, value]) => `${key}: ${write(value)}`).join(", ")})`
}

/** @param {Message} message @param {string} toolCallId */
export const summaryOf = ({ parts }, toolCallId) => {
  const part = parts.find((part) => part.type === "tool" && part.toolCallId === toolCallId)
  return part?.type === "tool" ? summary(part) : "A call"
}

/** @param {ToolPart} part @param {import("./chat.js").Click | undefined} click @returns {CardState} */
export const stateOf = (part, click) => {
  switch (part.state) {
    case "input-streaming":
      return "preparing"
    case "input-available":
      return "running"
    case "approval-requested":
      if (click !== undefined) return click.state === "unsent" ? "unsent" : "sending"
      return notForPeople.has(descriptorOf(part)?.interaction ?? "approval") ? "waiting" : "open"
    case "approval-responded":
      return part.isPreliminary === true ? "running" : "answered"
    case "output-available":
      return "done"
    case "output-denied":
      return "denied"
    case "output-error":
      if (part.fate?.state === "unknown") return "unknown"
      return isUnanswered(part) ? "void" : "failed"
  }
}

/** What is asked for: consent, or an answer of some kind. @param {ToolPart} part */
export const kindOf = (part) => descriptorOf(part)?.awaited?.kind ?? "approval"

/** Whether yes and no are all that is asked for. @param {ToolPart} part */
export const isConsent = (part) => kindOf(part) === "approval" || kindOf(part) === "getApproval"

/** @param {ToolPart} part */
export const isEditable = (part) => {
  const descriptor = descriptorOf(part)
  return kindOf(part) === "approval" && descriptor !== undefined && descriptor.editable !== false &&
    !descriptor.providerExecuted && descriptor.source !== "program"
}

/** @param {ToolPart} part */
export const isRememberable = (part) => kindOf(part) === "approval" && descriptorOf(part)?.rememberable !== false

/**
 * The people who may decide, in words, and whether this person is one of them.
 *
 * @param {ToolPart} part
 * @param {Person} person
 * @param {ReadonlyArray<Person>} people
 */
export const deciders = (part, person, people) => {
  const { approvers, principal, selfApproval } = descriptorOf(part) ?? {}
  const given = descriptorOf(part)?.awaited?.approvers ?? approvers ?? []
  const lists = /** @type {ReadonlyArray<ReadonlyArray<string>>} */ (typeof given[0] === "string" ? [given] : given)
  const isOwn = selfApproval === false && person.id === principal
  const may = !isOwn && (lists.length === 0 || lists.some((ids) => ids.includes(person.id)))
  /** @param {string} id */
  const nameOf = (id) => escape(people.find((one) => one.id === id)?.name ?? id)
  const words = lists.length > 0
    ? lists.map((ids) => ids.map(nameOf).join(" or ")).join(", and ")
    : selfApproval === false
    ? "somebody other than who asked for it"
    : undefined
  return { may, words }
}

/**
 * What an edit changed: values by the names of parameters, out of the operations of a JSON Patch.
 *
 * @param {ToolPart} part
 * @returns {Readonly<Record<string, unknown>> | undefined}
 */
export const changesOf = ({ fate }) => {
  const edits = fate?.edits
  if (!Array.isArray(edits)) return undefined
  /** @param {string} path */
  const nameOf = (path) =>
    path.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~")).join(" › ") || "all"
  const changes = edits.flatMap((edit) =>
    typeof edit?.path === "string" ? [[nameOf(edit.path), edit.op === "remove" ? "(left out)" : edit.value]] : []
  )
  return changes.length === 0 ? undefined : Object.fromEntries(changes)
}

/**
 * Who decided what, as a sentence; `undefined` where nobody has. `mine` is what this page answered: who lost is told so.
 *
 * @param {ToolPart} part
 * @param {Person} person
 * @param {boolean | undefined} mine
 */
export const verdictOf = (part, person, mine) => {
  const { approval, fate, state } = part
  const by = fate?.decidedBy
  const approved = state === "output-denied" ? false : approval?.approved ?? (by === undefined ? undefined : true)
  if (approved === undefined || approval === undefined || state === "approval-requested") return undefined
  const isSettled = state.startsWith("output-")
  const word = !isConsent(part) && approved
    ? "Answered"
    : approved
    ? "Approved"
    : isConsent(part)
    ? "Denied"
    : "Declined"
  const isLate = isSettled && mine !== undefined && by !== undefined && (by.id !== person.id || mine !== approved)
  const name = by?.name ?? by?.id
  const who = name === undefined ? "" : ` by ${escape(name)}`
  const how = by?.via === "memory" ? ", for this session" : fate?.edits === undefined ? "" : ", with changes"
  const reason = approved ? undefined : escape(fate?.reason ?? approval.reason ?? "", { maxLength: 500 })
  return {
    approved,
    isLate,
    text: `${isLate ? "You were too late: " : ""}${word}${who}${how}${reason ? `: ${reason}` : ""}`
  }
}

/**
 * What is said aloud of a chunk, where it is news.
 *
 * @param {Messages} before
 * @param {Messages} after
 * @param {import("./messages.js").Chunk} chunk
 * @param {string | undefined} messageId
 */
export const announcementOf = (before, after, chunk, messageId) => {
  if (before === after) return undefined
  if (chunk.type === "tool-approval-request") {
    const { approvalId } = chunk
    /** @param {Messages} messages */
    const find = (messages) =>
      messages.flatMap(({ parts }) => parts).find((part) => part.type === "tool" && part.approval?.id === approvalId)
    const part = find(after)
    if (find(before) !== undefined || part?.type !== "tool") return undefined
    return isConsent(part) ? `Your approval is needed: ${summary(part)}` : `A question for you: ${summary(part)}`
  }
  if (chunk.type === "data-approval") {
    const { approvalId, decidedBy, toolCallId } = chunk.data
    const state = chunk.data.state === "failed" && approvalId !== undefined && decidedBy === undefined
      ? "void"
      : chunk.data.state
    const message = after.find(({ id }) => id === messageId)
    if (message === undefined || !(state in said)) return undefined
    return `${summaryOf(message, toolCallId)}: ${said[/** @type {keyof typeof said} */ (state)]}.`
  }
  if (chunk.type === "text-end") {
    const last = after.find(({ id }) => id === messageId)?.parts.findLast(({ type }) => type === "text")
    return last?.type === "text" ? `Agent: ${escape(last.text, { maxLength: 1_000 })}` : undefined
  }
  return undefined
}

const said = {
  done: "done",
  failed: "failed",
  denied: "denied",
  void: "it did not run",
  unknown: "nobody knows whether it ran"
}
