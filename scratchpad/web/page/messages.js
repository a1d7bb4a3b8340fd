// @ts-check
/**
 * From what the server sends to the messages of the page. Pure: a list of messages and a chunk give a new list. What is not
 * known here is left out, so that a newer server does no harm.
 *
 * @typedef {import("@assent/web").UiMessageStream.Chunk} Chunk
 * @typedef {import("@assent/web").UiMessageStream.Fate} Fate
 * @typedef {import("@assent/web").UiMessageStream.ToolApproval} ToolApproval
 *
 * @typedef {{ readonly type: "text" | "reasoning", readonly text: string }} TextPart
 * @typedef {{
 *   readonly type: "tool"
 *   readonly name: string
 *   readonly toolCallId: string
 *   readonly state: "input-streaming" | "input-available" | "approval-requested" | "approval-responded"
 *     | "output-available" | "output-error" | "output-denied"
 *   readonly input?: unknown
 *   readonly output?: unknown
 *   readonly isPreliminary?: boolean
 *   readonly errorText?: string
 *   readonly approval?: ToolApproval
 *   readonly fate?: Fate
 * }} ToolPart
 * @typedef {{ readonly type: "source", readonly url?: string, readonly title: string }} SourcePart
 * @typedef {{ readonly type: "file", readonly mediaType: string, readonly filename?: string }} FilePart
 * @typedef {{ readonly type: "step" }} StepPart
 * @typedef {TextPart | ToolPart | SourcePart | FilePart | StepPart} Part
 * @typedef {{
 *   readonly id: string
 *   readonly role: "user" | "assistant"
 *   readonly parts: ReadonlyArray<Part>
 *   readonly problem?: string | undefined
 * }} Message
 * @typedef {ReadonlyArray<Message>} Messages
 */

/**
 * Reads one response. `target` is the message that it goes on with where it does not say so itself.
 *
 * @param {{ readonly target?: string | undefined }} [options]
 */
export const makeAssembler = ({ target } = {}) => {
  let messageId = target
  let isEnded = false
  let isCut = false
  /** What was read of the message before it is sent anew. @type {ReadonlyArray<Part>} */
  let before = []
  /** Where the texts that are coming stand. @type {Map<string, number>} */
  const texts = new Map()

  /**
   * @param {Messages} messages
   * @param {Chunk} chunk
   * @returns {Messages}
   */
  const next = (messages, chunk) => {
    if (chunk.type === "start") {
      // Of a message that it names it sends everything anew.
      if (chunk.messageId !== undefined) {
        messageId = chunk.messageId
        before = messages.find(({ id }) => id === chunk.messageId)?.parts ?? []
        return withMessage(messages, { id: messageId, role: "assistant", parts: [] })
      }
      messageId ??= `here-${messages.length}`
      return messages.some(({ id }) => id === messageId)
        ? edit(messages, messageId, (message) => ({ ...message, problem: undefined }))
        : withMessage(messages, { id: messageId, role: "assistant", parts: [] })
    }
    if (chunk.type === "abort" || chunk.type === "error") isCut = true
    if (chunk.type === "finish" || isCut) isEnded = true
    if (chunk.type === "data-approval") return settle(messages, messageId, chunk.data)
    if (messageId === undefined) return messages
    return edit(messages, messageId, (message) => inMessage(message, chunk))
  }

  /**
   * What somebody was asked about a call stays known: it is not sent again of one that is over.
   *
   * @param {Message} message
   * @param {string} toolCallId
   * @param {Partial<ToolPart>} change
   */
  const begin = (message, toolCallId, change) => {
    const known = callIn(message.parts, toolCallId) === undefined ? callIn(before, toolCallId)?.approval : undefined
    return withTool(message, toolCallId, { ...(known === undefined ? undefined : { approval: known }), ...change })
  }

  /** @param {Message} message @param {Chunk} chunk @returns {Message} */
  const inMessage = (message, chunk) => {
    switch (chunk.type) {
      case "start-step":
        return push(message, { type: "step" })
      case "text-start":
      case "reasoning-start":
        texts.set(chunk.id, message.parts.length)
        return push(message, { type: chunk.type === "text-start" ? "text" : "reasoning", text: "" })
      case "text-delta":
      case "reasoning-delta": {
        const index = texts.get(chunk.id)
        const part = index === undefined ? undefined : message.parts[index]
        if (index === undefined || (part?.type !== "text" && part?.type !== "reasoning")) return message
        return { ...message, parts: message.parts.with(index, { ...part, text: part.text + chunk.delta }) }
      }
      case "tool-input-start":
        return begin(message, chunk.toolCallId, { name: chunk.toolName, state: "input-streaming" })
      case "tool-input-available":
        return begin(message, chunk.toolCallId, {
          name: chunk.toolName,
          state: "input-available",
          input: chunk.input
        })
      case "tool-approval-request":
        return withTool(message, chunk.toolCallId, {
          state: "approval-requested",
          approval: {
            id: chunk.approvalId,
            ...(chunk.reason === undefined ? undefined : { requestReason: chunk.reason }),
            ...(chunk.approvalDescriptor === undefined ? undefined : { descriptor: chunk.approvalDescriptor })
          }
        })
      case "tool-approval-response": {
        const { approvalId, approved, reason } = chunk
        const call = message.parts.find((part) => part.type === "tool" && part.approval?.id === approvalId)
        if (call?.type !== "tool" || call.approval === undefined) return message
        return withTool(message, call.toolCallId, {
          // What has ended stays so: then this says who won.
          ...(call.state.startsWith("output-") ? undefined : { state: "approval-responded" }),
          approval: { ...call.approval, approved, ...(reason === undefined ? undefined : { reason }) }
        })
      }
      case "tool-output-available":
        return withTool(message, chunk.toolCallId, {
          output: chunk.output,
          isPreliminary: chunk.preliminary === true,
          ...(chunk.preliminary === true ? undefined : { state: "output-available" })
        })
      case "tool-output-error":
        return withTool(message, chunk.toolCallId, {
          state: "output-error",
          errorText: chunk.errorText,
          isPreliminary: false
        })
      case "tool-output-denied":
        return withTool(message, chunk.toolCallId, { state: "output-denied", isPreliminary: false })
      case "source-url":
        return push(message, { type: "source", url: chunk.url, title: chunk.title ?? chunk.url })
      case "source-document":
        return push(message, { type: "source", title: chunk.title })
      case "file":
        return push(message, { type: "file", mediaType: chunk.mediaType })
      case "error":
        return { ...message, problem: chunk.errorText }
      case "abort":
        return { ...message, problem: chunk.reason ?? "This was stopped." }
      default:
        return message
    }
  }

  return { next, messageId: () => messageId, isEnded: () => isEnded, isCut: () => isCut }
}

