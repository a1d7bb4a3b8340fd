// @ts-check
/** What may be answered to a card: yes, no, yes to something else, yes for the session; or what a tool asks for. */
import { isConsent, isEditable, isRememberable } from "../card.js"
import { changesOf, fieldsOf, fieldsOfParams, readAll } from "../fields.js"
import { html, useLayoutEffect, useRef, useState } from "../vendor/preact.js"
import { Value } from "./content.js"
import { Field } from "./fields.js"
import { lookAtAll } from "./steady.js"
import { shown } from "./text.js"

/**
 * @typedef {{
 *   readonly approved: boolean
 *   readonly note?: string
 *   readonly details?: import("@assent/web").UiMessageStream.Details
 * }} Said
 * @typedef {{
 *   readonly part: import("../card.js").ToolPart
 *   readonly summary: string
 *   readonly id: string
 *   readonly isSteady: boolean
 *   readonly isReady: boolean
 *   readonly onAnswer: (said: Said) => void
 * }} Props `isReady`: all of it was shown
 */

/**
 * A button that names its call. It keeps the focus while it takes no click.
 *
 * @param {{
 *   word: string
 *   summary: string
 *   isOff: boolean
 *   class?: string
 *   isExpanded?: boolean
 *   isSubmit?: boolean
 *   onPress?: () => void
 * }} props
 */
export const Button = ({ class: name = "", isExpanded, isOff, isSubmit = false, onPress, summary, word }) =>
  html`
    <button
      type=${isSubmit ? "submit" : "button"}
      class=${name}
      aria-label=${`${word}: ${summary}`}
      aria-disabled=${isOff ? "true" : undefined}
      aria-expanded=${isExpanded}
      onClick=${(/** @type {Event} */ event) => {
    if (isSubmit) return
    event.preventDefault()
    if (!isOff) onPress?.()
  }}
    >${word}</button>
  `

/** @param {Props} props */
export const Answering = (props) => {
  const { id, isReady, isSteady, onAnswer, part, summary } = props
  const [panel, setPanel] = useState(/** @type {"deny" | "edit" | "session" | undefined} */ (undefined))
  const awaited = part.approval?.descriptor?.awaited
  const back = () => setPanel(undefined)
  const opened = { ...props, onBack: back }
  const no = isConsent(part) ? "Deny" : "Decline"
  const words = { deny: no, edit: "Edit", session: "For this session" }
  const last = useRef(panel)

  // Who goes back finds the button again that they came by.
  useLayoutEffect(() => {
    lookAtAll()
    const came = last.current
    last.current = panel
    if (came === undefined || panel !== undefined) return
    /** @type {HTMLElement | null | undefined} */
    const button = document.getElementById(id)?.querySelector(`[aria-label^="${words[came]}:"]`)
    button?.focus()
  }, [panel])

  if (panel === "deny") return html`<${Denying} ...${opened} word=${no} />`
  if (panel === "edit") return html`<${Editing} ...${opened} />`
  if (panel === "session") return html`<${ForSession} ...${opened} />`
  if (!isConsent(part) && awaited !== undefined) {
    return html`<${Filling} ...${props} awaited=${awaited} onDecline=${() => setPanel("deny")} />`
  }
  const isOff = !isSteady
  const button = { summary, isOff }
  return html`
    <div class="actions" id=${id}>
      <${Button} ...${button} word="Approve" class="primary" isOff=${isOff || !isReady}
        onPress=${() => onAnswer({ approved: true })} />
      <${Button} ...${button} word="Deny" isExpanded=${false} onPress=${() => setPanel("deny")} />
      <span class="spring"></span>
      ${
    isEditable(part)
      ? html`<${Button} ...${button} word="Edit" class="quiet" isExpanded=${false} onPress=${() => setPanel("edit")} />`
      : null
  }
      ${
    isRememberable(part)
      ? html`<${Button} ...${button} word="For this session" class="quiet" isExpanded=${false} isOff=${
        isOff || !isReady
      } onPress=${() => setPanel("session")} />`
      : null
  }
    </div>
  `
}

/** Where the focus goes when a panel is opened. */
const useFocus = () => {
  const ref = useRef(/** @type {HTMLElement | null} */ (null))
  useLayoutEffect(() => {
    /** @type {HTMLElement | null | undefined} */
    const first = ref.current?.querySelector("input, textarea, select, button")
    first?.focus()
  }, [])
  return ref
}

/** @param {() => void} then */
const submitting = (then) => (/** @type {Event} */ event) => {
  event.preventDefault()
  then()
}

/** @param {() => void} back */
const escaping = (back) => (/** @type {KeyboardEvent} */ event) => {
  if (event.key === "Escape") back()
}

/** @param {Props & { onBack: () => void, word: string }} props */
const Denying = ({ id, isSteady, onAnswer, onBack, summary, word }) => {
  const [reason, setReason] = useState("")
  const ref = useFocus()
  const deny = () => {
    const note = reason.trim()
    if (isSteady) onAnswer({ approved: false, ...(note === "" ? undefined : { note }) })
  }
  return html`
    <form ref=${ref} class="panel" onSubmit=${submitting(deny)} onKeyDown=${escaping(onBack)} autocomplete="off">
      <div class="field">
        <label for=${`${id}-reason`}>Why not? The agent is told.</label>
        <input id=${`${id}-reason`} type="text" value=${reason} placeholder="A reason, if you like"
          onInput=${(/** @type {Event} */ { currentTarget }) =>
    setReason(/** @type {HTMLInputElement} */ (currentTarget).value)} />
      </div>
      <div class="actions">
        <${Button} word=${word} summary=${summary} isOff=${!isSteady} isSubmit class="danger" />
        <${Button} word="Back" summary=${summary} isOff=${false} class="quiet" onPress=${onBack} />
      </div>
    </form>
  `
}

