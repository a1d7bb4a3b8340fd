// @ts-check
/** A conversation: its messages and cards, and the field for the next message. */
import { deciders, stateOf, summary } from "../card.js"
import { html, useEffect, useLayoutEffect, useRef, useState } from "../vendor/preact.js"
import { Button } from "./answering.js"
import { Card } from "./cardView.js"
import { isSteadyNow, lookAtAll, unsettle, useSteady } from "./steady.js"
import { shown } from "./text.js"

const examples = [
  "Delete debug.log",
  "Correct the poem",
  "Pay the bakery",
  "Ask me about a trip",
  "Clean up",
  "Back up (slow)"
]

/**
 * @typedef {{
 *   readonly chat: import("../chat.js").Chat
 *   readonly person: import("../server.js").Person
 *   readonly people: ReadonlyArray<import("../server.js").Person>
 * }} Props
 * @param {Props} props
 */
export const Conversation = ({ chat, people, person }) => {
  const state = chat.state()
  const { announcement, clicks, isBusy, isLost, loading, messages, outbox, problem } = state
  const root = useRef(/** @type {HTMLElement | null} */ (null))
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null))
  const answeredAt = useRef(-Infinity)
  const [seen, setSeen] = useState(/** @type {ReadonlySet<string>} */ (new Set()))
  useStickyEnd(state)
  useLayoutEffect(lookAtAll)

  // The next card that waits for an answer, after this one or before it; or else the message field.
  /** @param {Element} card @param {ReadonlyArray<string>} [answered] */
  const goOn = (card, answered = []) => {
    answeredAt.current = performance.now()
    const open = [...root.current?.querySelectorAll("[data-state=open]:has(.actions)") ?? []].filter((other) =>
      other !== card && !answered.includes(other.getAttribute("data-approval-id") ?? "")
    )
    /** @param {Element} other */
    const isAfter = (other) => (card.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING) !== 0
    const next = /** @type {HTMLElement | null} */ (open.find(isAfter) ?? open[0] ?? field.current)
    next?.focus({ preventScroll: next !== field.current })
    if (next !== field.current) next?.scrollIntoView({ block: "nearest" })
  }

  useEffect(() => {
    if (loading === "loaded" && matchMedia("(pointer: fine)").matches) field.current?.focus({ preventScroll: true })
  }, [loading])

  const isCut = loading === "loaded" && !isBusy && !isLost && outbox.length === 0 && messages.at(-1)?.role === "user"
  const isEmpty = loading === "loaded" && messages.length === 0 && outbox.length === 0
  return html`
    <main ref=${root} onMouseDown=${(/** @type {Event} */ event) => {
    // The second half of a double click does not take the focus away again.
    if (performance.now() - answeredAt.current < 500) event.preventDefault()
  }}>
      <section class="conversation" aria-label="Conversation" aria-busy=${loading === "loading"} data-chat=${chat.id}>
        ${loading === "loading" && !isLost ? html`<p class="muted center">Loading…</p>` : null}
        ${
    isEmpty
      ? html`
            <div class="welcome">
              <p>This agent asks before it acts. Try it:</p>
              <div class="examples">
                ${
        examples.map((text) => html`<button type="button" key=${text} onClick=${() => chat.say(text)}>${text}</button>`)
      }
              </div>
            </div>
          `
      : null
  }
        ${
    messages.map((message, index) =>
      html`
            <${Message} key=${message.id} message=${message} chat=${chat} clicks=${clicks} answered=${state.answered}
              person=${person} people=${people} isBusy=${isBusy} isLatest=${
        messages.findLastIndex(({ role }) => role === "user") < index
      } isLast=${index === messages.length - 1}
              seen=${seen} onSeen=${(/** @type {string} */ id) =>
        setSeen((seen) => new Set(seen).add(id))} onAnswered=${goOn} />
          `
    )
  }
        ${
    outbox.map((said) =>
      html`
            <article class="user" key=${said.id} aria-label="You" data-role="user" data-message-id=${said.id}>
              <div class="text"><bdi>${shown(said.text, { multiline: true })}</bdi></div>
              ${
        said.state === "sending" ? null : html`
                <p class="problem" role="alert">Not sent. ${said.problem}</p>
                <div class="actions">
                  <${Button} word="Try again" summary=${said.text} isOff=${false} class="primary" onPress=${() =>
          chat.sayAgain(said)} />
                  <${Button} word="Discard" summary=${said.text} isOff=${false} class="quiet" onPress=${() =>
          chat.discard(said.id)} />
                </div>
              `
      }
            </article>
          `
    )
  }
        ${
    isCut
      ? html`
        <div class="cut">
          <p class="problem" role="alert">The answer was cut off.</p>
          <div class="actions"><button type="button" onClick=${chat.goOn}>Try again</button></div>
        </div>
      `
      : null
  }
        ${
    isBusy && !isLost ? html`<p class="busy" aria-hidden="true"><span></span><span></span><span></span></p>` : null
  }
      </section>
      <div class="bottom">
        <div id="connection" role="status">
          ${
    isLost
      ? html`<p class="banner">Connection lost. Trying again… <button type="button" class="quiet" onClick=${chat.tryNow}>Try now</button></p>`
      : null
  }
        </div>
        ${
    problem === undefined
      ? null
      : html`<p class="banner problem" role="alert">${problem} <button type="button" class="quiet" onClick=${chat.refresh}>Load again</button></p>`
  }
        <${Composer} chat=${chat} field=${field} isBusy=${isBusy} isReady=${loading !== "failed"} />
      </div>
      <div id="announcements" role="status" class="unseen"><p key=${announcement.count}>${announcement.text}</p></div>
    </main>
  `
}

