// @ts-check
/** A call as a card: what, on what, since when and by whom; and what may be answered. */
import { changesOf, deciders, stateOf, summary as summaryOf, verdictOf } from "../card.js"
import { html, useRef, useState } from "../vendor/preact.js"
import { Answering, Button } from "./answering.js"
import { Content, isLong, Value } from "./content.js"
import { useSeen } from "./seen.js"
import { isSteadyNow, useSteady } from "./steady.js"
import { shown } from "./text.js"
import { Since, Until, useNow } from "./times.js"

const words = {
  preparing: "Preparing",
  open: "Needs you",
  waiting: "Waiting",
  sending: "Sending",
  unsent: "Not sent",
  answered: "Answered",
  running: "Running",
  done: "Done",
  failed: "Failed",
  denied: "Denied",
  void: "Not run",
  unknown: "Unknown"
}

const isAsked = new Set(["open", "sending", "unsent", "answered"])

const isOver = new Set(["done", "failed", "denied", "void", "unknown"])

/**
 * @typedef {{
 *   readonly part: import("../card.js").ToolPart
 *   readonly messageId: string
 *   readonly chat: import("../chat.js").Chat
 *   readonly click: import("../chat.js").Click | undefined
 *   readonly mine: boolean | undefined
 *   readonly person: import("../server.js").Person
 *   readonly people: ReadonlyArray<import("../server.js").Person>
 *   readonly isBusy: boolean
 *   readonly isLatest: boolean
 *   readonly onSeen: (approvalId: string) => void
 *   readonly onAnswered: (element: Element) => void
 * }} Props
 * @param {Props} props
 */