/**
 * The messages that the server keeps, as the page has them.
 *
 * @param {ReadonlyArray<import("@assent/web").UiMessageStream.UiMessage>} history
 * @returns {Messages}
 */
export const fromHistory = (history) =>
  history.map(({ id, parts, role }) => {
    /** @type {Array<Part>} */
    const read = []
    /** @type {Map<string, Fate>} */
    const fates = new Map()
    for (const part of parts) {
      if (part.type === "text" || part.type === "reasoning") read.push({ type: part.type, text: part.text })
      else if (part.type === "file") {
        read.push({
          type: "file",
          mediaType: part.mediaType,
          ...(part.filename === undefined ? undefined : { filename: part.filename })
        })
      } else if (part.type === "step-start") read.push({ type: "step" })
      else if (part.type === "data-approval") fates.set(part.data.toolCallId, part.data)
      else if ("toolCallId" in part) {
        const { type, ...call } = part
        read.push({ ...call, type: "tool", name: type.slice("tool-".length) })
      }
    }
    return {
      id,
      role,
      parts: read.map((part) => {
        const fate = part.type === "tool" ? fates.get(part.toolCallId) : undefined
        return fate === undefined ? part : { ...part, fate }
      })
    }
  })

/**
 * The messages that are kept, with what was read here of their calls and is not kept: what somebody was asked about one, and
 * what became of it.
 *
 * @param {Messages} kept
 * @param {Messages} read
 * @returns {Messages}
 */
export const withRead = (kept, read) =>
  kept.map((message) => {
    const parts = read.find(({ id }) => id === message.id)?.parts ?? []
    return {
      ...message,
      parts: message.parts.map((part) => {
        if (part.type !== "tool") return part
        const known = callIn(parts, part.toolCallId)
        if (known === undefined) return part
        const { approval, fate } = known
        return {
          ...(approval === undefined ? undefined : { approval }),
          ...(fate === undefined ? undefined : { fate }),
          ...part
        }
      })
    }
  })

