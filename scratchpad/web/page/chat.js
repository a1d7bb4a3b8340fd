// @ts-check
/**
 * One conversation, as the page has it: what was said, what was clicked, and what has not got through yet. Nothing that a
 * person said or clicked is lost where the server is not reached, and nothing is sent twice.
 */
import { announcementOf, summaryOf } from "./card.js"
import * as Kept from "./kept.js"
import * as Messages from "./messages.js"
import * as Server from "./server.js"

/**
 * @typedef {{
 *   readonly approvalId: string
 *   readonly toolCallId: string
 *   readonly approved: boolean
 *   readonly note?: string | undefined
 *   readonly details?: import("@assent/web").UiMessageStream.Details | undefined
 * }} Answer
 * @typedef {{
 *   readonly answer: Answer
 *   readonly messageId: string
 *   readonly state: "sending" | "taken" | "unsent"
 *   readonly problem?: string
 * }} Click
 * @typedef {{ readonly id: string, readonly text: string, readonly state: "sending" | "unsent", readonly problem?: string }} Said
 * @typedef {{
 *   readonly loading: "loading" | "loaded" | "failed"
 *   readonly messages: Messages.Messages
 *   readonly clicks: Readonly<Record<string, Click>>
 *   readonly answered: Readonly<Record<string, boolean>>
 *   readonly outbox: ReadonlyArray<Said>
 *   readonly isBusy: boolean
 *   readonly isLost: boolean
 *   readonly problem: string | undefined
 *   readonly announcement: { readonly count: number, readonly text: string }
 * }} State
 */

/** @type {State} */
const empty = {
  loading: "loading",
  messages: [],
  clicks: {},
  answered: {},
  outbox: [],
  isBusy: false,
  isLost: false,
  problem: undefined,
  announcement: { count: 0, text: "" }
}

/** What the reason of an answer says where something goes with it that a click cannot say. */
const withDetails = "assent:with-details"

/**
 * @param {string} id
 * @param {{
 *   readonly person: string
 *   readonly onChange: () => void
 *   readonly onStranger: () => void
 * }} page `onStranger`: nobody is logged in any more
 */