export const Card = ({ chat, click, isBusy, isLatest, messageId, mine, onAnswered, onSeen, part, people, person }) => {
  const ref = useRef(/** @type {HTMLElement | null} */ (null))
  const [isWhole, setWhole] = useState(false)
  const [isUnfolded, setUnfolded] = useState(/** @type {boolean | undefined} */ (undefined))
  const [wasOpen, setWasOpen] = useState(false)
  const { approval, toolCallId } = part
  const { descriptor } = approval ?? {}
  const now = useNow(descriptor?.expiresAt)
  const given = stateOf(part, click)
  // Its turn is over, and it has no result.
  const state = given === "running" && !isBusy ? "unknown" : given
  const summary = summaryOf(part)
  const verdict = verdictOf(part, person, mine)
  const changes = changesOf(part)
  const { may, words: whose } = deciders(part, person, people)
  const isExpired = descriptor?.expiresAt !== undefined && descriptor.expiresAt <= now
  const isOpen = state === "open"
  // A call that nobody was asked about, and that has told nothing, may be one that somebody is about to be asked about.
  const isBegun = state !== "running" || approval !== undefined || part.isPreliminary === true
  const isAnswerable = isOpen && may && !isExpired
  const isReady = isWhole || !isLong(part)
  const isSteady = useSteady(ref, isOpen || state === "unsent" ? `${approval?.id} ${state}` : undefined)
  useSeen(ref, isAnswerable && isReady ? approval?.id : undefined, onSeen)
  if (isOpen && !wasOpen) setWasOpen(true)

  // What was answered here stays as it is, so that nothing moves, until the conversation goes on.
  const canFold = isOver.has(state) || approval === undefined
  const isFolded = canFold && !(isUnfolded ?? (wasOpen && isLatest))
  const id = `card-${messageId}-${toolCallId}`

  /** @param {import("./answering.js").Said} said */
  const answer = (said) => {
    if (approval === undefined || !isSteadyNow(ref.current)) return
    if (ref.current !== null) onAnswered(ref.current)
    chat.answer(messageId, [{ approvalId: approval.id, toolCallId, ...said }])
  }

  return html`
    <section ref=${ref} class="card" role="group" aria-label=${summary} tabindex="-1" id=${id}
      data-approval-id=${approval?.id} data-tool-call-id=${toolCallId} data-state=${state}
      data-late=${verdict?.isLate === true ? "true" : undefined} data-steady=${String(isSteady)} data-others=${
    isOpen && !may ? "true" : undefined
  }>
      <header>
        <h2>${
    canFold
      ? html`<button type="button" class="fold" aria-expanded=${!isFolded} onClick=${() => setUnfolded(isFolded)}>
              <bdi>${shown(summary)}</bdi>
            </button>`
      : html`<bdi>${shown(summary)}</bdi>`
  }</h2>
        <span class="chip">${isOpen && !may ? `Needs ${whose}` : isBegun ? words[state] : "In progress"}</span>
      </header>
      ${
    isFolded ? null : html`
        <p class="about">
          <span class="tool">${shown(part.name)}</span>
          ${
      descriptor?.source === undefined || descriptor.source === "local"
        ? null
        : html`<span>${shown(descriptor.source)}</span>`
    }
          ${descriptor?.path === undefined ? null : html`<span>${shown(descriptor.path.join(" › "))}</span>`}
          ${
      descriptor?.issuedAt === undefined
        ? null
        : html`<span>asked <${Since} at=${descriptor.issuedAt} now=${now} /></span>`
    }
          ${
      descriptor?.expiresAt === undefined || !isOpen
        ? null
        : html`<span class=${
          isExpired ? "problem" : descriptor.expiresAt - now < 120_000 ? "soon" : ""
        }><${Until} at=${descriptor.expiresAt} now=${now} /></span>`
    }
          ${whose === undefined ? null : html`<span>for ${whose} to decide</span>`}
        </p>
        ${descriptor?.reason === undefined ? null : html`<p class="reason">${shown(descriptor.reason)}</p>`}
        ${
      approval?.descriptor?.awaited === undefined || isOver.has(state) === false && part.input === undefined
        ? html`<${Content} part=${part} isOpen=${isWhole} onOpen=${() => setWhole(true)} />`
        : null
    }
      `
  }
      ${
    !isFolded && changes !== undefined
      ? html`<div class="output"><p class="muted">Changed to</p><${Value} value=${changes} label="Changed to" /></div>`
      : null
  }
      ${
    part.isPreliminary === true
      ? html`<div class="output" aria-live="off"><${Value} value=${part.output} label="So far" /></div>`
      : null
  }
      ${
    !isFolded && state === "done"
      ? html`<div class="output"><${Value} value=${part.output} label="Result" /></div>`
      : null
  }
      ${
    state === "failed" || state === "unknown" || state === "void"
      ? html`<p class=${state === "void" ? "muted" : "problem"}>${
        state === "void" && mine !== undefined ? html`<strong>Your answer came too late.</strong> ` : null
      }${
        shown(part.errorText ?? "It has no result: whether it came to its end is not known.", { multiline: true })
      }</p>`
      : null
  }
      <footer>
        ${
    part.fate?.reason !== undefined && (isOpen || state === "unsent" || state === "sending")
      ? html`<p class="problem" role="alert">${shown(part.fate.reason, { multiline: true })}</p>`
      : null
  }
        ${
    approval !== undefined && may && !isExpired && isAsked.has(state)
      // What was typed is still there where the answer does not count, or does not get through.
      ? html`<div hidden=${!isOpen}><${Answering} key=${approval.id} part=${part} summary=${summary} id=${`${id}-actions`} isSteady=${isSteady} isReady=${isReady} onAnswer=${answer} /></div>`
      : null
  }
        ${isOpen && !may ? html`<p class="muted">This is for ${whose} to decide. You are ${person.name}.</p>` : null}
        ${isOpen && isExpired ? html`<p class="muted">Nobody answered in time. Nothing ran.</p>` : null}
        ${state === "waiting" ? html`<p class="muted">This is not for a person to answer.</p>` : null}
        ${
    state === "unsent" && click !== undefined
      ? html`
            <p class="problem" role="alert">Your ${
        click.answer.approved ? "yes" : "no"
      } did not get through. ${click.problem}</p>
            <div class="actions">
              <${Button} word="Try again" summary=${summary} isOff=${!isSteady} class="primary" onPress=${() => {
        if (isSteadyNow(ref.current)) chat.answerAgain(click)
      }} />
              <${Button} word="Take back" summary=${summary} isOff=${!isSteady} class="quiet" onPress=${() =>
        chat.takeBack(click)} />
            </div>
          `
      : null
  }
        <p class="verdict" role="status">${
    state === "sending"
      ? `${click?.answer.approved === false ? "Denying" : "Answering"}…`
      : verdict === undefined
      ? ""
      : html`<span class=${verdict.approved ? "yes" : "no"}><bdi>${verdict.text}</bdi></span>`
  }</p>
      </footer>
    </section>
  `
}
