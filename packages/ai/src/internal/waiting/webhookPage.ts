/**
 * The page behind a link that a person was sent: it says what is asked, and has a button for each answer. Opening it
 * answers nothing, because mail programs and virus scanners open every link that they see.
 */
import * as HttpServerResponse from "effect/http/HttpServerResponse"
import type * as Schema from "effect/Schema"
import * as Text from "../text.ts"

export interface Page {
  readonly title: string
  /** What is asked; without it, the prompt that the tool waits with. */
  readonly description?: string | undefined
  readonly buttons: ReadonlyArray<{ readonly label: string; readonly answer: Schema.Json }>
}

/** The field of the form that says which button it was. */
const field = "button"

const headers = {
  "cache-control": "no-store",
  // Nothing runs, nothing is loaded, nobody frames it, and the address, which has the token, goes nowhere.
  "content-security-policy":
    "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex"
}

/** With the buttons, as long as it can be answered. */
export const question = (page: Page, prompt: string | undefined): HttpServerResponse.HttpServerResponse => {
  const buttons = page.buttons.map(({ label }, index) =>
    `<button name="${field}" value="${index}">${escape(label, 200)}</button>`
  )
  return html(
    200,
    page.title,
    `${escape(page.description ?? prompt ?? "", 10_000)}</p><form method="post">${buttons.join(" ")}</form><p>`
  )
}

/** What became of it, in a sentence. */
export const told = (page: Page, status: number, sentence: string): HttpServerResponse.HttpServerResponse =>
  html(status, page.title, escape(sentence, 1_000))

/** The answer of the button that was pressed; `undefined` of what is no press of one. */
export const answerOf = ({ buttons }: Page, body: Schema.Json): Schema.Json | undefined => {
  if (typeof body !== "object" || body === null || !Object.hasOwn(body, field)) return undefined
  const pressed: unknown = Object.getOwnPropertyDescriptor(body, field)?.value
  return typeof pressed === "string" && /^\d{1,3}$/.test(pressed) ? buttons[Number(pressed)]?.answer : undefined
}

const html = (status: number, title: string, content: string): HttpServerResponse.HttpServerResponse =>
  HttpServerResponse.text(
    `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">` +
      `<title>${escape(title, 200)}</title><style>${style}</style></head>` +
      `<body><main><h1>${escape(title, 200)}</h1><p>${content}</p></main></body></html>`,
    { status, headers, contentType: "text/html; charset=utf-8" }
  )

const style =
  ":root{color-scheme:light dark}body{font:1rem/1.5 system-ui,sans-serif;margin:2rem auto;max-width:40rem;" +
  "padding:0 1rem}p{white-space:pre-wrap;overflow-wrap:anywhere}button{font:inherit;padding:.6rem 1.2rem;margin:.2rem}"

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;", "'": "&#39;" }

/** Safe for a screen (law L15), and never markup. */
const escape = (text: string, maxLength: number): string =>
  Text.escape(text, { maxLength, multiline: true }).replaceAll(/[&<>"']/g, (character) => entities[character]!)