/**
 * The messages that are kept of a turn that did not come to its end, with what is said of that in the one that was read.
 *
 * @param {Messages} kept
 * @param {Message | undefined} read
 */
export const withProblem = (kept, read) => {
  if (read?.problem === undefined) return kept
  const { id, problem } = read
  return kept.some((message) => message.id === id)
    ? edit(kept, id, (message) => ({ ...message, problem }))
    : [...kept, read]
}

/** The requests that are open, in their order. @param {Messages} messages */
export const openApprovals = (messages) =>
  messages.flatMap(({ parts }) =>
    parts.flatMap((part) =>
      part.type === "tool" && part.state === "approval-requested" && part.approval !== undefined
        ? [part.approval.id]
        : []
    )
  )

/**
 * Whether a call ended without anybody's answer: it was taken back, expired, or was superseded by what was said.
 *
 * @param {ToolPart} part
 */
export const isUnanswered = ({ approval, fate, state }) =>
  state === "output-error" && fate?.state !== "unknown" && fate?.decidedBy === undefined &&
  approval?.approved !== true &&
  (approval !== undefined || fate?.approvalId !== undefined)

/** @param {Messages} messages @param {string} approvalId */
export const isTakenBack = (messages, approvalId) =>
  messages.some(({ parts }) =>
    parts.some((part) => part.type === "tool" && part.approval?.id === approvalId && isUnanswered(part))
  )

/** Puts a message in the place of the one with its id, or at the end. @param {Messages} messages @param {Message} message */
export const withMessage = (messages, message) => {
  const index = messages.findIndex(({ id }) => id === message.id)
  return index === -1 ? [...messages, message] : messages.with(index, message)
}

/** @param {Messages} messages @param {string} id @param {(message: Message) => Message} change @returns {Messages} */
export const edit = (messages, id, change) => {
  const index = messages.findIndex((message) => message.id === id)
  const message = messages[index]
  return message === undefined ? messages : messages.with(index, change(message))
}

/** @param {ReadonlyArray<Part>} parts @param {string} toolCallId @returns {ToolPart | undefined} */
const callIn = (parts, toolCallId) => {
  const part = parts.find((part) => part.type === "tool" && part.toolCallId === toolCallId)
  return part?.type === "tool" ? part : undefined
}

/** @param {Message} message @param {Part} part @returns {Message} */
const push = (message, part) => ({ ...message, parts: [...message.parts, part] })

/** @param {Message} message @param {string} toolCallId @param {Partial<ToolPart>} change @returns {Message} */
const withTool = (message, toolCallId, change) => {
  const index = message.parts.findIndex((part) => part.type === "tool" && part.toolCallId === toolCallId)
  const part = message.parts[index]
  if (part?.type === "tool") return { ...message, parts: message.parts.with(index, { ...part, ...change }) }
  // A result of a call that is not here is not for this message.
  if (change.name === undefined) return message
  return push(message, { type: "tool", toolCallId, name: change.name, state: "input-available", ...change })
}

/**
 * What became of a call that somebody was asked about: in the message that is read, or of an older one, by its request.
 *
 * @param {Messages} messages
 * @param {string | undefined} messageId
 * @param {Fate} fate
 * @returns {Messages}
 */
const settle = (messages, messageId, fate) => {
  /** @param {Part} part @param {string} id */
  const isOf = (part, id) =>
    part.type === "tool" && (fate.approvalId !== undefined && part.approval?.id === fate.approvalId ||
      id === messageId && part.toolCallId === fate.toolCallId)
  const message = messages.findLast(({ id, parts }) => parts.some((part) => isOf(part, id)))
  if (message === undefined) return messages
  return edit(messages, message.id, (message) => ({
    ...message,
    parts: message.parts.map((part) => isOf(part, message.id) ? withFate(/** @type {ToolPart} */ (part), fate) : part)
  }))
}

/** A card of an older message is told by this alone how it ended. @param {ToolPart} part @param {Fate} fate @returns {ToolPart} */
const withFate = (part, fate) => {
  const state = ended[/** @type {keyof typeof ended} */ (fate.state)]
  if (state === undefined || part.state.startsWith("output-")) return { ...part, fate }
  return { ...part, fate, state, ...(fate.reason === undefined ? undefined : { errorText: fate.reason }) }
}

const ended = /** @type {const} */ ({
  done: "output-available",
  failed: "output-error",
  denied: "output-denied",
  unknown: "output-error"
})
