// @ts-check
/** The fields of a form, drawn. */
import { escape } from "../escape.js"
import { html } from "../vendor/preact.js"
import { shown } from "./text.js"

/**
 * @typedef {import("../fields.js").Field} Field
 * @typedef {{
 *   readonly field: Field
 *   readonly id: string
 *   readonly typed: unknown
 *   readonly isWrong: boolean
 *   readonly onType: (typed: unknown) => void
 * }} Props
 */

/** @param {Event} event */
const textOf = ({ currentTarget }) => /** @type {HTMLInputElement} */ (currentTarget).value

/** @param {Event} event */
const isChecked = ({ currentTarget }) => /** @type {HTMLInputElement} */ (currentTarget).checked

/** @param {Props} props */
export const Field = ({ field, id, isWrong, onType, typed }) => {
  const { description, isRequired, kind, label } = field
  const hint = description === undefined
    ? null
    : html`<span class="hint" id=${`${id}-hint`}>${shown(description)}</span>`
  const about = { "aria-describedby": description === undefined ? undefined : `${id}-hint`, "aria-invalid": isWrong }
  const optional = isRequired ? null : html`<span class="hint"> (may be left out)</span>`

  if (kind.type === "flag") {
    return html`
      <div class="field">
        <label class="check">
          <input type="checkbox" id=${id} checked=${typed === true} ...${about}
            onChange=${(/** @type {Event} */ event) => onType(isChecked(event))} />
          <span>${shown(label)}</span>
        </label>
        ${hint}
      </div>
    `
  }
  if (kind.type === "choice" || kind.type === "choices") {
    const isMany = kind.type === "choices"
    const chosen = Array.isArray(typed) ? typed : [typed]
    /** @param {number} index @param {boolean} isOn */
    const choose = (index, isOn) =>
      onType(isMany ? isOn ? [...chosen, index] : chosen.filter((other) => other !== index) : index)
    return html`
      <fieldset class="field" aria-describedby=${about["aria-describedby"]}>
        <legend>${shown(label)}${optional}</legend>
        ${hint}
        ${
      kind.options.map((option, index) =>
        html`
            <label class="check" key=${index}>
              <input type=${isMany ? "checkbox" : "radio"} name=${id} checked=${chosen.includes(index)}
                onChange=${(/** @type {Event} */ event) => choose(index, isChecked(event))} />
              <span>${shown(option.label)}${
          option.description === undefined ? null : html`<span class="hint"> ${shown(option.description)}</span>`
        }</span>
            </label>
          `
      )
    }
      </fieldset>
    `
  }
  const isLong = kind.type === "json" || kind.type === "text" && kind.isLong
  const text = String(typed ?? "")
  const input = isLong
    ? html`<textarea id=${id} rows=${Math.min(12, Math.max(2, text.split("\n").length))} class=${
      kind.type === "json" || text.includes("\n") ? "mono" : ""
    } spellcheck=${false} ...${about} value=${text} onInput=${(/** @type {Event} */ event) =>
      onType(textOf(event))}></textarea>`
    : html`<input id=${id} type="text" inputmode=${kind.type === "number" ? "decimal" : "text"} autocomplete="off"
        class=${kind.type === "number" ? "short" : ""} ...${about} value=${text}
        onInput=${(/** @type {Event} */ event) => onType(textOf(event))} />`
  return html`
    <div class="field">
      <label for=${id} title=${escape(label)}>${shown(label)}${optional}</label>
      ${hint}
      ${input}
    </div>
  `
}