export const open = (id, { onChange, onStranger, person }) => {
  const written = Kept.of(person, id)
  /** @type {State} */
  let state = {
    ...empty,
    outbox: written.read().unsaid.map((said) => ({ ...said, state: "unsent", problem: "The page was left before." }))
  }
  let streams = 0
  let isRecovering = false
  let isStopped = false
  let isGoingOn = false
  /** @type {Promise<void> | undefined} */
  let coming
  let tryNow = () => {}
  const leaving = new AbortController()
  const { signal } = leaving

  /** @param {Partial<State>} change */
  const set = (change) => {
    if (signal.aborted) return
    state = { ...state, ...change }
    if (change.outbox !== undefined) written.write({ unsaid: change.outbox.map(({ id, text }) => ({ id, text })) })
    onChange()
  }

  /** @param {string} text */
  const announce = (text) => set({ announcement: { count: state.announcement.count + 1, text } })

  // ===========================================================================
  // Reading
  // ===========================================================================

  /**
   * @param {Server.Reading} reading
   * @param {{ readonly target?: string, readonly onBegin?: () => void, readonly answers?: ReadonlyArray<Answer> }} [options]
   */
  const follow = async (reading, { answers = [], onBegin = () => {}, target } = {}) => {
    const assembler = Messages.makeAssembler({ target })
    if (streams === 0) isStopped = false
    set({ isBusy: ++streams > 0 })
    try {
      await reading.read((chunk) => {
        if (signal.aborted) return
        if (chunk.type === "start") onBegin()
        const before = state.messages
        const messages = assembler.next(before, chunk)
        if (messages !== before) set({ messages })
        // It is asked again: the click is over.
        if (chunk.type === "tool-approval-request") {
          forget(answers.filter((answer) => answer.approvalId === chunk.approvalId))
        }
        const text = announcementOf(before, messages, chunk, assembler.messageId())
        if (text !== undefined) announce(text)
      })
    } finally {
      set({ isBusy: --streams > 0 })
    }
    if (!assembler.isEnded()) throw new Error("The connection was lost.")
    if (assembler.isCut() && streams === 0) await settle(assembler.messageId())
  }

  /**
   * What a turn had begun that did not come to its end, and what is asked still, is told by what is kept.
   *
   * @param {string | undefined} messageId
   */
  const settle = async (messageId) => {
    const read = isStopped ? undefined : state.messages.find((message) => message.id === messageId)
    try {
      const messages = asKept(await Server.history(id, signal))
      if (streams === 0) set({ messages: Messages.withProblem(messages, read) })
    } catch {
      throw new Error("The connection was lost.")
    }
  }

  /** @param {ReadonlyArray<Answer>} answers */
  const forget = (answers) => {
    const over = new Set(answers.map(({ approvalId }) => approvalId))
    if (over.size === 0) return
    set({ clicks: Object.fromEntries(Object.entries(state.clicks).filter(([approvalId]) => !over.has(approvalId))) })
  }

  /** @param {Parameters<typeof Messages.fromHistory>[0]} history */
  const asKept = (history) => Messages.withRead(Messages.fromHistory(history), state.messages)

  /**
   * As the server has it: what was said, and the turn that is being taken. Who comes back to the page and to the network at
   * once has it loaded once: read twice, what goes on would be written twice.
   */
  const load = () =>
    coming ??= read().finally(() => {
      coming = undefined
    })

  const read = async () => {
    // In this order: a turn that ends between the two is in the history.
    const live = await Server.turn(id, signal)
    set({ messages: asKept(await Server.history(id, signal)), loading: "loaded", isLost: false })
    // What the server did get after all.
    const said = new Set(state.messages.map(({ id }) => id))
    const outbox = state.outbox.filter(({ id }) => !said.has(id))
    if (outbox.length < state.outbox.length) set({ outbox })
    if (live !== undefined) await follow(live)
    // What was taken, and is still asked, did not get through.
    const open = new Set(Messages.openApprovals(state.messages))
    set({
      clicks: Object.fromEntries(
        Object.entries(state.clicks).flatMap(([approvalId, click]) =>
          click.state !== "taken" ? [[approvalId, click]] : open.has(approvalId)
            ? [[approvalId, unsent(click, "The connection was lost before your answer was taken.")]]
            : []
        )
      )
    })
  }

  /** @param {number} attempt */
  const pause = (attempt) =>
    new Promise((resolve) => {
      const delay = Math.min(15_000, 500 * 2 ** attempt) * (0.8 + 0.4 * Math.random())
      const timer = setTimeout(resolve, attempt === 0 ? 100 : delay)
      tryNow = () => {
        clearTimeout(timer)
        resolve(undefined)
      }
    })

  /** Until the server is reached again. */
  const recover = async () => {
    if (isRecovering || signal.aborted) return
    isRecovering = true
    set({ isLost: true })
    try {
      for (let attempt = 0; !signal.aborted; attempt++) {
        await pause(attempt)
        try {
          return await load()
        } catch (error) {
          if (error instanceof Server.Failed && error.status >= 400 && error.status < 500) return refuse(error)
          // It was reached: what is lost now is another connection.
          if (!state.isLost) attempt = 0
          set({ isLost: true })
        }
      }
    } finally {
      isRecovering = false
      set({ isLost: false })
    }
  }

  /** @param {unknown} error */
  const refuse = (error) => {
    if (error instanceof Server.Failed && error.status === 401) return onStranger()
    set({ problem: sentenceOf(error), loading: state.loading === "loading" ? "failed" : state.loading })
  }

  // ===========================================================================
  // Saying and answering
  // ===========================================================================

  /** @param {Said} said @param {string} problem */
  const holdBack = (said, problem) =>
    set({ outbox: state.outbox.map((other) => other.id === said.id ? { ...other, state: "unsent", problem } : other) })

  /** @param {Said} said */
  const send = async (said) => {
    const message = { id: said.id, role: "user", parts: [{ type: "text", text: said.text }] }
    // Of the others, so that what follows gets an id of its own.
    const ids = state.messages.filter(({ id }) => id !== said.id).map(({ id, role }) => ({ id, role, parts: [] }))
    let hasBegun = false
    try {
      const reading = await Server.say({ id, messages: [...ids, message] }, signal)
      await follow(reading, {
        onBegin: () => {
          hasBegun = true
          set({
            outbox: state.outbox.filter((other) => other.id !== said.id),
            messages: Messages.withMessage(state.messages, {
              id: said.id,
              role: "user",
              parts: [{ type: "text", text: said.text }]
            })
          })
        }
      })
    } catch (error) {
      if (!hasBegun) holdBack(said, sentenceOf(error))
      if (error instanceof Server.Failed) return error.status === 401 ? onStranger() : undefined
      await recover()
    }
  }

  /**
   * What is said is sent in its turn: when the messages are there, and what was said before it has its answer. Where that
   * one has asked something, whoever was faster than it decides again, for to say more takes back what is asked.
   *
   * @param {Said} said
   */
  const say = (said) => {
    const others = state.outbox.filter((other) => other.id !== said.id)
    set({ outbox: [...others, { id: said.id, text: said.text, state: "sending" }], problem: undefined })
    const seen = new Set(Messages.openApprovals(state.messages))
    sending = sending.then(() => {
      if (signal.aborted) return
      const isAskedSince = Messages.openApprovals(state.messages).some((approvalId) => !seen.has(approvalId))
      return isAskedSince ? holdBack(said, "Something is asked above, and this would take it back.") : send(said)
    })
  }

  /** What went wrong is tried again. */
  const goOn = async () => {
    if (isGoingOn) return
    isGoingOn = true
    set({ problem: undefined })
    const messages = state.messages.map(({ id, role }) => ({ id, role, parts: [] }))
    try {
      await follow(await Server.say({ id, messages, trigger: "regenerate-message" }, signal))
    } catch (error) {
      if (error instanceof Server.Failed) refuse(error)
      else await recover()
    } finally {
      isGoingOn = false
    }
  }

  /**
   * Answers cards of one message, in one post.
   *
   * @param {string} messageId
   * @param {ReadonlyArray<Answer>} answers
   */
  const answer = async (messageId, answers) => {
    // A second click is none.
    const sent = answers.filter(({ approvalId }) => {
      const click = state.clicks[approvalId]
      return click === undefined || click.state === "unsent"
    })
    const message = state.messages.find(({ id }) => id === messageId)
    if (sent.length === 0 || message === undefined) return
    /** @param {(answer: Answer) => Click} click */
    const mark = (click) =>
      set({
        clicks: { ...state.clicks, ...Object.fromEntries(sent.map((answer) => [answer.approvalId, click(answer)])) }
      })
    mark((answer) => ({ answer, messageId, state: "sending" }))
    set({
      answered: {
        ...state.answered,
        ...Object.fromEntries(sent.map(({ approvalId, approved }) => [approvalId, approved]))
      }
    })
    try {
      const reading = await Server.say(postOf(id, message, sent), signal)
      mark((answer) => ({ answer, messageId, state: "taken" }))
      await follow(reading, { target: messageId, answers: sent })
      forget(sent)
      // What follows an answer to an older message is not in that one; and where one answer came too late, the page is.
      const isLate = sent.some(({ approvalId }) => Messages.isTakenBack(state.messages, approvalId))
      if ((isLate || state.messages.at(-1)?.id !== messageId) && streams === 0) await load()
    } catch (error) {
      if (!(error instanceof Server.Failed)) return recover()
      const problem = sentenceOf(error)
      mark((answer) => unsent({ answer, messageId, state: "sending" }, problem))
      announce(`${sent.map(({ toolCallId }) => summaryOf(message, toolCallId)).join(", ")}: not sent. ${problem}`)
      if (error.status === 401) onStranger()
    }
  }

  const stop = async () => {
    isStopped = true
    try {
      const kept = await Server.stop(id)
      if (streams === 0) set({ messages: asKept(kept) })
    } catch (error) {
      isStopped = false
      refuse(error)
    }
  }

  /** Somebody comes back to the page, or to the network. */
  const refresh = () => {
    tryNow()
    if (streams > 0 || isRecovering || state.loading === "loading") return
    return load().catch((error) => error instanceof Server.Failed && error.status > 0 ? refuse(error) : recover())
  }

  /** The end of what is being sent; before the messages are there, nothing is. @type {Promise<void>} */
  let sending = load().catch((error) => error instanceof Server.Failed && error.status > 0 ? refuse(error) : recover())

  return {
    id,
    state: () => state,
    draft: () => written.read().draft,
    /** @param {string} draft */
    keepDraft: (draft) => written.write({ draft }),
    /** @param {string} text */
    say: (text) => say({ id: crypto.randomUUID(), text, state: "sending" }),
    sayAgain: say,
    /** @param {string} saidId */
    discard: (saidId) => set({ outbox: state.outbox.filter(({ id }) => id !== saidId) }),
    answer,
    /** @param {Click} click */
    answerAgain: ({ answer: again, messageId }) => answer(messageId, [again]),
    /** The click is taken back, and the card is open again. @param {Click} click */
    takeBack: ({ answer }) => forget([answer]),
    goOn,
    stop,
    refresh,
    tryNow: () => tryNow(),
    leave: () => leaving.abort()
  }
}