/**
 * @param {Props & {
 *   message: import("../messages.js").Message
 *   clicks: import("../chat.js").State["clicks"]
 *   answered: import("../chat.js").State["answered"]
 *   isBusy: boolean
 *   isLatest: boolean
 *   isLast: boolean
 *   seen: ReadonlySet<string>
 *   onSeen: (approvalId: string) => void
 *   onAnswered: (card: Element, answered?: ReadonlyArray<string>) => void
 * }} props
 */
const Message = (props) => {
  const { answered, chat, clicks, isBusy, isLast, isLatest, message, onAnswered, onSeen, people, person } = props
  const { id, parts, problem, role } = message
  return html`
    <article class=${role} aria-label=${role === "user" ? "You" : "Agent"} data-role=${role} data-message-id=${id}>
      ${
    parts.map((part, index) => {
      switch (part.type) {
        case "text":
          return part.text === ""
            ? null
            : html`<div class="text" key=${index}><bdi>${shown(part.text, { multiline: true })}</bdi></div>`
        case "reasoning":
          return html`<details class="more" key=${index}><summary>Thoughts</summary><div class="text">${
            shown(part.text, { multiline: true })
          }</div></details>`
        case "tool": {
          const approvalId = part.approval?.id ?? ""
          return html`
              <${Card} key=${part.toolCallId} part=${part} messageId=${id} chat=${chat} click=${
            clicks[approvalId]
          } mine=${
            answered[approvalId]
          } person=${person} people=${people} isBusy=${isBusy} isLatest=${isLatest} onSeen=${onSeen} onAnswered=${onAnswered} />
            `
        }
        case "source":
          return part.url !== undefined && /^https?:/.test(part.url)
            ? html`<p class="source" key=${index}><a href=${part.url} target="_blank" rel="noopener noreferrer nofollow">${
              shown(part.title)
            }</a> <bdi class="muted">${shown(new URL(part.url).host)}</bdi></p>`
            : html`<p class="source" key=${index}>${shown(part.title)}</p>`
        case "file":
          return html`<p class="source" key=${index}>A file: ${shown(part.filename ?? part.mediaType)}</p>`
        default:
          return null
      }
    })
  }
      <${All} ...${props} />
      ${
    problem === undefined ? null : html`
        <p class="problem" role="alert">${shown(problem, { multiline: true })}</p>
        ${
      isLast && !isBusy
        ? html`<div class="actions"><button type="button" onClick=${chat.goOn}>Try again</button></div>`
        : null
    }
      `
  }
    </article>
  `
}

