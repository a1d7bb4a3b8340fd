// @ts-check
/** Who is there. */
import { html } from "../vendor/preact.js"

/** @param {{ person: import("../server.js").Person, onBegin: () => void, onLeave: () => void }} props */
export const Header = ({ onBegin, onLeave, person }) =>
  html`
    <header class="top">
      <h1>Assent</h1>
      <button type="button" class="quiet" onClick=${onBegin}>New conversation</button>
      <span class="spring"></span>
      <span class="me"><span class="face" aria-hidden="true">${
    person.name[0]
  }</span><span>You are ${person.name}</span></span>
      <button type="button" class="quiet" onClick=${onLeave}>Change person</button>
    </header>
  `

/**
 * @param {{
 *   people: ReadonlyArray<import("../server.js").Person>
 *   problem: string | undefined
 *   onChoose: (id: string) => void
 * }} props
 */
export const Login = ({ onChoose, people, problem }) =>
  html`
    <main class="login">
      <h1>Who are you?</h1>
      <p>This login is made up. Both see the same conversations, and what each decides carries the name.</p>
      <div class="actions">
        ${
    people.map(({ id, name }) =>
      html`<button type="button" key=${id} class="primary" onClick=${() => onChoose(id)}>${name}</button>`
    )
  }
      </div>
      ${problem === undefined ? null : html`<p role="alert">${problem}</p>`}
    </main>
  `