/** @typedef {ReturnType<typeof open>} Chat */

/** @param {Click} click @param {string} problem @returns {Click} */
const unsent = ({ answer, messageId }, problem) => ({ answer, messageId, state: "unsent", problem })

/** @param {unknown} error */
const sentenceOf = (error) => error instanceof Server.Failed ? error.message : "The connection was lost."

/**
 * The message as it is answered: what the server reads of it are the ids of its calls, and the answers.
 *
 * @param {string} id
 * @param {Messages.Message} message
 * @param {ReadonlyArray<Answer>} answers
 */
const postOf = (id, { id: messageId, parts, role }, answers) => ({
  id,
  messageId,
  messages: [{
    id: messageId,
    role,
    parts: parts.flatMap((part) => {
      if (part.type !== "tool") return []
      const call = { type: `tool-${part.name}`, toolCallId: part.toolCallId }
      const answer = answers.find(({ toolCallId }) => toolCallId === part.toolCallId)
      if (answer === undefined) return [{ ...call, state: "input-available" }]
      const { approvalId, approved, details, note } = answer
      const reason = details === undefined ? note : withDetails
      return [{ ...call, state: "approval-responded", approval: { id: approvalId, approved, reason } }]
    })
  }],
  details: Object.fromEntries(
    answers.flatMap(({ approvalId, details, note }) =>
      details === undefined ? [] : [[approvalId, { ...details, ...(note ? { note } : undefined) }]]
    )
  )
})