/** All that is open, at one stroke: once each has been on the screen. */
const All = (
  /** @type {Parameters<typeof Message>[0]} */ { chat, clicks, message, onAnswered, people, person, seen }
) => {
  const ref = useRef(/** @type {HTMLElement | null} */ (null))
  const open = message.parts.flatMap((part) =>
    part.type === "tool" && part.approval !== undefined && stateOf(part, clicks[part.approval.id]) === "open" &&
      part.approval.descriptor?.awaited === undefined && deciders(part, person, people).may &&
      !((part.approval.descriptor?.expiresAt ?? Infinity) <= Date.now())
      ? [{ part, approvalId: part.approval.id }]
      : []
  )
  const isOffered = open.length > 1
  const isSteady = useSteady(ref, isOffered ? open.map(({ approvalId }) => approvalId).join() : undefined)
  if (!isOffered) return null
  const areSeen = open.every(({ approvalId }) => seen.has(approvalId))
  const approve = () => {
    if (!isSteadyNow(ref.current)) return
    if (ref.current !== null) onAnswered(ref.current, open.map(({ approvalId }) => approvalId))
    chat.answer(
      message.id,
      open.map(({ approvalId, part }) => ({ approvalId, toolCallId: part.toolCallId, approved: true }))
    )
  }
  return html`
    <div class="all" ref=${ref}>
      <${Button} word=${`Approve all ${open.length}`} summary=${open.map(({ part }) => summary(part)).join("; ")}
        isOff=${!areSeen || !isSteady} onPress=${approve} />
      <span class="muted">${areSeen ? "Each was on your screen." : "Once each was on your screen, to its end."}</span>
    </div>
  `
}

/**
 * @param {{
 *   chat: import("../chat.js").Chat
 *   field: { current: HTMLTextAreaElement | null }
 *   isBusy: boolean
 *   isReady: boolean
 * }} props
 */
const Composer = ({ chat, field, isBusy, isReady }) => {
  const [text, setText] = useState(chat.draft)
  /** @param {string} text */
  const write = (text) => {
    setText(text)
    chat.keepDraft(text)
  }
  const canSend = isReady && !isBusy && text.trim() !== ""
  const send = () => {
    if (!canSend) return
    chat.say(text.trim())
    write("")
    field.current?.focus()
  }
  return html`
    <form class="composer" onSubmit=${(/** @type {Event} */ event) => {
    event.preventDefault()
    send()
  }}>
      <textarea ref=${field} aria-label="Message" rows=${Math.min(8, text.split("\n").length)} value=${text}
        placeholder="Message the agent"
        onInput=${(/** @type {Event} */ { currentTarget }) =>
    write(/** @type {HTMLTextAreaElement} */ (currentTarget).value)}
        onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return
    event.preventDefault()
    send()
  }}></textarea>
      ${
    isBusy
      ? html`<button key="stop" type="button" class="danger" onClick=${() => {
        chat.stop()
        field.current?.focus()
      }}>Stop</button>`
      : html`<button key="send" type="submit" class="primary" aria-disabled=${
        canSend ? undefined : "true"
      }>Send</button>`
  }
    </form>
  `
}

/** Whoever reads the end stays there, as long as no card that waits would be scrolled away. */
const useStickyEnd = (/** @type {import("../chat.js").State} */ state) => {
  const wasAtEnd = useRef(true)
  useEffect(() => {
    const onScroll = () => {
      wasAtEnd.current = innerHeight + scrollY >= document.documentElement.scrollHeight - 40
    }
    addEventListener("scroll", onScroll, { passive: true })
    return () => removeEventListener("scroll", onScroll)
  }, [])
  useLayoutEffect(() => {
    if (!wasAtEnd.current) return
    const end = document.documentElement.scrollHeight - innerHeight
    const open = document.querySelector("[data-state=open], [data-state=unsent]")
    const top = open === null ? Infinity : open.getBoundingClientRect().top + scrollY - 72
    const target = Math.min(end, Math.max(scrollY, top))
    if (Math.abs(target - scrollY) < 2) return
    unsettle()
    scrollTo({ top: target, behavior: "instant" })
  }, [state.messages, state.clicks, state.outbox, state.loading])
}