/**
 * @param {ReadonlyArray<import("../fields.js").Field>} fields
 * @returns fields as they are drawn, and what they say
 */
const useFields = (/** @type {ReadonlyArray<import("../fields.js").Field>} */ fields, /** @type {string} */ id) => {
  const [typed, setTyped] = useState(/** @type {import("../fields.js").Typed} */ ({}))
  const [wrong, setWrong] = useState(/** @type {string | undefined} */ (undefined))
  const read = readAll(fields, typed)
  const problem = wrong !== undefined && read.problem !== undefined ? read : undefined
  const drawn = fields.map((field, index) =>
    html`
      <${Field} key=${field.name} field=${field} id=${`${id}-${index}`}
        typed=${field.name in typed ? typed[field.name] : field.initial}
        isWrong=${problem?.name === field.name}
        onType=${(/** @type {unknown} */ value) => setTyped({ ...typed, [field.name]: value })} />
    `
  )
  const said = html`<p class="problem" role="alert">${problem?.problem ?? ""}</p>`
  return { drawn, read, said, complain: () => setWrong("problem" in read ? read.problem : undefined) }
}

/** @param {Props & { onBack: () => void }} props */
const Editing = ({ id, isReady, isSteady, onAnswer, onBack, part, summary }) => {
  const ref = useFocus()
  const { complain, drawn, read, said } = useFields(fieldsOfParams(part.input), `${id}-edit`)
  const changes = read.problem === undefined ? changesOf(part.input, read.value) : []
  const isOff = !isSteady || !isReady || changes.length === 0
  const approve = () => {
    if (read.problem !== undefined) return complain()
    if (!isOff) {
      onAnswer({ approved: true, details: { params: /** @type {import("effect/Schema").Json} */ (read.value) } })
    }
  }
  return html`
    <form ref=${ref} class="panel" onSubmit=${submitting(approve)} onKeyDown=${escaping(onBack)} autocomplete="off">
      ${drawn}
      ${said}
      ${
    changes.length === 0 ? html`<p class="muted">Nothing is changed yet.</p>` : html`
        <div class="changes">
          <p class="muted">It will run with this${
      part.approval?.descriptor?.presentation === undefined ? "" : "; above stands what was proposed"
    }:</p>
          <dl class="parameters">
            ${
      changes.map(({ after, before, name }) =>
        html`
                <div key=${name}>
                  <dt>${shown(name)}</dt>
                  <dd>
                    <del><span class="unseen">instead of </span><${Value} value=${before} label=${`${name}, before`} /></del>
                    <span aria-hidden="true">→</span>
                    <ins><${Value} value=${after} label=${`${name}, after`} /></ins>
                  </dd>
                </div>
              `
      )
    }
          </dl>
        </div>
      `
  }
      <div class="actions">
        <${Button} word="Approve as edited" summary=${summary} isOff=${
    isOff && read.problem === undefined
  } isSubmit class="primary" />
        <${Button} word="Back" summary=${summary} isOff=${false} class="quiet" onPress=${onBack} />
      </div>
    </form>
  `
}

/** @param {Props & { onBack: () => void }} props */
const ForSession = ({ id, isReady, isSteady, onAnswer, onBack, part, summary }) => {
  const ref = useFocus()
  const [chosen, setChosen] = useState(0)
  const session = part.approval?.descriptor?.session
  /** @type {ReadonlyArray<{ remember: import("effect/Schema").Json, label: string }>} */
  const choices = [
    { remember: {}, label: `this very call of ${part.name}, with these parameters` },
    ...(session === undefined ? [] : [{ remember: "session", label: session }]),
    { remember: { covers: { _tag: "Tool" } }, label: `any call of ${part.name}` }
  ]
  const remember = choices[chosen]?.remember
  const approve = () => {
    if (isSteady && isReady && remember !== undefined) onAnswer({ approved: true, details: { remember } })
  }
  return html`
    <form ref=${ref} class="panel" onSubmit=${submitting(approve)} onKeyDown=${escaping(onBack)} autocomplete="off">
      <fieldset class="field">
        <legend>Approve, and in this conversation do not ask again for</legend>
        ${
    choices.map(({ label }, index) =>
      html`
            <label class="check" key=${index}>
              <input type="radio" name=${`${id}-session`} checked=${chosen === index} onChange=${() =>
        setChosen(index)} />
              <span>${shown(label)}</span>
            </label>
          `
    )
  }
      </fieldset>
      <div class="actions">
        <${Button} word="Approve for this session" summary=${summary} isOff=${
    !isSteady || !isReady
  } isSubmit class="primary" />
        <${Button} word="Back" summary=${summary} isOff=${false} class="quiet" onPress=${onBack} />
      </div>
    </form>
  `
}

/** @param {Props & { awaited: import("@assent/ai").Approval.Awaited, onDecline: () => void }} props */
const Filling = ({ awaited, id, isSteady, onAnswer, onDecline, summary }) => {
  const { complain, drawn, read, said } = useFields(fieldsOf(awaited), `${id}-answer`)
  const answer = () => {
    if (read.problem !== undefined) return complain()
    if (isSteady) {
      onAnswer({ approved: true, details: { answer: /** @type {import("effect/Schema").Json} */ (read.value) } })
    }
  }
  return html`
    <form class="panel" id=${id} onSubmit=${submitting(answer)} autocomplete="off">
      ${drawn}
      ${said}
      <div class="actions">
        <${Button} word="Answer" summary=${summary} isOff=${!isSteady} isSubmit class="primary" />
        <${Button} word="Decline" summary=${summary} isOff=${!isSteady} isExpanded=${false} onPress=${onDecline} />
      </div>
    </form>
  `
}
