// @ts-check
/** Text of somebody else, drawn: nothing of it is markup, and what would be invisible is seen. */
import { piecesOf } from "../escape.js"
import { html } from "../vendor/preact.js"

/**
 * @param {unknown} text
 * @param {{ readonly multiline?: boolean }} [options]
 */
export const shown = (text, options) =>
  piecesOf(text, options).map(({ isEscape, text }) =>
    isEscape ? html`<span class="escape" title="a character that would not be seen">${text}</span>` : text
  )
